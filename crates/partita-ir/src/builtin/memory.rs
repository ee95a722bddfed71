//! Views, writes and new arrays as operations on memory.

use super::lower::Lowering;
use super::{OP, SEGMENTS, lengths};
use crate::attr::Attr;
use crate::kind::OpKind;
use crate::module::{NewOp, Op, Value};
use crate::types::{ArrayType, Size, Type, shapes_may_equal};

const STATIC: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

impl Lowering {
    /// Writes an operation on memory; says whether it is one.
    pub(super) fn memory(&mut self, op: Op) -> bool {
        let done = match self.module.kind(op) {
            OpKind::NdarraySubview => self.subview(op),
            OpKind::NdarrayInsertSlice => self.insert_slice(op),
            OpKind::NdarrayCreate => self.create(op),
            OpKind::NdarrayCopy => self.copy(op),
            OpKind::NdarrayCast => self.renamed(op, "memref.cast"),
            OpKind::NdarrayDim => self.renamed(op, "memref.dim"),
            OpKind::NdarrayLoad => self.renamed(op, "memref.load"),
            OpKind::NdarrayDelete => self.renamed(op, "memref.dealloc"),
            _ => None,
        };
        done.is_some()
    }

    /// The same operands and results under another name.
    fn renamed(&mut self, op: Op, name: &str) -> Option<()> {
        let results = self.module.results(op).iter();
        let results: Vec<Type> = results.map(|value| self.module.ty(*value).clone()).collect();
        let operands = self.module.operands(op).to_vec();
        let new = self.standing_for(op, NewOp::named(name)).operands(&operands).results(results);
        let new = self.module.insert_before(op, new);
        let values = self.module.results(new).to_vec();
        self.replace(op, &values);
        Some(())
    }

    fn subview(&mut self, op: Op) -> Option<()> {
        let source = *self.module.operands_named(op, "source").first()?;
        let wanted = self.module.ty(self.module.result(op)).clone();
        let view = self.view(op, source)?;
        let ty = view.results[0].clone();
        if ty != wanted {
            let view = self.helper(op, view);
            let cast = self.standing_for_slice(op, NewOp::named("memref.cast"));
            return self.stand_in(op, cast.operands(&[view]).result(wanted));
        }
        let view = self.standing_for_slice(op, view);
        self.stand_in(op, view)
    }

    /// `memref.subview` of a value with an operation's slice.
    fn view(&self, op: Op, source: Value) -> Option<NewOp> {
        let numbers = self.module.attr(op, "static_sizes").and_then(Attr::as_i64s)?;
        let shape: Vec<Size> = numbers.iter().map(|n| Size::from_i64(*n)).collect::<Option<_>>()?;
        let element = self.module.ty(source).element()?;
        let dynamic = ["offsets", "sizes", "strides"].map(|n| self.module.operands_named(op, n));
        let groups = [1, dynamic[0].len(), dynamic[1].len(), dynamic[2].len()];
        let mut view = NewOp::named("memref.subview").operands(&[source]);
        view = view.operands(&dynamic.concat()).result(Type::array(&shape, element));
        for name in STATIC {
            view.attrs.set(name, self.module.attr(op, name)?.clone());
        }
        view.location = self.module.location(op);
        Some(view.attr(SEGMENTS, lengths(&groups)))
    }

    fn insert_slice(&mut self, op: Op) -> Option<()> {
        let [destination, source, ..] = *self.module.operands(op) else { return None };
        let view = self.view(op, destination)?;
        let (into, from) = (view.results[0].clone(), self.module.ty(source).clone());
        let is_copy = shapes_may_equal(into.shape()?, from.shape()?);
        let is_fill = from.shape()?.is_empty();
        if into.element() != from.element() || !(is_copy || is_fill) {
            return None;
        }
        let view = self.helper(op, view);
        let new = match is_copy {
            true => NewOp::named("memref.copy").operands(&[source, view]),
            false => self.filling(source, view),
        };
        let new = self.standing_for_slice(op, new);
        let new = self.module.insert_before(op, new);
        if !is_copy {
            self.yield_first(new);
        }
        self.replace(op, &[]);
        Some(())
    }

