//! Programs before and after passes: `tests/text/passes/NAME.mlir` has the program and, in its
//! first line, the passes; `NAME.out` beside it has what they leave.
//!
//! The first line reads `// passes: A, B, C` and may go on `; n_ranks = 3; rank = 1`. Run with
//! `PARTITA_WRITE_WANTED=1` to write the wanted texts anew, and read the difference.

use std::path::{Path, PathBuf};

use partita_ir::passes::{Options, apply_with};
use partita_ir::{Form, Module, parse, print};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text/passes");
    let entries = std::fs::read_dir(folder).expect("the folder of texts");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "mlir"))
        .collect();
    found.sort();
    found
}

fn number(line: &str, name: &str) -> Option<u64> {
    let word = line.split(';').find_map(|part| part.trim().strip_prefix(name))?;
    word.trim().strip_prefix('=').and_then(|digits| digits.trim().parse().ok())
}

fn transformed(text: &str) -> Module {
    let first = text.lines().next().expect("a first line");
    let passes = first.strip_prefix("// passes:").expect("`// passes:` in the first line");
    let options = Options { n_ranks: number(first, "n_ranks"), rank: number(first, "rank") };
    let mut module = parse(text).unwrap_or_else(|found| panic!("{found}"));
    for name in passes.split(';').next().unwrap_or("").split(',') {
        apply_with(&mut module, name.trim(), &options).unwrap_or_else(|error| panic!("{error}"));
    }
    module
}

#[test]
fn passes_leave_what_stands_beside() {
    let write = std::env::var_os("PARTITA_WRITE_WANTED").is_some();
    assert!(!cases().is_empty());
    for path in cases() {
        let text = std::fs::read_to_string(&path).expect("a program");
        let found = print(&transformed(&text), Form::Rfc);
        parse(&found).unwrap_or_else(|error| panic!("{}: {error}\n{found}", path.display()));
        let wanted = path.with_extension("out");
        if write {
            std::fs::write(&wanted, &found).expect("a place to write");
        }
        let wanted = std::fs::read_to_string(&wanted).unwrap_or_default();
        assert!(found == wanted, "{} gives\n{found}", path.display());
    }
}
