//! One operation on all ranks.

use super::array::{Dist, Local};
use super::{Item, ModelError, World};
use crate::attr::Attr;
use crate::builder::Entry;
use crate::kind::OpKind;
use crate::module::{Op, Value};
use crate::passes::fold::{self, Range};
use crate::types::{DistEnv, Size};

type Numbers = [Vec<i64>; 3];

impl World<'_> {
    pub(super) fn step(&mut self, op: Op) -> Result<(), ModelError> {
        let kind = self.module.kind(op);
        let dialect = kind.dialect();
        if dialect == "arith" || dialect == "math" {
            return self.arithmetic(op);
        }
        let dist = self.module.operands(op).iter().chain(self.module.results(op));
        let is_dist = dist.clone().any(|value| self.module.ty(*value).dist().is_some());
        if is_dist && dialect == "ndarray" {
            return self.global(op);
        }
        match kind {
            OpKind::RuntimeTeamSize => self.each(op, |w, _| Ok(vec![number(w.n_ranks as i64)])),
            OpKind::RuntimeTeamMember => self.each(op, |_, rank| Ok(vec![number(rank as i64)])),
            OpKind::RuntimeGetHalo => self.get_halo(op),
            OpKind::RuntimeWait => {
                self.n_open = self.n_open.saturating_sub(1);
                Ok(())
            }
            OpKind::RuntimeAllreduce => self.allreduce(op),
            OpKind::RuntimeCopyReshape | OpKind::RuntimeCopyPermute => self.copy_across(op),
            OpKind::DistRepartition => self.repartition(op),
            OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => self.held_op(op),
            OpKind::DistSubview => self.each(op, |w, rank| w.dist_view(op, rank)),
            _ => self.each(op, |w, rank| w.local_step(op, rank)),
        }
    }

    fn each(
        &mut self,
        op: Op,
        run: impl Fn(&Self, usize) -> Result<Vec<Item>, ModelError>,
    ) -> Result<(), ModelError> {
        for rank in 0..self.n_ranks {
            let items = run(self, rank)?;
            self.note_loop(op, rank, &items);
            let results = self.module.results(op).iter().copied();
            self.values[rank].extend(results.zip(items));
        }
        Ok(())
    }

    /// The largest loop that runs while data are under way.
    fn note_loop(&mut self, op: Op, rank: usize, items: &[Item]) {
        let looping = [OpKind::NdarrayEwBin, OpKind::NdarrayEwUny, OpKind::NdarrayWhere];
        if let (true, Some(Item::Local(local))) = (self.n_open > 0, items.first())
            && looping.contains(&self.module.kind(op))
        {
            let core = &mut self.counts.cores[rank];
            if core.is_empty() || core.iter().product::<i64>() < local.n_elements() {
                core.clone_from(&local.shape);
            }
        }
    }

    fn arithmetic(&mut self, op: Op) -> Result<(), ModelError> {
        let to =
            self.module.ty(self.module.result(op)).as_scalar().ok_or_else(|| self.unknown(op))?;
        self.each(op, |world, rank| {
            let constant = world.module.attr(op, "value");
            if let (OpKind::ArithConstant, Some(value)) = (world.module.kind(op), constant) {
                return Ok(vec![Item::Number(value.clone())]);
            }
            let number = |value: &Value| match world.values[rank].get(value) {
                Some(Item::Number(attr)) => Some(attr),
                _ => None,
            };
            let operands: Option<Vec<&Attr>> =
                world.module.operands(op).iter().map(number).collect();
            let operands = operands.ok_or_else(|| world.unknown(op))?;
            let (kind, attrs) = (world.module.kind(op), world.module.attrs(op));
            let found = fold::arith::result(kind, &operands, attrs, to);
            Ok(vec![Item::Number(found.ok_or_else(|| world.unknown(op))?)])
        })
    }

    fn slice(&self, op: Op, rank: usize) -> Result<Numbers, ModelError> {
        let slices = self.module.slices(op).ok_or_else(|| self.unknown(op))?;
        let list = |entries: &[Entry]| -> Result<Vec<i64>, ModelError> {
            let one = |entry: &Entry| match entry {
                Entry::Known(number) => Ok(*number),
                Entry::Value(value) => self.index(op, rank, *value),
            };
            entries.iter().map(one).collect()
        };
        Ok([list(&slices.offsets)?, list(&slices.sizes)?, list(&slices.strides)?])
    }

    fn group(&self, op: Op, rank: usize, group: usize) -> Result<Vec<i64>, ModelError> {
        self.indices(op, rank, self.module.operand_group(op, group))
    }

    fn box_group(&self, op: Op, rank: usize, group: usize) -> Result<Vec<Range>, ModelError> {
        let (offsets, sizes) = (self.group(op, rank, group)?, self.group(op, rank, group + 1)?);
        Ok(offsets.into_iter().zip(sizes).map(|(o, s)| Range::new(o, s)).collect())
    }

    /// Operations that touch nothing but one rank.
    fn local_step(&self, op: Op, rank: usize) -> Result<Vec<Item>, ModelError> {
        let operands = self.module.operands(op);
        let first = operands.first().copied();
        let unknown = || self.unknown(op);
        match self.module.kind(op) {
            OpKind::NdarrayCreate => {
                let shape = self.group(op, rank, 0)?;
                let value = self.module.operand_group(op, 1).first();
                let value = value.map_or(Ok(0.0), |value| self.float(op, rank, *value))?;
                Ok(vec![Item::Local(Local::new(&shape, value, self.with_data))])
            }
            OpKind::NdarraySubview => {
                let source = self.array(op, rank, first.ok_or_else(unknown)?)?;
                let [offsets, sizes, strides] = self.slice(op, rank)?;
                let view = source.window(&offsets, &sizes, &strides);
                let what =
                    || format!("takes {offsets:?} {sizes:?} {strides:?} of {:?}", source.shape);
                let view = view.ok_or_else(|| self.inside(op, &what()))?;
                Ok(vec![Item::Local(self.without_ones(op, view)?)])
            }
            OpKind::NdarrayInsertSlice => {
                let into = self.array(op, rank, operands[0])?;
                let source = self.array(op, rank, operands[1])?;
                let [offsets, sizes, strides] = self.slice(op, rank)?;
                let what =
                    || format!("writes {offsets:?} {sizes:?} {strides:?} of {:?}", into.shape);
                let into = into.window(&offsets, &sizes, &strides);
                self.fill(op, &into.ok_or_else(|| self.inside(op, &what()))?, source)?;
                Ok(Vec::new())
            }
            OpKind::NdarrayEwBin
            | OpKind::NdarrayEwUny
            | OpKind::NdarrayWhere
            | OpKind::NdarrayCopy
            | OpKind::NdarrayCastElemtype => {
                let inputs: Result<Vec<&Local>, ModelError> =
                    operands.iter().map(|value| self.array(op, rank, *value)).collect();
                Ok(vec![Item::Local(self.combine(op, &inputs?)?)])
            }
            OpKind::NdarrayReduction => {
                let source = self.array(op, rank, first.ok_or_else(unknown)?)?;
                let (shape, data) = self.reduced(op, &source.shape, &source.read())?;
                let reduced = Local::new(&shape, 0.0, self.with_data);
                reduced.write(&data);
                Ok(vec![Item::Local(reduced)])
            }
            OpKind::NdarrayDim => {
                let dim = self.index(op, rank, operands[1])? as usize;
                let source = self.array(op, rank, operands[0])?;
                Ok(vec![number(*source.shape.get(dim).ok_or_else(unknown)?)])
            }
            OpKind::NdarrayDelete => Ok(Vec::new()),
            _ => self.dist_step(op, rank),
        }
    }

    /// A view with the dimensions that its type has; those of size 1 may be gone.
    fn without_ones(&self, op: Op, mut view: Local) -> Result<Local, ModelError> {
        let wrong = || self.inside(op, "has another shape than its type");
        let wanted = self.module.ty(self.module.result(op)).shape().unwrap_or(&[]);
        view.keep(&self.module.kept_dims(op).ok_or_else(wrong)?);
        let fits = |(n, size): (&i64, &Size)| size.may_equal(Size::Known(*n as u64));
        view.shape.iter().zip(wanted).all(fits).then_some(()).ok_or_else(wrong)?;
        Ok(view)
    }

    fn dist_step(&self, op: Op, rank: usize) -> Result<Vec<Item>, ModelError> {
        let unknown = || self.unknown(op);
        let array = self.module.operands(op).first().copied();
        let numbers = |ranges: &[Range]| -> Vec<Item> {
            let offsets = ranges.iter().map(|range| number(range.offset));
            offsets.chain(ranges.iter().map(|range| number(range.size))).collect()
        };
        match self.module.kind(op) {
            OpKind::DistPartsOf => {
                let array = self.dist(op, rank, array.ok_or_else(unknown)?)?;
                Ok(array.parts.iter().cloned().map(Item::Local).collect())
            }
            OpKind::DistLocalOffsetsOf => {
                let array = self.dist(op, rank, array.ok_or_else(unknown)?)?;
                Ok(array.offset.iter().map(|offset| number(*offset)).collect())
            }
            OpKind::DistInitDistArray => {
                let result = self.module.ty(self.module.result(op));
                let known = |size: &crate::types::Size| size.known().map(|size| size as i64);
                let shape: Option<Vec<i64>> =
                    result.shape().and_then(|s| s.iter().map(known).collect());
                let parts: Result<Vec<Local>, ModelError> = self
                    .module
                    .operand_group(op, 1)
                    .iter()
                    .map(|part| self.array(op, rank, *part).cloned())
                    .collect();
                let cut = result.dist().map_or(Vec::new(), |env| env.cut().to_vec());
                let offset = self.group(op, rank, 0)?;
                let shape = shape.ok_or_else(unknown)?;
                Ok(vec![Item::Dist(Dist { shape, cut, offset, parts: parts? })])
            }
            OpKind::DistDefaultPartition => {
                let (n, me) = (self.group(op, rank, 0)?[0], self.group(op, rank, 1)?[0]);
                let shape = self.group(op, rank, 2)?;
                let mut found: Vec<Range> = shape.iter().map(|size| Range::new(0, *size)).collect();
                if let Some(first) = found.first_mut() {
                    *first = fold::default_partition(n, me, first.size).ok_or_else(unknown)?;
                }
                Ok(numbers(&found))
            }
            OpKind::DistCheckedSlice => {
                let list = |n: usize| self.group(op, rank, n);
                let found = fold::checked_slice(&list(0)?, [&list(1)?, &list(2)?, &list(3)?]);
                let outside = || self.inside(op, "has a slice that leaves its array");
                Ok(numbers(&found.ok_or_else(outside)?))
            }
            OpKind::DistLocalBoundingBox => {
                let list = |n: usize| self.group(op, rank, n);
                let (o, s, t) = (list(0)?, list(1)?, list(2)?);
                let (targets, before) =
                    (self.box_group(op, rank, 3)?, self.box_group(op, rank, 5)?);
                let bound = fold::bound_of(self.module, op);
                let one = |dim: usize| {
                    let needed = fold::needed(o[dim], s[dim], t[dim], targets[dim])?;
                    fold::joined_box(needed, before.get(dim).copied(), bound)
                };
                let found: Option<Vec<Range>> = (0..o.len()).map(one).collect();
                Ok(numbers(&found.ok_or_else(unknown)?))
            }
            OpKind::DistLocalTargetOfSlice => {
                let owned = self.dist(op, rank, array.ok_or_else(unknown)?)?.owned();
                let list = |n: usize| self.group(op, rank, n);
                let (o, s, t) = (list(1)?, list(2)?, list(3)?);
                let one = |dim: usize| fold::entries(o[dim], s[dim], t[dim], owned[dim]);
                let found: Option<Vec<Range>> = (0..o.len()).map(one).collect();
                Ok(numbers(&found.ok_or_else(unknown)?))
            }
            OpKind::DistLocalCore => {
                let owned = self.dist(op, rank, array.ok_or_else(unknown)?)?.owned();
                let list = |n: usize| self.group(op, rank, n);
                let (targets, before) =
                    (self.box_group(op, rank, 1)?, self.box_group(op, rank, 6)?);
                let (o, s, t) = (list(3)?, list(4)?, list(5)?);
                let one = |dim: usize| {
                    let slice = (o[dim], s[dim], t[dim]);
                    fold::core(owned[dim], targets[dim], slice, before.get(dim).copied())
                };
                let found: Option<Vec<Range>> = (0..o.len()).map(one).collect();
                Ok(numbers(&found.ok_or_else(unknown)?))
            }
            _ => Err(unknown()),
        }
    }

    fn float(&self, op: Op, rank: usize, value: Value) -> Result<f64, ModelError> {
        match self.values[rank].get(&value) {
            Some(Item::Number(Attr::Float(number, _))) => Ok(number.0),
            Some(Item::Number(other)) => {
                other.as_int().map(|n| n as f64).ok_or_else(|| self.unknown(op))
            }
            _ => Err(self.unknown(op)),
        }
    }

    /// A view on one rank: of each part the entries that lie there, and in the target.
    fn dist_view(&self, op: Op, rank: usize) -> Result<Vec<Item>, ModelError> {
        let source = self.dist(op, rank, self.module.operands(op)[0])?;
        let [offsets, sizes, strides] = self.slice(op, rank)?;
        let target = self.box_group(op, rank, 4)?;
        let mut new = Dist { shape: sizes.clone(), parts: Vec::new(), ..source.clone() };
        let mut first = vec![i64::MAX; sizes.len()];
        for part in 0..source.parts.len() {
            let from = self.mirrored(source, part, &strides);
            let at = source.part_box(from);
            let (mut o, mut s) = (Vec::new(), Vec::new());
            for dim in 0..sizes.len() {
                let found = fold::entries(offsets[dim], sizes[dim], strides[dim], at[dim]);
                let mut found = found.ok_or_else(|| self.unknown(op))?;
                if let Some(target) = target.get(dim) {
                    let low = found.offset.clamp(target.offset, target.stop());
                    let high = found.stop().clamp(target.offset, target.stop());
                    found = Range::new(low, high - low);
                }
                first[dim] = first[dim].min(found.offset);
                let index = offsets[dim] + found.offset * strides[dim] - at[dim].offset;
                o.push(if found.size == 0 { 0 } else { index });
                s.push(found.size);
            }
            let view = source.parts[from].window(&o, &s, &strides);
            let empty = || Local::new(&s, 0.0, false);
            let nothing = s.contains(&0);
            let view = if nothing { Some(empty()) } else { view };
            new.parts.push(view.ok_or_else(|| self.inside(op, "looks outside a part"))?);
        }
        new.offset = first;
        if let Some(missing) = target.iter().zip(new.held()).find(|(t, h)| t.size != h.size) {
            let what = format!("has {:?} of its target {:?}", missing.1, missing.0);
            let idle = target.iter().any(|range| range.size == 0);
            if !idle {
                return Err(self.inside(op, &what));
            }
        }
        Ok(vec![Item::Dist(new)])
    }

    fn mirrored(&self, source: &Dist, part: usize, strides: &[i64]) -> usize {
        let mut rest = part;
        let mut at = vec![1; strides.len()];
        for dim in source.cut.iter().rev() {
            at[*dim] = rest % 3;
            rest /= 3;
        }
        let step = |dim: &usize| if strides[*dim] < 0 { 2 - at[*dim] } else { at[*dim] };
        source.cut.iter().fold(0, |found, dim| found * 3 + step(dim))
    }

    fn repartition(&mut self, op: Op) -> Result<(), ModelError> {
        let source = self.module.operands(op)[0];
        let mut boxes = Vec::new();
        for rank in 0..self.n_ranks {
            let asked = self.box_group(op, rank, 1)?;
            boxes.push(match asked.as_slice() {
                [] => {
                    let env = self.env(op, self.module.result(op))?;
                    let shape = self.dist(op, rank, source)?.shape.clone();
                    self.default_box(op, rank, &env, &shape)?
                }
                _ => asked,
            });
        }
        let arrays = self.moved(op, source, &boxes)?;
        self.set_dist(op, arrays);
        Ok(())
    }

    fn env(&self, op: Op, value: Value) -> Result<DistEnv, ModelError> {
        self.module.ty(value).dist().cloned().ok_or_else(|| self.unknown(op))
    }

    fn set_dist(&mut self, op: Op, arrays: Vec<Dist>) {
        let result = self.module.result(op);
        for (values, array) in self.values.iter_mut().zip(arrays) {
            values.insert(result, Item::Dist(array));
        }
    }

    /// An operator on all that each rank holds.
    fn held_op(&mut self, op: Op) -> Result<(), ModelError> {
        let result = self.module.result(op);
        let env = self.env(op, result)?;
        let arrays: Vec<Value> = self
            .module
            .operands(op)
            .iter()
            .copied()
            .filter(|value| self.module.ty(*value).dist().is_some())
            .collect();
        let mut results = Vec::new();
        for rank in 0..self.n_ranks {
            let inputs: Result<Vec<Dist>, ModelError> =
                arrays.iter().map(|value| self.dist(op, rank, *value).cloned()).collect();
            results.push(self.combine_held(op, &env, &inputs?)?);
        }
        self.set_dist(op, results);
        Ok(())
    }

    fn combine_held(&self, op: Op, env: &DistEnv, inputs: &[Dist]) -> Result<Dist, ModelError> {
        let ndim = inputs.iter().map(|input| input.shape.len()).max().unwrap_or(0);
        let joined: Vec<Local> = inputs.iter().map(|input| self.joined(input)).collect();
        let local = self.combine(op, &joined.iter().collect::<Vec<_>>())?;
        let mut shape = vec![1; ndim];
        for input in inputs {
            let skip = ndim - input.shape.len();
            for (found, size) in shape[skip..].iter_mut().zip(&input.shape) {
                *found = if *found == 1 { *size } else { *found };
            }
        }
        let Some(base) = inputs.iter().find(|input| input.shape == shape) else {
            let offset = offsets_by_dims(inputs, &shape).ok_or_else(|| self.unknown(op))?;
            return Ok(Dist::owned_alone(&shape, env.cut(), &offset, local));
        };
        for other in inputs.iter().filter(|other| other.shape == shape) {
            let empty = base.held().iter().any(|range| range.size == 0);
            if !empty && other.held() != base.held() {
                let what = format!("combines {:?} and {:?}", base.held(), other.held());
                return Err(self.inside(op, &what));
            }
        }
        if ndim == 0 {
            return Ok(Dist { shape, cut: vec![], offset: vec![], parts: vec![local] });
        }
        Ok(Dist::owned_alone(&shape, env.cut(), &base.offset, local))
    }

    /// All that a rank holds in one array.
    fn joined(&self, array: &Dist) -> Local {
        if array.shape.is_empty() {
            return array.own().clone();
        }
        let held = array.held();
        let sizes: Vec<i64> = held.iter().map(|range| range.size).collect();
        let local = Local::new(&sizes, 0.0, self.with_data);
        for (number, part) in array.parts.iter().enumerate() {
            if part.n_elements() == 0 {
                continue;
            }
            let at = array.part_box(number);
            let offsets: Vec<i64> =
                at.iter().zip(&held).map(|(a, h)| a.offset - h.offset).collect();
            if let Some(into) = local.window(&offsets, &part.shape, &vec![1; sizes.len()]) {
                into.write(&part.read());
            }
        }
        local
    }

    fn get_halo(&mut self, op: Op) -> Result<(), ModelError> {
        let local = self.module.operands(op)[0];
        let result_halos = self.module.results(op).len() - 1;
        let mut cut_count = 0;
        while 3_usize.pow(cut_count + 1) <= result_halos + 1 {
            cut_count += 1;
        }
        // The cut dimensions are not said: those in which some rank owns less than everything.
        let mut arrays = Vec::new();
        for rank in 0..self.n_ranks {
            let own = self.array(op, rank, local)?.clone();
            let (shape, offset) = (self.group(op, rank, 1)?, self.group(op, rank, 2)?);
            arrays.push((shape, offset, own));
        }
        let ndim = arrays[0].0.len();
        let less = |dim: usize| arrays.iter().any(|(shape, _, own)| own.shape[dim] < shape[dim]);
        let mut cut: Vec<usize> = (0..ndim).filter(|dim| less(*dim)).collect();
        let mut spare = (0..ndim).filter(|dim| !less(*dim));
        while cut.len() < cut_count as usize {
            cut.extend(spare.next());
        }
        cut.sort_unstable();
        let boxes: Result<Vec<Vec<Range>>, ModelError> =
            (0..self.n_ranks).map(|rank| self.box_group(op, rank, 3)).collect();
        for (rank, (shape, offset, own)) in arrays.into_iter().enumerate() {
            let array = Dist::owned_alone(&shape, &cut, &offset, own);
            self.values[rank].insert(local, Item::Dist(array));
        }
        let moved = self.moved(op, local, &boxes?)?;
        self.n_open += 1;
        let results = self.module.results(op).to_vec();
        for (rank, array) in moved.into_iter().enumerate() {
            let own = self.dist(op, rank, local)?.own().clone();
            self.values[rank].insert(local, Item::Local(own));
            let middle = array.parts.len() / 2;
            let halos = array.parts.into_iter().enumerate().filter(|(n, _)| *n != middle);
            self.values[rank].insert(results[0], Item::Handle);
            let halos = halos.map(|(_, part)| Item::Local(part));
            self.values[rank].extend(results[1..].iter().copied().zip(halos));
        }
        Ok(())
    }

    fn allreduce(&mut self, op: Op) -> Result<(), ModelError> {
        let value = self.module.operands(op)[0];
        let all: Result<Vec<Vec<f64>>, ModelError> =
            (0..self.n_ranks).map(|rank| Ok(self.array(op, rank, value)?.read())).collect();
        let all = all?;
        self.count(op, 0);
        if self.with_data {
            let n = all[0].len();
            let column = |at: usize| all.iter().map(|one| one[at]).collect::<Vec<f64>>();
            let sums: Result<Vec<f64>, ModelError> =
                (0..n).map(|at| self.reduce(op, &column(at))).collect();
            let sums = sums?;
            for rank in 0..self.n_ranks {
                self.array(op, rank, value)?.write(&sums);
            }
        }
        Ok(())
    }

    fn copy_across(&mut self, op: Op) -> Result<(), ModelError> {
        let permute = self.module.kind(op) == OpKind::RuntimeCopyPermute;
        let local = self.module.operands(op)[0];
        let mut arrays = Vec::new();
        for rank in 0..self.n_ranks {
            let own = self.array(op, rank, local)?.clone();
            let (shape, offset) = (self.group(op, rank, 1)?, self.group(op, rank, 2)?);
            arrays.push(Dist::owned_alone(&shape, &[0], &offset, own));
        }
        let mut data = if self.with_data {
            super::distributed::gather(&arrays.iter().collect::<Vec<_>>())
        } else {
            Vec::new()
        };
        let mut shape = arrays[0].shape.clone();
        if permute {
            (shape, data) = self.permuted(op, &shape, &data)?;
        }
        self.count(op, 0);
        self.n_open += 1;
        let results = self.module.results(op).to_vec();
        for rank in 0..self.n_ranks {
            let (at, new_shape) = if permute {
                (self.box_group(op, rank, 3)?, shape.clone())
            } else {
                (self.box_group(op, rank, 4)?, self.group(op, rank, 3)?)
            };
            let env = DistEnv::unknown(Attr::i64(0), new_shape.len());
            let array = self.scattered(&new_shape, &env, &at, &data);
            self.values[rank].insert(results[0], Item::Handle);
            self.values[rank].insert(results[1], Item::Local(array.own().clone()));
        }
        Ok(())
    }

    fn permuted(
        &self,
        op: Op,
        shape: &[i64],
        data: &[f64],
    ) -> Result<(Vec<i64>, Vec<f64>), ModelError> {
        let axes = self.module.attr(op, "axes").and_then(Attr::as_i64s);
        let axes: Vec<usize> =
            axes.ok_or_else(|| self.unknown(op))?.iter().map(|axis| *axis as usize).collect();
        let local = Local::new(shape, 0.0, self.with_data);
        local.write(data);
        let new_shape: Vec<i64> = axes.iter().map(|axis| shape[*axis]).collect();
        if data.is_empty() {
            return Ok((new_shape, Vec::new()));
        }
        let mut steps = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            steps[dim - 1] = steps[dim] * shape[dim];
        }
        let mut places = vec![0_i64];
        for axis in &axes {
            let (size, step) = (shape[*axis], steps[*axis]);
            places = places
                .into_iter()
                .flat_map(|place| (0..size).map(move |n| place + n * step))
                .collect();
        }
        Ok((new_shape, places.into_iter().map(|place| data[place as usize]).collect()))
    }

    /// Operations of `ndarray` on distributed arrays: what they mean for whole arrays.
    fn global(&mut self, op: Op) -> Result<(), ModelError> {
        let operands = self.module.operands(op).to_vec();
        match self.module.kind(op) {
            OpKind::NdarraySubview => self.each(op, |w, rank| w.dist_view(op, rank)),
            OpKind::NdarrayInsertSlice => self.global_insert(op),
            OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype => self.held_op(op),
            OpKind::NdarrayCast => {
                self.forward(op, &operands[..1]);
                Ok(())
            }
            OpKind::NdarrayDim => self.each(op, |w, rank| {
                let dim = w.index(op, rank, operands[1])? as usize;
                Ok(vec![number(w.dist(op, rank, operands[0])?.shape[dim])])
            }),
            OpKind::NdarrayCreate => {
                let env = self.env(op, self.module.result(op))?;
                self.each(op, |w, rank| {
                    let shape = w.group(op, rank, 0)?;
                    let value = w.module.operand_group(op, 1).first();
                    let value = value.map_or(Ok(0.0), |value| w.float(op, rank, *value))?;
                    let at = w.default_box(op, rank, &env, &shape)?;
                    let array = w.scattered(&shape, &env, &at, &[]);
                    array.own().write(&vec![value; array.own().n_elements().max(0) as usize]);
                    Ok(vec![Item::Dist(array)])
                })
            }
            OpKind::NdarrayEwBin | OpKind::NdarrayEwUny | OpKind::NdarrayWhere => {
                self.global_op(op, &operands)
            }
            OpKind::NdarrayReduction => {
                let data = self.whole_array(op, operands[0])?;
                let shape = self.dist(op, 0, operands[0])?.shape.clone();
                let (shape, data) = self.reduced(op, &shape, &data)?;
                let env = self.env(op, self.module.result(op))?;
                self.count(op, 0);
                self.each(op, |w, rank| {
                    if shape.is_empty() {
                        let value = data.first().copied().unwrap_or(0.0);
                        let parts = vec![Local::new(&[], value, w.with_data)];
                        let (cut, offset) = (vec![], vec![]);
                        return Ok(vec![Item::Dist(Dist { shape: vec![], cut, offset, parts })]);
                    }
                    let at = w.default_box(op, rank, &env, &shape)?;
                    Ok(vec![Item::Dist(w.scattered(&shape, &env, &at, &data))])
                })
            }
            OpKind::NdarrayReshape | OpKind::NdarrayPermuteDims => {
                let mut data = self.whole_array(op, operands[0])?;
                let mut shape = self.dist(op, 0, operands[0])?.shape.clone();
                if self.module.kind(op) == OpKind::NdarrayPermuteDims {
                    (shape, data) = self.permuted(op, &shape, &data)?;
                } else {
                    shape = self.group(op, 0, 1)?;
                }
                let env = self.env(op, self.module.result(op))?;
                self.count(op, 0);
                self.each(op, |w, rank| {
                    let at = w.default_box(op, rank, &env, &shape)?;
                    Ok(vec![Item::Dist(w.scattered(&shape, &env, &at, &data))])
                })
            }
            _ => Err(self.unknown(op)),
        }
    }

    fn global_op(&mut self, op: Op, operands: &[Value]) -> Result<(), ModelError> {
        let result = self.module.result(op);
        let env = self.env(op, result)?;
        let mut brought: Vec<Vec<Dist>> = Vec::new();
        let arrays: Result<Vec<Dist>, ModelError> =
            operands.iter().map(|value| self.dist(op, 0, *value).cloned()).collect();
        let arrays = arrays?;
        let ndim = arrays.iter().map(|array| array.shape.len()).max().unwrap_or(0);
        let mut shape = vec![1; ndim];
        for array in &arrays {
            let skip = ndim - array.shape.len();
            for (found, size) in shape[skip..].iter_mut().zip(&array.shape) {
                *found = if *found == 1 { *size } else { *found };
            }
        }
        for (operand, array) in operands.iter().zip(&arrays) {
            if array.shape.is_empty() {
                let same: Result<Vec<Dist>, ModelError> =
                    (0..self.n_ranks).map(|rank| self.dist(op, rank, *operand).cloned()).collect();
                brought.push(same?);
                continue;
            }
            let skip = ndim - array.shape.len();
            let mut boxes = Vec::new();
            for rank in 0..self.n_ranks {
                let at = self.default_box(op, rank, &env, &shape)?;
                let one = |(dim, size): (usize, &i64)| {
                    if *size == shape[skip + dim] { at[skip + dim] } else { Range::new(0, *size) }
                };
                boxes.push(array.shape.iter().enumerate().map(one).collect());
            }
            brought.push(self.moved(op, *operand, &boxes)?);
        }
        let mut results = Vec::new();
        for rank in 0..self.n_ranks {
            let inputs: Vec<Dist> = brought.iter().map(|ranks| ranks[rank].clone()).collect();
            results.push(self.combine_held(op, &env, &inputs)?);
        }
        self.set_dist(op, results);
        Ok(())
    }

    fn global_insert(&mut self, op: Op) -> Result<(), ModelError> {
        let [into, source] = [self.module.operands(op)[0], self.module.operands(op)[1]];
        let mut targets = Vec::new();
        for rank in 0..self.n_ranks {
            let owned = self.dist(op, rank, into)?.owned();
            let [o, s, t] = self.slice(op, rank)?;
            let one = |dim: usize| fold::entries(o[dim], s[dim], t[dim], owned[dim]);
            let found: Option<Vec<Range>> = (0..o.len()).map(one).collect();
            targets.push(found.ok_or_else(|| self.unknown(op))?);
        }
        let placed = self.module.attr(op, "placed").is_some();
        let single = self.dist(op, 0, source)?.shape.is_empty();
        let sources: Vec<Dist> = if placed || single {
            let same: Result<Vec<Dist>, ModelError> =
                (0..self.n_ranks).map(|rank| self.dist(op, rank, source).cloned()).collect();
            same?
        } else {
            self.moved(op, source, &targets)?
        };
        let joined: Vec<Local> = sources.iter().map(|array| self.joined(array)).collect();
        for rank in 0..self.n_ranks {
            let array = self.dist(op, rank, into)?;
            let owned = array.owned();
            let [o, _, t] = self.slice(op, rank)?;
            let sizes: Vec<i64> = targets[rank].iter().map(|range| range.size).collect();
            if sizes.contains(&0) {
                continue;
            }
            let start =
                |dim: usize| o[dim] + targets[rank][dim].offset * t[dim] - owned[dim].offset;
            let offsets: Vec<i64> = (0..o.len()).map(start).collect();
            let window = array.own().window(&offsets, &sizes, &t);
            let window = window.ok_or_else(|| self.inside(op, "writes outside what is owned"))?;
            let expected: Vec<i64> = targets[rank].iter().map(|range| range.offset).collect();
            if !single && sources[rank].offset != expected {
                return Err(self.inside(op, "writes entries that lie elsewhere"));
            }
            self.fill(op, &window, &joined[rank])?;
        }
        Ok(())
    }
}

fn number(number: i64) -> Item {
    Item::Number(Attr::index(number))
}

/// Where all arrays repeat somewhere: along each dimension the offset of one that does not.
fn offsets_by_dims(inputs: &[Dist], shape: &[i64]) -> Option<Vec<i64>> {
    let along = |dim: usize, input: &Dist| {
        let at = (dim + input.shape.len()).checked_sub(shape.len())?;
        (input.shape[at] == shape[dim]).then(|| input.held()[at].offset)
    };
    (0..shape.len()).map(|dim| inputs.iter().find_map(|input| along(dim, input))).collect()
}
