//! Values that the dialects' specification and its first implementation give.

use partita_array::run::{Argument, Gather, Number, ResultValue};
use partita_array::run_on_threads;
use partita_kernel::Dtype;

const ENV: &str = "#dist.dist_env<1 : i64, array<i64: -9223372036854775808>, [array<i64: -9223372036854775808>, array<i64: -9223372036854775808>, array<i64: -9223372036854775808>]>";

fn numbers(text: &str, n_ranks: u64, arguments: &[Argument]) -> Vec<Vec<i64>> {
    let module = partita_ir::parse(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let reports = run_on_threads(&module, "f", arguments, n_ranks, Gather::Nobody).expect("a run");
    let number = |one: &ResultValue| match one {
        ResultValue::Number(Number::Int(number), _) => *number,
        other => panic!("{other:?}"),
    };
    reports.iter().map(|report| report.results.iter().map(number).collect()).collect()
}

fn constants(all: &[i64]) -> (String, String) {
    let lines = all.iter().enumerate();
    let lines = lines.map(|(at, n)| format!("%c{at} = arith.constant {n} : index\n")).collect();
    let names: Vec<String> = (0..all.len()).map(|at| format!("%c{at}")).collect();
    (lines, names.join(", "))
}

/// What each of `n_ranks` owns by default.
fn default_partition(n_ranks: i64, shape: &[i64]) -> Vec<Vec<i64>> {
    let (lines, names) = constants(shape);
    let types = vec!["index"; shape.len() + 2].join(", ");
    let results = vec!["index"; 2 * shape.len()].join(", ");
    let given: Vec<String> = (0..2 * shape.len()).map(|at| format!("%p#{at}")).collect();
    let text = format!(
        "func.func @f() -> ({results}) {{\n{lines}\
         %n = \"distruntime.team_size\"() {{team = 1 : i64}} : () -> index\n\
         %r = \"distruntime.team_member\"() {{team = 1 : i64}} : () -> index\n\
         %p:{} = \"dist.default_partition\"(%n, %r, {names}) : ({types}) -> ({results})\n\
         return {} : {results}\n}}",
        2 * shape.len(),
        given.join(", ")
    );
    numbers(&text, n_ranks as u64, &[])
}

#[test]
fn default_partitions_give_the_extras_to_the_last_ranks() {
    assert_eq!(default_partition(4, &[8]), [[0, 2], [2, 2], [4, 2], [6, 2]]);
    assert_eq!(default_partition(3, &[8]), [[0, 2], [2, 3], [5, 3]]);
    let found = default_partition(8, &[31]);
    assert_eq!([&found[7], &found[2], &found[1], &found[0]], [&[27, 4], &[7, 4], &[3, 4], &[0, 3]]);
    assert_eq!(default_partition(8, &[32])[7], [28, 4]);
    assert_eq!(default_partition(8, &[33])[7], [28, 5]);
    assert_eq!(default_partition(2, &[8, 8])[1], [4, 0, 4, 8]);
    assert_eq!(default_partition(2, &[1, 7])[0], [0, 0, 0, 7]);
}

/// View (offset, size, stride), target (offset, size), earlier box.
fn bounding_box(view: [i64; 3], target: [i64; 2], before: &[i64], inner: bool) -> [i64; 2] {
    let all = [&view[..], &target, before].concat();
    let (lines, names) = constants(&all);
    let n_before = before.len() / 2;
    let types = vec!["index"; all.len()].join(", ");
    let segments = format!("array<i32: 1, 1, 1, 1, 1, {n_before}, {n_before}>");
    let text = format!(
        "func.func @f() -> (index, index) {{\n{lines}\
         %b:2 = \"dist.local_bounding_box\"({names}) {{inner = {inner}, operandSegmentSizes = {segments}}} : ({types}) -> (index, index)\n\
         return %b#0, %b#1 : index, index\n}}"
    );
    let found = numbers(&text, 1, &[]).remove(0);
    [found[0], found[1]]
}

#[test]
fn bounding_boxes_join_what_targets_need() {
    let plain = |view, target| bounding_box(view, target, &[], false);
    assert_eq!(plain([0, 8, 1], [4, 4]), [4, 4]);
    assert_eq!(plain([1, 7, 1], [4, 4]), [5, 3]);
    assert_eq!(plain([0, 8, 1], [4, 0]), [4, 0]);
    assert_eq!(plain([1, 7, 1], [0, 0]), [1, 0]);
    assert_eq!(plain([1, 7, 1], [2, 2]), [3, 2]);
    assert_eq!(plain([1, 3, 1], [0, 4]), [1, 3]);
    assert_eq!(bounding_box([1, 7, 1], [4, 4], &[4, 4], false), [4, 4]);
    assert_eq!(bounding_box([0, 8, 1], [4, 0], &[4, 4], false), [4, 4]);
    assert_eq!(bounding_box([1, 3, 1], [0, 4], &[0, 5], false), [0, 5]);
    assert_eq!(bounding_box([1, 7, 1], [2, 2], &[1, 0], false), [3, 2]);
    assert_eq!(bounding_box([1, 10, 1], [2, 5], &[2, 5], true), [3, 4]);
    assert_eq!(bounding_box([1, 10, 1], [2, 5], &[2, 5], false), [2, 6]);
}

#[test]
fn targets_count_in_the_slice() {
    let ty = format!("!ndarray.ndarray<tensor<16xf64>, {ENV}>");
    let text = format!(
        "func.func @f(%a: {ty}) -> (index, index) {{\n\
         %o = arith.constant 3 : index\n%s = arith.constant 10 : index\n%t = arith.constant 1 : index\n\
         %p:2 = \"dist.local_target_of_slice\"(%a, %o, %s, %t) {{operandSegmentSizes = array<i32: 1, 1, 1, 1>}} : ({ty}, index, index, index) -> (index, index)\n\
         return %p#0, %p#1 : index, index\n}}"
    );
    let bytes = vec![0; 128].into();
    let argument = Argument::Array { shape: vec![16], dtype: Dtype::Float64, bytes };
    assert_eq!(numbers(&text, 3, &[argument]), [[0, 2], [2, 5], [7, 3]]);
}

#[test]
fn a_repartition_has_halos_on_both_sides() {
    let ty = format!("!ndarray.ndarray<tensor<44xi64>, {ENV}>");
    let text = format!(
        "func.func @f(%a: {ty}) -> {ty} {{\n\
         %r = \"distruntime.team_member\"() {{team = 1 : i64}} : () -> index\n\
         %c11 = arith.constant 11 : index\n%c2 = arith.constant 2 : index\n\
         %first = arith.muli %r, %c11 : index\n\
         %c0 = arith.constant 0 : index\n%c44 = arith.constant 44 : index\n\
         %low = arith.subi %first, %c2 : index\n%from = arith.maxsi %low, %c0 : index\n\
         %c13 = arith.constant 13 : index\n%high = arith.addi %first, %c13 : index\n\
         %to = arith.minsi %high, %c44 : index\n%size = arith.subi %to, %from : index\n\
         %b = \"dist.repartition\"(%a, %from, %size) {{operandSegmentSizes = array<i32: 1, 1, 1>}} : ({ty}, index, index) -> {ty}\n\
         return %b : {ty}\n}}"
    );
    let bytes: Vec<u8> = (0..44_i64).flat_map(i64::to_ne_bytes).collect();
    let (shape, dtype) = (vec![44], Dtype::Int64);
    let argument = Argument::Array { shape, dtype, bytes: bytes.into() };
    let module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let reports = run_on_threads(&module, "f", &[argument], 4, Gather::Nobody).expect("a run");
    let ResultValue::Parts { parts, .. } = &reports[2].results[0] else { panic!("parts") };
    let found: Vec<(u64, Vec<i64>)> = parts
        .iter()
        .map(|part| {
            let words = part.elements.bytes.chunks_exact(8);
            let words = words.map(|w| i64::from_ne_bytes(w.try_into().expect("8 bytes")));
            (part.offsets[0], words.collect())
        })
        .collect();
    let own = (22, (22..33).collect());
    assert_eq!(found, [(20, vec![20, 21]), own, (33, vec![33, 34])]);
    assert_eq!(reports[0].n_exchanges, 1);
    assert_eq!(reports[0].n_bytes, 3 * 2 * 2 * 8);
}
