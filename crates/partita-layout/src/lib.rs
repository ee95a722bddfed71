//! Index maps, grids and layouts of distributed arrays.
//!
//! A layout answers two questions, and planning uses nothing else: which pieces does a rank hold,
//! and who holds this region? Both cost time proportional to the answer.
//!
//! ```
//! use partita_layout::Layout;
//! let layout = Layout::parse(&[16, 16], "block, cyclic(2) @ 2x2")?;
//! assert_eq!(layout.owner(&[0, 2])?, 1);
//! # Ok::<(), partita_layout::LayoutError>(())
//! ```
//!
//! The crate has no dependency (but the macro that writes errors down), no `unsafe`, no threads and no I/O.

#![forbid(unsafe_code)]

mod boxes;
mod bulk;
mod cuts;
mod dim;
pub mod dist;
mod divide;
mod error;
mod grid;
mod indices;
mod layout;
mod locate;
mod map;
mod meet;
mod notation;
mod order;
mod pieces;
mod ranks;
mod run;
mod slice;
mod unstructured;

pub use boxes::{BoxHit, BoxPiece, Boxes, IndexBox};
pub use dim::{DimMap, Segment};
pub use error::{LayoutError, NotationError, NotationProblem, Result};
pub use grid::{AxisRole, Grid, Place};
pub use indices::{Cyclic, Indices, Part};
pub use layout::{Form, GridForm, GridSpec, Layout, RanksSpec};
pub use locate::Location;
pub use map::{Block, BlockRule, Halo, Map};
pub use meet::Partner;
pub use notation::{parse as parse_notation, parse_shape};
pub use order::{number_of, position_of};
pub use pieces::{Piece, Pieces};
pub use ranks::Ranks;
pub use run::{Level, Run, n_elements};
pub use slice::Slice;
pub use unstructured::Unstructured;
