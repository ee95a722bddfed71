//! Calls: what ranks compare before they act together.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::error::{Differing, Mismatch, Rank, Result, cut};
use crate::team::meeting::{Arrival, Contribution};
use crate::team::near::NearSum;

/// Which call a rank has made, for comparison with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub name: CallName,
    /// What must be equal besides the name: a plan, a root.
    pub argument: Arc<str>,
}

/// What a call is named; the engines act on some of the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallName {
    Run,
    RunInPlace,
    /// The end of a run: this rank has copied.
    RunFinished,
    Barrier,
    /// A call that only exchanges bytes.
    Exchange(Cow<'static, str>),
}

/// Names of exchanges that need no memory of their own.
const EXCHANGES: [&str; 4] = ["broadcast_data", "allgather_data", "gather", "inside partita:"];

impl CallName {
    /// An exchange that another process has named.
    pub(crate) fn exchange(text: &str) -> Self {
        let known = EXCHANGES.iter().find(|name| **name == text);
        Self::Exchange(known.map_or_else(|| text.to_string().into(), |name| (*name).into()))
    }

    /// What differs where only the arguments of such calls do.
    fn argument(&self) -> Differing {
        match self {
            Self::Exchange(_) | Self::Barrier => Differing::Argument,
            _ => Differing::Plan,
        }
    }

    /// Whether ranks bring nothing to such calls, whichever rank it is.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self, Self::RunFinished | Self::Barrier)
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::RunInPlace => "run in place",
            Self::RunFinished => "run finished",
            Self::Barrier => "barrier",
            Self::Exchange(name) => name,
        })
    }
}

impl Call {
    /// A call without an argument.
    pub(crate) fn new(name: CallName) -> Self {
        Self { name, argument: Arc::default() }
    }

    /// A number for the call, and for what partners have done before it: calls that differ have
    /// others.
    pub(crate) fn digest(&self, near: NearSum) -> u64 {
        let mut hasher = DefaultHasher::new();
        let name = match &self.name {
            CallName::Run => (0_u8, ""),
            CallName::RunInPlace => (1, ""),
            CallName::RunFinished => (2, ""),
            CallName::Barrier => (3, ""),
            CallName::Exchange(name) => (4, &**name),
        };
        (name, &*self.argument, near.n_calls, near.hash).hash(&mut hasher);
        hasher.finish()
    }

    /// The call in words, for messages.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.name, self.argument).trim_end().to_string()
    }
}

/// Options of calls that need no meeting of their own: the next meeting compares them.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The last ones in words; of those before, their number and a hash stay.
    words: String,
    n_before: u64,
    hash: u64,
}

impl Said {
    /// Notes what a rank does with which options.
    pub(crate) fn note(&mut self, words: &str) {
        if !self.words.is_empty() {
            self.n_before += 1;
            let mut hasher = DefaultHasher::new();
            (self.hash, &self.words).hash(&mut hasher);
            self.hash = hasher.finish();
        }
        words.clone_into(&mut self.words);
    }

    /// A call whose argument has what was said since the last one.
    pub(crate) fn put_into(&mut self, call: &mut Call) {
        if self.words.is_empty() {
            return;
        }
        let Self { words, n_before, hash } = std::mem::take(self);
        let before = match n_before {
            0 => String::new(),
            n => format!(" after {n} others ({hash:016x})"),
        };
        let rest = if call.argument.is_empty() { "" } else { ", " };
        call.argument = format!("{words}{before}{rest}{}", call.argument).into();
    }
}

