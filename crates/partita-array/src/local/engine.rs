//! The engine: pending work and what is kept between flushes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use partita_kernel::{Machine, Settings};

use super::base::Base;
use super::kept::Kept;
use super::node::Work;
use super::replace::Replacement;
use crate::timeline::Recorder;

/// Records operations and runs them.
#[derive(Debug, Clone)]
pub struct Engine(pub(super) Rc<State>);

#[derive(Debug)]
pub(super) struct State {
    pub machine: Arc<Machine>,
    pub work: RefCell<Work>,
    /// The bases of the pending work, by number. An array that is dropped leaves one user.
    pub bases: RefCell<Vec<Rc<Base>>>,
    /// Which work it is: bases know their number in it.
    pub turn: Cell<u64>,
    pub kept: RefCell<Kept>,
    pub replacements: RefCell<Vec<Replacement>>,
    pub n_kernels: Cell<u64>,
    pub recorder: RefCell<Option<Rc<Recorder>>>,
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
        Self(Rc::new(State {
            machine,
            work: RefCell::default(),
            bases: RefCell::default(),
            turn: Cell::new(0),
            kept: RefCell::default(),
            replacements: RefCell::default(),
            n_kernels: Cell::new(0),
            recorder: RefCell::default(),
        }))
    }

    /// Kernel calls so far.
    #[must_use]
    pub fn n_kernels(&self) -> u64 {
        self.0.n_kernels.get()
    }

    /// Notes every kernel from now on; none ends that.
    pub fn record_with(&self, recorder: Option<Rc<Recorder>>) {
        self.0.recorder.replace(recorder);
    }

    /// Number of operations that wait for a flush.
    #[must_use]
    pub fn n_pending(&self) -> usize {
        self.0.work.borrow().nodes.len()
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
