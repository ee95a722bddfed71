//! A shared library for `tests/through_mpi4py.py`: our calls beside mpi4py's.
//!
//! Loaded with ctypes into a Python that runs mpi4py, it calls the very MPI
//! that mpi4py calls, on a communicator that mpi4py made.

#[path = "exercise/mod.rs"]
mod exercise;

use partita_mpi::{
    Comm, ErrorClass, Library, Number, Predefined, Search, Started, StatusLayout, ThreadLevel,
};
use std::{
    ffi::{CStr, CString, c_char},
    fmt::Write,
};

type Answer = Result<String, Box<dyn std::error::Error>>;

/// The constants of the MPI of this mpi4py, one `kind name value` per line.
///
/// # Safety
/// `module` is a C string: `mpi4py.MPI.__file__`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partita_mpi_constants(module: *const c_char) -> *mut c_char {
    // SAFETY: the caller vouches for the string.
    answer(unsafe { open(module) }.map(|library| constants(&library)))
}

/// Runs every check on a communicator: `ok` or what went wrong.
///
/// # Safety
/// `module` is a C string, `mpi4py.MPI.__file__`, and `comm` a live
/// communicator of that MPI.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn partita_mpi_exercise(module: *const c_char, comm: u64) -> *mut c_char {
    // SAFETY: the caller vouches for both.
    answer(unsafe { open(module).and_then(|library| exercise(&library, comm)) })
}

/// # Safety
/// As for [`partita_mpi_constants`].
unsafe fn open(module: *const c_char) -> Result<Library, Box<dyn std::error::Error>> {
    // SAFETY: the caller vouches for the string.
    let module = unsafe { CStr::from_ptr(module) }.to_str()?;
    Ok(Search::new().mpi4py(module).open()?)
}

fn constants(library: &Library) -> String {
    let abi = library.abi();
    let mut lines = format!("abi {abi} {}\n", library.path().display());
    for object in Predefined::ALL {
        let _ = writeln!(lines, "handle {} {}", object.name(), library.handle(*object).0);
    }
    for number in Number::ALL {
        let _ = writeln!(lines, "number {} {}", number.name(), number.value(abi));
    }
    for (class, name, _) in ErrorClass::ROWS {
        let number = (0..100).find(|number| ErrorClass::from_number(abi, *number) == *class);
        let _ = writeln!(lines, "number {name} {}", number.unwrap_or(-1));
    }
    let _ = writeln!(lines, "size Status {}", StatusLayout::of(abi).size_bytes);
    lines
}

/// # Safety
/// As for [`partita_mpi_exercise`].
unsafe fn exercise(library: &Library, comm: u64) -> Answer {
    let init = library.init(ThreadLevel::Multiple)?;
    exercise::same("who started MPI", init.started, Started::Before)?;
    // SAFETY: the caller vouches for the communicator.
    let theirs = unsafe { Comm::from_raw(library, comm)? };
    exercise::run(&theirs.dup()?, exercise::Extent::Usual)?;
    Ok("ok".to_owned())
}

fn answer(answer: Answer) -> *mut c_char {
    let text = answer.unwrap_or_else(|error| format!("error: {error}"));
    // The test reads it once and ends: nobody frees it.
    CString::new(text).unwrap_or_default().into_raw()
}
