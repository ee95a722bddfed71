//! What a program costs before and after the passes, without running it.
//!
//! Shapes and index arithmetic of the program are computed for every rank of a team
//! ([`crate::model`]), once as it is and once after the default pipeline: how many exchanges there
//! are, how many bytes cross ranks, and how large the loop is that each rank runs while data are
//! under way. Sizes must be known; loops are walked turn by turn.

use std::fmt;

use crate::model::{Counts, ModelError, World};
use crate::module::{Module, Value};
use crate::passes::{Options, apply_default};

/// What the functions of a module cost on a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Ranks of the team.
    pub n_ranks: u64,
    /// Each function: its name, what it costs as it is, what it costs after the passes.
    pub functions: Vec<(String, Counts, Counts)>,
}

/// What the functions of a module cost on a team of `n_ranks`.
///
/// # Errors
/// Sizes that are not known, operations that cannot be reckoned.
pub fn explain(module: &Module, n_ranks: u64) -> Result<Explanation, ModelError> {
    let mut after = module.clone();
    let options = Options { n_ranks: Some(n_ranks), rank: None };
    // Without a rank there is none that the team does not have.
    let _ = apply_default(&mut after, &options);
    let mut functions = Vec::new();
    for function in module.functions() {
        let Some(name) = module.function_name(function) else { continue };
        if let Some(body) = module.body(function) {
            let is_number = |value: &Value| module.ty(*value).as_scalar().is_some();
            if let Some(number) = module.arguments(body).iter().position(is_number) {
                return Err(ModelError::NumberMissing { function: name.to_owned(), number });
            }
            let costs = (counted(module, name, n_ranks)?, counted(&after, name, n_ranks)?);
            functions.push((name.to_owned(), costs.0, costs.1));
        }
    }
    Ok(Explanation { n_ranks, functions })
}

fn counted(module: &Module, name: &str, n_ranks: u64) -> Result<Counts, ModelError> {
    let mut world = World::new(module, n_ranks as usize, false);
    world.run(name, &[])?;
    Ok(world.counts().clone())
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, before, after) in &self.functions {
            writeln!(f, "@{name} on {} ranks", self.n_ranks)?;
            writeln!(f, "  before: {} exchanges, {} bytes", before.exchanges, before.bytes)?;
            writeln!(f, "  after:  {} exchanges, {} bytes", after.exchanges, after.bytes)?;
            for (rank, core) in after.cores.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
                let sizes: Vec<String> = core.iter().map(ToString::to_string).collect();
                writeln!(f, "  rank {rank} computes {} while data are under way", sizes.join("x"))?;
            }
        }
        Ok(())
    }
}
