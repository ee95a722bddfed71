//! What programs cost, for everything that can be run.
//!
//! What the compiler cannot reckon from shapes alone is run on threads of this process, with
//! arrays of zeros and the numbers that were given.

use partita_ir::model::{Counts, ModelError};
use partita_ir::passes::{CostSource, Costs, Explanation, after_default, explain_function};
use partita_ir::{Module, Type};
use partita_kernel::Dtype;

use crate::run::{Argument, Gather, Number, RunError, dtype_of_type};
use crate::sparse::{Format, SparseTensor};
use crate::threads::run_on_threads;

/// More ranks than anybody looks at one by one.
const MOST_RANKS: u64 = 4096;

partita_error::errors! {
    /// Why it cannot be said what a program costs.
    pub enum ExplainError {
        SizeUnknown { function: String, number: usize } "size-unknown" =>
            "argument {number} of `{function}` has a size that is not known; write its sizes into \
             its type";
        Ranks { n_ranks: u64 } "ranks" =>
            "a program cannot be explained on {n_ranks} ranks; use 1 to 4096";
    }
    passing on Model(ModelError)
    passing on Run(RunError)
}

/// What functions of a module cost on a team of `n_ranks`; all of them, or the named one.
///
/// # Errors
/// Numbers that are not given, sizes that are not known, programs that fail.
pub fn explain(
    module: &Module,
    function: Option<&str>,
    n_ranks: u64,
    numbers: &[Option<Number>],
) -> Result<Explanation, ExplainError> {
    if !(1..=MOST_RANKS).contains(&n_ranks) {
        return Err(ExplainError::Ranks { n_ranks });
    }
    let after = after_default(module, n_ranks);
    let floats: Vec<Option<f64>> = numbers.iter().map(|one| one.map(Number::as_float)).collect();
    let mut functions = Vec::new();
    for op in module.functions().filter(|op| module.body(*op).is_some()) {
        let Some(name) = module.function_name(op) else { continue };
        if function.is_some_and(|wanted| wanted != name) {
            continue;
        }
        let modules = [module, &after];
        functions.push(match explain_function(modules, name, n_ranks, &floats) {
            Err(ModelError::Unknown { .. }) => costs_of_runs(modules, name, n_ranks, numbers)?,
            other => other?,
        });
    }
    Ok(Explanation { n_ranks, functions })
}

fn costs_of_runs(
    [before, after]: [&Module; 2],
    name: &str,
    n_ranks: u64,
    numbers: &[Option<Number>],
) -> Result<Costs, ExplainError> {
    let arguments = zeros(before, name, numbers)?;
    let run = |module: &Module| -> Result<Counts, ExplainError> {
        let reports = run_on_threads(module, name, &arguments, n_ranks, Gather::Nobody)?;
        let first = reports.first();
        Ok(Counts {
            exchanges: first.map_or(0, |report| report.n_exchanges as usize),
            bytes: first.map_or(0, |report| u64::try_from(report.n_bytes).unwrap_or(u64::MAX)),
            cores: Vec::new(),
        })
    };
    let (before, after) = (run(before)?, run(after)?);
    Ok(Costs { function: name.to_string(), before, after, source: CostSource::Run })
}

/// Arguments of the right types: the given numbers, and zeros.
fn zeros(
    module: &Module,
    function: &str,
    numbers: &[Option<Number>],
) -> Result<Vec<Argument>, ExplainError> {
    let body = module.function(function).and_then(|function| module.body(function));
    let arguments = body.map_or(&[][..], |body| module.arguments(body));
    let mut given = Vec::new();
    for (number, value) in arguments.iter().enumerate() {
        let known = numbers.get(number).copied().flatten();
        let zero = || zero(module.ty(*value));
        let unknown = || ExplainError::SizeUnknown { function: function.to_string(), number };
        given.push(known.map(Argument::Number).or_else(zero).ok_or_else(unknown)?);
    }
    Ok(given)
}

/// An array of zeros, or a tensor without elements; nothing if a size is not known.
fn zero(ty: &Type) -> Option<Argument> {
    let sizes = ty.shape()?.iter().map(|size| size.known()).collect::<Option<Vec<u64>>>()?;
    let dtype: Dtype = dtype_of_type(ty.element()?)?;
    if matches!(ty, Type::Tensor(tensor) if tensor.encoding.is_some()) {
        let lists = vec![Vec::new(); sizes.len()];
        let tensor = SparseTensor::from_coordinates(&sizes, dtype, Format::Coo, &lists, &[]);
        return tensor.ok().map(|tensor| Argument::Sparse(tensor.into()));
    }
    let shape: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
    let n = shape.iter().try_fold(dtype.size(), |n, size| n.checked_mul(*size))?;
    Some(Argument::Array { shape, dtype, bytes: vec![0; n].into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_reason_and_a_cure() {
        let problems = partita_error::judge(ExplainError::TABLE, "", &[]);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn what_cannot_be_reckoned_is_run() {
        let text =
            "!a = !ndarray.ndarray<12xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
            func.func @f(%a: !a, %n: index) -> !a {
              %b = ndarray.cumulative sum %a {axis = 0 : i64} : (!a) -> !a
              return %b : !a
            }";
        let module = partita_ir::parse(text).expect("a program");
        let found = explain(&module, None, 3, &[None, Some(Number::Int(4))]).expect("costs");
        assert_eq!(found.functions[0].source, CostSource::Run, "{found}");
        assert!(found.functions[0].before.exchanges > 0, "{found}");
        let error = explain(&module, None, 3, &[]).expect_err("a number is missing");
        assert_eq!(error.reason(), "model-number");
    }
}
