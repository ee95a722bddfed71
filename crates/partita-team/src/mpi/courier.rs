//! The courier: carries by messages what no rank can reach by itself.
//!
//! What a rank gives another is cut into letters (`cut.rs`). Two letters per partner are under way
//! at a time: one is packed while the other travels. Where a side of a letter is dense memory
//! already, it is sent from there or received there. Only a few partners are served at once, in the
//! order of their distance, which all ranks agree on; that bounds the memory, whatever the size of
//! the array and of the team.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use partita_mpi::{MpiError, Request, Step};
use partita_plan::Move;

use crate::buffer::Buffer;
use crate::copy::Dtype;
use crate::cut::{Letter, Letters};
use crate::error::{Failure, FailureKind, Rank, Result, TeamError, out_of_reach};
use crate::foreign::Life;
use crate::interrupt;
use crate::meeting::Meeting;
use crate::mpi::hall::{Hall, LOOK_AROUND};
use crate::mpi::office::broken;
use crate::packing::{self, Side, Unpack};
use crate::program::Errand;
use crate::reach::SECOND_HALF;
use crate::wait::Patience;

/// The size of a letter: small enough to stay in the cache, large enough to hide the start.
const LETTER_BYTES: u64 = 512 << 10;
/// Letters under way per partner and direction.
const DEPTH: usize = 2;
/// How often to look for notes while letters travel.
const LISTEN: Duration = Duration::from_millis(5);
/// Partners served at once, per direction.
const N_PARTNERS: usize = 4;

/// What the courier keeps in memory at most, which is what a plan's totals say.
const MOST_BYTES: u64 = 2 * LETTER_BYTES * (DEPTH * N_PARTNERS) as u64;
const _: () = assert!(MOST_BYTES <= 16 << 20, "the limit of extra memory");

/// Carries the letters of an errand, and runs its direct moves meanwhile.
///
/// # Safety
/// The errand must be that of a running call, as for `Team::run`.
pub(crate) unsafe fn carry(hall: &Hall, errand: &Errand<'_>, patience: &Patience) -> Result<()> {
    let mut courier = Courier::new(hall, errand, patience);
    // SAFETY: the caller's promise.
    let outcome = unsafe { courier.work() };
    if outcome.is_err() {
        courier.give_up();
    }
    outcome
}

struct Courier<'a> {
    hall: &'a Hall,
    errand: &'a Errand<'a>,
    patience: partita_mpi::Patience,
    dtype: Dtype,
    out: Vec<Outgoing>,
    /// Copies: any order will do. Sums: ascending sources, one at a time.
    into: Vec<Incoming>,
    /// Buffers of letters that have arrived, to be used again.
    spare: Vec<Box<[u8]>>,
}

/// The letters between this rank and another, in one direction.
struct Lane<T> {
    rank: u64,
    tag: i32,
    letters: std::iter::Peekable<Letters>,
    under_way: VecDeque<T>,
}

/// Letters to one rank: the messages, and their memory where they were packed.
type Outgoing = Lane<(Request, Box<[u8]>)>;

/// Letters from one rank.
type Incoming = Lane<(Request, Letter, Landing)>;

impl<T> Lane<T> {
    fn new(rank: u64, tag: i32, letters: Letters) -> Self {
        Self { rank, tag, letters: letters.peekable(), under_way: VecDeque::new() }
    }

    fn is_done(&mut self) -> bool {
        self.under_way.is_empty() && self.letters.peek().is_none()
    }

    fn unfinished(lanes: &mut [Self]) -> impl Iterator<Item = &mut Self> {
        lanes.iter_mut().filter_map(|lane| (!lane.is_done()).then_some(lane))
    }
}

/// Where a letter arrives.
enum Landing {
    /// In its target itself.
    Target,
    /// In memory of its own, to be unpacked.
    Apart(Box<[u8]>),
}

