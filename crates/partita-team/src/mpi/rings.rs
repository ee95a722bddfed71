//! Rings: what a process writes for its neighbours of the node, in memory they can map.
//!
//! A process has a word by which it is woken and one ring of lines per neighbour. A ring has one
//! writer, the owner of the rings, and one reader. Both count lines for themselves: the writer stamps
//! each with its number and length once it is whole, and the reader knows which comes next, so nothing
//! but the line itself travels between them. Only now and then the reader says how far it has come.
//! Who sleeps says so first and looks once more; who writes looks for sleepers after writing. One of
//! the two sees the other, so no news is slept through.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

const LINE_BYTES: usize = 64;
/// Lines that a ring holds; longer messages flow through it.
const N_LINES: u64 = 256;
const RING_BYTES: usize = LINE_BYTES * (1 + N_LINES as usize);
/// A line begins with its stamp.
const STAMP_BYTES: usize = 8;
const LINE_DATA: usize = LINE_BYTES - STAMP_BYTES;
/// Lines that the writer gets back at a time.
const FREED_AT_ONCE: u64 = N_LINES / 4;

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
        rings_at(n_neighbours) + n_neighbours * RING_BYTES
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
        let at = rings_at(self.n_neighbours) + neighbour * RING_BYTES;
        Ring { base: self.base + at }
    }

    /// Wakes the owner if it sleeps; call it after writing, and [`written`].
    pub(crate) fn wake(&self) {
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

/// Makes what was written come before the look for sleepers that follows: once, whoever is woken.
pub(crate) fn written() {
    fence(Ordering::SeqCst);
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

/// A stream of bytes from one process to another, in lines of memory that tell their own number: a
/// reader finds a short message where it looks for it, by fetching one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    base: usize,
}

/// What the bytes of a line are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Some bytes of the stream.
    Part,
    /// A message of its own.
    Whole,
}

/// What a line of a ring says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    /// Which line of the ring it is, from 1 on.
    number: u64,
    form: Form,
    n_bytes: usize,
}

/// In the stamp of a line that is a message of its own.
const WHOLE: u64 = 0x80;

impl Stamp {
    fn to_word(self) -> u64 {
        let form = if self.form == Form::Whole { WHOLE } else { 0 };
        self.number << 8 | form | self.n_bytes as u64
    }

    fn of_word(word: u64) -> Self {
        let form = if word & WHOLE == 0 { Form::Part } else { Form::Whole };
        Self { number: word >> 8, form, n_bytes: (word & (WHOLE - 1)) as usize }
    }
}

impl Ring {
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: inside the rings, aligned, and only ever used as an atomic.
        unsafe { AtomicU64::from_ptr((self.base + offset) as *mut u64) }
    }

    /// Lines that have been read, told now and then.
    fn n_freed(&self) -> &AtomicU64 {
        self.word(0)
    }

    fn stamp(&self, line: u64) -> &AtomicU64 {
        self.word(line_at(line))
    }

    fn data(&self, line: u64) -> *mut u8 {
        (self.base + line_at(line) + STAMP_BYTES) as *mut u8
    }
}

fn line_at(line: u64) -> usize {
    LINE_BYTES * (1 + (line % N_LINES) as usize)
}

/// The writer's end of a ring. One thread writes at a time.
#[derive(Debug)]
pub(crate) struct Outgoing {
    ring: Ring,
    n_written: AtomicU64,
    /// Lines that the reader was seen to have read.
    n_freed: AtomicU64,
}

impl Outgoing {
    pub(crate) fn new(ring: Ring) -> Self {
        Self { ring, n_written: AtomicU64::new(0), n_freed: AtomicU64::new(0) }
    }

    /// Whether the writer can write.
    pub(crate) fn has_room(&self) -> bool {
        let n_written = self.n_written.load(Ordering::Relaxed);
        if n_written - self.n_freed.load(Ordering::Relaxed) < N_LINES {
            return true;
        }
        let n_freed = self.ring.n_freed().load(Ordering::Acquire);
        // A reader that has read what was never written has written nonsense: nothing goes to it.
        let makes_sense = n_freed <= n_written && n_written - n_freed < N_LINES;
        if makes_sense {
            self.n_freed.store(n_freed, Ordering::Relaxed);
        }
        makes_sense
    }

