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

/// An argument that may be left away.
type Optional<'py> = Option<Bound<'py, PyAny>>;
/// An array, or what it was written to.
type Made<'py> = PyResult<Bound<'py, PyAny>>;

/// Methods whose result has the type that is asked for.
macro_rules! typed {
    ($($name:ident $how:ident $about:literal;)*) => {$(
        #[pymethods]
        impl Array {
            #[doc = $about]
            #[pyo3(signature = (axis=None, dtype=None, out=None, *, keepdims=false))]
            fn $name<'py>(
                slf: &Bound<'py, Self>,
                axis: Optional<'py>,
                dtype: Optional<'py>,
                out: Optional<'py>,
                keepdims: bool,
            ) -> Made<'py> {
                Asked { axis, dtype, out, keepdims, array: slf }.done(How::$how)
            }
        }
    )*};
}

/// Methods whose result has a type of its own.
macro_rules! plain {
    ($($name:ident $how:ident $about:literal;)*) => {$(
        #[pymethods]
        impl Array {
            #[doc = $about]
            #[pyo3(signature = (axis=None, out=None, *, keepdims=false))]
            fn $name<'py>(
                slf: &Bound<'py, Self>,
                axis: Optional<'py>,
                out: Optional<'py>,
                keepdims: bool,
            ) -> Made<'py> {
                Asked { axis, dtype: None, out, keepdims, array: slf }.done(How::$how)
            }
        }
    )*};
}

typed! {
    sum Sum "Return the sum over axes.";
    prod Prod "Return the product over axes.";
    mean Mean "Return the mean over axes.";
}

plain! {
    min Min "Return the smallest element over axes.";
    max Max "Return the largest element over axes.";
    any Any "Return whether an element is not zero, over axes.";
    all All "Return whether no element is zero, over axes.";
}
