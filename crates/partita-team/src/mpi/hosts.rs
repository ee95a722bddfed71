//! The hosts that ranks run on, by name.

use std::ffi::CStr;

use partita_mpi::{Comm, MpiError};

use crate::error::Host;
use crate::mpi::node::gather;

/// What the system allows a name to have, and the byte that ends it.
const NAME_BYTES: usize = 72;
const NAME_WORDS: usize = NAME_BYTES / 8;

/// The hosts by rank; none if all run on one. Collective over the communicator.
pub(crate) fn hosts(world: &Comm) -> Result<Vec<Host>, MpiError> {
    let mut own = [0; NAME_WORDS];
    for (word, bytes) in own.iter_mut().zip(own_name().chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    let all = gather(world, &own)?;
    let names: Vec<&[u64]> = all.chunks(NAME_WORDS).collect();
    if names.iter().all(|name| *name == names[0]) {
        return Ok(Vec::new());
    }
    Ok(names.into_iter().map(|name| Host::new(&text(name))).collect())
}

/// This host's name, filled up with zeros.
fn own_name() -> [u8; NAME_BYTES] {
    let mut name = [0_u8; NAME_BYTES];
    // SAFETY: the last byte is not given away, so the name ends before it.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), NAME_BYTES - 1) };
    name
}

/// A name from its words; odd characters are replaced.
fn text(name: &[u64]) -> String {
    let mut bytes: Vec<u8> = name.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.push(0);
    let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_its_words() {
        let words = |name: &[u8]| {
            let mut padded = name.to_vec();
            padded.resize(NAME_BYTES, 0);
            let words = padded.chunks_exact(8);
            words.map(|b| u64::from_le_bytes(b.try_into().expect("eight"))).collect::<Vec<_>>()
        };
        assert_eq!(text(&words(b"node17.cluster")), "node17.cluster");
        assert_eq!(text(&words(b"")), "");
        assert_eq!(text(&words(&[b'x'; NAME_BYTES])), "x".repeat(NAME_BYTES));
        assert_eq!(text(&words(b"a\xffb")), "a\u{fffd}b");
        assert!(own_name().contains(&0));
    }
}
