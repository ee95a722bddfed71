//! Moves: one region from one rank's buffer to one rank's buffer.
//!
//! A rank's moves are found one dimension at a time and multiplied out at the end, so finding them
//! costs the sum of the partners per dimension, and the regions of all moves share their runs.

use std::collections::HashMap;
use std::sync::Arc;

use partita_layout::{Boxes, Form, GridForm, IndexBox, Indices, Part, Partner, Place, Run};

use crate::plan::Forward;
use crate::reach::Reach;

/// A region that goes from one rank to one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Rank that gives.
    pub source_rank: u64,
    /// Rank that takes.
    pub target_rank: u64,
    /// Which of the giving rank's buffers.
    pub source_buffer: usize,
    /// Which of the taking rank's buffers.
    pub target_buffer: usize,
    /// The region: a list of runs per dimension, of which it is the product.
    ///
    /// The giving and the taking rank list the same runs in the same order.
    pub runs: Vec<Arc<[Run]>>,
}

impl Move {
    /// Number of elements of the region.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.runs.iter().map(|runs| partita_layout::n_elements(runs)).product()
    }

    /// Orders the moves of one pair of ranks alike on both sides, as packed messages need.
    fn place_in_message(&self) -> (usize, usize, Vec<u64>) {
        let starts = self.runs.iter().map(|runs| runs.first().map_or(0, |run| run.source));
        (self.source_buffer, self.target_buffer, starts.collect())
    }

    /// Whether the region crosses ranks.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.source_rank != self.target_rank
    }

    /// The region the other way.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            source_rank: self.target_rank,
            target_rank: self.source_rank,
            source_buffer: self.target_buffer,
            target_buffer: self.source_buffer,
            runs: reversed(&self.runs),
        }
    }
}

fn reversed(runs: &[Arc<[Run]>]) -> Vec<Arc<[Run]>> {
    runs.iter().map(|runs| runs.iter().map(Run::reversed).collect()).collect()
}

/// What one buffer of a rank offers or wants: an index set per dimension.
struct Share<'a> {
    buffer: usize,
    sets: Vec<Indices<'a>>,
}

/// A buffer found on the other side, with the runs shared per dimension.
struct Found {
    place: u64,
    buffer: usize,
    runs: Vec<Arc<[Run]>>,
}

impl Forward {
    /// Moves that a rank of the source gives.
    pub(crate) fn sends(&self, rank: u64) -> Vec<Move> {
        let Some(place) = self.source.ranks().place_of(rank) else { return Vec::new() };
        let own = own_place(self.source.form(), place, self.source.ndim());
        let parts = parts(self.source.form(), place, &own, Part::Owned);
        let reach = Reach::new(&self.source, &self.target);
        let mut moves = Vec::new();
        for part in &parts {
            let found = match self.target.form() {
                Form::Boxes(boxes) => find_boxes(boxes, &part.sets, Part::Held),
                Form::Grid(form) => {
                    let partners = partners(form, &part.sets, Part::Held);
                    let takers =
                        Takers::new(form, &reach, &own, self.target.ranks().place_of(rank));
                    find_places(form, &partners, |place| takers.offsets(place))
                }
            };
            for target in found {
                let target_rank = self.target.ranks().rank_at(target.place);
                if reach.replica_for(&own, target_rank, target.place) == own.replica {
                    moves.push(Move {
                        source_rank: rank,
                        target_rank,
                        source_buffer: part.buffer,
                        target_buffer: target.buffer,
                        runs: target.runs,
                    });
                }
            }
        }
        if self.has_boxes() {
            moves.sort_by_cached_key(|m| (m.target_rank, m.place_in_message()));
        }
        moves
    }

