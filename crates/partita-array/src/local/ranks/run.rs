//! Running divided work: the ranks agree on what it is, then each does its share.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;
use std::time::{Duration, Instant};

use partita_kernel::{Machine, Scalar};
use partita_team::{Access, Buffer, Team, Waits};
use rustc_hash::FxHasher;
use smallvec::{SmallVec, smallvec};

use super::super::base::{Base, Storage};
use super::super::engine::{Engine, State};
use super::super::failure::Failure;
use super::super::kept::{Kept, Structure};
use super::super::meter::Meter;
use super::super::node::BaseFacts;
use super::super::run::{Outcome, Slots, facts};
use super::super::segment::Segment;
use super::divide::divide;
use super::moves::{Move, Spot};
use super::phases::Divided;
use crate::error::{LocalError, Result};
use crate::timeline::Activity;

/// Shorter waits are not worth an event.
const SHORTEST_WAIT: Duration = Duration::from_micros(1);

/// What ranks are told that do something else meanwhile.
pub(super) const CALL: &str = "the computation of arrays";

/// Truth values, eight to a byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    n_bits: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.n_bits.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.n_bits % 8);
        }
        self.n_bits += 1;
    }
}

/// The team that an engine computes with.
pub(in super::super) struct Ranks {
    pub team: Team,
    pub rank: u64,
    pub n_ranks: u64,
    divided: RefCell<Kept<Divided>>,
    /// The number of the next base that ranks compute with for the first time.
    next_serial: Cell<u64>,
}

/// Numbers of a segment's bases among all that ranks have computed with.
pub(super) type Serials = SmallVec<[u64; 16]>;

