//! The class `partita.Array`.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use partita_array::LocalError;
use partita_array::api::{Axes, How, Number, Reducing, reduce, running};
use partita_array::local::{
    Array as LocalArray, Engine, Foreign, Here, Lock, Running, Snapshot, Spread,
};
use partita_team::{Access, TeamError};
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyTuple};

use super::forms::{Entry, Forms};
use super::given::number;
use super::memory::SharedMemory;
use super::rank::{Kept, Rank};
use super::reductions::{axes_given, truth};
use super::types::{api_error, dtype_given, dtype_object};
use crate::errors::team_error;
use crate::layout::Layout;

/// An array of a rank's engine.
pub(crate) struct Handle {
    pub rank: Py<Rank>,
    /// Touched under the rank's lock; its shape and type never change (`forms`).
    pub array: ManuallyDrop<LocalArray>,
}

// SAFETY: what is not plain data in it is touched under the rank's lock only.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let array = unsafe { ManuallyDrop::take(&mut self.array) };
        self.rank.get().drop_array(array);
    }
}

/// What is shown of an array of a rank's engine instead of its memory.
pub(super) struct Shown {
    rank: Py<Rank>,
    /// Touched and dropped under the rank's lock.
    snapshot: ManuallyDrop<Snapshot>,
}

// SAFETY: what is not plain data in it is touched under the rank's lock only.
unsafe impl Send for Shown {}
// SAFETY: as above.
unsafe impl Sync for Shown {}

impl Drop for Shown {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let snapshot = unsafe { ManuallyDrop::take(&mut self.snapshot) };
        self.rank.get().drop_array(snapshot.into_copy());
    }
}

/// A box: start and shape.
type Sides = (Vec<u64>, Vec<u64>);
/// Memory, offset, shape, strides; every rank's box.
type SharedPart = (SharedMemory, usize, Vec<u64>, Vec<isize>, Option<Vec<Sides>>);

/// An array whose elements live on the ranks of a team, computed when somebody looks.
#[pyclass(frozen, subclass, weakref, name = "Array", module = "partita")]
pub(crate) struct Array {
    forms: Forms,
}

impl Array {
    /// An array of an engine, for Python.
    pub(crate) fn wrapped<'py>(
        py: Python<'py>,
        rank: &Py<Rank>,
        array: LocalArray,
    ) -> PyResult<Bound<'py, Self>> {
        let handle = Handle { rank: rank.clone_ref(py), array: ManuallyDrop::new(array) };
        Bound::new(py, Self { forms: Forms::new(Entry::Made(handle)) })
    }

    /// Its engine's array, if it has one already.
    fn entered(&self) -> Option<&Handle> {
        self.forms.current().handle()
    }

    /// Its engine's array; one that Python holds enters the engine now.
    pub(crate) fn handle<'a>(&'a self, own: &Bound<'_, Self>) -> PyResult<&'a Handle> {
        let py = own.py();
        if let Some(handle) = self.entered() {
            let is_apart = handle.rank.get().is_apart();
            return if is_apart { Err(team_error(py, &TeamError::Busy)) } else { Ok(handle) };
        }
        py.import("partita._array.enter")?.getattr("enter")?.call1((own,))?;
        let missing = || PyValueError::new_err("this array has no elements to compute with");
        self.entered().ok_or_else(missing)
    }

    /// Computes what is pending, and brings up to date what is shown instead of its memory.
    fn computed(
        &self,
        py: Python<'_>,
        compute: fn(&Engine) -> Result<(), LocalError>,
    ) -> PyResult<()> {
        let form = self.forms.current();
        let Some(handle) = form.handle() else { return Ok(()) };
        let done = handle.rank.get().detached(py, |engine| match form.shown.get() {
            Some(shown) => shown.snapshot.refresh(&handle.array, compute),
            None => compute(engine),
        });
        done.map_err(|error| api_error(py, &error.into()))
    }

    /// Computes with the engine and wraps the result.
    pub(crate) fn made<'py>(
        py: Python<'py>,
        rank: &Py<Rank>,
        work: impl FnOnce(&Engine) -> partita_array::api::Result<LocalArray>,
    ) -> PyResult<Bound<'py, Self>> {
        let (made, has_ready) = rank.get().with(py, |engine| (work(engine), engine.has_ready()));
        Self::finished(py, rank, made, has_ready)
    }

    fn finished<'py>(
        py: Python<'py>,
        rank: &Py<Rank>,
        made: partita_array::api::Result<LocalArray>,
        has_ready: bool,
    ) -> PyResult<Bound<'py, Self>> {
        if has_ready {
            rank.get().run_ready(py)?;
        }
        Self::wrapped(py, rank, made.map_err(|error| api_error(py, &error))?)
    }

    /// The only element; of a shape that has more or none, what its error says.
    fn only(own: &Bound<'_, Self>, refused: impl FnOnce(&[usize]) -> PyErr) -> PyResult<Number> {
        let handle = own.get().handle(own)?;
        if handle.array.n_elements() != 1 {
            return Err(refused(handle.array.shape()));
        }
        let py = own.py();
        let scalar = handle.rank.get().detached(py, |_| handle.array.to_scalar());
        scalar.map(Number::from_scalar).map_err(|error| api_error(py, &error.into()))
    }
}

