//! The inbox: what the ranks of all teams have posted, sorted by team and round.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::error::Failure;
use crate::error::circle::Circles;
use crate::memory::arena::Block;
use crate::memory::other_arena::Mapping;
use crate::mpi::near_notes::NearNotes;
use crate::mpi::posts::{Posted, Posts};
use crate::mpi::relays::Relays;
use crate::mpi::roll::Roll;
use crate::mpi::wire::{Carried, ControlMessage, PostPlace, WireBuffer, WireOffer, WirePost};
use crate::program::offer::{Offer, Offered, Openness};
use crate::team::call::{Call, CallName};
use crate::team::meeting::{Contribution, Post};
use crate::team::near::ENDED_WELL;
use crate::team::near::{NearPlace, NearSum};

/// Posts that have come in.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Ranks of the world: no team has more.
    n_world: u64,
    rounds: FxHashMap<(u64, u64), Slot>,
    teams: FxHashMap<u64, Progress>,
    /// The last buffers of each rank of each team, for those that only say "again", oldest first.
    known: FxHashMap<(u64, u64), Vec<Known>>,
    /// What partners have said in near calls.
    pub near: NearNotes,
    /// Ranks of the world that have left, and why.
    departed: FxHashMap<u64, String>,
    /// Those of them that have said so themselves.
    said_so: BTreeSet<u64>,
    /// Far ranks of the world that were given up, and have not been heard of since.
    lost: BTreeSet<u64>,
    /// Control messages of waits and circles that wait to be answered, and who sent them.
    pub news_of_waits: Vec<(u64, ControlMessage)>,
    pub circles: Circles,
}

/// What a rank told with buffers, and the round in which it told them first.
#[derive(Debug)]
struct Known {
    since: u64,
    contribution: Contribution,
}

/// The posts of one round so far.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub posts: Posts,
    /// This rank's share in carrying them to others; none before it has come.
    pub relays: Option<Relays>,
    /// What notes tell of those that have come with nothing but a call.
    pub roll: Roll,
    pub has_failed: bool,
    /// Whether a rank has sent its post to everybody: it has waited for a while.
    pub is_slow: bool,
    /// The fewest near calls that a rank has made before it came here.
    least_near: Option<u64>,
    /// When a failure was first seen.
    pub failed_since: Option<Instant>,
}

impl Slot {
    /// Whether not all ranks bring the same, as far as this one, which has come, can see: notes are not
    /// enough then.
    pub(crate) fn is_mixed(&self) -> bool {
        match self.roll.is_own() {
            true => self.roll.is_mixed() || !self.posts.is_empty(),
            false => self.roll.has_begun(),
        }
    }
}

/// A post of this rank that only some have got from itself.
#[derive(Debug, Clone)]
pub(crate) struct OwnPost {
    pub members: Arc<[u64]>,
    pub place: PostPlace,
    pub contribution: Contribution,
    /// The round in which its buffers were told first.
    pub since: u64,
}

/// Finds memory of a rank of the world.
pub(crate) type Map<'a> = dyn Fn(u64, Block) -> Option<Arc<Mapping>> + 'a;

/// How far a team has come on this rank.
#[derive(Debug, Default)]
struct Progress {
    /// Rounds that this rank has come to.
    n_come: u64,
    /// Near calls that it has made since, and those before the last round.
    near: NearSum,
    near_before: NearSum,
    /// Rounds that are decided here.
    n_decided: u64,
    /// A failure that came after its round was decided here.
    revoked: FxHashMap<u64, (u64, Failure)>,
    /// This rank's last post, if it went by other hands.
    own: Option<OwnPost>,
}

impl Inbox {
    /// An inbox in a world of that many ranks.
    pub(crate) fn new(n_world: u64) -> Self {
        Self { n_world, ..Self::default() }
    }

    /// The number of this rank's next round of a team, and its near calls since the last.
    pub(crate) fn next_round(&mut self, team: u64) -> (u64, NearSum) {
        let progress = self.teams.entry(team).or_default();
        progress.n_come += 1;
        progress.near_before = std::mem::take(&mut progress.near);
        (progress.n_come - 1, progress.near_before)
    }

