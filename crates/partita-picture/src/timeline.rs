//! What ranks did over time: bars in rows, one group of rows per rank.
//!
//! ```
//! use partita_picture::timeline::{Bar, Colour, Row, Track, svg};
//! let bar = Bar { start: 0.0, end: 2.5e-3, colour: Colour::Busy, words: "kernel 64x64".into() };
//! let track = Track { name: "rank 0".into(), rows: vec![Row { name: "computing".into(), bars: vec![bar] }] };
//! assert!(svg("a run", &[track]).contains("<title>kernel 64x64, 2.5 ms</title>"));
//! ```
//!
//! Bars too thin to be seen apart become one, so that a long run has a picture too.

use std::fmt::Write;

const LEFT: f64 = 190.0;
const WIDTH: f64 = 960.0;
const TOP: f64 = 64.0;
const ROW: f64 = 22.0;
const GAP: f64 = 10.0;
/// Bars that are this near each other, in pixels, look like one.
const NEAR: f64 = 0.35;
/// Tracks drawn; others are counted.
const MOST_TRACKS: usize = 64;

/// What a bar's colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Work.
    Busy,
    /// Data under way.
    Moving,
    /// Waiting.
    Idle,
}

impl Colour {
    fn fill(self) -> &'static str {
        match self {
            Self::Busy => "#2b7bba",
            Self::Moving => "#e6842a",
            Self::Idle => "#c9c9c9",
        }
    }
}

/// A stretch of time, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// What its colour says.
    pub colour: Colour,
    /// What it is, for the tooltip.
    pub words: String,
}

/// Bars on one line, by their start.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What the line shows.
    pub name: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// The rows of one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Whose they are.
    pub name: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// The picture as a self-contained SVG document.
#[must_use]
pub fn svg(title: &str, tracks: &[Track]) -> String {
    let shown = &tracks[..tracks.len().min(MOST_TRACKS)];
    let bars = || shown.iter().flat_map(|track| &track.rows).flat_map(|row| &row.bars);
    let first = bars().map(|bar| bar.start).fold(f64::INFINITY, f64::min);
    let last = bars().map(|bar| bar.end).fold(0.0, f64::max);
    let span = Span { first: first.min(last), last };
    let n_rows: usize = shown.iter().map(|track| track.rows.len()).sum();
    let height = TOP + n_rows as f64 * ROW + shown.len() as f64 * GAP + 40.0;
    let mut picture = head(title, &span, height);
    let mut y = TOP;
    for track in shown {
        y = draw_track(&mut picture, track, &span, y);
    }
    draw_legend(&mut picture, y + 20.0, tracks.len() - shown.len());
    picture + "</svg>\n"
}

/// The time that the picture shows.
struct Span {
    first: f64,
    last: f64,
}

impl Span {
    fn x(&self, time: f64) -> f64 {
        LEFT + (time - self.first) / (self.last - self.first).max(1e-12) * WIDTH
    }
}

fn head(title: &str, span: &Span, height: f64) -> String {
    let width = LEFT + WIDTH + 30.0;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"14\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escaped(title)
    );
    for tick in 0..=4 {
        let time = span.first + (span.last - span.first) * f64::from(tick) / 4.0;
        let x = span.x(time);
        let _ = writeln!(
            picture,
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#e4e4e4\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>",
            TOP - 8.0,
            height - 36.0,
            TOP - 14.0,
            in_words(time - span.first)
        );
    }
    picture
}

fn draw_track(picture: &mut String, track: &Track, span: &Span, top: f64) -> f64 {
    let mut y = top;
    let name = escaped(&track.name);
    let _ =
        writeln!(picture, "<text x=\"14\" y=\"{}\" font-weight=\"bold\">{name}</text>", y + 14.0);
    for row in &track.rows {
        let name = escaped(&row.name);
        let _ = writeln!(
            picture,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555555\">{name}</text>",
            LEFT - 10.0,
            y + 14.0
        );
        merged(&row.bars, span).iter().for_each(|bar| draw_bar(picture, bar, span, y));
        y += ROW;
    }
    y + GAP
}

