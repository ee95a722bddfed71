//! One rank's way into the rounds of a team of threads.

use std::sync::Arc;
use std::time::Duration;

use crate::error::circle::Circle;
use crate::error::{Engine, Result, TeamError};
use crate::memory::buffer::Buffer;
use crate::program::offer::{CallBuffers, Offer, Offered, Openness};
use crate::team::cache::TeamCache;
use crate::team::callers::Callers;
use crate::team::meeting::{Contribution, Meeting, Post, Round, RunContext, Stage};
use crate::team::patience::Patience;
use crate::threads::circles::CircleSearch;
use crate::threads::rendezvous::Rendezvous;
use crate::threads::world::World;

/// One rank's way into a rendezvous.
#[derive(Debug)]
pub(crate) struct ThreadMeeting {
    world: Arc<World>,
    meeting: Arc<Rendezvous<Contribution>>,
    own: u64,
    cache: Arc<TeamCache>,
}

impl ThreadMeeting {
    pub(crate) fn new(world: &Arc<World>, members: &[u64], own: u64) -> Self {
        let (meeting, cache) = (world.meeting(members), world.cache(own, members));
        Self { world: Arc::clone(world), meeting, own, cache }
    }
}

impl Meeting for ThreadMeeting {
    fn members(&self) -> &[u64] {
        self.meeting.members()
    }

    fn own(&self) -> u64 {
        self.own
    }

    fn check(&self) -> Result<()> {
        if self.world.is_forked() {
            Err(TeamError::Forked { engine: Engine::Threads })
        } else {
            Ok(())
        }
    }

    fn cache(&self) -> &TeamCache {
        &self.cache
    }

    fn post(&self, post: Post<Contribution>, patience: &Patience) -> Result<u64> {
        let rank = self.members().iter().position(|member| *member == self.own);
        let n_ranks = self.members().len() as u64;
        let rank = rank.ok_or(TeamError::NotAMember { rank: self.own, n_ranks })?;
        Ok(self.meeting.post(rank, post, &self.world, patience))
    }

    fn wait(
        &self,
        round: u64,
        patience: &Patience,
        stage: Stage,
        spent: Duration,
    ) -> Result<Round<Contribution>> {
        let left = patience.limit.map(|limit| limit.saturating_sub(spent));
        let patience = &patience.with_limit(left);
        let mut lookout =
            CircleSearch::new(&self.world, (self.own, &self.cache), &self.meeting, round);
        let look = || match stage {
            Stage::Arrival => lookout.look(),
            Stage::Copying => (),
        };
        Ok(self.meeting.wait_and_look(round, &self.world, patience, stage, look))
    }

    fn other(&self, members: &[u64]) -> Arc<dyn Meeting> {
        Arc::new(Self::new(&self.world, members, self.own))
    }

    fn world_id(&self) -> usize {
        Arc::as_ptr(&self.world) as usize
    }

    fn callers(&self) -> &Arc<Callers> {
        self.world.callers(self.own)
    }

    fn circle(&self, round: u64) -> Option<Arc<Circle>> {
        self.world.circle(self.own, self.meeting.members(), round)
    }

    fn engine(&self) -> Engine {
        Engine::Threads
    }

    fn offer(&self, buffers: CallBuffers<'_>, _item_bytes: usize) -> Offer {
        let open = |buffers: &[Buffer]| {
            buffers.iter().map(|buffer| Offered::new(buffer, Openness::Open)).collect()
        };
        Offer { sources: open(buffers.sources), targets: open(buffers.targets), packed_halo: None }
    }

    fn shares(&self, _rank: u64) -> bool {
        true
    }

    unsafe fn transfer(&self, _errand: &RunContext<'_>, _patience: &Patience) -> Result<()> {
        Err(TeamError::Engine { message: "threads reach all memory".to_string() })
    }

    /// Nothing to do: a rank that copies is never given up.
    fn withdraw(&self, _buffers: &[Buffer]) {}
}
