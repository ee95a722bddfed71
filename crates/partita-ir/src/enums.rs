//! Operators by number: what an `op` attribute means.
//!
//! The numbers are those of the implementation the dialect comes from, so that its programs mean
//! the same here; numbers beyond its last are additions.

macro_rules! numbered {
    ($(#[$about:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $number:literal $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are those of the array API")]
        pub enum $name {
            $($(#[$one])* $variant = $number,)*
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number in an attribute.
            #[must_use]
            pub fn number(self) -> i64 {
                self as i64
            }

            /// The one of a number.
            #[must_use]
            pub fn from_number(number: i64) -> Option<Self> {
                Self::ALL.get(usize::try_from(number).ok()?).copied()
            }

            /// The name in the specification's form.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The one of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

numbered! {
    /// Operators of two arrays.
    EwBin {
        Add = 0 "add",
        Atan2 = 1 "atan2",
        BitAnd = 2 "and",
        ShiftLeft = 3 "shl",
        BitOr = 4 "or",
        ShiftRight = 5 "shr",
        BitXor = 6 "xor",
        Equal = 7 "eq",
        FloorDivide = 8 "floordiv",
        Greater = 9 "gt",
        GreaterEqual = 10 "ge",
        Less = 11 "lt",
        LessEqual = 12 "le",
        LogAddExp = 13 "logaddexp",
        LogicalAnd = 14 "land",
        LogicalOr = 15 "lor",
        LogicalXor = 16 "lxor",
        MatMul = 17 "matmul",
        Maximum = 18 "max",
        Minimum = 19 "min",
        Modulo = 20 "mod",
        Multiply = 21 "mul",
        NotEqual = 22 "ne",
        Power = 23 "pow",
        Subtract = 24 "sub",
        TrueDivide = 25 "truediv",
        Hypot = 26 "hypot",
        CopySign = 27 "copysign",
        NextAfter = 28 "nextafter",
        /// The complex number of a real and an imaginary part.
        Complex = 29 "complex",
    }
}

numbered! {
    /// Operators of one array.
    EwUny {
        Abs = 0 "abs",
        Acos = 1 "acos",
        Acosh = 2 "acosh",
        Asin = 3 "asin",
        Asinh = 4 "asinh",
        Atan = 5 "atan",
        Atanh = 6 "atanh",
        Ceil = 7 "ceil",
        Cos = 8 "cos",
        Cosh = 9 "cosh",
        Erf = 10 "erf",
        Exp = 11 "exp",
        Expm1 = 12 "expm1",
        Floor = 13 "floor",
        IsFinite = 14 "isfinite",
        IsInf = 15 "isinf",
        IsNan = 16 "isnan",
        Log = 17 "log",
        Log1p = 18 "log1p",
        Log2 = 19 "log2",
        Log10 = 20 "log10",
        Round = 21 "round",
        Sign = 22 "sign",
        Sin = 23 "sin",
        Sinh = 24 "sinh",
        Square = 25 "square",
        Sqrt = 26 "sqrt",
        Tan = 27 "tan",
        Tanh = 28 "tanh",
        Trunc = 29 "trunc",
        Negative = 30 "neg",
        Positive = 31 "pos",
        LogicalNot = 32 "lnot",
        BitNot = 33 "not",
        Conj = 34 "conj",
        Real = 35 "real",
        Imag = 36 "imag",
        SignBit = 37 "signbit",
        Reciprocal = 38 "reciprocal",
        Exp2 = 39 "exp2",
        Erfc = 40 "erfc",
        Cbrt = 41 "cbrt",
    }
}

numbered! {
    /// How many numbers become one.
    Reduce {
        Max = 0 "max",
        Mean = 1 "mean",
        Min = 2 "min",
        Prod = 3 "prod",
        Sum = 4 "sum",
        Std = 5 "std",
        Var = 6 "var",
        All = 7 "all",
        Any = 8 "any",
        ArgMax = 9 "argmax",
        ArgMin = 10 "argmin",
        CountNonzero = 11 "count_nonzero",
    }
}

numbered! {
    /// Element types by number, as the legacy `dtype` attribute of `ndarray.create` has them.
    DType {
        F64 = 0 "f64",
        F32 = 1 "f32",
        I64 = 2 "i64",
        U64 = 3 "u64",
        I32 = 4 "i32",
        U32 = 5 "u32",
        I16 = 6 "i16",
        U16 = 7 "u16",
        I8 = 8 "i8",
        U8 = 9 "u8",
        Bool = 10 "i1",
    }
}

numbered! {
    /// Comparisons of integers, as `arith.cmpi` numbers them.
    CmpI {
        Eq = 0 "eq",
        Ne = 1 "ne",
        Slt = 2 "slt",
        Sle = 3 "sle",
        Sgt = 4 "sgt",
        Sge = 5 "sge",
        Ult = 6 "ult",
        Ule = 7 "ule",
        Ugt = 8 "ugt",
        Uge = 9 "uge",
    }
}

numbered! {
    /// Comparisons of floating numbers, as `arith.cmpf` numbers them.
    CmpF {
        AlwaysFalse = 0 "false",
        Oeq = 1 "oeq",
        Ogt = 2 "ogt",
        Oge = 3 "oge",
        Olt = 4 "olt",
        Ole = 5 "ole",
        One = 6 "one",
        Ord = 7 "ord",
        Ueq = 8 "ueq",
        Ugt = 9 "ugt",
        Uge = 10 "uge",
        Ult = 11 "ult",
        Ule = 12 "ule",
        Une = 13 "une",
        Uno = 14 "uno",
        AlwaysTrue = 15 "true",
    }
}

impl EwBin {
    /// Whether the result is a truth value whatever the operands are.
    #[must_use]
    pub fn gives_bool(self) -> bool {
        use EwBin::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        use EwBin::{LogicalAnd, LogicalOr, LogicalXor};
        let comparison = [Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual].contains(&self);
        comparison || [LogicalAnd, LogicalOr, LogicalXor].contains(&self)
    }
}

impl EwUny {
    /// Whether the result is a truth value whatever the operand is.
    #[must_use]
    pub fn gives_bool(self) -> bool {
        [Self::IsFinite, Self::IsInf, Self::IsNan, Self::LogicalNot, Self::SignBit].contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_original() {
        assert_eq!(EwBin::ALL.iter().position(|op| *op == EwBin::TrueDivide), Some(25));
        assert_eq!((EwBin::MatMul.number(), EwBin::Multiply.number()), (17, 21));
        assert_eq!((EwUny::Sqrt.number(), EwUny::Negative.number()), (26, 30));
        assert_eq!((EwUny::Positive.number(), EwUny::LogicalNot.number()), (31, 32));
        assert_eq!((Reduce::Sum.number(), Reduce::Var.number(), DType::Bool.number()), (4, 6, 10));
    }

    #[test]
    fn names_and_numbers_go_back_and_forth() {
        for op in EwBin::ALL {
            assert_eq!(EwBin::from_number(op.number()), Some(*op));
            assert_eq!(EwBin::from_name(op.name()), Some(*op));
        }
        for op in EwUny::ALL {
            assert_eq!(EwUny::from_number(op.number()), Some(*op));
            assert_eq!(EwUny::from_name(op.name()), Some(*op));
        }
        assert_eq!(EwUny::from_number(-1), None);
        assert_eq!(EwBin::from_number(99), None);
    }
}
