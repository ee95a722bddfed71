//! Whether all ranks were called alike.
//!
//! A rank that was given another argument would go another way through the program, and be told of
//! it only where movements no longer fit each other. So all compare what they were called with
//! before anything runs: the program by a hash, numbers by value, arrays by shape and type.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use partita_ir::{Block, Module, Value as Name};

use super::Runner;
use super::arguments::Argument;
use super::problem::{Outcome, problem};

impl Runner<'_> {
    /// Refuses a call that differs between ranks, and names what differs.
    pub(super) fn called_alike(&mut self, function: &str, arguments: &[Argument]) -> Outcome<()> {
        let mut words = vec![format!("@{function}")];
        if self.mover.n_ranks() > 1 {
            words.push(format!("another program ({:016x})", fingerprint(self.module)));
        }
        words.extend(arguments.iter().enumerate().map(|(at, one)| described(at, one)));
        let all = self.mover.gather_bytes("arguments", words.join("\n").into_bytes())?;
        let Some(rank) = all.iter().position(|other| *other != all[0]) else { return Ok(()) };
        let [first, other] = [&all[0], &all[rank]].map(|bytes| String::from_utf8_lossy(bytes));
        let (ours, theirs) = difference(&first, &other);
        Err(problem(format!(
            "rank 0 was called with {ours}, rank {rank} with {theirs}; call it alike on every rank"
        )))
    }
}

/// A number that programs share only if they are the same, wherever their text stands.
fn fingerprint(module: &Module) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut numbers: HashMap<Name, usize> = HashMap::new();
    let mut name = |module: &Module, value: Name, hasher: &mut DefaultHasher| {
        let next = numbers.len();
        let number = *numbers.entry(value).or_insert(next);
        (number, module.ty(value)).hash(hasher);
    };
    let block = |module: &Module, block: Block, hasher: &mut DefaultHasher| {
        (module.ops(block).count(), module.arguments(block).len()).hash(hasher);
    };
    for op in module.walk(module.top()) {
        module.name(op).hash(&mut hasher);
        module.attrs(op).hash(&mut hasher);
        for value in module.operands(op).iter().chain(module.results(op)) {
            name(module, *value, &mut hasher);
        }
        for inner in module.regions(op) {
            block(module, *inner, &mut hasher);
            module.arguments(*inner).iter().for_each(|one| name(module, *one, &mut hasher));
        }
    }
    hasher.finish()
}

fn described(at: usize, argument: &Argument) -> String {
    match argument {
        Argument::Number(number) => format!("argument {at} = {number}"),
        Argument::Array { shape, dtype, .. } => {
            format!("argument {at} = an array of {shape:?}, {dtype}")
        }
        Argument::Sparse(tensor) => format!(
            "argument {at} = a sparse tensor of {:?}, {}, {} elements",
            tensor.shape,
            tensor.dtype,
            tensor.n_elements()
        ),
    }
}

/// The first lines that differ.
fn difference<'t>(first: &'t str, other: &'t str) -> (&'t str, &'t str) {
    let (mut ours, mut theirs) = (first.lines(), other.lines());
    loop {
        match (ours.next(), theirs.next()) {
            (Some(a), Some(b)) if a == b => {}
            (None, None) => return ("nothing", "nothing"),
            (a, b) => return (a.unwrap_or("fewer arguments"), b.unwrap_or("fewer arguments")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_apart_by_what_they_say() {
        let of = |op: &str, name: &str| {
            let text = format!(
                "func.func @f(%x: index) -> index {{\n  %{name} = arith.{op} %x, %x : index\n  return %{name} : index\n}}"
            );
            fingerprint(&partita_ir::parse(&text).expect("a program"))
        };
        assert_eq!(of("addi", "y"), of("addi", "z"));
        assert_ne!(of("addi", "y"), of("muli", "y"));
    }

    #[test]
    fn the_first_difference_is_told() {
        assert_eq!(difference("a\nb", "a\nc"), ("b", "c"));
        assert_eq!(difference("a", "a\nc"), ("fewer arguments", "c"));
    }
}
