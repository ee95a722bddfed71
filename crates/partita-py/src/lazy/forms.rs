//! The forms of an array: one for each shape that was assigned to it.
//!
//! `a.shape = s` changes nothing that somebody may be looking at: another form becomes the array's,
//! and the earlier ones stay as long as it does, since a thread that waits for the rank's lock may
//! have borrowed one. A shape that it had before is the same form again, so that a loop that
//! assigns shapes does not collect them.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;

use super::array::{Handle, Shown};
use crate::layout::Layout;

/// An engine's array: there from the start, or from when an array of Python's first computes.
pub(super) enum Entry {
    Made(Handle),
    Later(OnceLock<Handle>),
}

/// An array in one of its shapes.
pub(super) struct Form {
    entry: Entry,
    /// What Python knows of memory, layout and producer.
    pub held: OnceLock<Py<PyAny>>,
    /// The layout that was asked for: boxes alone do not say by which maps.
    pub asked: OnceLock<Py<Layout>>,
    /// What is shown of it where that is a copy.
    pub shown: OnceLock<Shown>,
}

impl Form {
    pub fn new(entry: Entry) -> Self {
        Self { entry, held: OnceLock::new(), asked: OnceLock::new(), shown: OnceLock::new() }
    }

    /// Its engine's array, if it has one.
    pub fn handle(&self) -> Option<&Handle> {
        match &self.entry {
            Entry::Made(handle) => Some(handle),
            Entry::Later(handle) => handle.get(),
        }
    }

    /// Enters an engine, once.
    pub fn enter(&self, handle: Handle) {
        if let Entry::Later(place) = &self.entry {
            let _ = place.set(handle);
        }
    }

    fn has_shape(&self, shape: &[usize]) -> bool {
        self.handle().is_some_and(|handle| handle.array.shape() == shape)
    }
}

/// All forms of an array, of which one is current. It stays where it is once it has several.
pub(super) struct Forms {
    first: Form,
    later: OnceLock<Box<Later>>,
}

/// Forms beyond the first one; few arrays have any.
struct Later {
    #[allow(clippy::vec_box, reason = "others hold references while more are added")]
    all: Mutex<Vec<Box<Form>>>,
    current: AtomicPtr<Form>,
}

impl Forms {
    pub fn new(entry: Entry) -> Self {
        Self { first: Form::new(entry), later: OnceLock::new() }
    }

    /// The form that the array has now.
    pub fn current(&self) -> &Form {
        match self.later.get() {
            None => &self.first,
            // SAFETY: it is the first one or one of the others, which live as long as this.
            Some(later) => unsafe { &*later.current.load(Ordering::Acquire) },
        }
    }

    /// Gives the array the form of a shape: one that it had, or a new one.
    pub fn change(&self, shape: &[usize], make: impl FnOnce() -> Handle) {
        let first = std::ptr::from_ref(&self.first).cast_mut();
        let begun = || Box::new(Later { all: Mutex::default(), current: AtomicPtr::new(first) });
        let later = self.later.get_or_init(begun);
        let mut all = later.all.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().find(|form| form.has_shape(shape));
        let form: *const Form = if self.first.has_shape(shape) {
            first
        } else if let Some(form) = known {
            &raw const **form
        } else {
            all.push(Box::new(Form::new(Entry::Made(make()))));
            &raw const **all.last().expect("one was added")
        };
        later.current.store(form.cast_mut(), Ordering::Release);
    }

    /// Every form.
    pub fn each(&self, mut look: impl FnMut(&Form)) {
        look(&self.first);
        if let Some(later) = self.later.get() {
            // Whoever adds one has the interpreter, as has whoever looks.
            let all = later.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().for_each(|form| look(form));
        }
    }
}
