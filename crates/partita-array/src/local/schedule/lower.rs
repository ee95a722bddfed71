//! From groups to kernel calls.

use std::collections::HashMap;

use partita_kernel::{Builder, Call, Machine, Reduction, Value, View};

use super::super::node::{Action, BaseFacts, Node};
use super::super::window::Window;
use super::groups::{Group, Grouped, Placed, Rest, Source};
use super::{Schedule, SlotView, Step};
use crate::error::Result;

/// Makes the calls of all groups.
pub(super) fn lower(
    nodes: &[Node],
    bases: &[BaseFacts],
    grouped: &Grouped,
    machine: &Machine,
) -> Result<Schedule> {
    let mut steps = Vec::new();
    for group in &grouped.groups {
        let loops = Loop::new(nodes, bases, grouped, group);
        steps.extend(loops.finish(machine)?);
        for rest in &group.rests {
            steps.extend(copies(bases, rest, machine)?);
        }
    }
    let mut kept = Vec::new();
    for (base, facts) in bases.iter().enumerate().filter(|(_, facts)| facts.is_alive) {
        let slot = grouped.last_slots[base];
        let is_made = slot < bases.len() && facts.has_storage;
        if is_made || steps.iter().any(|step| step.touches(slot)) {
            kept.push((base, slot));
        }
    }
    mark_lifetimes(&mut steps, bases, grouped, &kept);
    let growth_bytes = growth(&steps);
    let (n_slots, slot_bases) = (grouped.slot_bases.len(), grouped.slot_bases.clone());
    Ok(Schedule { steps, n_slots, slot_bases, kept, growth_bytes })
}

/// Bytes of new memory at the worst moment.
fn growth(steps: &[Step]) -> usize {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let (mut now, mut most) = (0, 0_usize);
    for step in steps {
        for (slot, n_bytes) in &step.fresh {
            sizes.insert(*slot, *n_bytes);
            now += n_bytes;
        }
        most = most.max(now + step.scratch_bytes);
        now -= step.spent.iter().filter_map(|slot| sizes.remove(slot)).sum::<usize>();
    }
    most
}

/// One loop on its way to a program.
struct Loop<'a> {
    nodes: &'a [Node],
    bases: &'a [BaseFacts],
    slot_bases: &'a [usize],
    builder: Builder,
    extents: Vec<usize>,
    values: HashMap<usize, Value>,
    inputs: Vec<(SlotView, Value)>,
    outputs: Vec<SlotView>,
    numbers: Vec<usize>,
}

