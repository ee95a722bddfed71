//! Programs in dialects that stock MLIR has, and back: the form `builtin`.
//!
//! - A local array is memory, `memref<4x?xf64, strided<[?, ?], offset: ?>>`: it is referred to and
//!   written, as our arrays are. Views are `memref.subview`, writes are `memref.copy`, new arrays
//!   `memref.alloc`, operators `linalg.generic` over `arith` and `math`.
//! - A distributed array, or one with a device, stays what it is to its owner: a tensor whose
//!   encoding is a dictionary. What stock dialects have no operation for (movement, index
//!   arithmetic of ranks, operators of other kinds) is a call of a function that is declared and
//!   defined elsewhere. A handle of communication is an `!async.token`.
//! - Sizes `?` of one operation's operands are taken to be equal, as `linalg` takes them.
//!
//! Nothing is lost: an operation that stands for one of ours says so (`partita.op`), what was only
//! needed to write it is marked as well (`partita.helper`), and the module says that it is of this
//! form. `raise` makes our operations of them again.
//!
//! - `lower`: one operation after another; calls. `memory`: views, writes, new arrays. `loops` and
//!   `operators`: operators as loops. `types`: both ways. `raise`: the way back.

mod loops;
mod lower;
mod memory;
mod operators;
mod raise;
mod types;

pub(crate) use lower::lower;
pub(crate) use raise::raise;

use crate::attr::Attr;
use crate::module::Module;

/// Of the module: it is of this form.
const FORM: &str = "partita.form";
/// Which of our operations this one stands for.
const OP: &str = "partita.op";
/// The attributes of our operation.
const ATTRS: &str = "partita.attrs";
/// Lengths of the groups of its operands.
const GROUPS: &str = "partita.groups";
/// Only there because another operation needs it.
const HELPER: &str = "partita.helper";
/// An environment that stands outside a type, as text.
const ENV: &str = "partita.env";
/// Memory of the program's own that has the layout of our arrays.
const MEMORY: &str = "partita.memref";

const EXECUTE_REGION: &str = "scf.execute_region";
const SAME_VALUES: &str = "builtin.unrealized_conversion_cast";
const SEGMENTS: &str = "operandSegmentSizes";

/// Whether a program uses our marks for something else, so that they could not be told apart.
fn has_marks(module: &Module) -> bool {
    let ops = module.walk(module.top());
    let is_mark = |name: &str| [OP, HELPER, ATTRS, GROUPS].contains(&name);
    module.attrs.get(FORM).is_some()
        || ops.iter().any(|op| module.attrs(*op).iter().any(|(name, _)| is_mark(name)))
        || types::has_token(module, &ops)
}

fn lengths(numbers: &[usize]) -> Attr {
    Attr::I32s(numbers.iter().map(|n| i32::try_from(*n).unwrap_or(i32::MAX)).collect())
}
