//! The operations of a program, and which element types each takes.

use crate::dtype::{Dtype, Kind};

/// The enumeration of the operations, and the list of them.
macro_rules! operations {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $op:ident,)* }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$note])* $op,)*
        }

        impl $name {
            /// Every operation.
            pub const ALL: &[Self] = &[$(Self::$op),*];
        }
    };
}

operations! {
    /// One operation. Operands of one operation have one type; casts are operations.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    #[allow(missing_docs, reason = "the names are those of the Array API")]
    Op {
        // Where values come from. The operand fields of these are plain numbers.
        Input,
        Scalar,
        Constant,
        Index,
        // Arithmetic.
        Add,
        Subtract,
        Multiply,
        Divide,
        FloorDivide,
        Remainder,
        /// Integers to a negative power are one over the power, cut: 0 but for 1 and -1.
        Power,
        Minimum,
        Maximum,
        Negative,
        Absolute,
        Sign,
        Square,
        Reciprocal,
        SquareRoot,
        FusedMultiplyAdd,
        // Rounding.
        Floor,
        Ceil,
        Trunc,
        Round,
        // Comparison.
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        IsNan,
        IsInf,
        IsFinite,
        SignBit,
        // Logic on bool, bits on integers and bool.
        LogicalAnd,
        LogicalOr,
        LogicalXor,
        LogicalNot,
        BitAnd,
        BitOr,
        BitXor,
        BitNot,
        ShiftLeft,
        ShiftRight,
        // Choice and type.
        Where,
        Cast,
        // Functions.
        Exp,
        Expm1,
        Exp2,
        Log,
        Log1p,
        Log2,
        Log10,
        Sin,
        Cos,
        Tan,
        Asin,
        Acos,
        Atan,
        Sinh,
        Cosh,
        Tanh,
        Asinh,
        Acosh,
        Atanh,
        Erf,
        Erfc,
        Cbrt,
        Atan2,
        Hypot,
        LogAddExp,
        CopySign,
        NextAfter,
        // Complex numbers.
        Real,
        Imag,
        Conjugate,
        Complex,
        // Counter-based random bits: Philox4x32 with ten rounds, counter and key of 64 bits.
        Random,
        RandomHigh,
    }
}

/// The type an operation gives for operands of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    Same,
    Bool,
    Real,
}

impl Op {
    /// Whether the operation brings a value in rather than computing one.
    #[must_use]
    pub const fn is_source(self) -> bool {
        matches!(self, Op::Input | Op::Scalar | Op::Constant | Op::Index)
    }

    /// How many values it takes.
    #[must_use]
    pub const fn n_operands(self) -> usize {
        use Op::*;
        match self {
            Input | Scalar | Constant | Index => 0,
            FusedMultiplyAdd | Where => 3,
            Add | Subtract | Multiply | Divide | FloorDivide | Remainder | Power | Minimum
            | Maximum | Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
            | LogicalAnd | LogicalOr | LogicalXor | BitAnd | BitOr | BitXor | ShiftLeft
            | ShiftRight | Atan2 | Hypot | LogAddExp | CopySign | NextAfter | Complex | Random
            | RandomHigh => 2,
            _ => 1,
        }
    }

    /// Whether operands of this type are taken. `Where` and `Cast` take all.
    #[must_use]
    pub const fn takes(self, dtype: Dtype) -> bool {
        use Op::*;
        let kind = dtype.kind();
        let float = matches!(kind, Kind::Float);
        let integer = matches!(kind, Kind::Signed | Kind::Unsigned);
        let complex = matches!(kind, Kind::Complex);
        let boolean = matches!(kind, Kind::Bool);
        match self {
            Input | Scalar | Constant | Where | Cast | Equal | NotEqual | IsNan | IsInf
            | IsFinite => true,
            Index => matches!(dtype, Dtype::Int64),
            Add | Subtract | Multiply | Negative | Absolute | Sign | Square | Power | Round => {
                !boolean
            }
            Divide | Reciprocal | SquareRoot | Exp | Expm1 | Log | Log1p | Log2 | Log10 | Sin
            | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh => {
                float || complex
            }
            FusedMultiplyAdd | SignBit | Exp2 | Erf | Erfc | Cbrt | Atan2 | Hypot | LogAddExp
            | CopySign | NextAfter => float,
            FloorDivide | Remainder | Floor | Ceil | Trunc => float || integer,
            Minimum | Maximum | Less | LessEqual | Greater | GreaterEqual => !complex,
            LogicalAnd | LogicalOr | LogicalXor | LogicalNot => boolean,
            BitAnd | BitOr | BitXor | BitNot => integer || boolean,
            ShiftLeft | ShiftRight => integer,
            Real | Imag | Conjugate => complex,
            Complex => dtype.complex().is_some(),
            Random | RandomHigh => matches!(dtype, Dtype::UInt64),
        }
    }

    /// The type of the result, where the operands decide it.
    #[must_use]
    pub const fn gives(self, operand: Dtype) -> Option<Dtype> {
        if matches!(self, Op::Complex) {
            return operand.complex();
        }
        match self.result() {
            None => None,
            Some(Gives::Same) => Some(operand),
            Some(Gives::Bool) => Some(Dtype::Bool),
            Some(Gives::Real) => Some(operand.real()),
        }
    }

    const fn result(self) -> Option<Gives> {
        use Op::*;
        match self {
            Input | Scalar | Constant | Index | Cast | Complex => None,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | IsNan | IsInf
            | IsFinite | SignBit => Some(Gives::Bool),
            Absolute | Real | Imag => Some(Gives::Real),
            _ => Some(Gives::Same),
        }
    }
}
