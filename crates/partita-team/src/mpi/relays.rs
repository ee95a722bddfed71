//! Relays: how what all bring to a round reaches all by few messages.
//!
//! In a large team nobody sends its post to everybody. Each rank hands what it has to the next three
//! ranks; when it has its own post and those of the three before it, it hands these four to the ranks
//! 4, 8 and 12 further on; then sixteen to those 16, 32 and 48 further on; and so on around the team.
//! Every post comes to every rank once. A rank sends three messages for each factor of four in the
//! size of the team, and waits as often.
//!
//! "Next" is meant around the nodes: ranks of one node follow each other here, however a launcher has
//! dealt them out, so that the first steps stay within the nodes.
//!
//! Ranks that follow each other and bring the same are told of in a few words, so that a message of a
//! barrier is as short for a thousand ranks as for one.

use std::sync::Arc;

use crate::mpi::posts::Posts;
use crate::mpi::wire::{Carried, ControlMessage};

/// By how much the ranks that a rank knows of grow with every step.
pub(crate) const RADIX: u64 = 4;

/// Whether posts of a team of this size go by other hands.
pub(crate) fn is_relayed(size: u64) -> bool {
    size > RADIX
}

/// Ranks of a team as they follow each other around the nodes.
#[derive(Debug)]
pub(crate) struct Order {
    ranks: Vec<u64>,
    /// Where each rank is among them.
    places: Vec<u64>,
}

impl Order {
    /// None where ranks follow each other as they are numbered.
    pub(crate) fn around(nodes: &[u64]) -> Option<Arc<Self>> {
        let mut ranks: Vec<u64> = (0..nodes.len() as u64).collect();
        // The node of rank 0 first, then that of the first rank that is not there, and so on.
        let first = |rank: &u64| {
            let node = nodes[*rank as usize];
            nodes.iter().position(|other| *other == node)
        };
        ranks.sort_by_cached_key(first);
        if ranks.is_sorted() {
            return None;
        }
        let mut places = vec![0; ranks.len()];
        for (place, rank) in (0..).zip(&ranks) {
            places[*rank as usize] = place;
        }
        Some(Arc::new(Self { ranks, places }))
    }
}

/// Where a rank stands among those of its team.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    order: Option<Arc<Order>>,
    place: u64,
    size: u64,
}

impl Standing {
    pub(crate) fn new(rank: u64, size: u64, order: Option<&Arc<Order>>) -> Self {
        let place = order.map_or(rank, |order| order.places[rank as usize]);
        Self { order: order.map(Arc::clone), place, size }
    }

    /// Ranks of the team.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The rank so many before this one, around the team.
    pub(crate) fn before(&self, n: u64) -> u64 {
        self.rank_at(self.place + self.size - n)
    }

    /// The rank so many after this one, around the team.
    pub(crate) fn after(&self, n: u64) -> u64 {
        self.rank_at(self.place + n)
    }

    fn rank_at(&self, place: u64) -> u64 {
        let place = if place < self.size { place } else { place - self.size };
        self.order.as_ref().map_or(place, |order| order.ranks[place as usize])
    }
}

/// One rank's share in carrying the posts of a round.
#[derive(Debug)]
pub(crate) struct Relays {
    standing: Standing,
    /// What this rank hands on next: the posts of so many ranks, up to itself, to ranks so far away.
    stride: u64,
    /// How many of these it has, from itself backwards.
    n_ready: u64,
}

/// The same posts for some ranks of the team.
#[derive(Debug)]
pub(crate) struct Batch {
    pub to: Vec<u64>,
    pub carried: Vec<Carried>,
}

impl Batch {
    pub(crate) fn message(self, team: u64, round: u64) -> ControlMessage {
        ControlMessage::Relayed { team, round, carried: self.carried }
    }
}

impl Relays {
    pub(crate) fn new(standing: &Standing) -> Self {
        Self { standing: standing.clone(), stride: 1, n_ready: 0 }
    }

