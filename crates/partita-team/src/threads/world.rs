//! The world: all ranks of one run, who is still there, and the teams among them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use partita_mpi::n_forks;

use crate::error::cut;
use crate::team::cache::TeamCache;
use crate::team::callers::Callers;
use crate::team::meeting::Contribution;
use crate::team::patience::Patience;
use crate::team::team::Team;
use crate::threads::circles::Waits;
use crate::threads::meeting::ThreadMeeting;
use crate::threads::rendezvous::Rendezvous;

/// A rank, and the members of one of its teams.
type RankInTeam = (u64, Vec<u64>);

/// Where the ranks of one team meet.
type MeetingPoint = Arc<Rendezvous<Contribution>>;

/// What is said of ranks that leave because they have come to their end.
const RETURNED: &str = "its function has returned";

/// All ranks of one process that work together.
#[derive(Debug)]
pub struct World {
    n_ranks: u64,
    /// Where it is another, the ranks' threads are those of a parent.
    n_forks: u64,
    departures: Mutex<HashMap<u64, String>>,
    someone_left: AtomicBool,
    /// Teams of the same members in the same order meet at the same place.
    meetings: Mutex<HashMap<Arc<[u64]>, MeetingPoint>>,
    /// What each rank keeps for each of its teams.
    caches: Mutex<HashMap<RankInTeam, Arc<TeamCache>>>,
    /// The threads that make calls for each rank; the last ones are for whoever is no rank.
    callers: Vec<Arc<Callers>>,
    /// What ranks have waited for a while.
    pub(crate) waits: Mutex<Waits>,
}

impl World {
    /// A world of ranks `0..n_ranks`.
    #[must_use]
    pub fn new(n_ranks: u64) -> Arc<Self> {
        Arc::new(Self {
            n_ranks,
            n_forks: n_forks(),
            departures: Mutex::default(),
            someone_left: AtomicBool::new(false),
            meetings: Mutex::default(),
            caches: Mutex::default(),
            callers: (0..=n_ranks).map(|_| Arc::default()).collect(),
            waits: Mutex::default(),
        })
    }

    /// Number of ranks.
    #[must_use]
    pub fn n_ranks(&self) -> u64 {
        self.n_ranks
    }

    /// The team of all ranks, as one of them sees it. Call it on the thread that makes its calls.
    #[must_use]
    pub fn team(self: &Arc<Self>, rank: u64) -> Team {
        let members: Vec<u64> = (0..self.n_ranks).collect();
        self.callers(rank).enter();
        let meeting = Arc::new(ThreadMeeting::new(self, &members, rank));
        Team::new(meeting, Patience::for_ranks(self.n_ranks as usize))
    }

    /// Says that a rank will not come to any meeting any more, and why if it has not come to its end.
    pub fn leave(&self, rank: u64, why: Option<&str>) {
        // Nobody is left to tell, and a thread that is gone may hold the lock.
        if self.is_forked() {
            return;
        }
        let mut departures = self.departures.lock().unwrap_or_else(PoisonError::into_inner);
        departures.entry(rank).or_insert_with(|| cut(why.unwrap_or(RETURNED)));
        self.someone_left.store(true, Ordering::Release);
    }

    /// Whether this process was forked from that of the ranks.
    pub(crate) fn is_forked(&self) -> bool {
        self.n_forks != n_forks()
    }

    /// Why a rank has left, if it has.
    pub(crate) fn left(&self, rank: u64) -> Option<String> {
        if !self.has_departures() {
            return None;
        }
        let departures = self.departures.lock().unwrap_or_else(PoisonError::into_inner);
        departures.get(&rank).cloned()
    }

    /// Whether any rank has left.
    pub(crate) fn has_departures(&self) -> bool {
        self.someone_left.load(Ordering::Acquire)
    }

    /// Whether a rank has left without having come to its end.
    pub(crate) fn has_failed(&self, rank: u64) -> bool {
        self.left(rank).is_some_and(|why| why != RETURNED)
    }

    pub(crate) fn callers(&self, rank: u64) -> &Arc<Callers> {
        &self.callers[rank.min(self.n_ranks) as usize]
    }

    pub(crate) fn cache(&self, rank: u64, members: &[u64]) -> Arc<TeamCache> {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(caches.entry((rank, members.to_vec())).or_default())
    }

    pub(crate) fn meeting(&self, members: &[u64]) -> MeetingPoint {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        let members: Arc<[u64]> = members.into();
        let made = meetings.entry(Arc::clone(&members));
        Arc::clone(made.or_insert_with(|| Arc::new(Rendezvous::new(members))))
    }
}
