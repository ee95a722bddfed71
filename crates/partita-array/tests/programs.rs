//! Small programs with known results, on 1 to 5 ranks.

use partita_array::run::{Argument, Gather, Number, ResultValue};
use partita_array::run_on_threads;
use partita_ir::Module;
use partita_kernel::Dtype;

/// `T<shape x type>` stands for a distributed array, `D` for a number.
fn text(body: &str) -> String {
    let mut out = body.to_string();
    while let Some(at) = out.find("T<") {
        let end = at + out[at..].find('>').expect("an end");
        let inner = out[at + 2..end].to_string();
        let ndim = inner.matches('x').count();
        let any = "-9223372036854775808";
        let sizes = vec![any; ndim].join(", ");
        let env = match ndim {
            0 => "#dist.dist_env<1 : i64, array<i64>, []>".to_string(),
            _ => format!(
                "#dist.dist_env<1 : i64, array<i64: {sizes}>, [array<i64: {sizes}>, array<i64: {sizes}>, array<i64: {sizes}>]>"
            ),
        };
        out.replace_range(at..=end, &format!("!ndarray.ndarray<tensor<{inner}>, {env}>"));
    }
    out
}

fn floats(value: &ResultValue) -> Vec<f64> {
    match value {
        ResultValue::Array(dense) => {
            assert_eq!(dense.dtype, Dtype::Float64);
            let words = dense.bytes.chunks_exact(8);
            words.map(|w| f64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect()
        }
        ResultValue::Number(Number::Float(number), _) => vec![*number],
        ResultValue::Number(Number::Int(number), _) => vec![*number as f64],
        other => panic!("{other:?}"),
    }
}

fn array(shape: &[usize], values: &[f64]) -> Argument {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Argument::Array { shape: shape.to_vec(), dtype: Dtype::Float64, bytes: bytes.into() }
}

fn check(body: &str, arguments: &[Argument], wanted: &[&[f64]]) {
    let text = text(body);
    let mut module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    check_module(&module, "no pass", arguments, wanted);
    for pass in partita_ir::passes::DEFAULT_PIPELINE {
        partita_ir::passes::apply(&mut module, pass).expect("a pass");
        check_module(&module, pass, arguments, wanted);
    }
}

/// The same results on every rank of 1 to 5.
fn check_module(module: &Module, after: &str, arguments: &[Argument], wanted: &[&[f64]]) {
    for n_ranks in 1..=5 {
        let reports = run_on_threads(module, "f", arguments, n_ranks, Gather::All);
        let shown = || partita_ir::print(module, partita_ir::Form::Generic);
        let reports = reports
            .unwrap_or_else(|error| panic!("{n_ranks} ranks, {after}: {error}\n{}", shown()));
        for (rank, report) in reports.iter().enumerate() {
            let found: Vec<Vec<f64>> = report.results.iter().map(floats).collect();
            assert_eq!(found, wanted, "rank {rank} of {n_ranks}, {after}\n{}", shown());
        }
    }
}

#[test]
fn sums_of_shifted_views_meet_across_ranks() {
    let values: Vec<f64> = (0..11).map(f64::from).collect();
    let wanted: Vec<f64> = (0..9).map(|i| f64::from(i + i + 2)).collect();
    check(
        r#"func.func @f(%a: T<11xf64>) -> T<9xf64> {
  %x = "ndarray.subview"(%a) {static_offsets = array<i64: 0>, static_sizes = array<i64: 9>, static_strides = array<i64: 1>} : (T<11xf64>) -> T<9xf64>
  %y = "ndarray.subview"(%a) {static_offsets = array<i64: 2>, static_sizes = array<i64: 9>, static_strides = array<i64: 1>} : (T<11xf64>) -> T<9xf64>
  %z = "ndarray.ewbin"(%x, %y) {op = 0 : i32} : (T<9xf64>, T<9xf64>) -> T<9xf64>
  return %z : T<9xf64>
}"#,
        &[array(&[11], &values)],
        &[&wanted],
    );
}

#[test]
fn writes_through_views_and_loops_are_those_of_one_rank() {
    // Three times: a[1:-1] = a[:-2] + a[2:].
    let mut wanted: Vec<f64> = (0..7).map(f64::from).collect();
    for _ in 0..3 {
        let old = wanted.clone();
        (1..6).for_each(|i| wanted[i] = old[i - 1] + old[i + 1]);
    }
    let values: Vec<f64> = (0..7).map(f64::from).collect();
    check(
        r#"func.func @f(%a: T<7xf64>) -> T<7xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %x = "ndarray.subview"(%a) {static_offsets = array<i64: 0>, static_sizes = array<i64: 5>, static_strides = array<i64: 1>} : (T<7xf64>) -> T<5xf64>
    %y = "ndarray.subview"(%a) {static_offsets = array<i64: 2>, static_sizes = array<i64: 5>, static_strides = array<i64: 1>} : (T<7xf64>) -> T<5xf64>
    %z = "ndarray.ewbin"(%x, %y) {op = 0 : i32} : (T<5xf64>, T<5xf64>) -> T<5xf64>
    "ndarray.insert_slice"(%a, %z) {static_offsets = array<i64: 1>, static_sizes = array<i64: 5>, static_strides = array<i64: 1>} : (T<7xf64>, T<5xf64>) -> ()
  }
  return %a : T<7xf64>
}"#,
        &[array(&[7], &values)],
        &[&wanted],
    );
}

