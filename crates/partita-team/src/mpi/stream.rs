//! Streams: messages to and from one neighbour, of any length, through rings of fixed size.

use crate::mpi::node::Neighbour;

/// The messages between this process and a neighbour.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    outgoing: Vec<u8>,
    /// How much of it is in the ring already.
    n_sent: usize,
    /// The beginning of a message whose end has not come yet.
    incoming: Vec<u8>,
}

impl Stream {
    /// Whether all messages have left this process.
    pub(crate) fn is_sent(&self) -> bool {
        self.n_sent == self.outgoing.len()
    }

    /// Sends a message, or as much of it as there is room for.
    pub(crate) fn send(&mut self, message: &[u8], neighbour: &Neighbour) {
        self.outgoing.extend_from_slice(&(message.len() as u64).to_le_bytes());
        self.outgoing.extend_from_slice(message);
        self.flush(neighbour);
    }

    fn flush(&mut self, neighbour: &Neighbour) {
        let n_written = neighbour.outgoing.write(&self.outgoing[self.n_sent..]);
        self.n_sent += n_written;
        if self.is_sent() {
            self.outgoing.clear();
            self.n_sent = 0;
        }
        if n_written > 0 {
            neighbour.wake();
        }
    }

    /// Sends on what waits, and takes in all messages that have come whole; none if what the
    /// neighbour has written cannot be read.
    pub(crate) fn hear(
        &mut self,
        neighbour: &Neighbour,
        mut take: impl FnMut(&[u8]),
    ) -> Option<()> {
        if !self.is_sent() {
            self.flush(neighbour);
        }
        if neighbour.incoming.n_waiting()? == 0 {
            return Some(());
        }
        if neighbour.incoming.read(&mut self.incoming) {
            // It was full: its writer may wait for room.
            neighbour.wake();
        }
        let mut rest = &self.incoming[..];
        while let Some((message, after)) = first_note(rest) {
            take(message);
            rest = after;
        }
        let n_read = self.incoming.len() - rest.len();
        self.incoming.drain(..n_read);
        Some(())
    }
}

/// The first message of a stream, and what follows it.
fn first_note(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}
