//! Near calls among threads: notes in the boxes of partners, and waiting for theirs.
//!
//! A rank may give a near call up while a partner has all notes and is about to copy. So a note
//! carries a permit to touch the sender's memory: whoever copies holds it, and whoever gives up
//! withdraws it and waits until nobody does. `README.md` beside this file has the races.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::team::near::{NearNote, NearPlace};
use crate::threads::sync::{AtomicU64, Condvar, Mutex, MutexGuard};

/// How long whoever has withdrawn its permit sleeps before it looks again.
const REST: Duration = Duration::from_micros(50);

/// Whether partners may touch the memory of whoever gave it to them, and how many do.
#[derive(Debug)]
pub(crate) struct Permit(AtomicU64);

/// Set in a permit that holds no more.
const WITHDRAWN: u64 = 1 << 63;

impl Permit {
    fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Begins to touch the memory; false if that is not allowed any more.
    fn take(&self) -> bool {
        let is_given = self.0.fetch_add(1, Ordering::AcqRel) & WITHDRAWN == 0;
        if !is_given {
            self.release();
        }
        is_given
    }

    fn release(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    /// Lets nobody begin any more, and waits until nobody touches the memory.
    fn withdraw(&self) {
        let mut state = self.0.fetch_or(WITHDRAWN, Ordering::AcqRel);
        while state & !WITHDRAWN > 0 {
            rest();
            state = self.0.load(Ordering::Acquire);
        }
    }
}

#[cfg(not(feature = "shuttle"))]
fn rest() {
    std::thread::sleep(REST);
}

/// The model checker goes on with another thread.
#[cfg(feature = "shuttle")]
fn rest() {
    let _ = REST;
    shuttle::thread::yield_now();
}

/// One rank's box: what partners have told it, and what it holds of theirs.
#[derive(Debug)]
pub(crate) struct NearBox {
    notes: Mutex<Notes>,
    came: Condvar,
    /// Notes that have come, readable without the lock.
    n_notes: AtomicU64,
}

#[derive(Debug, Default)]
struct Notes {
    here: Vec<Here>,
    done: Vec<(NearPlace, u64)>,
    /// This rank's own permit of its running call.
    own: Option<Arc<Permit>>,
    /// Permits of partners that this rank holds while it copies.
    held: Vec<Arc<Permit>>,
}

#[derive(Debug)]
struct Here {
    place: NearPlace,
    rank: u64,
    note: NearNote,
    permit: Arc<Permit>,
}

impl NearBox {
    pub(crate) fn new() -> Self {
        Self {
            notes: Mutex::new(Notes::default()),
            came: Condvar::new(),
            n_notes: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, put: impl FnOnce(&mut Notes)) {
        put(&mut self.lock());
        self.n_notes.fetch_add(1, Ordering::Release);
        self.came.notify_all();
    }

    /// Notes that have come so far: where it has grown, there is news.
    pub(crate) fn n_notes(&self) -> u64 {
        self.n_notes.load(Ordering::Acquire)
    }

    /// Sleeps until a note comes, at most so long.
    pub(crate) fn sleep(&self, n_seen: u64, limit: Duration) {
        let notes = self.lock();
        if self.n_notes() == n_seen {
            drop(self.came.wait_timeout(notes, limit).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A permit for this rank's next call.
    pub(crate) fn begin(&self) -> Arc<Permit> {
        let permit = Arc::new(Permit::new());
        self.lock().own = Some(Arc::clone(&permit));
        permit
    }

    /// Takes in that a partner has come.
    pub(crate) fn put_here(
        &self,
        place: NearPlace,
        rank: u64,
        note: &NearNote,
        permit: &Arc<Permit>,
    ) {
        let (note, permit) = (note.clone(), Arc::clone(permit));
        self.put(|notes| notes.here.push(Here { place, rank, note, permit }));
    }

    /// Takes in that a partner has copied.
    pub(crate) fn put_done(&self, place: NearPlace, rank: u64) {
        self.put(|notes| notes.done.push((place, rank)));
    }

    /// What partners said when they came to a call, as far as they have.
    pub(crate) fn here(&self, place: NearPlace, partners: &[u64]) -> Vec<Option<NearNote>> {
        let notes = self.lock();
        let of = |rank: &u64| {
            let here = notes.here.iter().find(|here| here.place == place && here.rank == *rank);
            here.map(|here| here.note.clone())
        };
        partners.iter().map(of).collect()
    }

    /// Takes the permits of all partners; none if one of them has withdrawn its own.
    pub(crate) fn take_permits(&self, place: NearPlace, partners: &[u64]) -> bool {
        let mut notes = self.lock();
        let Notes { here, held, .. } = &mut *notes;
        for one in here.iter().filter(|here| here.place == place && partners.contains(&here.rank)) {
            if !one.permit.take() {
                held.drain(..).for_each(|permit| permit.release());
                return false;
            }
            held.push(Arc::clone(&one.permit));
        }
        true
    }

    /// Gives the permits of partners back: this rank touches their memory no more.
    pub(crate) fn release_permits(&self) {
        self.lock().held.drain(..).for_each(|permit| permit.release());
    }

    /// Lets no partner begin to copy any more, and waits for those that do.
    pub(crate) fn withdraw_own(&self) {
        let own = self.lock().own.take();
        if let Some(own) = own {
            own.withdraw();
        }
    }

    /// Whether a partner has said that it has copied.
    pub(crate) fn is_done(&self, place: NearPlace, rank: u64) -> bool {
        self.lock().done.contains(&(place, rank))
    }

    /// Forgets all that was said up to a call.
    pub(crate) fn forget_until(&self, place: NearPlace) {
        let mut notes = self.lock();
        notes.here.retain(|here| here.place > place);
        notes.done.retain(|(at, _)| *at > place);
        notes.own = None;
    }
}
