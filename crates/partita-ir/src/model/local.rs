//! Operations on the arrays of one rank.

use super::array::Local;
use super::{Item, ModelError, World};
use crate::attr::Attr;
use crate::enums::{EwBin, EwUny};
use crate::kind::OpKind;
use crate::module::{Op, Value};

/// The shape of arrays that are combined; nothing if they do not fit.
fn combined_shape(inputs: &[&Local]) -> Option<Vec<i64>> {
    let ndim = inputs.iter().map(|input| input.shape.len()).max()?;
    let mut shape = vec![1; ndim];
    for input in inputs {
        let skip = ndim - input.shape.len();
        for (found, size) in shape[skip..].iter_mut().zip(&input.shape) {
            match (*found, *size) {
                (1, size) => *found = size,
                (found, size) if found == size || size == 1 => {}
                _ => return None,
            }
        }
    }
    Some(shape)
}

/// An array's elements repeated to a shape.
fn repeated(input: &Local, shape: &[i64]) -> Vec<f64> {
    let data = input.read();
    if input.shape == shape || data.is_empty() {
        return data;
    }
    let skip = shape.len() - input.shape.len();
    let n: i64 = shape.iter().product();
    let place = |number: i64| {
        let mut rest = number;
        let (mut place, mut step) = (0, 1);
        for dim in (0..shape.len()).rev() {
            let index = rest % shape[dim];
            rest /= shape[dim];
            if dim >= skip {
                let size = input.shape[dim - skip];
                place += if size == 1 { 0 } else { index } * step;
                step *= size;
            }
        }
        place as usize
    };
    (0..n).map(|number| data[place(number)]).collect()
}

fn binary(op: EwBin, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        EwBin::Add => a + b,
        EwBin::Subtract => a - b,
        EwBin::Multiply => a * b,
        EwBin::TrueDivide => a / b,
        EwBin::Maximum => a.max(b),
        EwBin::Minimum => a.min(b),
        EwBin::Less => f64::from(a < b),
        EwBin::Greater => f64::from(a > b),
        EwBin::Equal => f64::from(a == b),
        _ => return None,
    })
}

fn unary(op: EwUny, a: f64) -> Option<f64> {
    Some(match op {
        EwUny::Abs => a.abs(),
        EwUny::Negative => -a,
        EwUny::Positive => a,
        EwUny::Square => a * a,
        EwUny::Sqrt => a.sqrt(),
        EwUny::Exp => a.exp(),
        EwUny::Sin => a.sin(),
        EwUny::Cos => a.cos(),
        _ => return None,
    })
}

impl World<'_> {
    pub(super) fn array(&self, op: Op, rank: usize, value: Value) -> Result<&Local, ModelError> {
        match self.values[rank].get(&value) {
            Some(Item::Local(array)) => Ok(array),
            _ => Err(self.unknown(op)),
        }
    }

    /// An operator on arrays of one rank.
    pub(super) fn combine(&self, op: Op, inputs: &[&Local]) -> Result<Local, ModelError> {
        let fits = combined_shape(inputs);
        let shape = fits.ok_or_else(|| {
            let shapes: Vec<_> = inputs.iter().map(|input| &input.shape).collect();
            self.inside(op, &format!("combines {shapes:?}"))
        })?;
        let result = Local::new(&shape, 0.0, self.with_data);
        if !self.with_data || result.n_elements() == 0 {
            return Ok(result);
        }
        let number = self.module.attr(op, "op").and_then(Attr::as_int).unwrap_or(-1);
        let data: Vec<Vec<f64>> = inputs.iter().map(|input| repeated(input, &shape)).collect();
        let n = result.n_elements() as usize;
        let element = |at: usize| match self.module.kind(op) {
            OpKind::NdarrayEwBin | OpKind::DistEwBin => {
                binary(EwBin::from_number(number)?, data[0][at], data[1][at])
            }
            OpKind::NdarrayEwUny | OpKind::DistEwUny => {
                unary(EwUny::from_number(number)?, data[0][at])
            }
            OpKind::NdarrayWhere | OpKind::DistWhere => {
                Some(if data[0][at] != 0.0 { data[1][at] } else { data[2][at] })
            }
            OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype => Some(data[0][at]),
            _ => None,
        };
        let values: Option<Vec<f64>> = (0..n).map(element).collect();
        result.write(&values.ok_or_else(|| self.unknown(op))?);
        Ok(result)
    }

    /// Writes a source into a window; a source without dimensions fills it.
    pub(super) fn fill(&self, op: Op, into: &Local, source: &Local) -> Result<(), ModelError> {
        if !source.shape.is_empty() && source.shape != into.shape {
            let what = format!("writes {:?} into {:?}", source.shape, into.shape);
            return Err(self.inside(op, &what));
        }
        if self.with_data {
            let data = if source.shape.is_empty() {
                vec![source.read()[0]; into.n_elements().max(0) as usize]
            } else {
                source.read()
            };
            into.write(&data);
        }
        Ok(())
    }
}
