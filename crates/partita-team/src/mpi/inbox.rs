//! The inbox: what the ranks of all teams have posted, sorted by team and round.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::arena::Block;
use crate::call::Call;
use crate::circle::Circles;
use crate::error::Failure;
use crate::foreign::Mapping;
use crate::meeting::{Parcel, Post};
use crate::mpi::node::Neighbour;
use crate::mpi::wire::{Draft, Drafts, Note, Place};
use crate::reach::{Door, Offer, Offered};

/// Posts that have come in.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    rounds: HashMap<(u64, u64), Slot>,
    teams: HashMap<u64, Progress>,
    /// The last full parcel of each rank of each team, for those that only say "again".
    known: HashMap<(u64, u64), Parcel>,
    /// Ranks of the world that have left, and why.
    departed: HashMap<u64, String>,
    /// Notes of waits and circles that wait to be answered, and who sent them.
    pub news_of_waits: Vec<(u64, Note)>,
    pub circles: Circles,
}

/// The posts of one round so far, by rank of the team.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub posts: HashMap<u64, Post<Parcel>>,
    /// When a failure was first seen.
    pub failed_since: Option<Instant>,
}

/// How far a team has come on this rank.
#[derive(Debug, Default)]
struct Progress {
    /// Rounds that this rank has come to.
    n_come: u64,
    /// Rounds that are decided here.
    n_decided: u64,
    /// A failure that came after its round was decided here.
    revoked: HashMap<u64, (u64, Failure)>,
}

impl Inbox {
    /// The number of this rank's next round of a team.
    pub(crate) fn next_round(&mut self, team: u64) -> u64 {
        let progress = self.teams.entry(team).or_default();
        progress.n_come += 1;
        progress.n_come - 1
    }

    /// The number that this rank's next round will have.
    pub(crate) fn coming_round(&self, team: u64) -> u64 {
        self.teams.get(&team).map_or(0, |progress| progress.n_come)
    }

    /// Takes in a note from a rank of the world.
    pub(crate) fn take(&mut self, note: &[u8], from: u64, neighbour: Option<&Neighbour>) {
        match Note::decode(note) {
            Some(Note::Post { place, tag, call, bytes, offer }) => {
                let map = |block: Block| neighbour?.map(block);
                let offer = offer.map(|drafts| Arc::new(seen(&drafts, map)));
                let parcel = Parcel { call, bytes: bytes.into(), offer, tag };
                if parcel.offer.is_some() {
                    self.known.insert((place.team, place.rank), parcel.clone());
                }
                self.put(place, Ok(parcel));
            }
            Some(Note::Again { place, tag }) => {
                if let Some(known) = self.known.get(&(place.team, place.rank)) {
                    self.put(place, Ok(Parcel { tag, ..known.clone() }));
                }
            }
            Some(Note::Done { place }) => self.put(place, Ok(done())),
            Some(Note::Failed { place, failure }) => self.put(place, Err(failure)),
            Some(Note::Left { why }) => {
                self.depart(from, &why);
            }
            Some(note) => self.news_of_waits.push((from, note)),
            None => self.depart(from, "it sent what is no note of this version of partita"),
        }
    }

    /// Notes that nothing more will come from a rank of the world, and why.
    pub(crate) fn depart(&mut self, rank: u64, why: &str) {
        self.departed.entry(rank).or_insert_with(|| why.to_string());
    }

    /// Puts a post into its round.
    pub(crate) fn put(&mut self, place: Place, post: Post<Parcel>) {
        let progress = self.teams.entry(place.team).or_default();
        if place.round < progress.n_decided {
            if let Err(failure) = post {
                progress.revoked.insert(place.rank, (place.round, failure));
            }
            return;
        }
        let posts = &mut self.rounds.entry((place.team, place.round)).or_default().posts;
        // A failure overrides what the rank posted before: it gave the round up.
        if post.is_err() || !posts.contains_key(&place.rank) {
            posts.insert(place.rank, post);
        }
    }

    pub(crate) fn slot(&mut self, team: u64, round: u64) -> &mut Slot {
        self.rounds.entry((team, round)).or_default()
    }

    /// Why a rank of the world has left, if it has.
    pub(crate) fn departed(&self, rank: u64) -> Option<&str> {
        self.departed.get(&rank).map(String::as_str)
    }

    /// Why a rank gave up a round that was decided here, if it did.
    pub(crate) fn revoked(&self, team: u64, rank: u64, round: u64) -> Option<&Failure> {
        let (at, failure) = self.teams.get(&team)?.revoked.get(&rank)?;
        (*at == round).then_some(failure)
    }

    /// Any failure that ends a call whose first round was this one.
    pub(crate) fn ended(&self, team: u64, round: u64) -> Option<Failure> {
        let revoked = self.teams.get(&team).into_iter().flat_map(|p| p.revoked.values());
        let mut revoked = revoked.filter(|(at, _)| *at == round).map(|(_, failure)| failure);
        let finish = self.rounds.get(&(team, round + 1)).into_iter();
        let mut failed =
            finish.flat_map(|slot| slot.posts.values()).filter_map(|p| p.as_ref().err());
        revoked.next().or_else(|| failed.next()).cloned()
    }

