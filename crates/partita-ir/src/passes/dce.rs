//! `dce`: drops what nobody uses.
//!
//! **In**: any program. **Out**: the same without operations whose results nobody uses and that do
//! nothing else; views, loads and new arrays count among these, and so do loops and choices whose
//! bodies do nothing but such things.
//!
//! **Why it is right.** An operation that neither writes nor frees memory can be seen only through
//! its results, and through the error it may end the program with: one that may fail (a load with
//! indices that are not known, a slice that may leave its array) stays. Communication is no
//! exception where it only fetches: all ranks run the same program, so all of them drop the same
//! exchange, and none waits for one that another dropped. A wait whose exchange brings nothing that
//! is used goes together with the exchange.
//!
//! One walk from the last operation to the first is enough: when an operation is reached, all that
//! could use it has been judged.

use crate::kind::OpKind;
use crate::module::{Module, Op};
use crate::passes::Options;
use crate::passes::failing::may_fail;
use crate::table::Traits;

pub(super) fn run(module: &mut Module, _: &Options) {
    for op in module.walk(module.top()).into_iter().rev() {
        if module.is_erased(op) {
            continue;
        }
        if is_idle(module, op) {
            module.erase(op);
        } else if is_idle_exchange(module, op) {
            for wait in module.users(module.result(op)) {
                module.erase(wait);
            }
            module.erase(op);
        }
    }
}

/// Drops what nobody uses among operations that a pass wrote itself and that cannot fail: views,
/// numbers, new arrays.
pub(super) fn sweep(module: &mut Module, written: impl DoubleEndedIterator<Item = Op>) {
    for op in written.rev() {
        let traits = module.kind(op).traits();
        let acts = [Traits::WRITES, Traits::COMMUNICATES, Traits::TERMINATOR];
        let gives = !acts.into_iter().any(|one| traits.has(one))
            && module.kind(op) != OpKind::DistCheckedSlice
            && module.regions(op).is_empty();
        if !module.is_erased(op) && gives && is_unused(module, op) {
            module.erase(op);
        }
    }
}

fn is_unused(module: &Module, op: Op) -> bool {
    module.results(op).iter().all(|result| module.is_unused(*result))
}

fn is_idle(module: &Module, op: Op) -> bool {
    is_unused(module, op) && only_gives(module, op)
}

/// Whether all that an operation does is to give its results.
fn only_gives(module: &Module, op: Op) -> bool {
    match module.kind(op) {
        OpKind::ScfFor if !counts_up(module, op) => false,
        OpKind::ScfFor | OpKind::ScfIf => {
            let inner = module.regions(op).iter().flat_map(|block| module.ops(*block));
            inner.into_iter().all(|op| ends(module, op) || only_gives(module, op))
        }
        OpKind::Unknown | OpKind::FuncFunc | OpKind::FuncCall | OpKind::RegionEnvRegion => false,
        kind => {
            let traits = kind.traits();
            !traits.has(Traits::WRITES) && !traits.has(Traits::TERMINATOR) && !may_fail(module, op)
        }
    }
}

/// A loop that does not count up ends the program.
fn counts_up(module: &Module, op: Op) -> bool {
    let step = module.operands(op).get(2).and_then(|step| module.known_index(*step));
    step.is_some_and(|step| step > 0)
}

fn ends(module: &Module, op: Op) -> bool {
    module.kind(op).traits().has(Traits::TERMINATOR)
}

/// Whether an exchange is only waited for.
fn is_idle_exchange(module: &Module, op: Op) -> bool {
    let [handle, data @ ..] = module.results(op) else { return false };
    let kinds = [OpKind::RuntimeGetHalo, OpKind::RuntimeCopyReshape, OpKind::RuntimeCopyPermute];
    kinds.contains(&module.kind(op))
        && data.iter().all(|data| module.is_unused(*data))
        && !may_fail(module, op)
        && module.uses(*handle).iter().all(|u| module.kind(u.op) == OpKind::RuntimeWait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::types::{Scalar, Size, Type};

    #[test]
    fn what_is_unused_goes_and_what_is_written_stays() {
        let mut module = Module::new();
        let ty = Type::array(&[Size::Known(4)], Scalar::F64);
        let f = module.add_function("f", std::slice::from_ref(&ty), &[]);
        let body = module.body(f).expect("a body");
        let array = module.arguments(body)[0];
        let mut b = Builder::at_end(&mut module, body);
        let twice = b.ewbin(crate::EwBin::Add, array, array, ty.clone());
        b.ewbin(crate::EwBin::Add, twice, twice, ty.clone());
        let (low, high) = (b.index(0), b.index(4));
        let (_, inner) = b.for_loop(low, high, high, &[]);
        b.move_to_end(inner);
        b.copy(array, ty);
        b.yield_(&[]);
        b.move_to_end(body);
        let whole = crate::Slices::known(&[0], &[4], &[1]);
        b.insert_slice(array, array, &whole);
        b.ret(&[]);
        run(&mut module, &Options::default());
        let kinds: Vec<OpKind> = module.ops(body).map(|op| module.kind(op)).collect();
        assert_eq!(kinds, [OpKind::NdarrayInsertSlice, OpKind::FuncReturn]);
    }
}
