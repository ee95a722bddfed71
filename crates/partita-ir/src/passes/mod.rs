//! Passes: programs that mean the same and cost less, or stand closer to the machine.
//!
//! ```
//! use partita_ir::{Module, passes};
//! let mut module = Module::new();
//! passes::apply(&mut module, "canonicalise")?;
//! assert_eq!(passes::find("cse")?.name, "cse");
//! # Ok::<(), partita_ir::passes::PassError>(())
//! ```
//!
//! Every pass takes a program that the verifier accepts and leaves one that means the same. A
//! program can be run after any of them: what a pass does not understand stays as it was.
//!
//! **Where an argument is.** An argument of a function whose type gives no offsets lies in the
//! default partition of its type's grid, without halos; whoever calls the function sees to that.
//! An argument that a caller inside the module gives is no exception. Everything else a pass says
//! about places follows from the operations ([`places`]).

mod boxes;
mod canonicalise;
mod coalesce;
mod cores;
mod cse;
mod dce;
mod emit;
mod explain;
mod failing;
pub mod fold;
mod hoist;
mod keys;
mod memory;
mod ndarray_dist;
mod overlap;
pub mod places;
mod propagate;
mod separate;
mod standard;

pub use explain::{CostSource, Costs, Explanation, after_default, explain, explain_function};

use crate::module::Module;

partita_error::errors! {
    /// Why a pass was not run.
    pub enum PassError {
        Unknown { name: String } "pass-unknown" =>
            "there is no pass `{name}`; the passes are {}", names();
        RankOutside { rank: u64, n_ranks: u64 } "pass-rank" =>
            "rank {rank} is not one of {n_ranks} ranks; ranks count from 0";
    }
}

/// What passes may take for granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The team has so many ranks. `distruntime.team_size` becomes this number.
    pub n_ranks: Option<u64>,
    /// The program is for this rank alone. `distruntime.team_member` becomes this number.
    pub rank: Option<u64>,
}

/// A pass.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Name, as `partita opt --pass` takes it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    run: fn(&mut Module, &Options),
}

impl Pass {
    /// Runs it.
    ///
    /// # Errors
    /// A rank that the team does not have.
    pub fn run(&self, module: &mut Module, options: &Options) -> Result<(), PassError> {
        if let (Some(rank), Some(n_ranks)) = (options.rank, options.n_ranks)
            && rank >= n_ranks
        {
            return Err(PassError::RankOutside { rank, n_ranks });
        }
        // The only rank of a team is its first.
        let alone = options.rank.or(Some(0).filter(|_| options.n_ranks == Some(1)));
        (self.run)(module, &Options { rank: alone, ..*options });
        Ok(())
    }
}

const PASSES: &[Pass] = &[
    Pass {
        name: "canonicalise",
        summary: "Compute what is known, write sizes into types, drop what changes nothing.",
        run: canonicalise::run,
    },
    Pass { name: "cse", summary: "Compute what is computed twice once.", run: cse::run },
    Pass { name: "dce", summary: "Drop what nobody uses.", run: dce::run },
    Pass {
        name: "ndarray-dist",
        summary: "Say of every operation on distributed arrays what each rank has to have.",
        run: ndarray_dist::run,
    },
    Pass {
        name: "dist-propagate",
        summary: "Keep operands where they are instead of bringing them together blindly.",
        run: propagate::run,
    },
    Pass {
        name: "dist-coalesce",
        summary: "Fetch what all views of an array need in one exchange.",
        run: coalesce::run,
    },
    Pass {
        name: "dist-infer-elementwise-cores",
        summary: "Tell operators which entries they can compute without waiting.",
        run: cores::run,
    },
    Pass {
        name: "convert-dist-to-standard",
        summary: "Local arrays, index arithmetic and communication instead of dist.",
        run: standard::run,
    },
    Pass {
        name: "overlap-comm-and-compute",
        summary: "Compute while data are under way.",
        run: overlap::run,
    },
    Pass {
        name: "add-comm-cache-keys",
        summary: "Number exchanges, so that what they find out is remembered.",
        run: keys::run,
    },
];

/// Every pass, in the order in which they are usually run.
#[must_use]
pub fn registry() -> &'static [Pass] {
    PASSES
}

/// Passes of the default pipeline, in order.
pub const DEFAULT_PIPELINE: &[&str] = &[
    "canonicalise",
    "cse",
    "dce",
    "ndarray-dist",
    "cse",
    "dist-propagate",
    "dist-coalesce",
    "dist-infer-elementwise-cores",
    "cse",
    "convert-dist-to-standard",
    "canonicalise",
    "cse",
    "dce",
    "overlap-comm-and-compute",
    "add-comm-cache-keys",
];

/// The pass of a name.
///
/// # Errors
/// A name that no pass has.
pub fn find(name: &str) -> Result<&'static Pass, PassError> {
    let unknown = || PassError::Unknown { name: name.into() };
    PASSES.iter().find(|pass| pass.name == name).ok_or_else(unknown)
}

/// The passes of a list of names, in which `default` stands for the default pipeline.
///
/// ```
/// let names = partita_ir::passes::listed(["dce", "default"]);
/// assert_eq!(names[..3], ["dce", "canonicalise", "cse"]);
/// ```
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let one = |name: &'n str| match name {
        "default" => DEFAULT_PIPELINE.to_vec(),
        name => vec![name],
    };
    names.into_iter().flat_map(one).collect()
}

/// Runs one pass that takes nothing for granted.
///
/// # Errors
/// A name that no pass has.
pub fn apply(module: &mut Module, name: &str) -> Result<(), PassError> {
    apply_with(module, name, &Options::default())
}

/// Runs one pass.
///
/// # Errors
/// A name that no pass has, a rank that the team does not have.
pub fn apply_with(module: &mut Module, name: &str, options: &Options) -> Result<(), PassError> {
    find(name)?.run(module, options)
}

/// Runs the default pipeline.
///
/// # Errors
/// A rank that the team does not have.
pub fn apply_default(module: &mut Module, options: &Options) -> Result<(), PassError> {
    DEFAULT_PIPELINE.iter().try_for_each(|name| apply_with(module, name, options))
}

fn names() -> String {
    PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_of_the_pipeline_is_there() {
        for name in DEFAULT_PIPELINE {
            assert!(find(name).is_ok(), "{name}");
        }
        for pass in registry() {
            assert!(pass.summary.ends_with('.'), "{}", pass.name);
        }
    }

    #[test]
    fn wrong_names_and_ranks_are_refused() {
        let mut module = Module::new();
        assert_eq!(apply(&mut module, "cze").expect_err("no pass").reason(), "pass-unknown");
        let options = Options { n_ranks: Some(2), rank: Some(2) };
        let error = apply_default(&mut module, &options).expect_err("no rank");
        assert_eq!(error.reason(), "pass-rank");
    }
}
