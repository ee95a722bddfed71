//! What JSON has no words for, as objects with one tagged key.
//!
//! | written | means |
//! |---|---|
//! | `{"$tuple": [1, 2]}` | a tuple |
//! | `{"$dict": [[key, value], ...]}` | a dictionary with any keys |
//! | `{"$array": {"shape": [2], "dtype": "int64", "values": [1, 2]}}` | an array; values are optional, and so is `"device": "kDLCUDA:0"` |
//! | `{"$handle": "ObjectRef"}` | an opaque object of that type |
//! | `{"$function": "get"}` | something that can be called |

use std::sync::Arc;

use crate::location::Device;
use crate::value::{Facts, Role, Thing, Value};

/// Replaces tagged objects by what they mean.
#[must_use]
pub fn untag(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(untag).collect()),
        Value::Dict(entries) => untag_dict(entries),
        other => other,
    }
}

fn untag_dict(mut entries: Vec<(Value, Value)>) -> Value {
    let tag = match &entries[..] {
        [(Value::Text(tag), _)] if tag.starts_with('$') => Arc::clone(tag),
        _ => {
            return Value::Dict(entries.into_iter().map(|(k, v)| (untag(k), untag(v))).collect());
        }
    };
    let Some((key, content)) = entries.pop() else { return Value::Dict(entries) };
    match (&*tag, content) {
        ("$tuple", Value::List(items)) => Value::Tuple(items.into_iter().map(untag).collect()),
        ("$dict", Value::List(pairs)) => Value::Dict(pairs.into_iter().filter_map(pair).collect()),
        ("$array", Value::Dict(fields)) => array(&Value::Dict(fields)),
        ("$handle", Value::Text(kind)) => thing(kind, Role::Handle),
        ("$function", _) => thing("function".into(), Role::Function),
        (_, content) => Value::Dict(vec![(key, untag(content))]),
    }
}

fn pair(value: Value) -> Option<(Value, Value)> {
    let Value::List(items) = value else { return None };
    let [key, value] = <[Value; 2]>::try_from(items).ok()?;
    Some((untag(key), untag(value)))
}

fn thing(kind: Arc<str>, role: Role) -> Value {
    Value::Thing(Thing { kind, role, number: usize::MAX })
}

fn array(fields: &Value) -> Value {
    let text = |key: &str, or: &str| match fields.get(key) {
        Some(Value::Text(text)) => Arc::clone(text),
        _ => or.into(),
    };
    let numbers = |key: &str| -> Option<Vec<i64>> {
        let items = fields.get(key)?.items()?;
        let number = |item: &Value| match item {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        items.iter().map(number).collect()
    };
    let values = numbers("values");
    let length =
        || fields.get("values").and_then(Value::items).map(|items| vec![items.len() as i64]);
    let shape = numbers("shape").or_else(length).unwrap_or_default();
    let dtype = text("dtype", "float64");
    let facts = Facts {
        shape: shape.into_iter().map(|extent| extent.unsigned_abs()).collect(),
        defect: fields.get("defect").map(|_| text("defect", "")),
        // Tables do not say where they lie.
        device: Device::parse(&text("device", "kDLCPU")).filter(|_| !dtype.is_empty()),
        dtype,
        numbers: values.map(Into::into),
    };
    thing(text("type", "numpy.ndarray"), Role::Array(facts.into()))
}
