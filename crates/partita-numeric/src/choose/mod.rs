//! Choosing elements: by a mask, by positions; scattering, counting, grouping.
//!
//! Results go to memory that the caller gives.
//!
//! ```
//! use partita_numeric::{Cores, choose};
//! use std::mem::MaybeUninit;
//! let mut out = [MaybeUninit::uninit(); 2];
//! choose::gather(&[10, 20, 30], &[-1, 0], &mut out, Cores::best())?;
//! // SAFETY: gathering has written every element.
//! assert_eq!(out.map(|x| unsafe { x.assume_init() }), [30, 10]);
//! # Ok::<(), partita_numeric::NumericError>(())
//! ```

mod gather;
mod mask;
mod owners;
mod rows;
mod scatter;

pub use gather::gather;
pub use mask::{count, pack, pack_positions};
pub use owners::Owners;
pub use rows::{gather_rows, scatter_add_rows, scatter_rows};
pub use scatter::{Summable, bincount, scatter, scatter_add};