/// What ranks have agreed on.
struct Agreed {
    /// Whether some rank has a limit of memory.
    any_limit: bool,
    /// The first number for bases that have none yet.
    first_serial: u64,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Ranks {
    pub fn new(team: &Team) -> Option<Self> {
        let (rank, n_ranks) = (team.rank()?, team.size());
        Some(Self {
            team: team.clone(),
            rank,
            n_ranks,
            divided: RefCell::default(),
            next_serial: Cell::new(1),
        })
    }

    /// This rank's share of some work.
    pub fn divide(
        &self,
        structure: &Structure,
        n_numbers: usize,
        machine: &Machine,
    ) -> Result<Divided> {
        let who = (self.rank, self.n_ranks);
        divide(&structure.nodes, &structure.bases, n_numbers, who, machine)
    }

    /// Bytes that this rank has of a base.
    pub fn bytes_here(&self, facts: &BaseFacts) -> usize {
        let Some(spread) = facts.spread.as_ref().filter(|_| facts.has_storage) else { return 0 };
        let held = spread.held(self.rank, &facts.shape);
        held.n_elements() as usize * facts.dtype.size()
    }

    /// Finds out whether all ranks are about to do the same with the same arrays, and which bases
    /// anybody looks at or has lent.
    fn agree(
        &self,
        structure: &mut Structure,
        serials: &[u64],
        has_limit: bool,
        why_not: impl Fn(&Structure) -> LocalError,
    ) -> Result<Agreed> {
        let mut bits = Bits::default();
        bits.push(has_limit);
        for base in &mut structure.bases {
            bits.push(std::mem::take(&mut base.is_alive));
            bits.push(std::mem::take(&mut base.is_shared));
        }
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one((&*structure, serials));
        let mut message = [hash, self.next_serial.get()].map(u64::to_le_bytes).concat();
        message.extend(bits.bytes);
        let all = self.team.allgather(CALL, message)?;
        if all.iter().any(|other| other[..8] != all[0][..8]) {
            return Err(why_not(structure));
        }
        let any = |at: usize| all.iter().any(|one| one[16 + at / 8] >> (at % 8) & 1 == 1);
        for (at, base) in structure.bases.iter_mut().enumerate() {
            (base.is_alive, base.is_shared) = (any(2 * at + 1), any(2 * at + 2));
            // Whoever looks at memory may have written it: others' copies of it may be old.
            base.is_fresh &= !base.is_shared;
        }
        // A rank that has missed a meeting counts on from where the others are.
        let first_serial = all.iter().map(|one| number(&one[8..16])).max().unwrap_or(1);
        self.next_serial.set(first_serial + structure.bases.len() as u64);
        Ok(Agreed { any_limit: any(0), first_serial })
    }

    /// Refuses on every rank what one of them may not have the memory for; `largest` says what that
    /// would be for.
    fn check_limits(
        &self,
        meter: &Meter,
        n_more: usize,
        largest: impl Fn() -> String,
    ) -> Result<()> {
        let excess = meter.excess(n_more);
        let (n_bytes, limit) = excess.unwrap_or_default();
        let mut message = [n_bytes, limit].map(|n| (n as u64).to_le_bytes()).concat();
        message.extend(excess.map(|_| largest().into_bytes()).unwrap_or_default());
        let all = self.team.allgather(CALL, message)?;
        match (0..).zip(&all).find(|(_, one)| number(&one[..8]) > 0) {
            Some((rank, one)) => Err(LocalError::MemoryLimitOn {
                rank,
                n_bytes: number(&one[..8]) as usize,
                limit: number(&one[8..16]) as usize,
                largest: String::from_utf8_lossy(&one[16..]).into_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// A number that a rank has sent.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

impl Engine {
    /// Meets the other ranks where no segment will, as with an empty one.
    pub(in super::super) fn meet_if_idle(&self) -> Result<()> {
        let Some(ranks) = &self.0.ranks else { return Ok(()) };
        if !self.0.ready.borrow().iter().all(|segment| segment.work.nodes.is_empty()) {
            return Ok(());
        }
        let met = self.run_on_ranks(ranks, &mut Segment::default());
        met.map_err(|failure| self.after(failure, Vec::new()))
    }

    /// Runs a segment on all ranks.
    pub(in super::super) fn run_on_ranks(&self, ranks: &Ranks, segment: &mut Segment) -> Outcome {
        let mut structure = Structure {
            nodes: std::mem::take(&mut segment.work.nodes),
            bases: segment.bases.iter().map(facts).collect(),
        };
        let place = || self.0.place.borrow().as_ref().map(|one| (one.0)()).unwrap_or_default();
        let line_of = |at: usize, mark: u64| {
            let places = self.0.places.borrow();
            segment.line_of(at).or_else(|| places.get(mark)).map(|line| line.to_string())
        };
        let has_limit = self.0.meter.limit().is_some();
        let serials: Serials = segment.bases.iter().map(|base| base.serial.get()).collect();
        let since = begun(ranks);
        let agreed = ranks.agree(&mut structure, &serials, has_limit, |structure: &Structure| {
            ranks.difference((structure, &serials), segment, line_of, place)
        });
        self.0.note_waits(ranks, since, Instant::now());
        if structure.nodes.is_empty() {
            return Ok(agreed.map(|_| ())?);
        }
        let n_numbers = segment.work.numbers.len();
        let shared = agreed.map(|Agreed { any_limit, first_serial }| {
            for (serial, base) in (first_serial..).zip(&segment.bases) {
                if base.serial.get() == 0 {
                    base.serial.set(serial);
                }
            }
            let known = ranks.divided.borrow().find(&structure);
            (any_limit, known.map_or_else(|| self.divided(ranks, &structure, n_numbers), Ok))
        });
        // The nodes stay the segment's until it has run.
        segment.work.nodes = structure.nodes;
        let (any_limit, outcome) = shared?;
        let outcome = outcome.map_err(Failure::Failed).and_then(|divided| {
            if any_limit {
                let largest = || self.0.largest(divided.wants(&segment.bases));
                let fits = ranks.check_limits(&self.0.meter, divided.growth_bytes, largest);
                fits.map_err(refused_by_all)?;
            }
            Ok(self.0.run_divided(ranks, &divided, &segment.bases, &segment.work.numbers)?)
        });
        if let Err(Failure::Failed(error)) = &outcome
            && !matches!(error, LocalError::Team { .. })
        {
            // The others do not know of this rank's problem.
            let _ = ranks.team.report(&error.to_string());
        }
        outcome
    }

    fn divided(
        &self,
        ranks: &Ranks,
        structure: &Structure,
        n_numbers: usize,
    ) -> Result<Rc<Divided>> {
        let divided = Rc::new(ranks.divide(structure, n_numbers, &self.0.machine)?);
        ranks.divided.borrow_mut().keep(structure.clone(), Rc::clone(&divided));
        Ok(divided)
    }
}

/// Memory is refused on all ranks alike; anything else is a failure.
fn refused_by_all(error: LocalError) -> Failure {
    match error {
        LocalError::MemoryLimitOn { .. } => Failure::Refused(error),
        other => Failure::Failed(other),
    }
}

impl State {
    fn run_divided(
        &self,
        ranks: &Ranks,
        divided: &Divided,
        bases: &[Rc<Base>],
        numbers: &[Scalar],
    ) -> Result<()> {
        let mut storages: Slots = bases.iter().map(|base| base.storage.borrow().clone()).collect();
        storages.resize(divided.n_parts, None);
        for (base, old) in &divided.grown {
            storages[*old] = storages[*base].take();
        }
        let own;
        let numbers = if divided.numbers.is_empty() {
            numbers
        } else {
            own = [numbers, &divided.numbers].concat();
            &own
        };
        for phase in &divided.phases {
            for one in &phase.moves {
                self.carry_out(ranks, one, &mut storages)?;
            }
            for (part, n_bytes) in &phase.expected {
                if storages[*part].is_none() {
                    storages[*part] = Some(Storage::new(*n_bytes, &self.meter)?);
                }
            }
            let mut slots = std::mem::take(&mut storages);
            self.run_steps(&phase.schedule, &mut slots, numbers)?;
            storages = smallvec![None; divided.n_parts];
            for (base, slot) in &phase.schedule.kept {
                storages[*base] = slots[*slot].clone();
            }
            // What the loops did not touch stays.
            for (part, slot) in slots.into_iter().enumerate().take(divided.n_parts) {
                if storages[part].is_none() {
                    storages[part] = slot;
                }
            }
            phase.spent.iter().for_each(|part| storages[*part] = None);
        }
        for ((base, end), storage) in bases.iter().zip(&divided.ends).zip(storages) {
            let Some(end) = end else { continue };
            // All ranks have memory or none, also those that own nothing.
            let storage = match storage {
                None if end.is_alive => Some(Storage::new(end.n_bytes, &self.meter)?),
                other => other,
            };
            *base.storage.borrow_mut() = storage;
            *base.spread.borrow_mut() = Some(Rc::clone(&end.spread));
            base.is_fresh.set(end.is_fresh);
        }
        Ok(())
    }

    fn carry_out(&self, ranks: &Ranks, one: &Move, storages: &mut Slots) -> Result<()> {
        let mut buffers = |spots: &[Spot], access: Access| -> Result<Vec<Buffer>> {
            spots
                .iter()
                .map(|spot| {
                    let storage = match &storages[spot.part] {
                        Some(storage) => storage,
                        None => {
                            storages[spot.part].insert(Storage::new(spot.part_bytes, &self.meter)?)
                        }
                    };
                    Ok(spot.buffer(storage.address(), access))
                })
                .collect()
        };
        let since = begun(ranks);
        let outcome = match &one.targets {
            None => {
                let own = buffers(&one.sources, Access::Write)?;
                // SAFETY: the buffers are storages of this rank, which waits here.
                unsafe { ranks.team.run_in_place(&one.plan, &own) }
            }
            Some(targets) => {
                let sources = buffers(&one.sources, Access::Read)?;
                let targets = buffers(targets, Access::Write)?;
                // SAFETY: as above; targets are memory that nobody has read yet.
                unsafe { ranks.team.run(&one.plan, &sources, &targets) }
            }
        };
        let (since, until) = self.note_waits(ranks, since, Instant::now());
        outcome?;
        if let Some(recorder) = &*self.recorder.borrow() {
            let (since, until) = (recorder.at(since), recorder.at(until));
            recorder.add(Activity::Exchange, since, until, format!("{} bytes", one.n_bytes));
        }
        Ok(())
    }

    /// Notes how long this rank waited for others at the beginning and at the end of a call of
    /// the team; gives what is left between.
    fn note_waits(&self, ranks: &Ranks, since: Instant, until: Instant) -> (Instant, Instant) {
        let Waits { arrival, end } = ranks.team.take_waits();
        let begin = (since + arrival).min(until);
        let end = until.checked_sub(end).map_or(begin, |end| end.max(begin));
        if let Some(recorder) = &*self.recorder.borrow() {
            for (since, until, about) in
                [(since, begin, "for all ranks to come"), (end, until, "for all ranks to finish")]
            {
                if until.duration_since(since) >= SHORTEST_WAIT {
                    let (since, until) = (recorder.at(since), recorder.at(until));
                    recorder.add(Activity::Waiting, since, until, about);
                }
            }
        }
        (begin, end)
    }
}

/// A call of the team begins: waits in earlier ones are not its own.
fn begun(ranks: &Ranks) -> Instant {
    let _ = ranks.team.take_waits();
    Instant::now()
}
