//! Near calls among processes: notes to partners, and waiting for theirs.
//!
//! `README.md` beside this file says when a rank gives such a call up.

use std::cell::RefCell;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use partita_mpi::Waited;

use crate::error::circle::PATIENT_FOR;
use crate::error::{Result, TeamError};
use crate::memory::process::Life;
use crate::mpi::circles::EnteredWait;
use crate::mpi::meeting::{MpiMeeting, wire_offer};
use crate::mpi::outflow::Outflow;
use crate::mpi::round::{ASK_FROM, LOOK_EVERY};
use crate::mpi::wire::{ControlMessage, NoteOf};
use crate::mpi::world::{State, broken};
use crate::team::interrupt;
use crate::team::meeting::{Meeting, Stage};
use crate::team::near::{ASK_EVERY, Coming, NearCall, NearMeeting, NearNote, NearPlace, Stuck};
use crate::team::patience::{ANSWER_WITHIN, Patience};

/// What a look at the notes has shown.
enum Found<T> {
    All(T),
    /// Some partner will not make the call.
    Stuck,
    /// Nothing yet.
    Waiting,
}

/// What a rank has seen of the others when it looked last without waiting for them.
#[derive(Debug, Default)]
pub(super) struct Watch {
    asked: Option<Instant>,
    lost: Vec<u64>,
}

impl MpiMeeting {
    fn note_of(&self, near: NearPlace) -> NoteOf {
        NoteOf { team: self.key(), near, rank: self.own_rank().team }
    }

    fn tell(&self, message: &ControlMessage, partners: impl Iterator<Item = u64>) -> Result<()> {
        let to = partners.map(|rank| self.members()[rank as usize]);
        self.world().send(&mut self.world().state(), message, to).map_err(broken)
    }

    /// Partners whose memory is in reach: only they copy, and are copied from.
    fn touching<'a>(&'a self, call: &'a NearCall<'_>) -> impl Iterator<Item = u64> + 'a {
        call.partners.iter().copied().filter(|rank| self.shares(*rank))
    }

    /// Whether nothing more can come from a rank.
    fn is_gone(&self, state: &State, rank: u64) -> bool {
        let member = self.members()[rank as usize];
        state.inbox.departed(member).is_some() || self.world().life(member) == Some(Life::Ended)
    }

    /// Whether a member is gone that had not come to its end, as two looks have shown: what it said
    /// last may still have been on its way at the first.
    fn has_lost_members(&self) -> Result<bool> {
        let mut watch = self.watch().lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if watch.asked.is_some_and(|asked| now - asked < ASK_EVERY) {
            return Ok(false);
        }
        watch.asked = Some(now);
        // Each looks after those that follow it, so somebody looks after everybody.
        let (before, after) = self.members().split_at(self.own_rank().team as usize);
        self.world().ask_after_next(&mut after.iter().chain(before).copied());
        self.world().poll().map_err(broken)?;
        let state = self.world().state();
        let is_lost = |member: &u64| match state.inbox.departed(*member) {
            Some(_) => !state.inbox.has_ended_well(*member),
            None => self.world().life(*member) == Some(Life::Ended),
        };
        let lost: Vec<u64> = self.members().iter().copied().filter(is_lost).collect();
        let before = std::mem::replace(&mut watch.lost, lost);
        Ok(watch.lost.iter().any(|member| before.contains(member)))
    }

    /// Partners that have not come to a call.
    fn missing(&self, call: &NearCall<'_>) -> Vec<u64> {
        let state = self.world().state();
        let has_come = |rank: &u64| state.inbox.near.here(self.key(), call.place, *rank).is_some();
        call.partners.iter().copied().filter(|rank| !has_come(rank)).collect()
    }

    /// For whom this rank has waited long; itself, if all have come.
    fn late(&self, call: &NearCall<'_>, waited: Duration) -> Vec<u64> {
        if waited < ANSWER_WITHIN {
            return Vec::new();
        }
        let missing = self.missing(call);
        if missing.is_empty() { vec![self.own_rank().team] } else { missing }
    }

    /// Whether all partners have come to the same call.
    fn find_here(
        &self,
        state: &State,
        call: &NearCall<'_>,
        look: &NearLook,
    ) -> Found<Vec<NearNote>> {
        let (team, place, is_due) = (self.key(), call.place, look.is_due);
        let mut notes = Vec::with_capacity(call.partners.len());
        for rank in call.partners {
            match state.inbox.near.here(team, place, *rank) {
                Some(note) if note.call == call.key => notes.push(note.clone()),
                Some(_) => return Found::Stuck,
                None if state.inbox.has_passed(team, place, *rank) => return Found::Stuck,
                None if is_due && self.is_gone(state, *rank) => return Found::Stuck,
                None => {}
            }
        }
        let gave_up = |rank: &u64| state.inbox.has_given_up(team, place, *rank);
        let is_whole = notes.len() == call.partners.len();
        if is_whole && !call.partners.iter().any(gave_up) {
            return if self.has_sent(state, look) { Found::All(notes) } else { Found::Waiting };
        }
        if state.inbox.is_stuck(team, place) { Found::Stuck } else { Found::Waiting }
    }

    /// Whether no partner copies any more.
    fn find_done(&self, state: &State, call: &NearCall<'_>, look: &NearLook) -> Found<()> {
        let (team, place) = (self.key(), call.place);
        let is_done = |rank: u64| state.inbox.near.is_done(team, place, rank);
        let is_over = |rank: u64| {
            is_done(rank)
                || state.inbox.has_given_up(team, place, rank)
                || (look.is_due && (self.is_gone(state, rank) || self.is_late(rank, look)))
        };
        let is_sent = look.is_out_of_patience || self.has_sent(state, look);
        if !self.touching(call).all(is_over) || !is_sent {
            return Found::Waiting;
        }
        if self.touching(call).all(is_done) { Found::All(()) } else { Found::Stuck }
    }

    /// Whether what this rank has sent is on its way, or waits for those that read no more.
    fn has_sent(&self, state: &State, look: &NearLook) -> bool {
        let unsent = self.world().unsent_to(state, self.members());
        look.outflow.borrow_mut().is_over(unsent, || false)
    }

    /// Whether a partner that should copy does not run: it may be given up.
    fn is_late(&self, rank: u64, look: &NearLook) -> bool {
        let member = self.members()[rank as usize];
        look.is_out_of_patience && self.world().life(member) != Some(Life::Runs)
    }

    /// Waits for what `find` finds.
    fn await_partners<T>(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        (stage, began): (Stage, Instant),
        find: impl Fn(&State, &NearLook) -> Found<T>,
    ) -> Result<Coming<T>> {
        let (mut waited, mut looked) = (Waited::since(began), began);
        let mut look = NearLook::default();
        let mut entered: Option<EnteredWait<'_>> = None;
        let mut n_polls = 0;
        loop {
            let mut state = self.world().state();
            self.world().poll_into(&mut state).map_err(broken)?;
            self.world().answer(&mut state).map_err(broken)?;
            match find(&state, &look) {
                Found::All(found) => {
                    self.cache().note_long_wait(look.waited);
                    return Ok(Coming::All(found));
                }
                Found::Stuck => {
                    drop(state);
                    let late = self.late(call, look.waited);
                    return Ok(Coming::Stuck(Stuck { waited: look.waited, late }));
                }
                Found::Waiting => {}
            }
            drop(state);
            n_polls += 1;
            look.is_due = false;
            if patience.pause(n_polls, || self.world().has_news()) {
                continue;
            }
            let now = Instant::now();
            look.waited = waited.turn(now);
            look.is_due = now - looked >= LOOK_EVERY;
            if !look.is_due {
                self.world().rest(LOOK_EVERY);
                continue;
            }
            looked = now;
            if look.waited >= ASK_FROM {
                let members =
                    self.missing(call).into_iter().map(|rank| self.members()[rank as usize]);
                self.world().ask_after(&mut members.into_iter());
            }
            look.is_out_of_patience = patience.limit.is_some_and(|limit| look.waited >= limit);
            if stage == Stage::Copying {
                // Leaving would free memory under the hands of those that copy.
                continue;
            }
            if look.is_out_of_patience {
                return Ok(Coming::Stuck(Stuck { waited: look.waited, late: self.missing(call) }));
            }
            if interrupt::is_interrupted() {
                return Err(self.interrupted_near()?);
            }
            if entered.is_none() && look.waited >= PATIENT_FOR && self.is_own_wait() {
                let members = self.shared_members();
                entered = self.world().enter_near_wait(members, call).map_err(broken)?;
            }
        }
    }

    /// Gives a near call up because the user wants it, and tells all.
    fn interrupted_near(&self) -> Result<TeamError> {
        let error = TeamError::Interrupted;
        let patience = Patience { limit: None, n_spins: 0, n_yields: 0 };
        let round = self.post(Err(error.failure(self.own_rank())), &patience)?;
        self.world().state().inbox.decide(self.key(), round);
        Ok(error)
    }
}

