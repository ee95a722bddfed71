//! Whether all ranks were called alike.
//!
//! A rank that was given another argument would go another way through the program, and be told of
//! it only where movements no longer fit each other. So all compare what they were called with
//! before anything runs: numbers by value, arrays by shape and type.

use super::Runner;
use super::arguments::Argument;
use super::problem::{Outcome, problem};

impl Runner<'_> {
    /// Refuses a call that differs between ranks, and names what differs.
    pub(super) fn called_alike(&mut self, function: &str, arguments: &[Argument]) -> Outcome<()> {
        let mut words = vec![format!("@{function}")];
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
    fn the_first_difference_is_told() {
        assert_eq!(difference("a\nb", "a\nc"), ("b", "c"));
        assert_eq!(difference("a", "a\nc"), ("fewer arguments", "c"));
    }
}
