//! Programs that make no sense, with what is said about them.

use partita_ir::{
    Attr, Builder, DistEnv, Grid, Module, Scalar, Size, Type, VerifyError, parse, verify,
};

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
        "  %z = ndarray.cast_elemtype %m : (!m) to !ndarray.ndarray<4x6xcomplex<f64>>\n  %r = ndarray.reduction var %z : (!ndarray.ndarray<4x6xcomplex<f64>>) -> !ndarray.ndarray<f64>\n  %a = ndarray.ewuny abs %z : (!ndarray.ndarray<4x6xcomplex<f64>>) -> !m",
        "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> tensor<?x8xf64, #CSR>",
    ];
    for body in good {
        assert!(reasons(body).is_empty(), "{body}: {:?}", reasons(body));
    }
}

/// Wrong operations, each with the reason for which it is refused.
const BAD: &[(&str, &str)] = &[
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
    (
        "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> tensor<?x8xf64>",
        "slice-encoding",
    ),
    (
        "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> !p",
        "slice-encoding",
    ),
    (
        "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> tensor<9x8xf64, #CSR>",
        "shapes-differ",
    ),
    (
        "  %q = \"partition.set_slice\"(%p, %p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 1, 2>} : (!p, !p, index, index, index, index) -> !p",
        "slice-encoding",
    ),
    ("  \"scf.for\"(%n, %n, %n) : (index, index, index) -> ()", "region-count"),
    (
        "  %k = ndarray.create %n : (index) -> !ndarray.ndarray<5xf64>\n  %r = ndarray.ewbin add %m, %k : (!m, !ndarray.ndarray<5xf64>) -> !m",
        "not-broadcast",
    ),
    (
        "  %q = ndarray.to_tensor %m : (!m) to tensor<4x6xf64>\n  %l = \"partition.get_slice\"(%q, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (tensor<4x6xf64>, index, index, index, index) -> tensor<?x6xf64>",
        "encoding-missing",
    ),
    (
        "  ndarray.delete %m : (!m) -> ()\n  %r = ndarray.ewbin add %m, %m : (!m, !m) -> !m",
        "use-after-delete",
    ),
    (
        "  %v = ndarray.subview %m[0, 0][2, 2][1, 1] : !m to !ndarray.ndarray<2x2xf64>\n  ndarray.delete %m : (!m) -> ()\n  scf.for %k = %n to %n step %n {\n    %w = ndarray.copy %v : (!ndarray.ndarray<2x2xf64>) -> !ndarray.ndarray<2x2xf64>\n  }",
        "use-after-delete",
    ),
    (
        "  %v = dist.subview %d[0][2][1] : (!d) to !ndarray.ndarray<2xf64, #dist.dist_env<team = 1 grid = [4] cut = [0] loffs = ? lparts = ?,?,?>>",
        "grids-differ",
    ),
    (
        "  %z = ndarray.cast_elemtype %m : (!m) to !ndarray.ndarray<4x6xcomplex<f64>>\n  %r = ndarray.reduction sum %z : (!ndarray.ndarray<4x6xcomplex<f64>>) -> !ndarray.ndarray<f64>",
        "complex-lost",
    ),
    ("  ndarray.delete %m : (!m) -> ()\n  ndarray.delete %m : (!m) -> ()", "use-after-delete"),
    (
        "  %v = ndarray.subview %m[0, 0][%n, 6][1, 1] : !m to !ndarray.ndarray<6xf64>",
        "shapes-differ",
    ),
    (
        "  %v = ndarray.subview %m[5, 0][0, 6][1, 1] : !m to !ndarray.ndarray<0x6xf64>",
        "slice-outside",
    ),
    ("  %r = ndarray.ewbin xor %m, %m : (!m, !m) -> !m", "operator-type"),
    ("  %r = ndarray.ewbin add %b, %b : (!b, !b) -> !b", "operator-type"),
    (
        "  %z = ndarray.cast_elemtype %m : (!m) to !ndarray.ndarray<4x6xcomplex<f64>>\n  %r = ndarray.ewbin lt %z, %z : (!ndarray.ndarray<4x6xcomplex<f64>>, !ndarray.ndarray<4x6xcomplex<f64>>) -> !b",
        "operator-type",
    ),
    ("  %r = ndarray.ewuny signbit %i : (!i) -> !ndarray.ndarray<?xi1>", "operator-type"),
    ("  %r = ndarray.ewbin matmul %m, %m : (!m, !m) -> !m", "shapes-differ"),
    ("  %r = ndarray.ewbin matmul %i, %i : (!i, !i) -> !i", "shapes-differ"),
    ("  \"partition.get_grid_size\"() : () -> ()", "result-count"),
    ("  \"dist.foo\"(%d) : (!d) -> ()", "operation-unknown"),
    ("  %k = ndarray.create %n : (index) -> !ndarray.ndarray<?xi7>", "element-width"),
];

