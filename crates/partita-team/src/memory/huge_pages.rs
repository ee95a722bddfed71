//! Huge pages: one translation for 2 MiB instead of one for 4 KiB.
//!
//! Private memory has them for the asking. Files in memory have none unless the system's owner set
//! it so, but pages that are there are joined into huge ones when told to (Linux 6.1): one page is
//! touched in each 2 MiB, and the rest comes with it. That takes a tenth of the time of touching
//! all of them, reading is faster afterwards, and so it is for others who map the file.

#[cfg(target_os = "linux")]
use crate::memory::machine::machine;

/// What a huge page has.
pub(crate) const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Blocks with a larger part of the machine's memory may be meant to be used in part only.
#[cfg(target_os = "linux")]
const LARGEST_PART: u64 = 8;

/// Asks for huge pages where private memory is large enough to have one.
pub(crate) fn advise(address: usize, n_bytes: usize) {
    #[cfg(target_os = "linux")]
    if n_bytes >= HUGE_PAGE_BYTES {
        // SAFETY: the pages belong to a block of the caller; advice does not change content.
        unsafe { libc::madvise(address as *mut libc::c_void, n_bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, n_bytes);
}

/// Makes a fresh block of a file in memory huge pages, where it starts and ends with one; leaves
/// it as it is where the system cannot.
pub(crate) fn join(address: usize, n_bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let fits = [address, n_bytes].iter().all(|x| x.is_multiple_of(HUGE_PAGE_BYTES));
        if !fits || n_bytes == 0 || n_bytes as u64 > most_bytes() {
            return;
        }
        for page in (address..address + n_bytes).step_by(HUGE_PAGE_BYTES) {
            // SAFETY: the block is mapped, zeros, and nobody else's yet.
            unsafe { (page as *mut u8).write_volatile(0) };
        }
        // SAFETY: the same pages; joining them does not change content.
        unsafe { libc::madvise(address as *mut libc::c_void, n_bytes, libc::MADV_COLLAPSE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, n_bytes);
}

/// What may be touched before it is used: a part of the machine's memory, and half of what is free.
#[cfg(target_os = "linux")]
fn most_bytes() -> u64 {
    machine().map_or(0, |machine| (machine.all / LARGEST_PART).min(machine.free / 2))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::memory::arena::Arena;

    /// Kilobytes of this process's mapping at an address, by what the system calls them.
    fn kilobytes(address: usize, name: &str) -> usize {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("the list of mappings");
        let holds = |line: &str| {
            let (first, rest) = line.split_once('-')?;
            let (last, _) = rest.split_once(' ')?;
            let bound = |text| usize::from_str_radix(text, 16).ok();
            Some((bound(first)?..bound(last)?).contains(&address))
        };
        let mut lines = maps.lines().skip_while(|line| holds(line) != Some(true));
        let line = lines.find(|line| line.starts_with(name)).expect("a line of this name");
        let number = line.split_whitespace().nth(1).expect("a number");
        number.parse().expect("kilobytes")
    }

    #[test]
    fn large_blocks_of_the_arena_start_at_huge_pages_and_are_zeros() {
        let arena = Arena::make().expect("memory files");
        let block = arena.take(3 << 20).expect("room");
        let at = arena.at(block);
        assert!(at.is_multiple_of(HUGE_PAGE_BYTES));
        // SAFETY: the block is in use.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, block.n_bytes) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        // Older systems have none, and a machine without free memory may have none at hand.
        let n_huge = kilobytes(at, "ShmemPmdMapped");
        assert!(n_huge == 0 || n_huge == block.n_bytes / 1024, "{n_huge}");
    }
}