    /// Moves that a rank of the target takes.
    pub(crate) fn receives(&self, rank: u64) -> Vec<Move> {
        let Some(place) = self.target.ranks().place_of(rank) else { return Vec::new() };
        let own = own_place(self.target.form(), place, self.target.ndim());
        let reach = Reach::new(&self.source, &self.target);
        if reach.sources_of(own.summand).is_empty() {
            return Vec::new();
        }
        let parts = parts(self.target.form(), place, &own, Part::Held);
        let mut moves = Vec::new();
        for part in &parts {
            let mut take = |source_place: u64, source_buffer: usize, runs: Vec<Arc<[Run]>>| {
                let source_rank = self.source.ranks().rank_at(source_place);
                let target_buffer = part.buffer;
                let target_rank = rank;
                moves.push(Move { source_rank, target_rank, source_buffer, target_buffer, runs });
            };
            match self.source.form() {
                Form::Boxes(boxes) => {
                    for found in find_boxes(boxes, &part.sets, Part::Owned) {
                        take(found.place, found.buffer, reversed(&found.runs));
                    }
                }
                Form::Grid(form) => {
                    let mut partners = partners(form, &part.sets, Part::Owned);
                    for partner in partners.iter_mut().flatten() {
                        *partner = partner.reversed();
                    }
                    for found in find_places(form, &partners, |_| vec![0]) {
                        for summand in reach.sources_of(own.summand) {
                            let mut wanted = form.grid().place(found.place, self.source.ndim());
                            wanted.summand = summand;
                            wanted.replica = reach.replica_for(&wanted, rank, place);
                            take(form.grid().place_of(&wanted), 0, found.runs.clone());
                        }
                    }
                }
            }
        }
        if self.has_boxes() {
            moves.sort_by_cached_key(|m| (m.source_rank, m.place_in_message()));
        }
        moves
    }

    /// Only boxes give several moves between the same two ranks.
    fn has_boxes(&self) -> bool {
        [&self.source, &self.target].iter().any(|layout| matches!(layout.form(), Form::Boxes(_)))
    }
}

fn own_place(form: &Form, place: u64, ndim: usize) -> Place {
    match form {
        Form::Grid(form) => form.grid().place(place, ndim),
        Form::Boxes(_) => Place { coordinates: Vec::new(), replica: 0, summand: 0 },
    }
}

/// The index sets of each buffer of a place.
fn parts<'a>(form: &'a Form, place: u64, own: &Place, part: Part) -> Vec<Share<'a>> {
    match form {
        Form::Grid(form) => {
            let dims = form.dims().iter().zip(&own.coordinates);
            let sets = dims.map(|(dim, coordinate)| dim.indices(*coordinate, part)).collect();
            vec![Share { buffer: 0, sets }]
        }
        Form::Boxes(boxes) if part == Part::Owned => boxes
            .owned_parts(place)
            .map(|(buffer, owned)| {
                let held = &boxes.pieces(place)[buffer].held;
                Share { buffer, sets: box_sets(owned, held) }
            })
            .collect(),
        Form::Boxes(boxes) => boxes
            .pieces(place)
            .iter()
            .enumerate()
            .map(|(buffer, piece)| Share { buffer, sets: box_sets(&piece.held, &piece.held) })
            .collect(),
    }
}

fn box_sets(part: &IndexBox, buffer: &IndexBox) -> Vec<Indices<'static>> {
    (0..part.start.len())
        .map(|dim| Indices::Range {
            start: part.start[dim],
            length: part.shape[dim],
            local: part.start[dim] - buffer.start[dim],
        })
        .collect()
}

