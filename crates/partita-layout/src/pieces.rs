//! Pieces: the boxes of global indices that one rank holds, counted without being listed.

use crate::boxes::BoxPiece;
use crate::grid::Place;
use crate::layout::{Form, Layout};
use crate::order::position_of;

/// A box of global indices that one rank holds, and the part of it that it owns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Piece {
    /// First held index in each dimension; any integer in an unstructured dimension.
    pub start: Vec<i64>,
    /// Held length in each dimension.
    pub shape: Vec<u64>,
    /// First owned index in each dimension.
    pub owned_start: Vec<i64>,
    /// Owned length in each dimension.
    pub owned_shape: Vec<u64>,
    /// Which of the rank's buffers the piece lies in.
    pub buffer: usize,
    /// Position of the piece in that buffer.
    pub local_start: Vec<u64>,
}

/// The pieces of one rank, made one at a time.
#[derive(Debug, Clone)]
pub struct Pieces {
    layout: Layout,
    place: u64,
    at: Place,
    counts: Vec<u64>,
}

impl Pieces {
    pub(crate) fn new(layout: &Layout, place: u64) -> Self {
        let (at, counts) = match layout.form() {
            Form::Grid(form) => {
                let at = form.grid().place(place, layout.ndim());
                let dims = form.dims().iter().zip(&at.coordinates);
                let counts = dims.map(|(dim, coordinate)| dim.n_segments(*coordinate)).collect();
                (at, counts)
            }
            Form::Boxes(boxes) => {
                let at = Place { coordinates: Vec::new(), replica: 0, summand: 0 };
                (at, vec![boxes.pieces(place).len() as u64])
            }
        };
        Self { layout: layout.clone(), place, at, counts }
    }

    /// Number of pieces.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.counts.iter().product()
    }

    /// Whether the rank holds no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One piece, in C order of its stretches.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<Piece> {
        if number >= self.len() {
            return None;
        }
        Some(match self.layout.form() {
            Form::Boxes(boxes) => {
                boxed(&boxes.pieces(self.place)[number as usize], number as usize)
            }
            Form::Grid(form) => {
                let dims = form.dims().iter().zip(&self.at.coordinates);
                let segments = dims.zip(position_of(number, &self.counts));
                let segments: Vec<_> =
                    segments.map(|((dim, own), segment)| dim.segment(*own, segment)).collect();
                Piece {
                    start: segments.iter().map(|s| s.start as i64).collect(),
                    shape: segments.iter().map(|s| s.length).collect(),
                    owned_start: segments.iter().map(|s| s.owned_start as i64).collect(),
                    owned_shape: segments.iter().map(|s| s.owned_length).collect(),
                    buffer: 0,
                    local_start: segments.iter().map(|s| s.local).collect(),
                }
            }
        })
    }

    /// All pieces in order.
    pub fn iter(&self) -> impl Iterator<Item = Piece> + '_ {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

fn boxed(piece: &BoxPiece, buffer: usize) -> Piece {
    let signed = |start: &[u64]| start.iter().map(|at| *at as i64).collect();
    Piece {
        start: signed(&piece.held.start),
        shape: piece.held.shape.clone(),
        owned_start: signed(&piece.owned.start),
        owned_shape: piece.owned.shape.clone(),
        buffer,
        local_start: vec![0; piece.held.shape.len()],
    }
}