impl<'a> Courier<'a> {
    fn new(hall: &'a Hall, errand: &'a Errand<'a>, patience: &Patience) -> Self {
        let (program, view) = (errand.program, errand.view);
        let size = hall.members().len() as u64;
        let item_bytes = errand.plan.dtype().n_bytes();
        let letters = |moves: Vec<Move>| Letters::new(moves, item_bytes, LETTER_BYTES);
        let tag_of = |rank: u64| {
            let parcel = view.posts.get(rank as usize).and_then(|post| post.as_ref().ok());
            parcel.map_or(0, |parcel| (parcel.tag & !SECOND_HALF) as i32)
        };
        let mut out: Vec<Outgoing> = by_partner(&program.letters_out, |m| m.target_rank)
            .into_iter()
            .map(|(rank, moves)| Lane::new(rank, tag_of(rank), letters(moves)))
            .collect();
        let mut into: Vec<Incoming> = by_partner(&program.letters_in, |m| m.source_rank)
            .into_iter()
            .map(|(rank, moves)| Lane::new(rank, tag_of(view.rank), letters(moves)))
            .collect();
        out.sort_by_key(|o| (o.rank + size - view.rank) % size);
        if !program.is_ordered() {
            into.sort_by_key(|i| (view.rank + size - i.rank) % size);
        }
        Self {
            hall,
            errand,
            patience: partita_mpi::Patience { limit: patience.limit, ..Default::default() },
            dtype: errand.plan.dtype(),
            out,
            into,
            spare: Vec::new(),
        }
    }

    /// # Safety
    /// As [`carry`].
    unsafe fn work(&mut self) -> Result<()> {
        let (program, view) = (self.errand.program, self.errand.view);
        if !program.is_ordered() {
            // Letters travel while this rank copies what it can reach.
            self.step()?;
            // SAFETY: the caller's promise.
            unsafe { program.run(view, 0..u64::MAX) }.ok_or_else(out_of_reach)?;
            return self.pump(u64::MAX);
        }
        let mut next = 0;
        for source in self.into.iter().map(|i| i.rank).collect::<Vec<_>>() {
            // A source may have buffers in reach and others that come by letters: its own direct
            // moves are run too.
            // SAFETY: the caller's promise.
            unsafe { program.run(view, next..source + 1) }.ok_or_else(out_of_reach)?;
            self.pump(source)?;
            next = source + 1;
        }
        // SAFETY: the caller's promise.
        unsafe { program.run(view, next..u64::MAX) }.ok_or_else(out_of_reach)?;
        self.pump(u64::MAX)
    }

    /// Moves letters until all from a source have come; from every source and to every target if
    /// it is `u64::MAX`.
    fn pump(&mut self, source: u64) -> Result<()> {
        let patience = self.patience;
        let (hall, round) = (self.hall, self.errand.round);
        let (mut checked, mut looked) = (Instant::now(), Instant::now());
        let check = || {
            // Notes are rare, letters are not.
            if checked.elapsed() < LISTEN {
                return Ok(());
            }
            checked = Instant::now();
            if interrupt::is_pending() {
                return Err(Stopped(TeamError::Interrupted));
            }
            check(hall, round)?;
            if looked.elapsed() < LOOK_AROUND {
                return Ok(());
            }
            looked = Instant::now();
            look_around(hall)
        };
        let poll = || -> std::result::Result<Step<()>, Stopped> {
            let moved = self.step().map_err(Stopped)?;
            if self.has(source) {
                return Ok(Step::Done(()));
            }
            Ok(if moved { Step::Moved } else { Step::Idle })
        };
        patience.until("letters", poll, check).map_err(|Stopped(error)| self.named(error))
    }

    /// Says who is missing where a deadline has passed.
    fn named(&mut self, error: TeamError) -> TeamError {
        let TeamError::Deadline { call, limit, .. } = error else { return error };
        let late = Lane::unfinished(&mut self.into).map(|lane| lane.rank);
        let slow = Lane::unfinished(&mut self.out).map(|lane| lane.rank);
        let mut missing: Vec<u64> = late.chain(slow).collect();
        missing.sort_unstable();
        missing.dedup();
        let members = self.hall.members();
        let missing = missing.into_iter().map(|rank| Rank::of(members, rank)).collect();
        TeamError::Deadline { missing, call, limit }
    }

