//! The page that walks one stencil through the passes is made here, of what the passes do.
//!
//! A page or picture that is not what it should be is written anew, and the test fails once.

use std::path::{Path, PathBuf};

use partita_ir::passes::{DEFAULT_PIPELINE, Options, apply_with, explain};
use partita_ir::{Form, Module, parse, print, verify};
use partita_layout::Layout;
use partita_plan::{Dtype, Plan};

const N_RANKS: u64 = 3;
const RANK: u64 = 1;
const PICTURE: &str = "dialects-walkthrough.svg";

const PROGRAM: &str = "\
!array = !ndarray.ndarray<12x8xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!rows = !ndarray.ndarray<10x8xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
func.func @smooth(%a: !array, %b: !array) {
  %up = ndarray.subview %a[0, 0][10, 8][1, 1] : !array to !rows
  %here = ndarray.subview %a[1, 0][10, 8][1, 1] : !array to !rows
  %down = ndarray.subview %a[2, 0][10, 8][1, 1] : !array to !rows
  %two = ndarray.ewbin add %up, %here : (!rows, !rows) -> !rows
  %three = ndarray.ewbin add %two, %down : (!rows, !rows) -> !rows
  ndarray.insert_slice %three into %b[1, 0][10, 8][1, 1] : !rows into !array
  return
}
";

/// What a pass does to this program.
fn prose(pass: &str) -> &'static str {
    match pass {
        "ndarray-dist" => {
            "Operations on distributed arrays become operations of `dist`. Every operand is brought \
             to where the result is computed, without looking where it is already: a repartition \
             for each. The result is brought to where its slice of `%b` is owned."
        }
        "dist-propagate" => {
            "Repartitions of values that are already where they are wanted go. What is computed \
             only to be written is computed where it will be written."
        }
        "dist-coalesce" => {
            "The three views look at one array between two writes. Each rank computes the box around \
             all that its entries of the views need, and one repartition fetches it. The views then \
             look at what has come: the rank's own rows and the halos before and behind them."
        }
        "dist-infer-elementwise-cores" => {
            "Of every operator, the entries that need nothing but the rank's own rows are found: the \
             core, which all operators of the chain share."
        }
        "convert-dist-to-standard" => {
            "Distributed arrays become their local parts, the repartition becomes `get_halo` and \
             `wait`, and index arithmetic becomes numbers. Each operator becomes a loop over the \
             core and a loop over each edge; a halo and the row next to it are put together for the \
             edge."
        }
        "canonicalise" | "cse" | "dce" => {
            "Numbers that are known are computed and written into types; what is computed twice is \
             computed once; what nobody uses is dropped."
        }
        "overlap-comm-and-compute" => {
            "Nothing of the core needs the halos, so it moves between the start of the exchange and \
             the wait; what needs them comes behind."
        }
        "add-comm-cache-keys" => {
            "The exchange gets a number, under which the engine remembers its plan."
        }
        other => panic!("say in crates/partita-cli/tests/walkthrough.rs what {other} does"),
    }
}

/// Passes that follow each other and only tidy up share a chapter.
fn is_tidying(pass: &str) -> bool {
    ["canonicalise", "cse", "dce"].contains(&pass)
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The length of the type at the start of a text, its angle brackets closed.
fn type_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if depth == 1 => return at + 1,
            '>' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A short name for a type: distributed or local, and its shape.
fn alias(ty: &str) -> String {
    let inside = ty.trim_start_matches("!ndarray.ndarray<");
    let shape: String = inside.chars().take_while(|c| !matches!(c, ',' | '>')).collect();
    let sizes = shape.replace("xf64", "").replace('?', "n");
    let letter = if ty.contains("dist_env") { 'd' } else { 'l' };
    format!("!{letter}{sizes}")
}

/// The text with array types defined before it.
fn shortened(text: &str) -> String {
    let mut known: Vec<(String, String)> = Vec::new();
    let (mut short, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("!ndarray.ndarray<") {
        let (ty, behind) = rest[at..].split_at(type_length(&rest[at..]));
        short.push_str(&rest[..at]);
        let same = known.iter().position(|(known, _)| known == ty);
        let place = same.unwrap_or_else(|| {
            let mut name = alias(ty);
            while known.iter().any(|(_, taken)| *taken == name) {
                name.push('_');
            }
            known.push((ty.to_string(), name));
            known.len() - 1
        });
        short.push_str(&known[place].1);
        rest = behind;
    }
    short.push_str(rest);
    let lines: String = known.iter().map(|(ty, name)| format!("{name} = {ty}\n")).collect();
    lines + &short
}

fn block(module: &Module) -> String {
    let text = shortened(&print(module, Form::Rfc));
    assert!(parse(&text).expect("a program") == *module, "{text}");
    format!("```mlir\n{text}```\n\n")
}

/// What each rank holds when the halos have come.
fn held() -> Layout {
    Layout::parse(&[12, 8], "block+halo(0,1;1,1;1,0), * @ 3x1").expect("a layout")
}

fn page() -> String {
    let mut module = parse(PROGRAM).expect("a program");
    verify(&module).expect("a sound program");
    let explained = explain(&module, N_RANKS).expect("an explanation");
    let owned = Layout::parse(&[12, 8], "block, * @ 3x1").expect("a layout");
    let plan = Plan::new(&owned, &held(), Dtype::F64).expect("a plan");
    assert_eq!(u128::from(explained.functions[0].after.bytes), plan.totals().bytes_moved);
    let mut page = format!(
        "# One stencil through the passes\n\n\
         This page is made by `cargo test --package partita-cli --test walkthrough`, which fails \
         where the page is not what the passes do.\n\n\
         Three neighbouring rows of `%a` are added and written into `%b`. Both arrays are cut along \
         the first dimension, four rows for each of {N_RANKS} ranks:\n\n{}\
         After the passes one exchange is left, which brings each rank the rows next to its own \
         (`partita opt --explain {N_RANKS}`):\n\n```\n{explained}```\n\n\
         ![the rows that each rank holds when the halos have come]({PICTURE})\n\n\
         Below is the program after each pass of the default pipeline, for rank {RANK} of {N_RANKS}, \
         so that most sizes are numbers. Types have short names: `!d..` is distributed, `!l..` \
         local. What changes nothing is left out.\n\n",
        block(&module)
    );
    let options = Options { n_ranks: Some(N_RANKS), rank: Some(RANK) };
    for names in DEFAULT_PIPELINE.chunk_by(|a, b| is_tidying(a) && is_tidying(b)) {
        let before = print(&module, Form::Rfc);
        for name in names {
            apply_with(&mut module, name, &options).expect("a pass");
            verify(&module).expect("a sound program");
        }
        if print(&module, Form::Rfc) != before {
            let title = names.join("`, `");
            page.push_str(&format!("## `{title}`\n\n{}\n\n{}", prose(names[0]), block(&module)));
        }
    }
    page.push_str(
        "From here on the program is local: `partita run` records the operations on each rank's \
         rows and runs each chain as one loop, the core while the exchange is under way. \
         `partita opt --pass default --form builtin` writes the same program in dialects of stock \
         MLIR.\n",
    );
    page
}

#[test]
fn the_page_is_what_the_passes_do() {
    let mut changed = Vec::new();
    let picture = partita_picture::layout::svg(&held());
    for (name, text) in [("dialects-walkthrough.md", page()), (PICTURE, picture)] {
        let path = docs().join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(&path, text).expect("a page");
        changed.push(path);
    }
    assert!(changed.is_empty(), "written anew, look at them and commit them: {changed:?}");
}