/// When a waiting rank looks around.
#[derive(Debug, Default)]
struct NearLook {
    waited: Duration,
    is_due: bool,
    is_out_of_patience: bool,
    outflow: RefCell<Outflow>,
}

impl NearMeeting for MpiMeeting {
    fn near_place(&self) -> NearPlace {
        self.world().state().inbox.near_place(self.key())
    }

    fn is_called_off(&self, place: NearPlace) -> Result<bool> {
        let is_lost = self.has_lost_members()?;
        Ok(is_lost || self.world().state().inbox.is_stuck(self.key(), place))
    }

    fn tell_here(&self, call: &NearCall<'_>, note: &NearNote) -> Result<()> {
        let NearNote { call: key, ref offer, slot, is_told, tag, half } = *note;
        let offer = (!is_told).then(|| wire_offer(offer));
        let place = self.note_of(call.place);
        let message = ControlMessage::Near { place, call: key, slot, tag, half, offer };
        self.tell(&message, call.partners.iter().copied())
    }

    fn await_here(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        began: Instant,
    ) -> Result<Coming<Vec<NearNote>>> {
        let find = |state: &State, look: &NearLook| self.find_here(state, call, look);
        self.await_partners(call, patience, (Stage::Arrival, began), find)
    }

    fn tell_done(&self, call: &NearCall<'_>) -> Result<()> {
        let message = ControlMessage::NearDone { place: self.note_of(call.place) };
        self.tell(&message, self.touching(call))
    }

    fn await_done(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        began: Instant,
    ) -> Result<Coming<()>> {
        let find = |state: &State, look: &NearLook| self.find_done(state, call, look);
        self.await_partners(call, patience, (Stage::Copying, began), find)
    }

    fn count_near(&self, key: u64) {
        let mut state = self.world().state();
        let place = state.inbox.near_place(self.key());
        state.inbox.near.forget(self.key(), place);
        state.inbox.count_near(self.key(), key);
    }
}
