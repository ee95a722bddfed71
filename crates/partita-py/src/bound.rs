//! Bound plans: what `plan.bind` gives. Buffers are read and checked once, and run many times.

use partita_team::{Buffer, Team};
use pyo3::prelude::*;

use crate::buffers::HeldMemory;
use crate::plan::Plan;
use crate::run::Sides;
use crate::team::TeamCore;

/// A plan with this rank's buffers and its team.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct BoundPlan {
    team: TeamCore,
    plan: Py<Plan>,
    sources: (Vec<Buffer>, Vec<HeldMemory>),
    /// None where the plan runs in place.
    targets: Option<(Vec<Buffer>, Vec<HeldMemory>)>,
    /// This rank's target buffer, which every run fills.
    #[pyo3(get)]
    result: Py<PyAny>,
}

impl BoundPlan {
    /// Takes hold of the buffers and checks them; the other ranks hear of it if that fails.
    pub(crate) fn new(
        plan: &Bound<'_, Plan>,
        team: &TeamCore,
        local: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (py, core) = (plan.py(), plan.get());
        let sides = Sides::new(team, core, local, out)?;
        let sources = team.hold(py, core, &sides.sources, "source")?;
        let is_in_place = out.is_some_and(|out| out.is(local));
        let targets = match is_in_place {
            true => None,
            false => Some(team.hold(py, core, &sides.targets, "target")?),
        };
        let (from, into) = (&sources.0, targets.as_ref().map(|(buffers, _)| &buffers[..]));
        let check = |team: &Team| team.check_buffers(&core.core, from, into);
        py.detach(|| team.called(check)).map_err(|error| team.raised(py, &error))?;
        let team = TeamCore { core: team.core.clone() };
        Ok(Self {
            team,
            plan: plan.clone().unbind(),
            sources,
            targets,
            result: sides.result.unbind(),
        })
    }
}

#[pymethods]
impl BoundPlan {
    /// Runs the plan and returns this rank's target buffer. Collective.
    fn run(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let plan = &self.plan.get().core;
        let from = &self.sources.0;
        let outcome = self.team.detached(py, || match &self.targets {
            Some((into, _)) => {
                // SAFETY: what is held keeps the memory in place, the buffer protocol vouches for
                // shape and strides, and the buffers were checked when they were bound.
                self.team.called(|team| unsafe { team.run_checked(plan, from, into) })
            }
            // SAFETY: as above.
            None => self.team.called(|team| unsafe { team.run_in_place_checked(plan, from) }),
        });
        outcome.map_err(|error| self.team.raised(py, &error))?;
        Ok(self.result.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        format!("<bound {}>", self.plan.get().words())
    }
}
