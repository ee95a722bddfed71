//! Teams: ordered ranks that act together, the same on every engine.
//!
//! - `team`: members, teams made of teams, and the calls that exchange bytes.
//! - `run`: running a plan; `run_staged`: in two stages; `check`: what is refused before anything
//!   moves.
//! - `meeting`: what an engine brings: every rank posts something, then sees what all have posted.
//! - `near`: runs that only partners come to; `agreed`: the plans that all have agreed on.
//! - `call`: what ranks compare before they act; `claim`: one call at a time.
//! - `cache`: what a rank keeps between calls.
//! - `callers`: the threads that make a rank's calls.
//! - `patience`: how long to wait, and how; `interrupt`: what ends a wait early.
//! - `members`: choosing the members of a new team.

pub(crate) mod agreed;
pub(crate) mod cache;
pub(crate) mod call;
pub(crate) mod callers;
mod check;
pub(crate) mod claim;
pub(crate) mod interrupt;
pub(crate) mod meeting;
mod members;
pub(crate) mod near;
pub(crate) mod patience;
mod run;
mod run_near;
mod run_staged;
#[allow(clippy::module_inception, reason = "the folder is named after what it makes")]
pub(crate) mod team;
