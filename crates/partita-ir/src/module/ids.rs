//! Handles: small numbers that stand for the things of one module.

macro_rules! handle {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The handle as a place in a table with one entry per thing of the module.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn at(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 things in a module"))
            }
        }
    };
}

handle! {
    /// An operation.
    Op
}
handle! {
    /// A value: a result of an operation or an argument of a block.
    Value
}
handle! {
    /// A block: operations in order. Every region has exactly one.
    Block
}

/// Where a text has what became an operation; zeros for what no text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}
