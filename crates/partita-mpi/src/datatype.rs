//! Types of the elements that MPI moves, and operations on them.

use super::{
    Handle, Library, MpiError, Number, Predefined, Result,
    chunks::{as_ints, as_large, by_count},
    handle::Slot,
};
use std::ffi::{c_int, c_void};

/// A predefined type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named by its kind and its bits")]
pub enum Kind {
    Byte,
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Complex64,
    Complex128,
}

impl Kind {
    fn predefined(self) -> Predefined {
        match self {
            Self::Byte => Predefined::Byte,
            Self::Bool => Predefined::Bool,
            Self::I8 => Predefined::Int8,
            Self::I16 => Predefined::Int16,
            Self::I32 => Predefined::Int32,
            Self::I64 => Predefined::Int64,
            Self::U8 => Predefined::Uint8,
            Self::U16 => Predefined::Uint16,
            Self::U32 => Predefined::Uint32,
            Self::U64 => Predefined::Uint64,
            Self::F32 => Predefined::Float,
            Self::F64 => Predefined::Double,
            Self::Complex64 => Predefined::FloatComplex,
            Self::Complex128 => Predefined::DoubleComplex,
        }
    }

    /// The size of one element.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::Byte | Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }
}

/// How elements of several ranks are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is MPI's operation of the same name")]
pub enum Op {
    Sum,
    Prod,
    Min,
    Max,
    Land,
    Lor,
    Band,
    Bor,
    Bxor,
}

impl Op {
    pub(super) fn handle(self, library: &Library) -> Handle {
        library.handle(match self {
            Self::Sum => Predefined::Sum,
            Self::Prod => Predefined::Prod,
            Self::Min => Predefined::Min,
            Self::Max => Predefined::Max,
            Self::Land => Predefined::Land,
            Self::Lor => Predefined::Lor,
            Self::Band => Predefined::Band,
            Self::Bor => Predefined::Bor,
            Self::Bxor => Predefined::Bxor,
        })
    }
}

/// A Rust type that MPI knows; any bytes are a valid value of it.
pub trait Element: Copy + Send + 'static + sealed::Sealed {
    /// MPI's type of it.
    const KIND: Kind;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty = $kind:ident),*) => {
        $(impl sealed::Sealed for $type {}
        impl Element for $type {
            const KIND: Kind = Kind::$kind;
        })*
    };
}

elements! {
    u8 = U8, u16 = U16, u32 = U32, u64 = U64, i8 = I8, i16 = I16, i32 = I32, i64 = I64,
    f32 = F32, f64 = F64, [f32; 2] = Complex64, [f64; 2] = Complex128
}

pub(super) fn handle_of<T: Element>(library: &Library) -> Handle {
    library.handle(T::KIND.predefined())
}

/// A type of elements in memory; freed when dropped, if it was made.
#[derive(Debug)]
pub struct Datatype {
    library: Library,
    handle: Handle,
    extent_bytes: usize,
    made: bool,
}

/// A box inside an array in C order.
#[derive(Debug, Clone, Copy)]
pub struct Subarray<'a> {
    /// The shape of the whole array.
    pub shape: &'a [usize],
    /// Where the box starts.
    pub starts: &'a [usize],
    /// How long it is.
    pub lengths: &'a [usize],
}

impl Datatype {
    /// A predefined type.
    pub fn new(library: &Library, kind: Kind) -> Self {
        let handle = library.handle(kind.predefined());
        Self { library: library.clone(), handle, extent_bytes: kind.size_bytes(), made: false }
    }

    /// `count` elements in a row.
    ///
    /// # Errors
    /// [`MpiError::CountTooLarge`] above 2³¹ without large counts.
    pub fn contiguous(&self, count: usize) -> Result<Self> {
        let call = "MPI_Type_contiguous";
        self.library.countable(call, &[count])?;
        let extent_bytes = self.extent_of(call, &[count])?;
        let calls = self.library.calls();
        // SAFETY: `self` is live; `new` is a slot of the right width.
        self.make(extent_bytes, |new| unsafe {
            by_count!(count, n =>
                calls.type_contiguous(n, self.handle, new),
                calls.type_contiguous_c(n, self.handle, new))
        })
    }

    /// A box inside an array of this type.
    ///
    /// An empty box is an empty type: MPI itself refuses lengths of zero.
    ///
    /// # Errors
    /// [`MpiError::BoxOutside`], [`MpiError::LengthMismatch`], or
    /// [`MpiError::CountTooLarge`] above 2³¹ without large counts.
    pub fn subarray(&self, part: Subarray<'_>) -> Result<Self> {
        part.check()?;
        if part.lengths.contains(&0) {
            return self.contiguous(0);
        }
        if part.shape.is_empty() {
            return self.contiguous(1);
        }
        let call = "MPI_Type_create_subarray";
        self.library.countable(call, part.shape)?;
        let extent_bytes = self.extent_of(call, part.shape)?;
        self.make(extent_bytes, |new| self.call_subarray(part, new))
    }

