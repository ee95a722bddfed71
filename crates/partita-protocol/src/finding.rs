//! Findings: what is wrong, where, and what to do about it.

use std::fmt;

/// One problem of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where it is, such as `partitions[(0, 1)].start`.
    pub path: String,
    /// A stable code, such as `partitions-gap`.
    pub reason: &'static str,
    /// What is wrong, the value, and the cure.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the dictionary" } else { &self.path };
        write!(f, "{place}: {} [{}]", self.message, self.reason)
    }
}

/// How many problems there are, in words: the last line of a check.
///
/// ```
/// assert_eq!(partita_protocol::problems(1), "1 problem");
/// assert_eq!(partita_protocol::problems(2), "2 problems");
/// ```
#[must_use]
pub fn problems(n: usize) -> String {
    if n == 1 { "1 problem".to_string() } else { format!("{n} problems") }
}

/// How much a check forgives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// What live producers do and what can be understood passes.
    Lenient,
    /// Only what the protocol's text says passes.
    Strict,
}

/// Problems as they are found.
#[derive(Debug)]
pub struct Findings {
    list: Vec<Finding>,
    strictness: Strictness,
    /// In a file there are no tuples: its lists stand for them.
    has_tuples: bool,
}

impl Findings {
    /// None yet.
    #[must_use]
    pub fn new(strictness: Strictness) -> Self {
        Self { list: Vec::new(), strictness, has_tuples: true }
    }

    /// None yet, of something that knows lists only.
    #[must_use]
    pub fn without_tuples(self) -> Self {
        Self { has_tuples: false, ..self }
    }

    /// Notes a list where the text of the protocol wants something that files cannot hold.
    pub fn add_list(
        &mut self,
        path: impl Into<String>,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        if self.has_tuples {
            self.add_strict(path, reason, message);
        }
    }

    /// Notes a problem.
    pub fn add(
        &mut self,
        path: impl Into<String>,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        self.list.push(Finding { path: path.into(), reason, message: message.into() });
    }

    /// Notes what a lenient check forgives.
    pub fn add_strict(
        &mut self,
        path: impl Into<String>,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        if self.strictness == Strictness::Strict {
            self.add(path, reason, message);
        }
    }

    /// Number of problems so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The problems.
    #[must_use]
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_told_only_where_tuples_are_known_and_nothing_is_forgiven() {
        let n_found = |mut found: Findings| {
            found.add_list("locals", "locals-type", "a list; use a tuple");
            found.count()
        };
        assert_eq!(n_found(Findings::new(Strictness::Strict)), 1);
        assert_eq!(n_found(Findings::new(Strictness::Lenient)), 0);
        assert_eq!(n_found(Findings::new(Strictness::Strict).without_tuples()), 0);
    }

    #[test]
    fn what_knows_no_tuples_keeps_its_strictness() {
        let mut found = Findings::new(Strictness::Strict).without_tuples();
        found.add_strict("get", "field-missing", "missing; add it");
        assert_eq!(found.count(), 1);
    }
}
