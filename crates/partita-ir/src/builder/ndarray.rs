//! Operations of `ndarray`.

use super::Builder;
use crate::attr::Attr;
use crate::enums::{EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::module::{NewOp, Op, Value};
use crate::types::{DYNAMIC, Type};

/// A number of a slice: known, or a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// Known.
    Known(i64),
    /// An `index` value.
    Value(Value),
}

impl Entry {
    /// The number, if it is known.
    #[must_use]
    pub fn known(self) -> Option<i64> {
        match self {
            Self::Known(number) => Some(number),
            Self::Value(_) => None,
        }
    }
}

/// A strided slice, one entry per dimension in each list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Slices {
    /// First index.
    pub offsets: Vec<Entry>,
    /// Number of entries.
    pub sizes: Vec<Entry>,
    /// Distance of entries.
    pub strides: Vec<Entry>,
}

impl Slices {
    /// A slice of known numbers.
    #[must_use]
    pub fn known(offsets: &[i64], sizes: &[i64], strides: &[i64]) -> Self {
        let entries = |numbers: &[i64]| numbers.iter().map(|n| Entry::Known(*n)).collect();
        Self { offsets: entries(offsets), sizes: entries(sizes), strides: entries(strides) }
    }

    /// Dynamic operands of the three lists.
    fn operands(&self) -> [Vec<Value>; 3] {
        [&self.offsets, &self.sizes, &self.strides].map(|entries| {
            let values = entries.iter().filter_map(|entry| match entry {
                Entry::Value(value) => Some(*value),
                Entry::Known(_) => None,
            });
            values.collect()
        })
    }

    fn attrs(&self, new: NewOp) -> NewOp {
        let numbers = |entries: &[Entry]| {
            let number = |entry: &Entry| match entry {
                Entry::Known(number) => *number,
                Entry::Value(_) => DYNAMIC,
            };
            Attr::I64s(entries.iter().map(number).collect())
        };
        new.attr("static_offsets", numbers(&self.offsets))
            .attr("static_sizes", numbers(&self.sizes))
            .attr("static_strides", numbers(&self.strides))
    }
}