/// Bars as they can be told apart.
fn merged(bars: &[Bar], span: &Span) -> Vec<Bar> {
    let mut shown: Vec<(Bar, usize)> = Vec::new();
    for bar in bars {
        let near = shown.last_mut().filter(|(last, _)| {
            let thin = span.x(bar.end) - span.x(last.start) < 2.0;
            last.colour == bar.colour && thin && span.x(bar.start) - span.x(last.end) < NEAR
        });
        match near {
            Some((last, n_bars)) => {
                last.end = last.end.max(bar.end);
                *n_bars += 1;
            }
            None => shown.push((bar.clone(), 1)),
        }
    }
    let told = |(mut bar, n_bars): (Bar, usize)| {
        if n_bars > 1 {
            let _ = write!(bar.words, " and {} more", n_bars - 1);
        }
        bar
    };
    shown.into_iter().map(told).collect()
}

fn draw_bar(picture: &mut String, bar: &Bar, span: &Span, y: f64) {
    let (start, end) = (span.x(bar.start), span.x(bar.end));
    let _ = writeln!(
        picture,
        "<rect x=\"{start:.2}\" y=\"{}\" width=\"{:.2}\" height=\"{}\" fill=\"{}\">\
         <title>{}, {}</title></rect>",
        y + 2.0,
        (end - start).max(0.5),
        ROW - 4.0,
        bar.colour.fill(),
        escaped(&bar.words),
        in_words(bar.end - bar.start)
    );
}

fn draw_legend(picture: &mut String, y: f64, n_left_out: usize) {
    let all = [(Colour::Busy, "kernel"), (Colour::Moving, "exchange"), (Colour::Idle, "waiting")];
    for (place, (colour, name)) in all.into_iter().enumerate() {
        let x = LEFT + 110.0 * place as f64;
        let fill = colour.fill();
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{fill}\"/>\
             <text x=\"{}\" y=\"{y}\" fill=\"#555555\">{name}</text>",
            y - 12.0,
            x + 20.0
        );
    }
    if n_left_out > 0 {
        let _ = writeln!(picture, "<text x=\"14\" y=\"{y}\">{n_left_out} more</text>");
    }
}

/// Seconds in the unit that fits.
fn in_words(seconds: f64) -> String {
    let (unit, scale) = match seconds {
        s if s >= 1.0 => ("s", 1.0),
        s if s >= 1e-3 => ("ms", 1e-3),
        _ => ("µs", 1e-6),
    };
    let number = format!("{:.1}", seconds / scale);
    format!("{} {unit}", number.strip_suffix(".0").unwrap_or(&number))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(start: f64, end: f64, colour: Colour) -> Bar {
        Bar { start, end, colour, words: "work".to_string() }
    }

    fn track(bars: Vec<Bar>) -> Track {
        Track { name: "rank 0".into(), rows: vec![Row { name: "all".into(), bars }] }
    }

    #[test]
    fn bars_stand_where_their_time_is() {
        let bars = vec![bar(1.0, 2.0, Colour::Busy), bar(2.0, 3.0, Colour::Idle)];
        let picture = svg("two <bars>", &[track(bars)]);
        assert!(picture.contains("x=\"190.00\" y=\"66\" width=\"480.00\""), "{picture}");
        assert!(picture.contains("x=\"670.00\"") && picture.contains("two &lt;bars&gt;"));
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }

    #[test]
    fn a_hundred_thousand_bars_fit_a_picture() {
        let bars = (0..100_000).map(|i| f64::from(i) * 1e-3);
        let bars = bars.map(|start| bar(start, start + 9e-4, Colour::Busy)).collect();
        let picture = svg("many", &[track(bars)]);
        assert!(picture.len() < 200_000, "{} bytes", picture.len());
        assert!(picture.contains("more, "));
    }

    #[test]
    fn nothing_is_a_picture_too() {
        assert!(svg("nothing", &[]).ends_with("</svg>\n"));
        assert!(svg("nothing", &[track(Vec::new())]).contains("rank 0"));
    }
}
