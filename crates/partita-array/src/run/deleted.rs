//! Arrays that the program has deleted: looking at one afterwards is an error.
//!
//! The verifier sees uses behind a delete in the same function; what reaches an array through
//! loops, choices and calls is seen here.

use super::problem::{Outcome, problem};
use super::value::Value;
use crate::local::{Array, BaseId};

/// What was deleted, and in which line.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    bases: Vec<(BaseId, u32)>,
}

impl Deleted {
    pub fn note(&mut self, value: &Value, line: u32) {
        // What nobody has any more nobody can look at.
        self.bases.retain(|(base, _)| base.is_alive());
        self.bases.extend(owned(value).into_iter().map(|array| (array.base_id(), line)));
    }

    pub fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// Refuses a value that shares memory with what was deleted.
    pub fn check(&self, value: &Value) -> Outcome<()> {
        let Some(array) = owned(value) else { return Ok(()) };
        match self.bases.iter().find(|(base, _)| base.is_of(array)) {
            None => Ok(()),
            Some((_, line)) => Err(problem(format!(
                "the array was deleted in line {line}; delete it after its last use"
            ))),
        }
    }
}

/// What a rank owns of an array; halos are copies.
fn owned(value: &Value) -> Option<&Array> {
    match value {
        Value::Array(array) => Some(array),
        Value::Dist(array) => Some(array.own()),
        _ => None,
    }
}