#[test]
fn the_specifications_forms_are_read() {
    let same = [
        (
            "  %a, %c = dist.local_bounding_box true [%n][%n][%n][%n][%n] : index, index",
            "  %a, %c = dist.local_bounding_box inner [%n][%n][%n][%n][%n] : index, index",
        ),
        (
            "  %l = partition.get_slice(%p, %n, %n, %n, %n, %n, %n) : (!p, index, index, index, index, index, index) -> tensor<?x8xf64, #CSR>",
            "  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 2, 2, 2>} : (!p, index, index, index, index, index, index) -> tensor<?x8xf64, #CSR>",
        ),
        (
            "  %a, %c = partition.get_grid_size() : index, index",
            "  %a, %c = \"partition.get_grid_size\"() : () -> (index, index)",
        ),
    ];
    for (form, wanted) in same {
        assert!(reasons(form).is_empty(), "{form}: {:?}", reasons(form));
        let text = |body: &str| {
            let module = parse(&program(body)).unwrap_or_else(|found| panic!("{body}: {found}"));
            partita_ir::print(&module, partita_ir::Form::Generic)
        };
        assert_eq!(text(form), text(wanted));
    }
}

#[test]
fn bad_programs_are_refused_by_name() {
    for (body, reason) in BAD {
        let found = reasons(body);
        assert!(found.contains(reason), "{body}\nwanted {reason}, found {found:?}");
    }
}

/// Whole programs that are wrong.
const BAD_PROGRAMS: &[(&str, &str)] = &[
    ("func.func @f() { return }\nfunc.func @f() { return }", "function-repeated"),
    (
        "func.func @f(%a: !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = 40 lparts = 0,11,0>>) { return }",
        "env-outside",
    ),
    (
        "func.func @f(%a: !ndarray.ndarray<44x4xi64, #dist.dist_env<team = 1 loffs = 2,0 lparts = 1x4,3x3,1x4>>) { return }",
        "env-parts",
    ),
    (
        "func.func @f(%a: !ndarray.ndarray<4x4xi64, #dist.dist_env<team = 1 grid = [0, 2] cut = [0, 1] loffs = ?,? lparts = ?x?,?x?,?x?,?x?,?x?,?x?,?x?,?x?,?x?>>) { return }",
        "env-grid",
    ),
    (
        "func.func @f(%a: !ndarray.ndarray<4x4xi64, #dist.dist_env<team = 1 grid = [?, ?] cut = [0, 1] loffs = ?,? lparts = ?x?,?x?,?x?,?x?,?x?,?x?,?x?,?x?,?x?>>) { return }",
        "env-grid",
    ),
    (
        "!s = !ndarray.ndarray<16xf64, #dist.dist_env<team = 1 loffs = 0 lparts = 0,4,0>>\nfunc.func @f(%a: !s) {\n  %q:3 = dist.parts_of(%a) : (!s) -> (!ndarray.ndarray<0xf64>, !ndarray.ndarray<7xf64>, !ndarray.ndarray<0xf64>)\n  return\n}",
        "shapes-differ",
    ),
    (
        "!a = !ndarray.ndarray<4xf64, #region.gpu_env<device = \"gpu:0\">>\n!b = !ndarray.ndarray<4xf64, #region.gpu_env<device = \"gpu:1\">>\nfunc.func @f(%a: !a, %b: !b) {\n  %r = ndarray.ewbin add %a, %b : (!a, !b) -> !a\n  return\n}",
        "devices-differ",
    ),
    (
        "func.func @f(%p: tensor<8x8xf64, #partition.encoding<5 : i64, [\"distributed\", \"replicated\"]>>) { return }",
        "encoding-sparsity",
    ),
    (
        "#V = #sparse_tensor.encoding<{ map = (d0 : #sparse_tensor<slice(1, 4, 1)>) -> (d0 : compressed) }>\nfunc.func @f(%p: tensor<8x8xf64, #partition.encoding<#V, [\"distributed\", \"replicated\"]>>) { return }",
        "encoding-map",
    ),
    (
        "#V = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>\nfunc.func @f(%p: tensor<8x8xf64, #partition.encoding<#V, [\"distributed\", \"replicated\"]>>) { return }",
        "encoding-map",
    ),
    (
        "#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>\nfunc.func @f(%p: tensor<8x8xf64, #partition.encoding<#CSR, [\"distributed\"]>>) { return }",
        "encoding-dims",
    ),
    (
        "#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>\n!p = tensor<8x8xf64, #partition.encoding<#CSR, [\"distributed\"]>>\nfunc.func @f(%p: !p, %n: index) {\n  %l = \"partition.get_slice\"(%p, %n, %n, %n, %n) {operand_segment_sizes = array<i32: 1, 1, 1, 2>} : (!p, index, index, index, index) -> tensor<?x8xf64, #CSR>\n  return\n}",
        "encoding-dims",
    ),
];