fn no_number(shape: &[usize]) -> PyErr {
    let message =
        format!("an array of shape {shape:?} is no single number; use one of its elements");
    PyTypeError::new_err(message)
}

fn no_item(shape: &[usize]) -> PyErr {
    PyValueError::new_err(format!("an array of shape {shape:?} is no single item; say which one"))
}

fn no_truth(shape: &[usize]) -> PyErr {
    let message =
        format!("an array of shape {shape:?} is neither true nor false; use any() or all()");
    PyValueError::new_err(message)
}

/// The position in C order of an item that is counted through all dimensions.
fn unravelled(at: i64, shape: &[usize]) -> PyResult<Vec<usize>> {
    let size = shape.iter().product::<usize>();
    let counted = if at < 0 { at.saturating_add_unsigned(size as u64) } else { at };
    let found = usize::try_from(counted).ok().filter(|at| *at < size);
    let outside = || PyIndexError::new_err(format!("item {at} of {size}; use one that is there"));
    let mut rest = found.ok_or_else(outside)?;
    let mut position = vec![0; shape.len()];
    for (dim, size) in shape.iter().enumerate().rev() {
        position[dim] = rest % size;
        rest /= size;
    }
    Ok(position)
}

fn plain<'py>(py: Python<'py>, number: Number) -> PyResult<Bound<'py, PyAny>> {
    Ok(match number {
        Number::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Number::Int(int) => int.into_pyobject(py)?.into_any(),
        Number::Float(float) => float.into_pyobject(py)?.into_any(),
        Number::Complex(real, imaginary) => PyComplex::from_doubles(py, real, imaginary).into_any(),
    })
}

