//! Elements as Rust values, and what the operations mean for each.
//!
//! Tile functions are loops over these methods; the compiler makes vectors of them. Integers
//! wrap; division and remainder by zero are zero, as in NumPy. Half precision computes in float32
//! and rounds after every operation. Special values are those of the Array API.

mod cast;
mod complex;
mod float;
mod half;
mod integer;

pub use cast::{Cast, Target};
pub use complex::{Complex, ComplexNumber};
pub use float::Float;
pub use half::{BFloat16, Float16};

/// A value that lies in buffers.
pub trait Element: Copy + Send + Sync + Default + 'static {
    /// Whether it differs from zero; NaN does.
    fn truth(self) -> bool;
    /// Equality as numbers.
    fn equal(self, other: Self) -> bool;
}

/// What can be added and multiplied: all but bool.
pub trait Number: Element {
    /// The type sums are kept in; wider for half precision.
    type Wide: Number;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn negative(self) -> Self;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

/// What has an order: all but complex.
pub trait Ordered: Element {
    fn less(self, other: Self) -> bool;
    fn less_equal(self, other: Self) -> bool;
    fn is_nan(self) -> bool;
    /// The smaller one of two that are not NaN; `other` of equals.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if self.less(other) { self } else { other }
    }
    /// The larger one of two that are not NaN; `other` of equals.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if other.less(self) { self } else { other }
    }
    /// The smaller one, NaN if either is; `other` of equals.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        if self.less(other) || self.is_nan() { self } else { other }
    }
    /// The larger one, NaN if either is; `other` of equals.
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        if other.less(self) || self.is_nan() { self } else { other }
    }
}

/// Integers and floating numbers alike.
pub trait Real: Number + Ordered {
    fn sign(self) -> Self;
    fn absolute(self) -> Self;
    fn floor_divide(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round(self) -> Self;
}

/// Bits of integers and of bool.
pub trait Bits: Element {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
}

/// What only integers have. Shifts: everything goes out at counts from the width on, and at
/// negative counts.
pub trait Integer: Element {
    fn power(self, exponent: Self) -> Self;
    fn left(self, count: Self) -> Self;
    fn right(self, count: Self) -> Self;
}

/// A truth value in one byte; every byte but zero is true.
#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// A truth value.
    #[inline(always)]
    #[must_use]
    pub fn new(truth: bool) -> Bool {
        Bool(u8::from(truth))
    }
}

impl Element for Bool {
    #[inline(always)]
    fn truth(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self.truth() == other.truth()
    }
}

impl Ordered for Bool {
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        !self.truth() & other.truth()
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> bool {
        !self.truth() | other.truth()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.or(other)
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self.or(other)
    }
}

impl Bits for Bool {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Bool::new(self.truth() & other.truth())
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Bool::new(self.truth() | other.truth())
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Bool::new(self.truth() ^ other.truth())
    }
    #[inline(always)]
    fn not(self) -> Self {
        Bool::new(!self.truth())
    }
}
