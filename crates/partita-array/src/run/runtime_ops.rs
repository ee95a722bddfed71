//! The operations of `distruntime`: communication that is started, and waited for.

use std::cell::Cell;
use std::rc::Rc;

use partita_ir::{Attr, Op, OpKind, Reduce};
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray, Places};
use super::dist_ops::unsigned;
use super::exchange::Site;
use super::interpret::Frame;
use super::problem::{Outcome, problem};
use super::value::{Number, Value};
use crate::local::Array;

impl Runner<'_> {
    pub(super) fn runtime_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let number = |number: u64| vec![Value::Number(Number::Int(number as i64))];
        let values = match kind {
            OpKind::RuntimeTeamSize => number(self.mover.n_ranks()),
            OpKind::RuntimeTeamMember => number(self.mover.rank),
            OpKind::RuntimeAllreduce => {
                let array = self.local_operand(op, frame)?;
                let how = self.attr_int(op, "op")?;
                let how = Reduce::from_number(how)
                    .ok_or_else(|| problem(format!("reduction {how} is not known; use 0 to 8")))?;
                self.allreduce(&array, how)?;
                Vec::new()
            }
            OpKind::RuntimeGetHalo => self.get_halo(op, frame)?,
            OpKind::RuntimeCopyReshape => self.copy_reshape(op, frame)?,
            OpKind::RuntimeCopyPermute => self.copy_permute(op, frame)?,
            OpKind::RuntimeWait => {
                self.wait_op(op, frame)?;
                Vec::new()
            }
            _ => return Err(problem("it cannot be run; use another operation")),
        };
        self.give(op, values, frame)
    }

    fn local_operand(&self, op: Op, frame: &Frame) -> Outcome<Array> {
        match frame.get(self.module.operands(op)[0])? {
            Value::Array(array) => Ok(array.clone()),
            _ => Err(problem("its array is not local; use an array of this rank")),
        }
    }

    fn group_of(&self, op: Op, name: &str, frame: &Frame) -> Outcome<Vec<u64>> {
        unsigned(frame, self.module.operands_named(op, name))
    }

    /// Which dimensions are cut: as many as the number of halos tells, the first ones unless the
    /// operation names them.
    fn halo_cuts(&self, op: Op, n_halos: usize, ndim: usize) -> Outcome<Vec<usize>> {
        if let Some(cut) = self.module.attr(op, "cut").and_then(Attr::as_i64s) {
            let dims = cut.iter().map(|dim| usize::try_from(*dim).ok().filter(|dim| *dim < ndim));
            let dims: Option<Vec<usize>> = dims.collect();
            return dims.ok_or_else(|| problem("`cut` names no dimension; use ones of the array"));
        }
        let n_cuts = (0..=ndim).find(|n| 3_usize.pow(*n as u32) == n_halos + 1);
        let n_cuts = n_cuts.ok_or_else(|| {
            problem(format!("{n_halos} halos belong to no number of cuts; use 3^k - 1"))
        })?;
        Ok((0..n_cuts).collect())
    }

    fn get_halo(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let local = self.local_operand(op, frame)?;
        let site = self.site(op, &local, frame)?;
        let middle = site.parts.len() / 2;
        let halos = site.parts.iter().enumerate().filter(|(at, _)| *at != middle);
        let halos = halos.map(|(_, sizes)| self.engine.empty(sizes, local.dtype()));
        let halos: Vec<Array> = halos.collect::<Result<_, _>>()?;
        let number = match &site.movement {
            Some(movement) => {
                let is_full = |array: &&Array| array.n_elements() > 0;
                let sources: Vec<Array> =
                    Some(&local).filter(is_full).cloned().into_iter().collect();
                let targets: Vec<Array> = halos.iter().filter(is_full).cloned().collect();
                self.mover.start(movement, &sources, &targets)?
            }
            None => None,
        };
        let handle = Value::Handle(Rc::new(Cell::new(number)));
        Ok(std::iter::once(handle).chain(halos.into_iter().map(Value::Array)).collect())
    }

    /// What an exchange knows of all ranks: from the turn before where that cannot have changed,
    /// else by asking; what is planned then is planned once for the same answers.
    fn site(&mut self, op: Op, local: &Array, frame: &Frame) -> Outcome<Rc<Site>> {
        let before = frame.sites.borrow().get(&op).cloned();
        if let Some(site) = before.as_ref().filter(|_| frame.facts.steady.has_exchange(op)) {
            return Ok(Rc::clone(site));
        }
        let shape = self.group_of(op, "g_shape", frame)?;
        let sizes = local.shape().iter().map(|n| *n as u64).collect();
        let mut own = self.group_of(op, "l_offsets", frame)?;
        for more in [sizes, self.group_of(op, "bb_offsets", frame)?] {
            own.extend(more);
        }
        own.extend(self.group_of(op, "bb_sizes", frame)?);
        let asked = self.mover.gather_numbers("boxes", &own)?;
        if let Some(site) = before.filter(|site| site.asked == asked) {
            return Ok(site);
        }
        let cuts = self.halo_cuts(op, self.module.results(op).len() - 1, shape.len())?;
        let site = Rc::new(self.new_site(asked, &shape, &cuts, local)?);
        frame.sites.borrow_mut().insert(op, Rc::clone(&site));
        Ok(site)
    }

    fn new_site(
        &mut self,
        asked: Vec<Vec<u64>>,
        shape: &[u64],
        cuts: &[usize],
        local: &Array,
    ) -> Outcome<Site> {
        let ndim = shape.len();
        if asked.iter().any(|numbers| numbers.len() != 4 * ndim) {
            return Err(problem(
                "the ranks ask for boxes of different dimensions; run one program",
            ));
        }
        let place = |numbers: &Vec<u64>, at: usize| {
            IndexBox::new(&numbers[at * ndim..][..ndim], &numbers[(at + 1) * ndim..][..ndim])
        };
        let owned: Vec<IndexBox> = asked.iter().map(|numbers| place(numbers, 0)).collect();
        let wanted: Vec<IndexBox> = asked.iter().map(|numbers| place(numbers, 2)).collect();
        let cuts = Cuts { grid: vec![1; cuts.len()], dims: cuts.to_vec() };
        let array = DistArray::owned(shape, &cuts, &owned[self.rank()].start, local);
        let array = array.known(Places::owned(owned));
        let (halos, parts) = self.halos(&array, &wanted)?;
        let movement = self.mover.movement(halos.boxes)?;
        let parts = parts.iter().map(|part| part.shape().to_vec()).collect();
        Ok(Site { asked, movement, parts })
    }

    fn wait_op(&mut self, op: Op, frame: &Frame) -> Outcome<()> {
        let Value::Handle(handle) = frame.get(self.module.operands(op)[0])? else {
            return Err(problem("its operand is no handle; give what a start has returned"));
        };
        if let Some(number) = handle.take() {
            // What was recorded since the start is computed while the data move.
            self.engine.flush()?;
            self.mover.wait(number)?;
        }
        Ok(())
    }

    /// Boxes that all ranks own before and want afterwards.
    fn before_and_after(
        &mut self,
        op: Op,
        (local, offsets): (&Array, Vec<u64>),
        wanted: IndexBox,
        frame: &Frame,
    ) -> Outcome<(Vec<IndexBox>, Vec<IndexBox>)> {
        let shape = local.shape().iter().map(|n| *n as u64).collect();
        let own = [IndexBox { start: offsets, shape }, wanted];
        let all = self.asked(op, &own, frame)?;
        Ok((all[0].clone(), all[1].clone()))
    }

    fn copy_reshape(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let local = self.local_operand(op, frame)?;
        let shape = self.group_of(op, "g_shape", frame)?;
        let offsets = self.group_of(op, "l_offsets", frame)?;
        let new_shape = self.group_of(op, "n_g_shape", frame)?;
        let start = self.group_of(op, "n_l_offsets", frame)?;
        let wanted = IndexBox { start, shape: self.group_of(op, "n_l_shape", frame)? };
        let (owned, wanted) = self.before_and_after(op, (&local, offsets), wanted, frame)?;
        let made = self.reshaped(&local, &shape, &owned, &new_shape, &wanted)?;
        Ok(vec![Value::Handle(Rc::default()), Value::Array(made)])
    }

    fn copy_permute(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let local = self.local_operand(op, frame)?;
        let shape = self.group_of(op, "g_shape", frame)?;
        let offsets = self.group_of(op, "l_offsets", frame)?;
        let start = self.group_of(op, "n_l_offsets", frame)?;
        let wanted = IndexBox { start, shape: self.group_of(op, "n_l_shape", frame)? };
        let axes = self.module.attr(op, "axes").and_then(Attr::as_i64s).unwrap_or_default();
        let axes = axes.iter().map(|axis| usize::try_from(*axis).ok().filter(|a| *a < shape.len()));
        let axes: Vec<usize> = axes
            .collect::<Option<_>>()
            .ok_or_else(|| problem("its axes are no dimensions; name each once"))?;
        let new_shape: Vec<u64> = axes.iter().map(|axis| shape[*axis]).collect();
        let (owned, wanted) = self.before_and_after(op, (&local, offsets), wanted, frame)?;
        let made = self.permuted(&local, &owned, &axes, &new_shape, &wanted)?;
        Ok(vec![Value::Handle(Rc::default()), Value::Array(made)])
    }
}
