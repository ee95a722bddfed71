//! Plans: which rank gives which elements to which rank, from one layout to another.
//!
//! Every movement is a plan between two layouts: source data is what ranks *own*, target data is
//! what ranks *hold*. Halo exchange, broadcast, reduction, gather and transposition differ in
//! their layouts only. The adjoint of a plan is the same plan reversed, with copies
//! turned into sums.
//!
//! ```
//! use partita_layout::Layout;
//! use partita_plan::{Dtype, Plan};
//! let rows = Layout::parse(&[8, 8], "block, * @ 2x1")?;
//! let columns = Layout::parse(&[8, 8], "*, block @ 1x2")?;
//! let plan = Plan::new(&rows, &columns, Dtype::F64)?;
//! assert_eq!(plan.totals().n_messages, 2);
//! assert_eq!(plan.totals().bytes_moved, 2 * 4 * 4 * 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A plan moves no data and knows no engine. It has no dependency besides the layouts.

#![forbid(unsafe_code)]

mod directory;
mod dtype;
mod error;
mod explain;
mod fingerprint;
mod moves;
mod pattern;
mod plan;
mod reach;
mod stages;
mod totals;

pub use directory::DirectoryCost;
pub use dtype::Dtype;
pub use error::{PlanError, Result};
pub use explain::bytes_in_words;
pub use moves::Move;
pub use pattern::Pattern;
pub use plan::{Combine, Direction, Plan};
pub use totals::{RankTotals, Totals};
