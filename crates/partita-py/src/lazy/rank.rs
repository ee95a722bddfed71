//! The engine of one rank, and the lock under which it is touched.
//!
//! An engine belongs to one thread at a time: whoever has the lock. Arrays may be dropped by any
//! thread, also while a computation has the lock; they then wait until it is free.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use partita_array::local::{Array as LocalArray, Engine, Outline, Spread, spread_of};
use partita_array::run::n_ranks_here;
use partita_array::timeline::to_lines;
use partita_layout::{IndexBox, Layout};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::interpreter::{comes_in_turn, detached};
use crate::ir::machine;
use crate::lazy::lines::Lines;
use crate::lazy::types::api_error;
use crate::team::TeamCore;

/// Work of fewer pending operations is over before the interpreter's lock has changed hands.
const DETACH_FROM_BYTES: usize = 1 << 18;

struct Guarded {
    engine: Engine,
    lock: Mutex<()>,
    /// Arrays that were dropped while the lock was taken, and whether there are some.
    dropped: Mutex<Vec<LocalArray>>,
    has_dropped: AtomicBool,
}

// SAFETY: the engine and arrays of it are touched under the lock only (`Rank::with`,
// `Rank::drop_array`); `dropped` has a lock of its own and its arrays are dropped under both.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

/// Objects of Python that were let go under the lock; their code must not run there.
static LET_GO: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());
/// Whether there are some: most calls leave none.
static HAS_LET_GO: AtomicBool = AtomicBool::new(false);

/// Drops the objects that were let go; nobody holds a rank's lock here.
fn let_go(py: Python<'_>) {
    if HAS_LET_GO.load(Ordering::Relaxed) && HAS_LET_GO.swap(false, Ordering::AcqRel) {
        let objects = std::mem::take(&mut *LET_GO.lock().unwrap_or_else(PoisonError::into_inner));
        objects.into_iter().for_each(|object| drop(object.into_bound(py)));
    }
}

/// Keeps an object alive for an engine.
pub(crate) struct Kept(Option<Py<PyAny>>);

impl Kept {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(Some(object))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            LET_GO.lock().unwrap_or_else(PoisonError::into_inner).push(object);
            HAS_LET_GO.store(true, Ordering::Release);
        }
    }
}

/// One rank's engine for lazy arrays.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct Rank {
    guarded: Guarded,
    n_ranks: u64,
    /// Whether this rank comes back to the interpreter in turn.
    in_turn: bool,
    lines: Lines,
    /// Bytes of arrays that were made outside the engine.
    held_memory: Arc<AtomicUsize>,
    /// Whether a user's function runs that other ranks do not call as often.
    is_apart: AtomicBool,
    team: Mutex<Option<Py<PyAny>>>,
}

#[pymethods]
impl Rank {
    #[new]
    fn new(team: Bound<'_, PyAny>) -> PyResult<Self> {
        let native = team.getattr("native")?;
        let core = &native.cast::<TeamCore>()?.get().core;
        let engine = Engine::on_ranks(machine(n_ranks_here(core)), core);
        engine.tell_places_with(Box::new(place_in_program));
        let (n_ranks, held_memory) = (core.size(), engine.held_memory());
        let in_turn = comes_in_turn(core);
        let (lock, dropped) = (Mutex::default(), Mutex::default());
        let guarded = Guarded { engine, lock, dropped, has_dropped: AtomicBool::new(false) };
        let lines = Lines::new(team.py())?;
        let team = Mutex::new(Some(team.unbind()));
        let is_apart = AtomicBool::new(false);
        Ok(Self { guarded, n_ranks, in_turn, lines, held_memory, is_apart, team })
    }

    /// The team whose rank this is.
    #[getter]
    fn team(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        team.as_ref().map(|team| team.clone_ref(py))
    }

    /// Operations that are recorded and not computed.
    #[getter]
    fn n_pending(&self, py: Python<'_>) -> usize {
        self.with(py, Engine::n_pending)
    }

    /// Threads that work of this rank may use, its own among them.
    #[getter]
    fn n_threads(&self, py: Python<'_>) -> usize {
        self.with(py, Engine::n_threads)
    }

