//! Rings: what a process writes for its neighbours of the node, in memory they can map.
//!
//! A process has a word by which it is woken and one ring of bytes per neighbour. A ring has one
//! writer, the owner of the rings, and one reader; bytes before `head` are written, bytes before
//! `tail` are read, and what lies between waits. Who sleeps says so first and looks once more; who
//! writes looks for sleepers after writing. One of the two sees the other, so no news is slept
//! through.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

const LINE_BYTES: usize = 64;
/// Bytes that a ring holds; longer messages flow through it.
const RING_BYTES: usize = 16 << 10;

/// Offsets of what lies before the rings.
const WAKE_COUNT: usize = 0;
const N_SLEEPERS: usize = LINE_BYTES;
const MAPPED_BY: usize = 2 * LINE_BYTES;

/// The rings of a process by their address; whoever maps them vouches for that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rings {
    base: usize,
    n_neighbours: usize,
}

impl Rings {
    /// Bytes of the rings for so many neighbours.
    pub(crate) fn n_bytes(n_neighbours: usize) -> usize {
        rings_at(n_neighbours) + n_neighbours * (2 * LINE_BYTES + RING_BYTES)
    }

    /// The rings that lie at this address.
    ///
    /// # Safety
    /// So many bytes must be mapped there for as long as the rings are used, zeroed at first, and
    /// touched by nothing but rings.
    pub(crate) unsafe fn at(base: usize, n_neighbours: usize) -> Self {
        Self { base, n_neighbours }
    }

    fn small(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: inside the rings, aligned, and only ever used as an atomic.
        unsafe { AtomicU32::from_ptr((self.base + offset) as *mut u32) }
    }

    /// Tells the owner that this neighbour has mapped its rings.
    pub(crate) fn mark_mapped(&self, neighbour: usize) {
        self.small(MAPPED_BY + 4 * neighbour).store(1, Ordering::Release);
    }

    /// Whether a neighbour has mapped these rings.
    pub(crate) fn is_mapped_by(&self, neighbour: usize) -> bool {
        self.small(MAPPED_BY + 4 * neighbour).load(Ordering::Acquire) == 1
    }

    /// Tells the owner that this neighbour will touch its rings no more.
    pub(crate) fn mark_unmapped(&self, neighbour: usize) {
        self.small(MAPPED_BY + 4 * neighbour).store(0, Ordering::Release);
    }

    /// The ring from the owner to a neighbour.
    pub(crate) fn ring(&self, neighbour: usize) -> Ring {
        assert!(neighbour < self.n_neighbours, "a ring per neighbour");
        let at = rings_at(self.n_neighbours) + neighbour * (2 * LINE_BYTES + RING_BYTES);
        Ring { base: self.base + at }
    }

    /// Wakes the owner if it sleeps; call it after writing.
    pub(crate) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.small(N_SLEEPERS).load(Ordering::Relaxed) > 0 {
            self.small(WAKE_COUNT).fetch_add(1, Ordering::Relaxed);
            futex(self.small(WAKE_COUNT), libc::FUTEX_WAKE, i32::MAX as u32, None);
        }
    }

    /// Sleeps until woken, at most so long, unless there is news already.
    pub(crate) fn sleep(&self, limit: Duration, has_news: impl Fn() -> bool) {
        let sleepers = self.small(N_SLEEPERS);
        sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let wake_count = self.small(WAKE_COUNT).load(Ordering::Relaxed);
        if !has_news() {
            futex(self.small(WAKE_COUNT), libc::FUTEX_WAIT, wake_count, Some(limit));
        }
        sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

fn rings_at(n_neighbours: usize) -> usize {
    (MAPPED_BY + 4 * n_neighbours).next_multiple_of(LINE_BYTES)
}

fn futex(word: &AtomicU32, operation: i32, value: u32, limit: Option<Duration>) {
    let limit = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos() as i32),
    });
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the word is alive; waking and timing out are both fine, the caller looks again.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, limit) };
}

/// A stream of bytes from one process to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    base: usize,
}

