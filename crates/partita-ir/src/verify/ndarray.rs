//! Rules of `ndarray`.

use super::arrays::shape_of;
use super::{Check, VerifyError, shape_text, shown};
use crate::attr::Attr;
use crate::enums::{EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::types::{Scalar, Size, Type};

impl Check<'_> {
    pub(super) fn ndarray(&mut self) {
        match self.module.kind(self.op) {
            OpKind::NdarraySubview => {
                self.slicing();
                self.same_grid("source");
            }
            OpKind::NdarrayExtractSlice => self.slicing(),
            OpKind::NdarrayInsertSlice => self.inserting(),
            OpKind::NdarrayImmutableInsertSlice => {
                self.inserting();
                let (result, wanted) = (self.result().clone(), self.single("destination").clone());
                self.result_is(&result, &wanted);
            }
            OpKind::NdarrayDelete => self.deleting(),
            OpKind::NdarrayDim => self.dim(),
            OpKind::NdarrayLoad => self.load(),
            OpKind::NdarrayFromMemref | OpKind::NdarrayToTensor => self.alike("input"),
            OpKind::NdarrayCopy => self.alike("source"),
            OpKind::NdarrayCast => {
                self.alike("source");
                self.same_grid("source");
            }
            OpKind::NdarrayCastElemtype => {
                let (result, input) = (shape_of(self.result()), shape_of(self.single("input")));
                self.same_shape("the result", &result, &input);
            }
            OpKind::NdarrayLinspace => self.linspace(),
            OpKind::NdarrayCreate => self.create(),
            OpKind::NdarrayIota | OpKind::NdarrayRandom => self.generated(),
            OpKind::NdarrayReshape => self.reshape(),
            OpKind::NdarrayEwBin => self.ewbin(),
            OpKind::NdarrayEwUny => self.ewuny(),
            OpKind::NdarrayWhere => self.choosing(),
            OpKind::NdarrayReduction => self.reduction(),
            OpKind::NdarrayCumulative => self.cumulative(),
            OpKind::NdarrayPermuteDims => self.permute(),
            _ => {}
        }
    }

    pub(super) fn slicing(&mut self) {
        let (shape, element) = (shape_of(self.single("source")), self.single("source").element());
        if let Some(sizes) = self.slice_of(&shape) {
            self.slice_result(&sizes);
        }
        let result = self.result().element();
        self.same_element(result, element);
    }

    fn inserting(&mut self) {
        let (destination, source) = (self.single("destination"), self.single("source"));
        let (shape, source_shape) = (shape_of(destination), shape_of(source));
        let (wanted, found) = (destination.element(), source.element());
        self.same_element(found, wanted);
        if let Some(sizes) = self.slice_of(&shape).filter(|_| !source_shape.is_empty()) {
            self.same_shape("the source", &source_shape, &sizes);
        }
    }

    fn result_is(&mut self, found: &Type, wanted: &Type) {
        if found != wanted {
            let (op, found, wanted) = (self.name(), shown(found), shown(wanted));
            self.report(VerifyError::ResultType { op, found, wanted });
        }
    }

    /// The result has the operand's shape and element type.
    fn alike(&mut self, group: &str) {
        let (from, to) = (self.single(group).clone(), self.result().clone());
        if from.shape().is_some() {
            self.same_shape("the result", &shape_of(&to), &shape_of(&from));
            self.same_element(to.element(), from.element());
        }
    }

    fn dim(&mut self) {
        let ndim = shape_of(self.single("source")).len();
        let axis = self.group("index").first().and_then(|value| self.constant(*value));
        if let Some(axis) = axis {
            self.axes(&[axis], ndim);
        }
    }

    fn load(&mut self) {
        let array = self.single("array").clone();
        self.one_per_dim("indices", shape_of(&array).len());
        let wanted = array.element().map_or(Type::None, Type::Scalar);
        let found = self.result().clone();
        self.result_is(&found, &wanted);
    }

    fn linspace(&mut self) {
        let shape = shape_of(self.result());
        if shape.len() != 1 {
            self.same_shape("the result", &shape, &[Size::Dynamic]);
        }
    }

    fn create(&mut self) {
        self.shape_operands();
        let wanted = self.result().element();
        if let Some(value) = self.group("value").first() {
            let found = self.ty(*value).element();
            self.same_element(found, wanted);
        }
    }

    fn generated(&mut self) {
        self.shape_operands();
        let ndim = shape_of(self.result()).len();
        if let Some(axis) = self.module.attr(self.op, "axis").and_then(Attr::as_int) {
            self.axes(&[axis], ndim);
        }
    }

    /// One operand per dimension of the result, and those that are known agree.
    fn shape_operands(&mut self) {
        let shape = shape_of(self.result());
        self.one_per_dim("shape", shape.len());
        let given: Vec<Size> = self
            .group("shape")
            .iter()
            .map(|value| self.constant(*value).and_then(Size::from_i64).unwrap_or(Size::Dynamic))
            .collect();
        if given.len() == shape.len() {
            self.same_shape("the result", &shape, &given);
        }
    }

    fn reshape(&mut self) {
        self.shape_operands();
        let (from, to) = (shape_of(self.single("source")), shape_of(self.result()));
        let count = |shape: &[Size]| -> Option<u128> {
            shape.iter().try_fold(1_u128, |n, size| n.checked_mul(u128::from(size.known()?)))
        };
        let (n_from, n_to) = (count(&from), count(&to));
        if n_from.is_some() && n_to.is_some() && n_from != n_to {
            let (found, wanted) = (shape_text(&to), shape_text(&from));
            self.report(VerifyError::ReshapeSize { found, wanted });
        }
        let (found, wanted) = (self.result().element(), self.single("source").element());
        self.same_element(found, wanted);
    }

    fn operator(&self) -> i64 {
        self.module.attr(self.op, "op").and_then(Attr::as_int).unwrap_or(-1)
    }

    pub(super) fn ewbin(&mut self) {
        self.one_device();
        let operator = EwBin::from_number(self.operator());
        if operator != Some(EwBin::MatMul) {
            self.broadcast(&["lhs", "rhs"]);
        }
        let compares = operator.is_some_and(EwBin::gives_bool);
        self.bool_result(compares);
        if let Some(operator) = operator {
            self.binary_operator(operator);
        }
        if !compares {
            self.keeps_complex(&["lhs", "rhs"]);
        }
    }

    pub(super) fn ewuny(&mut self) {
        self.broadcast(&["source"]);
        let operator = EwUny::from_number(self.operator());
        let asks = operator.is_some_and(EwUny::gives_bool);
        self.bool_result(asks);
        if let Some(operator) = operator {
            self.unary_operator(operator);
        }
        if !asks && !matches!(operator, Some(EwUny::Abs | EwUny::Real | EwUny::Imag)) {
            self.keeps_complex(&["source"]);
        }
    }

    fn bool_result(&mut self, wanted: bool) {
        if wanted {
            let found = self.result().element();
            self.same_element(found, Some(Scalar::BOOL));
        }
    }

    pub(super) fn choosing(&mut self) {
        self.broadcast(&["condition", "lhs", "rhs"]);
        self.keeps_complex(&["lhs", "rhs"]);
        let condition = self.single("condition").element();
        self.same_element(condition, Some(Scalar::BOOL));
    }

    fn reduction(&mut self) {
        let shape = shape_of(self.single("input"));
        let all: Vec<i64> = (0..shape.len() as i64).collect();
        let axes =
            self.module.attr(self.op, "axes").and_then(Attr::as_i64s).unwrap_or(&all).to_vec();
        if !self.axes(&axes, shape.len()) {
            return;
        }
        let keeps = self.module.attr(self.op, "keepdims").is_some();
        let is_reduced = |dim: usize| axes.contains(&(dim as i64));
        let wanted: Vec<Size> = (0..shape.len())
            .filter(|dim| keeps || !is_reduced(*dim))
            .map(|dim| if is_reduced(dim) { Size::Known(1) } else { shape[dim] })
            .collect();
        let result = shape_of(self.result());
        self.same_shape("the result", &result, &wanted);
        let kind = Reduce::from_number(self.operator());
        self.bool_result(matches!(kind, Some(Reduce::All | Reduce::Any)));
        if matches!(kind, Some(Reduce::Sum | Reduce::Prod | Reduce::Mean)) {
            self.keeps_complex(&["input"]);
        }
    }

    fn cumulative(&mut self) {
        let mut wanted = shape_of(self.single("input"));
        let axis = self.module.attr(self.op, "axis").and_then(Attr::as_int).unwrap_or(-1);
        if !self.axes(&[axis], wanted.len()) {
            return;
        }
        let kind = Reduce::from_number(self.operator()).unwrap_or(Reduce::Sum);
        if ![Reduce::Sum, Reduce::Prod, Reduce::Max, Reduce::Min].contains(&kind) {
            let (op, name) = (self.name(), kind.name().to_string());
            self.report(VerifyError::ReductionKind { op, name });
        }
        if self.module.attr(self.op, "initial").is_some() {
            let size = &mut wanted[axis as usize];
            *size = size.known().map_or(Size::Dynamic, |size| Size::Known(size.saturating_add(1)));
        }
        let result = shape_of(self.result());
        self.same_shape("the result", &result, &wanted);
        self.keeps_complex(&["input"]);
    }

    fn permute(&mut self) {
        let shape = shape_of(self.single("source"));
        let axes = self.module.attr(self.op, "axes").and_then(Attr::as_i64s).unwrap_or_default();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        let ndim = shape.len();
        if !sorted.iter().copied().eq(0..ndim as i64) {
            let axes = axes.to_vec();
            return self.report(VerifyError::AxesNotPermutation { axes, ndim });
        }
        let wanted: Vec<Size> = axes.iter().map(|axis| shape[*axis as usize]).collect();
        let (result, elements) =
            (shape_of(self.result()), (self.result().element(), self.single("source").element()));
        self.same_shape("the result", &result, &wanted);
        self.same_element(elements.0, elements.1);
    }
}
