//! The classes `Move` and `Run`.

use partita_layout as core;
use pyo3::prelude::*;

use crate::arrays::from_numbers;

/// Positions in a source and a target buffer, in one dimension, that hold the same indices.
#[pyclass(frozen, eq, module = "partita")]
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub core: core::Run,
}

#[pymethods]
impl Run {
    /// First position in the source buffer.
    #[getter]
    fn source_start(&self) -> u64 {
        self.core.source
    }

    /// First position in the target buffer.
    #[getter]
    fn target_start(&self) -> u64 {
        self.core.target
    }

    /// Nested loops, outermost first: (count, source_step, target_step).
    #[getter]
    fn levels(&self) -> Vec<(u64, i64, i64)> {
        let levels = self.core.levels.iter().filter(|level| level.count != 1);
        levels.map(|level| (level.count, level.source_step, level.target_step)).collect()
    }

    /// Number of positions.
    #[getter]
    fn n_elements(&self) -> u64 {
        self.core.n_elements()
    }

    fn __repr__(&self) -> String {
        let (source, target) = (self.core.source, self.core.target);
        format!("Run({source} -> {target}, levels={:?})", self.levels())
    }
}

/// A region that moves from one rank to another, or stays on its rank.
#[pyclass(frozen, module = "partita")]
#[derive(Debug)]
pub(crate) struct Move {
    pub core: partita_plan::Move,
    pub n_bytes: u64,
}

#[pymethods]
impl Move {
    /// Rank that sends.
    #[getter]
    fn source_rank(&self) -> u64 {
        self.core.source_rank
    }

    /// Rank that receives.
    #[getter]
    fn target_rank(&self) -> u64 {
        self.core.target_rank
    }

    /// Index of the sending rank's buffer.
    #[getter]
    fn source_buffer(&self) -> usize {
        self.core.source_buffer
    }

    /// Index of the receiving rank's buffer.
    #[getter]
    fn target_buffer(&self) -> usize {
        self.core.target_buffer
    }

    /// Number of elements.
    #[getter]
    fn n_elements(&self) -> u64 {
        self.core.n_elements()
    }

    /// Number of bytes.
    #[getter]
    fn n_bytes(&self) -> u128 {
        u128::from(self.core.n_elements()) * u128::from(self.n_bytes)
    }

    /// The region, as the product of one list of runs per dimension.
    #[getter]
    fn runs(&self) -> Vec<Vec<Run>> {
        let per_dim = self.core.runs.iter();
        per_dim.map(|runs| runs.iter().map(|run| Run { core: *run }).collect()).collect()
    }

    /// Positions in the source buffer, one array per dimension, for `numpy.ix_`.
    fn source_indices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.positions(py, |(source, _)| source)
    }

    /// Positions in the target buffer, one array per dimension, for `numpy.ix_`.
    fn target_indices<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.positions(py, |(_, target)| target)
    }

    fn __repr__(&self) -> String {
        let (from, to) = (self.core.source_rank, self.core.target_rank);
        format!("Move({from} -> {to}, {} elements)", self.core.n_elements())
    }
}

impl Move {
    fn positions<'py>(
        &self,
        py: Python<'py>,
        side: fn((u64, u64)) -> u64,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.core
            .runs
            .iter()
            .map(|runs| {
                let pairs = runs.iter().flat_map(core::Run::pairs);
                let positions: Vec<i64> = pairs.map(|pair| side(pair) as i64).collect();
                from_numbers(py, positions.into_iter())
            })
            .collect()
    }
}