impl Builder<'_> {
    /// `ndarray.create`
    pub fn create(&mut self, shape: &[Value], value: Option<Value>, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayCreate).groups(&[shape, value.as_slice()]);
        self.value(new.result(result))
    }

    /// `ndarray.linspace` without its end point.
    pub fn linspace(&mut self, start: Value, stop: Value, num: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayLinspace, &[start, stop, num], result)
    }

    /// `ndarray.linspace` up to and with `stop`.
    pub fn linspace_to(&mut self, start: Value, stop: Value, num: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayLinspace).operands(&[start, stop, num]).result(result);
        self.value(new.attr("endpoint", Attr::Unit))
    }

    /// `ndarray.iota`
    pub fn iota(&mut self, shape: &[Value], axis: i64, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayIota).operands(shape).result(result);
        self.value(new.attr("axis", Attr::i64(axis)))
    }

    /// `ndarray.random`
    pub fn random(&mut self, key: Value, shape: &[Value], result: Type) -> Value {
        self.value(
            NewOp::new(OpKind::NdarrayRandom).operands(&[key]).operands(shape).result(result),
        )
    }

    /// `ndarray.ewbin`
    pub fn ewbin(&mut self, op: EwBin, lhs: Value, rhs: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayEwBin).operands(&[lhs, rhs]).result(result);
        self.value(new.attr("op", Attr::i32(op as i32)))
    }

    /// `ndarray.ewuny`
    pub fn ewuny(&mut self, op: EwUny, source: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayEwUny).operands(&[source]).result(result);
        self.value(new.attr("op", Attr::i32(op as i32)))
    }

    /// `ndarray.where`
    pub fn where_(&mut self, condition: Value, yes: Value, no: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayWhere, &[condition, yes, no], result)
    }

    /// `ndarray.reduction` of everything.
    pub fn reduce(&mut self, op: Reduce, input: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayReduction).operands(&[input]).result(result);
        self.value(new.attr("op", Attr::i32(op as i32)))
    }

    /// `ndarray.reduction` along dimensions; they stay with size 1 if the result has as many.
    pub fn reduce_axes(&mut self, op: Reduce, input: Value, axes: &[i64], result: Type) -> Value {
        let ndim = |ty: &Type| ty.shape().map_or(0, <[_]>::len);
        let keeps = !axes.is_empty() && ndim(&result) == ndim(self.module().ty(input));
        let new = NewOp::new(OpKind::NdarrayReduction).operands(&[input]).result(result);
        let new = new.attr("op", Attr::i32(op as i32)).attr("axes", Attr::i64s(axes));
        self.value(if keeps { new.attr("keepdims", Attr::Unit) } else { new })
    }

    /// `ndarray.cumulative`
    pub fn cumulative(&mut self, op: Reduce, input: Value, axis: i64, result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayCumulative).operands(&[input]).result(result);
        self.value(new.attr("op", Attr::i32(op as i32)).attr("axis", Attr::i64(axis)))
    }

    /// `ndarray.subview`
    pub fn subview(&mut self, source: Value, slices: &Slices, result: Type) -> Value {
        self.sliced(OpKind::NdarraySubview, source, slices, result)
    }

    /// `ndarray.extract_slice`
    pub fn extract_slice(&mut self, source: Value, slices: &Slices, result: Type) -> Value {
        self.sliced(OpKind::NdarrayExtractSlice, source, slices, result)
    }

    fn sliced(&mut self, kind: OpKind, source: Value, slices: &Slices, result: Type) -> Value {
        let [offsets, sizes, strides] = slices.operands();
        let new = NewOp::new(kind).groups(&[&[source], &offsets, &sizes, &strides]);
        self.value(slices.attrs(new).result(result))
    }

    /// `ndarray.insert_slice`
    pub fn insert_slice(&mut self, destination: Value, source: Value, slices: &Slices) -> Op {
        self.insert(inserted(OpKind::NdarrayInsertSlice, destination, source, slices))
    }

    /// `ndarray.immutable_insert_slice`
    pub fn immutable_insert_slice(
        &mut self,
        destination: Value,
        source: Value,
        slices: &Slices,
    ) -> Value {
        let kind = OpKind::NdarrayImmutableInsertSlice;
        let ty = self.ty(destination);
        self.value(inserted(kind, destination, source, slices).result(ty))
    }

    /// `ndarray.load`; nothing but an array has elements.
    pub fn load(&mut self, array: Value, indices: &[Value]) -> Value {
        let element = self.module().ty(array).element().map_or(Type::None, Type::Scalar);
        let new = NewOp::new(OpKind::NdarrayLoad).operands(&[array]).operands(indices);
        self.value(new.result(element))
    }

    /// `ndarray.copy`
    pub fn copy(&mut self, source: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayCopy, &[source], result)
    }

    /// `ndarray.cast`
    pub fn cast_shape(&mut self, source: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayCast, &[source], result)
    }

    /// `ndarray.cast_elemtype`
    pub fn cast_elemtype(&mut self, source: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayCastElemtype, &[source], result)
    }

    /// `ndarray.reshape`; `copy` as in the array API.
    pub fn reshape(
        &mut self,
        source: Value,
        shape: &[Value],
        copy: Option<bool>,
        result: Type,
    ) -> Value {
        let new = NewOp::new(OpKind::NdarrayReshape).operands(&[source]).operands(shape);
        let new = match copy {
            Some(copy) => new.attr("copy", Attr::Bool(copy)),
            None => new,
        };
        self.value(new.result(result))
    }

    /// `ndarray.permute_dims`
    pub fn permute_dims(&mut self, source: Value, axes: &[i64], result: Type) -> Value {
        let new = NewOp::new(OpKind::NdarrayPermuteDims).operands(&[source]).result(result);
        self.value(new.attr("axes", Attr::i64s(axes)))
    }

    /// `ndarray.dim`
    pub fn dim(&mut self, source: Value, dim: Value) -> Value {
        self.simple(OpKind::NdarrayDim, &[source, dim], Type::INDEX)
    }

    /// `ndarray.delete`
    pub fn delete(&mut self, array: Value) -> Op {
        self.insert(NewOp::new(OpKind::NdarrayDelete).operands(&[array]))
    }

    /// `ndarray.from_memref`
    pub fn from_memref(&mut self, memref: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayFromMemref, &[memref], result)
    }

    /// `ndarray.to_tensor`
    pub fn to_tensor(&mut self, array: Value, result: Type) -> Value {
        self.simple(OpKind::NdarrayToTensor, &[array], result)
    }
}

fn inserted(kind: OpKind, destination: Value, source: Value, slices: &Slices) -> NewOp {
    let [offsets, sizes, strides] = slices.operands();
    let groups: [&[Value]; 5] = [&[destination], &[source], &offsets, &sizes, &strides];
    slices.attrs(NewOp::new(kind).groups(&groups))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;
    use crate::types::{Scalar, Size};

    #[test]
    fn slices_split_into_operands_and_numbers() {
        let mut module = Module::new();
        let ty = Type::array(&[Size::Known(9)], Scalar::F64);
        let f = module.add_function("f", &[ty, Type::INDEX], &[]);
        let body = module.body(f).expect("a body");
        let (array, n) = (module.arguments(body)[0], module.arguments(body)[1]);
        let slices = Slices {
            offsets: vec![Entry::Known(2)],
            sizes: vec![Entry::Value(n)],
            strides: vec![Entry::Known(1)],
        };
        let mut b = Builder::at_end(&mut module, body);
        let view = b.subview(array, &slices, Type::array(&[Size::Dynamic], Scalar::F64));
        let op = module.defining_op(view).expect("an operation");
        assert_eq!(module.attr(op, "static_sizes"), Some(&Attr::i64s(&[DYNAMIC])));
        assert_eq!(module.attr(op, "static_offsets"), Some(&Attr::i64s(&[2])));
        assert_eq!(module.operands_named(op, "sizes"), [n]);
        assert!(module.operands_named(op, "offsets").is_empty());
        assert_eq!(module.slices(op), Some(slices));
        module.set_operand_group(op, 1, &[n]);
        assert_eq!(module.operands(op), [array, n, n]);
    }
}
