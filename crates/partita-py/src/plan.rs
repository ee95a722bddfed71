//! The class `Plan` and the function `plan`.

use partita_picture::plan as picture;
use partita_plan as core;
use partita_plan::{Combine, Direction, Dtype};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::bound::BoundPlan;
use crate::convert::natural;
use crate::errors::{OrRaise, layout_error};
use crate::layout::Layout;
use crate::moves::Move;
use crate::run::{Sides, read_team};

/// Which rank sends which elements to which rank, from one layout to another.
#[pyclass(frozen, eq, hash, module = "partita")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    pub core: core::Plan,
}

/// Make the plan from one layout to another.
#[pyfunction]
#[pyo3(signature = (source, target, dtype=None))]
pub(crate) fn plan(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Plan> {
    let (source, target) = (a_layout(source)?, a_layout(target)?);
    let (source, target) = (source.get(), target.get());
    let dtype = dtype.map_or(Ok(Dtype::F64), read_dtype)?;
    let made = py.detach(|| core::Plan::new(&source.core, &target.core, dtype));
    Ok(Plan { core: made.or_raise(py)? })
}

/// What is given as a layout, if it is one.
#[pyfunction]
pub(crate) fn a_layout<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Layout>> {
    given.cast::<Layout>().cloned().map_err(|_| {
        let kind = given.get_type();
        let kind = kind.name().map_or_else(|_| kind.to_string(), |name| name.to_string());
        // Its own code may raise.
        let shown = given.repr().map_or_else(|_| String::new(), |text| format!(" ({text})"));
        let message = format!("a {kind} as layout{shown}; use partita.Layout(shape, notation)");
        layout_error(given.py(), &message, "layout-type")
    })
}

/// Bytes in the unit that fits, such as `1.5 MiB`.
#[pyfunction]
pub(crate) fn bytes_in_words(count: u128) -> String {
    core::bytes_in_words(count)
}

/// A name, or whatever NumPy takes for a dtype.
fn read_dtype(value: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    let py = value.py();
    if let Ok(name) = value.cast::<PyString>()
        && let Ok(dtype) = Dtype::parse(&name.to_string())
    {
        return Ok(dtype);
    }
    let known = py.import("numpy")?.getattr("dtype")?.call1((value,));
    let name = match known {
        Ok(dtype) if !dtype.getattr("isnative")?.extract::<bool>()? => {
            let name = dtype.getattr("name")?;
            let message = format!("elements of {value} in foreign byte order; use {name}");
            return Err(layout_error(py, &message, "byte-order"));
        }
        Ok(dtype) => dtype.getattr("name")?.to_string(),
        Err(_) => value.to_string(),
    };
    Dtype::parse(&name).or_raise(py)
}

#[pymethods]
impl Plan {
    /// Layout of the data that the plan reads.
    #[getter]
    fn source(&self) -> Layout {
        Layout { core: self.core.source().clone() }
    }

    /// Layout of the data that the plan writes.
    #[getter]
    fn target(&self) -> Layout {
        Layout { core: self.core.target().clone() }
    }

    /// Name of the element type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.core.dtype().name()
    }

    /// The kind of movement, such as "halo exchange".
    #[getter]
    fn pattern(&self) -> &'static str {
        self.core.pattern().name()
    }

    /// "copy" or "sum": what a target element becomes.
    #[getter]
    fn combine(&self) -> &'static str {
        match self.core.combine() {
            Combine::Copy => "copy",
            Combine::Sum => "sum",
        }
    }

    /// Whether this is the adjoint of a plan.
    #[getter]
    fn is_adjoint(&self) -> bool {
        self.core.direction() == Direction::Adjoint
    }

    /// Number of ranks in the source and the target together.
    #[getter]
    fn n_ranks(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.totals(py)?.n_ranks)
    }

    /// Number of pairs of a sending and a receiving rank, including a rank with itself.
    ///
    /// What runs in two stages, as `explain()` says, has those of both: here and in all that is
    /// counted in messages and bytes. `sends` and `receives` are what it does as a whole.
    #[getter]
    fn n_moves(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.n_moves)
    }

    /// Number of pairs of different ranks; in each stage, where there are two.
    #[getter]
    fn n_messages(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.n_messages)
    }

    /// Bytes that move between ranks.
    #[getter]
    fn bytes_moved(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.bytes_moved)
    }

    /// Bytes that stay on their rank.
    #[getter]
    fn bytes_kept(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.bytes_kept)
    }

    /// Bytes that any plan must move, given who owns what.
    #[getter]
    fn bytes_lower_bound(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.bytes_lower_bound)
    }

    /// The most bytes that any rank sends; of two stages, the most in each.
    #[getter]
    fn max_send_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.max_send_bytes)
    }

    /// The most bytes that any rank receives; of two stages, the most in each.
    #[getter]
    fn max_recv_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.max_recv_bytes)
    }

    /// The most bytes that any rank needs besides source and target.
    #[getter]
    fn extra_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.extra_bytes())
    }

    /// Number of messages needed to find the partners if maps are lists.
    #[getter]
    fn directory_messages(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.directory.n_messages)
    }

    /// Bytes of the messages needed to find the partners.
    #[getter]
    fn directory_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        Ok(self.totals(py)?.directory.bytes)
    }

    /// Seconds the plan should take on a nominal machine.
    #[getter]
    fn predicted_seconds(&self, py: Python<'_>) -> PyResult<f64> {
        self.core.check_countable().or_raise(py)?;
        Ok(py.detach(|| self.core.predicted_seconds()))
    }

    /// Sixteen digits that identify the plan; every rank computes the same ones.
    #[getter]
    fn fingerprint(&self) -> String {
        self.core.fingerprint().to_string()
    }

    /// Every move of a rank: what it sends, then what it receives from others.
    fn moves(&self, rank: &Bound<'_, PyAny>) -> PyResult<Vec<Move>> {
        let moves = self.core.moves(self.rank(rank)?).or_raise(rank.py())?;
        Ok(self.wrap(moves))
    }

    /// Moves that a rank sends, including those to itself.
    fn sends(&self, rank: &Bound<'_, PyAny>) -> PyResult<Vec<Move>> {
        Ok(self.wrap(self.core.sends(self.rank(rank)?)))
    }

    /// Moves that a rank receives, including those from itself.
    fn receives(&self, rank: &Bound<'_, PyAny>) -> PyResult<Vec<Move>> {
        Ok(self.wrap(self.core.receives(self.rank(rank)?)))
    }

    /// Run the plan on this rank's source buffer and return its target buffer.
    ///
    /// Collective. The result is written to `out` if given, else to new memory. If a layout has
    /// several buffers on this rank, they are passed and returned as a list. One plan may serve
    /// many: ranks that say that they run it `about` different things are told.
    #[pyo3(signature = (local, team, out=None, *, about=""))]
    fn apply<'py>(
        &self,
        local: &Bound<'py, PyAny>,
        team: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        about: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let team = read_team(team)?;
        let sides = Sides::new(team.get(), self, local, out)?;
        team.get().run(local.py(), self, &sides, about)?;
        Ok(sides.result)
    }

    /// Start running the plan; `.wait()` on the result returns the target buffer.
    #[pyo3(signature = (local, team, out=None))]
    fn start<'py>(
        slf: &Bound<'py, Self>,
        local: &Bound<'py, PyAny>,
        team: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let run = slf.py().import("partita._team.run")?.getattr("Running")?;
        run.call1((slf, local, team, out))
    }

    /// Bind the plan to buffers: they are checked once, and `.run()` on the result runs it.
    ///
    /// Each run is collective, reads `local` and fills `out`, or memory that is made here. With
    /// `out=local` a plan from a layout to the same layout runs in place.
    #[pyo3(signature = (local, team, out=None))]
    fn bind(
        slf: &Bound<'_, Self>,
        local: &Bound<'_, PyAny>,
        team: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BoundPlan> {
        BoundPlan::new(slf, read_team(team)?.get(), local, out)
    }

    /// The adjoint plan: the same moves reversed, with copies turned into sums.
    fn adjoint(&self) -> Self {
        Self { core: self.core.adjoint() }
    }

    /// A short summary in words.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.core.check_countable().or_raise(py)?;
        Ok(py.detach(|| self.core.explain()))
    }

    /// Who sends how much to whom, as SVG.
    fn draw(&self, py: Python<'_>) -> PyResult<String> {
        self.core.check_countable().or_raise(py)?;
        Ok(py.detach(|| picture::svg(&self.core)))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.explain(py)
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.words())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let this = slf.get();
        let forward =
            if this.is_adjoint() { this.adjoint() } else { Self { core: this.core.clone() } };
        let args = (forward.source(), forward.target(), this.dtype(), this.is_adjoint());
        Ok((py.import("partita._unpickle")?.getattr("plan")?, args.into_pyobject(py)?))
    }
}

impl Plan {
    /// The plan in a line.
    pub(crate) fn words(&self) -> String {
        let (source, target) = (self.core.source().n_ranks(), self.core.target().n_ranks());
        let (name, pattern) = (self.core.fingerprint(), self.core.pattern().name());
        format!("Plan {name}: {pattern}, {source} to {target} ranks")
    }

    /// A rank of the source or the target.
    fn rank(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        let rank = natural(value, "rank")?;
        self.core.check_rank(rank).or_raise(value.py())?;
        Ok(rank)
    }

    fn totals(&self, py: Python<'_>) -> PyResult<core::Totals> {
        self.core.check_countable().or_raise(py)?;
        Ok(py.detach(|| self.core.totals()))
    }

    fn wrap(&self, moves: Vec<core::Move>) -> Vec<Move> {
        let n_bytes = self.core.dtype().n_bytes();
        moves.into_iter().map(|core| Move { core, n_bytes }).collect()
    }
}
