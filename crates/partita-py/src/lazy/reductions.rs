//! `a.sum()` and the like: native methods, since programs read such numbers in their loops.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_array::api::{Axes, How, Reducing, reduce};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::array::Array;
use super::types::dtype_given;

/// What the methods are given: axes, element type, where to write, whether axes stay.
struct Asked<'a, 'py> {
    axis: Option<Bound<'py, PyAny>>,
    dtype: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    keepdims: bool,
    array: &'a Bound<'py, Array>,
}

impl<'py> Asked<'_, 'py> {
    fn done(self, how: How) -> PyResult<Bound<'py, PyAny>> {
        let (py, handle) = (self.array.py(), self.array.get().handle(self.array)?);
        let axes = match &self.axis {
            None => Axes::All,
            Some(axis) if axis.is_instance_of::<PyTuple>() => Axes::Some(axis.extract()?),
            Some(axis) => match axis.extract::<i64>() {
                Ok(axis) => Axes::Some(vec![axis]),
                Err(_) => Axes::Some(axis.extract()?),
            },
        };
        let dtype = self.dtype.as_ref().map(dtype_given).transpose()?;
        let what = Reducing { how, axes, keeps_dims: self.keepdims, dtype, correction: 0.0 };
        let made = Array::made(py, &handle.rank, |engine| reduce(engine, &handle.array, &what))?;
        let Some(out) = self.out else { return Ok(made.into_any()) };
        out.set_item(py.Ellipsis(), made)?;
        Ok(out)
    }
}

macro_rules! asked {
    ($array:expr, $axis:expr, $dtype:expr, $out:expr, $keepdims:expr) => {
        Asked { axis: $axis, dtype: $dtype, out: $out, keepdims: $keepdims, array: $array }
    };
}

/// An argument that may be left away.
type Optional<'py> = Option<Bound<'py, PyAny>>;
/// An array, or what it was written to.
type Made<'py> = PyResult<Bound<'py, PyAny>>;

#[pymethods]
impl Array {
    /// Return the sum over axes.
    #[pyo3(signature = (axis=None, dtype=None, out=None, *, keepdims=false))]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        dtype: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, dtype, out, keepdims).done(How::Sum)
    }

    /// Return the product over axes.
    #[pyo3(signature = (axis=None, dtype=None, out=None, *, keepdims=false))]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        dtype: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, dtype, out, keepdims).done(How::Prod)
    }

    /// Return the mean over axes.
    #[pyo3(signature = (axis=None, dtype=None, out=None, *, keepdims=false))]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        dtype: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, dtype, out, keepdims).done(How::Mean)
    }

    /// Return the smallest element over axes.
    #[pyo3(signature = (axis=None, out=None, *, keepdims=false))]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, None, out, keepdims).done(How::Min)
    }

    /// Return the largest element over axes.
    #[pyo3(signature = (axis=None, out=None, *, keepdims=false))]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, None, out, keepdims).done(How::Max)
    }

    /// Return whether an element is not zero, over axes.
    #[pyo3(signature = (axis=None, out=None, *, keepdims=false))]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, None, out, keepdims).done(How::Any)
    }

    /// Return whether no element is zero, over axes.
    #[pyo3(signature = (axis=None, out=None, *, keepdims=false))]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        axis: Optional<'py>,
        out: Optional<'py>,
        keepdims: bool,
    ) -> Made<'py> {
        asked!(slf, axis, None, out, keepdims).done(How::All)
    }
}
