//! Writing to what an index selects.
use super::error::Result;
use super::function::{Operand, choose};
use super::index::{Key, select};
use crate::local::{Array, Engine, Input};

/// `array[keys] = value`: the value in the array's type, repeated to the shape of what is selected.
///
/// # Errors
/// As [`select`]; shapes that do not fit; numbers that the type does not have.
pub fn assign(engine: &Engine, array: &Array, keys: &[Key], value: Operand<'_>) -> Result<()> {
    write(engine, &select(array, keys)?, value)
}

/// One value wherever a mask of the first dimensions is true: needs no positions.
///
/// # Errors
/// Shapes that do not fit; numbers that the type does not have.
pub fn fill_where(engine: &Engine, array: &Array, mask: &Array, value: Operand<'_>) -> Result<()> {
    let mut wide = mask.clone();
    for dim in mask.ndim()..array.ndim() {
        wide = wide.with_axis(dim);
    }
    let value = match value {
        Operand::Array(value) => engine.cast(value, array.dtype())?,
        Operand::Number(number) => engine.fill(&[], number.to_scalar(array.dtype())?)?,
    };
    let made = choose(engine, &wide, Operand::Array(&value), Operand::Array(array))?;
    Ok(array.write(&made)?)
}

fn write(engine: &Engine, view: &Array, value: Operand<'_>) -> Result<()> {
    match value {
        Operand::Number(number) => {
            Ok(engine.write(view, Input::Number(number.to_scalar(view.dtype())?))?)
        }
        Operand::Array(source) => {
            let source = engine.cast(&trimmed(source, view.ndim()), view.dtype())?;
            Ok(view.write(&source)?)
        }
    }
}

/// A source without dimensions of size 1 in front of those it is written to: they mean nothing.
fn trimmed(source: &Array, ndim: usize) -> Array {
    let n_extra = source.ndim().saturating_sub(ndim);
    let fits = source.shape()[..n_extra].iter().all(|size| *size == 1);
    let extra: Vec<usize> = (0..if fits { n_extra } else { 0 }).collect();
    source.without_axes(&extra)
}
