//! What a rank did, and when: kernels, exchanges, waiting.
//!
//! A [`Recorder`] belongs to one rank. Nothing is recorded without one, and asking whether there is
//! one is all that it costs then. Times count from the recorder's beginning; ranks that begin
//! together (after a barrier) have times that can be compared.
//!
//! ```
//! use partita_array::timeline::{Activity, Recorder, trace};
//! let recorder = Recorder::new();
//! let start = recorder.now();
//! recorder.add(Activity::Kernel, start, recorder.now(), "4x4");
//! assert!(trace(&[recorder.take()]).contains("\"name\": \"kernel 4x4\""));
//! ```

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Instant;

/// What was going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activity {
    /// A kernel ran.
    Kernel,
    /// Data were under way, from the start of an exchange to its arrival.
    Exchange,
    /// The rank waited for others.
    Waiting,
}

impl Activity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Exchange, Self::Waiting];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Exchange => "exchange",
            Self::Waiting => "waiting",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// One stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What was going on.
    pub activity: Activity,
    /// Nanoseconds from the recorder's beginning.
    pub start: u64,
    /// As the start; not before it.
    pub end: u64,
    /// Extents of a kernel, bytes of an exchange, what was waited for.
    pub about: String,
}

impl Event {
    /// Whether both went on at some time.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Takes notes for one rank.
#[derive(Debug)]
pub struct Recorder {
    origin: Instant,
    events: RefCell<Vec<Event>>,
    /// Who took notes before and goes on to.
    outer: Option<Rc<Self>>,
}

impl Recorder {
    /// A recorder that begins now.
    #[must_use]
    pub fn new() -> Self {
        Self::inside(None)
    }

    /// One that begins now while another goes on: that one has its events, too.
    #[must_use]
    pub fn inside(outer: Option<Rc<Self>>) -> Self {
        Self { origin: Instant::now(), events: RefCell::default(), outer }
    }

    /// Who goes on to take notes.
    #[must_use]
    pub fn outer(&self) -> Option<Rc<Self>> {
        self.outer.clone()
    }

    /// Nanoseconds from the beginning until now.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.at(Instant::now())
    }

    /// Nanoseconds from the beginning until a moment.
    #[must_use]
    pub fn at(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// Adds an event.
    pub fn add(&self, activity: Activity, start: u64, end: u64, about: impl Into<String>) {
        let event = Event { activity, start, end: end.max(start), about: about.into() };
        if let Some(outer) = &self.outer {
            let later = outer.at(self.origin);
            outer.add(activity, event.start + later, event.end + later, event.about.clone());
        }
        self.events.borrow_mut().push(event);
    }

    /// What was recorded so far, by the time it began.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        let mut events = self.events.take();
        events.sort_by_key(|event| event.start);
        events
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

/// Events as lines of text, for other processes.
#[must_use]
pub fn to_lines(events: &[Event]) -> String {
    let mut lines = String::new();
    for Event { activity, start, end, about } in events {
        let _ = writeln!(lines, "{} {start} {end} {about}", activity.name());
    }
    lines
}

/// Events of lines that [`to_lines`] has written; others are left out.
#[must_use]
pub fn from_lines(lines: &str) -> Vec<Event> {
    let read = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let activity = Activity::from_name(words.next()?)?;
        let (start, end) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Event { activity, start, end, about: words.next().unwrap_or_default().to_string() })
    };
    lines.lines().filter_map(read).collect()
}

/// All ranks' events as a trace that Perfetto and Chrome show: a process per rank, with a row for
/// what it does and one for what is under way.
#[must_use]
pub fn trace(ranks: &[Vec<Event>]) -> String {
    let mut lines = Vec::new();
    for (rank, events) in ranks.iter().enumerate() {
        lines.push(format!(
            r#"{{"name": "process_name", "ph": "M", "pid": {rank}, "args": {{"name": "rank {rank}"}}}}"#
        ));
        for (row, name) in ["computing and waiting", "exchanges"].iter().enumerate() {
            lines.push(format!(
                r#"{{"name": "thread_name", "ph": "M", "pid": {rank}, "tid": {row}, "args": {{"name": "{name}"}}}}"#
            ));
        }
        lines.extend(events.iter().map(|event| traced(rank, event)));
    }
    format!("{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{}\n]}}\n", lines.join(",\n"))
}

fn traced(rank: usize, event: &Event) -> String {
    let name = event.activity.name();
    let row = u8::from(event.activity == Activity::Exchange);
    let (start, length) = (event.start as f64 / 1e3, (event.end - event.start) as f64 / 1e3);
    format!(
        r#"{{"name": "{name} {}", "cat": "{name}", "ph": "X", "ts": {start}, "dur": {length}, "pid": {rank}, "tid": {row}}}"#,
        event.about
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Event> {
        let recorder = Recorder::new();
        recorder.add(Activity::Exchange, 10, 40, "64 B");
        recorder.add(Activity::Kernel, 5, 20, "3x4");
        recorder.add(Activity::Waiting, 50, 45, "boxes");
        recorder.take()
    }

    #[test]
    fn events_come_in_order_and_never_end_before_they_begin() {
        let found = events();
        assert_eq!(found.iter().map(|event| event.start).collect::<Vec<_>>(), [5, 10, 50]);
        assert!(found[0].overlaps(&found[1]) && !found[1].overlaps(&found[2]));
        assert_eq!(found[2].end, 50);
    }

    #[test]
    fn a_recorder_inside_another_leaves_it_nothing_to_miss() {
        let outer = Rc::new(Recorder::new());
        outer.add(Activity::Kernel, 1, 2, "before");
        let inner = Recorder::inside(Some(Rc::clone(&outer)));
        inner.add(Activity::Kernel, 5, 9, "4");
        let (inner, outer) = (inner.take(), outer.take());
        let about = |events: &[Event]| -> Vec<String> {
            events.iter().map(|event| event.about.clone()).collect()
        };
        assert_eq!(
            (about(&inner), about(&outer)),
            (vec!["4".into()], vec!["before".into(), "4".into()])
        );
        assert_eq!(outer[1].end - outer[1].start, 4);
        assert!(outer[1].start >= 5);
    }

    #[test]
    fn events_travel_as_lines() {
        let found = events();
        assert_eq!(from_lines(&to_lines(&found)), found);
        assert_eq!(from_lines("kernel x 3 4x4\nnothing\n"), []);
    }

    #[test]
    fn a_trace_has_all_events() {
        let trace = trace(&[events(), Vec::new()]);
        assert!(trace.contains(r#""name": "kernel 3x4", "cat": "kernel", "ph": "X", "ts": 0.005, "dur": 0.015, "pid": 0, "tid": 0"#), "{trace}");
        assert!(trace.contains(r#""args": {"name": "rank 1"}"#));
    }
}
