//! Where in the user's program this is: the line that records an operation.
//!
//! On several ranks that is asked for often. So no code of Python's runs for it. A frame knows at
//! once which instruction it is at; its line it has to count, so that is asked for once for each
//! instruction.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::{ffi, intern};

/// Instructions that are remembered.
const MOST_KNOWN: usize = 1 << 12;

/// The lines that a rank has been at.
pub(crate) struct Lines {
    /// Code in here is partita's.
    own_folder: String,
    /// Locked for a look only: whatever asks Python may come to run anything.
    known: Mutex<HashMap<Instruction, Line>>,
}

/// Code by its address, and the instruction in it.
type Instruction = (usize, i32);

/// What is known of an instruction.
struct Line {
    /// The code, which keeps its address as long as it stands here.
    _code: Py<PyAny>,
    /// File and line; none in code of partita's own.
    words: Option<Arc<str>>,
}

impl Lines {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        let folder = py.import("partita._array.place")?.getattr("OWN_FOLDER")?;
        Ok(Self { own_folder: folder.extract()?, known: Mutex::default() })
    }

    /// File and line of the innermost code that is not partita's own.
    pub(crate) fn here(&self, py: Python<'_>) -> PyResult<Option<Arc<str>>> {
        // SAFETY: the interpreter is held; the frame is borrowed from it, or null outside of code.
        let mut frame =
            unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
        while let Some(at) = frame {
            if let Some(words) = self.line_of(&at)? {
                return Ok(Some(words));
            }
            frame = Some(at.getattr(intern!(py, "f_back"))?).filter(|back| !back.is_none());
        }
        Ok(None)
    }

    /// File and line that a frame is at; none in code of partita's own.
    fn line_of(&self, frame: &Bound<'_, PyAny>) -> PyResult<Option<Arc<str>>> {
        let py = frame.py();
        let raw = frame.as_ptr().cast();
        // SAFETY: it is a frame, and has code, which is handed over.
        let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(raw).cast()) };
        let instruction = frame.getattr(intern!(py, "f_lasti"))?.extract()?;
        let key = (code.as_ptr() as usize, instruction);
        if let Some(line) = self.lock().get(&key) {
            return Ok(line.words.clone());
        }
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        // SAFETY: it is a frame.
        let line = unsafe { ffi::PyFrame_GetLineNumber(raw) };
        let is_own = file.starts_with(&self.own_folder);
        let words: Option<Arc<str>> = (!is_own).then(|| format!("{file}, line {line}").into());
        let entry = Line { _code: code.unbind(), words: words.clone() };
        let let_go = {
            let mut known = self.lock();
            let is_full = known.len() > MOST_KNOWN;
            let old = if is_full { std::mem::take(&mut *known) } else { HashMap::new() };
            (old, known.insert(key, entry))
        };
        drop(let_go);
        Ok(words)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Instruction, Line>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