/// Finds two ranks that made different calls, if any did; every rank comes to the same verdict.
pub(crate) fn check_same<'a>(
    members: &[u64],
    contributions: impl Iterator<Item = &'a Contribution> + Clone,
) -> Result<()> {
    let mut others = contributions.clone();
    let Some(first) = others.next() else { return Ok(()) };
    let differs = |other: &&Contribution| {
        other.call != first.call || other.near != first.near || other.arrival != first.arrival
    };
    let Some(far) = others.position(|other| differs(&other)) else { return Ok(()) };
    let all: Vec<&Contribution> = contributions.collect();
    let (one, at) = parting(&all).unwrap_or((0, far + 1));
    let (first, other) = (all[one], all[at]);
    let (a, b) = (&first.call, &other.call);
    let (what, mine, theirs) = if a.name != b.name {
        (Differing::Call, a.name.to_string(), b.name.to_string())
    } else if a.argument != b.argument {
        (a.name.argument(), cut(&a.argument), cut(&b.argument))
    } else {
        (Differing::Call, first.with_history(), other.with_history())
    };
    let (rank, other) = (Rank::of(members, one as u64), Rank::of(members, at as u64));
    Err(Mismatch { rank, other, what, mine, theirs }.into())
}

/// Two ranks that have the same runs among partners behind them and go on differently, as early as any
/// do. What else differs may follow from that: who is further away from them makes more runs before it
/// hears of it.
fn parting(all: &[&Contribution]) -> Option<(usize, usize)> {
    let pair = |(at, other): (usize, &&Contribution)| {
        let is_alike = |one: &&Contribution| one.near == other.near;
        let first = all.iter().position(is_alike).filter(|first| all[*first].call != other.call)?;
        Some((first, at))
    };
    all.iter().enumerate().filter_map(pair).min_by_key(|(first, _)| all[*first].near.n_calls)
}

impl Contribution {
    /// The call in words, with those that partners have made before it without the others.
    fn with_history(&self) -> String {
        let NearSum { n_calls, hash } = self.near;
        let stuck = match self.arrival {
            Arrival::Meant => "",
            Arrival::Stuck => " among partners",
        };
        format!("{}{stuck} after {n_calls} runs among partners ({hash:016x})", self.call.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TeamError;

    fn argument_of(said: &mut Said, argument: &str) -> String {
        let mut call = Call { name: CallName::Run, argument: argument.into() };
        said.put_into(&mut call);
        call.argument.to_string()
    }

    #[test]
    fn ranks_that_part_are_named_not_those_that_hear_of_it_later() {
        let came = |n_calls: u64, argument: &str| {
            let call = Call { name: CallName::RunInPlace, argument: argument.into() };
            let near = NearSum { n_calls, hash: 7 * n_calls };
            Contribution { near, ..Contribution::new(call) }
        };
        let verdict = |all: &[Contribution]| match check_same(&[0, 1, 2, 3], all.iter()) {
            Err(TeamError::Mismatch(found)) => Some((found.rank.team, found.other.team)),
            _ => None,
        };
        let a = |n_calls| came(n_calls, "aa");
        assert_eq!(verdict(&[a(3), a(3), a(3), a(3)]), None);
        assert_eq!(verdict(&[a(3), a(2), a(2), came(2, "bb")]), Some((1, 3)));
        assert_eq!(verdict(&[a(4), came(4, "bb"), a(2), came(2, "bb")]), Some((2, 3)));
        assert_eq!(verdict(&[a(3), a(3), a(2), a(3)]), Some((0, 2)));
    }

    #[test]
    fn what_is_said_goes_with_the_next_call_alone() {
        let mut said = Said::default();
        assert_eq!(argument_of(&mut said, "ab12"), "ab12");
        said.note("sort(descending)");
        assert_eq!(argument_of(&mut said, "ab12"), "sort(descending), ab12");
        assert_eq!(argument_of(&mut said, "ab12"), "ab12");
        said.note("sort(descending)");
        assert_eq!(argument_of(&mut said, ""), "sort(descending)");
    }

    #[test]
    fn all_that_was_said_counts_in_a_few_words() {
        let told = |words: &[&str]| {
            let mut said = Said::default();
            words.iter().for_each(|one| said.note(one));
            argument_of(&mut said, "")
        };
        let first = told(&["a", "b", "c"]);
        assert!(first.starts_with("c after 2 others ("), "{first}");
        assert_eq!(first, told(&["a", "b", "c"]));
        assert_ne!(first, told(&["b", "a", "c"]));
        assert_ne!(first, told(&["b", "c"]));
    }
}
