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
    /// Each function.
    pub functions: Vec<Costs>,
}

/// What one function costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// Its name.
    pub function: String,
    /// As it is.
    pub before: Counts,
    /// After the default passes.
    pub after: Counts,
    /// How it was found out.
    pub source: CostSource,
}

/// How it was found out what a function costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostSource {
    /// From shapes and indices alone.
    Reckoned,
    /// The function was run, with arrays of zeros.
    Run,
}

/// What the functions of a module cost on a team of `n_ranks`.
///
/// # Errors
/// Sizes that are not known, operations that cannot be reckoned.
pub fn explain(module: &Module, n_ranks: u64) -> Result<Explanation, ModelError> {
    let after = after_default(module, n_ranks);
    let functions = module.functions().filter(|f| module.body(*f).is_some());
    let names = functions.filter_map(|function| module.function_name(function));
    let costs = names.map(|name| explain_function([module, &after], name, n_ranks, &[]));
    Ok(Explanation { n_ranks, functions: costs.collect::<Result<_, _>>()? })
}

/// The module after the default passes for so many ranks.
#[must_use]
pub fn after_default(module: &Module, n_ranks: u64) -> Module {
    let mut after = module.clone();
    let options = Options { n_ranks: Some(n_ranks), rank: None };
    // Without a rank there is none that the team does not have.
    let _ = apply_default(&mut after, &options);
    after
}

/// What one function costs, from the module before and after the passes. `numbers` are those
/// arguments that are numbers.
///
/// # Errors
/// A number that is not given, sizes that are not known, operations that cannot be reckoned.
pub fn explain_function(
    [before, after]: [&Module; 2],
    name: &str,
    n_ranks: u64,
    numbers: &[Option<f64>],
) -> Result<Costs, ModelError> {
    if let Some(number) = missing_number(before, name, numbers) {
        return Err(ModelError::NumberMissing { function: name.to_owned(), number });
    }
    Ok(Costs {
        function: name.to_owned(),
        before: counted(before, name, n_ranks, numbers)?,
        after: counted(after, name, n_ranks, numbers)?,
        source: CostSource::Reckoned,
    })
}

/// The first argument of a function that is a number and not given.
fn missing_number(module: &Module, name: &str, numbers: &[Option<f64>]) -> Option<usize> {
    let body = module.function(name).and_then(|function| module.body(function))?;
    let is_missing = |(place, value): (usize, &Value)| {
        module.ty(*value).as_scalar().is_some() && numbers.get(place).copied().flatten().is_none()
    };
    module.arguments(body).iter().enumerate().position(is_missing)
}

fn counted(
    module: &Module,
    name: &str,
    n_ranks: u64,
    numbers: &[Option<f64>],
) -> Result<Counts, ModelError> {
    let mut world = World::new(module, n_ranks as usize, false);
    let arguments: Vec<Vec<f64>> = numbers.iter().map(|n| n.iter().copied().collect()).collect();
    world.run(name, &arguments)?;
    Ok(world.counts().clone())
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Costs { function, before, after, source } in &self.functions {
            writeln!(f, "@{function} on {} ranks", self.n_ranks)?;
            writeln!(f, "  before: {} exchanges, {} bytes", before.exchanges, before.bytes)?;
            writeln!(f, "  after:  {} exchanges, {} bytes", after.exchanges, after.bytes)?;
            for (rank, core) in after.cores.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
                let sizes: Vec<String> = core.iter().map(ToString::to_string).collect();
                writeln!(f, "  rank {rank} computes {} while data are under way", sizes.join("x"))?;
            }
            if *source == CostSource::Run {
                writeln!(f, "  counted by running it with arrays of zeros")?;
            }
        }
        Ok(())
    }
}
