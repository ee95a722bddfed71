//! Reductions, of everything or along dimensions.

use super::{ModelError, World};
use crate::attr::Attr;
use crate::enums::Reduce;
use crate::module::Op;

impl World<'_> {
    /// An array's shape and elements after a reduction; no elements without data.
    pub(super) fn reduced(
        &self,
        op: Op,
        shape: &[i64],
        data: &[f64],
    ) -> Result<(Vec<i64>, Vec<f64>), ModelError> {
        let all: Vec<i64> = (0..shape.len() as i64).collect();
        let axes = self.module.attr(op, "axes").and_then(Attr::as_i64s).unwrap_or(&all);
        let keeps = self.module.attr(op, "keepdims").is_some();
        let goes = |dim: usize| axes.contains(&(dim as i64));
        let left: Vec<i64> =
            (0..shape.len()).map(|dim| if goes(dim) { 1 } else { shape[dim] }).collect();
        let stays = |dim: &usize| keeps || !goes(*dim);
        let new_shape = (0..shape.len()).filter(stays).map(|dim| left[dim]).collect();
        if !self.with_data {
            return Ok((new_shape, Vec::new()));
        }
        let n = left.iter().product::<i64>().max(0) as usize;
        let mut groups: Vec<Vec<f64>> = vec![Vec::new(); n];
        for (number, value) in data.iter().enumerate() {
            groups[place(number as i64, shape, &left)].push(*value);
        }
        let values: Result<Vec<f64>, ModelError> =
            groups.iter().map(|group| self.reduce(op, group)).collect();
        Ok((new_shape, values?))
    }

    /// A reduction of everything.
    pub(super) fn reduce(&self, op: Op, data: &[f64]) -> Result<f64, ModelError> {
        let number = self.module.attr(op, "op").and_then(Attr::as_int).unwrap_or(-1);
        let (n, sum) = (data.len() as f64, data.iter().sum::<f64>());
        match Reduce::from_number(number) {
            Some(Reduce::Sum) => Ok(sum),
            Some(Reduce::Prod) => Ok(data.iter().product()),
            Some(Reduce::Max) => Ok(data.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            Some(Reduce::Min) => Ok(data.iter().copied().fold(f64::INFINITY, f64::min)),
            Some(Reduce::Mean) => Ok(sum / n),
            Some(Reduce::Var) => Ok(self.variance(op, data)),
            Some(Reduce::Std) => Ok(self.variance(op, data).sqrt()),
            _ => Err(self.unknown(op)),
        }
    }

    fn variance(&self, op: Op, data: &[f64]) -> f64 {
        let correction = match self.module.attr(op, "correction") {
            Some(Attr::Float(number, _)) => number.0,
            Some(other) => other.as_int().unwrap_or(0) as f64,
            None => 0.0,
        };
        let n = data.len() as f64;
        let mean = data.iter().sum::<f64>() / n;
        data.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - correction).max(0.0)
    }
}

/// Where an element goes in an array whose reduced dimensions have the size 1.
fn place(number: i64, shape: &[i64], left: &[i64]) -> usize {
    let (mut rest, mut place, mut step) = (number, 0, 1);
    for dim in (0..shape.len()).rev() {
        let index = rest % shape[dim];
        rest /= shape[dim];
        place += if left[dim] == 1 { 0 } else { index * step };
        step *= left[dim];
    }
    place as usize
}
