//! Where in the user's program this is: the line that records an operation.
//!
//! On several ranks that is asked for often. So no code of Python's runs for it: frames are asked
//! for their code and line, and what was told before is found again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::{ffi, intern};

/// Lines that are remembered.
const MOST_LINES: usize = 1 << 12;

/// The lines that a rank has been at.
#[derive(Default)]
pub(crate) struct Lines(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Code by its address, which it keeps while it stands here: its file, if it is the user's.
    files: HashMap<usize, (Py<PyAny>, Option<String>)>,
    words: HashMap<(usize, i32), Arc<str>>,
    own_folder: Option<String>,
}

impl Lines {
    /// File and line of the innermost code that is not partita's own.
    pub(crate) fn here(&self, py: Python<'_>) -> PyResult<Arc<str>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.words.len() > MOST_LINES {
            *known = Known::default();
        }
        // SAFETY: the interpreter is held; the frame is borrowed from it.
        let frame = unsafe { ffi::PyEval_GetFrame() }.cast();
        // SAFETY: as above, or null outside of any code.
        let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame) };
        while let Some(at) = frame {
            // SAFETY: it is a frame, and has code, which is handed over.
            let code = unsafe {
                Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(at.as_ptr().cast()).cast())
            };
            if known.file(&code)?.is_some() {
                // SAFETY: it is a frame.
                let line = unsafe { ffi::PyFrame_GetLineNumber(at.as_ptr().cast()) };
                return Ok(known.line(&code, line));
            }
            frame = Some(at.getattr(intern!(py, "f_back"))?).filter(|back| !back.is_none());
        }
        Ok("".into())
    }
}

impl Known {
    /// The file of some code, if it is the user's.
    fn file(&mut self, code: &Bound<'_, PyAny>) -> PyResult<Option<&str>> {
        let key = code.as_ptr() as usize;
        if !self.files.contains_key(&key) {
            let file: String = code.getattr("co_filename")?.extract()?;
            let is_own = file.starts_with(self.own_folder(code.py())?);
            self.files.insert(key, (code.clone().unbind(), (!is_own).then_some(file)));
        }
        Ok(self.files[&key].1.as_deref())
    }

    fn own_folder(&mut self, py: Python<'_>) -> PyResult<&str> {
        if self.own_folder.is_none() {
            let folder = py.import("partita._array.place")?.getattr("OWN_FOLDER")?;
            self.own_folder = Some(folder.extract()?);
        }
        Ok(self.own_folder.as_deref().unwrap_or_default())
    }

    fn line(&mut self, code: &Bound<'_, PyAny>, line: i32) -> Arc<str> {
        let key = code.as_ptr() as usize;
        let file = self.files.get(&key).and_then(|(_, file)| file.as_deref()).unwrap_or_default();
        let words = || format!("{file}, line {line}").into();
        Arc::clone(self.words.entry((key, line)).or_insert_with(words))
    }
}
