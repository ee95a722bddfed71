//! Axes: where the bands of a track lie on the paper.
//!
//! Lengths follow the number of indices, except that every band keeps room for its label and the
//! indices left out take the room of an ellipsis.

use super::track::Track;

/// Room of the indices that are left out.
const GAP: f64 = 26.0;
/// Room of a strip that carries no label.
const STRIP: f64 = 7.0;

/// Where one band lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub from: f64,
    pub to: f64,
}

impl Span {
    pub(super) fn length(&self) -> f64 {
        self.to - self.from
    }

    pub(super) fn middle(&self) -> f64 {
        (self.from + self.to) / 2.0
    }
}

/// One owner's block: a few neighbouring bands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BlockSpan {
    /// Number of its first band.
    pub band: usize,
    pub span: Span,
    /// Its widest band, where the label goes.
    pub widest: Span,
    pub first: i128,
    pub stop: i128,
}

/// The spans of a track's bands, the gap and the whole.
#[derive(Debug)]
pub(super) struct Axis<'a> {
    pub track: &'a Track,
    pub spans: Vec<Span>,
    pub gap: Option<Span>,
    pub size: f64,
}

impl<'a> Axis<'a> {
    /// Spreads a track over about `target` units, `room` at least for each block.
    pub(super) fn new(track: &'a Track, target: f64, room: f64) -> Self {
        let n_shown: f64 = track.bands.iter().map(|band| band.length as f64).sum();
        let gap_at = track.gap.map(|gap| gap.before);
        let mut spans = Vec::new();
        let mut gap = None;
        let mut at = 0.0;
        for (number, band) in track.bands.iter().enumerate() {
            if gap_at == Some(number) {
                gap = Some(Span { from: at, to: at + GAP });
                at += GAP;
            }
            let least = if is_strip(track, number) { STRIP } else { room };
            let length = (band.length as f64 / n_shown * target).max(least);
            spans.push(Span { from: at, to: at + length });
            at += length;
        }
        if gap_at == Some(track.bands.len()) {
            gap = Some(Span { from: at, to: at + GAP });
            at += GAP;
        }
        Self { track, spans, gap, size: at }
    }

    /// The blocks in order.
    pub(super) fn blocks(&self) -> Vec<BlockSpan> {
        let mut blocks: Vec<BlockSpan> = Vec::new();
        for (number, (band, span)) in self.track.bands.iter().zip(&self.spans).enumerate() {
            match blocks.last_mut() {
                Some(block) if !band.is_start => {
                    block.span.to = span.to;
                    if span.length() > block.widest.length() {
                        block.widest = *span;
                    }
                    block.stop = band.stop();
                }
                _ => blocks.push(BlockSpan {
                    band: number,
                    span: *span,
                    widest: *span,
                    first: band.first,
                    stop: band.stop(),
                }),
            }
        }
        blocks
    }

    /// Where the indices of `[start, stop)` lie, as far as they are shown.
    pub(super) fn span(&self, start: i128, stop: i128) -> Option<Span> {
        let shown = self.track.bands.iter().zip(&self.spans);
        let mut met = shown.filter(|(band, _)| band.first < stop && start < band.stop());
        let (first, first_span) = met.next()?;
        let (last, last_span) = met.next_back().unwrap_or((first, first_span));
        let part = |index: i128, band: &super::track::Band, span: &Span| {
            let inside = (index - band.first).clamp(0, band.length.into()) as f64;
            span.from + inside / band.length as f64 * span.length()
        };
        Some(Span { from: part(start, first, first_span), to: part(stop, last, last_span) })
    }
}

/// Whether a band is part of a block whose label stands elsewhere.
fn is_strip(track: &Track, number: usize) -> bool {
    let bands = &track.bands;
    let is_joined = |at: usize| bands.get(at).is_some_and(|band| !band.is_start);
    bands[number].in_halo && (is_joined(number) || is_joined(number + 1))
}
