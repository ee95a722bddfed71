//! Reductions and running sums over cut dimensions: their values, and how little they move.

use partita_array::run::{Argument, Gather, Report, ResultValue};
use partita_array::run_on_threads;
use partita_kernel::Dtype;

fn typed(shape: &str) -> String {
    let n_dims = shape.matches('x').count();
    let any = vec!["?"; n_dims].join(",");
    let part = vec!["?"; n_dims].join("x");
    match n_dims {
        0 => format!("!ndarray.ndarray<{shape}, #dist.dist_env<team = 1>>"),
        _ => format!(
            "!ndarray.ndarray<{shape}, #dist.dist_env<team = 1 loffs = {any} lparts = {part},{part},{part}>>"
        ),
    }
}

/// Runs one operation, written in generic form, on so many ranks; gives the reports.
fn reports(
    op: &str,
    attributes: &str,
    from: &str,
    to: &str,
    given: &Argument,
    n: u64,
) -> Vec<Report> {
    let (from, to) = (typed(from), typed(to));
    let text = format!(
        "func.func @f(%a: {from}) -> {to} {{\n  %r = \"ndarray.{op}\"(%a) {{{attributes}}} : \
         ({from}) -> {to}\n  return %r : {to}\n}}"
    );
    let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let reports = run_on_threads(&module, "f", std::slice::from_ref(given), n, Gather::All);
    reports.unwrap_or_else(|error| panic!("{n} ranks: {error}\n{text}"))
}

fn array(shape: &[usize], values: &[f64]) -> Argument {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Argument::Array { shape: shape.to_vec(), dtype: Dtype::Float64, bytes: bytes.into() }
}

/// The only result of a rank, as numbers.
fn numbers(report: &Report) -> Vec<f64> {
    let ResultValue::Array(dense) = &report.results[0] else { panic!("an array") };
    let words = dense.bytes.chunks_exact(8).map(|w| <[u8; 8]>::try_from(w).expect("8 bytes"));
    match dense.dtype {
        Dtype::Float64 => words.map(f64::from_ne_bytes).collect(),
        Dtype::Int64 => words.map(|w| i64::from_ne_bytes(w) as f64).collect(),
        other => panic!("{other}"),
    }
}

fn check(op: &str, attributes: &str, from: &str, to: &str, given: &Argument, wanted: &[f64]) {
    for n_ranks in 1..=5 {
        for (rank, report) in reports(op, attributes, from, to, given, n_ranks).iter().enumerate() {
            let found = numbers(report);
            let is_same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
            let fits = found.len() == wanted.len() && found.iter().zip(wanted).all(is_same);
            assert!(fits, "{op} {attributes}, rank {rank} of {n_ranks}: {found:?}, not {wanted:?}");
        }
    }
}

const ARGMIN: &str = "op = 10 : i32";
const ARGMAX: &str = "op = 9 : i32";

/// Seven rows of four columns, with equal extremes in several places.
fn hills() -> Vec<f64> {
    let row = |i: i32| (0..4).map(move |j| f64::from((5 * i + 3 * j) % 7));
    (0..7).flat_map(row).collect()
}

fn place_of(values: impl Iterator<Item = f64>, is_better: impl Fn(f64, f64) -> bool) -> f64 {
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in values.enumerate() {
        if best.is_none_or(|(_, known)| is_better(value, known)) {
            best = Some((at, value));
        }
    }
    best.map_or(-1.0, |(at, _)| at as f64)
}

#[test]
fn places_of_extremes_are_those_of_the_first() {
    let values = hills();
    let given = array(&[7, 4], &values);
    let column = |j: usize| values.iter().skip(j).step_by(4).copied();
    let largest: Vec<f64> = (0..4).map(|j| place_of(column(j), |a, b| a > b)).collect();
    let smallest: Vec<f64> = (0..4).map(|j| place_of(column(j), |a, b| a < b)).collect();
    let along = "axes = array<i64: 0>";
    check("reduction", &format!("{ARGMAX}, {along}"), "7x4xf64", "4xi64", &given, &largest);
    check("reduction", &format!("{ARGMIN}, {along}"), "7x4xf64", "4xi64", &given, &smallest);
    let whole = place_of(values.iter().copied(), |a, b| a > b);
    check("reduction", ARGMAX, "7x4xf64", "i64", &given, &[whole]);
    let rows = values.chunks(4).map(|row| place_of(row.iter().copied(), |a, b| a < b));
    let rows: Vec<f64> = rows.collect();
    let across = "axes = array<i64: 1>";
    check("reduction", &format!("{ARGMIN}, {across}"), "7x4xf64", "7xi64", &given, &rows);
}

