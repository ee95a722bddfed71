//! Movement: what ranks have becomes what ranks ask for, by a plan.
//!
//! A movement runs at once, or is started and waited for; a started one runs on a helper thread of
//! its rank, so that kernels run meanwhile. All ranks make the same movements in the same order.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use partita_kernel::Dtype;
use partita_layout::IndexBox;
use partita_plan::Plan;
use partita_team::{Buffer, Team, TeamError};

use super::problem::{Outcome, problem};
use crate::boxes::plan_between;
use crate::local::{Array, Storage};
use crate::timeline::{Activity, Recorder};

/// Movements of fewer bytes are over before another thread has begun with them.
const START_FROM_BYTES: usize = 1 << 18;

/// Boxes of every rank before and after, each rank's in the order of its buffers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Boxes {
    pub shape: Vec<u64>,
    pub sources: Vec<Vec<IndexBox>>,
    pub targets: Vec<Vec<IndexBox>>,
    pub dtype: Dtype,
}

/// A plan with what is asked of it every time.
#[derive(Debug)]
pub(super) struct Movement {
    plan: Plan,
    n_bytes: u128,
    /// Whether it is worth another thread.
    is_large: bool,
}

/// What an exchange at one place of a program knows of all ranks.
#[derive(Debug)]
pub(super) struct Site {
    /// What the ranks have asked for.
    pub asked: Vec<Vec<u64>>,
    /// None if nothing moves.
    pub movement: Option<Rc<Movement>>,
    /// Sizes of this rank's parts.
    pub parts: Vec<Vec<usize>>,
}

/// What was moved so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub n_exchanges: u64,
    pub n_bytes: u128,
}

/// How a movement ended, and when.
type Arrival = (Result<(), TeamError>, Instant);

/// A movement on its way.
struct Started {
    number: u64,
    since: Instant,
    n_bytes: u128,
    done: Receiver<Arrival>,
    sources: Vec<Array>,
    targets: Vec<Array>,
    _storage: Vec<Rc<Storage>>,
}

struct Job {
    plan: Plan,
    sources: Vec<Buffer>,
    targets: Vec<Buffer>,
    done: Sender<Arrival>,
}

/// One rank's movements.
pub(super) struct Mover {
    pub team: Team,
    pub rank: u64,
    pub moved: Moved,
    pub recorder: Option<Rc<Recorder>>,
    movements: HashMap<Boxes, Rc<Movement>>,
    started: Vec<Started>,
    n_started: u64,
    helper: Option<Sender<Job>>,
}

/// Plans that are remembered.
const MOST_PLANS: usize = 256;

impl Mover {
    pub fn new(team: &Team) -> Option<Self> {
        Some(Self {
            team: team.clone(),
            rank: team.rank()?,
            moved: Moved::default(),
            recorder: None,
            movements: HashMap::new(),
            started: Vec::new(),
            n_started: 0,
            helper: None,
        })
    }

    pub fn n_ranks(&self) -> u64 {
        self.team.size()
    }

    /// Everyone's numbers, in the order of the ranks.
    pub fn gather_numbers(&mut self, name: &'static str, own: &[u64]) -> Outcome<Vec<Vec<u64>>> {
        let bytes = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        let all = self.gather_bytes(name, bytes)?;
        let read = |bytes: &[u8]| {
            let words = bytes.chunks_exact(8);
            words.map(|w| u64::from_le_bytes(w.try_into().unwrap_or_default())).collect()
        };
        Ok(all.iter().map(|bytes| read(bytes)).collect())
    }

    /// Everyone's bytes, in the order of the ranks.
    pub fn gather_bytes(
        &mut self,
        name: &'static str,
        bytes: Vec<u8>,
    ) -> Outcome<Vec<std::sync::Arc<[u8]>>> {
        self.finish_all()?;
        let since = Instant::now();
        let all = self.team.allgather(name, bytes)?;
        self.note(Activity::Waiting, since, Instant::now(), || name.to_string());
        Ok(all)
    }

    fn note(
        &self,
        activity: Activity,
        since: Instant,
        until: Instant,
        about: impl FnOnce() -> String,
    ) {
        if let Some(recorder) = &self.recorder {
            recorder.add(activity, recorder.at(since), recorder.at(until), about());
        }
    }

    /// Counts a movement that needs no plan.
    pub fn count(&mut self, n_bytes: u128) {
        self.moved.n_exchanges += 1;
        self.moved.n_bytes += n_bytes;
    }

    /// The movement between boxes; none if nobody asks for anything.
    pub fn movement(&mut self, boxes: Boxes) -> Outcome<Option<Rc<Movement>>> {
        if boxes.targets.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        if let Some(movement) = self.movements.get(&boxes) {
            return Ok(Some(Rc::clone(movement)));
        }
        let movement = Rc::new(planned(&boxes)?);
        if self.movements.len() == MOST_PLANS {
            self.movements.clear();
        }
        self.movements.insert(boxes, Rc::clone(&movement));
        Ok(Some(movement))
    }

    /// Moves at once.
    pub fn run(&mut self, boxes: Boxes, sources: &[Array], targets: &[Array]) -> Outcome<()> {
        match self.movement(boxes)? {
            Some(movement) => self.carry_out(&movement, sources, targets),
            None => Ok(()),
        }
    }

