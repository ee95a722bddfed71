//! Types in the three spellings.

use super::super::Form;
use super::super::lexer::quoted;
use super::attrs::{attr_text, dict_text};
use crate::attr::{Attr, Attrs, DialectAttr, Placement};
use crate::types::{ArrayType, DistEnv, Env, FunctionType, Size, TensorType, Type, by_x};

/// The text of a type in a form.
#[must_use]
pub fn type_text(ty: &Type, form: Form) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.to_string(),
        Type::Array(array) => array_text(array, form),
        Type::Tensor(tensor) => tensor_text(tensor, form),
        Type::MemRef(memref) => {
            let mut text = shaped(&memref.shape, &memref.element.to_string());
            for attr in &memref.more {
                text.push_str(&format!(", {}", attr_text(attr, form)));
            }
            format!("memref<{text}>")
        }
        Type::Handle => "!distruntime.asynchandle".into(),
        Type::Function(function) => function_text(function, form),
        Type::None => "none".into(),
        Type::Other(text) => text.to_string(),
    }
}

/// `(A) -> B`
pub(super) fn function_text(function: &FunctionType, form: Form) -> String {
    let list =
        |types: &[Type]| types.iter().map(|ty| type_text(ty, form)).collect::<Vec<_>>().join(", ");
    let results = match function.results.as_slice() {
        [one] if !matches!(one, Type::Function(_)) => type_text(one, form),
        several => format!("({})", list(several)),
    };
    format!("({}) -> {results}", list(&function.inputs))
}

fn shaped(shape: &[Size], element: &str) -> String {
    if shape.is_empty() { element.into() } else { format!("{}x{element}", by_x(shape)) }
}

fn tensor_text(tensor: &TensorType, form: Form) -> String {
    let shape = shaped(&tensor.shape, &tensor.element.to_string());
    match &tensor.encoding {
        Some(Attr::Dialect(DialectAttr::Partition { sparse, dims })) if form == Form::Builtin => {
            format!("tensor<{shape}, {}>", dict_text(&partition_dict(sparse, dims), form))
        }
        Some(encoding) => format!("tensor<{shape}, {}>", attr_text(encoding, form)),
        None => format!("tensor<{shape}>"),
    }
}

/// What makes a tensor a partitioned one.
fn partition_dict(sparse: &Attr, dims: &[Placement]) -> Attrs {
    let dims = dims.iter().map(|dim| Attr::text(dim.name())).collect();
    let dict = Attrs::new().with("partition.dims", Attr::Array(dims));
    dict.with("partition.sparse", sparse.clone())
}

fn array_text(array: &ArrayType, form: Form) -> String {
    let shape = shaped(&array.shape, &array.element.to_string());
    match form {
        Form::Rfc => {
            let layout =
                array.layout.as_ref().map_or(String::new(), |l| format!(" : {}", quoted(l)));
            let envs: String =
                array.envs.iter().map(|env| format!(", {}", env_text(env, form))).collect();
            format!("!ndarray.ndarray<{shape}{layout}{envs}>")
        }
        Form::Generic => {
            let layout =
                array.layout.as_ref().map_or(String::new(), |l| format!(", {}", quoted(l)));
            format!("!ndarray.ndarray<tensor<{shape}{layout}>, {}>", envs_text(&array.envs, form))
        }
        Form::Builtin => format!("tensor<{shape}, {}>", dict_text(&array_dict(array), form)),
    }
}

fn envs_text(envs: &[Env], form: Form) -> String {
    match envs {
        [] => "unit".into(),
        [one @ Env::Dist(_)] => env_text(one, form),
        several => {
            let words: Vec<String> = several.iter().map(|env| env_text(env, form)).collect();
            format!("[{}]", words.join(", "))
        }
    }
}

/// An environment; where only builtin attributes are known, as in the generic form.
pub(super) fn env_text(env: &Env, form: Form) -> String {
    match env {
        Env::Dist(dist) if form == Form::Rfc => dist_by_words(dist, form),
        Env::Dist(dist) => dist_by_place(dist, form),
        Env::Gpu(device) if form == Form::Rfc => {
            format!("#region.gpu_env<device = {}>", quoted(device))
        }
        Env::Gpu(device) => format!("#region.gpu_env<{}>", quoted(device)),
        Env::Other(attr) => attr_text(attr, form),
    }
}

fn dist_by_words(dist: &DistEnv, form: Form) -> String {
    let team = match &dist.team {
        Attr::Int(number, crate::types::Scalar::I64) => number.to_string(),
        team => attr_text(team, form),
    };
    let mut text = format!("team = {team}");
    if let Some(grid) = &dist.grid {
        let shape: Vec<String> = grid.shape.iter().map(ToString::to_string).collect();
        text.push_str(&format!(" grid = [{}] cut = {:?}", shape.join(", "), grid.cut));
    }
    if !dist.loffs.is_empty() {
        let loffs: Vec<String> = dist.loffs.iter().map(ToString::to_string).collect();
        let lparts: Vec<String> = dist.lparts.iter().map(|part| by_x(part)).collect();
        text.push_str(&format!(" loffs = {} lparts = {}", loffs.join(","), lparts.join(",")));
    }
    format!("#dist.dist_env<{text}>")
}

/// Team, offsets and parts; for a grid its shape and cuts too.
fn dist_attrs(dist: &DistEnv) -> Vec<Attr> {
    let parts = dist.lparts.iter().map(|part| Attr::sizes(part)).collect();
    let mut attrs = vec![dist.team.clone(), Attr::sizes(&dist.loffs), Attr::Array(parts)];
    if let Some(grid) = &dist.grid {
        attrs.push(Attr::sizes(&grid.shape));
        attrs.push(Attr::I64s(grid.cut.iter().map(|dim| *dim as i64).collect()));
    }
    attrs
}

fn dist_by_place(dist: &DistEnv, form: Form) -> String {
    let words: Vec<String> = dist_attrs(dist).iter().map(|attr| attr_text(attr, form)).collect();
    let name = if dist.grid.is_some() { "grid_env" } else { "dist_env" };
    format!("#dist.{name}<{}>", words.join(", "))
}

/// What makes a tensor one of our arrays.
fn array_dict(array: &ArrayType) -> Attrs {
    let mut dict = Attrs::new().with("ndarray.array", Attr::Unit);
    if let Some(layout) = &array.layout {
        dict.set("ndarray.layout", Attr::Str(layout.clone()));
    }
    let mut others = Vec::new();
    for (place, env) in array.envs.iter().enumerate() {
        match env {
            Env::Dist(dist) => {
                let keys = ["dist.team", "dist.loffs", "dist.lparts", "dist.grid", "dist.cut"];
                for (key, attr) in keys.into_iter().zip(dist_attrs(dist)) {
                    dict.set(key, attr);
                }
            }
            Env::Gpu(device) => {
                dict.set("region.device", Attr::Str(device.clone()));
                if place == 0 && array.envs.len() > 1 {
                    dict.set("region.before_dist", Attr::Unit);
                }
            }
            Env::Other(attr) => others.push(attr.clone()),
        }
    }
    if !others.is_empty() {
        dict.set("ndarray.envs", Attr::Array(others.into()));
    }
    dict
}
