//! The engine: pending work and what is kept between flushes.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use partita_kernel::{Machine, Settings};
use partita_team::Team;

use super::foreign::Blocks;
use super::kept::Kept;
use super::meter::Meter;
use super::places::Places;
use super::progress::Progress;
use super::ranks::Ranks;
use super::replace::Replacement;
use super::rhythm::Rhythm;
use super::schedule::Schedule;
use super::segment::Segment;
use crate::timeline::{Event, Recorder};

/// Records operations and runs them.
#[derive(Debug, Clone)]
pub struct Engine(pub(super) Rc<State>);

#[derive(Debug)]
pub(super) struct State {
    pub machine: Arc<Machine>,
    /// What is being recorded. An array that is dropped leaves one user of its base: this.
    pub current: RefCell<Segment>,
    /// The segment before it, which has not run yet either.
    pub before: RefCell<Option<Segment>>,
    /// Segments that may run, in order: whoever records decides when they do.
    pub ready: RefCell<Vec<Segment>>,
    /// Segments that have run: their memory is used again.
    pub spare: RefCell<Vec<Segment>>,
    /// Where segments end; none if only flushes end them.
    pub rhythm: Option<RefCell<Rhythm>>,
    pub kept: RefCell<Kept<Schedule>>,
    pub replacements: RefCell<Vec<Replacement>>,
    pub n_kernels: Cell<u64>,
    pub recorder: RefCell<Option<Rc<Recorder>>>,
    /// The team, if there are several ranks.
    pub ranks: Option<Ranks>,
    pub meter: Rc<Meter>,
    /// Memory of others that arrays lie in.
    pub blocks: RefCell<Blocks>,
    pub progress: RefCell<Option<Progress>>,
    /// Where in the user's program this is.
    pub place: RefCell<Option<Telling>>,
    /// The turn of the next segment that is joined of several, counted down from below that of none.
    pub joined_turn: Cell<u64>,
    /// Where kinds of nodes were first recorded.
    pub places: RefCell<Places>,
}

/// Tells where in the user's program this is.
pub(super) struct Telling(pub Box<dyn Fn() -> String>);

impl fmt::Debug for Telling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Telling")
    }
}

impl Engine {
    /// An engine with a machine of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::with_machine(Arc::new(Machine::new(Settings::default())))
    }

    /// An engine that shares its kernels with others.
    #[must_use]
    pub fn with_machine(machine: Arc<Machine>) -> Self {
        Self::made(machine, None, None)
    }

    /// An engine that divides the turns of a loop into segments, also if nobody reads a value.
    /// Whoever records looks now and then for [ready](Engine::has_ready) ones.
    #[must_use]
    pub fn that_divides(machine: Arc<Machine>) -> Self {
        Self::made(machine, Some(RefCell::default()), None)
    }

    /// The same for arrays on the ranks of a team. Computing is collective: all ranks record the
    /// same and ask for values alike.
    #[must_use]
    pub fn on_ranks(machine: Arc<Machine>, team: &Team) -> Self {
        let ranks = Ranks::new(team).filter(|ranks| ranks.n_ranks > 1);
        Self::made(machine, Some(RefCell::default()), ranks)
    }

    fn made(machine: Arc<Machine>, rhythm: Option<RefCell<Rhythm>>, ranks: Option<Ranks>) -> Self {
        Self(Rc::new(State {
            machine,
            current: RefCell::default(),
            before: RefCell::default(),
            ready: RefCell::default(),
            spare: RefCell::default(),
            rhythm,
            kept: RefCell::default(),
            replacements: RefCell::default(),
            n_kernels: Cell::new(0),
            recorder: RefCell::default(),
            ranks,
            meter: Rc::default(),
            blocks: RefCell::default(),
            progress: RefCell::default(),
            place: RefCell::default(),
            joined_turn: Cell::new(u64::MAX - 1),
            places: RefCell::default(),
        }))
    }

    /// Threads that kernels of this engine may use.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.0.machine.settings().n_threads
    }

    /// Kernel calls so far.
    #[must_use]
    pub fn n_kernels(&self) -> u64 {
        self.0.n_kernels.get()
    }

    /// Notes every kernel from now on with a recorder that others use, too.
    pub(crate) fn record_with(&self, recorder: Rc<Recorder>) {
        self.0.recorder.replace(Some(recorder));
    }

    /// Notes every kernel, exchange and wait from now on, beside whoever does so already.
    pub fn begin_recording(&self) {
        let mut recorder = self.0.recorder.borrow_mut();
        *recorder = Some(Rc::new(Recorder::inside(recorder.take())));
    }

    /// Ends what [`Engine::begin_recording`] began last, and gives what was noted.
    #[must_use]
    pub fn end_recording(&self) -> Vec<Event> {
        let mut recorder = self.0.recorder.borrow_mut();
        let Some(last) = recorder.take() else { return Vec::new() };
        *recorder = last.outer();
        last.take()
    }

    /// Shows a bar while long computations run, or no longer.
    pub fn show_progress(&self, shows: bool) {
        self.0.progress.replace(shows.then(Progress::default));
    }

    /// Bytes of memory that its arrays have.
    #[must_use]
    pub fn memory_in_use(&self) -> usize {
        self.0.meter.in_use()
    }

    /// The most that they had since this was asked last, partial results of reductions among them.
    #[must_use]
    pub fn take_memory_peak(&self) -> usize {
        self.0.meter.take_most()
    }

    /// Where bytes of arrays are counted that were made outside this engine; it may be changed from
    /// any thread.
    #[must_use]
    pub fn held_memory(&self) -> Arc<AtomicUsize> {
        Arc::clone(self.0.meter.held())
    }

    /// How many bytes they may have.
    #[must_use]
    pub fn memory_limit(&self) -> Option<usize> {
        self.0.meter.limit()
    }

    /// Refuses from now on work whose arrays would have more bytes.
    pub fn set_memory_limit(&self, limit: Option<usize>) {
        self.0.meter.set_limit(limit);
    }

    /// Whether something was recorded whose line is not known: whoever records says where that
    /// was. On one rank kinds that are new are enough; on several, ranks that differ are to be told
    /// where, and only a loop that repeats itself is known already.
    #[must_use]
    pub fn wants_line(&self) -> bool {
        self.0.current.borrow().unlined.is_some() || self.0.places.borrow().has_new()
    }

    /// Where in the user's program that was, if it was there.
    pub fn set_line(&self, line: Option<&Arc<str>>) {
        self.0.places.borrow_mut().set(line);
        self.0.current.borrow_mut().set_line(line);
    }

    /// Says where this rank is, for errors of ranks that differ.
    pub fn tell_places_with(&self, place: Box<dyn Fn() -> String>) {
        self.0.place.replace(Some(Telling(place)));
    }

    /// Whether [`Engine::run_ready`] has something to do.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        !self.0.ready.borrow().is_empty()
    }

    /// Number of operations that wait for a flush.
    #[must_use]
    pub fn n_pending(&self) -> usize {
        let of = |segment: &Segment| segment.work.nodes.len();
        let ready: usize = self.0.ready.borrow().iter().map(of).sum();
        ready + self.0.before.borrow().as_ref().map_or(0, of) + of(&self.0.current.borrow())
    }

    /// About how many bytes the pending work touches: those of all bases in it.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        let of = |segment: &Segment| segment.n_bytes;
        let ready: usize = self.0.ready.borrow().iter().map(of).sum();
        ready + self.0.before.borrow().as_ref().map_or(0, of) + of(&self.0.current.borrow())
    }

    /// Whether both are the same engine.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}
