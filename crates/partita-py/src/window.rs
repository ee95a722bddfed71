//! Windows for Python: arrays of one process that others read without its help.
//!
//! `partita._team.window` knows what the bytes mean and whom an error names.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::os::raw::c_int;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use partita_plan::Dtype;
use partita_team as core;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};

use crate::buffers::{HeldMemory, WarmMemory, show};
use crate::errors::team_error;

/// What is copied before signals are looked at, and whether it is still of use.
const CHUNK_BYTES: usize = 16 << 20;

/// Arrays of this process that others of the node can read.
#[pyclass(frozen, module = "partita._partita")]
pub(crate) struct ShownWindow {
    // The first to go: what it shows is held until it shows it no more.
    core: core::ShownWindow,
    held: Mutex<Vec<HeldMemory>>,
}

#[pymethods]
impl ShownWindow {
    /// A window that shows nothing yet; None where no reader could reach it. `far`: also for
    /// readers that share no memory with this process.
    #[staticmethod]
    fn make(far: bool) -> Option<Self> {
        let readers = if far { core::Readers::All } else { core::Readers::Near };
        core::ShownWindow::new(readers).map(|core| Self { core, held: Mutex::default() })
    }

    /// How others that share memory with this process find it; None where nobody can.
    #[getter]
    fn note(&self) -> Option<[u64; 8]> {
        self.core.note().map(|note| note.0)
    }

    /// How far readers find it; None where it is not for them, or cannot be served.
    #[getter]
    fn far_note(&self) -> Option<[u64; 8]> {
        core::FarNote::of(self.core.served_number()?).map(|note| note.0)
    }

    /// Shows arrays of bytes from now on, and holds them until it shows others.
    fn show(
        &self,
        py: Python<'_>,
        arrays: Vec<Bound<'_, PyAny>>,
        version: u64,
        description: Vec<u8>,
        copied: bool,
    ) -> PyResult<()> {
        let held = arrays.iter().map(|array| HeldMemory::new(array, Dtype::U8, "window"));
        let held: Vec<HeldMemory> = held.collect::<PyResult<_>>()?;
        let spans: Vec<_> = held.iter().map(span).collect();
        let n_bytes: usize = spans.iter().map(|(_, n_bytes)| n_bytes).sum();
        let words = core::ShownWords { version, description };
        let unmapped = if copied { core::Unmapped::Copied } else { core::Unmapped::ReadInPlace };
        let shown = py.detach(|| {
            // Whoever shows something else meanwhile waits, without the interpreter.
            let mut now = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let is_shown = self.core.show(spans, words, unmapped);
            is_shown.then(|| std::mem::replace(&mut *now, held))
        });
        let Some(before) = shown else {
            let message = "the system has no memory for a copy of";
            let message = format!("{message} {n_bytes} bytes that other ranks can reach");
            return Err(PyMemoryError::new_err(message));
        };
        // Those before go only now.
        drop(before);
        Ok(())
    }

    /// Says that the owner writes to what it shows, until it shows it again.
    fn begin_writing(&self) {
        self.core.begin_writing();
    }

    /// Shows nothing any more.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.core.close());
        // In a forked child a thread that is gone may have locked it.
        let held = self.held.try_lock().map(|mut held| std::mem::take(&mut *held));
        drop(held.ok());
    }
}

/// Address and bytes of memory of bytes.
fn span(held: &HeldMemory) -> (usize, usize) {
    (held.buffer.address, held.buffer.n_elements() as usize)
}

/// A window of another process.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct SeenWindow {
    core: core::SeenWindow,
}

/// What a window showed when somebody looked.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct WindowListing {
    core: core::Listing,
}

#[pymethods]
impl WindowListing {
    #[getter]
    fn version(&self) -> u64 {
        self.core.version()
    }

    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.core.description())
    }
}

#[pymethods]
impl SeenWindow {
    /// Finds a window; None where this process cannot map it.
    #[staticmethod]
    fn open(py: Python<'_>, note: [u64; 8]) -> Option<Self> {
        let found = py.detach(|| core::SeenWindow::open(core::WindowNote(note)));
        found.map(|core| Self { core })
    }

    /// Whether this process may read memory of the owner that it cannot map.
    fn reads_in_place(&self) -> bool {
        self.core.reads_in_place()
    }

    /// What the owner shows now, or one of "writing", "closed", "ended".
    fn look(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let word = match py.detach(|| self.core.look()) {
            core::Look::Shown(core) => {
                return Ok(Py::new(py, WindowListing { core })?.into_any());
            }
            core::Look::Writing => "writing",
            core::Look::Closed => "closed",
            core::Look::Ended => "ended",
        };
        Ok(word.into_pyobject(py)?.into_any().unbind())
    }

    /// Whether it still shows the same.
    fn still_shows(&self, listing: &WindowListing) -> bool {
        self.core.still_shows(&listing.core)
    }

    /// A copy of an array; False if it is not there or not shown any more, None where the system
    /// does not let this process read it.
    fn fetch(&self, py: Python<'_>, listing: &WindowListing, array: usize) -> PyResult<Py<PyAny>> {
        let Some(n_bytes) = listing.core.n_bytes(array) else {
            return Err(PyValueError::new_err(format!("no array {array}")));
        };
        let copy = WarmMemory::new(py, n_bytes)?;
        for start in (0..n_bytes).step_by(CHUNK_BYTES) {
            let part = (start, CHUNK_BYTES.min(n_bytes - start));
            let to = copy.address() + start;
            // SAFETY: the copy is new and as long as the array.
            let fetched =
                py.detach(|| unsafe { self.core.fetch(&listing.core, array, part, to as *mut u8) });
            if fetched == core::Fetched::Refused {
                return Ok(py.None());
            }
            if fetched == core::Fetched::Gone || !self.core.still_shows(&listing.core) {
                return Ok(PyBool::new(py, false).to_owned().into_any().unbind());
            }
            py.check_signals()?;
        }
        Ok(Py::new(py, copy)?.into_any())
    }

