//! A number of any element type, as bits.

use crate::dtype::Dtype;

/// The bits of one number and its type. Two are equal when their bits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// The type.
    pub dtype: Dtype,
    /// The element's bytes, little end first; the rest is zero.
    pub bytes: [u8; 16],
}

impl Scalar {
    /// A number from its bytes in memory, of which the type's size is taken.
    ///
    /// ```
    /// use partita_kernel::{Dtype, Scalar};
    /// let half = Scalar::from_bytes(Dtype::Float16, &0x3800_u16.to_ne_bytes());
    /// assert_eq!(half.dtype, Dtype::Float16);
    /// ```
    ///
    /// # Panics
    /// If there are fewer bytes than the type has: that would be another number.
    #[must_use]
    pub fn from_bytes(dtype: Dtype, given: &[u8]) -> Scalar {
        let size = dtype.size();
        assert!(given.len() >= size, "{} bytes are no {dtype}; give {size}", given.len());
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(&given[..size]);
        Scalar { dtype, bytes }
    }
}

macro_rules! scalars {
    ($($native:ty => $dtype:ident),*) => {$(
        impl From<$native> for Scalar {
            fn from(value: $native) -> Scalar {
                Scalar::from_bytes(Dtype::$dtype, &value.to_ne_bytes())
            }
        }
    )*};
}

scalars!(i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, u8 => UInt8, u16 => UInt16,
    u32 => UInt32, u64 => UInt64, f32 => Float32, f64 => Float64);

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::from_bytes(Dtype::Bool, &[u8::from(value)])
    }
}
