//! The rendezvous: every rank posts something, then every rank sees what all have posted.
//!
//! `README.md` beside this file has the states and the races. In short: a round is complete when
//! every rank has posted, or when somebody posted for those that will not come. What was posted is
//! kept until every rank has passed the round, so a late reader never sees a later round.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Failure, FailureKind, Rank};
use crate::team::meeting::{Post, Round, Stage};
use crate::team::near::{NearPlace, NearSum};
use crate::team::patience::{GRACE, Patience};
use crate::threads::near::NearBox;
use crate::threads::sync::{AtomicU64, Condvar, Mutex, MutexGuard};
use crate::threads::world::World;

/// How often a sleeping rank looks whether others have left.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A meeting point of a fixed number of ranks.
#[derive(Debug)]
pub(crate) struct Rendezvous<T> {
    members: Arc<[u64]>,
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Rounds completed, readable without the lock.
    n_rounds: AtomicU64,
    /// Where partners tell each rank of near calls.
    boxes: Vec<NearBox>,
}

#[derive(Debug)]
struct State<T> {
    n_rounds: u64,
    current: Vec<Option<Post<T>>>,
    /// Rounds that each rank has posted to, or had posted for it.
    n_posted: Vec<u64>,
    /// Rounds that each rank has come to itself.
    n_come: Vec<u64>,
    /// The newest completed rounds, oldest first.
    completed: VecDeque<Arc<Vec<Post<T>>>>,
    /// When a waiting rank first saw a failure in the current round.
    failed_since: Option<Instant>,
    /// The near calls of each rank since the round it came to last.
    near: Vec<NearSum>,
    /// How many it had made when it came to the current round.
    n_near: Vec<Option<u64>>,
}

impl<T> Rendezvous<T> {
    /// A meeting point of these members of the world, in this order.
    pub(crate) fn new(members: Arc<[u64]>) -> Self {
        let n = members.len();
        let state = State {
            n_rounds: 0,
            current: (0..n).map(|_| None).collect(),
            n_posted: vec![0; n],
            n_come: vec![0; n],
            completed: VecDeque::new(),
            failed_since: None,
            near: vec![NearSum::default(); n],
            n_near: vec![None; n],
        };
        Self {
            boxes: (0..n).map(|_| NearBox::new()).collect(),
            members,
            state: Mutex::new(state),
            changed: Condvar::new(),
            n_rounds: AtomicU64::new(0),
        }
    }

