//! Judges dictionaries: which protocol they speak, and everything that is wrong with them.

use crate::finding::{Finding, Findings, Strictness};
use crate::partitioned::Summary;
use crate::tags::untag;
use crate::value::Value;
use crate::{distarray, partitioned};

pub use crate::tags::untag as from_tagged;

/// Where a dictionary comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A running program: functions and buffers are there.
    Live,
    /// A file: functions and buffers may be left out or written as words.
    File,
}

/// One of the two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `__partitioned__`.
    Partitioned,
    /// `__distarray__`.
    Distarray,
}

impl Protocol {
    /// The protocol that a dictionary's fields speak of.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        let has = |names: &[&str]| names.iter().any(|name| value.get(name).is_some());
        if has(&["partitions", "partition_tiling"]) {
            Some(Self::Partitioned)
        } else if has(&["__version__", "dim_data", "buffer"]) {
            Some(Self::Distarray)
        } else if has(&["shape", "locals", "get"]) {
            Some(Self::Partitioned)
        } else {
            None
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Partitioned => "__partitioned__",
            Self::Distarray => "__distarray__",
        }
    }
}

/// Judges one dictionary.
#[must_use]
pub fn one(value: &Value, origin: Origin, strictness: Strictness) -> Vec<Finding> {
    let mut found = findings(origin, strictness);
    match Protocol::of(value) {
        Some(Protocol::Partitioned) => drop(partitioned::read(value, origin, &mut found)),
        Some(Protocol::Distarray) => drop(distarray::read(value, origin, &mut found)),
        None => add_unknown(value, "", &mut found),
    }
    found.into_list()
}

fn findings(origin: Origin, strictness: Strictness) -> Findings {
    let none = Findings::new(strictness);
    if origin == Origin::File { none.without_tuples() } else { none }
}

fn add_unknown(value: &Value, path: &str, found: &mut Findings) {
    if value.entries().is_none() {
        let message = format!("{} is a {}; use a dictionary", value.words(), value.kind());
        found.add(path, "not-a-dict", message);
        return;
    }
    let message = "no field of __partitioned__ (shape, partitions, ...) and none of __distarray__ \
                   (__version__, buffer, dim_data); give one of them";
    found.add(path, "protocol-unknown", message);
}

/// Judges the dictionaries of all ranks, in order, and whether they fit together.
#[must_use]
pub fn ranks(values: &[Value], origin: Origin, strictness: Strictness) -> Vec<Finding> {
    let mut all = Findings::new(strictness);
    let protocols: Vec<Option<Protocol>> = values.iter().map(Protocol::of).collect();
    let Some(protocol) = protocols.iter().flatten().next().copied() else {
        for (rank, value) in values.iter().enumerate() {
            add_unknown(value, &format!("ranks[{rank}]"), &mut all);
        }
        if values.is_empty() {
            all.add("", "protocol-unknown", "no dictionary at all; give one per rank");
        }
        return all.into_list();
    };
    let mut judge = Judge { origin, strictness, all: &mut all };
    match protocol {
        Protocol::Partitioned => {
            let read = judge.each(values, |value, origin, found| {
                partitioned::read(value, origin, found).as_ref().map(Summary::of)
            });
            partitioned::check_ranks(&read, judge.all);
        }
        Protocol::Distarray => {
            let read = judge.each(values, distarray::read);
            distarray::check_ranks(&read, judge.all);
        }
    }
    all.into_list()
}

struct Judge<'a> {
    origin: Origin,
    strictness: Strictness,
    all: &'a mut Findings,
}

impl Judge<'_> {
    /// Reads each rank's dictionary; findings get the rank into their path.
    fn each<T>(
        &mut self,
        values: &[Value],
        read: impl Fn(&Value, Origin, &mut Findings) -> Option<T>,
    ) -> Vec<Option<T>> {
        let mut list = Vec::with_capacity(values.len());
        for (rank, value) in values.iter().enumerate() {
            let mut found = findings(self.origin, self.strictness);
            list.push(read(value, self.origin, &mut found));
            for finding in found.into_list() {
                let dot = if finding.path.is_empty() { "" } else { "." };
                let path = format!("ranks[{rank}]{dot}{}", finding.path);
                self.all.add(path, finding.reason, finding.message);
            }
        }
        list
    }
}

/// Judges what a file holds: one dictionary, or a list of those of all ranks.
#[must_use]
pub fn file(value: &Value, strictness: Strictness) -> Vec<Finding> {
    match untag(value.clone()) {
        Value::List(values) => ranks(&values, Origin::File, strictness),
        value => one(&value, Origin::File, strictness),
    }
}