    /// Marks an operation that stands for one of ours, whose slice a view says.
    fn standing_for_slice(&self, op: Op, mut new: NewOp) -> NewOp {
        self.keep_attrs(op, &mut new, &STATIC);
        new.location = self.module.location(op);
        new.attr(OP, Attr::text(self.module.name(op)))
    }

    fn create(&mut self, op: Op) -> Option<()> {
        let shape = self.module.operands_named(op, "shape").to_vec();
        let value = self.module.operands_named(op, "value").first().copied();
        let array = self.module.ty(self.module.result(op)).as_array()?.clone();
        let fits = value.is_none_or(|v| self.module.ty(v).as_scalar() == Some(array.element));
        if shape.len() != array.shape.len() || !fits {
            return None;
        }
        let any = vec![Size::Dynamic; shape.len()];
        let alloc = self.allocation(op, Type::memref(&any, array.element), &shape);
        let Some(value) = value else {
            let cast = self.standing_for(op, NewOp::named("memref.cast")).operands(&[alloc]);
            return self.stand_in(op, cast.result(array.into()));
        };
        let cast = NewOp::named("memref.cast").operands(&[alloc]).result(array.into());
        let memory = self.helper(op, cast);
        let fill = self.standing_for(op, self.filling(value, memory));
        let fill = self.module.insert_before(op, fill);
        self.yield_first(fill);
        self.replace(op, &[memory]);
        Some(())
    }

    fn copy(&mut self, op: Op) -> Option<()> {
        let [source] = *self.module.operands(op) else { return None };
        let memory = self.fresh(op, &[source])?;
        let copy = self.standing_for(op, NewOp::named("memref.copy")).operands(&[source, memory]);
        self.module.insert_before(op, copy);
        self.replace(op, &[memory]);
        Some(())
    }

    /// Memory for an operation's result, as large as its operands say.
    pub(super) fn fresh(&mut self, op: Op, operands: &[Value]) -> Option<Value> {
        let array = self.module.ty(self.module.result(op)).as_array()?.clone();
        let from = |dim: usize| operands.iter().find_map(|v| self.decides(*v, dim, &array));
        let dims: Vec<usize> =
            (0..array.shape.len()).filter(|d| array.shape[*d] == Size::Dynamic).collect();
        let places: Vec<(Value, usize)> = dims.into_iter().map(from).collect::<Option<_>>()?;
        let sizes: Vec<Value> = places.into_iter().map(|(v, d)| self.size(op, v, d)).collect();
        let alloc = self.allocation(op, Type::memref(&array.shape, array.element), &sizes);
        let cast = NewOp::named("memref.cast").operands(&[alloc]).result(array.into());
        Some(self.helper(op, cast))
    }

    /// The dimension of an operand that has the size of a result's dimension.
    fn decides(&self, operand: Value, dim: usize, result: &ArrayType) -> Option<(Value, usize)> {
        let shape = self.module.ty(operand).shape()?;
        let dim = (dim + shape.len()).checked_sub(result.shape.len())?;
        (shape[dim] != Size::Known(1)).then_some((operand, dim))
    }

    fn size(&mut self, op: Op, array: Value, dim: usize) -> Value {
        let number = NewOp::new(OpKind::ArithConstant).result(Type::INDEX);
        let number = self.helper(op, number.attr("value", Attr::index(dim as i64)));
        let size = NewOp::named("memref.dim").operands(&[array, number]).result(Type::INDEX);
        self.helper(op, size)
    }

    fn allocation(&mut self, op: Op, ty: Type, sizes: &[Value]) -> Value {
        let alloc = NewOp::named("memref.alloc").operands(sizes).result(ty);
        self.helper(op, alloc.attr(SEGMENTS, lengths(&[sizes.len(), 0])))
    }

    /// Puts an operation with one result in place of ours.
    fn stand_in(&mut self, op: Op, new: NewOp) -> Option<()> {
        let new = self.module.insert_before(op, new);
        let value = self.module.result(new);
        self.replace(op, &[value]);
        Some(())
    }
}