    /// An array where it is; None if it cannot be mapped.
    fn map(&self, py: Python<'_>, listing: &WindowListing, array: usize) -> Option<WindowMapping> {
        py.detach(|| self.core.map(&listing.core, array)).map(|core| WindowMapping { core })
    }
}

/// An array of another process, mapped here, with the buffer protocol.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct WindowMapping {
    core: core::MappedArray,
}

#[pymethods]
impl WindowMapping {
    fn __len__(&self) -> usize {
        self.core.n_bytes()
    }

    /// # Safety
    /// Called by Python with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let array = &slf.get().core;
        // SAFETY: Python hands a valid view; the pages stay mapped while the object lives.
        unsafe { show(view, flags, slf.as_any(), (array.address(), array.n_bytes()), false) }
    }
}

/// A window of a process whose memory is out of reach.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct FarWindow {
    core: core::FarWindow,
}

/// What a far window showed when somebody looked.
#[pyclass(frozen, module = "partita._partita")]
#[derive(Debug)]
pub(crate) struct FarListing {
    core: core::FarListing,
}

#[pymethods]
impl FarListing {
    #[getter]
    fn version(&self) -> u64 {
        self.core.version()
    }

    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.core.description())
    }
}

#[pymethods]
impl FarWindow {
    /// A window by its note; None where the numbers are those of none. Nobody is asked yet.
    #[staticmethod]
    fn open(note: [u64; 8]) -> Option<Self> {
        core::FarWindow::open(core::FarNote(note)).map(|core| Self { core })
    }

    /// What the owner shows now, or one of "writing", "closed", "ended", "apart", "late". An owner
    /// that says nothing is waited for as many seconds as `limit`; None is for ever.
    #[pyo3(signature = (limit))]
    fn look(&self, py: Python<'_>, limit: Option<f64>) -> PyResult<Py<PyAny>> {
        let limit = patience(limit)?;
        let word = match py.detach(|| self.core.look(limit)) {
            core::FarLook::Shown(core) => return Ok(Py::new(py, FarListing { core })?.into_any()),
            core::FarLook::Writing => "writing",
            core::FarLook::Closed => "closed",
            core::FarLook::Unheard(unheard) => word_of(py, unheard)?,
        };
        Ok(word.into_pyobject(py)?.into_any().unbind())
    }

    /// Whether it still shows the same.
    fn still_shows(
        &self,
        py: Python<'_>,
        listing: &FarListing,
        limit: Option<f64>,
    ) -> PyResult<bool> {
        let limit = patience(limit)?;
        match py.detach(|| self.core.look(limit)) {
            core::FarLook::Unheard(unheard) => word_of(py, unheard).map(|_| false),
            found => Ok(found.is_still(&listing.core)),
        }
    }

    /// A copy of an array; False if it is not shown any more, or one of "ended", "apart", "late".
    fn fetch(
        &self,
        py: Python<'_>,
        listing: &FarListing,
        array: usize,
        limit: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let limit = patience(limit)?;
        let Some(n_bytes) = listing.core.n_bytes(array) else {
            return Err(PyValueError::new_err(format!("no array {array}")));
        };
        let copy = WarmMemory::new(py, n_bytes)?;
        for start in (0..n_bytes).step_by(CHUNK_BYTES) {
            let (at, n) = (copy.address() + start, CHUNK_BYTES.min(n_bytes - start));
            let fetched = py.detach(|| {
                // SAFETY: the copy is new, nobody else has it, and it is as long as the array.
                let into = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, n) };
                self.core.fetch(&listing.core, (array, start), into, limit)
            });
            match fetched {
                core::FarFetched::Read => py.check_signals()?,
                core::FarFetched::Gone => {
                    return Ok(PyBool::new(py, false).to_owned().into_any().unbind());
                }
                core::FarFetched::Unheard(unheard) => {
                    return Ok(word_of(py, unheard)?.into_pyobject(py)?.into_any().unbind());
                }
            }
        }
        Ok(Py::new(py, copy)?.into_any())
    }
}

/// How long an owner is waited for.
fn patience(limit: Option<f64>) -> PyResult<Option<Duration>> {
    let read = |seconds| Duration::try_from_secs_f64(seconds).ok();
    let wrong =
        || PyValueError::new_err("a limit that is no time; give seconds from 0 on, or None");
    limit.map(|seconds| read(seconds).ok_or_else(wrong)).transpose()
}

/// Why an owner could not be asked, or the signal that has come.
fn word_of(py: Python<'_>, unheard: core::Unheard) -> PyResult<&'static str> {
    py.check_signals()?;
    Ok(match unheard {
        core::Unheard::Apart => "apart",
        core::Unheard::Ended => "ended",
        core::Unheard::Late => "late",
        core::Unheard::Interrupted => return Err(team_error(py, &core::TeamError::Interrupted)),
    })
}

/// Adds the classes to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ShownWindow>()?;
    module.add_class::<SeenWindow>()?;
    module.add_class::<WindowListing>()?;
    module.add_class::<WindowMapping>()?;
    module.add_class::<FarWindow>()?;
    module.add_class::<FarListing>()
}
