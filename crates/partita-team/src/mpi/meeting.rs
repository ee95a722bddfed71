//! One process's way into the rounds of a team of processes.
//!
//! A round is decided when every member has posted, when a failure was seen and others had time to
//! bring theirs, or when those that are missing have left, have died, or are late. `README.md`
//! beside this file has the cases.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use partita_mpi::Waited;

use crate::error::circle::{Circle, PATIENT_FOR};
use crate::error::{Engine, Failure, FailureKind, Host, Rank, Result, TeamError};
use crate::memory::arena::Arena;
use crate::memory::buffer::Buffer;
use crate::memory::process::Life;
use crate::memory::shown_window::leave_block;
use crate::mpi::circles::EnteredWait;
use crate::mpi::transfer;
use crate::mpi::wire::{ControlMessage, PostPlace, WireBuffer, WireOffer};
use crate::mpi::world::{State, World, broken};
use crate::program::offer::{CallBuffers, Offer, Offered, Openness};
use crate::team::cache::TeamCache;
use crate::team::call::{Call, CallName};
use crate::team::callers::Callers;
use crate::team::interrupt;
use crate::team::meeting::{Contribution, Meeting, Post, Round, RunContext, Stage};
use crate::team::near::NearMeeting;
use crate::team::patience::{GRACE, Patience};

/// How often a waiting rank looks whether others are still there.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One process's way into the rounds of a team.
#[derive(Debug)]
pub(crate) struct MpiMeeting {
    world: Arc<World>,
    members: Arc<[u64]>,
    /// Names the members and their order in messages.
    key: u64,
    rank: Option<u64>,
    /// Whether all members are on one node.
    is_shared: bool,
    cache: Arc<TeamCache>,
}

impl MpiMeeting {
    pub(crate) fn new(world: &Arc<World>, members: &[u64]) -> Self {
        let own = world.rank();
        let key = key_of(members);
        let is_near = |member: &u64| *member == own || world.neighbour(*member).is_some();
        let is_shared = world.node().is_some() && members.iter().all(is_near);
        Self {
            world: Arc::clone(world),
            members: members.into(),
            key,
            rank: (0..).zip(members).find(|(_, member)| **member == own).map(|(rank, _)| rank),
            is_shared,
            cache: world.cache(key),
        }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    pub(super) fn own_rank(&self) -> Rank {
        let own = self.world.rank();
        Rank::new(self.rank.unwrap_or_default(), own).on(self.world.host(own))
    }

    pub(super) fn shared_members(&self) -> &Arc<[u64]> {
        &self.members
    }

    fn place(&self, round: u64, n_near: u64) -> PostPlace {
        PostPlace { team: self.key, round, rank: self.rank.unwrap_or(u64::MAX), n_near }
    }

    /// What the others are told when this rank leaves a round that it has come to.
    fn failed(&self, state: &State, round: u64, failure: Failure) -> ControlMessage {
        let n_near = state.inbox.near_before(self.key).n_calls;
        ControlMessage::Failed { place: self.place(round, n_near), failure }
    }

    /// What the others are sent: as little as they need.
    fn message(&self, place: PostPlace, post: &Post<Contribution>) -> ControlMessage {
        let contribution = match post {
            Ok(contribution) => contribution,
            Err(failure) => return ControlMessage::Failed { place, failure: failure.clone() },
        };
        if contribution.call.name == CallName::RunFinished {
            return ControlMessage::Done { place };
        }
        let mut last_posted = self.cache.last_posted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offer) = &contribution.offer {
            let is_same = |(call, old): &(Call, Arc<Offer>)| {
                Arc::ptr_eq(old, offer) && *call == contribution.call
            };
            // Whoever tells its partners for the first time tells it all.
            let is_known = contribution.n_partners.is_none();
            if is_known && last_posted.as_ref().is_some_and(is_same) {
                return ControlMessage::Again {
                    place,
                    tag: contribution.tag,
                    half: contribution.half,
                    near_hash: contribution.near.hash,
                };
            }
            *last_posted = Some((contribution.call.clone(), Arc::clone(offer)));
        }
        ControlMessage::Post {
            place,
            tag: contribution.tag,
            half: contribution.half,
            call: contribution.call.clone(),
            bytes: contribution.bytes.to_vec(),
            offer: contribution.offer.as_deref().map(wire_offer),
            n_partners: contribution.n_partners,
            near_hash: contribution.near.hash,
            arrival: contribution.arrival,
        }
    }

