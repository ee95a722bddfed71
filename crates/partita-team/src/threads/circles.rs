//! Circles of waits among threads: found in a table of what ranks wait for.
//!
//! A rank that has waited for a while enters its wait, and takes it out when it goes on. Whoever
//! enters searches for a way back to itself, from each rank to those missing in its round: the last
//! of a circle finds it. `README.md` says why what it finds is true.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::error::Rank;
use crate::error::circle::{Circle, Circles, PATIENT_FOR, Wait};
use crate::team::cache::TeamCache;
use crate::team::meeting::{Contribution, Stage};
use crate::team::near::{NearCall, NearPlace};
use crate::threads::rendezvous::Rendezvous;
use crate::threads::world::World;

/// A rank searches when it enters its wait and then every so many looks: threads that make calls
/// may have ended meanwhile.
const LOOKS_PER_SEARCH: u64 = 10;

/// What ranks have waited for a while, and the circles that were found.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    by_rank: HashMap<u64, Entry>,
    circles: Circles,
}

/// A rank's wait in a round.
#[derive(Debug, Clone)]
struct Entry {
    meeting: Arc<Rendezvous<Contribution>>,
    round: u64,
    near: Option<NearEntry>,
}

/// A rank's wait in a near call before that round.
#[derive(Debug, Clone)]
struct NearEntry {
    place: NearPlace,
    partners: Vec<u64>,
    call: String,
    /// Until partners have come, or until they have copied.
    stage: Stage,
}

/// Looks for circles while a rank waits.
pub(crate) struct CircleSearch<'a> {
    world: &'a World,
    rank: u64,
    cache: &'a TeamCache,
    meeting: &'a Arc<Rendezvous<Contribution>>,
    round: u64,
    near: Option<NearEntry>,
    /// When it first looked.
    since: Option<Instant>,
    /// Looks since this rank entered its wait.
    n_looks: u64,
}

impl<'a> CircleSearch<'a> {
    pub(crate) fn new(
        world: &'a World,
        (rank, cache): (u64, &'a TeamCache),
        meeting: &'a Arc<Rendezvous<Contribution>>,
        round: u64,
    ) -> Self {
        Self { world, rank, cache, meeting, round, near: None, since: None, n_looks: 0 }
    }

    /// The same while a rank waits for partners in a near call, until they come or have copied.
    pub(crate) fn near(
        (world, rank, cache): (&'a World, u64, &'a TeamCache),
        meeting: &'a Arc<Rendezvous<Contribution>>,
        call: &NearCall<'_>,
        stage: Stage,
    ) -> Self {
        let (place, partners) = (call.place, call.partners.to_vec());
        let near = Some(NearEntry { place, partners, call: call.call.words(), stage });
        Self { near, ..Self::new(world, (rank, cache), meeting, place.round) }
    }

    /// Looks whether this rank waits in a circle, and ends all its rounds if so.
    pub(crate) fn look(&mut self) {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() < PATIENT_FOR / 2 || !self.can_do_nothing_else() {
            return;
        }
        let mut waits = self.world.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if self.n_looks == 0 {
            let (meeting, near) = (Arc::clone(self.meeting), self.near.clone());
            let entry = Entry { meeting, round: self.round, near };
            waits.by_rank.insert(self.rank, entry);
        }
        if self.n_looks.is_multiple_of(LOOKS_PER_SEARCH) {
            self.world.end_circle(&mut waits, self.rank);
        }
        self.n_looks += 1;
    }

    /// Whether the thread that waits is the one that makes this rank's calls.
    fn can_do_nothing_else(&self) -> bool {
        let callers = self.world.callers(self.rank);
        callers.are_one() && (callers.has_this_thread() || self.cache.claim.is_awaited())
    }
}

impl Drop for CircleSearch<'_> {
    fn drop(&mut self) {
        if self.n_looks > 0 {
            let mut waits = self.world.waits.lock().unwrap_or_else(PoisonError::into_inner);
            waits.by_rank.remove(&self.rank);
        }
    }
}

impl World {
    /// The circle that ended a round. The rank knows of it then, and passes all its rounds.
    pub(crate) fn circle(
        &self,
        rank: u64,
        members: &Arc<[u64]>,
        round: u64,
    ) -> Option<Arc<Circle>> {
        let waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let circle = Arc::clone(waits.circles.of(members, round)?);
        for (members, round) in circle.rounds() {
            if let Some(at) = members.iter().position(|member| *member == rank) {
                self.meeting(members).pass(at, round);
                self.cache(rank, members).forget_agreed();
            }
        }
        Some(circle)
    }

