//! The socket over which a launcher speaks to its rank.
//!
//! A rank inherits it open, under a number that the environment names. Most children of the rank
//! inherit the number without the socket.

use std::{ffi::OsStr, mem::MaybeUninit};

/// Names the socket of this number, the same in every process that has it; none if there is none.
pub(super) fn socket(number: &OsStr) -> Option<String> {
    let number: libc::c_int = number.to_str()?.trim().parse().ok()?;
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the target has room for what is written; a number that is not open is refused.
    if unsafe { libc::fstat(number, found.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: `fstat` has succeeded, and so has filled it.
    let found = unsafe { found.assume_init() };
    let is_socket = found.st_mode & libc::S_IFMT == libc::S_IFSOCK;
    is_socket.then(|| format!("{}:{}", found.st_dev, found.st_ino))
}
