//! The operation table: what every operation takes, gives and promises.
//!
//! Parser, printer, verifier, IRDL and the reference pages all read this table and nothing else
//! of an operation, so that a new operation is one entry here and a rule beside it.

mod arith;
mod dist;
mod entry;
mod func;
mod math;
mod ndarray;
mod partition;
mod region;
mod runtime;
mod scf;

use std::sync::LazyLock;

pub use entry::{AttrRule, AttrSpec, Count, Group, OpInfo, Piece, Tail, Traits, TypeRule};

use crate::kind::OpKind;

/// A dialect: its name, what it is for, its operations.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// Name, before the dot of its operations.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Its operations.
    pub ops: &'static [OpInfo],
}

/// The dialects, ours first.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "ndarray",
        summary: "Arrays that are referred to and can be written, as array programs see them.",
        ops: ndarray::OPS,
    },
    Dialect {
        name: "dist",
        summary: "Distributed arrays: which part each rank has, and what it needs of the others.",
        ops: dist::OPS,
    },
    Dialect {
        name: "distruntime",
        summary: "Communication of a team, started here and waited for there.",
        ops: runtime::OPS,
    },
    Dialect {
        name: "region",
        summary: "Environments in which operations run, such as a device.",
        ops: region::OPS,
    },
    Dialect {
        name: "partition",
        summary: "Sparse tensors cut into slices that ranks own and others fetch.",
        ops: partition::OPS,
    },
    Dialect { name: "func", summary: "Functions.", ops: func::OPS },
    Dialect { name: "arith", summary: "Arithmetic of single numbers.", ops: arith::OPS },
    Dialect { name: "math", summary: "Elementary functions of single numbers.", ops: math::OPS },
    Dialect { name: "scf", summary: "Loops and choices.", ops: scf::OPS },
];

/// Dialects that partita defines; the others are MLIR's.
pub const OWN_DIALECTS: usize = 5;

static BY_KIND: LazyLock<Vec<Option<&'static OpInfo>>> = LazyLock::new(|| {
    let mut entries = vec![None; OpKind::ALL.len() + 1];
    for info in DIALECTS.iter().flat_map(|dialect| dialect.ops) {
        entries[info.kind as usize] = Some(info);
    }
    entries
});

impl OpKind {
    /// The table's entry; nothing for an unknown operation.
    #[must_use]
    pub fn info(self) -> Option<&'static OpInfo> {
        BY_KIND.get(self as usize).copied().flatten()
    }

    /// What the operation promises; an unknown one promises nothing.
    #[must_use]
    pub fn traits(self) -> Traits {
        self.info().map_or(Traits::UNKNOWN, |info| info.traits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_entry_in_its_dialect() {
        let mut n_entries = 0;
        for dialect in DIALECTS {
            for info in dialect.ops {
                assert_eq!(info.kind.dialect(), dialect.name, "{}", info.kind.name());
                n_entries += 1;
            }
        }
        let missing: Vec<_> = OpKind::ALL.iter().filter(|kind| kind.info().is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(n_entries, OpKind::ALL.len());
    }

    #[test]
    fn names_lead_back_to_kinds() {
        for kind in OpKind::ALL {
            assert_eq!(OpKind::from_name(kind.name()), *kind);
        }
        assert_eq!(OpKind::from_name("dist.ewtern"), OpKind::Unknown);
    }

    #[test]
    fn summaries_are_sentences() {
        for info in DIALECTS.iter().flat_map(|dialect| dialect.ops) {
            assert!(info.summary.ends_with('.'), "{}", info.kind.name());
        }
    }
}
