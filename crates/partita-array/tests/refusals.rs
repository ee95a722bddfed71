//! Programs that go wrong when they run: the same is said on 1 to 5 ranks, with passes and without.

use partita_array::run::{Argument, Gather, Number, RunError};
use partita_array::run_on_threads;
use partita_ir::{Module, passes};
use partita_kernel::Dtype;

/// Types by short names: `!a` has 6 numbers, `!n` any number of them, `!m` is a matrix.
const TYPES: &str = "\
!a = !ndarray.ndarray<6xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!b = !ndarray.ndarray<2xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!n = !ndarray.ndarray<?xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!m = !ndarray.ndarray<4x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!l = !ndarray.ndarray<24xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!s = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
";
const N_TYPES: u32 = 6;

fn array(shape: &[usize]) -> Argument {
    let n: usize = shape.iter().product();
    let bytes: Vec<u8> = (0..n).flat_map(|i| (i as f64).to_ne_bytes()).collect();
    Argument::Array { shape: shape.to_vec(), dtype: Dtype::Float64, bytes: bytes.into() }
}

fn index(number: i64) -> Argument {
    Argument::Number(Number::Int(number))
}

fn parsed(body: &str) -> Module {
    let text = format!("{TYPES}{body}");
    let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}"));
    partita_ir::verify(&module).unwrap_or_else(|found| panic!("{}", found.with_source(&text)));
    module
}

/// The errors of a program on 1 to 5 ranks, without passes, with some, and with all.
fn errors(body: &str, arguments: &[Argument]) -> Vec<RunError> {
    let mut found = Vec::new();
    for names in [&[][..], &["dce"], &["ndarray-dist"], passes::DEFAULT_PIPELINE] {
        let mut module = parsed(body);
        names.iter().for_each(|name| passes::apply(&mut module, name).expect("a pass"));
        for n_ranks in 1..=5 {
            let outcome = run_on_threads(&module, "f", arguments, n_ranks, Gather::First);
            let shown = || partita_ir::print(&module, partita_ir::Form::Rfc);
            found.push(match outcome {
                Err(error) => error,
                Ok(_) => panic!("{n_ranks} ranks, {names:?}: it ran\n{}", shown()),
            });
        }
    }
    found
}

/// Every error names the line (counted in the body) and has some words.
fn refused(body: &str, arguments: &[Argument], line: u32, words: &[&str]) {
    for error in errors(body, arguments) {
        let text = error.to_string();
        let place = format!("line {}, ", line + N_TYPES);
        assert!(text.starts_with(&place), "wanted {place}: {text}\n{body}");
        for word in words {
            assert!(text.contains(word), "wanted {word}: {text}\n{body}");
        }
    }
}

#[test]
fn a_slice_that_leaves_its_array_is_refused() {
    let words = ["4 entries from 3 on with stride 1", "dimension 0 of size 6", "keep offset"];
    let arguments = [array(&[6]), index(3), index(4)];
    let start = "func.func @f(%a: !a, %o: index, %s: index) -> !n {\n";
    let end = "  return %v : !n\n}";
    let view = "  %v = ndarray.subview %a[%o][%s][1] : !a to !n\n";
    refused(&format!("{start}{view}{end}"), &arguments, 2, &words);
    let by_value = "  %v = ndarray.extract_slice %a[%o][%s][1] : !a to !n\n";
    refused(&format!("{start}{by_value}{end}"), &arguments, 2, &words);
    let summed = "  %w = ndarray.subview %a[%o][%s][1] : !a to !n\n\
                  \x20 %v = ndarray.ewbin add %w, %w : (!n, !n) -> !n\n";
    refused(&format!("{start}{summed}{end}"), &arguments, 2, &words);
    let unused = "  %v = ndarray.subview %a[0][%o][1] : !a to !n\n\
                  \x20 %w = ndarray.subview %a[%o][%s][1] : !a to !n\n";
    refused(&format!("{start}{unused}{end}"), &arguments, 3, &words);
}

#[test]
fn a_write_that_leaves_its_array_is_refused() {
    let body = "func.func @f(%a: !a, %b: !b, %o: index) -> !a {
  ndarray.insert_slice %b into %a[%o][2][1] : !b into !a
  return %a : !a
}";
    let words = ["2 entries from 5 on", "dimension 0 of size 6"];
    refused(body, &[array(&[6]), array(&[2]), index(5)], 2, &words);
    let backwards = "func.func @f(%a: !a, %b: !b, %o: index) -> !a {
  ndarray.insert_slice %b into %a[%o][2][-1] : !b into !a
  return %a : !a
}";
    refused(backwards, &[array(&[6]), array(&[2]), index(0)], 2, &["with stride -1", "size 6"]);
}

#[test]
fn a_slice_of_an_array_of_unknown_size_is_refused() {
    let body = "func.func @f(%a: !n) -> !b {
  %x = ndarray.subview %a[0][2][1] : !n to !b
  %y = ndarray.subview %a[1][2][1] : !n to !b
  %z = ndarray.ewbin add %x, %y : (!b, !b) -> !b
  return %z : !b
}";
    refused(body, &[array(&[2])], 3, &["2 entries from 1 on", "dimension 0 of size 2"]);
}

