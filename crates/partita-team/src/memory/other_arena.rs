//! The arena of another process: its file opened through `/proc`, its blocks mapped on demand.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::memory::arena::{self, Address, Block, PAGE_BYTES};
use crate::memory::process::{Life, life_of};
use crate::memory::snapshot::{self, UsedBlock};

/// How the system names the files of arenas.
const FILE_NAME: &str = "/memfd:partita";
/// Mappings that are kept per process.
const MOST_MAPPINGS: usize = 64;

/// Those that windows use.
static SHARED: Mutex<Vec<Weak<OtherArena>>> = Mutex::new(Vec::new());

/// Another process's arena.
#[derive(Debug)]
pub(crate) struct OtherArena {
    address: Address,
    file: File,
    n_bytes: u64,
    mappings: Mutex<Vec<Arc<Mapping>>>,
}

/// A block of it, mapped here.
#[derive(Debug)]
pub(crate) struct Mapping {
    block: Block,
    address: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `OtherArena::map`, and nobody has its address any more.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.block.n_bytes) };
    }
}

impl Mapping {
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Says that its bytes are in use: a forked child gets a copy of them.
    pub(crate) fn show(&self, arena: &OtherArena) {
        let Block { offset, n_bytes } = self.block;
        let file = arena.file.as_raw_fd();
        snapshot::show(self.address, UsedBlock { n_bytes, file, offset });
    }

    /// Says that one less uses them.
    pub(crate) fn hide(&self) {
        snapshot::hide(self.address);
    }
}

impl OtherArena {
    /// Opens it; none where this process may not, or where the file is not the one that was meant.
    pub(crate) fn open(address: Address) -> Option<Self> {
        if address.process == 0 {
            return None;
        }
        let path = format!("/proc/{}/fd/{}", address.process, address.file);
        // Another process's numbers may name any file: opening one can do harm by itself.
        let name = std::fs::read_link(&path).ok()?;
        if !name.to_str()?.starts_with(FILE_NAME) {
            return None;
        }
        let file = File::options().read(true).write(true).open(path).ok()?;
        let is_meant = arena::identity(file.as_raw_fd())? == (address.device, address.inode);
        let n_bytes = file.metadata().ok()?.len();
        is_meant.then(|| Self { address, file, n_bytes, mappings: Mutex::default() })
    }

    /// Opens it once for all who use it at a time.
    pub(crate) fn shared(address: Address) -> Option<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|one| one.strong_count() > 0);
        let known = shared.iter().filter_map(Weak::upgrade).find(|one| one.address == address);
        if known.is_some() {
            return known;
        }
        let opened = Arc::new(Self::open(address)?);
        shared.push(Arc::downgrade(&opened));
        Some(opened)
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    /// Whether its file has such a block: what lies beyond the end cannot be touched.
    pub(crate) fn has(&self, block: Block) -> bool {
        let end = block.offset.checked_add(block.n_bytes);
        block.offset.is_multiple_of(PAGE_BYTES)
            && block.n_bytes > 0
            && end.is_some_and(|end| end as u64 <= self.n_bytes)
    }

    /// Maps a block; the same mapping again if it is known. None where its file has no such block:
    /// some systems would map it all the same, and end whoever touches it.
    pub(crate) fn map(&self, block: Block) -> Option<Arc<Mapping>> {
        if !self.has(block) {
            return None;
        }
        let mut mappings = self.mappings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = mappings.iter().position(|mapping| mapping.block == block) {
            let known = mappings.remove(at);
            mappings.push(Arc::clone(&known));
            return Some(known);
        }
        let address = arena::map(self.file.as_raw_fd(), block.offset, block.n_bytes)?;
        populate(address, block.n_bytes);
        let mapping = Arc::new(Mapping { block, address });
        if mappings.len() == MOST_MAPPINGS {
            mappings.remove(0);
        }
        mappings.push(Arc::clone(&mapping));
        Some(mapping)
    }

    /// Reads bytes of its file; none where it has no such bytes.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Option<()> {
        self.file.read_exact_at(bytes, offset).ok()
    }

    /// Lets go of the oldest mappings until the kept ones have at most so many bytes.
    pub(crate) fn trim(&self, most_bytes: usize) {
        let mut mappings = self.mappings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_bytes: usize = mappings.iter().map(|mapping| mapping.block.n_bytes).sum();
        while n_bytes > most_bytes && !mappings.is_empty() {
            n_bytes -= mappings.remove(0).block.n_bytes;
        }
    }

    /// Looks how the process is.
    pub(crate) fn life(&self) -> Life {
        life_of(self.address.process)
    }
}

/// Makes the pages of a mapping present at once, which is cheaper than one by one.
fn populate(address: usize, n_bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: a mapping of ours; the advice does not change its content.
    unsafe {
        libc::madvise(address as *mut libc::c_void, n_bytes, libc::MADV_POPULATE_WRITE);
    }
}