    /// Counts a round that ended without this rank as one it has come to: it knows how it ended.
    pub(crate) fn pass(&mut self, team: u64, round: u64) {
        let progress = self.teams.entry(team).or_default();
        if progress.n_come == round {
            progress.n_come += 1;
            self.decide(team, round);
        }
    }

    /// Closes a round; gives what was posted.
    pub(crate) fn decide(&mut self, team: u64, round: u64) -> HashMap<u64, Post<Parcel>> {
        let progress = self.teams.entry(team).or_default();
        progress.n_decided = progress.n_decided.max(round + 1);
        progress.revoked.retain(|_, (at, _)| *at + 1 >= round);
        let posts = self.rounds.remove(&(team, round)).unwrap_or_default().posts;
        // Rounds that this rank left before they were decided.
        self.rounds.retain(|(t, r), _| *t != team || *r > round);
        posts
    }
}

/// What a rank brings when it has copied.
pub(crate) fn done() -> Parcel {
    Parcel::new(Call::new("run finished"))
}

/// Another rank's buffers, with addresses where its memory can be reached.
fn seen(drafts: &Drafts, map: impl Fn(Block) -> Option<Arc<Mapping>>) -> Offer {
    let offered = |draft: &Draft| {
        let mut buffer = draft.buffer.clone();
        let Some((block, start)) = draft.home else {
            return Offered::new(&buffer, Door::Closed);
        };
        let start = usize::try_from(start).ok().filter(|start| *start <= block.n_bytes);
        let found = start.and_then(|start| Some((map(block)?, start)));
        let Some((mapping, start)) = found else {
            return Offered::new(&buffer, Door::Open);
        };
        buffer.address = mapping.address() + start;
        let room = Some((mapping.address(), mapping.address() + block.n_bytes));
        let keep: Option<Arc<dyn Any + Send + Sync>> = Some(mapping);
        Offered { buffer, door: Door::Open, room, keep }
    };
    Offer {
        sources: drafts.sources.iter().map(offered).collect(),
        targets: drafts.targets.iter().map(offered).collect(),
        porch: drafts.porch.as_ref().map(offered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::buffer::{Access, Buffer};
    use crate::error::{FailureKind, Rank};
    use crate::foreign::Foreign;

    /// A draft of 2 x 3 numbers of 8 bytes in a block.
    fn draft(block: Block, start: u64, shape: &[u64], strides: &[isize]) -> Draft {
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        let buffer = Buffer { address: 0, shape, strides, access: Access::Write };
        Draft { buffer, home: Some((block, start)) }
    }

    #[test]
    fn buffers_that_lie_outside_their_memory_do_not_fit() {
        let arena = Arena::make().expect("memory files");
        let block = arena.take(4096).expect("room");
        let foreign = Foreign::open(arena.address().expect("a file")).expect("our own");
        let beyond = Block { offset: 1 << 50, n_bytes: 4096 };
        let crooked = Block { offset: block.offset + 1, ..block };
        let endless = Block { n_bytes: usize::MAX, ..block };
        let cases: [(Draft, bool, bool); 11] = [
            (draft(block, 0, &[2, 3], &[24, 8]), true, true),
            (draft(block, 4096 - 48, &[2, 3], &[24, 8]), true, true),
            (draft(block, 40, &[2, 3], &[-24, -8]), true, true),
            (draft(block, 4096 - 40, &[2, 3], &[24, 8]), true, false),
            (draft(block, 32, &[2, 3], &[-24, -8]), true, false),
            (draft(block, 0, &[2, 3], &[1 << 40, 8]), true, false),
            (draft(block, 0, &[2, 3], &[isize::MIN, isize::MAX]), true, false),
            (draft(block, 0, &[3, 2], &[24, 8]), true, false),
            (draft(block, u64::MAX, &[2, 3], &[24, 8]), false, true),
            (draft(beyond, 0, &[2, 3], &[24, 8]), false, true),
            (draft(crooked, 0, &[2, 3], &[24, 8]), false, true),
        ];
        let look = |draft: Draft| {
            let drafts = Drafts { sources: vec![draft], targets: vec![], porch: None };
            seen(&drafts, |block| foreign.map(block)).sources.remove(0)
        };
        for (number, (draft, is_mapped, fits)) in cases.into_iter().enumerate() {
            let found = look(draft);
            assert_eq!(found.room.is_some(), is_mapped, "case {number}");
            assert_eq!(found.buffer.address != 0, is_mapped, "case {number}");
            assert_eq!(found.fits(&[2, 3], 8), fits, "case {number}");
        }
        assert_eq!(look(draft(endless, 0, &[2, 3], &[24, 8])).buffer.address, 0);
    }

    #[test]
    fn whoever_sends_nonsense_has_left() {
        let mut inbox = Inbox::default();
        inbox.take(&[1, 2, 3], 4, None);
        assert!(inbox.departed(4).is_some_and(|why| why.contains("no note")));
        let place = Place { team: 1, round: 0, rank: 99 };
        let failure = Failure::new(Rank { team: 99, world: 99 }, FailureKind::Raised, "");
        inbox.take(&Note::Failed { place, failure }.encode(), 5, None);
        assert_eq!(inbox.departed(5), None);
    }
}