    /// Fills in for members that will not come, and says whether the round is decided.
    fn is_decided(&self, state: &mut State, round: u64, stage: Stage, look: &mut Look) -> bool {
        let size = self.members.len();
        if state.inbox.slot(self.key, round).posts.len() < size && look.is_due {
            for (rank, failure) in self.absences(state, round, stage, look) {
                let place = PostPlace { rank, ..self.place(round, u64::MAX) };
                state.inbox.put(place, Err(failure));
            }
        }
        // Members are counted, not posts: a message may name a rank that the team does not have.
        let posts = &state.inbox.slot(self.key, round).posts;
        let is_full = posts.len() >= size && (0..size as u64).all(|rank| posts.contains_key(&rank));
        is_full && (self.world.is_sent(state) || look.is_over())
    }

    /// Remembers the far members that were given up in a round.
    fn note_lost(&self, state: &mut State, posts: &HashMap<u64, Post<Contribution>>) {
        let is_late = |post: &Post<Contribution>| {
            post.as_ref().is_err_and(|failure| failure.kind == FailureKind::Late)
        };
        let late =
            (0..).zip(self.members.iter()).filter(|(rank, _)| posts.get(rank).is_some_and(is_late));
        for (_, &member) in late {
            if member != self.world.rank() && self.world.life(member).is_none() {
                state.inbox.lose(member);
            }
        }
    }

    /// Members that will not come to a round, and why.
    fn absences(
        &self,
        state: &mut State,
        round: u64,
        stage: Stage,
        look: &mut Look,
    ) -> Vec<(u64, Failure)> {
        let slot = state.inbox.slot(self.key, round);
        let failed = slot.posts.values().find_map(|post| post.as_ref().err()).cloned();
        if failed.is_some() {
            slot.failed_since.get_or_insert(look.now);
        }
        let since = slot.failed_since;
        let is_over = |since: Instant| stage == Stage::Arrival && look.now - since >= GRACE;
        let failed = failed.filter(|_| since.is_some_and(is_over));
        let missing: Vec<u64> =
            (0..self.members.len() as u64).filter(|rank| !slot.posts.contains_key(rank)).collect();
        let mut why = |rank: u64| {
            let failure = self.absence(state, rank, round, stage).or_else(|| failed.clone());
            failure.or_else(|| {
                let late = self.lateness(rank, stage, look)?;
                look.given_up.get_or_insert_with(|| late.clone());
                Some(late)
            })
        };
        missing.into_iter().filter_map(|rank| Some((rank, why(rank)?))).collect()
    }

    /// Why a member does not come at all.
    fn absence(&self, state: &State, rank: u64, round: u64, stage: Stage) -> Option<Failure> {
        let member = self.members[rank as usize];
        let named = Rank::new(rank, member);
        let left = |message: &str| Failure::new(named, FailureKind::Left, message);
        if let Some(why) = state.inbox.departed(member) {
            return Some(left(why));
        }
        if stage == Stage::Copying
            && let Some(failure) = state.inbox.revoked(self.key, rank, round - 1)
        {
            return Some(failure.clone());
        }
        (self.world.life(member) == Some(Life::Ended)).then(|| left("its process has ended"))
    }

