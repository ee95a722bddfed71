//! One rank's part of a movement between boxes.

use std::fmt::Display;

use partita_layout::{BoxPiece, IndexBox, Layout};
use partita_plan::Plan;
use partita_team::{Access, Buffer};

use super::super::window::c_strides;
use super::divide::Part;
use super::spread::Spread;
use crate::boxes::{plan_between, plan_dtype};
use crate::error::{LocalError, Result};

/// Memory of a rank that has a box of a part.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub part: usize,
    pub held: IndexBox,
}

/// A box in the memory of a part.
#[derive(Debug, Clone)]
pub(in super::super) struct Spot {
    pub part: usize,
    /// Bytes of all the part's memory here.
    pub part_bytes: usize,
    offset_bytes: isize,
    shape: Vec<u64>,
    strides: Vec<isize>,
}

impl Spot {
    fn new(place: &IndexBox, piece: &Piece, size: usize) -> Self {
        let held: Vec<usize> = piece.held.shape.iter().map(|n| *n as usize).collect();
        let strides: Vec<isize> =
            c_strides(&held).iter().map(|stride| stride * size as isize).collect();
        let from = place.start.iter().zip(&piece.held.start).zip(&strides);
        let offset_bytes = from.map(|((at, start), step)| (at - start) as isize * step).sum();
        let part_bytes = held.iter().product::<usize>() * size;
        Self { part: piece.part, part_bytes, offset_bytes, shape: place.shape.clone(), strides }
    }

    /// The memory, given where that of the part begins.
    pub fn buffer(&self, address: usize, access: Access) -> Buffer {
        Buffer {
            address: address.wrapping_add_signed(self.offset_bytes),
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            access,
        }
    }
}

/// A movement.
#[derive(Debug)]
pub(in super::super) struct Move {
    pub plan: Plan,
    pub sources: Vec<Spot>,
    /// None where what is held around what is owned is filled in place.
    pub targets: Option<Vec<Spot>>,
    pub n_bytes: u128,
    /// The mark of the node that it was made for.
    pub mark: u64,
}

impl Move {
    /// Parts whose memory it reads or writes.
    pub fn touched(&self) -> impl Iterator<Item = usize> {
        self.sources.iter().chain(self.targets.iter().flatten()).map(|spot| spot.part)
    }
}

/// The movement from what ranks own to what they ask for; none if nobody asks.
pub(super) fn moved(
    part: &Part,
    owned: &[IndexBox],
    asked: &[Vec<IndexBox>],
    (from, into): (&Piece, &Piece),
    rank: usize,
) -> Result<Option<Move>> {
    if asked.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let sources: Vec<Vec<IndexBox>> = owned
        .iter()
        .map(|own| if own.n_elements() > 0 { vec![own.clone()] } else { vec![] })
        .collect();
    let shape: Vec<u64> = part.shape.iter().map(|n| *n as u64).collect();
    let plan = plan_between(&shape, &sources, asked, part.dtype);
    let plan = plan.map_err(|error| unplanned(&error))?;
    let size = part.dtype.size();
    let spots = |boxes: &[IndexBox], piece: &Piece| {
        boxes.iter().map(|one| Spot::new(one, piece, size)).collect()
    };
    Ok(Some(Move {
        sources: spots(&sources[rank], from),
        targets: Some(spots(&asked[rank], into)),
        n_bytes: plan.totals().bytes_moved,
        plan,
        mark: 0,
    }))
}

/// The movement that brings what ranks hold around their own up to date.
pub(super) fn refreshed(part: &Part, piece: &Piece) -> Result<Move> {
    let Spread::Boxes { owned, held } = &*part.spread else {
        return Err(unplanned(&"what every rank has needs no margins"));
    };
    let shape: Vec<u64> = part.shape.iter().map(|n| *n as u64).collect();
    let pieces = owned.iter().zip(held).map(|(own, held)| match held.n_elements() {
        0 => vec![],
        // A part without elements may stand anywhere.
        _ if own.n_elements() == 0 => {
            let owned = IndexBox { start: held.start.clone(), shape: vec![0; held.shape.len()] };
            vec![BoxPiece { held: held.clone(), owned }]
        }
        _ => vec![BoxPiece { held: held.clone(), owned: own.clone() }],
    });
    let layout = Layout::from_boxes(&shape, pieces.collect(), None);
    let layout = layout.map_err(|error| unplanned(&error))?;
    let plan = Plan::new(&layout, &layout, plan_dtype(part.dtype));
    let plan = plan.map_err(|error| unplanned(&error))?;
    let own = Some(Spot::new(&piece.held, piece, part.dtype.size()));
    let sources = own.filter(|_| piece.held.n_elements() > 0).into_iter().collect();
    Ok(Move { sources, targets: None, n_bytes: plan.totals().bytes_moved, plan, mark: 0 })
}

fn unplanned(problem: &dyn Display) -> LocalError {
    LocalError::Unplanned { problem: problem.to_string() }
}