    pub(crate) fn members(&self) -> &Arc<[u64]> {
        &self.members
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A panic under the lock would be ours; the state is consistent between statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts for this round; gives its number.
    ///
    /// A rank that others gave up on finds its round complete: it gets that round's number, and
    /// what it brought is dropped. A rank that posted and went on without waiting, as one that
    /// failed does, waits here until that round is complete: it has one place in the current round.
    pub(crate) fn post(
        &self,
        rank: usize,
        post: Post<T>,
        world: &World,
        patience: &Patience,
    ) -> u64 {
        let mut state = self.lock();
        let round = state.n_come[rank];
        if state.n_rounds < round {
            drop(state);
            self.wait(round - 1, world, patience, Stage::Arrival);
            state = self.lock();
        }
        state.n_come[rank] += 1;
        let near = std::mem::take(&mut state.near[rank]);
        if state.n_posted[rank] == round {
            state.n_near[rank] = Some(near.n_calls);
            state.current[rank] = Some(post);
            state.n_posted[rank] += 1;
            self.complete_if_full(&mut state);
        }
        round
    }

    fn complete_if_full(&self, state: &mut State<T>) {
        if state.current.iter().any(Option::is_none) {
            return;
        }
        let posts = state.current.iter_mut().filter_map(Option::take).collect();
        state.completed.push_back(Arc::new(posts));
        state.n_rounds += 1;
        state.failed_since = None;
        state.n_near.fill(None);
        let slowest = state.n_come.iter().copied().min().unwrap_or(0);
        // The slowest rank may still wait in the round it came to last.
        let needed = state.n_rounds - slowest.saturating_sub(1).min(state.n_rounds);
        while state.completed.len() as u64 > needed {
            state.completed.pop_front();
        }
        self.n_rounds.store(state.n_rounds, Ordering::Release);
        self.changed.notify_all();
    }

    /// Waits until a round is complete; gives what all ranks brought.
    pub(crate) fn wait(
        &self,
        round: u64,
        world: &World,
        patience: &Patience,
        stage: Stage,
    ) -> Round<T> {
        self.wait_and_look(round, world, patience, stage, || ())
    }

    /// The same; `look` is called, without the lock, every time this rank looks around.
    pub(crate) fn wait_and_look(
        &self,
        round: u64,
        world: &World,
        patience: &Patience,
        stage: Stage,
        mut look: impl FnMut(),
    ) -> Round<T> {
        let is_done = || self.n_rounds.load(Ordering::Acquire) > round;
        if is_done() {
            return self.taken(&self.lock(), round);
        }
        let deadline = patience.deadline().filter(|_| stage == Stage::Arrival);
        if patience.poll(is_done) {
            return self.taken(&self.lock(), round);
        }
        let mut state = self.lock();
        while state.n_rounds <= round {
            let (next, _) = self
                .changed
                .wait_timeout(state, LOOK_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if state.n_rounds <= round {
                self.stand_in(&mut state, world, deadline, stage);
            }
            if state.n_rounds <= round {
                drop(state);
                look();
                state = self.lock();
            }
        }
        self.taken(&state, round)
    }

    fn taken(&self, state: &State<T>, round: u64) -> Round<T> {
        let behind = (state.n_rounds - round) as usize;
        Round::Each(Arc::clone(&state.completed[state.completed.len() - behind]))
    }

    /// Posts failures for ranks that have left, for all missing ones after the deadline, and for
    /// those that cannot change the verdict any more since another rank has failed.
    fn stand_in(
        &self,
        state: &mut State<T>,
        world: &World,
        deadline: Option<Instant>,
        stage: Stage,
    ) {
        let now = Instant::now();
        let is_late = deadline.is_some_and(|deadline| now >= deadline);
        let failed = self.failed(state, now).filter(|_| stage == Stage::Arrival);
        for rank in 0..self.members.len() {
            if state.current[rank].is_some() {
                continue;
            }
            let named = Rank::new(rank as u64, self.members[rank]);
            let stands_for = |kind, message: &str| Failure::new(named, kind, message);
            let left = world.left(self.members[rank]);
            let left = left.map(|message| stands_for(FailureKind::Left, &message));
            let late = || stands_for(FailureKind::Late, "it did not come in time");
            let failure = left.or_else(|| failed.clone()).or_else(|| is_late.then(late));
            if let Some(failure) = failure {
                state.current[rank] = Some(Err(failure));
                state.n_posted[rank] += 1;
            }
        }
        self.complete_if_full(state);
    }

    /// Members that have not posted to a round, as ranks of the world; none if it is complete, or
    /// will soon be because somebody has failed.
    pub(crate) fn missing(&self, round: u64) -> Vec<u64> {
        let state = self.lock();
        if state.n_rounds != round || state.current.iter().flatten().any(Result::is_err) {
            return Vec::new();
        }
        let members = self.members.iter().zip(&state.current);
        members.filter(|(_, post)| post.is_none()).map(|(member, _)| *member).collect()
    }

    /// Reads what a rank has brought to a round that is still open.
    pub(crate) fn read<R>(&self, rank: usize, round: u64, read: impl Fn(&T) -> R) -> Option<R> {
        let state = self.lock();
        let post = state.current[rank].as_ref().filter(|_| state.n_rounds == round)?;
        post.as_ref().ok().map(read)
    }

    /// Ends a round, if it is still open: posts a failure for every rank that is missing.
    pub(crate) fn end(&self, round: u64, failure: impl Fn(u64) -> Failure) {
        let mut state = self.lock();
        if state.n_rounds != round {
            return;
        }
        for rank in 0..self.members.len() {
            if state.current[rank].is_none() {
                state.current[rank] = Some(Err(failure(rank as u64)));
                state.n_posted[rank] += 1;
            }
        }
        self.complete_if_full(&mut state);
    }

    /// Counts a round that ended without a rank as one it has come to: it knows how it ended.
    pub(crate) fn pass(&self, rank: usize, round: u64) {
        let mut state = self.lock();
        if state.n_come[rank] == round && state.n_posted[rank] > round {
            state.n_come[rank] += 1;
            state.near[rank] = NearSum::default();
        }
    }

    /// Where partners tell a rank of near calls.
    pub(crate) fn near_box(&self, rank: u64) -> &NearBox {
        &self.boxes[rank as usize]
    }

    /// The near calls of a rank since the round it came to last, and where its next belongs.
    pub(crate) fn near(&self, rank: usize) -> (NearSum, NearPlace) {
        let state = self.lock();
        let (sum, round) = (state.near[rank], state.n_come[rank]);
        (sum, NearPlace { round, number: sum.n_calls })
    }

    /// Counts a near call of a rank.
    pub(crate) fn count_near(&self, rank: usize, call: u64) {
        let mut state = self.lock();
        state.near[rank] = state.near[rank].with(call);
    }

    /// Whether a near call may wait in vain: some member does not make it, or a partner whose note
    /// is missing has gone past it.
    pub(crate) fn is_stuck(&self, place: NearPlace, missing: &[u64]) -> bool {
        let state = self.lock();
        let is_past = |rank: &u64| {
            let rank = *rank as usize;
            (state.n_come[rank], state.near[rank].n_calls) > (place.round, place.number)
        };
        let gave_up = |n_near: &u64| *n_near <= place.number;
        state.n_rounds > place.round
            || state.n_near.iter().flatten().any(gave_up)
            || missing.iter().any(is_past)
    }

    /// Whether a rank that was in a near call has come to the next round: it copies no more.
    pub(crate) fn has_come_after(&self, place: NearPlace, rank: u64) -> bool {
        self.lock().n_come[rank as usize] > place.round
    }

    /// The failure that decided the current round, once others had time to bring theirs.
    fn failed(&self, state: &mut State<T>, now: Instant) -> Option<Failure> {
        let failure = state.current.iter().flatten().find_map(|post| post.as_ref().err())?.clone();
        let since = *state.failed_since.get_or_insert(now);
        (now - since >= GRACE).then_some(failure)
    }
}
