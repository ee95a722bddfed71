//! What a function is called with.

use std::rc::Rc;

use partita_ir::{Op, Scalar, Sign, Type};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{DistArray, Places, sliced};
use super::numbers::fitted;
use super::operators::fits_env;
use super::problem::{Outcome, Problem, RunError};
use super::value::{Number, Value, dtype_of};
use crate::api::can_cast;
use crate::local::Array;
use crate::sparse::SparseTensor;

/// An argument: a number, or a whole array that every rank gives alike.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A number.
    Number(Number),
    /// An array in C order.
    Array {
        /// Elements per dimension.
        shape: Vec<usize>,
        /// The element type; it is cast to that of the function's argument, if that has all its
        /// numbers.
        dtype: Dtype,
        /// The elements.
        bytes: std::sync::Arc<[u8]>,
    },
    /// A whole sparse tensor.
    Sparse(std::sync::Arc<SparseTensor>),
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
        self.grids = self.grids_of(&wanted);
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
                let whole = checked(*number, *scalar).map_err(Problem::Own)?;
                Ok(Value::Number(fitted(whole, *scalar)))
            }
            (Type::Tensor(tensor), argument) if tensor.encoding.is_some() => {
                self.tensor_argument(tensor, argument)
            }
            (Type::Scalar(scalar), Argument::Sparse(_)) => Err(Problem::Own(format!(
                "is a sparse tensor where {scalar} is wanted; give a number"
            ))),
            // A number that only unsigned ones of 64 bits have.
            (Type::Scalar(scalar), Argument::Array { shape, dtype: Dtype::UInt64, bytes })
                if shape.is_empty() =>
            {
                let word = bytes.first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
                large(word, *scalar).map(Value::Number).map_err(Problem::Own)
            }
            (Type::Scalar(scalar), Argument::Array { shape, .. }) => Err(Problem::Own(format!(
                "is an array of {shape:?} where {scalar} is wanted; give a number"
            ))),
            (ty, argument) => self.array_argument(ty, argument),
        }
    }

    /// Elements that the caller gave, as those of another type that has all of them.
    pub(super) fn elements(
        &self,
        shape: &[usize],
        (given, dtype): (Dtype, Dtype),
        bytes: &[u8],
    ) -> Outcome<Array> {
        if !can_cast(given, dtype) {
            return Err(Problem::Own(format!(
                "has elements of {given} where {dtype} is wanted, which cannot hold all of them; \
                 convert the array to {dtype} first"
            )));
        }
        if let Some(number) = inexact(given, dtype, bytes) {
            return Err(Problem::Own(format!(
                "has the element {number}, which {dtype} cannot hold; round the array first"
            )));
        }
        let engine = &self.engine;
        Ok(engine.cast(&engine.from_bytes(shape, given, bytes)?, dtype)?)
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
                let number = &checked(*number, element).map_err(Problem::Own)?;
                engine.fill(&[], super::value::to_scalar(*number, dtype)?)?
            }
            Argument::Number(_) => {
                let wanted = partita_ir::by_x(sizes);
                return Err(Problem::Own(format!(
                    "is a number where an array of {wanted} is wanted; give an array"
                )));
            }
            Argument::Sparse(_) => {
                return Err(Problem::Own(
                    "is a sparse tensor where a dense array is wanted; give an array".into(),
                ));
            }
            Argument::Array { shape, dtype: given, bytes } => {
                self.elements(shape, (*given, dtype), bytes)?
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
        if let Some(env) = ty.dist() {
            fits_env(&made, env)?;
        }
        Ok(Value::Dist(Rc::new(made.known(Places::owned(boxes)))))
    }
}

/// A large number as one of a type.
fn large(number: u64, ty: Scalar) -> Result<Number, String> {
    match ty {
        // Without a sign in the type, both readings of the bits are given.
        Scalar::Int { width: 64, sign: Sign::Unsigned | Sign::Signless } => {
            Ok(Number::Int(number as i64))
        }
        Scalar::F64 | Scalar::Complex64 if n_bits(number) <= 53 => {
            Ok(fitted(Number::Float(number as f64), ty))
        }
        _ => Err(format!("is {number} where {ty} is wanted; give a number that fits")),
    }
}

/// Binary digits of the numbers that a type holds exactly; nothing for whole numbers.
fn n_digits(ty: Scalar) -> Option<u32> {
    match ty {
        Scalar::F64 | Scalar::Complex64 => Some(53),
        Scalar::F32 | Scalar::Complex32 => Some(24),
        Scalar::F16 => Some(11),
        Scalar::Bf16 => Some(8),
        _ => None,
    }
}

/// Binary digits from the first that is 1 to the last.
fn n_bits(number: u64) -> u32 {
    if number == 0 { 0 } else { 64 - number.leading_zeros() - number.trailing_zeros() }
}

/// The first of whole numbers of 64 bits that a floating-point type does not hold.
fn inexact(given: Dtype, wanted: Dtype, bytes: &[u8]) -> Option<i128> {
    let digits = if wanted.real() == Dtype::Float64 { 53 } else { return None };
    let words = bytes.chunks_exact(8).filter_map(|word| word.try_into().ok());
    match given {
        Dtype::Int64 => {
            let mut words = words.map(i64::from_ne_bytes);
            words.find(|n| n_bits(n.unsigned_abs()) > digits).map(i128::from)
        }
        Dtype::UInt64 => {
            let mut words = words.map(u64::from_ne_bytes);
            words.find(|n| n_bits(*n) > digits).map(i128::from)
        }
        _ => None,
    }
}

/// The number, if the type has it: nothing is cut off silently.
fn checked(number: Number, ty: Scalar) -> Result<Number, String> {
    let refused = |cure: &str| Err(format!("is {number} where {ty} is wanted; give {cure}"));
    match (number, ty) {
        (Number::Complex(..), Scalar::Complex32 | Scalar::Complex64) => Ok(number),
        (Number::Complex(..), _) => refused("a real number"),
        (Number::Float(float), Scalar::Index | Scalar::Int { .. }) => {
            let is_whole = float.fract() == 0.0 && float.abs() < 9e18;
            if is_whole { checked(Number::Int(float as i64), ty) } else { refused("an integer") }
        }
        (Number::Int(int), Scalar::Int { width, sign }) if width < 64 => {
            let (bits, int) = (u32::from(width), i128::from(int));
            // Without a sign in the type, both readings of the bits are given.
            let low = if sign == Sign::Unsigned { 0 } else { -(1_i128 << (bits - 1)) };
            let high = if sign == Sign::Signed { 1_i128 << (bits - 1) } else { 1_i128 << bits };
            if (low..high).contains(&int) { Ok(number) } else { refused("a number that fits") }
        }
        (Number::Int(int), ty) if n_digits(ty).is_some_and(|n| n_bits(int.unsigned_abs()) > n) => {
            refused("one that it can hold")
        }
        _ => Ok(number),
    }
}
