//! The constants of the three ABIs, one row per name, one column per ABI.
//!
//! Columns: MPICH, standard, Open MPI. A handle of Open MPI is the address of
//! the named symbol. `tests/through_mpi4py.py` compares every row with the
//! values of a running mpi4py, `tests/constants.py` with `mpi_abi.h`.

use super::{Abi, Handle};

macro_rules! predefined {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $mpich:literal, $standard:literal, $open_mpi:literal;)*) => {
        /// A predefined MPI object.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is MPI's constant of the same name")]
        pub enum Predefined { $($variant,)* }

        impl Predefined {
            /// Every predefined object of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const ROWS: &[(&str, u32, u32, &str)] = &[$(($name, $mpich, $standard, $open_mpi),)*];
        }
    };
}

predefined! {
    CommWorld = "COMM_WORLD", 0x4400_0000, 0x101, "ompi_mpi_comm_world";
    CommSelf = "COMM_SELF", 0x4400_0001, 0x102, "ompi_mpi_comm_self";
    CommNull = "COMM_NULL", 0x0400_0000, 0x100, "ompi_mpi_comm_null";
    RequestNull = "REQUEST_NULL", 0x2c00_0000, 0x180, "ompi_request_null";
    MessageNull = "MESSAGE_NULL", 0x2c00_0000, 0x128, "ompi_message_null";
    ErrorsReturn = "ERRORS_RETURN", 0x5400_0001, 0x143, "ompi_mpi_errors_return";
    Byte = "BYTE", 0x4c00_010d, 0x247, "ompi_mpi_byte";
}

/// Where the value of a predefined handle comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleSource {
    /// A fixed number.
    Value(Handle),
    /// The address of an exported symbol.
    Symbol(&'static str),
}

impl Predefined {
    /// MPI's name of it, without the leading `MPI_`.
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].0
    }

    /// The value in one ABI, or the symbol whose address it is.
    pub fn source(self, abi: Abi) -> HandleSource {
        let (_, mpich, standard, open_mpi) = Self::ROWS[self as usize];
        match abi {
            Abi::Mpich => HandleSource::Value(Handle(u64::from(mpich))),
            Abi::Standard => HandleSource::Value(Handle(u64::from(standard))),
            Abi::OpenMpi => HandleSource::Symbol(open_mpi),
        }
    }
}

macro_rules! numbers {
    ($($variant:ident = $name:literal, $mpich:literal, $standard:literal, $open_mpi:literal;)*) => {
        /// An integer constant of MPI.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is MPI's constant of the same name")]
        pub enum Number { $($variant,)* }

        impl Number {
            /// Every integer constant of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const ROWS: &[(&str, [i32; 3])] = &[$(($name, [$mpich, $standard, $open_mpi]),)*];
        }
    };
}

numbers! {
    AnySource = "ANY_SOURCE", -2, -1, -1;
    AnyTag = "ANY_TAG", -1, -2, -1;
    ThreadSingle = "THREAD_SINGLE", 0, 0, 0;
    ThreadFunneled = "THREAD_FUNNELED", 1, 1024, 1;
    ThreadSerialized = "THREAD_SERIALIZED", 2, 2048, 2;
    ThreadMultiple = "THREAD_MULTIPLE", 3, 4096, 3;
    TagUb = "TAG_UB", 0x6440_0001, 501, 0;
}

impl Number {
    /// MPI's name of it, without the leading `MPI_`.
    pub fn name(self) -> &'static str {
        Self::ROWS[self as usize].0
    }

    /// The value in one ABI.
    pub fn value(self, abi: Abi) -> i32 {
        Self::ROWS[self as usize].1[abi.column()]
    }
}

/// Room for any string that MPI returns, in every ABI.
pub(super) const MAX_STRING: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_symbols_are_unique() {
        let names: HashSet<_> = Predefined::ALL.iter().map(|object| object.name()).collect();
        assert_eq!(names.len(), Predefined::ALL.len());
        let symbols: HashSet<_> =
            Predefined::ALL.iter().map(|o| format!("{:?}", o.source(Abi::OpenMpi))).collect();
        assert_eq!(symbols.len(), Predefined::ALL.len());
    }

    #[test]
    fn levels_grow_in_every_abi() {
        use Number::*;
        for abi in Abi::ALL {
            let levels = [ThreadSingle, ThreadFunneled, ThreadSerialized, ThreadMultiple];
            assert!(levels.map(|level| level.value(abi)).is_sorted(), "{abi}");
            assert!(AnySource.value(abi) < 0 && AnyTag.value(abi) < 0);
        }
    }
}
