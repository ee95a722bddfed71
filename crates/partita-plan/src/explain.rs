//! A plan in words: what moves, how far from the least possible, what it will take.

use std::fmt::Write;

use partita_layout::Layout;

use crate::plan::{Combine, Direction, Plan};

/// A message costs this much besides its bytes; a guess until an engine has measured.
const MESSAGE_SECONDS: f64 = 1e-6;
/// Bytes per second of a rank; likewise.
const BYTES_PER_SECOND: f64 = 8e9;

impl Plan {
    /// Seconds the plan should take, by the busiest rank and a nominal machine.
    #[must_use]
    pub fn predicted_seconds(&self) -> f64 {
        let totals = self.totals();
        let busiest = totals.max_send_bytes.max(totals.max_recv_bytes);
        let n_ranks = (self.source().n_ranks().min(self.target().n_ranks())).max(1);
        let messages = (totals.n_messages as f64 / n_ranks as f64).ceil();
        messages * MESSAGE_SECONDS + busiest as f64 / BYTES_PER_SECOND
    }

    /// A few lines for people.
    #[must_use]
    pub fn explain(&self) -> String {
        let totals = self.totals();
        let n_bytes = self.dtype().n_bytes();
        let all = u128::from(self.source().n_elements()) * u128::from(n_bytes);
        let adjoint = if self.direction() == Direction::Adjoint { "adjoint " } else { "" };
        let combine = match self.combine() {
            Combine::Copy => "",
            Combine::Sum => ", adding",
        };
        let mut text = String::new();
        let mut line = |words: String| {
            let _ = writeln!(text, "{words}");
        };
        line(format!(
            "plan {}  {} {} = {}  {} ranks",
            self.fingerprint(),
            self.dtype().name(),
            shape(self.source()),
            bytes_in_words(all),
            totals.n_ranks
        ));
        line(format!("  {adjoint}{}{combine}", self.pattern().name()));
        line(format!("  source  {}", described(self.source())));
        line(format!("  target  {}", described(self.target())));
        line(format!(
            "  moves {} ({} cross ranks)   messages {}{}",
            totals.n_moves,
            totals.n_messages,
            totals.n_messages,
            mean_size(totals.bytes_moved, totals.n_messages)
        ));
        line(format!(
            "  must move {}, moves {}{}, keeps {}",
            bytes_in_words(totals.bytes_lower_bound),
            bytes_in_words(totals.bytes_moved),
            ratio(totals.bytes_moved, totals.bytes_lower_bound),
            bytes_in_words(totals.bytes_kept)
        ));
        line(format!(
            "  per rank at most: send {}, receive {}, extra memory {}",
            bytes_in_words(totals.max_send_bytes),
            bytes_in_words(totals.max_recv_bytes),
            bytes_in_words(totals.extra_bytes())
        ));
        if let Some((n_nodes, stages)) = self.stages_of_nodes() {
            let [first, second] = stages.map(|stage| stage.pattern().name());
            let from = match n_nodes {
                0 => "in two stages".to_string(),
                n => format!("on {n} and more nodes in two stages, which moves other bytes"),
            };
            line(format!("  {from}: {first} and {second}"));
        }
        if totals.directory.n_messages > 0 {
            line(format!(
                "  directory: {} messages, {}",
                totals.directory.n_messages,
                bytes_in_words(totals.directory.bytes)
            ));
        }
        line(format!(
            "  predicted {} at {} per message and {} per second",
            seconds(self.predicted_seconds()),
            seconds(MESSAGE_SECONDS),
            bytes_in_words(BYTES_PER_SECOND as u128)
        ));
        text
    }
}

fn shape(layout: &Layout) -> String {
    let extents: Vec<_> = layout.shape().iter().map(u64::to_string).collect();
    if extents.is_empty() { "scalar".to_string() } else { extents.join("x") }
}

fn described(layout: &Layout) -> String {
    const LONGEST: usize = 64;
    let notation = layout.notation();
    let text = if notation.is_empty() { "one rank".to_string() } else { notation };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn mean_size(total: u128, n_messages: u128) -> String {
    match total.checked_div(n_messages) {
        Some(mean) => format!(" of {} on average", bytes_in_words(mean)),
        None => String::new(),
    }
}

fn ratio(moved: u128, bound: u128) -> String {
    if bound == 0 { String::new() } else { format!(" ({:.2}x)", moved as f64 / bound as f64) }
}

/// Bytes in the unit that fits, such as `1.5 MiB`.
#[must_use]
pub fn bytes_in_words(count: u128) -> String {
    const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let mut size = count as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let number = if unit == 0 || size >= 100.0 || size.fract() == 0.0 {
        format!("{size:.0}")
    } else {
        format!("{size:.1}")
    };
    format!("{number} {}", UNITS[unit])
}

fn seconds(time: f64) -> String {
    match time {
        t if t >= 1.0 => format!("{t:.1} s"),
        t if t >= 1e-3 => format!("{:.1} ms", t * 1e3),
        t => format!("{:.1} us", t * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use partita_layout::{GridSpec, Layout, Map, Unstructured};

    use super::*;
    use crate::Dtype;

    #[test]
    fn sizes_read_well() {
        assert_eq!(bytes_in_words(0), "0 B");
        assert_eq!(bytes_in_words(1023), "1023 B");
        assert_eq!(bytes_in_words(8 << 20), "8 MiB");
        assert_eq!(bytes_in_words(3 << 19), "1.5 MiB");
        assert_eq!(seconds(2.5e-6), "2.5 us");
    }

    #[test]
    fn the_first_line_has_the_shape() {
        let first = |shape: &[u64], notation: &str| {
            let layout = Layout::parse(shape, notation).expect(notation);
            let text = Plan::new(&layout, &layout, Dtype::F64).expect("a plan").explain();
            text.lines().next().unwrap_or_default().to_string()
        };
        assert!(first(&[4, 6], "block, * @ 2x1").ends_with("  float64 4x6 = 192 B  2 ranks"));
        assert!(first(&[], "").ends_with("  float64 scalar = 8 B  1 ranks"));
    }

    #[test]
    fn a_directory_is_explained_where_there_is_one() {
        let blocks = Layout::parse(&[4], "block @ 2").expect("blocks");
        let lists = Unstructured::new(&[vec![0, 3], vec![1, 2]]);
        let maps = vec![Map::Unstructured(lists.into())];
        let spec = GridSpec { maps, grid: Some(vec![2]), ..GridSpec::default() };
        let lists = Layout::new(&[4], &spec).expect("lists");
        let explained = |target| Plan::new(&blocks, target, Dtype::F64).expect("a plan").explain();
        assert!(explained(&lists).contains("  directory: 2 messages, 16 B\n"));
        assert!(!explained(&blocks).contains("directory"));
    }
}
