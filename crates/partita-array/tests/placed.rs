//! Programs in `dist` written by hand: what lies where, and who shares memory with whom, is the
//! same on 1 to 5 ranks, with passes and without.

use partita_array::run::{Argument, Gather, Number, ResultValue};
use partita_array::run_on_threads;
use partita_ir::{Module, passes};
use partita_kernel::Dtype;

const TYPES: &str = "\
!d = !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!v = !ndarray.ndarray<2xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!n = !ndarray.ndarray<?x?xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!z = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
!l = !ndarray.ndarray<?xf64>
";

const LEVELS: [&[&str]; 4] =
    [&[], &["ndarray-dist"], &["convert-dist-to-standard"], passes::DEFAULT_PIPELINE];

fn array(shape: &[usize]) -> Argument {
    let n: usize = shape.iter().product();
    let bytes: Vec<u8> = (1..=n).flat_map(|i| (i as f64).to_ne_bytes()).collect();
    Argument::Array { shape: shape.to_vec(), dtype: Dtype::Float64, bytes: bytes.into() }
}

fn module(body: &str, names: &[&str]) -> Module {
    let text = format!("{TYPES}{body}");
    let mut module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}"));
    partita_ir::verify(&module).unwrap_or_else(|found| panic!("{}", found.with_source(&text)));
    names.iter().for_each(|name| passes::apply(&mut module, name).expect("a pass"));
    module
}

