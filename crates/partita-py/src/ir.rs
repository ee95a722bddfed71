//! Array programs for Python: `partita.ir` wraps `ProgramCore`.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::sync::{Arc, Mutex, PoisonError};

use partita_array::run::{Argument, Dense, Gather, Number, ResultValue, RunError};
use partita_array::run::{machine_for, n_ranks_here, run};
use partita_array::sparse::{Format, SparseTensor};
use partita_ir::{Form, Location, Module, marked_line, passes};
use partita_kernel::{Dtype, Machine};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyTuple};

use crate::errors::{program_error, team_error, watch_signals};
use crate::team::TeamCore;

/// Machines by how many ranks of this process share the cores.
static MACHINES: Mutex<Vec<(u64, Arc<Machine>)>> = Mutex::new(Vec::new());

pub(crate) fn machine(n_ranks: u64) -> Arc<Machine> {
    let mut machines = MACHINES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, machine)) = machines.iter().find(|(n, _)| *n == n_ranks) {
        return Arc::clone(machine);
    }
    let machine = machine_for(n_ranks);
    machines.push((n_ranks, Arc::clone(&machine)));
    machine
}

/// A program that was read from text.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct ProgramCore {
    module: Module,
    /// What it was read from, to show lines of.
    text: Arc<str>,
}

/// What a run gave: results, exchanges, bytes, kernels.
type RunReport<'py> = (Bound<'py, PyList>, u64, u128, u64);

#[pymethods]
impl ProgramCore {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        match partita_ir::parse(text) {
            Ok(module) => Ok(Self { module, text: text.into() }),
            Err(found) => Err(found_error(py, found, text)),
        }
    }

    /// Raises all rules that the program breaks.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        partita_ir::verify(&self.module).map_err(|found| found_error(py, found, &self.text))
    }

    /// What its functions cost on so many ranks, before and after the default passes.
    fn explain(
        &self,
        py: Python<'_>,
        n_ranks: Bound<'_, PyAny>,
        arguments: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.verify(py)?;
        let outside = || format!("a program cannot be explained on {n_ranks} ranks; use 1 to 4096");
        let n_ranks: u64 = n_ranks.extract().map_err(|_| program_error(py, &outside(), "ranks"))?;
        let mut numbers = Vec::new();
        for (at, one) in arguments.iter().enumerate() {
            numbers.push(match one.is_none() {
                true => None,
                false => match argument(py, at, one)? {
                    Argument::Number(number) => Some(number),
                    _ => None,
                },
            });
        }
        let explained = py.detach(|| partita_array::explain(&self.module, None, n_ranks, &numbers));
        let explained = explained.map_err(|error| {
            // The command's option is an argument here.
            let message = error.to_string().replace("(--arg ", "(as argument ");
            program_error(py, &message, error.reason())
        });
        Ok(explained?.to_string())
    }

    /// The program after some passes.
    #[pyo3(signature = (names, n_ranks=None))]
    fn apply(&self, py: Python<'_>, names: Vec<String>, n_ranks: Option<u64>) -> PyResult<Self> {
        let mut module = self.module.clone();
        let options = passes::Options { n_ranks, ..passes::Options::default() };
        for name in &names {
            passes::apply_with(&mut module, name, &options)
                .map_err(|error| program_error(py, &error.to_string(), error.reason()))?;
        }
        Ok(Self { module, text: Arc::clone(&self.text) })
    }

    /// The text in a form: generic, rfc or builtin.
    fn text(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        let known = Form::from_name(form);
        let refused = || format!("there is no form {form:?}; use generic, rfc or builtin");
        let form = known.ok_or_else(|| program_error(py, &refused(), "form-unknown"))?;
        Ok(partita_ir::print(&self.module, form))
    }

    /// Names of functions that have a body.
    #[getter]
    fn functions(&self) -> Vec<String> {
        let has_body = |op: &partita_ir::Op| self.module.body(*op).is_some();
        let functions = self.module.functions().filter(has_body);
        functions.filter_map(|op| self.module.function_name(op)).map(str::to_string).collect()
    }

    /// Runs a function; arrays are (shape, dtype, bytes).
    fn run<'py>(
        &self,
        py: Python<'py>,
        function: &str,
        arguments: Vec<Bound<'py, PyAny>>,
        team: &TeamCore,
    ) -> PyResult<RunReport<'py>> {
        let read = arguments.iter().enumerate().map(|(at, one)| argument(py, at, one));
        let read = read.collect::<PyResult<Vec<Argument>>>();
        let read = match read.and_then(|read| self.verify(py).map(|()| read)) {
            Ok(read) => read,
            Err(error) => {
                self.refuse(py, &error.value(py).to_string(), team);
                return Err(error);
            }
        };
        watch_signals();
        let machine = machine(n_ranks_here(&team.core));
        let report =
            py.detach(|| run(&self.module, function, &read, &team.core, &machine, Gather::All));
        let report = report.map_err(|error| run_error(py, &error, &self.text))?;
        let results = report.results.iter().map(|one| plain(py, one));
        let results = PyList::new(py, results.collect::<PyResult<Vec<_>>>()?)?;
        Ok((results, report.n_exchanges, report.n_bytes, report.n_kernels))
    }

    /// Tells the other ranks, who run the program, that this one cannot.
    fn refuse(&self, py: Python<'_>, problem: &str, team: &TeamCore) {
        // What comes back is this rank's own problem, which is raised anyway.
        let _ = py.detach(|| team.core.report(problem));
    }
}