    /// The near calls that this rank made before the round it came to last.
    pub(crate) fn near_before(&self, team: u64) -> NearSum {
        self.teams.get(&team).map(|progress| progress.near_before).unwrap_or_default()
    }

    /// Where this rank's next near call of a team belongs.
    pub(crate) fn near_place(&self, team: u64) -> NearPlace {
        let progress = self.teams.get(&team);
        let (round, number) = progress.map_or((0, 0), |p| (p.n_come, p.near.n_calls));
        NearPlace { round, number }
    }

    /// Counts a near call of a team.
    pub(crate) fn count_near(&mut self, team: u64, call: u64) {
        let progress = self.teams.entry(team).or_default();
        progress.near = progress.near.with(call);
    }

    /// Whether a member has come to the next round without making a near call: it never will.
    pub(crate) fn has_given_up(&self, team: u64, near: NearPlace, rank: u64) -> bool {
        let posted = self.rounds.get(&(team, near.round)).and_then(|slot| slot.posts.get(rank));
        posted.is_some_and(|posted| posted.n_near <= near.number)
    }

    /// Whether a member has gone past a near call: what it had to say of it would have come before.
    ///
    /// A post that came by other hands may have overtaken that.
    pub(crate) fn has_passed(&self, team: u64, near: NearPlace, rank: u64) -> bool {
        self.has_come_to(team, near.round, rank) || self.near.is_ahead(team, near, rank)
    }

    /// Whether a member itself has said that it has come to a round.
    pub(crate) fn has_come_to(&self, team: u64, round: u64, rank: u64) -> bool {
        let posted = self.rounds.get(&(team, round)).and_then(|slot| slot.posts.get(rank));
        posted.is_some_and(|posted| posted.is_direct)
    }

    /// Whether a near call may wait in vain: some member does not make it.
    pub(crate) fn is_stuck(&self, team: u64, near: NearPlace) -> bool {
        let slot = self.rounds.get(&(team, near.round));
        slot.and_then(|slot| slot.least_near).is_some_and(|least| least <= near.number)
    }

    /// Whether this rank, which is in no call of a team, has not come to a round or near call.
    pub(crate) fn is_before(&self, team: u64, round: u64, near: Option<u64>) -> bool {
        let place = self.near_place(team);
        match near {
            None => place.round <= round,
            Some(number) => place <= NearPlace { round, number },
        }
    }

    /// Takes in a message from a rank of the world.
    pub(crate) fn take(&mut self, message: &[u8], from: u64, map: &Map<'_>) {
        match ControlMessage::decode(message) {
            Some(message) => self.take_message(message, from, map),
            None => self.depart(from, NO_NOTE),
        }
    }

    /// Takes in a message that has been read.
    pub(crate) fn take_message(&mut self, message: ControlMessage, from: u64, map: &Map<'_>) {
        self.lost.remove(&from);
        match message {
            ControlMessage::Post { place, post } => {
                if let Some(posted) = self.posted(place, &post, true, |block| map(from, block)) {
                    self.put_posted(place, posted);
                }
            }
            ControlMessage::Relayed { team, round, carried } => {
                if self.take_relayed((team, round), &carried, map).is_none() {
                    self.depart(from, NO_NOTE);
                }
            }
            ControlMessage::Noted { team, round, n_near, number, digest } => {
                if let Some(slot) = self.slot_of((team, round), n_near) {
                    slot.roll.hear(number, digest);
                }
            }
            ControlMessage::Near { place, call, slot, tag, half, offer } => {
                let offer = offer.map(|o| Arc::new(seen(&o, |block| map(from, block))));
                self.near.take(place, (call, slot), offer, (tag, half));
            }
            ControlMessage::NearDone { place } => self.near.take_done(place),
            ControlMessage::Failed { place, failure } => self.put(place, Err(failure)),
            ControlMessage::Left { why } => {
                self.said_so.insert(from);
                self.depart(from, &why);
            }
            message => self.news_of_waits.push((from, message)),
        }
    }