#[test]
fn whole_programs_are_refused_by_name() {
    for (text, reason) in BAD_PROGRAMS {
        let module = parse(text).unwrap_or_else(|found| panic!("{found}"));
        let found = verify(&module).expect_err(text).reasons();
        assert!(found.contains(reason), "{text}\nwanted {reason}, found {found:?}");
    }
}

/// Programs that no text can say, built by hand.
fn built() -> Vec<(Module, &'static str)> {
    let mut early = Module::new();
    let f = early.add_function("f", &[Type::INDEX], &[]);
    let body = early.body(f).expect("a body");
    let n = early.arguments(body)[0];
    let mut b = Builder::at_end(&mut early, body);
    let one = b.index(1);
    let sum = b.addi(n, one);
    b.ret(&[]);
    let (one, sum) = (early.defining_op(one), early.defining_op(sum));
    early.move_after(one.expect("a constant"), sum.expect("a sum"));

    let mut more = Module::new();
    let f = more.add_function("f", &[Type::INDEX], &[]);
    let body = more.body(f).expect("a body");
    more.add_argument(body, Type::INDEX);
    Builder::at_end(&mut more, body).ret(&[]);

    let mut across = Module::new();
    let grid = Grid { shape: vec![Size::Known(2)], cut: vec![1] };
    let env = DistEnv::unknown_on(Attr::i64(1), 1, grid);
    let ty = Type::dist_array(&[Size::Known(4)], Scalar::F64, env);
    let f = across.add_function("f", &[ty], &[]);
    let body = across.body(f).expect("a body");
    Builder::at_end(&mut across, body).ret(&[]);

    let mut flat = Module::new();
    let env = DistEnv::unknown(Attr::i64(1), 2);
    let ty = Type::dist_array(&[Size::Known(4)], Scalar::F64, env);
    let f = flat.add_function("f", &[ty], &[]);
    let body = flat.body(f).expect("a body");
    Builder::at_end(&mut flat, body).ret(&[]);

    vec![
        (early, "use-before-definition"),
        (more, "function-arguments"),
        (across, "env-cut"),
        (flat, "env-dims"),
    ]
}

#[test]
fn what_no_text_can_say_is_refused_too() {
    for (module, reason) in built() {
        let found = verify(&module).expect_err(reason).reasons();
        assert!(found.contains(&reason), "wanted {reason}, found {found:?}");
    }
}

#[test]
fn every_reason_has_a_program() {
    let texts = BAD.iter().chain(BAD_PROGRAMS).map(|(_, reason)| *reason);
    let known: Vec<&str> = texts.chain(built().iter().map(|(_, reason)| *reason)).collect();
    let untested: Vec<&str> = VerifyError::TABLE
        .iter()
        .map(|(_, reason, _)| *reason)
        .filter(|reason| !known.contains(reason))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
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
