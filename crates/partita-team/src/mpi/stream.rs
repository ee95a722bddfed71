//! Streams: messages to and from one neighbour, of any length, through rings of fixed size.
//!
//! A short message is a line of its own. Longer ones follow each other as bytes, each after its length.

use crate::mpi::node::Neighbour;
use crate::mpi::rings::{Form, News, written};
use crate::mpi::words::{Reader, Writer};

/// The messages between this process and a neighbour.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Bytes that no room was found for yet, and how many of them are sent.
    outgoing: Vec<u8>,
    n_sent: usize,
    /// Bytes of longer messages that have not come whole.
    incoming: Vec<u8>,
}

impl Stream {
    /// Whether everything sent has left this process.
    pub(crate) fn is_sent(&self) -> bool {
        self.n_unsent() == 0
    }

    /// Bytes that have not.
    pub(crate) fn n_unsent(&self) -> usize {
        self.outgoing.len() - self.n_sent
    }

    /// Sends a message, or as much of it as there is room for; says whether the neighbour must be
    /// woken, if it sleeps.
    pub(crate) fn send(&mut self, message: &[u8], neighbour: &Neighbour) -> bool {
        if self.is_sent() && neighbour.outgoing.write_whole(message) {
            return true;
        }
        let mut out = Writer(std::mem::take(&mut self.outgoing));
        out.bytes(message);
        self.outgoing = out.0;
        self.flush(neighbour)
    }

    fn flush(&mut self, neighbour: &Neighbour) -> bool {
        let n_written = neighbour.outgoing.write(&self.outgoing[self.n_sent..]);
        self.n_sent += n_written;
        if self.is_sent() {
            self.outgoing.clear();
            self.n_sent = 0;
        }
        n_written > 0
    }

    /// Sends on what waits, and takes in all messages that have come whole; none if what the
    /// neighbour has written makes no sense.
    pub(crate) fn hear(
        &mut self,
        neighbour: &Neighbour,
        mut take: impl FnMut(&[u8]),
    ) -> Option<()> {
        let mut is_to_wake = !self.is_sent() && self.flush(neighbour);
        let is_sound = loop {
            let line = match neighbour.incoming.read() {
                News::Line(line) => line,
                News::Nothing => break true,
                News::Damage => break false,
            };
            is_to_wake |= line.has_told;
            match line.form {
                Form::Part => self.incoming.extend_from_slice(line.bytes()),
                Form::Whole => {
                    self.take_parts(&mut take);
                    if !self.incoming.is_empty() {
                        break false;
                    }
                    take(line.bytes());
                }
            }
        };
        self.take_parts(&mut take);
        if is_to_wake {
            written();
            neighbour.wake();
        }
        is_sound.then_some(())
    }

    /// Takes in the longer messages that have come whole.
    fn take_parts(&mut self, mut take: impl FnMut(&[u8])) {
        if self.incoming.is_empty() {
            return;
        }
        let mut rest = &self.incoming[..];
        while let Some((message, after)) = first_note(rest) {
            take(message);
            rest = after;
        }
        let n_left = rest.len();
        self.incoming.drain(..self.incoming.len() - n_left);
    }
}

/// The first message of a stream, and what follows it.
fn first_note(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = Reader(bytes);
    let message = rest.bytes()?;
    Some((message, rest.0))
}