impl<'a> Loop<'a> {
    fn new(
        nodes: &'a [Node],
        bases: &'a [BaseFacts],
        grouped: &'a Grouped,
        group: &Group,
    ) -> Loop<'a> {
        let mut builder = Builder::new(group.space.len());
        let axes: Vec<usize> =
            (0..group.space.len()).filter(|a| group.reduced >> a & 1 == 1).collect();
        builder.over(&axes);
        if let Some(axis) = group.scanned {
            builder.along(axis);
        }
        let mut made = Loop {
            nodes,
            bases,
            slot_bases: &grouped.slot_bases,
            builder,
            extents: group.space.to_vec(),
            values: HashMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            numbers: Vec::new(),
        };
        group.nodes.iter().for_each(|placed| made.add(placed));
        made
    }

    fn add(&mut self, placed: &Placed) {
        let node = &self.nodes[placed.node];
        let operands: Vec<Value> = placed.sources.iter().map(|s| self.operand(node, s)).collect();
        let value = self.value(node, &operands);
        self.values.insert(placed.node, value);
        if !placed.is_stored {
            return;
        }
        match node.action {
            Action::Reduce(Reduction::Variance, _) => self.builder.variance(value, operands[1]),
            Action::Reduce(reduction, _) => self.builder.reduce(value, reduction),
            Action::RunningSum(_) => self.builder.running_sum(value),
            Action::RunningProduct(_) => self.builder.running_product(value),
            _ => self.builder.store(value),
        };
        let dtype = self.bases[self.slot_bases[placed.slot]].dtype;
        self.outputs.push(SlotView::new(placed.slot, &node.target.window, dtype));
    }

    fn value(&mut self, node: &Node, operands: &[Value]) -> Value {
        match node.action {
            Action::Apply(op) => self.builder.apply(op, operands),
            Action::Cast => self.builder.cast(operands[0], node.dtype),
            Action::Index(axis) => self.builder.index(axis),
            _ => operands[0],
        }
    }

    fn operand(&mut self, node: &Node, source: &Source) -> Value {
        match source {
            Source::Node(node) => self.values[node],
            Source::Number(number) => {
                self.numbers.push(*number);
                let dtype = node.number_dtype(*number).unwrap_or(node.dtype);
                self.builder.scalar(dtype)
            }
            Source::Slot(slot, window) => self.input(*slot, window),
        }
    }

    fn input(&mut self, slot: usize, window: &Window) -> Value {
        let dtype = self.bases[self.slot_bases[slot]].dtype;
        let view = SlotView::new(slot, window, dtype);
        if let Some((_, value)) = self.inputs.iter().find(|(known, _)| *known == view) {
            return *value;
        }
        let value = self.builder.input(dtype);
        self.inputs.push((view, value));
        value
    }

    /// The call; none if nothing of it reaches memory.
    fn finish(self, machine: &Machine) -> Result<Option<Step>> {
        if self.outputs.is_empty() {
            return Ok(None);
        }
        let mut marks: Vec<u64> = self.values.keys().map(|node| self.nodes[*node].mark).collect();
        marks.sort_unstable();
        marks.dedup();
        let kernel = machine.kernel(&self.builder.finish())?;
        let inputs: Vec<SlotView> = self.inputs.into_iter().map(|(view, _)| view).collect();
        let scratch_bytes = {
            let [inputs, outputs] = [&inputs, &self.outputs].map(|views| strides(views));
            let (inputs, outputs, extents) = (&inputs[..], &outputs[..], &self.extents[..]);
            machine.scratch_bytes(&kernel, &Call { extents, inputs, outputs, scalars: &[] })
        };
        Ok(Some(Step {
            kernel,
            scratch_bytes,
            extents: self.extents,
            inputs,
            outputs: self.outputs,
            numbers: self.numbers,
            fresh: Vec::new(),
            spent: Vec::new(),
            marks,
        }))
    }
}

/// Views of nothing: what a call looks like without its memory.
fn strides(views: &[SlotView]) -> Vec<View<'_>> {
    let view = |view| View { data: std::ptr::null_mut(), strides: view };
    views.iter().map(|one| view(&one.strides_bytes)).collect()
}

/// Copies what a new version keeps of the old one.
fn copies(bases: &[BaseFacts], rest: &Rest, machine: &Machine) -> Result<Vec<Step>> {
    let dtype = bases[rest.base].dtype;
    let copy = |window: &Window| {
        let mut builder = Builder::new(window.shape.len());
        let value = builder.input(dtype);
        builder.store(value);
        Ok(Step {
            kernel: machine.kernel(&builder.finish())?,
            extents: window.shape.to_vec(),
            inputs: vec![SlotView::new(rest.from_slot, window, dtype)],
            outputs: vec![SlotView::new(rest.to_slot, window, dtype)],
            numbers: Vec::new(),
            fresh: Vec::new(),
            spent: Vec::new(),
            scratch_bytes: 0,
            marks: Vec::new(),
        })
    };
    rest.windows.iter().map(copy).collect()
}

impl Step {
    fn touches(&self, slot: usize) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|view| view.slot == slot)
    }
}

/// Says before which step each slot comes to be, and after which one it goes.
fn mark_lifetimes(
    steps: &mut [Step],
    bases: &[BaseFacts],
    grouped: &Grouped,
    kept: &[(usize, usize)],
) {
    for (slot, &base) in grouped.slot_bases.iter().enumerate() {
        let facts = &bases[base];
        let is_touched = |step: &Step| step.touches(slot);
        let Some(first) = steps.iter().position(is_touched) else { continue };
        let last = steps.iter().rposition(is_touched).unwrap_or(first);
        if slot >= bases.len() || !facts.has_storage {
            let n_bytes = facts.shape.iter().product::<usize>() * facts.dtype.size();
            steps[first].fresh.push((slot, n_bytes));
        }
        if !kept.iter().any(|(_, kept)| *kept == slot) {
            steps[last].spent.push(slot);
        }
    }
}
