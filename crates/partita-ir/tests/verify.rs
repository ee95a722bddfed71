//! Programs that make no sense, with what is said about them.

use partita_ir::{VerifyError, parse, verify};

/// A program around some operations, with values of many types.
fn program(body: &str) -> String {
    format!(
        "!d = !ndarray.ndarray<16xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!e = !ndarray.ndarray<16xf64, #dist.dist_env<team = 2 loffs = ? lparts = ?,?,?>>
!s = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
!t = !ndarray.ndarray<?xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!m = !ndarray.ndarray<4x6xf64>
!b = !ndarray.ndarray<4x6xi1>
!i = !ndarray.ndarray<?xi64>
#CSR = #sparse_tensor.encoding<{{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }}>
!p = tensor<8x8xf64, #partition.encoding<#CSR, [\"distributed\", \"replicated\"]>>
func.func @f(%d: !d, %e: !e, %s: !s, %m: !m, %b: !b, %i: !i, %p: !p, %n: index, %x: f64, %y: f32) {{
{body}
  return
}}
"
    )
}

fn reasons(body: &str) -> Vec<&'static str> {
    let text = program(body);
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}"));
    match verify(&module) {
        Ok(()) => Vec::new(),
        Err(found) => found.reasons(),
    }
}

#[test]
fn good_programs_pass() {
    let good = [
        "  %r = dist.ewbin add %d, %d : (!d, !d) to !d",
        "  %r = dist.ewbin add %d, %s : (!d, !s) to !d",
        "  %r = ndarray.ewbin lt %m, %m : (!m, !m) -> !b",
        "  %v = ndarray.subview %m[0, 2][2, 2][2, 3] : !m to !ndarray.ndarray<2x2xf64>",
        "  %v = ndarray.subview %m[3, 0][1, 6][1, 1] : !m to !ndarray.ndarray<6xf64>",
        "  %v = ndarray.subview %m[3, 5][4, 6][-1, -1] : !m to !m",
        "  %r = ndarray.reduction sum %m [1] : (!m) -> !ndarray.ndarray<4xf64>",
        "  %r = ndarray.reduction max %m : (!m) -> !ndarray.ndarray<f64>",
        "  %r = ndarray.permute_dims %m [1, 0] : (!m) -> !ndarray.ndarray<6x4xf64>",
        "  %p0 = dist.parts_of(%s) : (!s) -> !ndarray.ndarray<f64>",
        "  %r = ndarray.where %b, %m, %m : (!b, !m, !m) -> !m",
        "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> tensor<?x8xf64, #CSR>",
    ];
    for body in good {
        assert!(reasons(body).is_empty(), "{body}: {:?}", reasons(body));
    }
}

