//! Writing to what an index selects.

use partita_kernel::Dtype;

use super::error::Result;
use super::function::{Operand, choose};
use super::gather::scatter;
use super::index::{Key, Selected, select};
use crate::local::{Array, Engine, Input};

/// `array[keys] = value`: the value in the array's type, repeated to the shape of what is selected.
///
/// # Errors
/// As [`select`]; shapes that do not fit; numbers that the type does not have.
pub fn assign(engine: &Engine, array: &Array, keys: &[Key], value: Operand<'_>) -> Result<()> {
    if let [Key::Array(mask)] = keys
        && mask.dtype() == Dtype::Bool
        && is_single(&value)
        && array.shape().starts_with(mask.shape())
    {
        return assign_where(engine, array, mask, value);
    }
    match select(engine, array, keys)? {
        Selected::View(view) => write(engine, &view, value),
        Selected::Elements { view, axes, indices, at } => {
            let source = match value {
                Operand::Array(source) => {
                    let n_common = indices.iter().map(Array::ndim).max().unwrap_or(0);
                    let ndim = view.ndim() - axes.len() + n_common;
                    engine.cast(&trimmed(source, ndim), array.dtype())?
                }
                Operand::Number(number) => engine.fill(&[], number.to_scalar(array.dtype())?)?,
            };
            scatter(&view, &axes, &indices, at, &source)
        }
    }
}

fn is_single(value: &Operand<'_>) -> bool {
    match value {
        Operand::Array(array) => array.ndim() == 0,
        Operand::Number(_) => true,
    }
}

/// One value wherever a mask is true: needs no positions.
fn assign_where(engine: &Engine, array: &Array, mask: &Array, value: Operand<'_>) -> Result<()> {
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
