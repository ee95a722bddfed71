//! Random programs mean the same before and after passes, on every number of ranks.
//!
//! A program has views with strides, writes through views, aliasing, sizes that do not divide,
//! broadcasting in both ways, numbers that only the run knows, grids with two cuts, complex
//! numbers, loops and reductions. `PARTITA_CASES` says how many, `PARTITA_SEED` where to begin.

mod dense;
mod program;

use partita_array::run::{self, Argument, Gather, ResultValue};
use partita_array::run_on_threads;
use partita_ir::{Form, Module, passes};
use partita_oracle::n_cases;

use dense::Number;
use program::{Made, Program};

fn numbers(one: &ResultValue, is_complex: bool) -> Vec<Number> {
    let ResultValue::Array(dense) = one else { panic!("{one:?}") };
    let words = dense.bytes.chunks_exact(8);
    let parts: Vec<f64> =
        words.map(|w| f64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect();
    match is_complex {
        true => parts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        false => parts.into_iter().map(|part| (part, 0.0)).collect(),
    }
}

/// Sums of all ranks round differently; everything else is exact.
fn is_near(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-8 * (1.0 + b.abs())
}

fn are_near(found: &[Number], wanted: &[Number]) -> bool {
    let near = |(a, b): (&Number, &Number)| is_near(a.0, b.0) && is_near(a.1, b.1);
    found.len() == wanted.len() && found.iter().zip(wanted).all(near)
}

fn check(seed: u64, after: &str, module: &Module, made: &Made) {
    let n_ranks = 1 + seed % 5;
    let shown = || {
        let before = partita_ir::parse(&made.text).map(|m| partita_ir::print(&m, Form::Rfc));
        format!("{}\n{}", before.unwrap_or_default(), partita_ir::print(module, Form::Rfc))
    };
    let reports = run_on_threads(module, "f", &made.arguments, n_ranks, Gather::First);
    let reports = reports.unwrap_or_else(|error| {
        panic!("seed {seed}, {n_ranks} ranks, after {after}: {error}\n{}", shown())
    });
    for (result, (wanted, is_complex)) in reports[0].results.iter().zip(&made.wanted) {
        let found = numbers(result, *is_complex);
        assert!(
            are_near(&found, wanted),
            "seed {seed}, {n_ranks} ranks, after {after}:\n{found:?}\n{wanted:?}\n{}",
            shown()
        );
    }
}

/// What a pass leaves is a program that can be read and verified again.
fn reread(seed: u64, after: &str, module: &Module) -> Module {
    let text = partita_ir::print(module, Form::Generic);
    let read = partita_ir::parse(&text)
        .unwrap_or_else(|found| panic!("seed {seed}, after {after}: {found}\n{text}"));
    if let Err(found) = partita_ir::verify(&read) {
        panic!("seed {seed}, after {after}: {}", found.with_source(&text));
    }
    read
}

fn check_all_passes(seed: u64) {
    let made = Program::of(seed, 1 + seed % 5);
    let parsed = partita_ir::parse(&made.text);
    let mut module = parsed.unwrap_or_else(|found| panic!("{found}\n{}", made.text));
    reread(seed, "no pass", &module);
    check(seed, "no pass", &module, &made);
    // One prefix of the pipeline besides the whole: all of them have their turn.
    let n_passes = passes::DEFAULT_PIPELINE.len() as u64;
    let stop = (seed / 5) % n_passes;
    let known = (seed / 7).is_multiple_of(2).then_some(1 + seed % 5);
    let options = passes::Options { n_ranks: known, rank: None };
    for (number, pass) in (0..).zip(passes::DEFAULT_PIPELINE) {
        passes::apply_with(&mut module, pass, &options).expect("a pass");
        if number == stop || number + 1 == n_passes {
            let module = reread(seed, pass, &module);
            check(seed, pass, &module, &made);
        }
    }
}

#[test]
fn random_programs_mean_the_same_after_every_pass() {
    let variable = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = variable("PARTITA_SEED").unwrap_or(0);
    let seeds = first..first + n_cases(10_000);
    let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..n_workers {
            let own = seeds.clone().skip(worker).step_by(n_workers);
            scope.spawn(|| own.for_each(check_all_passes));
        }
    });
}

/// The results of a program, or nothing if it was refused.
fn outcome(module: &Module, made: &Made, n_ranks: u64) -> Result<Vec<Vec<Number>>, String> {
    let reports = run_on_threads(module, "f", &made.arguments, n_ranks, Gather::First);
    let reports = reports.map_err(|error| error.to_string())?;
    let results = reports[0].results.iter().zip(&made.wanted);
    Ok(results.map(|(one, (_, is_complex))| numbers(one, *is_complex)).collect())
}

#[test]
fn random_faults_are_refused_alike() {
    let mut n_refused = 0;
    for seed in 0..n_cases(500) {
        let n_ranks = 1 + seed % 5;
        let mut made = Program::of(seed, n_ranks);
        // Every number that only the run knows is another one than it should be.
        let shift = [1, -1, 2, -7][(seed / 5) as usize % 4];
        made.arguments.pop();
        made.arguments.push(Argument::Number(run::Number::Int(shift)));
        let mut module = partita_ir::parse(&made.text).unwrap_or_else(|found| panic!("{found}"));
        let before = outcome(&module, &made, n_ranks);
        passes::apply_default(&mut module, &passes::Options::default()).expect("passes");
        let after = outcome(&module, &made, n_ranks);
        let shown = || partita_ir::print(&partita_ir::parse(&made.text).expect("text"), Form::Rfc);
        let alike = match (&before, &after) {
            (Ok(before), Ok(after)) => before.iter().zip(after).all(|(a, b)| are_near(b, a)),
            (before, after) => before.is_err() == after.is_err(),
        };
        assert!(alike, "seed {seed}, {n_ranks} ranks:\n{before:?}\n{after:?}\n{}", shown());
        n_refused += u64::from(before.is_err());
    }
    assert!(n_refused > 0, "no program went wrong");
}