fn floats(value: &ResultValue) -> Vec<f64> {
    let words = |bytes: &[u8]| {
        let words = bytes.chunks_exact(8);
        words.map(|w| f64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect()
    };
    match value {
        ResultValue::Array(dense) => words(&dense.bytes),
        ResultValue::Number(Number::Int(number), _) => vec![*number as f64],
        ResultValue::Parts { parts, .. } => {
            parts.iter().flat_map(|part| words(&part.elements.bytes)).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Results of every level on a number of ranks, or what was said instead.
fn outcomes(
    body: &str,
    arguments: &[Argument],
    n_ranks: u64,
    gather: Gather,
) -> Vec<Result<Vec<Vec<Vec<f64>>>, String>> {
    let run = |names: &&[&str]| {
        let reports = run_on_threads(&module(body, names), "f", arguments, n_ranks, gather);
        let results = |report: partita_array::run::Report| {
            report.results.iter().map(floats).collect::<Vec<_>>()
        };
        let reports = reports.map_err(|error| error.to_string())?;
        Ok(reports.into_iter().map(results).collect())
    };
    LEVELS.iter().map(run).collect()
}

fn gives(body: &str, arguments: &[Argument], wanted: &[&[f64]]) {
    for n_ranks in 1..=5 {
        for (outcome, names) in outcomes(body, arguments, n_ranks, Gather::All).iter().zip(LEVELS) {
            let ranks = outcome.as_ref().unwrap_or_else(|error| {
                panic!("{n_ranks} ranks, {names:?}: {error}\n{body}");
            });
            for found in ranks {
                assert_eq!(found, wanted, "{n_ranks} ranks, {names:?}\n{body}");
            }
        }
    }
}

#[test]
fn operands_on_different_ranks_are_refused() {
    let body = "func.func @f(%a: !d) -> !d {
  %r = dist.subview %a [3] [4] [-1] : (!d) to !d
  %s = dist.ewbin add %a, %r : (!d, !d) to !d
  return %s : !d
}";
    for outcome in outcomes(body, &[array(&[4])], 2, Gather::All) {
        let error = outcome.expect_err("operands that are apart");
        assert!(error.contains("dist.ewbin") && error.contains("repartition it first"), "{error}");
    }
}

#[test]
fn elements_that_several_ranks_hold_count_once() {
    let start = "func.func @f(%a: !d) -> !z {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %h = dist.repartition %a loffs %c0 lsizes %c4 : (!d) to !d
";
    let twice = "  %v = dist.ewbin add %h, %h : (!d, !d) to !d\n";
    let by_value = "  %v = ndarray.ewbin add %h, %h : (!d, !d) -> !d\n";
    let end = "  %s = ndarray.reduction sum %v : (!d) -> !z\n  return %s : !z\n}";
    gives(&format!("{start}{twice}{end}"), &[array(&[4])], &[&[20.0]]);
    gives(&format!("{start}{by_value}{end}"), &[array(&[4])], &[&[20.0]]);
}

#[test]
fn a_repartition_is_a_copy() {
    let start = "func.func @f(%a: !d) -> (!d, !v) {
  %m = arith.constant -1.0 : f64
  %z = ndarray.create value %m : (f64) -> !z
  %v = dist.subview %a [0][2][1] : (!d) to !v
  %b = dist.repartition %v : (!v) to !v
";
    let end = "  return %a, %b : !d, !v\n}";
    let into_copy = "  ndarray.insert_slice %z into %b [0][2][1] : !z into !v\n";
    let into_source = "  ndarray.insert_slice %z into %a [0][2][1] : !z into !d\n";
    let (old, new): (&[f64], &[f64]) = (&[1.0, 2.0, 3.0, 4.0], &[-1.0, -1.0, 3.0, 4.0]);
    gives(&format!("{start}{into_copy}{end}"), &[array(&[4])], &[old, &[-1.0, -1.0]]);
    gives(&format!("{start}{into_source}{end}"), &[array(&[4])], &[new, &[1.0, 2.0]]);
}

#[test]
fn a_write_reaches_all_of_a_repartitioned_array() {
    let body = "func.func @f(%a: !d, %x: !v) -> (!v, !v) {
  %v = ndarray.subview %a [0][2][1] : !d to !v
  %b = dist.repartition %v : (!v) to !v
  ndarray.insert_slice %x into %b [0][2][1] : !v into !v
  %s = ndarray.ewbin add %b, %x : (!v, !v) -> !v
  return %b, %s : !v, !v
}";
    gives(body, &[array(&[4]), array(&[2])], &[&[1.0, 2.0], &[2.0, 4.0]]);
}

#[test]
fn a_view_without_entries_has_the_shape_of_its_slice() {
    let body = "func.func @f(%a: !n, %z: index) -> (index, index) {
  %v = ndarray.subview %a[2, 1][3, %z][-1, 1] : !n to !n
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = ndarray.copy %v : (!n) -> !n
  %p = ndarray.dim %w, %c0 : (!n, index) -> index
  %q = ndarray.dim %w, %c1 : (!n, index) -> index
  return %p, %q : index, index
}";
    let none = Argument::Number(Number::Int(0));
    gives(body, &[array(&[5, 4]), none], &[&[3.0], &[0.0]]);
}

#[test]
fn a_view_keeps_halos_at_every_level() {
    let body = "func.func @f(%a: !d) -> (index, !l, !l, !l) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %h = dist.repartition %a loffs %c0 lsizes %c4 : (!d) to !d
  %v = dist.subview %h [0][4][1] : (!d) to !d
  %o = dist.local_offsets_of(%v) : (!d) -> index
  %p:3 = dist.parts_of(%v) : (!d) -> (!l, !l, !l)
  return %o, %p#0, %p#1, %p#2 : index, !l, !l, !l
}";
    for n_ranks in 1..=4 {
        let found = outcomes(body, &[array(&[4])], n_ranks, Gather::Nobody);
        for (rank, results) in found[0].as_ref().expect("a run").iter().enumerate() {
            assert_eq!(results[0], [0.0], "rank {rank} of {n_ranks}");
            assert_eq!(results[1..].concat(), [1.0, 2.0, 3.0, 4.0], "rank {rank} of {n_ranks}");
        }
        assert!(found.iter().all(|one| *one == found[0]), "{n_ranks} ranks: {found:?}");
    }
}

#[test]
fn a_view_says_the_same_of_its_place_at_every_level() {
    let body = "func.func @f(%a: !d, %o: index, %s: index) -> (index, !l, !l, !l) {
  %b = dist.subview %a [1][2][1] toffs %o tsizes %s : (!d) to !v
  %x = dist.local_offsets_of(%b) : (!v) -> index
  %p:3 = dist.parts_of(%b) : (!v) -> (!l, !l, !l)
  return %x, %p#0, %p#1, %p#2 : index, !l, !l, !l
}";
    let number = |n: i64| Argument::Number(Number::Int(n));
    for (offset, size) in [(0, 2), (1, 1), (0, 0), (2, 0)] {
        for n_ranks in 1..=4 {
            let arguments = [array(&[4]), number(offset), number(size)];
            let found = outcomes(body, &arguments, n_ranks, Gather::Nobody);
            let same = |one: &Result<_, _>| one.is_ok() && *one == found[0];
            assert!(found.iter().all(same), "{n_ranks} ranks, {offset}, {size}: {found:?}");
        }
    }
}
