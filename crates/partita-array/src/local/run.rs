//! Flushing: pending work becomes kernel calls.

use std::rc::Rc;

use partita_kernel::{Call, Scalar, View};
use smallvec::SmallVec;

use super::base::{Base, Storage};
use super::engine::{Engine, State};
use super::failure::Failure;
use super::kept::Structure;
use super::node::BaseFacts;
use super::replace::Replacement;
use super::schedule::{Schedule, SlotView, Step, compile};
use super::segment::Segment;
use crate::error::{LocalError, Result};
use crate::timeline::Activity;

/// Segments whose memory is kept: more are made where one is split.
const MOST_SPARE: usize = 4;

/// What became of a segment.
pub(super) type Outcome = std::result::Result<(), Failure>;

/// Pieces of memory by number.
pub(super) type Slots = SmallVec<[Option<Rc<Storage>>; 16]>;

impl Engine {
    /// Computes everything that is pending.
    ///
    /// # Errors
    /// Memory that is not there or not allowed: everything pending still waits. Ranks whose programs
    /// differ, and what fails half-way: what was pending is then lost, and its arrays say so.
    pub fn flush(&self) -> Result<()> {
        self.flush_by(Self::run_ready)
    }

    /// The same, and meets the other ranks also where nothing is pending here: one that has
    /// something to compute learns that this one has not.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn sync(&self) -> Result<()> {
        self.flush_by(|engine| {
            engine.meet_if_idle()?;
            engine.run_ready()
        })
    }

    fn flush_by(&self, run: impl Fn(&Self) -> Result<()>) -> Result<()> {
        let complete = self.complete();
        self.end_all();
        let outcome = run(self);
        if let Some(progress) = &*self.0.progress.borrow() {
            progress.end();
        }
        outcome?;
        complete.into_iter().for_each(Replacement::take_over);
        Ok(())
    }

    /// Computes the segments that nothing of the present is part of any more.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn run_ready(&self) -> Result<()> {
        let progress = self.0.progress.borrow();
        let _running = progress.as_ref().map(|one| one.run(self.n_ready_loops()));
        let mut ready = self.0.ready.take().into_iter();
        while let Some(mut segment) = ready.next() {
            if let Err(failure) = self.run_segment(&mut segment) {
                return Err(self.after(failure, [segment].into_iter().chain(ready).collect()));
            }
            segment.clear();
            let mut spare = self.0.spare.borrow_mut();
            if spare.len() < MOST_SPARE {
                spare.push(segment);
            }
        }
        Ok(())
    }

    /// Ends all segments.
    pub(super) fn end_all(&self) {
        if let Some(rhythm) = &self.0.rhythm {
            rhythm.borrow_mut().reset();
        }
        let before = self.0.before.take();
        let current = self.next_segment();
        self.0.ready.borrow_mut().extend(before.into_iter().chain([current]));
    }

    /// Ends the segment that is being recorded; those before it may run. It may consist of two,
    /// of which the second begins with a node.
    pub(super) fn advance(&self, second: Option<usize>) {
        let before = self.0.before.take();
        let mut complete = self.next_segment();
        let first = second.map(|node| {
            let turn = self.0.current.borrow().turn;
            let tail = complete.split(node, turn);
            self.0.current.borrow_mut().turn = turn + 1;
            std::mem::replace(&mut complete, tail)
        });
        *self.0.before.borrow_mut() = Some(complete);
        self.0.ready.borrow_mut().extend(before.into_iter().chain(first));
    }

    /// Begins a new segment and gives the one that was being recorded.
    fn next_segment(&self) -> Segment {
        let mut current = self.0.current.borrow_mut();
        let mut next = self.0.spare.borrow_mut().pop().unwrap_or_default();
        next.turn = current.turn + 1;
        std::mem::replace(&mut current, next)
    }

    fn run_segment(&self, segment: &mut Segment) -> Outcome {
        if segment.work.nodes.is_empty() {
            return Ok(());
        }
        self.0.places.borrow_mut().run();
        if let Some(ranks) = &self.0.ranks {
            return self.run_on_ranks(ranks, segment);
        }
        let bases = segment.bases.iter().map(facts).collect();
        let structure = Structure { nodes: std::mem::take(&mut segment.work.nodes), bases };
        let known = self.0.kept.borrow().find(&structure);
        let schedule = known.map_or_else(|| self.compiled(&structure), Ok);
        // The nodes stay the segment's until it has run.
        segment.work.nodes = structure.nodes;
        self.0.run(&*schedule?, &segment.bases, &segment.work.numbers)
    }

    fn compiled(&self, structure: &Structure) -> Result<Rc<Schedule>> {
        let schedule = Rc::new(compile(&structure.nodes, &structure.bases, &self.0.machine)?);
        self.0.kept.borrow_mut().keep(structure.clone(), Rc::clone(&schedule));
        Ok(schedule)
    }
}

pub(super) fn facts(base: &Rc<Base>) -> BaseFacts {
    BaseFacts {
        dtype: base.dtype,
        shape: base.shape().into(),
        // One user is the list of the segment's bases; memory may be somebody else's, who sees it.
        is_alive: Rc::strong_count(base) > 1 || base.is_shared.get(),
        has_storage: base.storage.borrow().is_some(),
        is_shared: base.is_shared.get(),
        spread: base.spread.borrow().clone(),
        is_fresh: base.is_fresh.get(),
        is_from_nothing: base.is_from_nothing.get(),
    }
}

impl State {
    fn run(&self, schedule: &Schedule, bases: &[Rc<Base>], numbers: &[Scalar]) -> Outcome {
        if let Some((n_bytes, limit)) = self.meter.excess(schedule.growth_bytes) {
            let largest = self.largest(schedule.wants(bases));
            return Err(Failure::Refused(LocalError::MemoryLimit { n_bytes, limit, largest }));
        }
        schedule.probe(&self.meter).map_err(Failure::Refused)?;
        let mut slots = Slots::new();
        slots.extend(bases.iter().map(|base| base.storage.borrow().clone()));
        self.run_steps(schedule, &mut slots, numbers)?;
        for (base, slot) in &schedule.kept {
            *bases[*base].storage.borrow_mut() = slots[*slot].take();
        }
        Ok(())
    }

    /// Runs the loops of a schedule; its first slots are the memory that there is.
    pub(super) fn run_steps(
        &self,
        schedule: &Schedule,
        slots: &mut Slots,
        numbers: &[Scalar],
    ) -> Result<()> {
        slots.resize(schedule.n_slots, None);
        let progress = self.progress.borrow();
        for step in &schedule.steps {
            for (slot, n_bytes) in &step.fresh {
                slots[*slot] = Some(Storage::new(*n_bytes, &self.meter)?);
            }
            self.meter.pass(step.scratch_bytes);
            self.call(step, slots, numbers)?;
            step.spent.iter().for_each(|slot| slots[*slot] = None);
            if let Some(progress) = &*progress {
                progress.step();
            }
        }
        Ok(())
    }

    fn call(&self, step: &Step, slots: &[Option<Rc<Storage>>], numbers: &[Scalar]) -> Result<()> {
        let inputs: SmallVec<[View<'_>; 8]> = step.inputs.iter().map(|v| seen(slots, v)).collect();
        let outputs: SmallVec<[View<'_>; 4]> =
            step.outputs.iter().map(|v| seen(slots, v)).collect();
        let scalars: SmallVec<[Scalar; 4]> =
            step.numbers.iter().map(|number| numbers[*number]).collect();
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