    /// Takes in posts by other hands; none if they name ranks that cannot be.
    fn take_relayed(
        &mut self,
        (team, round): (u64, u64),
        carried: &[Carried],
        map: &Map<'_>,
    ) -> Option<()> {
        for Carried { rank: first, world, n_ranks, step, n_near, post } in carried {
            let last = n_ranks.checked_sub(1)?.checked_mul(*step)?.checked_add(*first)?;
            if last >= self.n_world || *step == 0 {
                return None;
            }
            let mut shared = None;
            for rank in (*first..=last).step_by(*step as usize) {
                let place = PostPlace { team, round, rank, n_near: *n_near };
                // What refers to earlier posts is another thing for every rank.
                if let Some(posted) = shared.take() {
                    self.put_posted(place, Posted::clone(&posted));
                    shared = Some(posted);
                    continue;
                }
                let Some(posted) = self.posted(place, post, false, |block| map(*world, block))
                else {
                    continue;
                };
                if !matches!(**post, WirePost::Again { .. }) && *n_ranks > 1 {
                    shared = Some(posted.clone());
                }
                self.put_posted(place, posted);
            }
        }
        Some(())
    }

    /// A post as it is kept; none if it says "again" of what this rank never got. Whoever says so
    /// says it all when it has waited a while.
    fn posted(
        &mut self,
        place: PostPlace,
        wire: &Arc<WirePost>,
        is_direct: bool,
        map: impl Fn(Block) -> Option<Arc<Mapping>>,
    ) -> Option<Posted> {
        let post = Arc::new(Ok(self.contribution(place, wire, map)?));
        Some(Posted { post, n_near: place.n_near, is_direct, wire: Some(Arc::clone(wire)) })
    }

    /// What a rank brings, with its buffers where they can be reached.
    fn contribution(
        &mut self,
        place: PostPlace,
        wire: &WirePost,
        map: impl Fn(Block) -> Option<Arc<Mapping>>,
    ) -> Option<Contribution> {
        let at = (place.team, place.rank);
        let n_calls = place.n_near;
        match *wire {
            WirePost::Done => Some(done()),
            WirePost::Again { since, tag, half, near_hash } => {
                let known = self.known_since(at, since)?;
                let (near, n_partners) = (NearSum { n_calls, hash: near_hash }, None);
                Some(Contribution { tag, half, near, n_partners, ..known.contribution.clone() })
            }
            WirePost::Full {
                tag,
                half,
                ref call,
                ref bytes,
                ref offer,
                n_partners,
                near_hash,
                arrival,
            } => {
                let since = offer.as_ref().map(|(since, _)| *since);
                let known = since.and_then(|since| self.known_since(at, since));
                let old = known.and_then(|known| known.contribution.offer.as_ref().map(Arc::clone));
                let new = || offer.as_ref().map(|(_, offer)| Arc::new(seen(offer, map)));
                let near = NearSum { n_calls, hash: near_hash };
                let (call, bytes, offer) = (call.clone(), Arc::clone(bytes), old.or_else(new));
                let contribution =
                    Contribution { call, bytes, offer, tag, half, n_partners, near, arrival };
                if let Some(since) = since {
                    self.learn(at, Known { since, contribution: contribution.clone() });
                }
                Some(contribution)
            }
        }
    }

    /// What a rank told in a round, if it is known.
    fn known_since(&self, at: (u64, u64), since: u64) -> Option<&Known> {
        self.known.get(&at)?.iter().find(|known| known.since == since)
    }

    /// Keeps what a rank has told as long as posts may come that refer to it. What comes straight and
    /// what comes by other hands overtake each other.
    fn learn(&mut self, at: (u64, u64), new: Known) {
        let n_decided = self.teams.get(&at.0).map_or(0, |progress| progress.n_decided);
        let all = self.known.entry(at).or_default();
        all.retain(|known| known.since != new.since);
        all.insert(all.partition_point(|known| known.since < new.since), new);
        // Posts of rounds that are open here refer to what was told last before them.
        let n_before = all.partition_point(|known| known.since <= n_decided);
        all.drain(..n_before.saturating_sub(1));
    }