impl Ring {
    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: inside the rings, aligned, and only ever used as an atomic.
        unsafe { AtomicU64::from_ptr((self.base + offset) as *mut u64) }
    }

    fn head(&self) -> &AtomicU64 {
        self.counter(0)
    }

    fn tail(&self) -> &AtomicU64 {
        self.counter(LINE_BYTES)
    }

    fn data(&self) -> *mut u8 {
        (self.base + 2 * LINE_BYTES) as *mut u8
    }

    /// Bytes that wait to be read; none where another process has written nonsense.
    pub(crate) fn n_waiting(&self) -> Option<usize> {
        let tail = self.tail().load(Ordering::Acquire);
        let n_waiting = self.head().load(Ordering::Acquire).wrapping_sub(tail);
        usize::try_from(n_waiting).ok().filter(|n_waiting| *n_waiting <= RING_BYTES)
    }

    /// Writes as many bytes as there is room for; gives their number.
    pub(crate) fn write(&self, bytes: &[u8]) -> usize {
        let head = self.head().load(Ordering::Relaxed);
        let n_waiting = self.n_waiting().unwrap_or(RING_BYTES);
        let n_bytes = bytes.len().min(RING_BYTES - n_waiting);
        let at = head as usize % RING_BYTES;
        let first = n_bytes.min(RING_BYTES - at);
        // SAFETY: the bytes between tail and tail + RING_BYTES are the writer's.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.data().add(at), first);
            ptr::copy_nonoverlapping(bytes.as_ptr().add(first), self.data(), n_bytes - first);
        }
        self.head().store(head.wrapping_add(n_bytes as u64), Ordering::Release);
        n_bytes
    }

    /// Whether the writer can write.
    pub(crate) fn has_room(&self) -> bool {
        self.n_waiting().is_some_and(|n_waiting| n_waiting < RING_BYTES)
    }

    /// Whether bytes wait to be read.
    pub(crate) fn has_news(&self) -> bool {
        self.n_waiting().is_some_and(|n_waiting| n_waiting > 0)
    }

    /// Appends all bytes that wait; true if there was no room for more.
    pub(crate) fn read(&self, into: &mut Vec<u8>) -> bool {
        let tail = self.tail().load(Ordering::Relaxed);
        let n_bytes = self.n_waiting().unwrap_or(0);
        let at = tail as usize % RING_BYTES;
        let first = n_bytes.min(RING_BYTES - at);
        // SAFETY: the bytes between tail and head are the reader's.
        unsafe {
            into.extend_from_slice(std::slice::from_raw_parts(self.data().add(at), first));
            into.extend_from_slice(std::slice::from_raw_parts(self.data(), n_bytes - first));
        }
        self.tail().store(tail.wrapping_add(n_bytes as u64), Ordering::Release);
        n_bytes == RING_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(n_neighbours: usize) -> (Vec<u64>, Rings) {
        let mut memory = vec![0_u64; Rings::n_bytes(n_neighbours).div_ceil(8) + 8];
        let base = (memory.as_mut_ptr() as usize).next_multiple_of(LINE_BYTES);
        // SAFETY: the vector is zeroed and outlives the rings.
        (memory, unsafe { Rings::at(base, n_neighbours) })
    }

    #[test]
    fn a_long_stream_flows_through_a_ring_in_order() {
        let (_memory, rings) = rings(2);
        let (writer, reader) = (rings.ring(1), rings.ring(1));
        let sent: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        let got = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut at = 0;
                while at < sent.len() {
                    let n = writer.write(&sent[at..(at + 7000).min(sent.len())]);
                    rings.wake();
                    at += n;
                    if n == 0 {
                        std::thread::yield_now();
                    }
                }
            });
            let mut got = Vec::new();
            while got.len() < sent.len() {
                rings.sleep(Duration::from_secs(5), || reader.has_news());
                reader.read(&mut got);
            }
            got
        });
        assert!(got == sent, "all bytes in order");
        assert!(!rings.ring(0).has_news());
    }

    #[test]
    fn counters_that_make_no_sense_move_nothing() {
        let (_memory, rings) = rings(1);
        let ring = rings.ring(0);
        assert_eq!((ring.write(b"abc"), ring.n_waiting()), (3, Some(3)));
        for (head, tail) in
            [(3, 4), (0, u64::MAX - RING_BYTES as u64), (u64::MAX, 3), (RING_BYTES as u64 + 1, 0)]
        {
            ring.head().store(head, Ordering::SeqCst);
            ring.tail().store(tail, Ordering::SeqCst);
            let mut got = Vec::new();
            assert_eq!(ring.n_waiting(), None, "{head} {tail}");
            assert!(!ring.read(&mut got) && got.is_empty() && !ring.has_news() && !ring.has_room());
            assert_eq!(ring.write(b"abc"), 0);
        }
        // Counters may wrap around.
        ring.head().store(u64::MAX, Ordering::SeqCst);
        ring.tail().store(u64::MAX, Ordering::SeqCst);
        let mut got = Vec::new();
        assert_eq!(ring.write(b"abc"), 3);
        ring.read(&mut got);
        assert_eq!(got, b"abc");
    }

    #[test]
    fn marks_of_mapping_are_seen() {
        let (_memory, rings) = rings(3);
        rings.mark_mapped(2);
        assert_eq!([0, 1, 2].map(|neighbour| rings.is_mapped_by(neighbour)), [false, false, true]);
    }
}
