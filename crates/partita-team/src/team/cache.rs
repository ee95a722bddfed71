//! What one rank keeps between the calls of a team.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use partita_plan::Plan;

use crate::error::Result;
use crate::memory::buffer::Buffer;
use crate::program::offer::{Offer, View};
use crate::program::packed_halo::{PackedHalo, PackedHalos, Wanted};
use crate::program::program::{Program, Style};
use crate::team::agreed::{AgreedPlan, AgreedPlans, Way};
use crate::team::call::{Call, Said};
use crate::team::claim::ClaimState;
use crate::team::meeting::Stage;
use crate::team::patience::ANSWER_WITHIN;

/// Programs that a team keeps.
const MOST_PROGRAMS: usize = 32;

/// What one rank keeps between the calls of a team.
#[derive(Debug, Default)]
pub(crate) struct TeamCache {
    pub claim: ClaimState,
    programs: Mutex<Vec<Arc<CachedProgram>>>,
    offer: Mutex<Option<Arc<Offer>>>,
    /// What the others were last told: they keep it for all teams of these members, so does this.
    pub last_posted: Mutex<Option<LastPosted>>,
    packed_halos: Mutex<PackedHalos>,
    agreed: Mutex<AgreedPlans>,
    said: Mutex<Said>,
    /// How long this rank has waited for others since somebody asked.
    waits: Mutex<Waits>,
    /// When its last long wait ended.
    long_wait: Mutex<Option<Instant>>,
}

/// What a rank has told the others last with its buffers, and in which round.
#[derive(Debug)]
pub(crate) struct LastPosted {
    pub call: Call,
    pub offer: Arc<Offer>,
    pub round: u64,
}

/// Time that a rank spent waiting for others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Until all had come.
    pub arrival: Duration,
    /// Until all had copied.
    pub end: Duration,
}

/// A program and what it was made for.
#[derive(Debug)]
pub(crate) struct CachedProgram {
    style: Style,
    plan: Plan,
    offers: Vec<Option<Arc<Offer>>>,
    pub program: Program,
}

impl TeamCache {
    /// Notes a wait that began at a moment and ends now.
    pub(crate) fn note_wait(&self, stage: Stage, since: Instant) {
        let lasted = since.elapsed();
        let mut waits = lock(&self.waits);
        match stage {
            Stage::Arrival => waits.arrival += lasted,
            Stage::Copying => waits.end += lasted,
        }
    }

    /// Notes the end of a wait of this length, in which this rank ran.
    pub(crate) fn note_long_wait(&self, waited: Duration) {
        if waited >= ANSWER_WITHIN {
            *lock(&self.long_wait) = Some(Instant::now());
        }
    }

    /// Whether this rank has hardly gone on since it waited long for others: nobody was late for it.
    pub(crate) fn has_just_waited(&self) -> bool {
        lock(&self.long_wait).is_some_and(|ended| ended.elapsed() < ANSWER_WITHIN)
    }

    /// What was noted since the last call of this.
    pub(crate) fn take_waits(&self) -> Waits {
        std::mem::take(&mut *lock(&self.waits))
    }

    /// Notes options of this rank's calls, which the next meeting compares.
    pub(crate) fn say(&self, words: &str) {
        lock(&self.said).note(words);
    }

    /// What was said since the last meeting.
    pub(crate) fn take_said(&self) -> Said {
        std::mem::take(&mut *lock(&self.said))
    }

    /// The last offer if it fits, else a new one.
    pub(crate) fn offer(
        &self,
        fits: impl Fn(&Offer) -> bool,
        new: impl Fn() -> Offer,
    ) -> Arc<Offer> {
        let mut last = lock(&self.offer);
        match &*last {
            Some(offer) if fits(offer) => Arc::clone(offer),
            _ => Arc::clone(last.insert(Arc::new(new()))),
        }
    }

    /// Makes the next offer a new one.
    pub(crate) fn forget_offer(&self) {
        *lock(&self.offer) = None;
    }

    /// The packed halo for what a rank gives, if it should have one.
    pub(crate) fn packed_halo(
        &self,
        plan: &Plan,
        rank: u64,
        buffers: &[Buffer],
        wanted: Wanted,
    ) -> Option<Arc<PackedHalo>> {
        lock(&self.packed_halos).find(plan, rank, buffers, wanted)
    }

    /// Gives back memory that others may have fetched from until all met.
    pub(crate) fn drop_retired_halos(&self) {
        lock(&self.packed_halos).drop_retired();
    }

    /// What all have agreed on for a call.
    pub(crate) fn agreed(&self, call: &Call) -> Option<Arc<AgreedPlan>> {
        lock(&self.agreed).find(call).map(Arc::clone)
    }

    /// How many partners a rank has in a call that the team has made before.
    pub(crate) fn n_partners(&self, call: &Call, plan: &Plan, rank: u64) -> Option<u64> {
        lock(&self.agreed).n_partners(call, plan, rank)
    }

    /// Notes a call that all have made, and the most partners that any of them has, if all told.
    pub(crate) fn note_run(&self, call: &Call, rank: u64, most_partners: Option<u64>, way: Way) {
        lock(&self.agreed).note(call, rank, most_partners, way);
    }

    /// Forgets what was agreed on, and what was told: a call has failed, and ranks may have seen it
    /// differently.
    pub(crate) fn forget_agreed(&self) {
        lock(&self.agreed).clear();
        *lock(&self.last_posted) = None;
    }

    /// Gives all packed halos up, memory and all: somebody slow may still fetch from them.
    pub(crate) fn abandon_packed_halos(&self) {
        std::mem::forget(std::mem::take(&mut *lock(&self.packed_halos)));
    }

    /// The program of an earlier call that fits this one, else what `make` gives.
    ///
    /// `check` is asked first, unless the call brings the very buffers that were checked before.
    pub(crate) fn program(
        &self,
        style: Style,
        plan: &Plan,
        view: &View<'_>,
        check: impl FnOnce() -> Result<()>,
        make: impl FnOnce() -> Result<Program>,
    ) -> Result<Arc<CachedProgram>> {
        let mut programs = lock(&self.programs);
        let found = programs.iter().find(|cached| cached.fits(style, plan, view)).map(Arc::clone);
        if !found.as_ref().is_some_and(|cached| cached.has_offers(view)) {
            check()?;
        }
        if let Some(cached) = found {
            return Ok(cached);
        }
        let offers = view.offers().map(|offer| offer.map(Arc::clone)).collect();
        let cached = CachedProgram { style, plan: plan.clone(), offers, program: make()? };
        if programs.len() == MOST_PROGRAMS {
            programs.remove(0);
        }
        let cached = Arc::new(cached);
        programs.push(Arc::clone(&cached));
        Ok(cached)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CachedProgram {
    /// Whether it fits a call; where buffers lie does not matter, only how.
    fn fits(&self, style: Style, plan: &Plan, view: &View<'_>) -> bool {
        let alike = |a: &Option<Arc<Offer>>, b: Option<&Arc<Offer>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.is_like(b),
            (None, None) => true,
            _ => false,
        };
        self.style == style
            && self.offers.len() == view.members.len()
            && self.plan == *plan
            && self.offers.iter().zip(view.offers()).all(|(a, b)| alike(a, b))
    }

    /// Whether a call brings the very buffers that it was made for.
    fn has_offers(&self, view: &View<'_>) -> bool {
        let same = |a: &Option<Arc<Offer>>, b: Option<&Arc<Offer>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        self.offers.iter().zip(view.offers()).all(|(a, b)| same(a, b))
    }
}
