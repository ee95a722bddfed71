//! What the default passes leave of a program: local arrays, arithmetic and communication.

use partita_ir::passes::{Options, apply, apply_default};
use partita_ir::{Module, OpKind, parse, print, verify};

const TYPES: &str = "\
!m = !ndarray.ndarray<8x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!r = !ndarray.ndarray<8xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!c = !ndarray.ndarray<6xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!s = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
";

fn program(body: &str) -> Module {
    let text = format!("{TYPES}{body}");
    let module = parse(&text).unwrap_or_else(|found| panic!("{found}"));
    verify(&module).unwrap_or_else(|found| panic!("{}", found.with_source(&text)));
    module
}

/// Operations on distributed arrays that are left, but for taking apart and putting together.
fn left(module: &Module) -> Vec<OpKind> {
    let is_dist = |op: &partita_ir::Op| {
        let mut values = module.operands(*op).iter().chain(module.results(*op));
        values.any(|value| module.ty(*value).dist().is_some())
    };
    let bridges = [OpKind::DistPartsOf, OpKind::DistInitDistArray, OpKind::FuncReturn];
    let ops = module.walk(module.top()).into_iter().filter(is_dist);
    ops.map(|op| module.kind(op)).filter(|kind| !bridges.contains(kind)).collect()
}

#[test]
fn every_reduction_becomes_local() {
    for how in ["sum", "prod", "max", "min", "mean", "std", "var"] {
        for (axes, keeps, ty) in [("", "", "!s"), ("[0]", "", "!c"), ("[1]", "", "!r")] {
            let body = format!(
                "func.func @f(%m: !m) -> {ty} {{\n  %r = ndarray.reduction {how} %m {axes} {keeps}: (!m) -> {ty}\n  return %r : {ty}\n}}"
            );
            let mut module = program(&body);
            apply_default(&mut module, &Options::default()).expect("passes");
            assert_eq!(left(&module), [], "{body}\n{}", print(&module, partita_ir::Form::Rfc));
            verify(&module).unwrap_or_else(|found| panic!("{found}"));
        }
    }
}

#[test]
fn new_arrays_and_running_sums_become_local() {
    let mut module = program(
        "func.func @f(%m: !m, %x: f64, %y: f64) -> (!m, !r, !m) {
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %n = ndarray.cumulative sum %m {axis = 1 : i64} : (!m) -> !m
  %l = ndarray.linspace endpoint %x, %y, %c8 : (f64, f64, index) -> !r
  %i = \"ndarray.iota\"(%c8, %c6) {axis = 0 : i64} : (index, index) -> !m
  return %n, %l, %i : !m, !r, !m
}",
    );
    apply_default(&mut module, &Options::default()).expect("passes");
    assert_eq!(left(&module), [], "{}", print(&module, partita_ir::Form::Rfc));
}

#[test]
fn a_core_has_the_dimensions_of_its_operator() {
    // A row that is itself the sum of shifted views goes with every row of a matrix.
    let mut module = program(
        "!v = !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!w = !ndarray.ndarray<8x4xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
func.func @f(%w: !w, %c: !c) -> !w {
  %x = ndarray.subview %c[0][4][1] : !c to !v
  %y = ndarray.subview %c[2][4][1] : !c to !v
  %a = ndarray.ewbin add %w, %x : (!w, !v) -> !w
  %b = ndarray.ewbin add %a, %y : (!w, !v) -> !w
  return %b : !w
}",
    );
    for pass in ["ndarray-dist", "dist-propagate", "dist-coalesce", "dist-infer-elementwise-cores"]
    {
        apply(&mut module, pass).expect("a pass");
        verify(&module).unwrap_or_else(|found| panic!("after {pass}: {found}"));
    }
}

#[test]
fn errors_of_lowered_programs_point_at_the_text() {
    let mut module = program(
        "func.func @f(%m: !m, %i: index) -> !m {
  %v = ndarray.subview %m[%i, 0][4, 6][1, 1] : !m to !ndarray.ndarray<4x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
  ndarray.insert_slice %v into %m[0, 0][4, 6][1, 1] : !ndarray.ndarray<4x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>> into !m
  return %m : !m
}",
    );
    apply_default(&mut module, &Options::default()).expect("passes");
    for op in module.walk(module.top()) {
        assert!(module.location(op).line > 0, "{} has no line", module.name(op));
    }
}
