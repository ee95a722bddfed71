//! Names of functions and of types of numbers.

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// float32
    F32,
    /// float64
    F64,
    /// complex64: two float32
    C64,
    /// complex128: two float64
    C128,
}

impl Number {
    /// All types.
    pub const ALL: [Number; 4] = [Number::F32, Number::F64, Number::C64, Number::C128];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Number::F32 => 4,
            Number::F64 | Number::C64 => 8,
            Number::C128 => 16,
        }
    }

    /// The type of the real part.
    pub fn real(self) -> Number {
        match self {
            Number::F32 | Number::C64 => Number::F32,
            Number::F64 | Number::C128 => Number::F64,
        }
    }
}

/// Declares an enum with a list of all its members and their names.
macro_rules! functions {
    ($(#[$doc:meta])* $type:ident { $($(#[$member_doc:meta])* $member:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$member_doc])* $member,)* }

        impl $type {
            /// All functions.
            pub const ALL: &[$type] = &[$($type::$member,)*];

            /// The name that the Array API gives the function, or NumPy where it gives none.
            pub fn name(self) -> &'static str {
                match self { $($type::$member => $name,)* }
            }
        }
    };
}

functions! {
    /// A function of one argument.
    Unary {
        /// e^x
        Exp "exp",
        /// 2^x
        Exp2 "exp2",
        /// e^x - 1
        Expm1 "expm1",
        /// natural logarithm
        Log "log",
        /// logarithm to base 2
        Log2 "log2",
        /// logarithm to base 10
        Log10 "log10",
        /// log(1 + x)
        Log1p "log1p",
        /// sine
        Sin "sin",
        /// cosine
        Cos "cos",
        /// tangent
        Tan "tan",
        /// arc sine
        Asin "asin",
        /// arc cosine
        Acos "acos",
        /// arc tangent
        Atan "atan",
        /// hyperbolic sine
        Sinh "sinh",
        /// hyperbolic cosine
        Cosh "cosh",
        /// hyperbolic tangent
        Tanh "tanh",
        /// inverse hyperbolic sine
        Asinh "asinh",
        /// inverse hyperbolic cosine
        Acosh "acosh",
        /// inverse hyperbolic tangent
        Atanh "atanh",
        /// error function
        Erf "erf",
        /// 1 - erf(x)
        Erfc "erfc",
        /// square root
        Sqrt "sqrt",
        /// cube root
        Cbrt "cbrt",
        /// absolute value; of complex numbers a real one
        Abs "abs",
        /// x * x
        Square "square",
        /// 1 / x
        Reciprocal "reciprocal",
        /// next integral number below
        Floor "floor",
        /// next integral number above
        Ceil "ceil",
        /// next integral number towards zero
        Trunc "trunc",
        /// nearest integral number, of two the even one
        Round "round",
        /// -1, 0 or 1; of complex numbers x / abs(x)
        Sign "sign",
        /// whether the sign bit is set, as one byte
        Signbit "signbit",
    }
}

functions! {
    /// A function of two arguments.
    Binary {
        /// left to the power of right
        Pow "pow",
        /// angle of the point (right, left)
        Atan2 "atan2",
        /// length of the vector (left, right)
        Hypot "hypot",
        /// log(exp(left) + exp(right))
        Logaddexp "logaddexp",
        /// left with the sign of right
        Copysign "copysign",
        /// the number after left in the direction of right
        Nextafter "nextafter",
        /// floor of the quotient, with the same rounding as the remainder
        FloorDivide "floor_divide",
        /// what floor division leaves; it has the sign of right
        Remainder "remainder",
        /// the larger one; NaN if one is NaN
        Maximum "maximum",
        /// the smaller one; NaN if one is NaN
        Minimum "minimum",
    }
}