#[test]
fn bad_programs_are_refused_by_name() {
    let bad = [
        ("  %r = dist.ewbin add %d, %e : (!d, !e) to !d", "teams-differ"),
        ("  %r = dist.ewbin add %d, %m : (!d, !m) to !d", "operand-type"),
        ("  %r = \"dist.ewbin\"(%d, %d) : (!d, !d) -> !d", "attr-missing"),
        ("  %r = dist.ewbin %d, %d {op = 99 : i32} : (!d, !d) to !d", "attr-kind"),
        ("  %r = dist.ewbin add %d, %d coffs %n : (!d, !d) to !d", "operand-count"),
        ("  %r = ndarray.ewbin eq %m, %m : (!m, !m) -> !m", "elements-differ"),
        (
            "  %z = ndarray.reshape %m shape %n : (!m, index) -> !ndarray.ndarray<25xf64>",
            "reshape-size",
        ),
        ("  %p0, %p1 = dist.parts_of(%d) : (!d) -> (!i, !i)", "parts-count"),
        ("  %o, %q = dist.local_offsets_of(%d) : (!d) -> (index, index)", "result-count"),
        ("  %r = ndarray.permute_dims %m [0, 0] : (!m) -> !m", "axes-not-permutation"),
        ("  %r = ndarray.permute_dims %m [1, 0] : (!m) -> !m", "shapes-differ"),
        (
            "  %v = ndarray.subview %m[0, 5][2, 2][1, 1] : !m to !ndarray.ndarray<2x2xf64>",
            "slice-outside",
        ),
        ("  %v = ndarray.subview %m[0][2][1] : !m to !ndarray.ndarray<2xf64>", "slice-dims"),
        (
            "  %v = ndarray.subview %m[0, 0][2, 2][1, 0] : !m to !ndarray.ndarray<2x2xf64>",
            "slice-number",
        ),
        (
            "  %v = ndarray.subview %m[0, 0][2, 2][1, 1] : !m to !ndarray.ndarray<2x3xf64>",
            "shapes-differ",
        ),
        (
            "  %v = \"ndarray.subview\"(%m) {static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, 1>, static_strides = array<i64: 1, 1>} : (!m) -> !m",
            "slice-operands",
        ),
        ("  %r = ndarray.reduction sum %m [2] : (!m) -> !ndarray.ndarray<4xf64>", "axis-outside"),
        ("  %r = ndarray.cumulative mean %m {axis = 0 : i64} : (!m) -> !m", "reduction-kind"),
        ("  %r = ndarray.ewbin add %m, %i : (!m, !i) -> !ndarray.ndarray<3xf64>", "shapes-differ"),
        ("  %w = ndarray.load %m[%n] : (!m) to f64", "operand-count"),
        ("  %w = ndarray.load %m[%n, %n] : (!m) to f32", "result-type"),
        (
            "  %r = dist.repartition %d loffs %n, %n lsizes %n, %n : (!d, index, index, index, index) to !d",
            "target-count",
        ),
        (
            "  %h:3 = distruntime.get_halo %i g_shape %n l_offsets %n bb_offsets %n bb_sizes %n {team = 1 : i64} : (!i, index, index, index, index) -> (!distruntime.asynchandle, !i, !i)",
            "handle-not-waited",
        ),
        ("  %c = \"arith.constant\"() {value = 1 : i64} : () -> index", "constant-type"),
        ("  %c = \"arith.addf\"(%x, %y) : (f64, f32) -> f64", "types-differ"),
        ("  %c = arith.extf %x : f64 to f32", "cast-width"),
        ("  func.call @nobody(%x) : (f64) -> ()", "callee-unknown"),
        ("  func.call @f(%x) : (f64) -> ()", "callee-types"),
        ("  \"func.return\"() : () -> ()\n  %c = arith.constant 1 : index", "block-end"),
        ("  func.func @inner() { return }", "placement"),
        ("  \"scf.if\"(%n) ({ \"scf.yield\"() : () -> () }) : (index) -> ()", "operand-type"),
        (
            "  %t = arith.constant true\n  %c = \"scf.if\"(%t) ({ scf.yield %x : f64 }) : (i1) -> f64",
            "else-missing",
        ),
        ("  scf.for %k = %n to %n step %n {\n    scf.yield %x : f64\n  }", "return-types"),
        (
            "  %l = \"partition.get_slice\"(%p, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 1>} : (!p, index, index, index) -> tensor<?x8xf64, #CSR>",
            "operand-count",
        ),
    ];
    for (body, reason) in bad {
        let found = reasons(body);
        assert!(found.contains(&reason), "{body}\nwanted {reason}, found {found:?}");
    }
}

#[test]
fn distributions_fit_their_arrays() {
    let cases = [
        ("44xi64, #dist.dist_env<team = 1 loffs = 40 lparts = 0,11,0>", "env-outside"),
        ("44x4xi64, #dist.dist_env<team = 1 loffs = 2,0 lparts = 1x4,3x3,1x4>", "env-parts"),
    ];
    for (ty, reason) in cases {
        let text = format!("func.func @f(%a: !ndarray.ndarray<{ty}>) {{ return }}");
        let module = parse(&text).unwrap_or_else(|found| panic!("{found}"));
        let found = verify(&module).expect_err(ty).reasons();
        assert_eq!(found, [reason], "{ty}");
    }
}

#[test]
fn a_message_names_both_teams_and_shows_the_place() {
    let text = program("  %r = dist.ewbin add %d, %e : (!d, !e) to !d");
    let module = parse(&text).expect("a program");
    let found = verify(&module).expect_err("two teams").with_source(&text).to_string();
    assert!(
        found.starts_with("11:8: error: dist.ewbin has arrays of team 1 and team 2;"),
        "{found}"
    );
    assert!(found.ends_with('^'), "{found}");
}

#[test]
fn every_error_has_its_reason_and_a_cure() {
    let problems = partita_error::judge(VerifyError::TABLE, "", &[]);
    assert!(problems.is_empty(), "{problems:?}");
}