fn found_error(py: Python<'_>, found: partita_ir::Diagnostics, text: &str) -> PyErr {
    let reason = found.reasons().first().copied().unwrap_or("syntax");
    program_error(py, &found.with_source(text).to_string(), reason)
}

fn run_error(py: Python<'_>, error: &RunError, text: &str) -> PyErr {
    match error {
        RunError::Team(error) => team_error(py, error),
        RunError::Operation { line, column, .. } => {
            let location = Location { line: *line, column: *column };
            let shown =
                marked_line(text, location).map_or(String::new(), |line| format!("\n{line}"));
            program_error(py, &format!("{error}{shown}"), error.reason())
        }
        other => program_error(py, &other.to_string(), other.reason()),
    }
}

fn argument(py: Python<'_>, at: usize, value: &Bound<'_, PyAny>) -> PyResult<Argument> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Argument::Number(Number::Int(value.extract::<bool>()?.into())));
    }
    if value.is_instance_of::<PyInt>() {
        let wide =
            || format!("argument {at} is {value}, which has more than 64 bits; use a smaller one");
        if let Ok(int) = value.extract() {
            return Ok(Argument::Number(Number::Int(int)));
        }
        let large: u64 = value.extract().map_err(|_| program_error(py, &wide(), "argument"))?;
        let bytes = large.to_ne_bytes().to_vec().into();
        return Ok(Argument::Array { shape: vec![], dtype: Dtype::UInt64, bytes });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Argument::Number(Number::Float(value.extract()?)));
    }
    if let Ok(complex) = value.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Argument::Number(Number::Complex(complex.real(), complex.imag())));
    }
    if let Ok(sparse) = value.extract::<GivenSparse>() {
        return sparse_argument(py, at, sparse);
    }
    let (shape, name, bytes): (Vec<usize>, String, Vec<u8>) = value.extract().map_err(|_| {
        let message =
            format!("argument {at} is {value}, which is no array; give numbers or arrays");
        program_error(py, &message, "argument")
    })?;
    let dtype = named_dtype(py, at, &name)?;
    Ok(Argument::Array { shape, dtype, bytes: bytes.into() })
}

/// Format, shape, element type, positions, coordinates, elements.
type GivenSparse = (String, Vec<u64>, String, Vec<i64>, Vec<Vec<i64>>, Vec<u8>);

fn sparse_argument(py: Python<'_>, at: usize, given: GivenSparse) -> PyResult<Argument> {
    let (format, shape, name, positions, coordinates, values) = given;
    let dtype = named_dtype(py, at, &name)?;
    let refused = |problem: String| {
        program_error(py, &format!("argument {at} is no sparse tensor: {problem}"), "argument")
    };
    let format = Format::from_name(&format)
        .ok_or_else(|| refused(format!("{format} is no format; use coo, csr or csc")))?;
    let tensor = SparseTensor { shape, dtype, format, positions, coordinates, values };
    let tensor = tensor.checked().map_err(|error| refused(error.to_string()))?;
    Ok(Argument::Sparse(tensor.into()))
}

fn named_dtype(py: Python<'_>, at: usize, name: &str) -> PyResult<Dtype> {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| {
        let message = format!("argument {at} has elements of {name}; use numbers or truth values");
        program_error(py, &message, "argument")
    })
}

fn plain<'py>(py: Python<'py>, value: &ResultValue) -> PyResult<Bound<'py, PyAny>> {
    match value {
        ResultValue::Number(Number::Int(truth), partita_ir::Scalar::BOOL) => {
            Ok((*truth != 0).into_pyobject(py)?.to_owned().into_any())
        }
        ResultValue::Number(
            Number::Int(number),
            partita_ir::Scalar::Int { width: 64, sign: partita_ir::Sign::Unsigned },
        ) => Ok((*number as u64).into_pyobject(py)?.into_any()),
        ResultValue::Number(Number::Int(number), _) => Ok(number.into_pyobject(py)?.into_any()),
        ResultValue::Number(Number::Float(number), _) => Ok(number.into_pyobject(py)?.into_any()),
        ResultValue::Number(Number::Complex(real, imaginary), _) => {
            Ok(PyComplex::from_doubles(py, *real, *imaginary).into_any())
        }
        ResultValue::Array(Dense { shape, dtype, bytes }) => {
            let shape = PyTuple::new(py, shape)?;
            (shape, dtype.name(), PyBytes::new(py, bytes)).into_pyobject(py).map(Bound::into_any)
        }
        ResultValue::Sparse(tensor) => {
            let SparseTensor { shape, dtype, format, positions, coordinates, values } = tensor;
            let shape = PyTuple::new(py, shape)?;
            let (format, dtype, data) = (format.name(), dtype.name(), PyBytes::new(py, values));
            (format, shape, dtype, positions.clone(), coordinates.clone(), data)
                .into_pyobject(py)
                .map(Bound::into_any)
        }
        // Whole arrays are asked for.
        ResultValue::Parts { .. } | ResultValue::SparseParts { .. } => Ok(py.None().into_bound(py)),
    }
}

/// Names and summaries of all passes.
#[pyfunction]
pub(crate) fn program_passes() -> Vec<(&'static str, &'static str)> {
    passes::registry().iter().map(|pass| (pass.name, pass.summary)).collect()
}

/// The passes that `partita run` applies unless told otherwise.
#[pyfunction]
pub(crate) fn default_passes() -> Vec<&'static str> {
    passes::DEFAULT_PIPELINE.to_vec()
}
