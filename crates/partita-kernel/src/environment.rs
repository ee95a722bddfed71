//! The variables that say how kernels run.
//!
//! A misspelt one is ignored, since a library must not end a process for it, and told once on
//! stderr with the values that are known.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The value that a variable names in any case, among those known; nothing if it is not set.
pub fn choice<T: Copy>(variable: &str, known: &[(&str, T)]) -> Option<T> {
    let given = read(variable)?;
    let found = find(&given, known);
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        tell(variable, &given, &names.join(", "));
    }
    found
}

/// The count that a variable names, from 1 on; nothing if it is not set.
pub fn count(variable: &str) -> Option<usize> {
    let given = read(variable)?;
    let found = positive(&given);
    if found.is_none() {
        tell(variable, &given, "a whole number from 1 on");
    }
    found
}

/// What is set to nothing is not set.
fn read(variable: &str) -> Option<String> {
    let given = std::env::var_os(variable)?.to_string_lossy().trim().to_owned();
    (!given.is_empty()).then_some(given)
}

fn find<T: Copy>(given: &str, known: &[(&str, T)]) -> Option<T> {
    known.iter().find(|(name, _)| name.eq_ignore_ascii_case(given)).map(|(_, value)| *value)
}

fn positive(given: &str) -> Option<usize> {
    given.parse().ok().filter(|&count| count > 0)
}

fn tell(variable: &str, given: &str, known: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let message = format!("partita: {variable}={given} is not known and ignored; give {known}");
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(message.clone()) {
        eprintln!("{message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case_and_nothing_else() {
        let known = [("tiles", 1), ("emit", 2)];
        assert_eq!(find("Tiles", &known), Some(1));
        assert_eq!(find("EMIT", &known), Some(2));
        assert_eq!(find("tile", &known), None);
    }

    #[test]
    fn counts_from_one_on() {
        assert_eq!(positive("3"), Some(3));
        for given in ["0", "-1", "abc", "1.5", ""] {
            assert_eq!(positive(given), None, "{given}");
        }
    }
}
