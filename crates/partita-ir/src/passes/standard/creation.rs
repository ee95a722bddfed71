//! New arrays: every rank makes its own part.

use super::Lowering;
use super::parts::Parts;
use crate::enums::EwBin;
use crate::kind::OpKind;
use crate::module::{Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::{Scalar, Size, Type};

impl Lowering<'_> {
    /// Filled with a value, or not at all.
    pub(super) fn create(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let result = module.result(op);
        self.env(result)?;
        let shape = module.operand_group(op, 0).to_vec();
        let value = module.operand_group(op, 1).first().copied();
        if !self.is_of_sizes(result, &shape) {
            return None;
        }
        let owned = self.own_box(result, &shape)?;
        let ty = self.local(&owned.sizes, self.element(result));
        let local = self.emit.build().create(&owned.sizes, value, ty);
        self.give_part(op, local, &owned)
    }

    /// Indices along a dimension: those of the part, moved to where it begins.
    pub(super) fn iota(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let (result, shape) = (module.result(op), module.operands(op).to_vec());
        let axis = usize::try_from(module.attr(op, "axis")?.as_int()?).ok()?;
        if !self.is_of_sizes(result, &shape) || axis >= shape.len() {
            return None;
        }
        let owned = self.own_box(result, &shape)?;
        let indices = self.indices(&owned, axis);
        let local = self.cast_to(indices, self.element(result));
        self.give_part(op, local, &owned)
    }

    /// Numbers at even distances, each computed from its index.
    pub(super) fn linspace(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let [start, stop, num] = *module.operands(op) else { return None };
        let (result, to_stop) = (module.result(op), module.attr(op, "endpoint").is_some());
        let num = match *module.ty(num) {
            Type::INDEX => num,
            _ => return None,
        };
        if !self.is_of_sizes(result, &[num]) {
            return None;
        }
        let owned = self.own_box(result, &[num])?;
        let (start, stop) = (self.as_float(start)?, self.as_float(stop)?);
        let step = self.step(start, stop, num, to_stop)?;
        let indices = self.indices(&owned, 0);
        let places = self.cast_to(indices, Scalar::F64);
        let distances = self.with_number(EwBin::Multiply, places, step);
        let numbers = self.with_number(EwBin::Add, distances, start);
        let local = self.cast_to(numbers, self.element(result));
        self.give_part(op, local, &owned)
    }

    /// The distance of two numbers that are `num`, or one less, steps away from each other.
    fn step(&mut self, start: Value, stop: Value, num: Value, to_stop: bool) -> Option<Value> {
        let one = self.emit.index(1);
        let n_steps = if to_stop { self.emit.sub(num, one) } else { num };
        let n_steps = self.emit.max(n_steps, one);
        let n_steps = self.as_float(n_steps)?;
        let mut b = self.emit.build();
        let distance = b.subf(stop, start);
        Some(b.divf(distance, n_steps))
    }

    /// A number as `f64`; nothing for types that are not read in one way alone.
    fn as_float(&mut self, value: Value) -> Option<Value> {
        let scalar = self.emit.module.ty(value).as_scalar()?;
        let mut b = self.emit.build();
        match scalar {
            Scalar::F64 => Some(value),
            Scalar::F32 => Some(b.cast(OpKind::ArithExtf, value, Scalar::F64)),
            Scalar::Index => {
                let wide = b.cast(OpKind::ArithIndexCast, value, Scalar::I64);
                Some(b.cast(OpKind::ArithSitofp, wide, Scalar::F64))
            }
            Scalar::I64 | Scalar::I32 => Some(b.cast(OpKind::ArithSitofp, value, Scalar::F64)),
            _ => None,
        }
    }

    /// Global indices of a part along a dimension, as `i64`.
    fn indices(&mut self, owned: &BoxOf, axis: usize) -> Value {
        let ty = self.local(&owned.sizes, Scalar::I64);
        let local = self.emit.build().iota(&owned.sizes, axis as i64, ty);
        let start = owned.offsets[axis];
        if self.emit.known(start) == Some(0) {
            return local;
        }
        let start = self.emit.build().cast(OpKind::ArithIndexCast, start, Scalar::I64);
        self.with_number(EwBin::Add, local, start)
    }

    /// An operator on a local array and a number of its type.
    fn with_number(&mut self, op: EwBin, array: Value, number: Value) -> Value {
        let ty = self.emit.module.ty(array).clone();
        let single = Type::array(&[], self.element(array));
        let number = self.emit.build().create(&[], Some(number), single);
        self.emit.build().ewbin(op, array, number, ty)
    }

    fn cast_to(&mut self, array: Value, element: Scalar) -> Value {
        if self.element(array) == element {
            return array;
        }
        let shape = self.emit.module.ty(array).shape().unwrap_or(&[]).to_vec();
        self.emit.build().cast_elemtype(array, Type::array(&shape, element))
    }

    /// What a rank owns of a new array.
    fn own_box(&mut self, result: Value, shape: &[Value]) -> Option<BoxOf> {
        let env = self.env(result)?;
        Some(match shape {
            [] => BoxOf { offsets: Vec::new(), sizes: Vec::new() },
            shape => self.emit.default_box(&env, shape),
        })
    }

    fn give_part(&mut self, op: Op, local: Value, owned: &BoxOf) -> Option<()> {
        let cut = self.env(self.emit.module.result(op))?.cut().to_vec();
        let stops = self.ends(owned);
        self.give(op, &Parts::owned_alone(&owned.offsets, &stops, local, &cut));
        Some(())
    }

    /// Whether the sizes that an array is made with are for sure those of its type.
    pub(super) fn is_of_sizes(&self, array: Value, sizes: &[Value]) -> bool {
        let shape = self.emit.module.ty(array).shape().unwrap_or(&[]);
        let same = |(size, value): (&Size, &Value)| {
            size.known().is_none() || self.emit.known(*value) == Some(size.as_i64())
        };
        shape.len() == sizes.len() && shape.iter().zip(sizes).all(same)
    }
}