    fn has(&mut self, source: u64) -> bool {
        if source == u64::MAX {
            let sent = self.out.iter_mut().all(Lane::is_done);
            return sent && self.into.iter_mut().all(Lane::is_done);
        }
        self.into.iter_mut().filter(|i| i.rank <= source).all(Lane::is_done)
    }

    /// Does what can be done now; true if anything was.
    fn step(&mut self) -> Result<bool> {
        let mut moved = false;
        let n_sources = if self.errand.program.is_ordered() { 1 } else { N_PARTNERS };
        let mut into = std::mem::take(&mut self.into);
        let outcome = Lane::unfinished(&mut into)
            .take(n_sources)
            .try_for_each(|i| self.receive(i).map(|did| moved |= did));
        self.into = into;
        outcome?;
        let mut out = std::mem::take(&mut self.out);
        let outcome = Lane::unfinished(&mut out)
            .take(N_PARTNERS)
            .try_for_each(|o| self.send(o).map(|did| moved |= did));
        self.out = out;
        outcome?;
        Ok(moved)
    }

    fn receive(&mut self, from: &mut Incoming) -> Result<bool> {
        let mut moved = false;
        while let Some((request, ..)) = from.under_way.front_mut() {
            let Some(status) = request.test().map_err(broken)? else { break };
            moved = true;
            let Some((_, letter, landing)) = from.under_way.pop_front() else { break };
            check_letter(from.rank, status.n_bytes, letter.n_bytes)?;
            if let Landing::Apart(message) = landing {
                self.unpack(&letter, &message);
                self.spare.push(message);
            }
        }
        while from.under_way.len() < DEPTH {
            let Some(letter) = from.letters.next() else { break };
            let (at, landing) = match self.lands_at(&letter) {
                Some(at) => (at, Landing::Target),
                None => {
                    let mut message = self.paper(letter.n_bytes);
                    (message.as_mut_ptr() as usize, Landing::Apart(message))
                }
            };
            let source = self.hall.members()[from.rank as usize] as usize;
            let comm = self.hall.office().data();
            // SAFETY: the memory stays until the request has finished or is given up: it is kept
            // beside it, or it is the target of the running call.
            let request = unsafe { comm.irecv(at as *mut _, letter.n_bytes, source, from.tag) };
            from.under_way.push_back((request.map_err(broken)?, letter, landing));
            moved = true;
        }
        Ok(moved)
    }

    fn send(&mut self, to: &mut Outgoing) -> Result<bool> {
        let mut moved = false;
        while let Some((request, _)) = to.under_way.front_mut() {
            if request.test().map_err(broken)?.is_none() {
                break;
            }
            moved = true;
            if let Some((_, message)) = to.under_way.pop_front() {
                self.spare.push(message);
            }
        }
        while to.under_way.len() < DEPTH {
            let Some(letter) = to.letters.next() else { break };
            let (at, message) = match self.starts_at(&letter) {
                Some(at) => (at, Box::default()),
                None => {
                    let mut message = self.paper(letter.n_bytes);
                    self.pack(&letter, &mut message);
                    (message.as_ptr() as usize, message)
                }
            };
            let target = self.hall.members()[to.rank as usize] as usize;
            let comm = self.hall.office().data();
            // SAFETY: the memory stays, unchanged, until the request has finished: it is kept
            // beside it, or it is the source of the running call.
            let request = unsafe { comm.isend(at as *const _, letter.n_bytes, target, to.tag) };
            to.under_way.push_back((request.map_err(broken)?, message));
            moved = true;
        }
        Ok(moved)
    }

    fn starts_at(&self, letter: &Letter) -> Option<usize> {
        let [only] = letter.moves.as_slice() else { return None };
        let buffer = self.errand.sources.get(only.source_buffer)?;
        packing::lies_at(only, Side::Source, buffer, self.dtype)
    }

    fn lands_at(&self, letter: &Letter) -> Option<usize> {
        let [only] = letter.moves.as_slice() else { return None };
        let buffer = self.errand.targets.get(only.target_buffer)?;
        let at = packing::lies_at(only, Side::Target, buffer, self.dtype);
        at.filter(|_| !self.errand.program.is_ordered())
    }

