//! `a.sum()` and the like: native methods, since programs read such numbers in their loops.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_array::api::{Axes, How, Reducing, reduce};
use partita_kernel::Kind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use super::array::Array;
use super::types::dtype_given;

/// What the methods are given: axes, element type, where to write, whether axes stay, what to
/// begin with, which elements count.
struct Asked<'a, 'py> {
    axis: Optional<'py>,
    dtype: Optional<'py>,
    out: Optional<'py>,
    keepdims: bool,
    initial: Optional<'py>,
    mask: Optional<'py>,
    array: &'a Bound<'py, Array>,
}

impl<'py> Asked<'_, 'py> {
    fn done(self, how: How) -> Made<'py> {
        if self.out.is_some() || self.initial.is_some() || self.mask.is_some() {
            return self.done_in_steps(how);
        }
        let dtype = self.dtype.as_ref().map(dtype_given).transpose()?;
        if dtype.is_some_and(|dtype| is_in_steps(how, dtype.kind())) {
            return self.done_in_steps(how);
        }
        let (py, handle) = (self.array.py(), self.array.get().handle(self.array)?);
        let is_complex = handle.array.dtype().kind() == Kind::Complex;
        if is_complex && matches!(how, How::Min | How::Max) {
            return self.done_in_steps(how);
        }
        let axes = axes_given(self.axis.as_ref(), how, handle.array.ndim())?;
        let what = Reducing { how, axes, keeps_dims: self.keepdims, dtype, correction: 0.0 };
        let made = Array::made(py, &handle.rank, |engine| reduce(engine, &handle.array, &what))?;
        Ok(made.into_any())
    }

    /// What few programs ask for, extremes of complex numbers among it: several operations, by the function of the same name.
    fn done_in_steps(self, how: How) -> Made<'py> {
        let py = self.array.py();
        let options = PyDict::new(py);
        options.set_item("axis", self.axis)?;
        options.set_item("out", self.out)?;
        options.set_item("keepdims", self.keepdims)?;
        let others = [("dtype", self.dtype), ("initial", self.initial), ("where", self.mask)];
        for (name, given) in others.into_iter().filter(|(_, given)| given.is_some()) {
            options.set_item(name, given)?;
        }
        let room = py.import("partita._functions.statistics")?;
        room.getattr(how.name())?.call((self.array,), Some(&options))
    }
}

/// Whether a reduction in a kind of type is made of others: sums of truth values, whole means.
fn is_in_steps(how: How, kind: Kind) -> bool {
    match how {
        How::Sum | How::Prod => kind == Kind::Bool,
        How::Mean => !matches!(kind, Kind::Float | Kind::Complex),
        _ => false,
    }
}

/// Whether an argument such as `keepdims` says yes: NumPy takes numbers, too.
pub(super) fn truth(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    given.is_truthy()
}

/// The axes that an argument names: one, several, or all of them.
///
/// One number has an axis, as NumPy sees it, along which all but its moments can be taken.
pub(super) fn axes_given(axis: Option<&Bound<'_, PyAny>>, how: How, ndim: usize) -> PyResult<Axes> {
    let Some(axis) = axis else { return Ok(Axes::All) };
    let refused = || {
        let shown = axis.repr().map_or_else(|_| "this".into(), |text| text.to_string());
        PyTypeError::new_err(format!("{shown} is no axis; use an integer, several, or None"))
    };
    if has_truth(axis) {
        return Err(refused());
    }
    if let Ok(one) = axis.extract::<i64>() {
        let is_moment = matches!(how, How::Mean | How::Var | How::Std);
        if ndim == 0 && matches!(one, 0 | -1) && !is_moment {
            return Ok(Axes::All);
        }
        return Ok(Axes::Some(vec![one]));
    }
    axis.extract().map(Axes::Some).map_err(|_| refused())
}

/// Whether an axis is a truth value, or one of several is: most likely meant for another argument.
fn has_truth(axis: &Bound<'_, PyAny>) -> bool {
    let is_truth = |given: &Bound<'_, PyAny>| given.is_instance_of::<PyBool>();
    let several = axis.cast::<PyTuple>();
    is_truth(axis) || several.is_ok_and(|axes| axes.iter().any(|one| is_truth(&one)))
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
            #[pyo3(signature = (
                axis=None, dtype=None, out=None, keepdims=false, initial=None, r#where=None
            ))]
            fn $name<'py>(
                slf: &Bound<'py, Self>,
                axis: Optional<'py>,
                dtype: Optional<'py>,
                out: Optional<'py>,
                #[pyo3(from_py_with = truth)] keepdims: bool,
                initial: Optional<'py>,
                r#where: Optional<'py>,
            ) -> Made<'py> {
                let asked = Asked { axis, dtype, out, keepdims, initial, mask: r#where, array: slf };
                asked.done(How::$how)
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
            #[pyo3(signature = (
                axis=None, out=None, keepdims=false, initial=None, r#where=None
            ))]
            fn $name<'py>(
                slf: &Bound<'py, Self>,
                axis: Optional<'py>,
                out: Optional<'py>,
                #[pyo3(from_py_with = truth)] keepdims: bool,
                initial: Optional<'py>,
                r#where: Optional<'py>,
            ) -> Made<'py> {
                let (dtype, mask) = (None, r#where);
                let asked = Asked { axis, dtype, out, keepdims, initial, mask, array: slf };
                asked.done(How::$how)
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