    /// Remembers that nothing more will come from a rank of the world, and why.
    pub(crate) fn depart(&mut self, rank: u64, why: &str) {
        self.lost.remove(&rank);
        self.departed.entry(rank).or_insert_with(|| why.to_string());
    }

    /// Remembers that a far rank of the world was given up.
    pub(crate) fn lose(&mut self, rank: u64) {
        if !self.departed.contains_key(&rank) {
            self.lost.insert(rank);
        }
    }

    /// A far rank of the world that was given up, and has not been heard of since.
    pub(crate) fn lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// Puts a post into its round that its rank has sent itself, or a failure of whoever says so.
    pub(crate) fn put(&mut self, place: PostPlace, post: Post<Contribution>) {
        let n_near = place.n_near;
        self.put_posted(
            place,
            Posted { post: Arc::new(post), n_near, is_direct: true, wire: None },
        );
    }

    /// Puts a post into its round.
    pub(crate) fn put_posted(&mut self, place: PostPlace, new: Posted) {
        let progress = self.teams.entry(place.team).or_default();
        if place.round < progress.n_decided {
            if let Err(failure) = &*new.post {
                progress.revoked.insert(place.rank, (place.round, failure.clone()));
            }
            return;
        }
        // No team has such a rank.
        if place.rank >= self.n_world {
            return;
        }
        let Some(slot) = self.slot_of((place.team, place.round), new.n_near) else { return };
        slot.has_failed |= new.post.is_err();
        slot.is_slow |= new.is_direct;
        slot.posts.put(place.rank, new);
    }

    /// A round to which some rank has come after so many near calls; none if it is decided.
    pub(crate) fn slot_of(&mut self, (team, round): (u64, u64), n_near: u64) -> Option<&mut Slot> {
        let progress = self.teams.entry(team).or_default();
        if round < progress.n_decided {
            return None;
        }
        let slot = self.rounds.entry((team, round)).or_default();
        slot.least_near = Some(slot.least_near.map_or(n_near, |least| least.min(n_near)));
        Some(slot)
    }

    /// Keeps this rank's post of a round until it comes to the next one.
    pub(crate) fn keep_own(&mut self, own: OwnPost) {
        let progress = self.teams.entry(own.place.team).or_default();
        progress.own = Some(own);
    }

    /// What this rank brings to a round, if it has told nobody but those whose hands it goes by.
    pub(crate) fn own(&self, team: u64, round: u64) -> Option<&OwnPost> {
        self.teams.get(&team)?.own.as_ref().filter(|own| own.place.round == round)
    }

    /// This rank's post of a round, if it went by other hands only; it goes to everybody now.
    pub(crate) fn take_own(&mut self, team: u64, round: u64) -> Option<OwnPost> {
        self.teams.get_mut(&team)?.own.take_if(|own| own.place.round == round)
    }

    /// This rank's last posts in all teams that went by other hands only.
    pub(crate) fn take_all_own(&mut self) -> Vec<OwnPost> {
        self.teams.values_mut().filter_map(|progress| progress.own.take()).collect()
    }

    pub(crate) fn slot(&mut self, team: u64, round: u64) -> &mut Slot {
        self.rounds.entry((team, round)).or_default()
    }

    /// Why a rank of the world has left, if it has.
    pub(crate) fn departed(&self, rank: u64) -> Option<&str> {
        self.departed.get(&rank).map(String::as_str)
    }

    /// Whether a rank of the world has said itself that it leaves.
    pub(crate) fn has_said_so(&self, rank: u64) -> bool {
        self.said_so.contains(&rank)
    }

    /// Whether a rank of the world has left because it has come to its end.
    pub(crate) fn has_ended_well(&self, rank: u64) -> bool {
        self.departed(rank) == Some(ENDED_WELL)
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
        let mut failed = finish.flat_map(|slot| slot.posts.failures());
        revoked.next().or_else(|| failed.next()).cloned()
    }

