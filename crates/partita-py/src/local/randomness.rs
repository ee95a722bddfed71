//! Random numbers that depend on their position alone.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_numeric::random::{Continuous, Discrete, Stream};
use partita_plan::Dtype;
use pyo3::prelude::*;

use super::block::{Block, refused};
use super::choosing::numeric_error;
use super::cores;

/// Fills with the words `first` on of a stream.
#[pyfunction]
fn local_words(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::U64)?;
    let out = out.row_mut::<u64>()?;
    py.detach(|| named(stream).words(first, out, cores(n_threads)));
    Ok(())
}

/// Fills with the elements `first` on of a distribution of real numbers.
#[pyfunction]
fn local_fill(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    kind: &str,
    numbers: Vec<f64>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::F64)?;
    let out = out.row_mut::<f64>()?;
    let wanted = continuous(kind, &numbers).ok_or_else(|| unknown(kind, numbers.len()))?;
    py.detach(|| named(stream).fill(wanted, first, out, cores(n_threads))).map_err(numeric_error)
}

/// Fills with the elements `first` on of a distribution of whole numbers.
#[pyfunction]
fn local_fill_integers(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    kind: &str,
    numbers: Vec<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::I64)?;
    let out = out.row_mut::<i64>()?;
    let wanted = discrete(kind, &numbers)?;
    py.detach(|| named(stream).fill_integers(wanted, first, out, cores(n_threads)))
        .map_err(numeric_error)
}

/// Fills with real numbers, each of a distribution with parameters of its own.
#[pyfunction]
fn local_fill_each(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    kind: &str,
    numbers: Vec<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::F64)?;
    let out = out.row_mut::<f64>()?;
    let (stream, cores) = (named(stream), cores(n_threads));
    let blocks = rows(&numbers, Dtype::F64, out.len())?;
    let rows = blocks.iter().map(Block::row::<f64>).collect::<PyResult<Vec<_>>>()?;
    match (kind, rows.as_slice()) {
        ("gamma", &[shape]) => {
            let of = |i| Continuous::Gamma { shape: shape[i] };
            py.detach(|| stream.fill_each(of, first, out, cores))
        }
        ("beta", &[a, b]) => {
            let of = |i| Continuous::Beta { a: a[i], b: b[i] };
            py.detach(|| stream.fill_each(of, first, out, cores))
        }
        ("standard_t", &[df]) => {
            let of = |i| Continuous::StandardT { df: df[i] };
            py.detach(|| stream.fill_each(of, first, out, cores))
        }
        _ => return Err(unknown(kind, rows.len())),
    }
    .map_err(numeric_error)
}

/// Fills with whole numbers, each of a distribution with parameters of its own.
#[pyfunction]
fn local_fill_integers_each(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    kind: &str,
    numbers: Vec<Bound<'_, PyAny>>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::I64)?;
    let out = out.row_mut::<i64>()?;
    let (stream, cores) = (named(stream), cores(n_threads));
    let wrong = || unknown(kind, numbers.len());
    match kind {
        "uniform" => {
            let blocks = rows(&numbers, Dtype::I64, out.len())?;
            let [low, end] = blocks.as_slice() else { return Err(wrong()) };
            let (low, end) = (low.row::<i64>()?, end.row::<i64>()?);
            // A difference may need the bit of the sign.
            let span = |i: usize| end[i].wrapping_sub(low[i]).cast_unsigned();
            let of = |i| Discrete::Uniform { low: low[i], span: span(i) };
            py.detach(|| stream.fill_integers_each(of, first, out, cores))
        }
        "poisson" => {
            let blocks = rows(&numbers, Dtype::F64, out.len())?;
            let [mean] = blocks.as_slice() else { return Err(wrong()) };
            let mean = mean.row::<f64>()?;
            let of = |i| Discrete::Poisson { mean: mean[i] };
            py.detach(|| stream.fill_integers_each(of, first, out, cores))
        }
        "binomial" => {
            let [n, p] = numbers.as_slice() else { return Err(wrong()) };
            let n = rows(std::slice::from_ref(n), Dtype::I64, out.len())?;
            let p = rows(std::slice::from_ref(p), Dtype::F64, out.len())?;
            let (n, p) = (n[0].row::<i64>()?, p[0].row::<f64>()?);
            let of = |i| Discrete::Binomial { n: n[i], p: p[i] };
            py.detach(|| stream.fill_integers_each(of, first, out, cores))
        }
        _ => return Err(wrong()),
    }
    .map_err(numeric_error)
}

