//! What a function is called with.

use std::rc::Rc;

use partita_ir::{Op, Type};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{DistArray, Places, sliced};
use super::numbers::fitted;
use super::problem::{Outcome, Problem, RunError};
use super::value::{Number, Value, dtype_of};

/// An argument: a number, or a whole array that every rank gives alike.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A number.
    Number(Number),
    /// An array in C order.
    Array {
        /// Elements per dimension.
        shape: Vec<usize>,
        /// The element type; it is cast to that of the function's argument.
        dtype: Dtype,
        /// The elements.
        bytes: std::sync::Arc<[u8]>,
    },
}

impl Runner<'_> {
    pub(super) fn arguments(
        &mut self,
        function: Op,
        name: &str,
        given: &[Argument],
    ) -> Outcome<Vec<Value>> {
        let body = self.module.body(function);
        let wanted = body.map_or(&[][..], |body| self.module.arguments(body)).to_vec();
        if wanted.len() != given.len() {
            let (n_given, n_wanted) = (given.len(), wanted.len());
            let name = name.to_string();
            return Err(Problem::Named(RunError::ArgumentCount { name, n_given, n_wanted }));
        }
        let mut values = Vec::new();
        for (number, (name, argument)) in wanted.iter().zip(given).enumerate() {
            let ty = self.module.ty(*name).clone();
            let value = self.argument(&ty, argument);
            values.push(value.map_err(|problem| match problem {
                Problem::Own(problem) => Problem::Named(RunError::Argument { number, problem }),
                other => other,
            })?);
        }
        Ok(values)
    }

    fn argument(&mut self, ty: &Type, argument: &Argument) -> Outcome<Value> {
        match (ty, argument) {
            (Type::Scalar(scalar), Argument::Number(number)) => {
                Ok(Value::Number(fitted(*number, *scalar)))
            }
            (Type::Scalar(scalar), Argument::Array { shape, .. }) => Err(Problem::Own(format!(
                "is an array of {shape:?} where {scalar} is wanted; give a number"
            ))),
            (ty, argument) => self.array_argument(ty, argument),
        }
    }

    fn array_argument(&mut self, ty: &Type, argument: &Argument) -> Outcome<Value> {
        let (Some(sizes), Some(element)) = (ty.shape(), ty.element()) else {
            return Err(Problem::Own(
                "has a type that cannot be given; use numbers and arrays".into(),
            ));
        };
        let dtype = dtype_of(element)?;
        let engine = self.engine.clone();
        let whole = match argument {
            Argument::Number(number) if sizes.is_empty() => {
                engine.fill(&[], super::value::to_scalar(&engine, *number, dtype)?)?
            }
            Argument::Number(_) => {
                let wanted = partita_ir::by_x(sizes);
                return Err(Problem::Own(format!(
                    "is a number where an array of {wanted} is wanted; give an array"
                )));
            }
            Argument::Array { shape, dtype: given, bytes } => {
                engine.cast(&engine.from_bytes(shape, *given, bytes)?, dtype)?
            }
        };
        let fits = sizes.len() == whole.ndim()
            && sizes
                .iter()
                .zip(whole.shape())
                .all(|(s, n)| s.known().is_none_or(|s| s == *n as u64));
        if !fits {
            let (given, wanted) = (whole.shape(), partita_ir::by_x(sizes));
            return Err(Problem::Own(format!(
                "has the shape {given:?} where {wanted} is wanted; give that shape"
            )));
        }
        let Some(cuts) = self.cuts_of(ty)? else { return Ok(Value::Array(whole)) };
        let shape: Vec<u64> = whole.shape().iter().map(|n| *n as u64).collect();
        let boxes = cuts.default_boxes(&shape, self.mover.n_ranks())?;
        let own = boxes[self.rank()].clone();
        let all = IndexBox { start: vec![0; shape.len()], shape: shape.clone() };
        // A copy: what other ranks have of it is not kept.
        let part = engine.copy(&sliced(&whole, &all, &own)?)?;
        engine.flush()?;
        let made = DistArray::owned(&shape, &cuts, &own.start, &part);
        Ok(Value::Dist(Rc::new(made.known(Places::owned(boxes)))))
    }
}
