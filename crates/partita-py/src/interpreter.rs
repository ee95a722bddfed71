//! How a rank leaves the interpreter for a call of its team, and comes back.

use partita_team::Team;
use partita_team::threads::Turn;
use pyo3::prelude::*;

/// Whose turn it is, of all ranks that are threads of this process.
static TURN: Turn = Turn::new();

/// Whether ranks of a team come back one after the other: they need the same interpreter, and each
/// has a core of its own to wait on.
pub(crate) fn comes_in_turn(team: &Team) -> bool {
    team.waits_awake() && team.engine().is_one_process() && team.size() > 1
}

/// Makes a call while others may run Python.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    in_turn: bool,
    call: impl Send + FnOnce() -> T,
) -> T {
    match in_turn {
        true => py.detach(|| TURN.meanwhile(call)),
        false => py.detach(call),
    }
}
