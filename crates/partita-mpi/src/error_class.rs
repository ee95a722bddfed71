//! Error classes of MPI, the same names for every ABI.
//!
//! The numbers differ (`ERR_TRUNCATE` is 14 in MPICH and 15 elsewhere), so a
//! caller matches [`ErrorClass`] and never a number.

use super::Abi;
use std::fmt;

macro_rules! classes {
    ($($variant:ident = $name:literal, $mpich:literal, $standard:literal, $open_mpi:literal;)*) => {
        /// What kind of error MPI reported.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each is MPI's error class of the same name")]
        pub enum ErrorClass {
            $($variant,)*
            /// A class this table does not name, with its number.
            Unnamed(i32),
        }

        impl ErrorClass {
            /// Each named class with its MPI name and its number in each ABI
            /// (MPICH, standard, Open MPI).
            pub const ROWS: &[(Self, &str, [i32; 3])] =
                &[$((Self::$variant, $name, [$mpich, $standard, $open_mpi]),)*];
        }
    };
}

classes! {
    Buffer = "ERR_BUFFER", 1, 1, 1;
    Count = "ERR_COUNT", 2, 2, 2;
    Type = "ERR_TYPE", 3, 3, 3;
    Tag = "ERR_TAG", 4, 4, 4;
    Comm = "ERR_COMM", 5, 5, 5;
    Rank = "ERR_RANK", 6, 6, 6;
    Request = "ERR_REQUEST", 19, 7, 7;
    Root = "ERR_ROOT", 7, 8, 8;
    Group = "ERR_GROUP", 8, 9, 9;
    Op = "ERR_OP", 9, 10, 10;
    Arg = "ERR_ARG", 12, 13, 13;
    Unknown = "ERR_UNKNOWN", 13, 14, 14;
    Truncate = "ERR_TRUNCATE", 14, 15, 15;
    Other = "ERR_OTHER", 15, 16, 16;
    Intern = "ERR_INTERN", 16, 17, 17;
    InStatus = "ERR_IN_STATUS", 17, 19, 18;
    Pending = "ERR_PENDING", 18, 18, 19;
    NoMem = "ERR_NO_MEM", 34, 39, 39;
    Win = "ERR_WIN", 45, 56, 53;
    RmaSync = "ERR_RMA_SYNC", 50, 50, 47;
}

impl ErrorClass {
    /// The class of a number in one ABI.
    ///
    /// ```
    /// use partita_mpi::{Abi, ErrorClass};
    /// assert_eq!(ErrorClass::from_number(Abi::Mpich, 14), ErrorClass::Truncate);
    /// assert_eq!(ErrorClass::from_number(Abi::OpenMpi, 15), ErrorClass::Truncate);
    /// ```
    pub fn from_number(abi: Abi, number: i32) -> Self {
        let row = Self::ROWS.iter().find(|(_, _, numbers)| numbers[abi.column()] == number);
        row.map_or(Self::Unnamed(number), |(class, _, _)| *class)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Unnamed(number) = self {
            return write!(f, "error class {number}");
        }
        let row = Self::ROWS.iter().find(|(class, _, _)| class == self);
        write!(f, "MPI_{}", row.map_or("ERR_UNKNOWN", |(_, name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_class_in_each_abi() {
        for abi in Abi::ALL {
            for (class, name, numbers) in ErrorClass::ROWS {
                assert_eq!(ErrorClass::from_number(abi, numbers[abi.column()]), *class, "{name}");
                assert_eq!(class.to_string(), format!("MPI_{name}"));
            }
            assert_eq!(ErrorClass::from_number(abi, 7777), ErrorClass::Unnamed(7777));
        }
    }
}
