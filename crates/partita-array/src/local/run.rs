//! Flushing: pending work becomes kernel calls.

use std::rc::Rc;

use partita_kernel::{Call, Scalar, View};

use super::base::{Base, Storage};
use super::engine::{Engine, State};
use super::kept::Structure;
use super::node::{BaseFacts, Work};
use super::replace::Replacement;
use super::schedule::{Schedule, SlotView, Step, compile};
use crate::error::Result;
use crate::timeline::Activity;

impl Engine {
    /// Computes everything that is pending.
    ///
    /// # Errors
    /// Memory that is not there, reductions of nothing. What was pending is then gone.
    pub fn flush(&self) -> Result<()> {
        let complete = self.complete();
        let work = self.0.work.take();
        let bases = self.0.bases.take();
        self.0.turn.set(self.0.turn.get() + 1);
        self.run_work(work, &bases)?;
        complete.into_iter().for_each(Replacement::take_over);
        Ok(())
    }

    fn run_work(&self, work: Work, bases: &[Rc<Base>]) -> Result<()> {
        let Work { nodes, numbers } = work;
        if nodes.is_empty() {
            return Ok(());
        }
        let facts = bases.iter().map(facts).collect();
        let structure = Structure { nodes, bases: facts };
        let known = self.0.kept.borrow().find(&structure);
        let schedule = match known {
            Some(schedule) => schedule,
            None => self.compiled(structure)?,
        };
        self.0.run(&schedule, bases, &numbers)
    }

    fn compiled(&self, structure: Structure) -> Result<Rc<Schedule>> {
        let schedule = Rc::new(compile(&structure.nodes, &structure.bases, &self.0.machine)?);
        self.0.kept.borrow_mut().keep(structure, Rc::clone(&schedule));
        Ok(schedule)
    }
}

fn facts(base: &Rc<Base>) -> BaseFacts {
    BaseFacts {
        dtype: base.dtype,
        shape: base.shape.clone(),
        // One user is the list of pending bases.
        is_alive: Rc::strong_count(base) > 1,
        has_storage: base.storage.borrow().is_some(),
    }
}

impl State {
    fn run(&self, schedule: &Schedule, bases: &[Rc<Base>], numbers: &[Scalar]) -> Result<()> {
        let mut slots: Vec<Option<Rc<Storage>>> = Vec::with_capacity(schedule.n_slots);
        slots.extend(bases.iter().map(|base| base.storage.borrow().clone()));
        slots.resize(schedule.n_slots, None);
        for step in &schedule.steps {
            for (slot, n_bytes) in &step.fresh {
                slots[*slot] = Some(Storage::new(*n_bytes)?);
            }
            self.call(step, &slots, numbers)?;
            step.spent.iter().for_each(|slot| slots[*slot] = None);
        }
        for (base, slot) in &schedule.kept {
            *bases[*base].storage.borrow_mut() = slots[*slot].take();
        }
        Ok(())
    }

    fn call(&self, step: &Step, slots: &[Option<Rc<Storage>>], numbers: &[Scalar]) -> Result<()> {
        let inputs: Vec<View<'_>> = step.inputs.iter().map(|v| seen(slots, v)).collect();
        let outputs: Vec<View<'_>> = step.outputs.iter().map(|v| seen(slots, v)).collect();
        let scalars: Vec<Scalar> = step.numbers.iter().map(|number| numbers[*number]).collect();
        let call =
            Call { extents: &step.extents, inputs: &inputs, outputs: &outputs, scalars: &scalars };
        self.n_kernels.set(self.n_kernels.get() + 1);
        let recorder = self.recorder.borrow().clone();
        let since = recorder.as_ref().map(|recorder| recorder.now());
        // SAFETY: every view lies in the storage of its slot, since windows were made by slicing
        // inside their base; the storages are this engine's, which one thread has.
        unsafe { self.machine.run(&step.kernel, &call) }?;
        if let (Some(recorder), Some(since)) = (recorder, since) {
            let extents: Vec<String> = step.extents.iter().map(usize::to_string).collect();
            recorder.add(Activity::Kernel, since, recorder.now(), extents.join("x"));
        }
        Ok(())
    }
}

fn seen<'a>(slots: &[Option<Rc<Storage>>], view: &'a SlotView) -> View<'a> {
    let start = slots[view.slot].as_ref().map_or(0, |storage| storage.address());
    let data = (start as *mut u8).wrapping_offset(view.offset_bytes);
    View { data, strides: &view.strides_bytes }
}
