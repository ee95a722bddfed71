//! The posts of one round, by rank of the team.

use std::sync::Arc;

use crate::error::Failure;
use crate::mpi::wire::WirePost;
use crate::team::meeting::{Contribution, Post};

/// The posts that have come to a round so far.
#[derive(Debug, Default)]
pub(crate) struct Posts {
    by_rank: Vec<Option<Posted>>,
    n_posts: usize,
}

/// A post that has come in.
#[derive(Debug, Clone)]
pub(crate) struct Posted {
    /// One for all ranks that were told of together.
    pub post: Arc<Post<Contribution>>,
    /// Near calls that the rank has made since the round before.
    pub n_near: u64,
    /// Whether the rank itself has sent it, to everybody.
    pub is_direct: bool,
    /// What others are handed; none for failures, which their ranks send themselves.
    pub wire: Option<Arc<WirePost>>,
}

impl Posts {
    pub(crate) fn get(&self, rank: u64) -> Option<&Posted> {
        self.by_rank.get(rank as usize)?.as_ref()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_posts == 0
    }

    pub(crate) fn has(&self, rank: u64) -> bool {
        self.get(rank).is_some()
    }

    /// Whether the first ranks have all posted.
    pub(crate) fn has_all(&self, size: usize) -> bool {
        self.n_posts >= size && self.by_rank.iter().take(size).all(Option::is_some)
    }

    /// What failed, in the order of ranks.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.by_rank.iter().flatten().filter_map(|posted| posted.post.as_ref().as_ref().err())
    }

    /// Says that a rank has sent its post to everybody.
    pub(crate) fn set_direct(&mut self, rank: u64) {
        if let Some(Some(posted)) = self.by_rank.get_mut(rank as usize) {
            posted.is_direct = true;
        }
    }

    /// Puts a post, unless the rank has one; a failure overrides it: the rank gave the round up.
    pub(crate) fn put(&mut self, rank: u64, new: Posted) {
        let at = rank as usize;
        if at >= self.by_rank.len() {
            self.by_rank.resize_with(at + 1, || None);
        }
        let Some(old) = &mut self.by_rank[at] else {
            self.by_rank[at] = Some(new);
            self.n_posts += 1;
            return;
        };
        old.n_near = old.n_near.min(new.n_near);
        old.is_direct |= new.is_direct;
        if new.post.is_err() {
            (old.post, old.wire) = (new.post, None);
        } else if old.post.is_ok() && old.wire.is_none() {
            old.wire = new.wire;
        }
    }

    /// The posts of the first ranks, in their order.
    pub(crate) fn into_round(self, size: usize) -> Vec<Post<Contribution>> {
        let posted = self.by_rank.into_iter().take(size).flatten();
        posted.map(|posted| Arc::unwrap_or_clone(posted.post)).collect()
    }
}
