//! Reference pages of the dialects, from the operation table.

use crate::enums::{EwBin, EwUny, Reduce};
use crate::table::{AttrSpec, Count, Dialect, Group, OpInfo};

/// The reference page of a dialect, as Markdown.
#[must_use]
pub fn page(dialect: &Dialect) -> String {
    let mut out = format!("# Dialect `{}`\n\n{}\n\n", dialect.name, dialect.summary);
    out.push_str("This page is made from the operation table (`crates/partita-ir/src/table`).\n");
    for info in dialect.ops {
        out.push_str(&op_section(info));
    }
    if dialect.name == "ndarray" {
        out.push_str(&operators());
    }
    out
}

fn op_section(info: &OpInfo) -> String {
    let mut out = format!("\n## `{}`\n\n{}\n", info.kind.name(), info.summary);
    let promises = info.traits.words();
    if !promises.is_empty() {
        out.push_str(&format!("It {}.\n", in_words(&promises)));
    }
    out.push_str(&values("Operands", info.operands));
    out.push_str(&values("Results", info.results));
    out.push_str(&attributes(info.attrs));
    out
}

fn in_words(promises: &[&str]) -> String {
    let words: Vec<String> = promises
        .iter()
        .map(|word| if *word == "pure" { "is pure".into() } else { (*word).to_string() })
        .collect();
    words.join(", ")
}

fn values(title: &str, groups: &[Group]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut out = format!("\n| {title} | how many | type |\n|---|---|---|\n");
    for group in groups {
        let count = match group.count {
            Count::One => "1",
            Count::Optional => "0 or 1",
            Count::Any => "any",
        };
        out.push_str(&format!("| `{}` | {count} | {} |\n", group.name, group.rule.words()));
    }
    out
}

fn attributes(specs: &[AttrSpec]) -> String {
    if specs.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n| Attributes | kind | meaning |\n|---|---|---|\n");
    for spec in specs {
        let optional = if spec.required { "" } else { ", may be absent" };
        let (name, kind) = (spec.name, spec.rule.words());
        out.push_str(&format!("| `{name}` | {kind}{optional} | {} |\n", spec.summary));
    }
    out
}

fn operators() -> String {
    let list = |title: &str, names: Vec<String>| format!("\n## {title}\n\n{}\n", names.join(", "));
    let shown = |number: i64, name: &str| format!("{number} `{name}`");
    let binary = EwBin::ALL.iter().map(|op| shown(op.number(), op.name())).collect();
    let unary = EwUny::ALL.iter().map(|op| shown(op.number(), op.name())).collect();
    let reductions = Reduce::ALL.iter().map(|op| shown(op.number(), op.name())).collect();
    list("Binary operators", binary)
        + &list("Unary operators", unary)
        + &list("Reductions", reductions)
}