/// Pieces of a box layout that meet the sets; the sets are the source side of the runs.
fn find_boxes(boxes: &Boxes, sets: &[Indices<'_>], part: Part) -> Vec<Found> {
    let hulls: Vec<(u64, u64)> = sets.iter().map(Indices::hull).collect();
    let start: Vec<u64> = hulls.iter().map(|(start, _)| *start).collect();
    let shape: Vec<u64> = hulls.iter().map(|(start, stop)| stop.saturating_sub(*start)).collect();
    let region = IndexBox { start, shape };
    let mut found = Vec::new();
    let mut put = |hit: partita_layout::BoxHit<'_>| {
        let runs: Vec<Arc<[Run]>> = sets
            .iter()
            .enumerate()
            .map(|(dim, set)| {
                let start = hit.found.start[dim];
                set.meet_range(start, hit.found.shape[dim], start - hit.held.start[dim], part)
                    .into()
            })
            .collect();
        if runs.iter().all(|runs| !runs.is_empty()) {
            found.push(Found { place: hit.place, buffer: hit.piece, runs });
        }
    };
    match part {
        Part::Owned => boxes.find_owned(&region, &mut put),
        Part::Held => boxes.find_held(&region, &mut put),
    }
    found.sort_by_key(|found| (found.place, found.buffer));
    found
}

/// The coordinates that meet the sets, dimension by dimension.
fn partners(form: &GridForm, sets: &[Indices<'_>], part: Part) -> Vec<Vec<Partner>> {
    form.dims().iter().zip(sets).map(|(dim, set)| dim.partners(set, part)).collect()
}

/// Places of a grid at the product of the partners, once per offset along the other axes.
fn find_places(
    form: &GridForm,
    partners: &[Vec<Partner>],
    offsets: impl Fn(u64) -> Vec<u64>,
) -> Vec<Found> {
    let strides = form.grid().dim_strides(partners.len());
    let mut found = vec![];
    let mut chosen = Vec::with_capacity(partners.len());
    multiply(partners, &strides, 0, &mut chosen, &mut |place, runs| {
        found.extend(offsets(place).into_iter().map(|offset| Found {
            place: place + offset,
            buffer: 0,
            runs: runs.to_vec(),
        }));
    });
    found
}

/// The target replicas that may take from one source replica: those with its residue, and itself.
struct Takers {
    by_residue: HashMap<u64, Vec<u64>>,
    n_replicas: u64,
    replica: u64,
    own_place: Option<u64>,
}

impl Takers {
    fn new(form: &GridForm, reach: &Reach<'_>, own: &Place, own_place: Option<u64>) -> Self {
        let summand = form.grid().summand_offset(reach.target_of(own.summand));
        let mut by_residue: HashMap<u64, Vec<u64>> = HashMap::new();
        for replica in 0..reach.n_target_replicas {
            let offset = form.grid().replica_offset(replica) + summand;
            by_residue.entry(offset % reach.n_replicas).or_default().push(offset);
        }
        Self { by_residue, n_replicas: reach.n_replicas, replica: own.replica, own_place }
    }

    /// Offsets from a place to the replicas that may take from here.
    fn offsets(&self, place: u64) -> Vec<u64> {
        let residue = (self.replica + self.n_replicas - place % self.n_replicas) % self.n_replicas;
        let mut offsets = self.by_residue.get(&residue).cloned().unwrap_or_default();
        let own = self.own_place.and_then(|own| own.checked_sub(place));
        if let Some(own) = own.filter(|own| own % self.n_replicas != residue) {
            let others = self.by_residue.get(&(own % self.n_replicas));
            offsets.extend(others.into_iter().flatten().copied().filter(|offset| *offset == own));
            offsets.sort_unstable();
        }
        offsets
    }
}

/// Walks the product of the partners of each dimension.
fn multiply(
    partners: &[Vec<Partner>],
    strides: &[u64],
    place: u64,
    chosen: &mut Vec<Arc<[Run]>>,
    put: &mut impl FnMut(u64, &[Arc<[Run]>]),
) {
    let Some((first, rest)) = partners.split_first() else {
        put(place, chosen);
        return;
    };
    for partner in first {
        chosen.push(Arc::clone(&partner.runs));
        multiply(rest, &strides[1..], place + partner.coordinate * strides[0], chosen, put);
        chosen.pop();
    }
}
