//! What several operations on arrays have in common: shapes, elements, teams.

use super::{Check, VerifyError, shape_text};
use crate::attr::Attr;
use crate::module::Value;
use crate::text::{Form, type_text};
use crate::types::{Env, Scalar, Size, Type, shapes_may_equal};

impl Check<'_> {
    /// All distributed arrays of an operation belong to one team.
    pub(super) fn one_team(&mut self) {
        let module = self.module;
        let values = module.operands(self.op).iter().chain(module.results(self.op));
        let teams: Vec<&Attr> =
            values.filter_map(|value| module.ty(*value).dist()).map(|dist| &dist.team).collect();
        let Some(first) = teams.first() else { return };
        if let Some(second) = teams.iter().find(|team| *team != first) {
            let (op, first) = (self.name(), team_text(first));
            self.report(VerifyError::TeamsDiffer { op, first, second: team_text(second) });
        }
    }

    /// All arrays of an operation live on one device, as far as their types name one.
    pub(super) fn one_device(&mut self) {
        let module = self.module;
        let values = module.operands(self.op).iter().chain(module.results(self.op));
        let device = |value: &Value| {
            let envs = module.ty(*value).as_array().map_or(&[][..], |array| &array.envs);
            envs.iter().find_map(|env| match env {
                Env::Gpu(device) => Some(device.to_string()),
                _ => None,
            })
        };
        let devices: Vec<String> = values.filter_map(device).collect();
        let Some(first) = devices.first().cloned() else { return };
        if let Some(second) = devices.into_iter().find(|device| *device != first) {
            let op = self.name();
            self.report(VerifyError::DevicesDiffer { op, first, second });
        }
    }

    /// Complex numbers are not cut down to their real parts on the way.
    pub(super) fn keeps_complex(&mut self, groups: &[&str]) {
        let is_complex =
            |ty: &Type| matches!(ty.element(), Some(Scalar::Complex32 | Scalar::Complex64));
        let given = groups.iter().any(|group| is_complex(self.single(group)));
        if given && !is_complex(self.result()) {
            let found = self.result().element().map_or("nothing".into(), |s| s.to_string());
            let op = self.name();
            self.report(VerifyError::ComplexLost { op, found });
        }
    }

    /// What lies where its source lies is cut as its source is.
    pub(super) fn same_grid(&mut self, group: &str) {
        let (from, to) = (self.single(group), self.result());
        let same = match (from.dist(), to.dist()) {
            (Some(from), Some(to)) => from.grid == to.grid,
            _ => true,
        };
        if !same && shape_of(from).len() == shape_of(to).len() {
            let op = self.name();
            self.report(VerifyError::GridsDiffer { op });
        }
    }

    /// `what` has a shape that may be the wanted one.
    pub(super) fn same_shape(&mut self, what: &str, found: &[Size], wanted: &[Size]) {
        if !shapes_may_equal(found, wanted) {
            let (op, what) = (self.name(), what.to_string());
            let (found, wanted) = (shape_text(found), shape_text(wanted));
            self.report(VerifyError::ShapesDiffer { op, what, found, wanted });
        }
    }

    pub(super) fn same_element(&mut self, found: Option<Scalar>, wanted: Option<Scalar>) {
        if found != wanted {
            let text = |scalar: Option<Scalar>| scalar.map_or("none".into(), |s| s.to_string());
            let (op, found, wanted) = (self.name(), text(found), text(wanted));
            self.report(VerifyError::ElementsDiffer { op, found, wanted });
        }
    }

    /// The result has the shape that arrays of these types give together.
    pub(super) fn broadcast(&mut self, groups: &[&str]) {
        let shapes: Vec<Vec<Size>> = groups.iter().map(|g| shape_of(self.single(g))).collect();
        let mut joined: Vec<Size> = Vec::new();
        for shape in &shapes {
            match joined_shape(&joined, shape) {
                Some(shape) => joined = shape,
                None => {
                    let words: Vec<String> = shapes.iter().map(|s| shape_text(s)).collect();
                    let op = self.name();
                    return self.report(VerifyError::NotBroadcast { op, shapes: words.join(", ") });
                }
            }
        }
        let result = shape_of(self.result());
        self.same_shape("the result", &result, &joined);
    }

    /// A group has one value per dimension.
    pub(super) fn one_per_dim(&mut self, group: &str, ndim: usize) {
        let found = self.group(group).len();
        if found != ndim {
            let (op, group) = (self.name(), group.to_string());
            let wanted = format!("{ndim}, one per dimension");
            self.report(VerifyError::OperandCount { op, group, found, wanted });
        }
    }

    /// A group has one value per dimension, or none.
    pub(super) fn none_or_one_per_dim(&mut self, group: &str, ndim: usize) {
        let found = self.group(group).len();
        if found != 0 && found != ndim {
            let (op, name) = (self.name(), group.to_string());
            self.report(VerifyError::TargetCount { op, name, found, ndim });
        }
    }

    /// Two groups are both there or both not.
    pub(super) fn together(&mut self, first: &str, second: &str) {
        let (a, b) = (self.group(first).len(), self.group(second).len());
        if a != b {
            let (op, group) = (self.name(), second.to_string());
            let wanted = format!("{a}, as many as for {first}");
            self.report(VerifyError::OperandCount { op, group, found: b, wanted });
        }
    }

    pub(super) fn result_count(&mut self, wanted: usize) {
        let found = self.module.results(self.op).len();
        if found != wanted {
            let op = self.name();
            self.report(VerifyError::ResultCount { op, found, wanted: wanted.to_string() });
        }
    }

    /// Names of dimensions: inside, each once.
    pub(super) fn axes(&mut self, axes: &[i64], ndim: usize) -> bool {
        let outside = |axis: &i64| usize::try_from(*axis).map_or(true, |axis| axis >= ndim);
        let repeated = |at: usize| axes[..at].contains(&axes[at]);
        let wrong = (0..axes.len()).find(|at| outside(&axes[*at]) || repeated(*at));
        if let Some(at) = wrong {
            let (op, axis) = (self.name(), axes[at]);
            self.report(VerifyError::AxisOutside { op, axis, ndim });
        }
        wrong.is_none()
    }

    /// The number of a constant `index`.
    pub(super) fn constant(&self, value: Value) -> Option<i64> {
        let op = self.module.defining_op(value)?;
        let is_constant = self.module.kind(op) == crate::kind::OpKind::ArithConstant;
        self.module.attr(op, "value").filter(|_| is_constant)?.as_int()
    }
}

pub(super) fn team_text(team: &Attr) -> String {
    match team {
        Attr::Int(number, _) => number.to_string(),
        Attr::Str(text) => format!("\"{text}\""),
        Attr::Type(ty) => type_text(ty, Form::Rfc),
        other => format!("{other:?}"),
    }
}

pub(super) fn shape_of(ty: &Type) -> Vec<Size> {
    ty.shape().unwrap_or_default().to_vec()
}

/// The shape that two shapes give together; nothing if they do not go together.
fn joined_shape(a: &[Size], b: &[Size]) -> Option<Vec<Size>> {
    let ndim = a.len().max(b.len());
    let at = |shape: &[Size], dim: usize| {
        (dim + shape.len()).checked_sub(ndim).map_or(Size::Known(1), |place| shape[place])
    };
    (0..ndim).map(|dim| joined_size(at(a, dim), at(b, dim))).collect()
}

fn joined_size(a: Size, b: Size) -> Option<Size> {
    match (a, b) {
        (Size::Known(1), other) | (other, Size::Known(1)) => Some(other),
        (Size::Dynamic, known) | (known, Size::Dynamic) => Some(known),
        (a, b) => (a == b).then_some(a),
    }
}
