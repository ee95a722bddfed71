//! Halls: one rank's door to the rendezvous of a team of threads.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::callers::Callers;
use crate::circle::Circle;
use crate::error::{Result, TeamError};
use crate::meeting::{Desk, Meeting, Parcel, Post, Round, Stage};
use crate::program::Errand;
use crate::reach::{Buffers, Door, Offer, Offered};
use crate::threads::circles::Lookout;
use crate::threads::crew::Crew;
use crate::threads::rendezvous::Rendezvous;
use crate::wait::Patience;

/// One rank's door to a rendezvous.
#[derive(Debug)]
pub(crate) struct Hall {
    crew: Arc<Crew>,
    meeting: Arc<Rendezvous<Parcel>>,
    own: u64,
    desk: Arc<Desk>,
}

impl Hall {
    pub(crate) fn new(crew: &Arc<Crew>, members: &[u64], own: u64) -> Self {
        let (meeting, desk) = (crew.meeting(members), crew.desk(own, members));
        Self { crew: Arc::clone(crew), meeting, own, desk }
    }
}

impl Meeting for Hall {
    fn members(&self) -> &[u64] {
        self.meeting.members()
    }

    fn own(&self) -> u64 {
        self.own
    }

    fn check(&self) -> Result<()> {
        if self.crew.is_forked() { Err(TeamError::Forked { engine: "threads" }) } else { Ok(()) }
    }

    fn desk(&self) -> &Desk {
        &self.desk
    }

    fn post(&self, post: Post<Parcel>, patience: &Patience) -> Result<u64> {
        let rank = self.members().iter().position(|member| *member == self.own);
        let n_ranks = self.members().len() as u64;
        let rank = rank.ok_or(TeamError::NotAMember { rank: self.own, n_ranks })?;
        Ok(self.meeting.post(rank, post, &self.crew, patience))
    }

    fn wait(&self, round: u64, patience: &Patience, stage: Stage) -> Result<Round<Parcel>> {
        let mut lookout = Lookout::new(&self.crew, (self.own, &self.desk), &self.meeting, round);
        let look = || match stage {
            Stage::Arrival => lookout.look(),
            Stage::Copying => (),
        };
        Ok(self.meeting.wait_and_look(round, &self.crew, patience, stage, look))
    }

    fn other(&self, members: &[u64]) -> Arc<dyn Meeting> {
        Arc::new(Self::new(&self.crew, members, self.own))
    }

    fn world(&self) -> usize {
        Arc::as_ptr(&self.crew) as usize
    }

    fn callers(&self) -> &Arc<Callers> {
        self.crew.callers(self.own)
    }

    fn circle(&self, round: u64) -> Option<Arc<Circle>> {
        self.crew.circle(self.own, self.meeting.members(), round)
    }

    fn engine(&self) -> &'static str {
        "threads"
    }

    fn offer(&self, (sources, targets, _): Buffers<'_>, _item_bytes: usize) -> Offer {
        let open = |buffers: &[Buffer]| {
            buffers.iter().map(|buffer| Offered::new(buffer, Door::Open)).collect()
        };
        Offer { sources: open(sources), targets: open(targets), porch: None }
    }

    fn shares(&self, _rank: u64) -> bool {
        true
    }

    unsafe fn carry(&self, _errand: &Errand<'_>, _patience: &Patience) -> Result<()> {
        Err(TeamError::Engine { message: "threads reach all memory".to_string() })
    }

    /// Nothing to do: a rank that copies is never given up.
    fn withdraw(&self, _buffers: &[Buffer]) {}
}
