//! Meetings: every rank of a team brings something, then every rank sees what all have brought.
//!
//! A [`Meeting`] is one rank's door to the rounds of one team, whatever the engine. What a rank
//! brings is a [`Parcel`], or the failure that keeps it from coming. [`crate::team::Team`] is made
//! of nothing else, so that calls, verdicts and error messages are the same on every engine.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use partita_plan::Plan;

use crate::arena::n_withdrawn;
use crate::buffer::Buffer;
use crate::call::Call;
use crate::error::{Failure, Result, TeamError};
use crate::porch::{Porch, Porches};
use crate::program::{Cached, Errand};
use crate::reach::{Buffers, Offer};
use crate::wait::Patience;

/// What a rank brings: its value, or why it has none.
pub(crate) type Post<T> = std::result::Result<T, Failure>;

/// What all ranks brought to one round, in the order of the members.
pub(crate) type Round<T> = Arc<Vec<Post<T>>>;

/// What a rank brings to a call.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    pub call: Call,
    pub bytes: Arc<[u8]>,
    /// The buffers of a plan; the same `Arc` as long as they stay the same.
    pub offer: Option<Arc<Offer>>,
    /// By which number this rank knows the messages of the call.
    pub tag: u64,
}

impl Parcel {
    pub(crate) fn new(call: Call) -> Self {
        Self { call, bytes: Arc::default(), offer: None, tag: 0 }
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

/// One rank's door to the rounds of a team.
pub(crate) trait Meeting: fmt::Debug + Send + Sync {
    /// The members as ranks of the world, in order.
    fn members(&self) -> &[u64];
    /// This rank of the world.
    fn own(&self) -> u64;
    /// Refuses where this process is not the rank (any more).
    fn check(&self) -> Result<()>;
    /// What this rank keeps between calls.
    fn desk(&self) -> &Desk;
    /// Posts for this rank's next round; gives its number.
    fn post(&self, post: Post<Parcel>, patience: &Patience) -> Result<u64>;
    /// Waits until a round is decided.
    fn wait(&self, round: u64, patience: &Patience, stage: Stage) -> Result<Round<Parcel>>;
    /// The door to the rounds of other members of the same world.
    fn other(&self, members: &[u64]) -> Arc<dyn Meeting>;
    /// Tells worlds apart.
    fn world(&self) -> usize;
    /// What engine it is.
    fn engine(&self) -> &'static str;
    /// This rank's buffers as the others may see them.
    fn offer(&self, buffers: Buffers<'_>, item_bytes: usize) -> Offer;
    /// Whether other ranks can touch a buffer of this one.
    fn is_open(&self, _buffer: &Buffer, _item_bytes: usize) -> bool {
        true
    }
    /// The number of this rank's next round, where small halos are packed for others to fetch.
    fn packing_round(&self) -> Option<u64> {
        None
    }
    /// Whether this rank and a member can touch each other's open memory.
    fn shares(&self, rank: u64) -> bool;
    /// A number for the messages of the next call.
    fn tag(&self) -> u64 {
        0
    }
    /// Carries what no rank can reach by itself.
    ///
    /// # Safety
    /// The buffers of the errand must be those of a running call, as for `Team::run`.
    unsafe fn carry(&self, errand: &Errand<'_>, patience: &Patience) -> Result<()>;
    /// Takes memory out of the reach of ranks that may still write it.
    fn withdraw(&self, buffers: &[Buffer]);
}

/// What one rank keeps between the calls of a team.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// One call at a time: a second one from another thread would mix up the rounds.
    busy: AtomicBool,
    pub programs: Mutex<Vec<Arc<Cached>>>,
    /// The last offer, and how many blocks had been withdrawn by then.
    offer: Mutex<Option<(u64, Arc<Offer>)>>,
    porches: Mutex<Porches>,
}

impl Desk {
    /// Takes the team for one call; false if another call has it.
    pub(crate) fn take(&self) -> bool {
        !self.busy.swap(true, Ordering::Acquire)
    }

    fn release(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// The last offer if it fits, else a new one.
    pub(crate) fn offer(
        &self,
        fits: impl Fn(&Offer) -> bool,
        new: impl Fn() -> Offer,
    ) -> Arc<Offer> {
        let mut last = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another team of this rank may have withdrawn a buffer that was open before.
        let now = n_withdrawn();
        match &*last {
            Some((then, offer)) if *then == now && fits(offer) => Arc::clone(offer),
            _ => Arc::clone(&last.insert((now, Arc::new(new()))).1),
        }
    }

    /// The porch for what a rank gives, if it should have one.
    pub(crate) fn porch(
        &self,
        plan: &Plan,
        rank: u64,
        buffers: &[Buffer],
        is_open: impl Fn() -> bool,
    ) -> Option<Arc<Porch>> {
        let mut porches = self.porches.lock().unwrap_or_else(PoisonError::into_inner);
        porches.find(plan, buffers, || {
            let suits = Porch::suits(plan, rank, is_open());
            suits.then(|| Arc::new(Porch::new(plan, rank, buffers)))
        })
    }

    /// Gives all porches up, memory and all: somebody slow may still fetch from them.
    pub(crate) fn leave_porches(&self) {
        let mut porches = self.porches.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::forget(std::mem::take(&mut *porches));
    }
}

/// Holds a team for one call of this rank.
#[derive(Debug)]
pub struct Claim(Arc<dyn Meeting>);

impl Claim {
    pub(crate) fn new(meeting: &Arc<dyn Meeting>) -> Result<Self> {
        meeting.check()?;
        if meeting.desk().take() { Ok(Self(Arc::clone(meeting))) } else { Err(TeamError::Busy) }
    }

    pub(crate) fn is_of(&self, meeting: &Arc<dyn Meeting>) -> bool {
        std::ptr::eq(self.0.desk(), meeting.desk())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.desk().release();
    }
}

/// The parcels of a round in which nobody failed.
pub(crate) fn parcels(posts: &Round<Parcel>) -> impl Iterator<Item = &Parcel> {
    posts.iter().filter_map(|post| post.as_ref().ok())
}

/// The failure of the lowest rank: all agree on it.
pub(crate) fn first_failure(posts: &Round<Parcel>) -> Option<&Failure> {
    posts.iter().find_map(|post| post.as_ref().err())
}