    /// Ends all rounds of a circle that a rank waits in, if there is one.
    fn end_circle(&self, waits: &mut Waits, rank: u64) {
        let Some(ranks) = self.way_back(waits, rank) else { return };
        let wait = |rank: &u64| waits.by_rank.get(rank).and_then(|entry| entry.wait(*rank));
        let Some(found) = ranks.iter().map(wait).collect() else { return };
        let circle = Arc::new(Circle::new(found));
        waits.circles.keep(&circle);
        for (members, round) in circle.rounds() {
            self.meeting(members).end(round, |rank| circle.failure(Rank::of(members, rank)));
        }
    }

    /// Ranks of which each waits for the next, and the last for the first, which is the given one.
    fn way_back(&self, waits: &Waits, start: u64) -> Option<Vec<u64>> {
        let mut before: HashMap<u64, u64> = HashMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(rank) = next.pop_front() {
            for missing in self.waited_for(waits, rank) {
                if before.contains_key(&missing) {
                    continue;
                }
                before.insert(missing, rank);
                if missing == start {
                    return Some(followed(&before, start));
                }
                next.push_back(missing);
            }
        }
        None
    }

    /// Ranks that a rank waits for and that wait themselves, with nothing on their way to it.
    fn waited_for(&self, waits: &Waits, rank: u64) -> Vec<u64> {
        let Some(entry) = waits.by_rank.get(&rank) else { return Vec::new() };
        if !self.callers(rank).are_one() {
            return Vec::new();
        }
        let members = entry.meeting.members();
        let will_not_come = |missing: &u64| {
            let Some(other) = waits.by_rank.get(missing) else { return false };
            // A call that was started may be about to post, if it is not the one that waits.
            other.is_in_call_of(entry) || !self.cache(*missing, members).claim.is_busy()
        };
        entry.missing(rank).into_iter().filter(will_not_come).collect()
    }
}

impl Entry {
    /// Whom a rank waits for here, as ranks of the world.
    fn missing(&self, rank: u64) -> Vec<u64> {
        let Some(near) = &self.near else { return self.meeting.missing(self.round) };
        let members = self.meeting.members();
        let Some(at) = members.iter().position(|member| *member == rank) else { return Vec::new() };
        let inbox = self.meeting.near_box(at as u64);
        let missing: Vec<u64> = match near.stage {
            Stage::Arrival => {
                let notes = inbox.here(near.place, &near.partners);
                let missing = near.partners.iter().zip(notes).filter(|(_, note)| note.is_none());
                missing.map(|(partner, _)| *partner).collect()
            }
            Stage::Copying => {
                let copies = |rank: &&u64| {
                    !inbox.is_done(near.place, **rank)
                        && !self.meeting.has_come_after(near.place, **rank)
                };
                near.partners.iter().filter(copies).copied().collect()
            }
        };
        if self.meeting.is_stuck(near.place, &missing) {
            return Vec::new();
        }
        missing.into_iter().map(|partner| members[partner as usize]).collect()
    }

    /// Whether this is a wait in the same near call of the same team.
    fn is_in_call_of(&self, other: &Self) -> bool {
        let place = |entry: &Self| entry.near.as_ref().map(|near| near.place);
        Arc::ptr_eq(&self.meeting, &other.meeting)
            && place(self).is_some_and(|own| Some(own) == place(other))
    }

    fn wait(&self, rank: u64) -> Option<Wait> {
        let members = Arc::clone(self.meeting.members());
        let at = members.iter().position(|member| *member == rank)?;
        let call = match &self.near {
            Some(near) => near.call.clone(),
            None => self.meeting.read(at, self.round, |one| one.call.words())?,
        };
        Some(Wait { rank, members, round: self.round, call })
    }
}

/// The way from a rank back to itself, by who waits for whom.
fn followed(before: &HashMap<u64, u64>, start: u64) -> Vec<u64> {
    let mut ranks = Vec::new();
    let mut rank = before[&start];
    while rank != start {
        ranks.push(rank);
        rank = before[&rank];
    }
    ranks.push(start);
    ranks.reverse();
    ranks
}