#[pymethods]
impl Array {
    /// Made by Python's part of the class, which keeps what it is given.
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self { forms: Forms::new(Entry::Later(OnceLock::new())) }
    }

    /// What Python knows of its memory; made when it is first asked for.
    #[getter]
    fn _held(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        if let Some(held) = slf.get().forms.current().held.get() {
            return Ok(held.clone_ref(py));
        }
        let made = py.import("partita._array.held")?.getattr("of_lazy")?.call1((slf,))?.unbind();
        Ok(slf.get().forms.current().held.get_or_init(|| made).clone_ref(py))
    }

    /// Keeps what Python knows of it, once.
    fn _hold(&self, held: Py<PyAny>) -> PyResult<()> {
        let again = || PyValueError::new_err("this array has its memory already");
        self.forms.current().held.set(held).map_err(|_| again())
    }

    /// Whether Python knows its memory already.
    #[getter]
    fn _is_held(&self) -> bool {
        self.forms.current().held.get().is_some()
    }

    /// How often its memory was written.
    #[getter]
    fn _n_writes(slf: &Bound<'_, Self>) -> u64 {
        let found = |handle: &Handle| handle.rank.get().with(slf.py(), |_| handle.array.n_writes());
        slf.get().entered().map_or(0, found)
    }

    /// Whether it is one of an engine yet.
    #[getter]
    fn _is_lazy(&self) -> bool {
        self.entered().is_some()
    }

    /// The rank whose engine computes it.
    #[getter]
    fn _rank(slf: &Bound<'_, Self>) -> PyResult<Py<Rank>> {
        Ok(slf.get().handle(slf)?.rank.clone_ref(slf.py()))
    }

    /// Enters an engine with memory of its own: address and shape of a block, address, shape and
    /// strides in elements of what lies in it.
    fn _enter(
        &self,
        py: Python<'_>,
        rank: Py<Rank>,
        place: (usize, Vec<usize>, usize, Vec<usize>, Vec<isize>),
        dtype: &Bound<'_, PyAny>,
        owner: Py<PyAny>,
        is_writable: bool,
    ) -> PyResult<()> {
        let dtype = dtype_given(dtype)?;
        let access = if is_writable { Access::Write } else { Access::Read };
        let (block, block_shape, address, shape, strides) = place;
        let given =
            Foreign { block, block_shape: &block_shape, address, shape: &shape, strides: &strides };
        let made = rank.get().with(py, |engine| {
            let owner = Box::new(Kept::new(owner));
            // SAFETY: Python's part takes all of it from one NumPy array, which is the owner.
            unsafe { engine.from_memory(&given, dtype, (access, owner)) }
        });
        let array = made.map_err(|error| api_error(py, &error.into()))?;
        self.forms.current().enter(Handle { rank, array: ManuallyDrop::new(array) });
        Ok(())
    }

    /// Enters an engine with a part of its own: address, owner, whether it may be written; false
    /// if the layout is no box for each rank.
    fn _enter_part(
        &self,
        py: Python<'_>,
        rank: Py<Rank>,
        layout: &Layout,
        dtype: &Bound<'_, PyAny>,
        place: (usize, Py<PyAny>, bool),
    ) -> PyResult<bool> {
        let (address, owner, is_writable) = place;
        let dtype = dtype_given(dtype)?;
        let Some(spread) = rank.get().spread_of(&layout.core) else { return Ok(false) };
        let shape: Vec<usize> = layout.core.shape().iter().map(|n| *n as usize).collect();
        let access = if is_writable { Access::Write } else { Access::Read };
        let made = rank.get().with(py, |engine| {
            let owner = Box::new(Kept::new(owner));
            // SAFETY: Python's part takes it from one NumPy array of the layout's local shape, in
            // C order, which is the owner.
            unsafe { engine.from_part(&shape, dtype, spread, address, (access, owner)) }
        });
        let array = made.map_err(|error| api_error(py, &error.into()))?;
        self.forms.current().enter(Handle { rank, array: ManuallyDrop::new(array) });
        Ok(true)
    }

    /// Refuses an array that may only be read.
    fn _check_writable(slf: &Bound<'_, Self>) -> PyResult<()> {
        let handle = slf.get().handle(slf)?;
        handle.array.check_writable().map_err(|error| api_error(slf.py(), &error.into()))
    }

    /// Computes it and gives the memory of this rank's part: object, offset, shape and strides in
    /// bytes; and each rank's box, or None where every rank has all.
    fn _here(slf: &Bound<'_, Self>) -> PyResult<SharedPart> {
        let py = slf.py();
        let handle = slf.get().handle(slf)?;
        let shown = handle.rank.get().detached(py, |_| {
            let here = handle.array.share_here()?;
            let snapshot = Snapshot::of(&handle.array, &here.array);
            Ok::<_, LocalError>((here, snapshot.map(ManuallyDrop::new)))
        });
        let (here, snapshot) = shown.map_err(|error| api_error(py, &error.into()))?;
        let Here { array, buffer, boxes } = here;
        // What is written to a copy would be lost.
        let is_writable = snapshot.is_none() && handle.array.check_writable().is_ok();
        if let Some(snapshot) = snapshot {
            let rank = handle.rank.clone_ref(py);
            let _ = slf.get().forms.current().shown.set(Shown { rank, snapshot });
        }
        let (memory, offset) = SharedMemory::new(py, &handle.rank, array, &buffer, is_writable);
        let boxes = boxes.map(|all| all.into_iter().map(|one| (one.start, one.shape)).collect());
        Ok((memory, offset, buffer.shape, buffer.strides, boxes))
    }

    /// The pending work of its engine as a program of the dialect `ndarray`.
    fn _program(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let text = handle.rank.get().with(py, Engine::program);
        text.map_err(|error| api_error(py, &error.into()))
    }

    /// Says where the elements of a new array shall be; false if that is no box for each rank, or
    /// one with a halo, which is memory that users look at.
    fn _put(slf: &Bound<'_, Self>, layout: &Bound<'_, Layout>) -> PyResult<bool> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let rank = handle.rank.get();
        let Some(spread) = rank.spread_of(&layout.get().core) else { return Ok(false) };
        if matches!(&spread, Spread::Boxes { owned, held } if owned != held) {
            return Ok(false);
        }
        let put = rank.with(py, |engine| engine.put(&handle.array, spread));
        let put = put.map_err(|error| api_error(py, &error.into()))?;
        if put {
            let _ = slf.get().forms.current().asked.set(layout.clone().unbind());
        }
        Ok(put)
    }

    /// The layout that was asked for when it was made.
    #[getter]
    fn _asked(&self, py: Python<'_>) -> Option<Py<Layout>> {
        self.forms.current().asked.get().map(|layout| layout.clone_ref(py))
    }

    /// The same elements, all of them on every rank.
    fn _as_whole<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        Self::made(py, &handle.rank, |_| Ok(handle.array.whole()?))
    }

    /// Whether what is written to one may change the other.
    fn _is_of(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        let (own, other) = (slf.get().handle(slf)?, other.get().handle(other)?);
        Ok(own.array.is_of(&other.array))
    }

    /// Whether its elements lie one behind the other, in C order.
    #[getter]
    fn _is_dense(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(slf.get().handle(slf)?.array.window().is_dense())
    }

    /// Computes it now. Collective, also where nothing is pending.
    fn sync(slf: &Bound<'_, Self>) -> PyResult<()> {
        match slf.get().entered() {
            Some(_) => slf.get().computed(slf.py(), Engine::sync),
            // Others may have entered it, and written it.
            None => slf.getattr("_team")?.getattr("arrays")?.cast::<Rank>()?.get().sync(slf.py()),
        }
    }

    /// Computes it if it is pending; only then the ranks meet.
    fn _settle(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.get().computed(slf.py(), Engine::flush)
    }

    /// Shape of the whole array.
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().entered() {
            Some(handle) => Ok(PyTuple::new(slf.py(), handle.array.shape())?.into_any()),
            None => slf.getattr("_held")?.getattr("layout")?.getattr("shape"),
        }
    }

    /// Looks at the same elements in another shape from now on.
    #[setter(shape)]
    fn assign_shape(slf: &Bound<'_, Self>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let room = slf.py().import("partita._functions.shaping")?;
        room.getattr("set_shape")?.call1((slf, shape)).map(|_| ())
    }

    /// The same for sizes that are known to fit; false where that needs a copy.
    fn _set_shape(slf: &Bound<'_, Self>, shape: Vec<usize>) -> PyResult<bool> {
        let handle = slf.get().handle(slf)?;
        let seen = handle.rank.get().with(slf.py(), |_| {
            let fits = handle.array.window().reshape(&shape).is_some();
            fits.then(|| handle.array.reshape(&shape))
        });
        let Some(seen) = seen else { return Ok(false) };
        let array = seen.map_err(|error| api_error(slf.py(), &error.into()))?;
        let rank = handle.rank.clone_ref(slf.py());
        let made = Handle { rank, array: ManuallyDrop::new(array) };
        slf.get().forms.change(&shape, || made);
        Ok(true)
    }

    /// Number of dimensions.
    #[getter]
    fn ndim(slf: &Bound<'_, Self>) -> PyResult<usize> {
        match slf.get().entered() {
            Some(handle) => Ok(handle.array.ndim()),
            None => slf.getattr("_held")?.getattr("layout")?.getattr("ndim")?.extract(),
        }
    }

    /// Element type.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().entered() {
            Some(handle) => Ok(dtype_object(py, handle.array.dtype())?.into_bound(py)),
            None => slf.getattr("_held")?.getattr("dtype"),
        }
    }

    /// Refuses: other ranks and views know the type.
    #[setter(dtype)]
    fn assign_dtype(_slf: &Bound<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let message = format!(
            "the element type of an array stays as it is; use a = a.astype({dtype}) for the \
             numbers, or a = a.view({dtype}) for the bytes"
        );
        Err(PyAttributeError::new_err(message))
    }

    /// Combines elements over axes.
    #[pyo3(signature = (how, axes=None, keepdims=false, dtype=None, correction=0.0))]
    fn _reduce<'py>(
        slf: &Bound<'py, Self>,
        how: &str,
        axes: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = truth)] keepdims: bool,
        dtype: Option<&Bound<'py, PyAny>>,
        correction: f64,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let unknown = || PyValueError::new_err(format!("no reduction {how}"));
        let how = How::named(how).ok_or_else(unknown)?;
        let dtype = dtype.map(dtype_given).transpose()?;
        let axes = axes_given(axes, how, handle.array.ndim())?;
        let what = Reducing { how, axes, keeps_dims: keepdims, dtype, correction };
        Self::made(py, &handle.rank, |engine| reduce(engine, &handle.array, &what))
    }

    /// Running sums or products.
    #[pyo3(signature = (product, axis=None, dtype=None))]
    fn _running<'py>(
        slf: &Bound<'py, Self>,
        product: bool,
        axis: Option<i64>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let dtype = dtype.map(dtype_given).transpose()?;
        let how = if product { Running::Product } else { Running::Sum };
        Self::made(py, &handle.rank, |engine| running(engine, &handle.array, how, axis, dtype))
    }

    /// The elements in another type, in memory of their own.
    fn _cast<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let dtype = dtype_given(dtype)?;
        Self::made(py, &handle.rank, |engine| match handle.array.dtype() == dtype {
            true => Ok(engine.copy(&handle.array)?),
            false => Ok(engine.cast(&handle.array, dtype)?),
        })
    }

    /// A view with the dimensions in another order.
    fn _permute<'py>(slf: &Bound<'py, Self>, axes: Vec<i64>) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let ndim = handle.array.ndim();
        let mut order = Vec::new();
        for axis in &axes {
            let found = Axes::Some(vec![*axis]).of(ndim).map_err(|error| api_error(py, &error))?;
            order.extend(found);
        }
        Axes::Some(axes).of(ndim).map_err(|error| api_error(py, &error))?;
        if order.len() != ndim {
            let message =
                format!("axes {order:?} for an array of {ndim} dimensions; name them all");
            return Err(PyValueError::new_err(message));
        }
        Self::made(py, &handle.rank, |_| Ok(handle.array.permute(&order)))
    }

    /// An array of its shape, where it is, with the same number everywhere.
    fn _filled_like<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let dtype = dtype_given(dtype)?;
        let refused = || PyTypeError::new_err(format!("{value} is no number; use one"));
        let value = number(value).ok_or_else(refused)??;
        let filled =
            |engine: &Engine| Ok(engine.fill_like(&handle.array, value.to_scalar(dtype)?)?);
        Self::made(py, &handle.rank, filled)
    }

    /// The same elements, only to be read: they are parts of complex numbers.
    fn _as_parts<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let parts = |_: &Engine| Ok(LocalArray::clone(&handle.array).locked(Lock::Parts));
        Self::made(py, &handle.rank, parts)
    }

    /// A view with elements repeated, only to be read: also where none has to be.
    fn _broadcast<'py>(slf: &Bound<'py, Self>, shape: Vec<usize>) -> PyResult<Bound<'py, Self>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        Self::made(py, &handle.rank, |_| Ok(handle.array.broadcast(&shape)?.locked(Lock::Repeats)))
    }

    /// The elements in another shape; None where a view is asked for and a copy is needed.
    fn _reshape<'py>(
        slf: &Bound<'py, Self>,
        shape: Vec<usize>,
        copy: Option<bool>,
    ) -> PyResult<Option<Bound<'py, Self>>> {
        let (py, handle) = (slf.py(), slf.get().handle(slf)?);
        let is_view = handle.array.window().reshape(&shape).is_some();
        if copy == Some(false) && !is_view {
            return Ok(None);
        }
        let made = Self::made(py, &handle.rank, |engine| {
            if copy == Some(true) && is_view {
                return Ok(engine.copy(&handle.array)?.reshape(&shape)?);
            }
            Ok(handle.array.reshape(&shape)?)
        });
        made.map(Some)
    }

    /// One element as a number of Python: the only one; the one at a position, given as numbers
    /// or as a tuple; or the so-manieth in C order.
    #[pyo3(signature = (*at))]
    fn item<'py>(slf: &Bound<'py, Self>, at: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if at.is_empty() {
            return plain(py, Self::only(slf, no_item)?);
        }
        let first = at.get_item(0)?;
        let position = match first.cast::<PyTuple>() {
            Ok(position) if at.len() == 1 => position,
            _ => at,
        };
        let shape = slf.get().handle(slf)?.array.shape().to_vec();
        let position: Vec<i64> = position.extract()?;
        let key = match position[..] {
            [at] => PyTuple::new(py, unravelled(at, &shape)?)?,
            _ if position.len() == shape.len() => PyTuple::new(py, position)?,
            _ => return Err(no_item(&shape)),
        };
        let picked = slf.get_item(key)?.cast_into::<Self>()?;
        plain(py, Self::only(&picked, no_item)?)
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(match Self::only(slf, no_truth)? {
            Number::Bool(truth) => truth,
            Number::Int(int) => int != 0,
            Number::Float(float) => float != 0.0,
            Number::Complex(real, imaginary) => real != 0.0 || imaginary != 0.0,
        })
    }

    fn __float__(slf: &Bound<'_, Self>) -> PyResult<f64> {
        match Self::only(slf, no_number)? {
            Number::Bool(truth) => Ok(f64::from(u8::from(truth))),
            Number::Int(int) => Ok(int as f64),
            Number::Float(float) => Ok(float),
            Number::Complex(..) => Err(PyTypeError::new_err("a complex number; use real or abs")),
        }
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let number = plain(slf.py(), Self::only(slf, no_number)?)?;
        slf.py().get_type::<pyo3::types::PyInt>().call1((number,))
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let number = plain(slf.py(), Self::only(slf, no_number)?)?;
        slf.py().get_type::<PyComplex>().call1((number,))
    }

    fn __index__(slf: &Bound<'_, Self>) -> PyResult<i128> {
        match Self::only(slf, no_number)? {
            Number::Int(int) => Ok(int),
            other => Err(PyTypeError::new_err(format!("{other} is no index; use an integer"))),
        }
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let handle = slf.get().handle(slf)?;
        let none = || PyTypeError::new_err("an array without dimensions has no length");
        handle.array.shape().first().copied().ok_or_else(none)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let mut outcome = Ok(());
        self.forms.each(|form| {
            let visited = form.held.get().map_or(Ok(()), |held| visit.call(held));
            let rank = form.handle().map_or(Ok(()), |handle| visit.call(&handle.rank));
            let shown = form.shown.get().map_or(Ok(()), |shown| visit.call(&shown.rank));
            outcome = std::mem::replace(&mut outcome, Ok(())).and(visited).and(rank).and(shown);
        });
        outcome
    }
}
