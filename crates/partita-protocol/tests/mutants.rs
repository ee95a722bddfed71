//! The corpus with random changes: any verdict will do, a panic will not, and none takes long.

use std::path::Path;

use partita_oracle::Rng;
use partita_protocol::check::{Origin, file, from_tagged, one, ranks};
use partita_protocol::{Strictness, Value, json};

fn corpus() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut values = Vec::new();
    for name in ["partitioned.json", "distarray.json"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("the corpus");
        let cases = json::parse(&text).expect("JSON");
        for case in cases.items().expect("a list") {
            values.extend(["value", "ranks"].iter().filter_map(|key| case.get(key).cloned()));
        }
    }
    values
}

fn rubbish(rng: &mut Rng) -> Value {
    let numbers = [0, 1, -1, 2, 64, 65, i64::MAX, i64::MIN, 1 << 62];
    match rng.between(0, 9) {
        0 => Value::Null,
        1 => Value::Bool(rng.one_in(2)),
        2..=4 => Value::Int(numbers[rng.between(0, numbers.len() as u64 - 1) as usize]),
        5 => Value::Huge("1".repeat(60).as_str().into()),
        6 => Value::Float([f64::NAN, 0.0, 1e300, f64::INFINITY][rng.between(0, 3) as usize]),
        7 => Value::text(["", "b", "kDLCPU", "(0, 0)", "0.10.0"][rng.between(0, 4) as usize]),
        8 => Value::List(vec![Value::Int(1); rng.between(0, 70) as usize]),
        _ => Value::Dict(Vec::new()),
    }
}

/// Changes one place, chosen on the way down.
fn mutate(value: &mut Value, rng: &mut Rng) {
    let n_inside = match value {
        Value::List(items) | Value::Tuple(items) => items.len(),
        Value::Dict(entries) => entries.len(),
        _ => 0,
    };
    if n_inside == 0 || rng.one_in(8) {
        *value = match value {
            Value::Int(number) if rng.one_in(2) => Value::Int(number.wrapping_add(1)),
            _ => rubbish(rng),
        };
        return;
    }
    let at = rng.between(0, n_inside as u64 - 1) as usize;
    match value {
        Value::List(items) | Value::Tuple(items) => match rng.between(0, 9) {
            0 => drop(items.remove(at)),
            1 => items.push(items[at].clone()),
            _ => mutate(&mut items[at], rng),
        },
        Value::Dict(entries) => match rng.between(0, 9) {
            0 => drop(entries.remove(at)),
            1 => mutate(&mut entries[at].0, rng),
            2 => entries.push(entries[at].clone()),
            _ => mutate(&mut entries[at].1, rng),
        },
        _ => {}
    }
}

#[test]
fn no_change_makes_a_check_panic() {
    let corpus = corpus();
    let mut counts = [0_u64; 2];
    for seed in 0..partita_oracle::n_cases(20_000) {
        let rng = &mut Rng::new(seed);
        let chosen = rng.between(0, corpus.len() as u64 - 1) as usize;
        let mut tagged = corpus[chosen].clone();
        for _ in 0..rng.between(1, 3) {
            mutate(&mut tagged, rng);
        }
        let _ = file(&tagged, Strictness::Strict);
        let mut value = from_tagged(tagged);
        mutate(&mut value, rng);
        let found = match &value {
            Value::List(values) => ranks(values, Origin::Live, Strictness::Lenient),
            value => one(value, Origin::Live, Strictness::Lenient),
        };
        counts[usize::from(found.is_empty())] += 1;
        for finding in found {
            assert!(!finding.reason.is_empty() && finding.message.len() < 1000, "seed {seed}");
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