    /// What this rank is to send now; none if it has not got what it hands on next.
    ///
    /// What a rank has sent to everybody itself is not handed on.
    pub(crate) fn next(&mut self, posts: &Posts, members: &[u64]) -> Option<Vec<Batch>> {
        if self.stride >= self.standing.size {
            return None;
        }
        let is_here =
            |back| posts.get(self.standing.before(back)).is_some_and(|one| one.wire.is_some());
        let mut n_ready = self.n_ready;
        while n_ready < self.stride && is_here(n_ready) {
            n_ready += 1;
        }
        self.n_ready = n_ready;
        if n_ready < self.stride {
            return None;
        }
        let batches = self.batches(posts, members);
        self.stride *= RADIX;
        Some(batches)
    }

    fn batches(&self, posts: &Posts, members: &[u64]) -> Vec<Batch> {
        let (mut batches, size): (Vec<(u64, Batch)>, _) = (Vec::new(), self.standing.size);
        for far in (1..RADIX).map(|n| n * self.stride).filter(|far| *far < size) {
            let to = self.standing.after(far);
            // Ranks further back than that are nearer to it the other way around.
            let n_posts = self.stride.min(size - far);
            if let Some((_, batch)) = batches.iter_mut().find(|(n, _)| *n == n_posts) {
                batch.to.push(to);
                continue;
            }
            let carried = self.carried(n_posts, posts, members);
            batches.push((n_posts, Batch { to: vec![to], carried }));
        }
        batches.into_iter().map(|(_, batch)| batch).filter(|b| !b.carried.is_empty()).collect()
    }

    /// The posts of the last ranks up to this one.
    fn carried(&self, n_posts: u64, posts: &Posts, members: &[u64]) -> Vec<Carried> {
        let mut all: Vec<Carried> = Vec::new();
        for rank in (0..n_posts).rev().map(|back| self.standing.before(back)) {
            let Some(posted) = posts.get(rank).filter(|posted| !posted.is_direct) else { continue };
            let (Some(post), n_near) = (&posted.wire, posted.n_near) else { continue };
            let is_like = |last: &&mut Carried| {
                last.n_near == n_near
                    && post.is_anybodys()
                    && (Arc::ptr_eq(&last.post, post) || last.post == *post)
            };
            if !all.last_mut().filter(is_like).is_some_and(|last| last.goes_on_with(rank)) {
                let world = members.get(rank as usize).copied().unwrap_or(u64::MAX);
                let post = Arc::clone(post);
                all.push(Carried { rank, world, n_ranks: 1, step: 1, n_near, post });
            }
        }
        all
    }
}

impl Carried {
    /// Takes a rank in if it follows at the distance of those before it; says whether it did.
    fn goes_on_with(&mut self, rank: u64) -> bool {
        let step = if self.n_ranks == 1 { rank.checked_sub(self.rank) } else { Some(self.step) };
        let Some(step) = step.filter(|step| self.rank + self.n_ranks * step == rank) else {
            return false;
        };
        self.step = step;
        self.n_ranks += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::wire::WirePost;

    #[test]
    fn ranks_of_a_node_follow_each_other() {
        assert!(Order::around(&[0, 0, 0, 3, 3, 5]).is_none());
        assert!(Order::around(&[0, 1, 2]).is_none());
        assert!(Order::around(&[]).is_none());
        let dealt = Order::around(&[0, 1, 2, 0, 1, 2, 0]).expect("an order");
        assert_eq!(dealt.ranks, [0, 3, 6, 1, 4, 2, 5]);
        assert_eq!(dealt.places, [0, 3, 5, 1, 4, 6, 2]);
    }

    #[test]
    fn ranks_at_one_distance_are_told_of_together() {
        let told = |ranks: &[u64]| {
            let post = Arc::new(WirePost::Done);
            let mut one =
                Carried { rank: ranks[0], world: 0, n_ranks: 1, step: 1, n_near: 0, post };
            let n_taken = ranks[1..].iter().take_while(|rank| one.goes_on_with(**rank)).count();
            (one.step, one.n_ranks, n_taken + 1 == ranks.len())
        };
        assert_eq!(told(&[4, 5, 6]), (1, 3, true));
        assert_eq!(told(&[1, 5, 9, 13]), (4, 4, true));
        assert_eq!(told(&[1, 5, 6]), (4, 2, false));
        assert_eq!(told(&[5, 1]), (1, 1, false));
        assert_eq!(told(&[2]), (1, 1, true));
    }
}
