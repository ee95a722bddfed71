//! `cse`: computes what is computed twice once.
//!
//! **In**: any program. **Out**: the same, where of two operations that are alike (name, operands,
//! attributes, types of results) and of which one stands where the other is visible, the later one
//! is gone.
//!
//! **Why it is right.** Only operations are merged whose results depend on their operands alone,
//! and that give no memory of their own: two arrays that are created alike are two arrays, since
//! one of them may be written. Views may be merged: both look at the same elements.
//!
//! A table of what has been seen follows the nesting of blocks, so an operation inside a loop may
//! be replaced by one before it, never the other way round.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::attr::Attrs;
use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::passes::Options;
use crate::table::Traits;
use crate::types::Type;

pub(super) fn run(module: &mut Module, _: &Options) {
    for function in module.functions().collect::<Vec<_>>() {
        if let Some(body) = module.body(function) {
            merge(module, body, &mut HashMap::new());
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: OpKind,
    operands: Vec<Value>,
    segments: Option<Arc<[u32]>>,
    attrs: Attrs,
    results: Vec<Type>,
}

fn merge(module: &mut Module, block: Block, seen: &mut HashMap<Rc<Key>, Op>) {
    let mut added = Vec::new();
    for op in module.ops(block).collect::<Vec<_>>() {
        for region in module.regions(op).to_vec() {
            merge(module, region, seen);
        }
        if !may_merge(module, op) {
            continue;
        }
        let key = Rc::new(key(module, op));
        if let Some(earlier) = seen.get(&key) {
            let results = module.results(*earlier).to_vec();
            module.replace_op(op, &results);
        } else {
            seen.insert(Rc::clone(&key), op);
            added.push(key);
        }
    }
    for key in added {
        seen.remove(&key);
    }
}

fn may_merge(module: &Module, op: Op) -> bool {
    let traits = module.kind(op).traits();
    traits.has(Traits::PURE)
        && !traits.has(Traits::FRESH)
        && !traits.has(Traits::TERMINATOR)
        && module.regions(op).is_empty()
        && !module.results(op).is_empty()
}

fn key(module: &Module, op: Op) -> Key {
    Key {
        kind: module.kind(op),
        operands: module.operands(op).to_vec(),
        segments: module.segments(op).map(Into::into),
        attrs: module.attrs(op).clone(),
        results: module.results(op).iter().map(|result| module.ty(*result).clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::types::{Scalar, Size};

    #[test]
    fn sums_are_merged_and_arrays_are_not() {
        let mut module = Module::new();
        let f = module.add_function("f", &[Type::INDEX], &[]);
        let body = module.body(f).expect("a body");
        let n = module.arguments(body)[0];
        let ty = Type::array(&[Size::Dynamic], Scalar::F64);
        let mut b = Builder::at_end(&mut module, body);
        let (one, two) = (b.addi(n, n), b.addi(n, n));
        let (first, second) = (b.create(&[one], None, ty.clone()), b.create(&[two], None, ty));
        b.ret(&[first, second]);
        run(&mut module, &Options::default());
        assert_eq!(module.ops(body).count(), 4);
        let creates: Vec<Op> = module.ops(body).skip(1).take(2).collect();
        assert_eq!(module.operands(creates[0]), module.operands(creates[1]));
    }

    #[test]
    fn a_loop_uses_what_stands_before_it_and_not_the_other_way() {
        let mut module = Module::new();
        let f = module.add_function("f", &[Type::INDEX], &[]);
        let body = module.body(f).expect("a body");
        let n = module.arguments(body)[0];
        let mut b = Builder::at_end(&mut module, body);
        b.addi(n, n);
        let (_, inner) = b.for_loop(n, n, n, &[]);
        b.move_to_end(inner);
        b.addi(n, n);
        b.muli(n, n);
        b.yield_(&[]);
        b.move_to_end(body);
        b.muli(n, n);
        run(&mut module, &Options::default());
        assert_eq!((module.ops(inner).count(), module.ops(body).count()), (2, 3));
    }
}