#[test]
fn what_is_no_number_is_before_all() {
    let mut values = hills();
    (values[9], values[21]) = (f64::NAN, f64::NAN);
    let given = array(&[7, 4], &values);
    check("reduction", ARGMAX, "7x4xf64", "i64", &given, &[9.0]);
    check("reduction", ARGMIN, "7x4xf64", "i64", &given, &[9.0]);
}

#[test]
fn running_values_go_on_from_rank_to_rank() {
    let values = hills();
    let given = array(&[7, 4], &values);
    let along = |combine: fn(f64, f64) -> f64| {
        let mut made = values.clone();
        (4..28).for_each(|at| made[at] = combine(made[at - 4], made[at]));
        made
    };
    let to = "7x4xf64";
    check("cumulative", "op = 4 : i32, axis = 0 : i64", to, to, &given, &along(|a, b| a + b));
    check("cumulative", "op = 0 : i32, axis = 0 : i64", to, to, &given, &along(f64::max));
    let with_first = [vec![0.0; 4], along(|a, b| a + b)].concat();
    let initial = "op = 4 : i32, axis = 0 : i64, initial";
    check("cumulative", initial, to, "8x4xf64", &given, &with_first);
    let mut across = values.clone();
    (0..28).filter(|at| at % 4 > 0).for_each(|at| across[at] += across[at - 1]);
    check("cumulative", "op = 4 : i32, axis = 1 : i64", to, to, &given, &across);
}

#[test]
fn long_rows_are_reduced_where_they_will_lie() {
    let values: Vec<f64> = (0..3000).map(|at| f64::from(at % 11)).collect();
    let given = array(&[3, 1000], &values);
    let column = |j: usize| values.iter().skip(j).step_by(1000);
    let sums: Vec<f64> = (0..1000).map(|j| column(j).sum()).collect();
    let means: Vec<f64> = sums.iter().map(|sum| sum / 3.0).collect();
    let along = "axes = array<i64: 0>";
    check("reduction", &format!("op = 4 : i32, {along}"), "3x1000xf64", "1000xf64", &given, &sums);
    let mean = format!("op = 1 : i32, {along}");
    let kept = format!("op = 4 : i32, {along}, keepdims");
    check("reduction", &kept, "3x1000xf64", "1x1000xf64", &given, &sums);
    check("reduction", &mean, "3x1000xf64", "1000xf64", &given, &means);
}

#[test]
fn only_shares_are_moved() {
    // 600 x 1000 numbers on 4 ranks: whole rows would be megabytes.
    let values: Vec<f64> = (0..600_000).map(|at| f64::from(at % 1013)).collect();
    let given = array(&[600, 1000], &values);
    let moved = |op: &str, attributes: &str, to: &str, gather: Gather| {
        let (from, to) = (typed("600x1000xf64"), typed(to));
        let text = format!(
            "func.func @f(%a: {from}) -> {to} {{\n  %r = \"ndarray.{op}\"(%a) {{{attributes}}} : \
             ({from}) -> {to}\n  return %r : {to}\n}}"
        );
        let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        let reports = run_on_threads(&module, "f", std::slice::from_ref(&given), 4, gather);
        reports.expect("a run")[0].n_bytes
    };
    let row = 8 * 1000;
    let along = "axes = array<i64: 0>";
    // Each rank gets a quarter of three others' shares.
    let sum = format!("op = 4 : i32, {along}");
    assert_eq!(moved("reduction", &sum, "1000xf64", Gather::Nobody), 3 * row);
    let best = format!("{ARGMAX}, {along}");
    assert_eq!(moved("reduction", &best, "1000xi64", Gather::Nobody), 6 * row);
    // Every rank gets the totals of those before it.
    let running = "op = 4 : i32, axis = 0 : i64";
    assert_eq!(moved("cumulative", running, "600x1000xf64", Gather::Nobody), 6 * row);
    // The best of everything: an element and its place of every other rank.
    assert_eq!(moved("reduction", ARGMAX, "i64", Gather::Nobody), 2 * 12 * 8);
}
