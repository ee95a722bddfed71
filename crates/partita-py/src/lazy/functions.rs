//! What `partita.sin` and the like are, and the functions that make arrays.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_array::api::{Function, Operand, choose};
use partita_array::sparse::factors;
use partita_array::timeline::{Event, from_lines, trace};
use partita_cli::timeline_picture;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::array::Array;
use super::given::{Given, number};
use super::operators::of_array_first;
use super::rank::Rank;
use super::types::dtype_given;

/// An elementwise function.
#[pyclass(frozen, module = "partita")]
pub(crate) struct Elementwise {
    function: &'static Function,
}

#[pymethods]
impl Elementwise {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        let unknown = || PyValueError::new_err(format!("no elementwise function {name}"));
        Ok(Self { function: Function::named(name).ok_or_else(unknown)? })
    }

    #[getter]
    fn __name__(&self) -> &'static str {
        self.function.name
    }

    #[getter]
    fn n_operands(&self) -> usize {
        self.function.n_operands()
    }

    #[pyo3(signature = (*operands))]
    fn __call__<'py>(&self, operands: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let (wanted, given) = (self.function.n_operands(), operands.len());
        if given != wanted {
            let name = self.function.name;
            let message = format!("{name} takes {wanted} operands, not {given}");
            return Err(PyTypeError::new_err(message));
        }
        applied(self.function, operands)
    }

    fn __repr__(&self) -> String {
        format!("<function partita.{}>", self.function.name)
    }
}

/// Records a function of as many operands as it has.
fn applied<'py>(
    function: &Function,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(made) = of_array_first(function, operands)? {
        return Ok(made);
    }
    let rank = rank_of(operands)?;
    let given = given_of(operands, &rank)?;
    let py = operands.py();
    let operands: PyResult<SmallVec<[Operand<'_>; 2]>> = given.iter().map(Given::operand).collect();
    let operands = operands?;
    let made = Array::made(py, &rank, |engine| function.apply(engine, &operands))?;
    Ok(made.into_any())
}

/// What a universal function is called by: at once where only operands are given, and by its
/// Python part `_called` where there is more to say, or the function is none of ours.
#[pyclass(frozen, subclass, module = "partita._partita")]
pub(crate) struct UfuncBase {
    function: Option<&'static Function>,
}

#[pymethods]
impl UfuncBase {
    #[new]
    #[pyo3(signature = (name, function, *_args, **_options))]
    fn new(
        name: &str,
        function: &Bound<'_, PyAny>,
        _args: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> Self {
        let _ = name;
        let native = function.cast::<Elementwise>().ok();
        Self { function: native.map(|native| native.get().function) }
    }

    #[pyo3(signature = (*operands, **options))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        operands: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().function {
            Some(function) if options.is_none() && operands.len() == function.n_operands() => {
                let outcome = applied(function, operands);
                if outcome.is_err() && operands.iter().any(|one| serves_itself(&one)) {
                    return slf.call_method1(intern!(slf.py(), "_called"), (operands, options));
                }
                outcome
            }
            _ => slf.call_method1(intern!(slf.py(), "_called"), (operands, options)),
        }
    }
}

/// Whether an operand of another kind has our functions itself.
fn serves_itself(operand: &Bound<'_, PyAny>) -> bool {
    operand.get_type().hasattr(intern!(operand.py(), "__partita_function__")).unwrap_or(false)
}

/// The rank of the first array; of this thread's team if there is none.
fn rank_of(operands: &Bound<'_, PyTuple>) -> PyResult<Py<Rank>> {
    for operand in operands.iter() {
        if let Ok(array) = operand.cast::<Array>() {
            return Ok(array.get().handle(array)?.rank.clone_ref(operands.py()));
        }
    }
    let hook = operands.py().import("partita._array.enter")?.getattr("own_rank")?;
    Ok(hook.call0()?.cast_into::<Rank>()?.unbind())
}

fn given_of<'py>(
    operands: &Bound<'py, PyTuple>,
    rank: &Py<Rank>,
) -> PyResult<SmallVec<[Given<'py>; 2]>> {
    let one = |operand: Bound<'py, PyAny>| {
        let found = Given::new(&operand, rank)?;
        found.ok_or_else(|| {
            let kind = operand.get_type().name().map(|name| name.to_string());
            let kind = kind.unwrap_or_else(|_| "value".into());
            PyTypeError::new_err(format!("a {kind} is no operand; use numbers or arrays"))
        })
    };
    operands.iter().map(one).collect()
}

/// An array with the same number everywhere.
#[pyfunction]
fn lazy_full<'py>(
    py: Python<'py>,
    rank: Py<Rank>,
    shape: Vec<usize>,
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let dtype = dtype_given(dtype)?;
    let refused = || PyTypeError::new_err(format!("{value} is no number; use one"));
    let value = number(value).ok_or_else(refused)??;
    Array::made(py, &rank, |engine| Ok(engine.fill(&shape, value.to_scalar(dtype)?)?))
}

/// An array whose elements nobody has set.
#[pyfunction]
fn lazy_empty<'py>(
    py: Python<'py>,
    rank: Py<Rank>,
    shape: Vec<usize>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let dtype = dtype_given(dtype)?;
    Array::made(py, &rank, |engine| Ok(engine.from_nothing(&shape, dtype)?))
}

/// The position along an axis.
#[pyfunction]
fn lazy_index<'py>(
    py: Python<'py>,
    rank: Py<Rank>,
    shape: Vec<usize>,
    axis: usize,
) -> PyResult<Bound<'py, Array>> {
    Array::made(py, &rank, |engine| Ok(engine.index(&shape, axis)?))
}

/// `x` where a condition holds, `y` elsewhere.
#[pyfunction]
fn lazy_where<'py>(
    condition: &Bound<'py, Array>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let py = condition.py();
    let handle = condition.get().handle(condition)?;
    let given = given_of(&PyTuple::new(py, [x, y])?, &handle.rank)?;
    let (x, y) = (given[0].operand()?, given[1].operand()?);
    Array::made(py, &handle.rank, |engine| choose(engine, &handle.array, x, y))
}

/// So many numbers whose product is a number of ranks, about equal, the last one largest.
#[pyfunction]
fn even_factors(n_ranks: u64, count: usize) -> Vec<u64> {
    factors(n_ranks, count)
}

/// The dimension along which new arrays are cut.
#[pyfunction]
fn cut_dim(shape: Vec<usize>, n_ranks: u64) -> usize {
    partita_array::local::cut_dim(&shape, n_ranks)
}

/// What ranks did, given in their lines, as a picture or as a trace.
#[pyfunction]
fn draw_activity(title: &str, ranks: Vec<String>, is_picture: bool) -> String {
    let ranks: Vec<Vec<Event>> = ranks.iter().map(|lines| from_lines(lines)).collect();
    if is_picture { timeline_picture(title, &ranks) } else { trace(&ranks) }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(draw_activity, module)?)?;
    module.add_function(wrap_pyfunction!(even_factors, module)?)?;
    module.add_function(wrap_pyfunction!(cut_dim, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_full, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_empty, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_index, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_where, module)?)
}
