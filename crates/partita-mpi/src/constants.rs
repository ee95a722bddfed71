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
    GroupNull = "GROUP_NULL", 0x0800_0000, 0x108, "ompi_mpi_group_null";
    RequestNull = "REQUEST_NULL", 0x2c00_0000, 0x180, "ompi_request_null";
    MessageNull = "MESSAGE_NULL", 0x2c00_0000, 0x128, "ompi_message_null";
    WinNull = "WIN_NULL", 0x2000_0000, 0x110, "ompi_mpi_win_null";
    InfoNull = "INFO_NULL", 0x1c00_0000, 0x130, "ompi_mpi_info_null";
    DatatypeNull = "DATATYPE_NULL", 0x0c00_0000, 0x200, "ompi_mpi_datatype_null";
    ErrorsReturn = "ERRORS_RETURN", 0x5400_0001, 0x143, "ompi_mpi_errors_return";
    Byte = "BYTE", 0x4c00_010d, 0x247, "ompi_mpi_byte";
    Bool = "C_BOOL", 0x4c00_013f, 0x238, "ompi_mpi_c_bool";
    Int8 = "INT8_T", 0x4c00_0137, 0x240, "ompi_mpi_int8_t";
    Int16 = "INT16_T", 0x4c00_0238, 0x248, "ompi_mpi_int16_t";
    Int32 = "INT32_T", 0x4c00_0439, 0x250, "ompi_mpi_int32_t";
    Int64 = "INT64_T", 0x4c00_083a, 0x258, "ompi_mpi_int64_t";
    Uint8 = "UINT8_T", 0x4c00_013b, 0x241, "ompi_mpi_uint8_t";
    Uint16 = "UINT16_T", 0x4c00_023c, 0x249, "ompi_mpi_uint16_t";
    Uint32 = "UINT32_T", 0x4c00_043d, 0x251, "ompi_mpi_uint32_t";
    Uint64 = "UINT64_T", 0x4c00_083e, 0x259, "ompi_mpi_uint64_t";
    Float = "FLOAT", 0x4c00_040a, 0x210, "ompi_mpi_float";
    Double = "DOUBLE", 0x4c00_080b, 0x214, "ompi_mpi_double";
    FloatComplex = "C_FLOAT_COMPLEX", 0x4c00_0840, 0x212, "ompi_mpi_c_float_complex";
    DoubleComplex = "C_DOUBLE_COMPLEX", 0x4c00_1041, 0x216, "ompi_mpi_c_double_complex";
    Max = "MAX", 0x5800_0001, 0x23, "ompi_mpi_op_max";
    Min = "MIN", 0x5800_0002, 0x22, "ompi_mpi_op_min";
    Sum = "SUM", 0x5800_0003, 0x21, "ompi_mpi_op_sum";
    Prod = "PROD", 0x5800_0004, 0x24, "ompi_mpi_op_prod";
    Land = "LAND", 0x5800_0005, 0x30, "ompi_mpi_op_land";
    Band = "BAND", 0x5800_0006, 0x28, "ompi_mpi_op_band";
    Lor = "LOR", 0x5800_0007, 0x31, "ompi_mpi_op_lor";
    Bor = "BOR", 0x5800_0008, 0x29, "ompi_mpi_op_bor";
    Bxor = "BXOR", 0x5800_000a, 0x2a, "ompi_mpi_op_bxor";
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
    ProcNull = "PROC_NULL", -1, -3, -2;
    Undefined = "UNDEFINED", -32766, -32766, -32766;
    OrderC = "ORDER_C", 56, 12, 0;
    CommTypeShared = "COMM_TYPE_SHARED", 1, 221, 0;
    ThreadSingle = "THREAD_SINGLE", 0, 0, 0;
    ThreadFunneled = "THREAD_FUNNELED", 1, 1024, 1;
    ThreadSerialized = "THREAD_SERIALIZED", 2, 2048, 2;
    ThreadMultiple = "THREAD_MULTIPLE", 3, 4096, 3;
    Ident = "IDENT", 0, 201, 0;
    Congruent = "CONGRUENT", 1, 202, 1;
    Similar = "SIMILAR", 2, 203, 2;
    Unequal = "UNEQUAL", 3, 204, 3;
    ModeNocheck = "MODE_NOCHECK", 1024, 1024, 1;
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

/// The address that stands for `MPI_IN_PLACE`.
pub fn in_place(abi: Abi) -> usize {
    match abi {
        Abi::Mpich => usize::MAX,
        Abi::Standard | Abi::OpenMpi => 1,
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
    fn mpich_datatypes_carry_their_size() {
        // An MPICH datatype handle holds its size in bits 8..16.
        let sizes = [
            (Predefined::Byte, 1),
            (Predefined::Int16, 2),
            (Predefined::Uint32, 4),
            (Predefined::Double, 8),
            (Predefined::DoubleComplex, 16),
        ];
        for (object, size) in sizes {
            let HandleSource::Value(Handle(value)) = object.source(Abi::Mpich) else {
                panic!("{object:?} has no value")
            };
            assert_eq!(value >> 8 & 0xff, size, "{object:?}");
        }
    }

    #[test]
    fn standard_fixed_size_types_carry_their_size() {
        // The standard ABI encodes log2 of the size in bits 3..6 from 0x240 on.
        for (object, log2) in
            [(Predefined::Int8, 0), (Predefined::Int16, 1), (Predefined::Uint64, 3)]
        {
            let HandleSource::Value(Handle(value)) = object.source(Abi::Standard) else {
                panic!("{object:?} has no value")
            };
            assert_eq!(value >> 3 & 7, log2, "{object:?}");
        }
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
