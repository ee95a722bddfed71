//! The corpus that Rust and Python share: every verdict, with its reasons.

use std::collections::BTreeSet;
use std::path::Path;

use partita_protocol::check::{Origin, from_tagged, one, ranks};
use partita_protocol::{Finding, Strictness, Value, json};

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
    let text = std::fs::read_to_string(path).expect("the corpus");
    match json::parse(&text).expect("JSON") {
        Value::List(cases) => cases,
        _ => panic!("the corpus is a list"),
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => panic!("a text"),
    }
}

fn judge(case: &Value, strictness: Strictness) -> Vec<Finding> {
    match case.get("ranks") {
        Some(values) => {
            let values: Vec<Value> =
                values.items().expect("a list").iter().cloned().map(from_tagged).collect();
            ranks(&values, Origin::Live, strictness)
        }
        None => {
            one(&from_tagged(case.get("value").expect("a value").clone()), Origin::Live, strictness)
        }
    }
}

fn reasons(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.reason).collect()
}

fn wanted<'a>(case: &'a Value, key: &str) -> Option<BTreeSet<&'a str>> {
    Some(case.get(key)?.items()?.iter().map(text).collect())
}

fn check(name: &str, at_least: usize) {
    let cases = cases(name);
    let mut wrong = Vec::new();
    let mut counts = (0, 0);
    for case in &cases {
        let found = judge(case, Strictness::Lenient);
        let is_accepted = found.is_empty();
        counts = (counts.0 + usize::from(is_accepted), counts.1 + usize::from(!is_accepted));
        if Some(reasons(&found)) != wanted(case, "reasons") {
            wrong.push(format!("{}: {found:?}", text(case.get("name").expect("a name"))));
        }
        let strict = judge(case, Strictness::Strict);
        if let Some(wanted) = wanted(case, "strict").filter(|wanted| *wanted != reasons(&strict)) {
            wrong.push(format!("strict {:?}: wanted {wanted:?}, {strict:?}", case.get("name")));
        }
        for finding in &found {
            assert!(finding.message.contains(' '), "{finding}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts.0 >= at_least && counts.1 >= at_least, "{counts:?}");
}

#[test]
fn partitioned() {
    check("partitioned.json", 60);
}

#[test]
fn distarray() {
    check("distarray.json", 60);
}