    /// Counts a round that ended without this rank as one it has come to: it knows how it ended.
    pub(crate) fn pass(&mut self, team: u64, round: u64) {
        let progress = self.teams.entry(team).or_default();
        if progress.n_come == round {
            progress.n_come += 1;
            progress.near = NearSum::default();
            self.decide(team, round);
        }
    }

    /// Closes a round; gives what has come to it.
    pub(crate) fn decide(&mut self, team: u64, round: u64) -> Slot {
        let progress = self.teams.entry(team).or_default();
        progress.n_decided = progress.n_decided.max(round + 1);
        progress.revoked.retain(|_, (at, _)| *at + 1 >= round);
        let slot = self.rounds.remove(&(team, round)).unwrap_or_default();
        // Rounds that this rank left before they were decided.
        self.rounds.retain(|(t, r), _| *t != team || *r > round);
        self.near.forget_until(team, round);
        slot
    }
}

const NO_NOTE: &str = "it sent what is no note of this version of partita";

/// What a rank brings when it has copied.
pub(crate) fn done() -> Contribution {
    Contribution::new(Call::new(CallName::RunFinished))
}

/// Another rank's buffers, with addresses where its memory can be reached.
fn seen(offer: &WireOffer, map: impl Fn(Block) -> Option<Arc<Mapping>>) -> Offer {
    let offered = |wire: &WireBuffer| {
        let mut buffer = wire.buffer.clone();
        let Some((block, start)) = wire.in_arena else {
            return Offered::new(&buffer, Openness::Closed);
        };
        let start = usize::try_from(start).ok().filter(|start| *start <= block.n_bytes);
        let found = start.and_then(|start| Some((map(block)?, start)));
        let Some((mapping, start)) = found else {
            return Offered::new(&buffer, Openness::Open);
        };
        buffer.address = mapping.address() + start;
        let mapped = Some((mapping.address(), mapping.address() + block.n_bytes));
        let keep: Option<Arc<dyn Any + Send + Sync>> = Some(mapping);
        Offered { buffer, openness: Openness::Open, mapped, keep }
    };
    Offer {
        sources: offer.sources.iter().map(offered).collect(),
        targets: offer.targets.iter().map(offered).collect(),
        packed_halo: offer.packed_halo.as_ref().map(offered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{FailureKind, Rank};
    use crate::memory::arena::Arena;
    use crate::memory::buffer::{Access, Buffer};
    use crate::memory::other_arena::OtherArena;
    use crate::program::offer::Half;
    use crate::team::meeting::Arrival;

    /// A buffer of 2 x 3 numbers of 8 bytes in a block.
    fn buffer_at(block: Block, start: u64, shape: &[u64], strides: &[isize]) -> WireBuffer {
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        let buffer = Buffer { address: 0, shape, strides, access: Access::Write };
        WireBuffer { buffer, in_arena: Some((block, start)) }
    }

    #[test]
    fn buffers_that_lie_outside_their_memory_do_not_fit() {
        let arena = Arena::make().expect("memory files");
        let block = arena.take(4096).expect("room");
        let other = OtherArena::open(arena.address().expect("a file")).expect("our own");
        let beyond = Block { offset: 1 << 50, n_bytes: 4096 };
        let crooked = Block { offset: block.offset + 1, ..block };
        let endless = Block { n_bytes: usize::MAX, ..block };
        let cases: [(WireBuffer, bool, bool); 11] = [
            (buffer_at(block, 0, &[2, 3], &[24, 8]), true, true),
            (buffer_at(block, 4096 - 48, &[2, 3], &[24, 8]), true, true),
            (buffer_at(block, 40, &[2, 3], &[-24, -8]), true, true),
            (buffer_at(block, 4096 - 40, &[2, 3], &[24, 8]), true, false),
            (buffer_at(block, 32, &[2, 3], &[-24, -8]), true, false),
            (buffer_at(block, 0, &[2, 3], &[1 << 40, 8]), true, false),
            (buffer_at(block, 0, &[2, 3], &[isize::MIN, isize::MAX]), true, false),
            (buffer_at(block, 0, &[3, 2], &[24, 8]), true, false),
            (buffer_at(block, u64::MAX, &[2, 3], &[24, 8]), false, true),
            (buffer_at(beyond, 0, &[2, 3], &[24, 8]), false, true),
            (buffer_at(crooked, 0, &[2, 3], &[24, 8]), false, true),
        ];
        let look = |wire: WireBuffer| {
            let offer = WireOffer { sources: vec![wire], targets: vec![], packed_halo: None };
            seen(&offer, |block| other.map(block)).sources.remove(0)
        };
        for (number, (wire, is_mapped, fits)) in cases.into_iter().enumerate() {
            let found = look(wire);
            assert_eq!(found.mapped.is_some(), is_mapped, "case {number}");
            assert_eq!(found.buffer.address != 0, is_mapped, "case {number}");
            assert_eq!(found.fits(&[2, 3], 8), fits, "case {number}");
        }
        assert_eq!(look(buffer_at(endless, 0, &[2, 3], &[24, 8])).buffer.address, 0);
    }

    #[test]
    fn what_was_told_is_known_whatever_overtakes_it() {
        let mut inbox = Inbox::new(8);
        let place = |round: u64| PostPlace { team: 1, round, rank: 2, n_near: 0 };
        let full = |since: u64| {
            let offer = WireOffer { sources: vec![], targets: vec![], packed_halo: None };
            Arc::new(WirePost::Full {
                tag: 0,
                half: Half::First,
                call: Call::new(CallName::Run),
                bytes: Arc::default(),
                offer: Some((since, offer)),
                n_partners: None,
                near_hash: 0,
                arrival: Arrival::default(),
            })
        };
        let carried = |round: u64, post: Arc<WirePost>| {
            let one = Carried { rank: 2, world: 2, n_ranks: 1, step: 1, n_near: 0, post };
            ControlMessage::Relayed { team: 1, round, carried: vec![one] }
        };
        let nowhere: &Map<'_> = &|_, _| None;
        let again = |since: u64| {
            Arc::new(WirePost::Again { since, tag: 0, half: Half::Second, near_hash: 0 })
        };
        let straight = |round: u64, post| ControlMessage::Post { place: place(round), post };
        for round in 0..5 {
            inbox.decide(1, round);
        }
        // Older words that come straight, and newer ones.
        inbox.take_message(carried(5, full(5)), 1, nowhere);
        inbox.take_message(straight(3, full(3)), 2, nowhere);
        inbox.take_message(straight(7, full(7)), 2, nowhere);
        inbox.take_message(carried(6, again(5)), 1, nowhere);
        inbox.take_message(straight(8, again(7)), 2, nowhere);
        for round in 5..9 {
            assert!(inbox.slot(1, round).posts.has(2), "round {round}");
            inbox.decide(1, round);
        }
        inbox.take_message(straight(9, full(9)), 2, nowhere);
        assert_eq!(inbox.known[&(1, 2)].len(), 1);
    }

    #[test]
    fn whoever_sends_nonsense_has_left() {
        let mut inbox = Inbox::new(8);
        let nowhere: &Map<'_> = &|_, _| None;
        inbox.take(&[1, 2, 3], 4, nowhere);
        assert!(inbox.departed(4).is_some_and(|why| why.contains("no note")));
        let place = PostPlace { team: 1, round: 0, rank: 99, n_near: 0 };
        let failure = Failure::new(Rank::new(99, 99), FailureKind::Raised, "");
        inbox.take(&ControlMessage::Failed { place, failure }.encode(), 5, nowhere);
        assert_eq!(inbox.departed(5), None);
        let odd = [(3, 7, 2, 1), (2, u64::MAX, 2, 1), (1, 0, 3, 4), (0, 0, 2, 0), (6, 0, 0, 1)];
        for (sender, rank, n_ranks, step) in odd {
            let (world, n_near, post) = (0, 0, Arc::new(WirePost::Done));
            let carried = vec![Carried { rank, world, n_ranks, step, n_near, post }];
            let message = ControlMessage::Relayed { team: 1, round: 0, carried };
            inbox.take(&message.encode(), sender, nowhere);
            assert!(inbox.departed(sender).is_some(), "a world of 8 ranks has no team of 9");
        }
    }
}