/// Arrays of parameters, as many elements each as are drawn.
fn rows(numbers: &[Bound<'_, PyAny>], dtype: Dtype, n: usize) -> PyResult<Vec<Block>> {
    let blocks: Vec<Block> =
        numbers.iter().map(|one| Block::of(one, dtype)).collect::<PyResult<_>>()?;
    match blocks.iter().find(|block| block.n_elements() != n) {
        None => Ok(blocks),
        Some(block) => Err(refused(&format!(
            "{} parameters for {n} elements; give as many",
            block.n_elements()
        ))),
    }
}

/// Fills with float32 numbers from 0 to 1, without 1.
#[pyfunction]
fn local_fill_single(
    py: Python<'_>,
    stream: (u64, u64),
    first: u64,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::F32)?;
    let out = out.row_mut::<f32>()?;
    py.detach(|| named(stream).uniform_f32(first, out, cores(n_threads)));
    Ok(())
}

/// Fills with the places `first` on of a random permutation of n positions.
#[pyfunction]
fn local_permutation(
    py: Python<'_>,
    stream: (u64, u64),
    n: u64,
    first: u64,
    out: &Bound<'_, PyAny>,
    n_threads: usize,
) -> PyResult<()> {
    let mut out = Block::of(out, Dtype::I64)?;
    let out = out.row_mut::<i64>()?;
    if first.checked_add(out.len() as u64).is_none_or(|end| end > n) {
        return Err(refused("more places than positions; use no more"));
    }
    py.detach(|| named(stream).permutation(n, first, out, cores(n_threads)));
    Ok(())
}

fn named((key, number): (u64, u64)) -> Stream {
    Stream { key, number }
}

fn unknown(kind: &str, n: usize) -> PyErr {
    refused(&format!("no distribution {kind:?} of {n} numbers; see partita.random"))
}

fn continuous(kind: &str, numbers: &[f64]) -> Option<Continuous> {
    Some(match (kind, numbers) {
        ("uniform", []) => Continuous::Uniform,
        ("normal", []) => Continuous::Normal,
        ("exponential", []) => Continuous::Exponential,
        ("laplace", []) => Continuous::Laplace,
        ("logistic", []) => Continuous::Logistic,
        ("gumbel", []) => Continuous::Gumbel,
        ("cauchy", []) => Continuous::Cauchy,
        ("rayleigh", []) => Continuous::Rayleigh,
        ("weibull", &[a]) => Continuous::Weibull { a },
        ("lognormal", &[mean, sigma]) => Continuous::Lognormal { mean, sigma },
        ("triangular", &[left, mode, right]) => Continuous::Triangular { left, mode, right },
        ("gamma", &[shape]) => Continuous::Gamma { shape },
        ("beta", &[a, b]) => Continuous::Beta { a, b },
        ("chisquare", &[df]) => Continuous::ChiSquare { df },
        ("standard_t", &[df]) => Continuous::StandardT { df },
        _ => return None,
    })
}

fn discrete(kind: &str, numbers: &[Bound<'_, PyAny>]) -> PyResult<Discrete> {
    Ok(match (kind, numbers) {
        ("uniform", [low, span]) => {
            Discrete::Uniform { low: low.extract()?, span: span.extract()? }
        }
        ("poisson", [mean]) => Discrete::Poisson { mean: mean.extract()? },
        ("binomial", [n, p]) => Discrete::Binomial { n: n.extract()?, p: p.extract()? },
        ("geometric", [p]) => Discrete::Geometric { p: p.extract()? },
        _ => return Err(unknown(kind, numbers.len())),
    })
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_words, module)?)?;
    module.add_function(wrap_pyfunction!(local_fill, module)?)?;
    module.add_function(wrap_pyfunction!(local_fill_integers, module)?)?;
    module.add_function(wrap_pyfunction!(local_fill_each, module)?)?;
    module.add_function(wrap_pyfunction!(local_fill_integers_each, module)?)?;
    module.add_function(wrap_pyfunction!(local_fill_single, module)?)?;
    module.add_function(wrap_pyfunction!(local_permutation, module)?)
}
