//! From text to running kernels: times of the files given, written to the file given first.
//!
//! Lines are `stage TAB file TAB ranks TAB seconds`; `benches/dialects.py` makes a table of them.
//! Every round begins with the text and a machine that knows no kernel.

use std::fmt::Write as _;
use std::time::Instant;

use partita_array::run::{Argument, Gather, Number};
use partita_array::run_on_threads;
use partita_ir::passes;

const STAGES: [&str; 4] = ["parse", "verify", "passes", "first run"];
const N_ROUNDS: usize = 15;

/// Seconds of each stage of one round.
fn round(text: &str, n_ranks: u64) -> [f64; 4] {
    let start = Instant::now();
    let mut module = partita_ir::parse(text).unwrap_or_else(|found| panic!("{found}"));
    let parsed = start.elapsed();
    partita_ir::verify(&module).unwrap_or_else(|found| panic!("{found}"));
    let verified = start.elapsed();
    let options = passes::Options { n_ranks: Some(n_ranks), ..passes::Options::default() };
    passes::apply_default(&mut module, &options).expect("the ranks are known");
    let lowered = start.elapsed();
    let arguments = [Argument::Number(Number::Int(1))];
    run_on_threads(&module, "f", &arguments, n_ranks, Gather::First).expect("a run");
    let ends = [parsed, verified, lowered, start.elapsed()].map(|end| end.as_secs_f64());
    [ends[0], ends[1] - ends[0], ends[2] - ends[1], ends[3] - ends[2]]
}

/// The round that was disturbed least.
fn best(text: &str, n_ranks: u64) -> [f64; 4] {
    let rounds = (0..N_ROUNDS).map(|_| round(text, n_ranks));
    let total = |round: &[f64; 4]| round.iter().sum::<f64>();
    rounds.min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or_default()
}

fn main() {
    let files: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let Some((report, files)) = files.split_first() else { return };
    let mut lines = String::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a program");
        for n_ranks in [1, 2] {
            for (stage, seconds) in STAGES.iter().zip(best(&text, n_ranks)) {
                let _ = writeln!(lines, "{stage}\t{file}\t{n_ranks}\t{seconds:e}");
            }
        }
    }
    print!("{lines}");
    std::fs::write(report, lines).expect("a place for the report");
}