    /// Writes as many bytes as there is room for; gives their number.
    pub(crate) fn write(&self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() && self.has_room() {
            let (line, after) = rest.split_at(rest.len().min(LINE_DATA));
            self.write_line(line, Form::Part);
            rest = after;
        }
        bytes.len() - rest.len()
    }

    /// Writes a message into a line of its own, if it fits and there is room; says whether it did.
    pub(crate) fn write_whole(&self, message: &[u8]) -> bool {
        let fits = (1..=LINE_DATA).contains(&message.len()) && self.has_room();
        if fits {
            self.write_line(message, Form::Whole);
        }
        fits
    }

    /// Writes the next line, for which there is room.
    fn write_line(&self, bytes: &[u8], form: Form) {
        let line = self.n_written.load(Ordering::Relaxed);
        // SAFETY: a line that has been read, or never written, is the writer's.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.ring.data(line), bytes.len()) };
        let stamp = Stamp { number: line + 1, form, n_bytes: bytes.len() };
        self.ring.stamp(line).store(stamp.to_word(), Ordering::Release);
        self.n_written.store(line + 1, Ordering::Relaxed);
    }
}

/// The reader's end of a ring. One thread reads at a time; any may look.
#[derive(Debug)]
pub(crate) struct Incoming {
    ring: Ring,
    n_read: AtomicU64,
}

/// A line that has been read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub form: Form,
    data: [u8; LINE_DATA],
    n_bytes: usize,
    /// Whether the writer was told of room, and may wait for it.
    pub has_told: bool,
}

impl Line {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[..self.n_bytes]
    }
}

/// What a reader finds next in a ring.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News<T> {
    Nothing,
    Line(T),
    /// What no writer writes.
    Damage,
}

impl Incoming {
    pub(crate) fn new(ring: Ring) -> Self {
        Self { ring, n_read: AtomicU64::new(0) }
    }

    /// Whether something waits to be read.
    pub(crate) fn has_news(&self) -> bool {
        self.next() != News::Nothing
    }

    /// What waits to be read.
    fn next(&self) -> News<Stamp> {
        let line = self.n_read.load(Ordering::Relaxed);
        let stamp = Stamp::of_word(self.ring.stamp(line).load(Ordering::Acquire));
        if stamp.number == line + 1 && (1..=LINE_DATA).contains(&stamp.n_bytes) {
            return News::Line(stamp);
        }
        // The line still has what was read from it last, if anything.
        match stamp.number == (line + 1).saturating_sub(N_LINES) {
            true => News::Nothing,
            false => News::Damage,
        }
    }

