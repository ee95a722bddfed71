//! Memory of another process, read where it is.
//!
//! The system copies from one process to the other and checks every page: what the other has given
//! back, or a process that has ended, is an answer and no crash. Not every system lets a process do
//! so, even to its neighbours.

use crate::memory::process::Process;

/// Why memory of another process was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// There is no such process.
    Ended,
    /// Nothing is mapped there.
    Gone,
    /// The system does not let this process.
    Refused,
}

/// Fills memory of this process with that of another.
///
/// # Safety
/// The target is memory of this many bytes that nobody else uses.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn read(
    process: Process,
    (address, n_bytes): (usize, usize),
    target: *mut u8,
) -> Result<(), Unread> {
    let mut done = 0;
    while done < n_bytes {
        let rest = n_bytes - done;
        let remote = libc::iovec { iov_base: (address + done) as *mut libc::c_void, iov_len: rest };
        // SAFETY: inside the target, as the caller says.
        let local = libc::iovec { iov_base: unsafe { target.add(done) }.cast(), iov_len: rest };
        let number = process.number as libc::pid_t;
        // SAFETY: writes the local range only, and checks the other one itself.
        let n_read =
            unsafe { libc::process_vm_readv(number, &raw const local, 1, &raw const remote, 1, 0) };
        match usize::try_from(n_read) {
            Ok(0) => return Err(Unread::Gone),
            Ok(n_read) => done += n_read,
            Err(_) => return Err(reason()),
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn reason() -> Unread {
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::ESRCH) => Unread::Ended,
        Some(libc::EFAULT) => Unread::Gone,
        _ => Unread::Refused,
    }
}

/// Other systems have no such call.
///
/// # Safety
/// None needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn read(
    _process: Process,
    _span: (usize, usize),
    _target: *mut u8,
) -> Result<(), Unread> {
    Err(Unread::Refused)
}

/// One word of another process.
pub(crate) fn read_word(process: Process, address: usize) -> Result<u64, Unread> {
    let mut word = 0_u64;
    // SAFETY: the word is ours.
    unsafe { read(process, (address, size_of::<u64>()), (&raw mut word).cast()) }?;
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_an_answer() {
        let own = Process::own().expect("a system with /proc");
        let word = 77_u64;
        assert_eq!(read_word(own, &raw const word as usize), Ok(77));
        assert_eq!(read_word(own, 8), Err(Unread::Gone));
        let nobody = Process { number: 1 << 30, started: 0 };
        assert_eq!(read_word(nobody, 8), Err(Unread::Ended));
    }
}