    /// Why a member is waited for no longer.
    fn lateness(&self, rank: u64, stage: Stage, look: &Look) -> Option<Failure> {
        let limit = look.limit.filter(|_| look.is_over())?;
        if stage == Stage::Copying {
            // As long as it runs it copies, and will come.
            let member = self.members[rank as usize];
            if self.shares(rank) && self.world.life(member) == Some(Life::Runs) {
                return None;
            }
        }
        let message = format!("{} waited {limit:?} for it", self.own_rank());
        Some(Failure::new(Rank::of(&self.members, rank), FailureKind::Late, &message))
    }

    /// Says that this rank waits, once it has for a while and can do nothing else.
    fn enter_wait(&self, round: u64, look: &Look) -> Result<Option<EnteredWait<'_>>> {
        if look.waited < PATIENT_FOR || !self.is_own_wait() {
            return Ok(None);
        }
        self.world.enter_wait(&self.members, round).map_err(broken)
    }

    /// Whether the thread that makes this rank's calls is the one that waits.
    pub(super) fn is_own_wait(&self) -> bool {
        self.world.callers().has_this_thread() || self.cache.claim.is_awaited()
    }

    /// Leaves a round because the user wants it, and says so.
    fn interrupted(&self, round: u64) -> Result<TeamError> {
        let error = TeamError::Interrupted;
        let failure = error.failure(self.own_rank());
        let mut state = self.world.state();
        let message = self.failed(&state, round, failure);
        self.world.send(&mut state, &message, self.members.iter().copied()).map_err(broken)?;
        state.inbox.decide(self.key, round);
        Ok(error)
    }
}

/// When a waiting rank looks around.
struct Look {
    now: Instant,
    /// How long this rank has waited.
    waited: Duration,
    limit: Option<Duration>,
    /// Whether it is time to look for members that will not come.
    is_due: bool,
    /// For whom this rank waits no longer; the others are told when it leaves the round.
    given_up: Option<Failure>,
}

impl Look {
    /// Whether the deadline has passed.
    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.waited >= limit)
    }
}

impl Meeting for MpiMeeting {
    fn members(&self) -> &[u64] {
        &self.members
    }

    fn own(&self) -> u64 {
        self.world.rank()
    }

    fn check(&self) -> Result<()> {
        self.world.check()
    }

    fn cache(&self) -> &TeamCache {
        &self.cache
    }

    fn post(&self, mut post: Post<Contribution>, _patience: &Patience) -> Result<u64> {
        let mut state = self.world.state();
        let (round, near) = state.inbox.next_round(self.key);
        let place = self.place(round, near.n_calls);
        if let Ok(contribution) = &mut post {
            contribution.near = near;
        }
        let message = self.message(place, &post);
        state.inbox.put(place, post);
        self.world.send(&mut state, &message, self.members.iter().copied()).map_err(broken)?;
        Ok(round)
    }

    fn wait(
        &self,
        round: u64,
        patience: &Patience,
        stage: Stage,
        spent: Duration,
    ) -> Result<Round<Contribution>> {
        let began = Instant::now();
        let mut look = Look {
            now: began,
            waited: Duration::ZERO,
            limit: patience.limit,
            is_due: false,
            given_up: None,
        };
        let mut waited = Waited::since(began);
        let mut looked = began;
        let mut entered = None;
        let mut n_polls = 0;
        loop {
            self.world.poll().map_err(broken)?;
            let mut state = self.world.state();
            self.world.answer(&mut state).map_err(broken)?;
            if self.is_decided(&mut state, round, stage, &mut look) {
                drop(state);
                self.world.settle().map_err(broken)?;
                let mut state = self.world.state();
                if let Some(failure) = look.given_up.take() {
                    let message = self.failed(&state, round, failure);
                    let others = self.members.iter().copied();
                    self.world.send(&mut state, &message, others).map_err(broken)?;
                }
                let mut posts = state.inbox.decide(self.key, round);
                self.note_lost(&mut state, &posts);
                return Ok(Arc::new(
                    (0..self.members.len() as u64).filter_map(|rank| posts.remove(&rank)).collect(),
                ));
            }
            drop(state);
            n_polls += 1;
            look.is_due = false;
            if patience.pause(n_polls, || self.world.has_news()) {
                continue;
            }
            look.now = Instant::now();
            look.waited = spent + waited.turn(look.now);
            look.is_due = look.now - looked >= LOOK_EVERY;
            if look.is_due {
                looked = look.now;
                // While others copy, leaving would free memory under their hands.
                if stage == Stage::Arrival && interrupt::is_interrupted() {
                    return Err(self.interrupted(round)?);
                }
                if stage == Stage::Arrival && entered.is_none() {
                    entered = self.enter_wait(round, &look)?;
                }
            } else {
                self.world.rest(LOOK_EVERY);
            }
        }
    }