    /// Reads the next line.
    pub(crate) fn read(&self) -> News<Line> {
        let Stamp { form, n_bytes, .. } = match self.next() {
            News::Line(stamp) => stamp,
            News::Nothing => return News::Nothing,
            News::Damage => return News::Damage,
        };
        let (line, mut data) = (self.n_read.load(Ordering::Relaxed), [0; LINE_DATA]);
        // SAFETY: a line that has been written is the reader's, and as long as this.
        unsafe { ptr::copy_nonoverlapping(self.ring.data(line), data.as_mut_ptr(), LINE_DATA) };
        self.n_read.store(line + 1, Ordering::Relaxed);
        let has_told = (line + 1).is_multiple_of(FREED_AT_ONCE);
        if has_told {
            self.ring.n_freed().store(line + 1, Ordering::Release);
        }
        News::Line(Line { form, data, n_bytes, has_told })
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

    /// All lines that wait, and how often the writer was told of room.
    fn read_all(reader: &Incoming, into: &mut Vec<u8>) -> usize {
        let mut n_told = 0;
        while let News::Line(line) = reader.read() {
            into.extend_from_slice(line.bytes());
            n_told += usize::from(line.has_told);
        }
        n_told
    }

    #[test]
    fn a_long_stream_flows_through_a_ring_in_order() {
        let (_memory, rings) = rings(2);
        let (writer, reader) = (Outgoing::new(rings.ring(1)), Incoming::new(rings.ring(1)));
        let sent: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        let got = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut at = 0;
                while at < sent.len() {
                    let n = writer.write(&sent[at..(at + 7000).min(sent.len())]);
                    written();
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
                read_all(&reader, &mut got);
            }
            got
        });
        assert!(got == sent, "all bytes in order");
        assert!(!Incoming::new(rings.ring(0)).has_news());
    }

    #[test]
    fn a_writer_stops_when_the_ring_is_full_and_goes_on_when_a_quarter_is_read() {
        let (_memory, rings) = rings(1);
        let (writer, reader) = (Outgoing::new(rings.ring(0)), Incoming::new(rings.ring(0)));
        let room = N_LINES as usize * LINE_DATA;
        let bytes: Vec<u8> = (0..room + 1).map(|i| (i % 253) as u8).collect();
        let mut got = Vec::new();
        for turn in 0..3 {
            assert_eq!(writer.write(&bytes), room, "turn {turn}");
            assert!(!writer.has_room() && writer.write(b"a") == 0 && !writer.write_whole(b"a"));
            got.clear();
            assert_eq!(read_all(&reader, &mut got), 4);
            assert!(got == bytes[..room] && writer.has_room());
        }
        for number in 0..2 * FREED_AT_ONCE {
            got.clear();
            assert_eq!((writer.write(b"abc"), reader.has_news()), (3, true));
            let n_told = usize::from(number % FREED_AT_ONCE == FREED_AT_ONCE - 1);
            assert_eq!(read_all(&reader, &mut got), n_told);
            assert_eq!((&*got, reader.has_news()), (&b"abc"[..], false));
        }
    }

    #[test]
    fn short_messages_are_lines_of_their_own() {
        let (_memory, rings) = rings(1);
        let (writer, reader) = (Outgoing::new(rings.ring(0)), Incoming::new(rings.ring(0)));
        let longest = [7; LINE_DATA];
        assert!(!writer.write_whole(&[]) && !writer.write_whole(&[7; LINE_DATA + 1]));
        assert!(writer.write(b"ab") == 2 && writer.write_whole(&longest));
        let next = || match reader.read() {
            News::Line(line) => Some((line.form, line.bytes().to_vec())),
            _ => None,
        };
        assert_eq!(next(), Some((Form::Part, b"ab".to_vec())));
        assert_eq!(next(), Some((Form::Whole, longest.to_vec())));
        assert_eq!(next(), None);
    }

    #[test]
    fn stamps_and_counts_that_make_no_sense_move_nothing() {
        let (_memory, rings) = rings(1);
        let ring = rings.ring(0);
        let (writer, reader) = (Outgoing::new(ring), Incoming::new(ring));
        let odd =
            [(2, 3), (1, 0), (1, LINE_DATA + 1), (1, 127), (N_LINES + 1, 3), (u64::MAX >> 8, 1)];
        for (number, n_bytes) in odd {
            for form in [Form::Part, Form::Whole] {
                let stamp = Stamp { number, form, n_bytes };
                assert_eq!(Stamp::of_word(stamp.to_word()), stamp);
                ring.stamp(0).store(stamp.to_word(), Ordering::SeqCst);
                assert_eq!(reader.read(), News::Damage, "{stamp:?}");
                assert!(reader.has_news());
            }
        }
        let room = N_LINES as usize * LINE_DATA;
        assert_eq!(writer.write(&vec![0; room]), room);
        for n_freed in [N_LINES + 1, u64::MAX] {
            ring.n_freed().store(n_freed, Ordering::SeqCst);
            assert!(!writer.has_room() && writer.write(b"abc") == 0);
        }
    }

    #[test]
    fn marks_of_mapping_are_seen() {
        let (_memory, rings) = rings(3);
        rings.mark_mapped(2);
        assert_eq!([0, 1, 2].map(|neighbour| rings.is_mapped_by(neighbour)), [false, false, true]);
    }
}
