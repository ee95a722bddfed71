//! Programs on ranks that are threads of this process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use partita_ir::Module;
use partita_kernel::Machine;
use partita_team::Team;
use partita_team::threads::World;

use crate::run::{Argument, Gather, Report, RunError, machine_for, run, run_recorded};
use crate::timeline::Event;

/// Runs a function on so many ranks; gives their reports in order.
///
/// # Errors
/// As [`run`]: that of the rank where it began.
pub fn run_on_threads(
    module: &Module,
    function: &str,
    arguments: &[Argument],
    n_ranks: u64,
    gather: Gather,
) -> Result<Vec<Report>, RunError> {
    on_threads(n_ranks, |team, machine| run(module, function, arguments, team, machine, gather))
}

/// The same with a record of what each rank did.
///
/// # Errors
/// As [`run`].
pub fn run_recorded_on_threads(
    module: &Module,
    function: &str,
    arguments: &[Argument],
    n_ranks: u64,
    gather: Gather,
) -> Result<Vec<(Report, Vec<Event>)>, RunError> {
    on_threads(n_ranks, |team, machine| {
        run_recorded(module, function, arguments, team, machine, gather)
    })
}

/// What every rank gives, in order; the error of the rank where one began.
fn on_threads<T: Send>(
    n_ranks: u64,
    of_rank: impl Fn(&Team, &Arc<Machine>) -> Result<T, RunError> + Sync,
) -> Result<Vec<T>, RunError> {
    let world = World::new(n_ranks);
    let machine = machine_for(n_ranks);
    let body = |rank: u64| {
        let team = world.team(rank);
        let one = || of_rank(&team, &machine);
        let outcome = catch_unwind(AssertUnwindSafe(one));
        world.leave(rank, outcome.is_err().then_some("it panicked"));
        outcome.unwrap_or_else(|_| {
            let problem = "it panicked; this is a fault of partita".to_string();
            let operation = format!("rank {rank}");
            Err(RunError::Whole { operation, problem })
        })
    };
    let outcomes: Vec<Result<T, RunError>> = std::thread::scope(|scope| {
        let body = &body;
        let ranks: Vec<_> = (1..n_ranks).map(|rank| scope.spawn(move || body(rank))).collect();
        let first = body(0);
        let others = ranks.into_iter().map(|rank| rank.join().unwrap_or_else(|_| unreachable()));
        std::iter::once(first).chain(others).collect()
    });
    let began = outcomes.iter().find(|one| matches!(one, Err(error) if !is_told(error)));
    if let Some(Err(error)) = began {
        return Err(error.clone());
    }
    outcomes.into_iter().collect()
}

/// Whether an error is what another rank has told.
fn is_told(error: &RunError) -> bool {
    matches!(error, RunError::Team(_))
}

/// Panics are caught inside the thread.
fn unreachable<T>() -> Result<T, RunError> {
    Err(RunError::NotAMember)
}