    fn other(&self, members: &[u64]) -> Arc<dyn Meeting> {
        Arc::new(Self::new(&self.world, members))
    }

    fn world_id(&self) -> usize {
        Arc::as_ptr(&self.world) as usize
    }

    fn callers(&self) -> &Arc<Callers> {
        self.world.callers()
    }

    fn circle(&self, round: u64) -> Option<Arc<Circle>> {
        self.world.circle(&self.members, round)
    }

    fn engine(&self) -> Engine {
        Engine::Mpi
    }

    fn is_open(&self, buffer: &Buffer, item_bytes: usize) -> bool {
        let arena = Arena::get().filter(|_| self.world.node().is_some());
        arena.and_then(|arena| arena.find(buffer.span(item_bytes))).is_some()
    }

    fn packs_halos(&self) -> bool {
        self.is_shared
    }

    fn near(&self) -> Option<&dyn NearMeeting> {
        Some(self)
    }

    fn offer(&self, buffers: CallBuffers<'_>, item_bytes: usize) -> Offer {
        let offered = |buffer: &Buffer| {
            let is_open = self.is_open(buffer, item_bytes);
            Offered::new(buffer, if is_open { Openness::Open } else { Openness::Closed })
        };
        Offer {
            sources: buffers.sources.iter().map(offered).collect(),
            targets: buffers.targets.iter().map(offered).collect(),
            packed_halo: buffers.packed_halo.map(|halo| Offered::new(halo, Openness::Open)),
        }
    }

    fn shares(&self, rank: u64) -> bool {
        self.world.neighbour(self.members[rank as usize]).is_some()
    }

    fn host(&self, rank: u64) -> Option<Host> {
        self.world.host(rank)
    }

    fn tag(&self) -> u64 {
        self.world.tag()
    }

    unsafe fn transfer(&self, context: &RunContext<'_>, patience: &Patience) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { transfer::transfer(self, context, patience) }
    }

    fn withdraw(&self, buffers: &[Buffer]) {
        let Some(arena) = Arena::get() else { return };
        for buffer in buffers {
            if let Some(block) = arena.find((buffer.address, buffer.address)) {
                arena.withdraw(block);
                leave_block(block);
            }
        }
    }
}

/// Names the members of a team and their order in messages.
pub(crate) fn key_of(members: &[u64]) -> u64 {
    members.iter().fold(0xCBF2_9CE4_8422_2325, |key: u64, member| {
        (key ^ (member + 1)).wrapping_mul(0x0100_0000_01B3).rotate_left(17)
    })
}

/// This rank's buffers in words that another process can use.
pub(super) fn wire_offer(offer: &Offer) -> WireOffer {
    let wire = |offered: &Offered| {
        let address = offered.buffer.address;
        let arena = Arena::get().filter(|_| offered.openness == Openness::Open);
        let in_arena = arena.and_then(|arena| {
            let block = arena.find((address, address))?;
            Some((block, (address - arena.at(block)) as u64))
        });
        WireBuffer { buffer: Buffer { address: 0, ..offered.buffer.clone() }, in_arena }
    };
    WireOffer {
        sources: offer.sources.iter().map(wire).collect(),
        targets: offer.targets.iter().map(wire).collect(),
        packed_halo: offer.packed_halo.as_ref().map(wire),
    }
}