#[test]
fn sizes_that_contradict_a_type_are_refused() {
    let made = "func.func @f(%n: index) -> !a {
  %x = arith.constant 1.0 : f64
  %a = ndarray.create %n value %x : (index, f64) -> !a
  return %a : !a
}";
    refused(made, &[index(5)], 3, &["[5]", "6"]);
    let viewed = "func.func @f(%a: !a, %n: index) -> !b {
  %v = ndarray.subview %a[0][%n][1] : !a to !b
  %w = ndarray.ewbin add %v, %v : (!b, !b) -> !b
  return %w : !b
}";
    refused(viewed, &[array(&[6]), index(3)], 2, &["3", "2"]);
}

#[test]
fn an_element_that_is_not_there_is_refused_even_if_nobody_uses_it() {
    let body = "func.func @f(%a: !a, %i: index) -> !a {
  %x = ndarray.load %a[%i] : (!a) to f64
  return %a : !a
}";
    refused(body, &[array(&[6]), index(6)], 2, &["from 6 on", "size 6"]);
    let divided = "func.func @f(%a: !a, %i: index) -> !a {
  %x = arith.divsi %i, %i : index
  return %a : !a
}";
    refused(divided, &[array(&[6]), index(0)], 2, &["divided by 0"]);
}

#[test]
fn a_reshape_that_may_not_copy_is_refused_where_it_has_to() {
    let moved = "func.func @f(%m: !m) -> !l {
  %n = arith.constant 24 : index
  %l = ndarray.reshape %m shape %n {copy = false} : (!m, index) -> !l
  return %l : !l
}";
    refused(moved, &[array(&[4, 6])], 3, &["may not copy", "leave `copy = false` away"]);
    let local = "func.func @f(%a: !ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<12xf64> {
  %n = arith.constant 12 : index
  %v = ndarray.subview %a[0, 0][4, 3][1, 1] : !ndarray.ndarray<4x6xf64> to !ndarray.ndarray<4x3xf64>
  %l = ndarray.reshape %v shape %n {copy = false} : (!ndarray.ndarray<4x3xf64>, index) -> !ndarray.ndarray<12xf64>
  return %l : !ndarray.ndarray<12xf64>
}";
    refused(local, &[array(&[4, 6])], 4, &["may not copy", "in order"]);
}

#[test]
fn an_array_that_was_deleted_is_refused_where_only_the_run_sees_it() {
    let body = "func.func @free(%a: !a) {
  ndarray.delete %a : (!a) -> ()
  return
}
func.func @f(%a: !a) -> !a {
  func.call @free(%a) : (!a) -> ()
  %b = ndarray.ewbin add %a, %a : (!a, !a) -> !a
  return %b : !a
}";
    for error in errors(body, &[array(&[6])]) {
        let text = error.to_string();
        let line = format!("was deleted in line {}", 2 + N_TYPES);
        assert!(text.contains(&line) && text.starts_with("line 13, "), "{text}");
    }
}

#[test]
fn results_that_differ_between_ranks_are_refused() {
    let body = "func.func @f() -> (index, index) {
  %n = distruntime.team_size {team = 1 : i64} : () -> index
  %r = distruntime.team_member {team = 1 : i64} : () -> index
  return %n, %r : index, index
}";
    let module = parsed(body);
    for n_ranks in 2..=5 {
        let error = run_on_threads(&module, "f", &[], n_ranks, Gather::First).expect_err("differ");
        assert_eq!(error.reason(), "results-differ");
        let text = error.to_string();
        assert!(text.starts_with("result 1 is 0 on rank 0 and 1 on rank 1;"), "{text}");
        let each = run_on_threads(&module, "f", &[], n_ranks, Gather::Nobody).expect("per rank");
        assert_eq!(each.len() as u64, n_ranks);
    }
    assert!(run_on_threads(&module, "f", &[], 1, Gather::First).is_ok());
}

#[test]
fn arguments_are_not_cut_down() {
    let take = |element: &str| {
        parsed(&format!(
            "func.func @f(%a: !ndarray.ndarray<2x{element}>) -> !ndarray.ndarray<2x{element}> {{
  return %a : !ndarray.ndarray<2x{element}>
}}"
        ))
    };
    let given = |dtype: Dtype| Argument::Array {
        shape: vec![2],
        dtype,
        bytes: vec![0; 2 * dtype.size()].into(),
    };
    let cases = [
        ("i64", Dtype::Float64, false),
        ("f64", Dtype::Complex128, false),
        ("f32", Dtype::Float64, false),
        ("f64", Dtype::Int64, true),
        ("f64", Dtype::Float32, true),
        ("complex<f64>", Dtype::Float64, true),
    ];
    for (element, dtype, is_fine) in cases {
        let outcome = run_on_threads(&take(element), "f", &[given(dtype)], 2, Gather::First);
        let text = outcome.as_ref().map_or_else(ToString::to_string, |_| String::new());
        assert_eq!(outcome.is_ok(), is_fine, "{element} {dtype}: {text}");
        let named = text.contains(&dtype.to_string()) && text.contains("convert the array to");
        assert!(is_fine || named, "{text}");
    }
}

#[test]
fn a_slice_without_entries_begins_inside_its_array() {
    let body = "func.func @f(%a: !a, %o: index) -> !n {
  %z = arith.constant 0 : index
  %v = ndarray.subview %a[%o][%z][1] : !a to !n
  return %v : !n
}";
    refused(body, &[array(&[6]), index(7)], 3, &["0 entries from 7 on", "dimension 0 of size 6"]);
}