    /// Kernel calls so far.
    #[getter]
    fn n_kernels(&self, py: Python<'_>) -> u64 {
        self.with(py, Engine::n_kernels)
    }

    /// What the pending work comes to: operations, kernels, exchanges, bytes that cross ranks,
    /// peak memory, and a line for each step.
    fn outline(&self, py: Python<'_>) -> PyResult<(usize, usize, usize, u128, usize, Vec<String>)> {
        let found = self.with(py, Engine::outline);
        let found = found.map_err(|error| api_error(py, &error.into()))?;
        let Outline { n_operations, n_kernels, n_exchanges, n_bytes, peak_bytes, steps } = found;
        Ok((n_operations, n_kernels, n_exchanges, n_bytes, peak_bytes, steps))
    }

    /// Bytes of memory that arrays have here.
    #[getter]
    fn memory_in_use(&self, py: Python<'_>) -> usize {
        self.with(py, Engine::memory_in_use)
    }

    /// The most that arrays had here since this was asked last.
    fn take_memory_peak(&self, py: Python<'_>) -> usize {
        self.with(py, Engine::take_memory_peak)
    }

    /// How many bytes they may have.
    #[getter]
    fn memory_limit(&self, py: Python<'_>) -> Option<usize> {
        self.with(py, Engine::memory_limit)
    }

    fn set_memory_limit(&self, py: Python<'_>, limit: Option<usize>) {
        self.with(py, |engine| engine.set_memory_limit(limit));
    }

    /// Counts the memory of an array that was made outside the engine.
    fn hold_memory(&self, n_bytes: usize) {
        self.held_memory.fetch_add(n_bytes, Ordering::Relaxed);
    }

    /// Such memory is there no longer; any thread may say so at any time.
    fn release_memory(&self, n_bytes: usize) {
        self.held_memory.fetch_sub(n_bytes, Ordering::Relaxed);
    }

    /// Refuses operations on arrays of this rank, or no longer: other ranks would not make them.
    fn set_apart(&self, is_apart: bool) {
        self.is_apart.store(is_apart, Ordering::Relaxed);
    }

    /// Shows a bar while long computations run, or no longer.
    fn show_progress(&self, py: Python<'_>, shows: bool) {
        self.with(py, |engine| engine.show_progress(shows));
    }

    /// Begins to note kernels and exchanges, or ends and gives what was noted, in lines.
    fn record_activity(&self, py: Python<'_>, begins: bool) -> String {
        self.with(py, |engine| match begins {
            true => {
                engine.begin_recording();
                String::new()
            }
            false => to_lines(&engine.end_recording()),
        })
    }

    /// Whether something is pending that writes memory of NumPy between two addresses.
    fn is_written(&self, py: Python<'_>, first: usize, end: usize) -> bool {
        self.with(py, |engine| engine.is_written(first, end))
    }

    /// Computes everything that is pending. Collective, also where that is nothing.
    pub(crate) fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, Engine::sync).map_err(|error| api_error(py, &error.into()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &*self.team.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(team) => visit.call(team),
            None => Ok(()),
        }
    }

    fn __clear__(&self) {
        self.team.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Where the user's program is: file and line.
fn place_in_program() -> String {
    Python::attach(|py| {
        let place = py.import("partita._array.place").and_then(|room| room.call_method0("here"));
        place.and_then(|place| place.extract()).unwrap_or_default()
    })
}

/// Work with an engine that may be done where the interpreter is not held.
struct Lent<'a, F> {
    engine: &'a Engine,
    work: F,
}
// SAFETY: made by whoever has the rank's lock, for a call that ends before it is given back.
unsafe impl<F> Send for Lent<'_, F> {}

impl<F> Lent<'_, F> {
    fn done<T>(self) -> Returned<T>
    where
        F: FnOnce(&Engine) -> T,
    {
        Returned((self.work)(self.engine))
    }
}

/// A result that may come back from there.
struct Returned<T>(T);
// SAFETY: as for `Lent`.
unsafe impl<T> Send for Returned<T> {}

impl Rank {
    pub(crate) fn n_ranks(&self) -> u64 {
        self.n_ranks
    }

