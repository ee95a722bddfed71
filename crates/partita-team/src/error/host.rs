//! Hosts by name, as messages tell where a rank runs.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The name of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host(&'static str);

/// Names are kept for ever: there are as many as hosts.
static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Host {
    /// A host of this name.
    pub(crate) fn new(name: &str) -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(name) {
            return Self(known);
        }
        let kept: &'static str = Box::leak(Box::from(name));
        known.insert(kept);
        Self(kept)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let (a, b) = (Host::new("alpha"), Host::new(&String::from("alpha")));
        assert!(std::ptr::eq(a.0, b.0));
        assert_ne!(a, Host::new("beta"));
    }
}
