//! What happens between ranks.

use super::array::{Dist, Local};
use super::{Item, ModelError, World};
use crate::module::{Op, Value};
use crate::passes::fold::{Range, default_partition};
use crate::types::{DistEnv, Size};

/// Positions of a box within another, in C order of the box.
fn positions(inner: &[Range], outer: &[Range]) -> Vec<usize> {
    let mut places = vec![0_i64];
    for (inner, outer) in inner.iter().zip(outer) {
        let steps = inner.offset - outer.offset..inner.stop() - outer.offset;
        places = places
            .into_iter()
            .flat_map(|place| steps.clone().map(move |step| place * outer.size + step))
            .collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

fn volume(ranges: &[Range]) -> i64 {
    ranges.iter().map(|range| range.size.max(0)).product()
}

fn whole(shape: &[i64]) -> Vec<Range> {
    shape.iter().map(|size| Range::new(0, *size)).collect()
}

/// The whole array: what is owned counts, then what is held.
pub(super) fn gather(arrays: &[&Dist]) -> Vec<f64> {
    let Some(first) = arrays.first() else { return Vec::new() };
    let all = whole(&first.shape);
    let mut data = vec![f64::NAN; volume(&all) as usize];
    let middle = first.parts.len() / 2;
    let parts = (0..first.parts.len()).filter(|part| *part != middle).chain([middle]);
    for part in parts {
        for array in arrays {
            let values = array.parts[part].read();
            if values.is_empty() {
                continue;
            }
            for (place, value) in positions(&array.part_box(part), &all).into_iter().zip(values) {
                data[place] = value;
            }
        }
    }
    data
}

impl World<'_> {
    pub(super) fn default_box(
        &self,
        op: Op,
        rank: usize,
        env: &DistEnv,
        shape: &[i64],
    ) -> Result<Vec<Range>, ModelError> {
        let mut found = whole(shape);
        let (mut rest, n) = (rank as i64, self.n_ranks as i64);
        let extents: Vec<i64> = match &env.grid {
            None => vec![n],
            Some(grid) => {
                let known: i64 =
                    grid.shape.iter().filter_map(|s| s.known()).product::<u64>() as i64;
                let extent = |size: &Size| size.known().map_or(n / known.max(1), |s| s as i64);
                grid.shape.iter().map(extent).collect()
            }
        };
        for (extent, dim) in extents.iter().zip(env.cut()).rev() {
            let part = default_partition(*extent, rest % extent, shape[*dim]);
            found[*dim] = part.ok_or_else(|| self.unknown(op))?;
            rest /= extent;
        }
        Ok(found)
    }

    pub(super) fn bind_argument(
        &mut self,
        function: Op,
        value: Value,
        data: &[f64],
    ) -> Result<(), ModelError> {
        let ty = self.module.ty(value).clone();
        for rank in 0..self.n_ranks {
            let item = match (ty.as_array(), ty.dist()) {
                (Some(array), env) => {
                    let known = |size: &Size| size.known().map(|size| size as i64);
                    let shape: Option<Vec<i64>> = array.shape.iter().map(known).collect();
                    let shape = shape.ok_or_else(|| self.unknown(function))?;
                    match env {
                        Some(env) => {
                            let at = self.default_box(function, rank, env, &shape)?;
                            Item::Dist(self.scattered(&shape, env, &at, data))
                        }
                        None => {
                            let local = Local::new(&shape, 0.0, self.with_data);
                            local.write(data);
                            Item::Local(local)
                        }
                    }
                }
                _ => Item::Number(match ty.as_scalar() {
                    Some(scalar) if scalar.is_float() => {
                        crate::attr::Attr::f64(data.first().copied().unwrap_or(0.0))
                    }
                    _ => crate::attr::Attr::index(data.first().copied().unwrap_or(0.0) as i64),
                }),
            };
            self.values[rank].insert(value, item);
        }
        Ok(())
    }

    /// One rank's part of a whole array.
    pub(super) fn scattered(
        &self,
        shape: &[i64],
        env: &DistEnv,
        at: &[Range],
        data: &[f64],
    ) -> Dist {
        let sizes: Vec<i64> = at.iter().map(|range| range.size).collect();
        let offsets: Vec<i64> = at.iter().map(|range| range.offset).collect();
        let local = Local::new(&sizes, 0.0, self.with_data);
        if self.with_data && !data.is_empty() {
            let values: Vec<f64> =
                positions(at, &whole(shape)).into_iter().map(|place| data[place]).collect();
            local.write(&values);
        }
        if shape.is_empty() {
            return Dist { shape: vec![], cut: vec![], offset: vec![], parts: vec![local] };
        }
        Dist::owned_alone(shape, env.cut(), &offsets, local)
    }

    pub(super) fn dist(&self, op: Op, rank: usize, value: Value) -> Result<&Dist, ModelError> {
        match self.values[rank].get(&value) {
            Some(Item::Dist(array)) => Ok(array),
            _ => Err(self.unknown(op)),
        }
    }

    pub(super) fn whole_array(&self, op: Op, value: Value) -> Result<Vec<f64>, ModelError> {
        if !self.with_data {
            return Ok(Vec::new());
        }
        let arrays: Result<Vec<&Dist>, ModelError> =
            (0..self.n_ranks).map(|rank| self.dist(op, rank, value)).collect();
        Ok(gather(&arrays?))
    }

    /// Counts an exchange; those of one message that follow each other count once.
    pub(super) fn count(&mut self, op: Op, bytes: u64) {
        let message = self.module.attr(op, "message").and_then(|number| number.as_int());
        if message.is_none() || message != self.message {
            self.counts.exchanges += 1;
        }
        self.message = message;
        self.counts.bytes += bytes;
    }

    /// An array with a box of it on every rank: what is owned is seen, the rest is copied.
    pub(super) fn moved(
        &mut self,
        op: Op,
        value: Value,
        boxes: &[Vec<Range>],
    ) -> Result<Vec<Dist>, ModelError> {
        let data = self.whole_array(op, value)?;
        let (mut results, mut n_fetched) = (Vec::new(), 0);
        for (rank, asked) in boxes.iter().enumerate() {
            let from = self.dist(op, rank, value)?.clone();
            let new = self.cut_at_owned(op, &from, asked, &data)?;
            n_fetched += volume(asked) - new.own().n_elements();
            results.push(new);
        }
        let bytes = n_fetched.max(0) as u64 * self.n_bytes(value);
        self.count(op, bytes);
        Ok(results)
    }

    fn cut_at_owned(
        &self,
        op: Op,
        from: &Dist,
        asked: &[Range],
        data: &[f64],
    ) -> Result<Dist, ModelError> {
        let all = whole(&from.shape);
        let fits = asked.iter().zip(&all).all(|(asked, all)| {
            asked.size == 0 || asked.size > 0 && asked.offset >= 0 && asked.stop() <= all.stop()
        });
        if !fits {
            return Err(self.inside(op, &format!("asks for {asked:?} of {:?}", from.shape)));
        }
        let owned = from.owned();
        let n_parts = 3_usize.pow(from.cut.len() as u32);
        let offset = asked.iter().map(|range| range.offset).collect();
        let mut new = Dist { parts: Vec::new(), offset, ..from.clone() };
        for part in 0..n_parts {
            let mut rest = part;
            let mut at = asked.to_vec();
            for dim in from.cut.iter().rev() {
                let clamp = |mark: i64| mark.clamp(asked[*dim].offset, asked[*dim].stop());
                let marks = [
                    asked[*dim].offset,
                    clamp(owned[*dim].offset),
                    clamp(owned[*dim].stop()),
                    asked[*dim].stop(),
                ];
                let stretch = rest % 3;
                rest /= 3;
                at[*dim] = Range::new(marks[stretch], marks[stretch + 1] - marks[stretch]);
            }
            let sizes: Vec<i64> = at.iter().map(|range| range.size).collect();
            new.parts.push(if part == n_parts / 2 {
                let inside = |range: &Range, owned: &Range| {
                    (range.offset - owned.offset).clamp(0, owned.size)
                };
                let offsets: Vec<i64> =
                    at.iter().zip(&owned).map(|(range, owned)| inside(range, owned)).collect();
                let ones = vec![1; sizes.len()];
                let window = from.own().window(&offsets, &sizes, &ones);
                window.ok_or_else(|| self.inside(op, "looks outside what is owned"))?
            } else {
                let local = Local::new(&sizes, 0.0, self.with_data);
                if self.with_data && volume(&at) > 0 {
                    let values: Vec<f64> =
                        positions(&at, &all).into_iter().map(|place| data[place]).collect();
                    if values.iter().any(|value| value.is_nan()) {
                        return Err(self.inside(op, "asks for what nobody holds"));
                    }
                    local.write(&values);
                }
                local
            });
        }
        Ok(new)
    }
}