    fn call_subarray(&self, part: Subarray<'_>, new: *mut c_void) -> Result<()> {
        let ndim = part.shape.len() as c_int;
        let order = self.library.number(Number::OrderC);
        let calls = self.library.calls();
        let ints = (as_ints(part.shape), as_ints(part.lengths), as_ints(part.starts));
        // SAFETY: the three arrays have `ndim` entries (checked), the box lies
        // inside the shape (checked), and `new` is a slot of the right width.
        unsafe {
            if let (Some(shape), Some(lengths), Some(starts)) = ints {
                let (shape, lengths, starts) = (shape.as_ptr(), lengths.as_ptr(), starts.as_ptr());
                return calls.type_create_subarray(
                    ndim,
                    shape,
                    lengths,
                    starts,
                    order,
                    self.handle,
                    new,
                );
            }
            let arrays = [part.shape, part.lengths, part.starts].map(as_large);
            let [shape, lengths, starts] = arrays.each_ref().map(|array| array.as_ptr());
            calls.type_create_subarray_c(ndim, shape, lengths, starts, order, self.handle, new)
        }
    }

    fn extent_of(&self, call: &'static str, shape: &[usize]) -> Result<usize> {
        let limit = isize::MAX as usize;
        let extent = shape.iter().try_fold(self.extent_bytes, |bytes, n| bytes.checked_mul(*n));
        let fitting = extent.filter(|bytes| *bytes <= limit);
        fitting.ok_or(MpiError::CountTooLarge { call, count: usize::MAX, limit })
    }

    fn make(
        &self,
        extent_bytes: usize,
        call: impl FnOnce(*mut c_void) -> Result<()>,
    ) -> Result<Self> {
        let null = self.library.handle(Predefined::DatatypeNull);
        let mut slot = Slot::new(self.library.width(), null);
        call(slot.as_mut_ptr())?;
        let library = self.library.clone();
        let made = Self { library, handle: slot.get(), extent_bytes, made: true };
        // SAFETY: the type was just made; committing does not change the handle.
        unsafe { self.library.calls().type_commit(slot.as_mut_ptr())? };
        Ok(made)
    }

    /// The distance between two elements in a row.
    pub fn extent_bytes(&self) -> usize {
        self.extent_bytes
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if !self.made {
            return;
        }
        let mut slot = Slot::new(self.library.width(), self.handle);
        // SAFETY: we made the type; after MPI_Finalize no call is made.
        let _ = unsafe { self.library.calls().type_free(slot.as_mut_ptr()) };
    }
}

impl Subarray<'_> {
    fn check(&self) -> Result<()> {
        let needed = self.shape.len();
        for (what, given) in [("starts", self.starts.len()), ("lengths", self.lengths.len())] {
            if given != needed {
                let call = "MPI_Type_create_subarray";
                return Err(MpiError::LengthMismatch { call, what, given, needed });
            }
        }
        for (dim, &extent) in self.shape.iter().enumerate() {
            let (start, length) = (self.starts[dim], self.lengths[dim]);
            if start.checked_add(length).is_none_or(|end| end > extent) {
                return Err(MpiError::BoxOutside { dim, start, length, extent });
            }
        }
        Ok(())
    }
}

impl Library {
    /// Refuses counts that this library cannot take in one call.
    pub(super) fn countable(&self, call: &'static str, counts: &[usize]) -> Result<()> {
        let limit = if self.has_large_counts() { isize::MAX as usize } else { c_int::MAX as usize };
        match counts.iter().find(|count| **count > limit) {
            Some(&count) => Err(MpiError::CountTooLarge { call, count, limit }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(shape: &[usize], starts: &[usize], lengths: &[usize]) -> &'static str {
        match (Subarray { shape, starts, lengths }).check() {
            Ok(()) => "ok",
            Err(error) => error.reason(),
        }
    }

    #[test]
    fn boxes_are_checked_before_mpi_sees_them() {
        assert_eq!(verdict(&[4, 6], &[1, 2], &[3, 4]), "ok");
        assert_eq!(verdict(&[4, 6], &[1, 2], &[0, 4]), "ok");
        assert_eq!(verdict(&[4, 6], &[1, 2], &[4, 4]), "mpi-box-outside");
        assert_eq!(verdict(&[4], &[usize::MAX], &[2]), "mpi-box-outside");
        assert_eq!(verdict(&[4, 6], &[1], &[3, 4]), "mpi-length-mismatch");
    }

    #[test]
    fn sizes_of_elements_are_those_of_rust() {
        fn check<T: Element>() {
            assert_eq!(T::KIND.size_bytes(), size_of::<T>());
        }
        check::<u8>();
        check::<i16>();
        check::<u32>();
        check::<i64>();
        check::<f32>();
        check::<f64>();
        check::<[f32; 2]>();
        check::<[f64; 2]>();
    }
}
