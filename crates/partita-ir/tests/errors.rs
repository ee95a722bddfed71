//! Texts that are no programs: the reason, the line and the column of everything found.

use partita_ir::{parse, parse_bytes};

fn found(text: &str) -> Vec<(&'static str, u32, u32)> {
    let found = parse(text).map(drop).expect_err(text);
    found.iter().map(|d| (d.error.reason(), d.location.line, d.location.column)).collect()
}

#[test]
fn problems_are_pointed_at() {
    let cases = [
        ("func.func @f( {", "expected", 15),
        ("func.func @f(%a: indx) { return }", "unknown-type", 18),
        ("func.func @f(%a: !x) { return }", "unknown-alias", 18),
        ("func.func @f(%a: tensor<4xf99>) { return }", "bad-element", 27),
        ("func.func @f(%a: tensor<99999999999999999999xf64>) { return }", "number-too-large", 25),
        ("func.func @f() { return %a : index }", "unknown-value", 25),
        ("func.func @f(%a: index, %a: index) { return }", "repeated-value", 25),
        ("func.func @f(%a: index) { return %a#1 : index }", "value-number", 34),
        ("func.func @f(%a: index) { return %a : f64 }", "operand-type", 37),
        ("func.func @f(%a: index) { return %a : index, index }", "operand-type-count", 37),
        ("func.func @f() { %a, %b = arith.constant 1 : index }", "result-count", 18),
        ("func.func @f() { nobody.knows }", "unknown-operation", 18),
        ("func.func @f() { %a = arith.constant 300 : i8 }", "number-too-large", 38),
        ("func.func @f() { %a = arith.constant 1.0 : i8 }", "number-too-large", 38),
        ("\"a.b\"() {x = \"open", "open-string", 14),
        ("\"a.b\"() {x = \"\\q\"} : () -> ()", "bad-escape", 14),
        ("€", "stray-character", 1),
        ("#a = 1\n", "", 0),
        ("\"a.b\"() ({\n^bb0:\n\"a.c\"() : () -> ()\n^bb1:\n}) : () -> ()", "several-blocks", 1),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64, #dist.dist_env<team = 1>>)",
            "offsets-missing",
            42,
        ),
        (
            "func.func @f(%a: !ndarray.ndarray<f64, #dist.dist_env<team = 1>) { return }",
            "expected",
            64,
        ),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 loffs = 0 lparts = 1,2>>)",
            "parts-count",
            56,
        ),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 loffs = 0 lparts = 1x1>>)",
            "part-dims",
            56,
        ),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 grid = [2] cut = [1] loffs = 0 lparts = 1>>)",
            "cut-dims",
            56,
        ),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 grid = [2, 2] cut = [0] loffs = 0 lparts = 1>>)",
            "grid-axes",
            56,
        ),
        ("#p = #partition.encoding<unit, [\"everywhere\"]>", "placement-name", 33),
        (
            "func.func @f(%a: !ndarray.ndarray<4xf64>) { %b = ndarray.ewuny root %a : (!ndarray.ndarray<4xf64>) -> !ndarray.ndarray<4xf64> }",
            "operator-name",
            64,
        ),
        (
            "func.func @f(%a: index) { \"dist.local_bounding_box\"(%a, %a) : (index, index) -> () }",
            "segment-sizes",
            27,
        ),
        ("func.func @f() {", "end-missing", 17),
        ("#a = 1 #a = 2", "repeated-alias", 8),
    ];
    for (text, reason, column) in cases {
        if reason.is_empty() {
            assert!(parse(text).is_ok());
            continue;
        }
        let found = found(text);
        assert_eq!((found[0].0, found[0].2), (reason, column), "{text}: {found:?}");
    }
}

#[test]
fn several_are_found_at_once_and_none_follows_from_another() {
    let text = "func.func @f(%n: index) {
  %a = arith.constant 1 : indx
  %b = arith.addi %a, %n : index
  %c = arith.addi %n, %missing : index
  %d = dist.nothing %c : index
  return %d : index
}
func.func @g() {
  return %x : index
}
";
    let wanted = [
        ("bad-element", 2, 27),
        ("unknown-value", 4, 23),
        ("unknown-operation", 5, 8),
        ("unknown-value", 9, 10),
    ];
    let reasons = found(text);
    assert_eq!(reasons, wanted);
}

#[test]
fn depth_is_bounded() {
    let deep =
        |open: &str, close: &str| format!("#a = {}1{}", open.repeat(5000), close.repeat(5000));
    assert_eq!(found(&deep("[", "]"))[0].0, "too-deep");
    assert_eq!(found(&deep("{a = ", "}"))[0].0, "too-deep");
    let regions = format!("{}{}", "\"a.b\"() ({\n".repeat(5000), "}) : () -> ()\n".repeat(5000));
    assert_eq!(found(&regions)[0].0, "too-deep");
    let loops = "func.func @f(%n: index) {\n".to_string()
        + &"scf.for %i = %n to %n step %n {\n".repeat(5000);
    assert!(!found(&loops).is_empty());
}

#[test]
fn errors_end_after_twenty_and_bytes_must_be_text() {
    let text = "\"a.b\"(%x) : (index) -> ()\n".repeat(100);
    let all = found(&text);
    assert_eq!((all.len(), all.last().map(|one| one.0)), (20, Some("too-many")));
    let bad = parse_bytes(b"func.func @f() {\n  \xff}").map(drop).expect_err("no text");
    assert_eq!(bad.reasons(), ["bad-utf8"]);
    let place = bad.iter().next().expect("one").location;
    assert_eq!((place.line, place.column), (2, 3));
}
