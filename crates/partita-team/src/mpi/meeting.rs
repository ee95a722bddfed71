//! One process's way into the rounds of a team of processes.
//!
//! What is done in a round is in `round.rs`; here it is waited for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use partita_mpi::Waited;

use crate::error::circle::{Circle, PATIENT_FOR};
use crate::error::{Engine, Host, Rank, Result, TeamError};
use crate::memory::arena::Arena;
use crate::memory::buffer::Buffer;
use crate::memory::shown_window::leave_block;
use crate::mpi::circles::EnteredWait;
use crate::mpi::near::Watch;
use crate::mpi::relays::Order;
use crate::mpi::round::{LOOK_EVERY, Look, Membership};
use crate::mpi::transfer;
use crate::mpi::wire::{WireBuffer, WireOffer};
use crate::mpi::world::{World, broken};
use crate::program::offer::{CallBuffers, Offer, Offered, Openness};
use crate::team::cache::TeamCache;
use crate::team::callers::Callers;
use crate::team::interrupt;
use crate::team::meeting::{Contribution, Meeting, Post, Round, RunContext, Since, Stage};
use crate::team::near::NearMeeting;
use crate::team::patience::Patience;

/// One process's way into the rounds of a team.
#[derive(Debug)]
pub(crate) struct MpiMeeting {
    world: Arc<World>,
    team: Membership,
    /// Whether all members are on one node.
    is_shared: bool,
    /// The node of each member; none if all are on one.
    nodes: Box<[u64]>,
    watch: Mutex<Watch>,
    cache: Arc<TeamCache>,
}

impl MpiMeeting {
    pub(crate) fn new(world: &Arc<World>, members: &[u64]) -> Self {
        let own = world.rank();
        let is_near = |member: &u64| *member == own || world.neighbour(*member).is_some();
        let is_shared = world.node().is_some() && members.iter().all(is_near);
        let nodes = if is_shared { Box::default() } else { world.nodes_of(members) };
        let (order, host) = (Order::around(&nodes), world.host(own));
        let team = Membership::new(members.into(), own, host, order.as_ref());
        Self {
            world: Arc::clone(world),
            team,
            is_shared,
            nodes,
            watch: Mutex::default(),
            cache: world.cache(key_of(members)),
        }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn key(&self) -> u64 {
        self.team.key
    }

    pub(super) fn own_rank(&self) -> Rank {
        self.team.own_rank()
    }

    pub(super) fn watch(&self) -> &Mutex<Watch> {
        &self.watch
    }

    pub(super) fn shared_members(&self) -> &Arc<[u64]> {
        &self.team.members
    }

    /// Says that this rank waits, once it has for a while and can do nothing else.
    fn enter_wait(&self, round: u64, look: &Look) -> Result<Option<EnteredWait<'_>>> {
        if look.waited < PATIENT_FOR || !self.is_own_wait() {
            return Ok(None);
        }
        self.world.enter_wait(&self.team.members, round).map_err(broken)
    }

    /// Whether the thread that makes this rank's calls is the one that waits.
    pub(super) fn is_own_wait(&self) -> bool {
        self.world.callers().has_this_thread() || self.cache.claim.is_awaited()
    }

    /// Leaves a round because the user wants it, and says so.
    fn interrupted(&self, round: u64) -> Result<TeamError> {
        let error = TeamError::Interrupted;
        let failure = error.failure(self.own_rank());
        let mut around = self.world.around();
        self.team.give_up(&mut around, round, failure).map_err(broken)?;
        Ok(error)
    }
}

impl Meeting for MpiMeeting {
    fn members(&self) -> &[u64] {
        &self.team.members
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

    fn post(&self, post: Post<Contribution>, _patience: &Patience) -> Result<u64> {
        let mut around = self.world.around();
        let mut last = self.cache.last_posted.lock().unwrap_or_else(PoisonError::into_inner);
        self.team.post(&mut around, &mut last, post).map_err(broken)
    }

    fn wait(
        &self,
        round: u64,
        patience: &Patience,
        stage: Stage,
        since: Since,
    ) -> Result<Round<Contribution>> {
        let Since { began, spent } = since;
        let mut look = Look::new(began, patience.limit);
        let mut waited = Waited::since(began);
        let mut looked = began;
        let mut entered = None;
        let mut n_polls = 0;
        loop {
            let mut around = self.world.around();
            self.world.poll_into(&mut around.state).map_err(broken)?;
            self.world.answer(&mut around.state).map_err(broken)?;
            if self.team.advance(&mut around, round, stage, &mut look).map_err(broken)? {
                self.world.settle(&mut around.state).map_err(broken)?;
                return self.team.close(&mut around, round, &mut look).map_err(broken);
            }
            drop(around);
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
        self.world.circle(&self.team.members, round)
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
        self.world.neighbour(self.team.members[rank as usize]).is_some()
    }

    fn nodes(&self) -> &[u64] {
        &self.nodes
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

    fn await_abandoned(&self) {
        self.world.await_abandoned();
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
