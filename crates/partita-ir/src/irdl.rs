//! Our dialects in IRDL, from the operation table: with it, stock MLIR tools verify our programs.
//!
//! IRDL binds a name to one type, so a group of any length whose types may differ (the local
//! parts of an array) is written as several groups; [`crate::table::Group::n_irdl_groups`].

use crate::table::{
    AttrRule, AttrSpec, Count, DIALECTS, Dialect, Group, OWN_DIALECTS, OpInfo, TypeRule,
};

/// Which release of LLVM is to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Llvm {
    /// 19: parameters and operands have no names.
    V19,
    /// 20 and later: they have names.
    V20,
}

/// IRDL of all our dialects.
#[must_use]
pub fn irdl(llvm: Llvm) -> String {
    let mut out = String::from("module {\n");
    for dialect in &DIALECTS[..OWN_DIALECTS] {
        out.push_str(&dialect_text(dialect, llvm));
    }
    out.push_str("}\n");
    out
}

/// Dialect, `type` or `attribute`, name, and parameters with what they must be.
type Definition =
    (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Types and attributes.
const DEFINED: &[Definition] = &[
    (
        "ndarray",
        "type",
        "ndarray",
        &[("shape", "irdl.base \"!builtin.tensor\""), ("environment", "irdl.any")],
    ),
    (
        "dist",
        "attribute",
        "dist_env",
        &[
            ("team", "irdl.any"),
            ("loffs", "irdl.base \"#builtin.dense_array\""),
            ("lparts", "irdl.base \"#builtin.array\""),
        ],
    ),
    (
        "dist",
        "attribute",
        "grid_env",
        &[
            ("team", "irdl.any"),
            ("loffs", "irdl.base \"#builtin.dense_array\""),
            ("lparts", "irdl.base \"#builtin.array\""),
            ("grid", "irdl.base \"#builtin.dense_array\""),
            ("cut", "irdl.base \"#builtin.dense_array\""),
        ],
    ),
    ("distruntime", "type", "asynchandle", &[]),
    ("region", "attribute", "gpu_env", &[("device", "irdl.base \"#builtin.string\"")]),
    (
        "partition",
        "attribute",
        "encoding",
        &[("sparse", "irdl.any"), ("dims", "irdl.base \"#builtin.array\"")],
    ),
];

fn dialect_text(dialect: &Dialect, llvm: Llvm) -> String {
    let mut out = format!("  irdl.dialect @{} {{\n", dialect.name);
    for (_, kind, name, parameters) in DEFINED.iter().filter(|one| one.0 == dialect.name) {
        out.push_str(&format!("    irdl.{kind} @{name} {{\n"));
        for (parameter, constraint) in *parameters {
            out.push_str(&format!("      %{parameter} = {constraint}\n"));
        }
        let list: Vec<String> = parameters.iter().map(|p| named(p.0, "", p.0, llvm)).collect();
        out.push_str(&format!("      irdl.parameters({})\n    }}\n", list.join(", ")));
    }
    for info in dialect.ops {
        out.push_str(&op_text(info, llvm));
    }
    out.push_str("  }\n");
    out
}

/// `variadic %a`, or with a name before it.
fn named(name: &str, count: &str, constraint: &str, llvm: Llvm) -> String {
    match llvm {
        Llvm::V19 => format!("{count}%{constraint}"),
        Llvm::V20 => format!("{name}: {count}%{constraint}"),
    }
}

struct Writer {
    lines: Vec<String>,
    llvm: Llvm,
}

fn op_text(info: &OpInfo, llvm: Llvm) -> String {
    let name = info.kind.name().split('.').nth(1).unwrap_or_default();
    let mut writer = Writer { lines: Vec::new(), llvm };
    let groups = || info.operands.iter().chain(info.results);
    if groups().any(|group| group.rule == TypeRule::DistArray) {
        writer.lines.push("%team = irdl.any".into());
    }
    let operands = writer.groups(info.operands, "in");
    let results = writer.groups(info.results, "out");
    writer.attributes(info.attrs);
    if !operands.is_empty() {
        writer.lines.push(format!("irdl.operands({})", operands.join(", ")));
    }
    if !results.is_empty() {
        writer.lines.push(format!("irdl.results({})", results.join(", ")));
    }
    if info.n_regions.1 > 0 {
        writer.lines.push("%body = irdl.region".into());
        let body = named("body", "", "body", llvm);
        writer.lines.push(format!("irdl.regions({body})"));
    }
    let body: String = writer.lines.iter().map(|line| format!("      {line}\n")).collect();
    format!("    irdl.operation @{name} {{\n{body}    }}\n")
}

impl Writer {
    fn groups(&mut self, groups: &[Group], prefix: &str) -> Vec<String> {
        let mut list = Vec::new();
        for group in groups {
            let count = match group.count {
                Count::One => "",
                Count::Optional => "optional ",
                Count::Any => "variadic ",
            };
            for number in 0..group.n_irdl_groups() {
                let suffix = if number == 0 { String::new() } else { format!("_{number}") };
                let id = format!("{prefix}_{}{suffix}", group.name);
                self.constraint(group.rule, &id);
                list.push(named(&format!("{}{suffix}", group.name), count, &id, self.llvm));
            }
        }
        list
    }

    fn constraint(&mut self, rule: TypeRule, id: &str) {
        let text = match rule {
            TypeRule::Any | TypeRule::Number | TypeRule::Integer | TypeRule::Float => {
                "irdl.any".into()
            }
            TypeRule::Index => "irdl.is index".into(),
            TypeRule::Bool | TypeRule::OneBool => "irdl.any".into(),
            TypeRule::Array => "irdl.base @ndarray::@ndarray".into(),
            TypeRule::DistArray => return self.dist_array(id),
            TypeRule::LocalArray => {
                self.lines.push(format!("%{id}_a = irdl.base @ndarray::@ndarray"));
                self.lines.push(format!("%{id}_m = irdl.base \"!builtin.memref\""));
                self.lines.push(format!("%{id}_t = irdl.base \"!builtin.tensor\""));
                format!("irdl.any_of(%{id}_a, %{id}_m, %{id}_t)")
            }
            TypeRule::MemRef => "irdl.base \"!builtin.memref\"".into(),
            TypeRule::Tensor => "irdl.base \"!builtin.tensor\"".into(),
            TypeRule::Handle => "irdl.base @distruntime::@asynchandle".into(),
        };
        self.lines.push(format!("%{id} = {text}"));
    }

    /// An array whose distribution belongs to the operation's one team.
    fn dist_array(&mut self, id: &str) {
        for part in ["s", "o", "p", "go", "gp", "gg", "gc"] {
            self.lines.push(format!("%{id}_{part} = irdl.any"));
        }
        let row = format!("%team, %{id}_o, %{id}_p");
        let grid = format!("%team, %{id}_go, %{id}_gp, %{id}_gg, %{id}_gc");
        self.lines.push(format!("%{id}_d = irdl.parametric @dist::@dist_env<{row}>"));
        self.lines.push(format!("%{id}_g = irdl.parametric @dist::@grid_env<{grid}>"));
        self.lines.push(format!("%{id}_l = irdl.base \"#builtin.array\""));
        self.lines.push(format!("%{id}_e = irdl.any_of(%{id}_d, %{id}_g, %{id}_l)"));
        self.lines.push(format!("%{id} = irdl.parametric @ndarray::@ndarray<%{id}_s, %{id}_e>"));
    }

    fn attributes(&mut self, specs: &[AttrSpec]) {
        let mut list = Vec::new();
        for spec in specs.iter().filter(|spec| spec.required) {
            let id = format!("attr_{}", spec.name);
            self.lines.push(format!("%{id} = {}", attr_constraint(spec.rule)));
            list.push(format!("\"{}\" = %{id}", spec.name));
        }
        if !list.is_empty() {
            self.lines.push(format!("irdl.attributes {{ {} }}", list.join(", ")));
        }
    }
}

fn attr_constraint(rule: AttrRule) -> &'static str {
    match rule {
        AttrRule::Int | AttrRule::EwBin | AttrRule::EwUny | AttrRule::Reduce => {
            "irdl.base \"#builtin.integer\""
        }
        AttrRule::Text => "irdl.base \"#builtin.string\"",
        AttrRule::I64s => "irdl.base \"#builtin.dense_array\"",
        _ => "irdl.any",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_ours_is_there_in_both_flavours() {
        for llvm in [Llvm::V19, Llvm::V20] {
            let text = irdl(llvm);
            for info in DIALECTS[..OWN_DIALECTS].iter().flat_map(|dialect| dialect.ops) {
                let name = info.kind.name().split('.').nth(1).expect("a name");
                assert!(text.contains(&format!("irdl.operation @{name} {{")), "{name}");
            }
            assert_eq!(text.contains("irdl.operands(array: %in_array"), llvm == Llvm::V20);
        }
    }
}