#[test]
fn reductions_reshapes_and_strided_slices() {
    let values: Vec<f64> = (0..64).map(f64::from).collect();
    let columns: Vec<f64> = (0..8).map(|j| (0..8).map(|i| f64::from(8 * i + j)).sum()).collect();
    let turned: Vec<f64> = (0..64).map(|at| f64::from(8 * (at % 8) + at / 8)).collect();
    let slice: Vec<f64> =
        [4, 6].iter().flat_map(|i| [7, 4, 1].map(|j| f64::from(8 * i + j))).collect();
    check(
        r#"func.func @f(%a: T<8x8xf64>) -> (T<f64>, T<8xf64>, T<8x8xf64>, T<2x3xf64>, T<4x16xf64>, f64) {
  %sum = "ndarray.reduction"(%a) {op = 4 : i32} : (T<8x8xf64>) -> T<f64>
  %columns = "ndarray.reduction"(%a) {op = 4 : i32, axes = array<i64: 0>} : (T<8x8xf64>) -> T<8xf64>
  %turned = "ndarray.permute_dims"(%a) {axes = array<i64: 1, 0>} : (T<8x8xf64>) -> T<8x8xf64>
  %slice = "ndarray.extract_slice"(%a) {static_offsets = array<i64: 4, 7>, static_sizes = array<i64: 2, 3>, static_strides = array<i64: 2, -3>} : (T<8x8xf64>) -> T<2x3xf64>
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %shaped = "ndarray.reshape"(%a, %c4, %c16) : (T<8x8xf64>, index, index) -> T<4x16xf64>
  %one = "ndarray.load"(%a, %c4, %c4) : (T<8x8xf64>, index, index) -> f64
  return %sum, %columns, %turned, %slice, %shaped, %one : T<f64>, T<8xf64>, T<8x8xf64>, T<2x3xf64>, T<4x16xf64>, f64
}"#,
        &[array(&[8, 8], &values)],
        &[&[2016.0], &columns, &turned, &slice, &values, &[36.0]],
    );
}

#[test]
fn an_error_names_its_line_and_reaches_all_ranks() {
    let text = text(
        r#"func.func @f(%a: T<4xf64>) -> index {
  %n = "distruntime.team_member"() {team = 1 : i64} : () -> index
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  %q = arith.divsi %c1, %m : index
  %s = "ndarray.reduction"(%a) {op = 4 : i32} : (T<4xf64>) -> T<f64>
  return %q : index
}"#,
    );
    let module = partita_ir::parse(&text).expect("a program");
    let start = std::time::Instant::now();
    let arguments = [array(&[4], &[0.0; 4])];
    let error = run_on_threads(&module, "f", &arguments, 3, Gather::All).expect_err("rank 1 fails");
    assert!(error.to_string().starts_with("line 5, column"), "{error}");
    assert!(error.to_string().contains("divided by 0"), "{error}");
    assert!(start.elapsed() < std::time::Duration::from_secs(2));
    let error = run_on_threads(&module, "g", &arguments, 2, Gather::All).expect_err("no g");
    assert_eq!(error.reason(), "function-unknown");
    let error = run_on_threads(&module, "f", &[], 2, Gather::All).expect_err("no argument");
    assert_eq!(error.reason(), "argument-count");
}

#[test]
fn a_view_has_what_its_rank_holds_of_the_target() {
    // 16 elements on 3 ranks: 5, 5 and 6. Of entries 2 to 6 of the slice each rank sees its own.
    let text = text(
        r#"func.func @f(%a: T<16xf64>, %o: index, %s: index) -> T<8xf64> {
  %v = "dist.subview"(%a, %o, %s) {static_offsets = array<i64: 2>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>, operand_segment_sizes = array<i32: 1, 0, 0, 0, 1, 1>} : (T<16xf64>, index, index) -> T<8xf64>
  return %v : T<8xf64>
}"#,
    );
    let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}"));
    let mut lowered = module.clone();
    for pass in partita_ir::passes::DEFAULT_PIPELINE {
        partita_ir::passes::apply(&mut lowered, pass).expect("a pass");
    }
    let values: Vec<f64> = (0..16).map(f64::from).collect();
    let number = |n| Argument::Number(Number::Int(n));
    let arguments = [array(&[16], &values), number(2), number(4)];
    let wanted: [(u64, &[f64]); 2] = [(2, &[4.0]), (3, &[5.0, 6.0, 7.0])];
    for program in [&module, &lowered] {
        let reports = run_on_threads(program, "f", &arguments, 3, Gather::Nobody);
        let reports = reports.unwrap_or_else(|error| panic!("{error}"));
        for (rank, (offset, elements)) in wanted.iter().enumerate() {
            let ResultValue::Parts { parts, .. } = &reports[rank].results[0] else { panic!() };
            assert_eq!(parts[0].offsets, [*offset], "rank {rank}");
            assert_eq!(floats(&ResultValue::Array(parts[0].elements.clone())), *elements);
        }
        let ResultValue::Parts { parts, .. } = &reports[2].results[0] else { panic!() };
        assert!(parts.is_empty(), "{parts:?}");
    }
}

