//! An open shared library and what it exports. It is never closed.

use super::{Abi, MpiError, Result, Signs};
use libloading::os::unix::{Library as Opened, RTLD_LAZY, RTLD_LOCAL};
use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_void},
    mem::ManuallyDrop,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Linux's `RTLD_NOLOAD`: open only what the process has already loaded.
#[cfg(target_os = "linux")]
const RTLD_NOLOAD: c_int = 4;
#[cfg(not(target_os = "linux"))]
const RTLD_NOLOAD: c_int = 0x10;

/// Whether a library may be loaded, or only found in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Load it if it is not loaded yet.
    Anew,
    /// Take it only if something else has loaded it.
    OnlyLoaded,
}

pub(super) struct Symbols {
    // Never closed: MPI leaves threads, exit handlers and mapped memory behind.
    opened: ManuallyDrop<Opened>,
    path: PathBuf,
}

impl Symbols {
    pub(super) fn open(path: &Path, load: Load) -> Result<Self> {
        let flags = match load {
            Load::Anew => RTLD_LAZY | RTLD_LOCAL,
            Load::OnlyLoaded => RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD,
        };
        // SAFETY: loading runs the library's constructors; the user, or the
        // search for a library with an MPI's name, chose to trust it.
        let opened = unsafe { Opened::open(Some(path), flags) };
        let failed = |error: libloading::Error| MpiError::LoadFailed {
            path: path.to_owned(),
            problem: error.to_string(),
        };
        let mut symbols =
            Self { opened: ManuallyDrop::new(opened.map_err(failed)?), path: path.to_owned() };
        symbols.path = symbols.real_path().unwrap_or_else(|| path.to_owned());
        Ok(symbols)
    }

    /// The file that the functions are in; through mpi4py, that of its MPI.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// # Safety
    /// `F` is the type of the function called `symbol`.
    pub(super) unsafe fn function<F: Copy>(&self, symbol: &'static str) -> Result<F> {
        // SAFETY: the caller vouches for the type.
        let found = unsafe { self.opened.get::<F>(symbol) };
        found
            .map(|function| *function)
            .map_err(|_| MpiError::SymbolMissing { symbol, path: self.path.clone() })
    }

    /// The address of an exported object.
    pub(super) fn address(&self, symbol: &'static str) -> Result<u64> {
        // SAFETY: the object is not read, only its address is taken.
        let found = unsafe { self.opened.get::<*mut c_void>(symbol) };
        found
            .map(|object| object.as_raw_ptr() as usize as u64)
            .map_err(|_| MpiError::SymbolMissing { symbol, path: self.path.clone() })
    }

    pub(super) fn tell_abi(&self) -> Abi {
        type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        // SAFETY: the type is that of the MPI standard.
        let version = unsafe { self.function::<GetVersion>("MPI_Abi_get_version") };
        let abi_major = version.ok().map(|get| {
            let (mut major, mut minor) = (-1, -1);
            // SAFETY: allowed before initialisation; both are live ints.
            unsafe { get(&mut major, &mut minor) };
            major
        });
        Abi::tell(Signs { abi_major, open_mpi_world: self.address("ompi_mpi_comm_world").is_ok() })
    }

    fn real_path(&self) -> Option<PathBuf> {
        let address = self.address("MPI_Init_thread").ok()?;
        let mut info = DlInfo { file: std::ptr::null(), rest: [0; 3] };
        // SAFETY: `info` is a live Dl_info; the address is inside a library.
        let found = unsafe { dladdr(address as usize as *const c_void, &mut info) };
        if found == 0 || info.file.is_null() {
            return None;
        }
        // SAFETY: dladdr gave a C string that lives as long as the library.
        let file = unsafe { CStr::from_ptr(info.file) };
        Some(PathBuf::from(OsStr::from_bytes(file.to_bytes())))
    }
}

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    rest: [usize; 3],
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}
