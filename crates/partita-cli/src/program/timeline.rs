//! `partita run --timeline FILE`: what the ranks did, as a picture or as a trace.

use std::path::Path;

use partita_array::timeline::{Activity, Event, trace};
use partita_picture::timeline::{Bar, Colour, Row, Track, svg};

use crate::Failure;

/// Checks that a file's name says which form is wanted.
pub(super) fn check(file: &str) -> Result<(), Failure> {
    if is_picture(file) || has_ending(file, "json") {
        return Ok(());
    }
    let message = format!("`{file}` is no timeline; use FILE.svg or FILE.json");
    Err(Failure::Usage { reason: "timeline", message })
}

fn has_ending(file: &str, wanted: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn is_picture(file: &str) -> bool {
    has_ending(file, "svg")
}

/// Writes all ranks' events into a file.
pub(super) fn write(file: &str, title: &str, ranks: &[Vec<Event>]) -> Result<(), Failure> {
    let text = if is_picture(file) { picture(title, ranks) } else { trace(ranks) };
    std::fs::write(file, text)
        .map_err(|error| Failure::Failed(format!("cannot write {file}: {error}; use another file")))
}

/// All ranks' events as a picture.
#[must_use]
pub fn picture(title: &str, ranks: &[Vec<Event>]) -> String {
    svg(title, &ranks.iter().enumerate().map(track).collect::<Vec<_>>())
}

fn track((rank, events): (usize, &Vec<Event>)) -> Track {
    let row = |name: &str, is_here: &dyn Fn(&Event) -> bool| Row {
        name: name.to_string(),
        bars: events.iter().filter(|event| is_here(event)).map(bar).collect(),
    };
    let is_under_way = |event: &Event| event.activity == Activity::Exchange;
    Track {
        name: format!("rank {rank}"),
        rows: vec![
            row("computing, waiting", &|event| !is_under_way(event)),
            row("exchanges", &is_under_way),
        ],
    }
}

fn bar(event: &Event) -> Bar {
    let colour = match event.activity {
        Activity::Kernel => Colour::Busy,
        Activity::Exchange => Colour::Moving,
        Activity::Waiting => Colour::Idle,
    };
    let (start, end) = (event.start as f64 / 1e9, event.end as f64 / 1e9);
    Bar { start, end, colour, words: format!("{} {}", event.activity.name(), event.about) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_the_name_decides() {
        assert!(check("a.svg").is_ok() && check("b/c.JSON").is_ok());
        assert!(check("a.png").is_err() && check("svg").is_err());
    }

    #[test]
    fn every_event_has_a_bar() {
        let event = |activity| Event { activity, start: 5, end: 9, about: "x".to_string() };
        let events = Activity::ALL.map(event).to_vec();
        let track = track((3, &events));
        let n_bars: Vec<usize> = track.rows.iter().map(|row| row.bars.len()).collect();
        assert_eq!((track.name.as_str(), n_bars), ("rank 3", vec![2, 1]));
    }
}
