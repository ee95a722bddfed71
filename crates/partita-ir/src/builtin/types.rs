//! Types of the form, both ways.

use std::sync::Arc;

use super::MEMORY;
use crate::attr::{Attr, Attrs};
use crate::kind::OpKind;
use crate::module::{Module, Op};
use crate::types::{ArrayType, FunctionType, MemRefType, Size, Type};

const TOKEN: &str = "!async.token";

/// Whether an array is nothing but memory of one rank.
pub(super) fn is_plain(ty: &Type) -> bool {
    ty.as_array().is_some_and(|array| array.envs.is_empty() && array.layout.is_none())
}

/// The type of an array as the form has it.
pub(super) fn to_builtin(ty: &Type) -> Type {
    match ty {
        Type::Array(array) if is_plain(ty) => memory_of(array),
        Type::MemRef(memref) if is_ambiguous(memref) => {
            let mut more = memref.more.clone();
            more.push(mark());
            MemRefType { more, ..(**memref).clone() }.into()
        }
        Type::Handle => Type::Other(TOKEN.into()),
        Type::Function(function) => mapped(function, to_builtin).into(),
        _ => ty.clone(),
    }
}

/// The type that [`to_builtin`] was given.
pub(super) fn to_own(ty: &Type) -> Type {
    match ty {
        Type::MemRef(memref) => own_memory(memref),
        Type::Other(text) if **text == *TOKEN => Type::Handle,
        Type::Function(function) => mapped(function, to_own).into(),
        _ => ty.clone(),
    }
}

/// Gives every value, and every function, the type that `map` makes of its own.
pub(super) fn change_all(module: &mut Module, map: fn(&Type) -> Type) {
    for op in module.walk(module.top()) {
        let arguments = module.regions(op).iter().flat_map(|block| module.arguments(*block));
        let values: Vec<_> = arguments.chain(module.results(op)).copied().collect();
        for value in values {
            let ty = map(module.ty(value));
            module.set_ty(value, ty);
        }
        if module.kind(op) == OpKind::FuncFunc {
            change_function(module, op, map);
        }
    }
}

fn change_function(module: &mut Module, op: Op, map: fn(&Type) -> Type) {
    if let Some(Attr::Type(ty)) = module.attr(op, "function_type") {
        let ty = map(ty);
        module.attrs_mut(op).set("function_type", Attr::Type(ty));
    }
}

/// Whether some value already has the type that handles get.
pub(super) fn has_token(module: &Module, ops: &[Op]) -> bool {
    any_type(module, ops, |ty| matches!(ty, Type::Other(text) if **text == *TOKEN))
}

/// Whether something holds for the type of a value of these operations, or of a function.
pub(super) fn any_type(module: &Module, ops: &[Op], holds: impl Fn(&Type) -> bool) -> bool {
    ops.iter().any(|op| {
        let arguments = module.regions(*op).iter().flat_map(|block| module.arguments(*block));
        let mut values = arguments.chain(module.results(*op));
        let function = module.function_type(*op).filter(|_| module.kind(*op) == OpKind::FuncFunc);
        let mut of_function = function.iter().flat_map(|ty| ty.inputs.iter().chain(&ty.results));
        values.any(|value| holds(module.ty(*value))) || of_function.any(&holds)
    })
}

fn mapped(function: &FunctionType, map: fn(&Type) -> Type) -> FunctionType {
    let all = |types: &[Type]| types.iter().map(map).collect();
    FunctionType { inputs: all(&function.inputs), results: all(&function.results) }
}

fn memory_of(array: &ArrayType) -> Type {
    let (shape, element) = (array.shape.clone(), array.element);
    let more = vec![Attr::Other(any_strides(shape.len()))];
    MemRefType { shape, element, more }.into()
}

/// `strided<[?, ?], offset: ?>`
fn any_strides(ndim: usize) -> Arc<str> {
    format!("strided<[{}], offset: ?>", vec!["?"; ndim].join(", ")).into()
}

fn has_any_strides(attr: &Attr, shape: &[Size]) -> bool {
    let Attr::Other(text) = attr else { return false };
    let bare = |text: &str| text.replace(' ', "");
    bare(text) == bare(&any_strides(shape.len()))
}

fn mark() -> Attr {
    Attr::Dict(Arc::new(Attrs::new().with(MEMORY, Attr::Unit)))
}

/// Whether memory would be taken for an array on the way back, or for marked memory.
fn is_ambiguous(memref: &MemRefType) -> bool {
    match memref.more.as_slice() {
        [one] if has_any_strides(one, &memref.shape) => true,
        [.., last] => *last == mark(),
        [] => false,
    }
}

fn own_memory(memref: &MemRefType) -> Type {
    let (shape, element) = (memref.shape.clone(), memref.element);
    match memref.more.as_slice() {
        [one] if has_any_strides(one, &shape) => Type::array(&shape, element),
        [rest @ .., last] if *last == mark() => {
            MemRefType { shape, element, more: rest.to_vec() }.into()
        }
        _ => memref.clone().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_type;

    #[test]
    fn types_come_back_as_they_were() {
        let texts = [
            "!ndarray.ndarray<4x?xf64>",
            "!ndarray.ndarray<f32>",
            "memref<4xf64>",
            "memref<?xf64, strided<[?], offset: ?>>",
            "memref<?xf64, strided<[?], offset: ?>, {partita.memref}>",
            "!distruntime.asynchandle",
            "!ndarray.ndarray<4xf64, #region.gpu_env<device = \"a\">>",
            "index",
        ];
        for text in texts {
            let ty = parse_type(text).expect(text);
            assert_eq!(to_own(&to_builtin(&ty)), ty, "{text}");
        }
    }
}