    /// Whether operations on its arrays are refused.
    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart.load(Ordering::Relaxed)
    }

    /// Does something with the engine, alone.
    pub(crate) fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&Engine) -> T) -> T {
        let guard = self.lock(py);
        let made = work(&self.guarded.engine);
        let is_new = self.guarded.engine.wants_line();
        self.leave(py, guard);
        if is_new {
            self.set_line(py);
        }
        made
    }

    /// Says where in the user's program operations were recorded. Frames of Python are made for
    /// that, and what is collected then might run anything: so it does not have the lock.
    fn set_line(&self, py: Python<'_>) {
        let line = self.lines.here(py).unwrap_or_default();
        let guard = self.lock(py);
        self.guarded.engine.set_line(line.as_ref());
        self.leave(py, guard);
    }

    /// The same while others may run Python.
    pub(crate) fn detached<T>(&self, py: Python<'_>, work: impl FnOnce(&Engine) -> T) -> T {
        let guard = self.lock(py);
        let engine = &self.guarded.engine;
        // Ranks wait for each other, and others of this process may need the interpreter to come.
        let made = if self.n_ranks == 1 && engine.pending_bytes() < DETACH_FROM_BYTES {
            work(engine)
        } else {
            let lent = Lent { engine, work };
            detached(py, self.in_turn, move || lent.done()).0
        };
        self.leave(py, guard);
        made
    }

    /// Where a layout puts elements, if every rank has one box.
    pub(crate) fn spread_of(&self, layout: &Layout) -> Option<Spread> {
        let shape: Vec<usize> = layout.shape().iter().map(|n| *n as usize).collect();
        let nothing = || IndexBox { start: vec![0; shape.len()], shape: vec![0; shape.len()] };
        let (mut owned, mut held) = (Vec::new(), Vec::new());
        for rank in 0..self.n_ranks {
            let pieces = layout.pieces(rank).ok();
            if pieces.as_ref().is_some_and(|pieces| pieces.len() > 1) {
                return None;
            }
            let Some(piece) = pieces.and_then(|pieces| pieces.get(0)) else {
                owned.push(nothing());
                held.push(nothing());
                continue;
            };
            let counted = |start: &[i64]| -> Option<Vec<u64>> {
                start.iter().map(|at| u64::try_from(*at).ok()).collect()
            };
            owned.push(IndexBox { start: counted(&piece.owned_start)?, shape: piece.owned_shape });
            held.push(IndexBox { start: counted(&piece.start)?, shape: piece.shape });
        }
        spread_of(&shape, owned, held)
    }

    /// Computes segments of a loop that are complete.
    pub(crate) fn run_ready(&self, py: Python<'_>) -> PyResult<()> {
        self.detached(py, Engine::run_ready).map_err(|error| api_error(py, &error.into()))
    }

    /// Drops an array of this rank's engine, now or when the lock is free.
    pub(crate) fn drop_array(&self, array: LocalArray) {
        match self.guarded.lock.try_lock() {
            Ok(_guard) => drop(array),
            Err(TryLockError::Poisoned(poisoned)) => {
                let _guard = poisoned.into_inner();
                drop(array);
            }
            Err(TryLockError::WouldBlock) => {
                self.guarded.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(array);
                self.guarded.has_dropped.store(true, Ordering::Release);
            }
        }
        if HAS_LET_GO.load(Ordering::Relaxed) {
            Python::attach(let_go);
        }
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, ()> {
        let lock = &self.guarded.lock;
        match lock.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // Whoever has it may need the interpreter to come to an end.
                let wait = || Returned(lock.lock().unwrap_or_else(PoisonError::into_inner));
                py.detach(wait).0
            }
        }
    }

    fn leave(&self, py: Python<'_>, guard: MutexGuard<'_, ()>) {
        if self.guarded.has_dropped.load(Ordering::Relaxed)
            && self.guarded.has_dropped.swap(false, Ordering::AcqRel)
        {
            let mut dropped = self.guarded.dropped.lock().unwrap_or_else(PoisonError::into_inner);
            let dropped = std::mem::take(&mut *dropped);
            drop(dropped);
        }
        drop(guard);
        let_go(py);
    }
}
