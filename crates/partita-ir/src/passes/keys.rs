//! `add-comm-cache-keys`: numbers exchanges, so that what they find out is remembered.
//!
//! **In**: `distruntime.get_halo` with the key -1. **Out**: the same with keys 0, 1, and so on in
//! the order of the text, beyond those that are there already.
//!
//! **Why it is right.** A key names a place in the program. All ranks run the same program, so it
//! means the same place on all of them; what is remembered under it is compared with what is asked
//! for before it is used again.

use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{Module, Op};
use crate::passes::Options;

pub(super) fn run(module: &mut Module, _: &Options) {
    let exchanges: Vec<Op> = module
        .walk(module.top())
        .into_iter()
        .filter(|op| module.kind(*op) == OpKind::RuntimeGetHalo)
        .collect();
    let key = |module: &Module, op: Op| module.attr(op, "key").and_then(Attr::as_int).unwrap_or(-1);
    let mut next = exchanges.iter().map(|op| key(module, *op) + 1).max().unwrap_or(0).max(0);
    for op in exchanges {
        if key(module, op) < 0 {
            module.attrs_mut(op).set("key", Attr::i64(next));
            next += 1;
        }
    }
}
