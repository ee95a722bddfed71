//! Programs with random changes; what is read of them is written and read again.
//!
//! Shared by the test of `cargo test` and by the example `fuzz`, which runs as long as you like.

use std::path::Path;

use partita_ir::{Form, parse, parse_bytes, print, verify};
use partita_oracle::Rng;

fn texts() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text");
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of texts") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "mlir") {
            let text = std::fs::read_to_string(path).expect("a text");
            let module = parse(&text).expect("a program");
            texts.extend(Form::ALL.map(|form| print(&module, form).into_bytes()));
            texts.push(text.into_bytes());
        }
    }
    texts.sort();
    // Single functions are quicker to read, and as good.
    texts.iter().flat_map(|text| pieces(text)).collect()
}

/// A text of a program in other dialects is read back only as a whole.
const MOST_WHOLE: usize = 3000;

fn pieces(text: &[u8]) -> Vec<Vec<u8>> {
    if text.starts_with(b"module") && text.len() < MOST_WHOLE {
        return vec![text.to_vec(); 8];
    }
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    lines.chunks(12).map(<[&[u8]]>::concat).collect()
}

const WORDS: &[&str] = &[
    "0x0",
    "?",
    "x",
    "%a",
    "%0#1",
    "#a",
    "!a",
    "@f",
    "->",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "99999999999999999999",
    "-1",
    "1.5e400",
    "loc(",
    "dense<",
    "array<i64: 1>",
    "unit",
    "#dist.dist_env<team = 1 loffs = ? lparts = 0x0,?x1,0x0>",
    "dist.ewbin add ",
    "scf.for %i = ",
    "tensor<0x0xf64>",
    "^bb0:",
    "\\",
    "\u{e9}",
    "//",
    "func.func @f() {",
    "complex<f64>",
    ":",
    ",",
];

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.between(0, n.max(1) as u64 - 1) as usize
}

fn mutate(text: &mut Vec<u8>, rng: &mut Rng) {
    let (at, other) = (below(rng, text.len() + 1), below(rng, text.len() + 1));
    let (low, high) = (at.min(other), at.max(other));
    match rng.between(0, 6) {
        0 => text.truncate(at),
        1 => drop(text.drain(low..high.min(low + 20))),
        2 => text.insert(at, rng.between(0, 255) as u8),
        3 if at < text.len() => text[at] = rng.between(32, 126) as u8,
        4 => {
            let copy = text[low..high.min(low + 60)].to_vec();
            text.splice(at..at, copy);
        }
        _ => {
            let word = WORDS[below(rng, WORDS.len())];
            text.splice(at..at, word.bytes());
        }
    }
}

/// Reads `n_cases` changed texts; gives how many of them were programs.
///
/// # Panics
/// If a text that was read is not written and read again as the same program.
pub fn run(n_cases: u64, seed: u64) -> u64 {
    let texts = texts();
    let mut rng = Rng::new(seed);
    let mut n_read = 0;
    for case in 0..n_cases {
        let mut text = texts[below(&mut rng, texts.len())].clone();
        for _ in 0..rng.between(1, 3) {
            mutate(&mut text, &mut rng);
        }
        let form = Form::ALL[below(&mut rng, 3)];
        n_read += u64::from(is_read_and_settled(&text, form, case));
    }
    n_read
}

fn is_read_and_settled(text: &[u8], form: Form, case: u64) -> bool {
    let Ok(module) = parse_bytes(text) else { return false };
    // Any verdict will do.
    let _ = verify(&module);
    let printed = print(&module, form);
    let shown = String::from_utf8_lossy(text);
    let again = parse(&printed).unwrap_or_else(|found| {
        panic!("case {case}: written but not read:\n{shown}\n--\n{printed}\n{found}")
    });
    assert!(again == module, "case {case} changes as {}:\n{shown}\n--\n{printed}", form.name());
    true
}
