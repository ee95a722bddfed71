//! Tile functions on slices.

use super::{Binary, Level, Number, Unary, binary, unary};

/// A type of elements that tile functions take.
pub trait Element: Copy + private::Sealed {
    /// The type's name.
    const NUMBER: Number;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for [f32; 2] {}
    impl Sealed for [f64; 2] {}
}

impl Element for f32 {
    const NUMBER: Number = Number::F32;
}
impl Element for f64 {
    const NUMBER: Number = Number::F64;
}
/// A complex64.
impl Element for [f32; 2] {
    const NUMBER: Number = Number::C64;
}
/// A complex128.
impl Element for [f64; 2] {
    const NUMBER: Number = Number::C128;
}

/// Computes a function whose results have its argument's type.
///
/// # Panics
/// If the lengths differ, or the function does not have this type.
pub fn apply<T: Element>(level: Level, function: Unary, input: &[T], out: &mut [T]) {
    assert_eq!(input.len(), out.len(), "input and out differ in length");
    let tile = unary(level, function, T::NUMBER)
        .filter(|_| function.result_size(T::NUMBER) == T::NUMBER.size())
        .unwrap_or_else(|| {
            panic!("{} of {:?} does not give its own type", function.name(), T::NUMBER)
        });
    // SAFETY: both slices have as many elements; a mutable slice overlaps nothing.
    unsafe { tile(input.as_ptr().cast(), out.as_mut_ptr().cast(), out.len()) }
}

/// Computes a function of two arguments.
///
/// # Panics
/// If the lengths differ, or the function does not have this type.
pub fn apply2<T: Element>(level: Level, function: Binary, left: &[T], right: &[T], out: &mut [T]) {
    assert_eq!(left.len(), out.len(), "left and out differ in length");
    assert_eq!(right.len(), out.len(), "right and out differ in length");
    let tile = binary(level, function, T::NUMBER)
        .unwrap_or_else(|| panic!("{} has no type {:?}", function.name(), T::NUMBER));
    // SAFETY: all slices have as many elements; a mutable slice overlaps nothing.
    unsafe {
        tile(left.as_ptr().cast(), right.as_ptr().cast(), out.as_mut_ptr().cast(), out.len());
    }
}
