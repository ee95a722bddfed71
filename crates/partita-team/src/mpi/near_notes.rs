//! What partners have said in near calls, sorted by call.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::mpi::wire::NoteOf;
use crate::program::offer::{Half, Offer};
use crate::team::near::{NearNote, NearPlace};

/// Notes of partners.
#[derive(Debug, Default)]
pub(crate) struct NearNotes {
    /// Few at a time: a partner is ahead by a call or two.
    calls: Vec<NearSlot>,
    /// The buffers of a rank of a team in a call, by the number under which it told them.
    offers: FxHashMap<(u64, u64, u64, u64), Arc<Offer>>,
}

/// What has been said in one call.
#[derive(Debug)]
struct NearSlot {
    team: u64,
    place: NearPlace,
    /// By rank of the team.
    here: Vec<(u64, NearNote)>,
    done: Vec<u64>,
}

impl NearNotes {
    fn slot(&mut self, team: u64, place: NearPlace) -> &mut NearSlot {
        let at = self.calls.iter().position(|slot| slot.team == team && slot.place == place);
        let at = at.unwrap_or_else(|| {
            self.calls.push(NearSlot { team, place, here: Vec::new(), done: Vec::new() });
            self.calls.len() - 1
        });
        &mut self.calls[at]
    }

    fn find(&self, team: u64, place: NearPlace) -> Option<&NearSlot> {
        self.calls.iter().find(|slot| slot.team == team && slot.place == place)
    }

    /// Takes in that a partner has come: its offer is new, or one that it told before.
    pub(crate) fn take(
        &mut self,
        NoteOf { team, near, rank }: NoteOf,
        (call, slot): (u64, u64),
        offer: Option<Arc<Offer>>,
        (tag, half): (u64, Half),
    ) {
        let key = (team, rank, call, slot);
        if let Some(offer) = offer {
            self.offers.insert(key, offer);
        }
        let Some(offer) = self.offers.get(&key).map(Arc::clone) else { return };
        let note = NearNote { call, offer, slot, is_told: true, tag, half };
        let here = &mut self.slot(team, near).here;
        if !here.iter().any(|(other, _)| *other == rank) {
            here.push((rank, note));
        }
    }

    /// Takes in that a partner has copied.
    pub(crate) fn take_done(&mut self, NoteOf { team, near, rank }: NoteOf) {
        self.slot(team, near).done.push(rank);
    }

    /// What a partner said when it came to a call, if it has.
    pub(crate) fn here(&self, team: u64, place: NearPlace, rank: u64) -> Option<&NearNote> {
        let slot = self.find(team, place)?;
        slot.here.iter().find(|(other, _)| *other == rank).map(|(_, note)| note)
    }

    /// Whether a partner has come to a later call.
    pub(crate) fn is_ahead(&self, team: u64, place: NearPlace, rank: u64) -> bool {
        let is_later = |slot: &&NearSlot| slot.team == team && slot.place > place;
        let is_its = |slot: &NearSlot| slot.here.iter().any(|(other, _)| *other == rank);
        self.calls.iter().filter(is_later).any(is_its)
    }

    /// Whether a partner has said that it has copied.
    pub(crate) fn is_done(&self, team: u64, place: NearPlace, rank: u64) -> bool {
        self.find(team, place).is_some_and(|slot| slot.done.contains(&rank))
    }

    /// Forgets a call that has ended.
    pub(crate) fn forget(&mut self, team: u64, place: NearPlace) {
        self.calls.retain(|slot| slot.team != team || slot.place != place);
    }

    /// Forgets all calls before a round that is decided.
    pub(crate) fn forget_until(&mut self, team: u64, round: u64) {
        self.calls.retain(|slot| slot.team != team || slot.place.round > round);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_by_call_and_known_offers_found_again() {
        let mut notes = NearNotes::default();
        let at = |number: u64| NearPlace { round: 4, number };
        let of = |number: u64, rank: u64| NoteOf { team: 1, near: at(number), rank };
        let offer = Arc::new(Offer::default());
        notes.take(of(0, 3), (9, 0), None, (5, Half::First));
        assert!(notes.here(1, at(0), 3).is_none(), "buffers that were never told");
        notes.take(of(0, 3), (9, 0), Some(Arc::clone(&offer)), (5, Half::First));
        notes.take(of(1, 3), (9, 0), None, (6, Half::Second));
        let later = notes.here(1, at(1), 3).expect("a partner may be ahead");
        assert!(Arc::ptr_eq(&later.offer, &offer) && later.tag == 6);
        assert!(notes.is_ahead(1, at(0), 3) && !notes.is_ahead(1, at(1), 3));
        assert!(!notes.is_ahead(1, at(0), 2) && !notes.is_ahead(2, at(0), 3));
        assert!(notes.here(1, at(0), 2).is_none() && notes.here(2, at(0), 3).is_none());
        notes.take_done(of(0, 3));
        assert!(notes.is_done(1, at(0), 3) && !notes.is_done(1, at(1), 3));
        notes.forget(1, at(0));
        assert!(notes.here(1, at(0), 3).is_none() && notes.here(1, at(1), 3).is_some());
        notes.forget_until(1, 3);
        assert!(notes.here(1, at(1), 3).is_some());
        notes.forget_until(1, 4);
        assert!(notes.here(1, at(1), 3).is_none());
    }
}