    fn carry_out(
        &mut self,
        movement: &Movement,
        sources: &[Array],
        targets: &[Array],
    ) -> Outcome<()> {
        self.finish_all()?;
        let (from, _from) = buffers(sources)?;
        let (into, _into) = buffers(targets)?;
        self.count(movement.n_bytes);
        let since = Instant::now();
        // SAFETY: the buffers are those of arrays of this rank's engine, which waits here.
        unsafe { self.team.run(&movement.plan, &from, &into) }?;
        self.note(Activity::Exchange, since, Instant::now(), || in_bytes(movement.n_bytes));
        Ok(())
    }

    /// Begins to move; gives a number to wait for, none if it is done already.
    pub fn start(
        &mut self,
        movement: &Movement,
        sources: &[Array],
        targets: &[Array],
    ) -> Outcome<Option<u64>> {
        if !movement.is_large {
            self.carry_out(movement, sources, targets)?;
            return Ok(None);
        }
        let (from, mut storage) = buffers(sources)?;
        let (into, more) = buffers(targets)?;
        storage.extend(more);
        self.count(movement.n_bytes);
        let (done, waits) = channel();
        let since = Instant::now();
        let plan = movement.plan.clone();
        self.send(Job { plan, sources: from, targets: into, done })?;
        self.n_started += 1;
        self.started.push(Started {
            number: self.n_started,
            since,
            n_bytes: movement.n_bytes,
            done: waits,
            sources: sources.to_vec(),
            targets: targets.to_vec(),
            _storage: storage,
        });
        Ok(Some(self.n_started))
    }

    fn send(&mut self, job: Job) -> Outcome<()> {
        if self.helper.is_none() {
            let (sender, jobs) = channel::<Job>();
            // It shares its core with the thread that computes, and must not spin there.
            let team = self.team.clone().waiting_asleep();
            let spawned =
                std::thread::Builder::new().name("partita-mover".into()).spawn(move || {
                    for job in jobs {
                        // SAFETY: whoever sent the job keeps its memory and touches none of what moves
                        // until it has the answer (`Mover::settle`).
                        let outcome = unsafe { team.run(&job.plan, &job.sources, &job.targets) };
                        let _ = job.done.send((outcome, Instant::now()));
                    }
                });
            spawned
                .map_err(|error| problem(format!("no thread to move data: {error}; end some")))?;
            self.helper = Some(sender);
        }
        let helper = self.helper.as_ref().and_then(|helper| helper.send(job).ok());
        helper.ok_or_else(|| problem("the thread that moves data has ended; run it again"))
    }

    /// Waits for a movement and those started before it.
    pub fn wait(&mut self, number: u64) -> Outcome<()> {
        while self.started.first().is_some_and(|first| first.number <= number) {
            let first = self.started.remove(0);
            let gone = || problem("the thread that moves data has ended; run it again");
            let since = Instant::now();
            let (outcome, arrived) = first.done.recv().map_err(|_| gone())?;
            let about = || in_bytes(first.n_bytes);
            self.note(Activity::Exchange, first.since, arrived, about);
            if arrived > since {
                self.note(Activity::Waiting, since, Instant::now(), about);
            }
            outcome?;
        }
        Ok(())
    }

    /// Waits for all movements.
    pub fn finish_all(&mut self) -> Outcome<()> {
        self.wait(u64::MAX)
    }

    pub fn is_idle(&self) -> bool {
        self.started.is_empty()
    }

    /// Waits for movements that bring what is about to be read.
    pub fn settle_read(&mut self, array: &Array) -> Outcome<()> {
        let brings = |one: &&Started| one.targets.iter().any(|target| target.shares_base(array));
        match self.started.iter().rfind(brings).map(|one| one.number) {
            Some(number) => self.wait(number),
            None => Ok(()),
        }
    }

    /// Waits for movements that read what is about to be written.
    pub fn settle_write(&mut self, array: &Array) -> Outcome<()> {
        let takes = |one: &&Started| one.sources.iter().any(|source| source.shares_base(array));
        match self.started.iter().rfind(takes).map(|one| one.number) {
            Some(number) => self.wait(number),
            None => self.settle_read(array),
        }
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        // Memory that others still read or write must not go before they are done.
        let _ = self.finish_all();
    }
}

fn planned(boxes: &Boxes) -> Outcome<Movement> {
    let plan = plan_between(&boxes.shape, &boxes.sources, &boxes.targets, boxes.dtype)?;
    // All ranks must choose alike: the largest share decides.
    let most = boxes.sources.iter().flatten().map(IndexBox::n_elements).max().unwrap_or(0);
    let is_large = (most as usize).saturating_mul(boxes.dtype.size()) >= START_FROM_BYTES;
    Ok(Movement { n_bytes: plan.totals().bytes_moved, plan, is_large })
}

fn in_bytes(n_bytes: u128) -> String {
    format!("{n_bytes} bytes")
}

fn buffers(arrays: &[Array]) -> Outcome<(Vec<Buffer>, Vec<Rc<Storage>>)> {
    let mut all = (Vec::new(), Vec::new());
    for array in arrays {
        let (buffer, storage) = array.buffer()?;
        all.0.push(buffer);
        all.1.push(storage);
    }
    Ok(all)
}
