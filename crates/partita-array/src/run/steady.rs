//! What is the same on every turn of a function's loops.
//!
//! A number is *steady* if it follows from constants, the team, the function's arguments and the
//! shapes of arrays, but from no element and no loop. It is computed once per call. An exchange
//! all of whose operands are steady asks for the same boxes on every turn, on every rank; boxes are
//! found out by asking all ranks, so that need not be done again. All ranks read the same program,
//! and all come to the same verdict without a word.

use std::collections::HashMap;

use partita_ir::passes::places::{Place, Places};
use partita_ir::table::Traits;
use partita_ir::{Module, Op, OpKind, Size, Source, Type, Value};

/// The steady operations of a function, in order.
#[derive(Debug, Default)]
pub(super) struct Steady {
    exchanges: Vec<Op>,
    numbers: Vec<Op>,
}

impl Steady {
    pub fn of(module: &Module, function: Op) -> Self {
        let mut search =
            Search { module, body: module.body(function), known: HashMap::new(), places: None };
        let blocks = module.regions(function).iter();
        let mut ops: Vec<Op> = blocks.flat_map(|block| module.walk(*block)).collect();
        ops.retain(|op| {
            let is_asked = gives_numbers(module, *op) || communicates(module, *op);
            is_asked && search.are_steady(module.operands(*op))
        });
        ops.sort_unstable();
        let (exchanges, numbers) = ops.into_iter().partition(|op| communicates(module, *op));
        Self { exchanges, numbers }
    }

    /// Whether an exchange asks for the same boxes every time.
    pub fn has_exchange(&self, op: Op) -> bool {
        self.exchanges.binary_search(&op).is_ok()
    }

    /// Whether an operation gives the same numbers every time.
    pub fn has_numbers(&self, op: Op) -> bool {
        self.numbers.binary_search(&op).is_ok()
    }
}

fn communicates(module: &Module, op: Op) -> bool {
    module.kind(op).traits().has(Traits::COMMUNICATES)
}

/// Whether an operation does nothing but give numbers.
fn gives_numbers(module: &Module, op: Op) -> bool {
    let results = module.results(op);
    let is_number = |value: &Value| module.ty(*value).as_scalar().is_some();
    let kind = module.kind(op);
    !results.is_empty()
        && results.iter().all(is_number)
        && kind.traits().has(Traits::PURE)
        && keeps_steady(kind)
}

struct Search<'m> {
    module: &'m Module,
    body: Option<partita_ir::Block>,
    known: HashMap<Value, bool>,
    /// Where arrays are; found out when it is first asked for.
    places: Option<Places>,
}

impl Search<'_> {
    fn are_steady(&mut self, values: &[Value]) -> bool {
        values.iter().all(|value| self.is_steady(*value))
    }

    /// Whether a number, or the shape and place of an array, is the same on every turn.
    fn is_steady(&mut self, value: Value) -> bool {
        // Programs may be long chains: the walk has a stack of its own.
        let mut open = vec![value];
        while let Some(&value) = open.last() {
            if self.known.contains_key(&value) {
                open.pop();
                continue;
            }
            match self.verdict(value) {
                Ok(verdict) => {
                    self.known.insert(value, verdict);
                    open.pop();
                }
                Err(missing) => open.push(missing),
            }
        }
        self.known.get(&value).copied().unwrap_or(false)
    }

    /// The verdict on a value, or an operand that must be judged first.
    fn verdict(&mut self, value: Value) -> Result<bool, Value> {
        let op = match self.module.source(value) {
            Source::Argument { block, .. } => {
                return Ok(Some(block) == self.body || self.is_fixed(value));
            }
            Source::Result { op, .. } => op,
        };
        if !keeps_steady(self.module.kind(op)) {
            return Ok(false);
        }
        for operand in self.module.operands(op) {
            match self.known.get(operand) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => return Err(*operand),
            }
        }
        Ok(true)
    }

    /// Whether an argument of a loop has the same shape and place on every turn.
    fn is_fixed(&mut self, value: Value) -> bool {
        let module = self.module;
        if !has_fixed_shape(module.ty(value)) || module.ty(value).dist().is_none() {
            return has_fixed_shape(module.ty(value));
        }
        let places = self.places.get_or_insert_with(|| Places::of(module));
        matches!(places.get(module, value), Some(Place::Default { .. }))
            && places.is_all_owned(module, value)
    }
}

/// Whether results follow from the numbers, shapes and places of the operands alone.
fn keeps_steady(kind: OpKind) -> bool {
    let dialects = ["arith", "math", "ndarray", "dist", "distruntime"];
    kind != OpKind::NdarrayLoad && dialects.contains(&kind.dialect())
}

/// Whether it is an array of known sizes; a local one has no other place than itself.
fn has_fixed_shape(ty: &Type) -> bool {
    let is_known = |sizes: &[Size]| sizes.iter().all(|size| size.known().is_some());
    ty.as_array().is_some() && ty.shape().is_some_and(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "func.func @f(%a: !ndarray.ndarray<?xf64>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %me = \"distruntime.team_member\"() {team = 1 : i64} : () -> index
  scf.for %i = %zero to %n step %one {
";

    const AFTER: &str = "
    %h, %l, %r = \"distruntime.get_halo\"(%a, %n, %at, %at, %one) {team = 1 : i64} : (!ndarray.ndarray<?xf64>, index, index, index, index) -> (!distruntime.asynchandle, !ndarray.ndarray<?xf64>, !ndarray.ndarray<?xf64>)
    \"distruntime.wait\"(%h) : (!distruntime.asynchandle) -> ()
  }
  return
}";

    fn is_steady(between: &str) -> bool {
        let text = format!("{BEFORE}{between}{AFTER}");
        let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let function = module.function("f").expect("a function");
        let steady = Steady::of(&module, function);
        let mut ops = module.walk(module.top()).into_iter();
        let halo = ops.find(|op| module.kind(*op) == OpKind::RuntimeGetHalo);
        halo.is_some_and(|op| steady.has_exchange(op))
    }

    #[test]
    fn boxes_of_constants_teams_and_shapes_are_steady() {
        assert!(is_steady("%at = arith.muli %me, %n : index"));
        assert!(is_steady(
            "%at = \"ndarray.dim\"(%a, %zero) : (!ndarray.ndarray<?xf64>, index) -> index"
        ));
    }

    #[test]
    fn boxes_of_loops_and_elements_are_not() {
        assert!(!is_steady("%at = arith.addi %i, %n : index"));
        assert!(!is_steady(
            "%x = \"ndarray.load\"(%a, %zero) : (!ndarray.ndarray<?xf64>, index) -> f64
    %y = arith.fptosi %x : f64 to i64
    %at = arith.index_cast %y : i64 to index"
        ));
    }
}