#[test]
fn one_row_of_a_matrix_is_an_array_of_one_dimension() {
    let values: Vec<f64> = (0..20).map(f64::from).collect();
    let row: Vec<f64> = (8..12).map(|i| f64::from(i + i)).collect();
    check(
        r#"func.func @f(%a: T<5x4xf64>) -> T<4xf64> {
  %r = "ndarray.subview"(%a) {static_offsets = array<i64: 2, 0>, static_sizes = array<i64: 1, 4>, static_strides = array<i64: 1, 1>} : (T<5x4xf64>) -> T<4xf64>
  %s = "ndarray.ewbin"(%r, %r) {op = 0 : i32} : (T<4xf64>, T<4xf64>) -> T<4xf64>
  return %s : T<4xf64>
}"#,
        &[array(&[5, 4], &values)],
        &[&row],
    );
}

#[test]
fn an_array_may_be_deleted_after_its_last_use() {
    let values: Vec<f64> = (0..7).map(f64::from).collect();
    let wanted: Vec<f64> = (0..5).map(|i| f64::from(i + i + 2)).collect();
    check(
        r#"func.func @f(%a: T<7xf64>) -> T<5xf64> {
  %x = "ndarray.subview"(%a) {static_offsets = array<i64: 0>, static_sizes = array<i64: 5>, static_strides = array<i64: 1>} : (T<7xf64>) -> T<5xf64>
  %y = "ndarray.subview"(%a) {static_offsets = array<i64: 2>, static_sizes = array<i64: 5>, static_strides = array<i64: 1>} : (T<7xf64>) -> T<5xf64>
  %z = "ndarray.ewbin"(%x, %y) {op = 0 : i32} : (T<5xf64>, T<5xf64>) -> T<5xf64>
  "ndarray.delete"(%a) : (T<7xf64>) -> ()
  return %z : T<5xf64>
}"#,
        &[array(&[7], &values)],
        &[&wanted],
    );
}

#[test]
fn a_reshape_that_may_not_copy_is_a_view() {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let mut wanted = values.clone();
    [7, 10, 13, 16].into_iter().for_each(|at: usize| wanted[at] = -1.0);
    check(
        r#"func.func @f(%m: T<4x6xf64>) -> T<4x6xf64> {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant -1.0 : f64
  %s = "ndarray.create"(%x) {operand_segment_sizes = array<i32: 0, 1>} : (f64) -> T<f64>
  %t = "ndarray.reshape"(%m, %c4, %c2, %c3) {copy = false} : (T<4x6xf64>, index, index, index) -> T<4x2x3xf64>
  "ndarray.insert_slice"(%t, %s) {static_offsets = array<i64: 1, 0, 1>, static_sizes = array<i64: 2, 2, 1>, static_strides = array<i64: 1, 1, 1>} : (T<4x2x3xf64>, T<f64>) -> ()
  return %m : T<4x6xf64>
}"#,
        &[array(&[4, 6], &values)],
        &[&wanted],
    );
}

#[test]
fn an_axis_goes_where_a_rank_has_a_single_row() {
    let rows: Vec<f64> = vec![0.0, 0.0, 2.0, 2.0, 4.0, 4.0];
    check(
        r#"func.func @f() -> T<?x?xf64> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = "ndarray.iota"(%c3, %c2, %c2) {axis = 0 : i64} : (index, index, index) -> T<3x2x2xf64>
  %r = "ndarray.reduction"(%a) {op = 4 : i32, axes = array<i64: 2>} : (T<3x2x2xf64>) -> T<?x?xf64>
  return %r : T<?x?xf64>
}"#,
        &[],
        &[&rows],
    );
}

#[test]
fn what_turns_out_to_be_one_stays() {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let body = r#"func.func @f(%a: !ndarray.ndarray<2x3x4xf64>) -> (!ndarray.ndarray<?x?xf64>, index, index) {
  %n = arith.constant 1 : index
  %v = ndarray.subview %a [0, 0, 2] [%n, 3, 1] [1, 1, 1] : !ndarray.ndarray<2x3x4xf64> to !ndarray.ndarray<?x?xf64>
  %c0 = arith.constant 0 : index
  %rows = ndarray.dim %v, %c0 : (!ndarray.ndarray<?x?xf64>, index) -> index
  %columns = ndarray.dim %v, %n : (!ndarray.ndarray<?x?xf64>, index) -> index
  return %v, %rows, %columns : !ndarray.ndarray<?x?xf64>, index, index
}"#;
    check(body, &[array(&[2, 3, 4], &values)], &[&[2.0, 6.0, 10.0], &[1.0], &[3.0]]);
}
