//! Windows of this process as others ask for them who can map none of its memory.
//!
//! Whoever serves them (`far/`) finds a window by its number, asks what it shows, and copies it piece
//! by piece. The owner waits for the copy of one piece at most, never for a reader or a link: what
//! it showed before may go as soon as its call has returned, and the next piece is refused then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::memory::shown_window::{ShownWords, Spans};

static WINDOWS: Mutex<BTreeMap<u64, Weak<ServedWindow>>> = Mutex::new(BTreeMap::new());
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// A window that is served.
#[derive(Debug)]
pub(crate) struct ServedWindow {
    number: u64,
    /// In a forked child the window is its parent's, who goes on with it.
    process: u32,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    state: State,
    /// Counts the changes: what was asked for under another number is not there any more.
    sequence: u64,
    spans: Spans,
    words: ShownWords,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Writing,
    Shown,
    Closed,
}

/// What a window says when it is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Served {
    Shown(ServedList),
    /// The owner writes at the moment.
    Writing,
    /// The owner shows nothing any more.
    Closed,
}

/// What a window showed when it was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServedList {
    pub sequence: u64,
    pub words: ShownWords,
    /// Bytes of each array.
    pub sizes: Vec<u64>,
}

impl ServedWindow {
    /// A window that shows nothing yet.
    pub(crate) fn new() -> Arc<Self> {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let window = Arc::new(Self { number, process, content: Mutex::default() });
        windows().insert(number, Arc::downgrade(&window));
        window
    }

    /// The window of a number; none if there is none any more.
    pub(crate) fn find(number: u64) -> Option<Arc<Self>> {
        windows().get(&number)?.upgrade()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Shows arrays from now on; those before may go once this has returned.
    pub(crate) fn show(&self, spans: Spans, words: ShownWords) {
        self.change(State::Shown, |content| {
            content.spans = spans;
            content.words = words;
        });
    }

    /// Says that the owner writes to what it shows, until it shows it again.
    pub(crate) fn begin_writing(&self) {
        self.change(State::Writing, |_| {});
    }

    /// Shows nothing any more; what was shown may go once this has returned.
    pub(crate) fn close(&self) {
        self.change(State::Closed, |content| content.spans = Spans::new());
        if !self.is_parents() {
            windows().remove(&self.number);
        }
    }

    /// What it shows now.
    pub(crate) fn look(&self) -> Served {
        let content = self.content();
        match content.state {
            State::Writing => Served::Writing,
            State::Closed => Served::Closed,
            State::Shown => Served::Shown(ServedList {
                sequence: content.sequence,
                words: content.words.clone(),
                sizes: content.spans.iter().map(|(_, n_bytes)| *n_bytes as u64).collect(),
            }),
        }
    }

    /// Copies bytes of an array from `start` on; false if they are not shown any more.
    pub(crate) fn copy(&self, sequence: u64, array: u64, start: u64, into: &mut [u8]) -> bool {
        let content = self.content();
        if content.state != State::Shown || content.sequence != sequence {
            return false;
        }
        let span = usize::try_from(array).ok().and_then(|array| content.spans.get(array));
        let (Some((address, n_bytes)), Ok(start)) = (span, usize::try_from(start)) else {
            return false;
        };
        if start.checked_add(into.len()).is_none_or(|end| end > *n_bytes) {
            return false;
        }
        // SAFETY: inside an array that is shown; its owner lets go of it, or begins to write, only
        // after `change`, which waits for the lock that is held here.
        unsafe {
            std::ptr::copy_nonoverlapping(
                (address + start) as *const u8,
                into.as_mut_ptr(),
                into.len(),
            );
        }
        true
    }

    fn change(&self, to: State, work: impl FnOnce(&mut Content)) {
        // Looked at before the lock, which another thread may have held when the process forked.
        if self.is_parents() {
            return;
        }
        let mut content = self.content();
        if content.state != State::Closed {
            content.state = to;
            content.sequence += 1;
            work(&mut content);
        }
    }

    fn is_parents(&self) -> bool {
        self.process != std::process::id()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn windows() -> MutexGuard<'static, BTreeMap<u64, Weak<ServedWindow>>> {
    WINDOWS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(version: u64) -> ShownWords {
        ShownWords { version, description: b"described".to_vec() }
    }

    fn shown(window: &ServedWindow) -> ServedList {
        match window.look() {
            Served::Shown(list) => list,
            other => panic!("{other:?} where something is shown"),
        }
    }

    #[test]
    fn bytes_are_copied_as_long_as_they_are_shown() {
        let window = ServedWindow::new();
        assert_eq!(window.look(), Served::Writing);
        let (first, second) = (vec![1_u8; 10], vec![2_u8; 20]);
        let span = |bytes: &[u8]| (bytes.as_ptr() as usize, bytes.len());
        window.show(vec![span(&first), (0, 0)], words(1));
        let list = shown(&window);
        assert_eq!((list.sizes.as_slice(), list.words.version), (&[10, 0][..], 1));
        let mut into = [0; 4];
        assert!(window.copy(list.sequence, 0, 6, &mut into));
        assert_eq!(into, [1; 4]);
        assert!(window.copy(list.sequence, 1, 0, &mut []));
        for (array, start) in [(0, 7), (0, u64::MAX), (1, 0), (2, 0), (u64::MAX, 0)] {
            assert!(!window.copy(list.sequence, array, start, &mut into), "{array} from {start}");
        }

        window.begin_writing();
        assert_eq!(window.look(), Served::Writing);
        assert!(!window.copy(list.sequence, 0, 0, &mut into));
        window.show(vec![span(&second)], words(2));
        assert!(!window.copy(list.sequence, 0, 0, &mut into), "of what was shown before");
        assert!(window.copy(shown(&window).sequence, 0, 0, &mut into));
        assert_eq!(into, [2; 4]);

        window.close();
        assert_eq!(window.look(), Served::Closed);
        assert!(ServedWindow::find(window.number()).is_none());
        window.show(vec![span(&first)], words(3));
        assert_eq!(window.look(), Served::Closed, "closed for good");
    }

    #[test]
    fn windows_are_found_by_numbers_as_long_as_they_live() {
        let (one, other) = (ServedWindow::new(), ServedWindow::new());
        let number = one.number();
        assert_eq!(ServedWindow::find(number).expect("it lives").number(), number);
        assert_ne!(other.number(), number);
        drop(one);
        assert!(ServedWindow::find(number).is_none());
    }
}
