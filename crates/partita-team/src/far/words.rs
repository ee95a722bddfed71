//! What a reader and a server of windows tell each other: words of 64 bits, little end first.
//!
//! The server says its name first, so that a reader knows whom it has found at an address; then the
//! reader says the word that only members of the job know. After that come requests, one at a time:
//! *look*, answered by what a window shows, and *fetch*, answered by pieces of an array. Before each
//! piece stands a word: piece, or gone, where the bytes are not shown any more.

use std::io::{self, ErrorKind, Read, Write};

use crate::memory::served_window::{Served, ServedList};
use crate::memory::shown_window::ShownWords;

/// Bytes that are copied and sent at a time.
pub(super) const PIECE_BYTES: usize = 1 << 18;
/// Words of a request.
pub(super) const N_REQUEST_WORDS: usize = 6;
/// Longer lists are none.
const MOST_LISTED: u64 = 1 << 24;

const LOOK: u64 = 1;
const FETCH: u64 = 2;

const CLOSED: u64 = 0;
const WRITING: u64 = 1;
const SHOWN: u64 = 2;

/// Before a piece of an array.
pub(super) const PIECE: u64 = 3;
/// In place of a piece: it is not shown any more.
pub(super) const GONE: u64 = 4;

/// What a reader asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Look { window: u64 },
    Fetch { window: u64, sequence: u64, array: u64, start: u64, n_bytes: u64 },
}

impl Request {
    pub(super) fn words(self) -> [u64; N_REQUEST_WORDS] {
        match self {
            Self::Look { window } => [LOOK, window, 0, 0, 0, 0],
            Self::Fetch { window, sequence, array, start, n_bytes } => {
                [FETCH, window, sequence, array, start, n_bytes]
            }
        }
    }

    pub(super) fn read(words: [u64; N_REQUEST_WORDS]) -> Option<Self> {
        let [kind, window, sequence, array, start, n_bytes] = words;
        match kind {
            LOOK => Some(Self::Look { window }),
            FETCH => Some(Self::Fetch { window, sequence, array, start, n_bytes }),
            _ => None,
        }
    }
}

/// Says words.
pub(super) fn say(to: &mut impl Write, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    to.write_all(&bytes)
}

/// Hears as many words.
pub(super) fn hear<const N: usize>(from: &mut impl Read) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        *word = u64::from_le_bytes(bytes);
    }
    Ok(words)
}

/// Says what a window shows.
pub(super) fn say_look(to: &mut impl Write, look: &Served) -> io::Result<()> {
    let list = match look {
        Served::Closed => return say(to, &[CLOSED]),
        Served::Writing => return say(to, &[WRITING]),
        Served::Shown(list) => list,
    };
    let ServedList { sequence, words, sizes } = list;
    let n_described = words.description.len() as u64;
    let mut said = vec![SHOWN, *sequence, words.version, sizes.len() as u64, n_described];
    said.extend(sizes);
    say(to, &said)?;
    to.write_all(&words.description)
}

/// Hears what a window shows.
pub(super) fn hear_look(from: &mut impl Read) -> io::Result<Served> {
    match hear(from)? {
        [CLOSED] => return Ok(Served::Closed),
        [WRITING] => return Ok(Served::Writing),
        [SHOWN] => {}
        _ => return Err(odd()),
    }
    let [sequence, version, n_arrays, n_described] = hear(from)?;
    if n_arrays.max(n_described) > MOST_LISTED {
        return Err(odd());
    }
    let mut sizes = Vec::new();
    for _ in 0..n_arrays {
        sizes.extend(hear::<1>(from)?);
    }
    let mut description = vec![0; n_described as usize];
    from.read_exact(&mut description)?;
    Ok(Served::Shown(ServedList { sequence, words: ShownWords { version, description }, sizes }))
}

/// What is no word of ours.
pub(super) fn odd() -> io::Error {
    io::Error::from(ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_and_nothing_else_is() {
        let fetch = Request::Fetch { window: 1, sequence: 2, array: 3, start: 4, n_bytes: 5 };
        for request in [Request::Look { window: 7 }, fetch] {
            assert_eq!(Request::read(request.words()), Some(request));
        }
        assert_eq!(Request::read([9; N_REQUEST_WORDS]), None);

        let words = ShownWords { version: 3, description: b"what".to_vec() };
        let shown = Served::Shown(ServedList { sequence: 8, words, sizes: vec![1, 0, 1 << 40] });
        for look in [Served::Closed, Served::Writing, shown] {
            let mut said = Vec::new();
            say_look(&mut said, &look).expect("room");
            assert_eq!(hear_look(&mut said.as_slice()).expect("whole"), look);
            said.pop();
            assert!(hear_look(&mut said.as_slice()).is_err(), "cut off");
        }
        let mut long = Vec::new();
        say(&mut long, &[SHOWN, 1, 1, u64::MAX, 0]).expect("room");
        for odd in [&long, &9_u64.to_le_bytes().to_vec()] {
            let kind = hear_look(&mut odd.as_slice()).expect_err("odd").kind();
            assert_eq!(kind, ErrorKind::InvalidData);
        }
    }
}
