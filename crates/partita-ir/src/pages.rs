//! Reference pages of the dialects, from the operation table.

use crate::enums::{EwBin, EwUny, Reduce};
use crate::table::{AttrSpec, Count, Dialect, Group, OpInfo, Piece, Tail};

/// The reference page of a dialect, as Markdown.
#[must_use]
pub fn page(dialect: &Dialect) -> String {
    let mut out = format!("# Dialect `{}`\n\n{}\n\n", dialect.name, dialect.summary);
    out.push_str("This page is made from the operation table (`crates/partita-ir/src/table`).\n");
    let types = types(dialect.name);
    if !types.is_empty() {
        out.push_str(types);
        out.push_str("\nIn the forms below, `%name..` stands for any number of values.\n");
    }
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
    out.push_str(&format!("\n```\n{}\n```\n", form(info)));
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
        + "\n`floordiv` is the floor of the quotient: of infinities by numbers it is infinite, of \
           numbers by infinities 0 or -0, where NumPy has nan and -1.\n"
        + &list("Unary operators", unary)
        + &list("Reductions", reductions)
}

/// How the specification's form writes an operation, with the names of its groups.
fn form(info: &OpInfo) -> String {
    let group = |name: &str| match info.operands.iter().find(|group| group.name == name) {
        Some(group) if group.count == Count::Any => format!("%{name}.."),
        _ => format!("%{name}"),
    };
    let all = || info.operands.iter().map(|one| group(one.name)).collect::<Vec<_>>().join(", ");
    let mut out = info.kind.name().to_string();
    for piece in info.pieces() {
        let text = match piece {
            Piece::Values(name) => format!(" {}", group(name)),
            Piece::Keyed(word, name) => format!(" {word} {}", group(name)),
            Piece::Bracket(name) => format!(" [{}]", group(name)),
            Piece::Call => format!("({})", all()),
            Piece::Word(word) => format!(" {word}"),
            Piece::Comma => ",".into(),
            Piece::Slice => " [offsets..] [sizes..] [strides..]".into(),
            Piece::Operator => " OPERATOR".into(),
            Piece::Flag(name) => format!(" {name}"),
            Piece::Numbers(name) => format!(" [{name}..]"),
        };
        out.push_str(&text);
    }
    let results = info.results.iter().map(|one| format!("%{}", one.name)).collect::<Vec<_>>();
    let start = if results.is_empty() { String::new() } else { results.join(", ") + " = " };
    let tail = match info.tail {
        Tail::Arrow => "(types of operands) -> types of results",
        Tail::To => "(types of arrays) to types of results",
        Tail::Into => "type into type",
        Tail::Results => "types of results",
    };
    format!("{start}{out} : {tail}")
}

/// What the types and attributes of a dialect say.
fn types(dialect: &str) -> &'static str {
    match dialect {
        "ndarray" => {
            "
## Types and attributes

`!ndarray.ndarray<4x?xf64, ..>` is an array: sizes (`?` for one that only the run knows), the type \
of its elements, and any number of environments. Elements are `i1`, `i8` to `i64` with or without a \
sign, `index`, `f16`, `bf16`, `f32`, `f64` and `complex` of the last two. With `#dist.dist_env` the \
array is distributed, with `#region.gpu_env` it lives on a device; without, it is one rank's own.
"
        }
        "dist" => {
            "
## Types and attributes

`#dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>` says how an array is distributed, as one rank \
sees it: the team; `loffs`, the global index at which the rank's first part begins; `lparts`, the \
shapes of its parts. What is written there must be so on every rank that runs the program; `?` leaves \
it open. For arrays without dimensions it is `#dist.dist_env<team = 1>`.

The first dimension is cut among all ranks in a row, unless a grid says otherwise: `grid = [2, ?] \
cut = [0, 1]` arranges the ranks in two rows, in C order, and cuts dimension 0 among rows and \
dimension 1 among columns. At most one axis is left open with `?`; it gets the ranks that are left.

For k cut dimensions there are 3^k parts: along each, what lies before, what the rank owns, and \
what lies after, the last cut dimension running fastest. What is owned stands in the middle; the \
others are halos, copies of what other ranks own.

A repartition gives a copy: writing into it changes nothing else, on any number of ranks. A write \
reaches every copy of an element that a rank holds.
"
        }
        "distruntime" => {
            "
## Types and attributes

`!distruntime.asynchandle` stands for a movement under way; its arrays may be used after the wait.
"
        }
        "region" => {
            "
## Types and attributes

`#region.gpu_env<device = \"gpu:0\">` names the device on which an array lives or a block runs. \
Operators do not mix arrays of different devices.
"
        }
        "partition" => {
            "
## Types and attributes

`tensor<8x8xf64, #partition.encoding<#CSR, [\"distributed\", \"replicated\"]>>` is a tensor in slices: \
how the elements of a slice are stored (an encoding of `sparse_tensor`), and for each dimension \
whether it is cut or whole in every slice. The ranks stand on a grid with one axis per dimension \
of the tensor: more than one along those that some partitioned argument of the function cuts, in \
numbers as equal as they can be, the last one largest; in a row along the first if none is cut. \
`processor_id` is the place in this grid of the rank that runs the operation: its number, which \
`distruntime.team_member` gives, split by the extents of the grid. It cannot be an argument of the \
function, which all ranks call alike.

`examples/slices.mlir` is a whole program: each rank takes its neighbour's slice and puts it in the \
place of its own.

All ranks execute `partition.get_slice` and `partition.set_slice` together, each with its own \
slice: inside an `scf.if` whose condition depends on the rank they are a `MismatchError`. Programs \
run with the encodings of CSR, CSC and COO, the last for any number of dimensions; others, such as \
DCSR, with `explicitVal`, or with widths of less than 32 bits, can be written and are refused \
(`ProgramError`) when they run. Coordinates and positions of results are 64-bit integers.
"
        }
        _ => "",
    }
}