    fn pack(&self, letter: &Letter, message: &mut [u8]) {
        let moves: Vec<&Move> = letter.moves.iter().collect();
        // SAFETY: the errand is that of a running call.
        unsafe { packing::pack(&moves, self.errand.sources, self.dtype, message) };
    }

    fn unpack(&self, letter: &Letter, message: &[u8]) {
        let moves: Vec<&Move> = letter.moves.iter().collect();
        let how = if self.errand.program.is_ordered() { Unpack::Add } else { Unpack::Copy };
        let targets: &[Buffer] = self.errand.targets;
        // SAFETY: the errand is that of a running call.
        unsafe { packing::unpack(&moves, message, self.dtype, targets, how) };
    }

    /// Memory for a letter, warm if there is some.
    fn paper(&mut self, n_bytes: usize) -> Box<[u8]> {
        let at = self.spare.iter().position(|paper| paper.len() >= n_bytes);
        let kept = at.map(|at| self.spare.swap_remove(at));
        kept.or_else(|| self.hall.office().paper(n_bytes))
            .unwrap_or_else(|| vec![0; n_bytes].into())
    }

    /// Leaves letters under way behind, with the memory that MPI may still use.
    fn give_up(&mut self) {
        // Receives are cancelled when dropped, before their memory goes.
        for incoming in &mut self.into {
            incoming.under_way.clear();
        }
        let sends = self.out.iter_mut().flat_map(|o| o.under_way.drain(..)).collect::<Vec<_>>();
        self.hall.office().adopt(sends.into_iter());
    }
}

impl Drop for Courier<'_> {
    fn drop(&mut self) {
        self.hall.office().keep_paper(std::mem::take(&mut self.spare));
    }
}

/// Checks that a letter is as long as both ranks know it to be.
fn check_letter(rank: u64, n_bytes: usize, n_wanted: usize) -> Result<()> {
    if n_bytes == n_wanted {
        return Ok(());
    }
    let message = format!("rank {rank} sent {n_bytes} bytes in place of {n_wanted}");
    Err(TeamError::Engine { message })
}

/// Looks whether a member has died.
fn look_around(hall: &Hall) -> std::result::Result<(), Stopped> {
    let has_ended = |member: u64| hall.office().life(member) == Some(Life::Ended);
    let ended = (0..).zip(hall.members()).find(|(_, member)| has_ended(**member));
    let Some((team, &world)) = ended else { return Ok(()) };
    let failure = Failure::new(Rank { team, world }, FailureKind::Left, "its process has ended");
    Err(Stopped(TeamError::Remote { failure }))
}

/// Looks whether a member has given up the call or has left.
fn check(hall: &Hall, round: u64) -> std::result::Result<(), Stopped> {
    hall.office().poll().map_err(|error| Stopped(broken(error)))?;
    let state = hall.office().state();
    let ended = state.inbox.ended(hall.key(), round);
    let left = (0..).zip(hall.members()).find_map(|(team, &world)| {
        let message = state.inbox.departed(world)?;
        Some(Failure::new(Rank { team, world }, FailureKind::Left, message))
    });
    match ended.or(left) {
        Some(failure) => Err(Stopped(TeamError::Remote { failure })),
        None => Ok(()),
    }
}

/// A team's error on its way through the waiting loops of the MPI layer.
struct Stopped(TeamError);

impl From<MpiError> for Stopped {
    fn from(error: MpiError) -> Self {
        match error {
            MpiError::Deadline { limit, .. } => Self(TeamError::Deadline {
                missing: Vec::new(),
                call: "moving data".to_string(),
                limit,
            }),
            other => Self(broken(other)),
        }
    }
}

/// Moves grouped by partner, in ascending order, each group as listed.
fn by_partner(moves: &[Move], partner: fn(&Move) -> u64) -> Vec<(u64, Vec<Move>)> {
    let mut groups: std::collections::BTreeMap<u64, Vec<Move>> = std::collections::BTreeMap::new();
    for m in moves {
        groups.entry(partner(m)).or_default().push(m.clone());
    }
    groups.into_iter().collect()
}
