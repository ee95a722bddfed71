//! What array programs mean: types, functions, indices, as the Array API and NumPy have them.
//!
//! The [local engine](crate::local) wants operands of one type and windows; people write
//! `a[1:-1] + 2`. Here the one becomes the other. Python's layer converts arguments and calls this.
//!
//! - `promote`: the type that operands of several types have together.
//! - `number`: numbers of Python, which take the type of the array they meet.
//! - `function`: the elementwise functions by name, and which types each computes in.
//! - `compare`: integers that no type holds together.
//! - `reduce`: reductions, their types and what axes become.
//! - `index`: integers, slices, ellipsis and new axes as windows.
//! - `assign`: writing to what an index selects.

mod assign;
mod compare;
mod error;
mod function;
mod index;
mod number;
mod promote;
mod reduce;

pub use assign::{assign, fill_where};
pub use error::{ApiError, Result};
pub use function::{FUNCTIONS, Function, Operand, choose, positive};
pub use index::{Key, select};
pub use number::Number;
pub use promote::{can_cast, is_same_kind, result_type};
pub use reduce::{Axes, How, Reducing, reduce, running};
