//! Meetings: every rank of a team brings something, then every rank sees what all have brought.
//!
//! A [`Meeting`] is one rank's way into the rounds of one team, whatever the engine. What a rank
//! brings is a [`Contribution`], or the failure that keeps it from coming. [`Team`](crate::Team) is
//! made of nothing else, so that calls, verdicts and error messages are the same on every engine.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use partita_plan::Plan;

use crate::error::circle::Circle;
use crate::error::{Engine, Failure, Host, Result};
use crate::memory::buffer::Buffer;
use crate::program::offer::{CallBuffers, Half, Offer, View};
use crate::program::program::Program;
use crate::team::cache::TeamCache;
use crate::team::call::Call;
use crate::team::callers::Callers;
use crate::team::near::{NearMeeting, NearPlace, NearSum};
use crate::team::patience::Patience;

/// What a rank brings: its value, or why it has none.
pub(crate) type Post<T> = std::result::Result<T, Failure>;

/// What all ranks brought to one round, in the order of the members.
#[derive(Debug, Clone)]
pub(crate) enum Round<T> {
    Each(Arc<Vec<Post<T>>>),
    /// So many ranks brought the same.
    Alike(Post<T>, usize),
}

impl<T> Round<T> {
    pub(crate) fn get(&self, rank: usize) -> Option<&Post<T>> {
        match self {
            Self::Each(posts) => posts.get(rank),
            Self::Alike(post, size) => (rank < *size).then_some(post),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Post<T>> + Clone {
        (0..).map_while(|rank| self.get(rank))
    }
}

/// What a rank brings to a call.
#[derive(Debug, Clone)]
pub(crate) struct Contribution {
    pub call: Call,
    pub bytes: Arc<[u8]>,
    /// The buffers of a plan; the same `Arc` as long as they stay the same.
    pub offer: Option<Arc<Offer>>,
    /// By which number this rank knows the messages of the call.
    pub tag: u64,
    /// Which half of its packed halo this rank has packed.
    pub half: Half,
    /// How many partners this rank has in the plan, if it tells.
    pub n_partners: Option<u64>,
    /// The near calls that this rank has made since all met last; the engine notes them.
    pub near: NearSum,
    /// Whether it comes because a near call could not go on.
    pub arrival: Arrival,
}

/// How a rank comes to a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Arrival {
    /// To meet.
    #[default]
    Meant,
    /// Because a near call could not go on.
    Stuck,
}

impl Contribution {
    pub(crate) fn new(call: Call) -> Self {
        Self {
            call,
            bytes: Arc::default(),
            offer: None,
            tag: 0,
            half: Half::First,
            n_partners: None,
            near: NearSum::default(),
            arrival: Arrival::Meant,
        }
    }

    /// Whether there is nothing to it but the call, as on all ranks that make it.
    pub(crate) fn is_bare(&self) -> bool {
        let Self { call, bytes, offer, tag, half, n_partners, near: _, arrival } = self;
        let is_empty = bytes.is_empty() && offer.is_none() && n_partners.is_none();
        call.name.is_bare()
            && is_empty
            && *tag == 0
            && *half == Half::First
            && *arrival == Arrival::Meant
    }
}

/// What is waited for: it decides whether a slow rank may be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Ranks come from their own code.
    Arrival,
    /// Ranks copy, and leaving would free memory under their hands.
    Copying,
}

/// Since when a rank waits, and how much of its patience it had spent before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    pub began: Instant,
    pub spent: Duration,
}

/// One rank's way into the rounds of a team.
pub(crate) trait Meeting: fmt::Debug + Send + Sync {
    /// The members as ranks of the world, in order.
    fn members(&self) -> &[u64];
    /// This rank of the world.
    fn own(&self) -> u64;
    /// Refuses where this process is not the rank (any more).
    fn check(&self) -> Result<()>;
    /// What this rank keeps between calls.
    fn cache(&self) -> &TeamCache;
    /// Posts for this rank's next round; gives its number.
    fn post(&self, post: Post<Contribution>, patience: &Patience) -> Result<u64>;
    /// Waits until a round is decided; part of the patience may be spent already.
    fn wait(
        &self,
        round: u64,
        patience: &Patience,
        stage: Stage,
        since: Since,
    ) -> Result<Round<Contribution>>;
    /// This rank's way to its partners, where the engine has one.
    fn near(&self) -> Option<&dyn NearMeeting> {
        None
    }
    /// The way into the rounds of other members of the same world.
    fn other(&self, members: &[u64]) -> Arc<dyn Meeting>;
    /// Tells worlds apart.
    fn world_id(&self) -> usize;
    /// The threads that make calls for this rank.
    fn callers(&self) -> &Arc<Callers>;
    /// The circle of waits that ended a round. This rank, which is told of it here, then counts all
    /// rounds that it ended as rounds it has come to.
    fn circle(&self, round: u64) -> Option<Arc<Circle>>;
    /// What engine it is.
    fn engine(&self) -> Engine;
    /// This rank's buffers as the others may see them.
    fn offer(&self, buffers: CallBuffers<'_>, item_bytes: usize) -> Offer;
    /// Whether other ranks can touch a buffer of this one.
    fn is_open(&self, _buffer: &Buffer, _item_bytes: usize) -> bool {
        true
    }
    /// Whether small halos are packed for others to fetch.
    fn packs_halos(&self) -> bool {
        false
    }
    /// Whether this rank and a member can touch each other's open memory.
    fn shares(&self, rank: u64) -> bool;
    /// The node of each member: those of one can all touch each other's open memory. None where all
    /// are on one.
    fn nodes(&self) -> &[u64] {
        &[]
    }
    /// Where a rank of the world runs, if not all run on one host.
    fn host(&self, _rank: u64) -> Option<Host> {
        None
    }
    /// A number for the messages of the next call.
    fn tag(&self) -> u64 {
        0
    }
    /// Sends and receives what no rank can reach by itself.
    ///
    /// # Safety
    /// The buffers of the context must be those of a running call, as for `Team::run`.
    unsafe fn transfer(&self, context: &RunContext<'_>, patience: &Patience) -> Result<()>;
    /// Waits a little for what still arrives in the targets of a call that was given up.
    fn await_abandoned(&self) {}
    /// Takes memory out of the reach of ranks that may still write it.
    fn withdraw(&self, buffers: &[Buffer]);
}

/// A running call some of whose moves travel by messages.
pub(crate) struct RunContext<'a> {
    pub program: &'a Program,
    pub plan: &'a Plan,
    pub view: &'a View<'a>,
    pub place: CallPlace,
    pub sources: &'a [Buffer],
    pub targets: &'a [Buffer],
}

/// Where a running call belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallPlace {
    /// All met for it in this round.
    Round(u64),
    /// Partners came to it.
    Near(NearPlace),
}

/// The contributions of a round in which nobody failed.
pub(crate) fn contributions(
    posts: &Round<Contribution>,
) -> impl Iterator<Item = &Contribution> + Clone {
    posts.iter().filter_map(|post| post.as_ref().ok())
}

/// The failure of the lowest rank: all agree on it.
pub(crate) fn first_failure(posts: &Round<Contribution>) -> Option<&Failure> {
    posts.iter().find_map(|post| post.as_ref().err())
}
