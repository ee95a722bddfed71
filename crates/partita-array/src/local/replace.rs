//! Replacements: the next content of a base, written while the old one is still read.
//!
//! A step of a stencil reads an array at many points and writes most of it anew. Parts that are
//! computed early, while data for the others are under way, cannot go into the array itself, and a
//! temporary would be copied afterwards. So they are written into a second base of the same shape,
//! each where it will be. When they are inserted nothing moves: the next flush brings what no part
//! has covered, usually thin edges, and the array takes the memory of the second base.

use std::rc::Rc;

use smallvec::smallvec;

use super::array::Array;
use super::base::Base;
use super::engine::Engine;
use super::node::{Action, Node, Place};
use super::record::{Input, mark, operand};
use super::window::Window;
use crate::error::Result;

/// The next content of a base, on its way.
#[derive(Debug)]
pub(super) struct Replacement {
    old: Rc<Base>,
    new: Rc<Base>,
    /// What somebody was given to write.
    reserved: Vec<Window>,
    /// What parts of such a place were given to others to write.
    divided: Vec<Part>,
    /// Parts that something else was written over before they were inserted.
    saved: Vec<(Window, Array)>,
    /// What was inserted since the last flush.
    inserted: Vec<Window>,
}

/// A part of a place.
#[derive(Debug)]
struct Part {
    window: Window,
    is_written: bool,
}

/// A box of a base: start and size along each dimension.
type Sides = Vec<(usize, usize)>;

impl Engine {
    /// Whether a replacement of the array's base is on its way, or the array is part of one.
    #[must_use]
    pub fn is_being_replaced(&self, array: &Array) -> bool {
        let is_either = |one: &Replacement| {
            Rc::ptr_eq(&one.old, &array.base) || Rc::ptr_eq(&one.new, &array.base)
        };
        self.0.replacements.borrow().iter().any(is_either)
    }

    /// A place for what will be inserted into an array later; inserting it then moves nothing.
    /// In an array that is such a place itself, and has no content yet, it is part of it.
    ///
    /// None where that would not pay: the array is part of another, all its elements are one
    /// number, or the place meets one that was given before.
    #[must_use]
    pub fn place_for(&self, array: &Array) -> Option<Array> {
        let (base, window) = (&array.base, &array.window);
        let sides = sides(window, base.shape())?;
        if base.fill.get().is_some() || sides.iter().any(|(_, size)| *size == 0) {
            return None;
        }
        let mut replacements = self.0.replacements.borrow_mut();
        if let Some(one) = replacements.iter_mut().find(|one| Rc::ptr_eq(&one.new, base)) {
            let is_free = !one.divided.iter().any(|part| part.window.meets(window, base.shape()));
            let part = Part { window: window.clone(), is_written: false };
            one.divided.extend(is_free.then_some(part));
            return is_free.then(|| array.clone());
        }
        let known = replacements.iter().position(|one| Rc::ptr_eq(&one.old, base));
        let at = known.unwrap_or_else(|| {
            let new = Rc::new(Base::new(base.all.clone(), base.dtype));
            let old = Rc::clone(base);
            let (reserved, divided, saved, inserted) = Default::default();
            replacements.push(Replacement { old, new, reserved, divided, saved, inserted });
            replacements.len() - 1
        });
        let one = &mut replacements[at];
        if one.reserved.iter().any(|other| other.meets(window, base.shape())) {
            return None;
        }
        one.reserved.push(window.clone());
        Some(Array::new(self, Rc::clone(&one.new), window.clone()))
    }

    /// Takes note of a write that brings a part where it is already; false if it does not.
    pub(super) fn is_in_place(&self, target: &Array, source: &Input<'_>) -> bool {
        let Input::Array(source) = source else { return false };
        let mut replacements = self.0.replacements.borrow_mut();
        let fits = |one: &&mut Replacement| {
            Rc::ptr_eq(&one.old, &target.base)
                && Rc::ptr_eq(&one.new, &source.base)
                && target.window == source.window
                && one.reserved.contains(&target.window)
        };
        let Some(one) = replacements.iter_mut().find(fits) else { return false };
        one.inserted.push(target.window.clone());
        true
    }

    /// Before a write into a place: saves parts that were written there early and are still to be
    /// inserted. If one of them is what is written now, gives what was saved of it.
    pub(super) fn kept_part(&self, target: &Array, source: &Input<'_>) -> Result<Option<Array>> {
        if self.0.replacements.borrow().is_empty() {
            return Ok(None);
        }
        let (base, window) = (&target.base, &target.window);
        let is_part = source
            .array()
            .is_some_and(|source| Rc::ptr_eq(&source.base, base) && source.window == *window);
        let covered = self.in_replacement_by(base, |one| {
            if is_part {
                return Vec::new();
            }
            // The first to write a part is who it was given to.
            let own = one.divided.iter_mut().find(|part| part.window == *window);
            if let Some(part) = own.filter(|part| !part.is_written) {
                part.is_written = true;
                return Vec::new();
            }
            let (covered, free) = std::mem::take(&mut one.divided)
                .into_iter()
                .partition(|part| part.window.meets(window, base.shape()));
            one.divided = free;
            covered
        });
        for Part { window, .. } in covered.unwrap_or_default() {
            let early = Array::new(self, Rc::clone(base), window.clone());
            let saved = self.copy(&early)?;
            self.in_replacement_by(base, |one| one.saved.push((window, saved)));
        }
        let find = |one: &mut Replacement| {
            let saved = one.saved.iter().filter(|_| is_part);
            saved.rev().find(|(part, _)| part == window).map(|(_, saved)| saved.clone())
        };
        Ok(self.in_replacement_by(base, find).flatten())
    }

    /// Looks at the replacement whose new base this is.
    fn in_replacement_by<T>(
        &self,
        base: &Rc<Base>,
        look: impl FnOnce(&mut Replacement) -> T,
    ) -> Option<T> {
        let mut replacements = self.0.replacements.borrow_mut();
        replacements.iter_mut().find(|one| Rc::ptr_eq(&one.new, base)).map(look)
    }

    /// Computes what is pending if arrays have parts that were only noted.
    pub(super) fn settle(&self, inputs: &[Input<'_>]) -> Result<()> {
        if self.0.replacements.borrow().is_empty() {
            return Ok(());
        }
        let is_noted = |one: &Replacement| {
            let is_one = |base: &Rc<Base>| Rc::ptr_eq(&one.old, base) || Rc::ptr_eq(&one.new, base);
            !one.inserted.is_empty()
                && inputs.iter().filter_map(Input::array).any(|a| is_one(&a.base))
        };
        let is_noted = self.0.replacements.borrow().iter().any(is_noted);
        if is_noted { self.flush() } else { Ok(()) }
    }

    /// Records what completes the replacements; gives those whose memory is to be taken.
    pub(super) fn complete(&self) -> Vec<Replacement> {
        if self.0.replacements.borrow().is_empty() {
            return Vec::new();
        }
        let (mut waiting, mut complete) = (Vec::new(), Vec::new());
        for mut one in self.0.replacements.take() {
            let rest = self.rest_of(&one);
            if let Some(rest) = rest {
                rest.iter().for_each(|window| self.bring(&one.old, &one.new, window));
                complete.push(one);
                continue;
            }
            for window in std::mem::take(&mut one.inserted) {
                self.bring(&one.new, &one.old, &window);
            }
            if self.is_seen(&one.new) {
                waiting.push(one);
            }
        }
        self.0.replacements.replace(waiting);
        complete
    }

    /// What no inserted part covers; none if copying the parts is better, or somebody who holds
    /// a part may still insert it.
    fn rest_of(&self, one: &Replacement) -> Option<Vec<Window>> {
        if one.inserted.is_empty() || self.is_seen(&one.new) {
            return None;
        }
        let shape = one.old.shape();
        let mut rest: Vec<Sides> = vec![shape.iter().map(|size| (0, *size)).collect()];
        for window in &one.inserted {
            let hole = sides(window, shape)?;
            rest = rest.iter().flat_map(|part| without(part, &hole)).collect();
        }
        let all = Window::dense(shape);
        let steps = vec![1; shape.len()];
        let window = |part: &Sides| {
            let (starts, sizes): (Vec<usize>, Vec<usize>) = part.iter().copied().unzip();
            all.slice(&starts, &sizes, &steps)
        };
        let rest: Vec<Window> = rest.iter().map(window).collect();
        let n_rest: usize = rest.iter().map(Window::n_elements).sum();
        (2 * n_rest <= all.n_elements()).then_some(rest)
    }

    /// Whether an array looks at a base of a replacement.
    fn is_seen(&self, base: &Rc<Base>) -> bool {
        let is_pending = base.number.get().0 == self.0.current.borrow().turn;
        // One user is the replacement itself.
        Rc::strong_count(base) > 1 + usize::from(is_pending)
    }

    /// Records a copy from a base to the same place of another.
    fn bring(&self, from: &Rc<Base>, to: &Rc<Base>, window: &Window) {
        let source = Array::new(self, Rc::clone(from), window.clone());
        let current = &mut *self.0.current.borrow_mut();
        let operands = smallvec![operand(current, &Input::Array(&source), &window.shape)];
        let target = Place { base: current.number(to), window: window.clone() };
        let (action, dtype) = (Action::Copy, from.dtype);
        let mark = mark(action, &[Input::Array(&source)], dtype, window);
        current.work.nodes.push(Node { mark, action, dtype, operands, target });
    }
}

impl Replacement {
    /// Lets the old base take the new one's memory.
    pub(super) fn take_over(self) {
        self.old.storage.swap(&self.new.storage);
    }
}

/// A window as a box of its base; none if it is no box.
fn sides(window: &Window, base: &[usize]) -> Option<Sides> {
    if window.shape.len() != base.len() || window.n_elements() == 0 {
        return None;
    }
    let walks = window.walks(base)?;
    let is_box = walks
        .iter()
        .zip(&window.shape)
        .all(|(walk, size)| walk.count == *size && (walk.count == 1 || walk.step == 1));
    is_box.then(|| walks.iter().map(|walk| (walk.start, walk.count)).collect())
}

/// What remains of a box without another.
fn without(part: &Sides, hole: &Sides) -> Vec<Sides> {
    let mut rest = Vec::new();
    let mut inner = part.clone();
    for dim in 0..part.len() {
        let (start, stop) = (inner[dim].0, inner[dim].0 + inner[dim].1);
        let low = hole[dim].0.clamp(start, stop);
        let high = (hole[dim].0 + hole[dim].1).clamp(start, stop);
        if low >= high {
            return vec![part.clone()];
        }
        for (from, to) in [(start, low), (high, stop)] {
            if from < to {
                let mut piece = inner.clone();
                piece[dim] = (from, to - from);
                rest.push(piece);
            }
        }
        inner[dim] = (low, high - low);
    }
    rest
}

#[cfg(test)]
mod tests {
    use partita_kernel::Scalar;

    use super::*;

    fn made(engine: &Engine) -> Array {
        let values: Vec<u8> = (0..16).flat_map(|i| f64::from(i).to_ne_bytes()).collect();
        engine.from_bytes(&[4, 4], partita_kernel::Dtype::Float64, &values).expect("an array")
    }

    fn number(engine: &Engine, value: f64) -> Array {
        engine.fill(&[], Scalar::from(value)).expect("a number")
    }

    fn rows(array: &Array, from: i64, n: i64) -> Array {
        array.slice(&[from, 0], &[n, 4], &[1, 1]).expect("rows")
    }

    fn values(change: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
        (0..16).map(|at| change(at / 4).unwrap_or(at as f64)).collect()
    }

    #[test]
    fn parts_that_were_placed_are_inserted_without_copies() {
        let engine = Engine::new();
        let plate = made(&engine);
        let early = engine.place_for(&rows(&plate, 1, 2)).expect("a place");
        early.write(&number(&engine, 50.0)).expect("a write");
        engine.flush().expect("a flush");
        // Nothing is seen of it before it is inserted.
        assert_eq!(plate.to_vec::<f64>().expect("values"), values(|_| None));
        rows(&plate, 1, 2).write(&early).expect("a write");
        drop(early);
        let n_before = engine.n_kernels();
        engine.flush().expect("a flush");
        assert!(engine.n_kernels() - n_before <= 2, "the first row and the last one");
        let wanted = values(|row| [1, 2].contains(&row).then_some(50.0));
        assert_eq!(plate.to_vec::<f64>().expect("values"), wanted);
        assert!(!engine.is_being_replaced(&plate));
    }

    #[test]
    fn a_part_that_somebody_holds_is_copied() {
        let engine = Engine::new();
        let plate = made(&engine);
        let first = engine.place_for(&rows(&plate, 0, 2)).expect("a place");
        let second = engine.place_for(&rows(&plate, 2, 1)).expect("a place");
        first.write(&number(&engine, 1.0)).expect("a write");
        second.write(&number(&engine, 2.0)).expect("a write");
        rows(&plate, 0, 2).write(&first).expect("a write");
        let seen = plate.to_vec::<f64>().expect("values");
        assert_eq!(seen, values(|row| (row < 2).then_some(1.0)), "the second is not inserted yet");
        rows(&plate, 3, 1).write(&number(&engine, 3.0)).expect("a write");
        rows(&plate, 2, 1).write(&second).expect("a write");
        let wanted = [1.0, 1.0, 2.0, 3.0];
        assert_eq!(plate.to_vec::<f64>().expect("values"), values(|row| Some(wanted[row])));
    }

    #[test]
    fn a_place_is_filled_part_by_part() {
        let engine = Engine::new();
        let plate = made(&engine);
        let place = engine.place_for(&rows(&plate, 1, 3)).expect("a place");
        let part = engine.place_for(&rows(&place, 0, 2)).expect("a part");
        assert!(engine.place_for(&rows(&place, 1, 2)).is_none(), "they meet");
        part.write(&number(&engine, 5.0)).expect("a write");
        engine.flush().expect("a flush");
        rows(&place, 0, 2).write(&part).expect("a write");
        rows(&place, 2, 1).write(&number(&engine, 6.0)).expect("a write");
        rows(&plate, 1, 3).write(&place).expect("a write");
        drop((part, place));
        let wanted = values(|row| [None, Some(5.0), Some(5.0), Some(6.0)][row]);
        assert_eq!(plate.to_vec::<f64>().expect("values"), wanted);
    }

    #[test]
    fn a_part_outlives_what_is_written_over_it_before_it_is_inserted() {
        let engine = Engine::new();
        let plate = made(&engine);
        let place = engine.place_for(&rows(&plate, 0, 4)).expect("a place");
        let part = engine.place_for(&rows(&place, 1, 2)).expect("a part");
        part.write(&number(&engine, 5.0)).expect("a write");
        rows(&place, 0, 4).write(&number(&engine, 6.0)).expect("a write");
        rows(&place, 1, 2).write(&part).expect("a write");
        rows(&plate, 0, 4).write(&place).expect("a write");
        drop((part, place));
        let wanted = [6.0, 5.0, 5.0, 6.0];
        assert_eq!(plate.to_vec::<f64>().expect("values"), values(|row| Some(wanted[row])));
    }

    #[test]
    fn reads_and_writes_after_an_insertion_see_it() {
        let engine = Engine::new();
        let plate = made(&engine);
        let early = engine.place_for(&rows(&plate, 0, 3)).expect("a place");
        early.write(&number(&engine, 7.0)).expect("a write");
        rows(&plate, 0, 3).write(&early).expect("a write");
        drop(early);
        let twice = engine.apply(partita_kernel::Op::Add, &[&plate, &plate]).expect("a sum");
        rows(&plate, 0, 1).write(&number(&engine, 1.0)).expect("a write");
        let doubled: Vec<f64> = values(|row| (row < 3).then_some(7.0));
        let doubled: Vec<f64> = doubled.iter().map(|x| 2.0 * x).collect();
        assert_eq!(twice.to_vec::<f64>().expect("values"), doubled);
        let wanted = values(|row| [Some(1.0), Some(7.0), Some(7.0), None][row]);
        assert_eq!(plate.to_vec::<f64>().expect("values"), wanted);
    }

    #[test]
    fn no_place_is_given_twice_or_where_it_would_not_pay() {
        let engine = Engine::new();
        let plate = made(&engine);
        let first = engine.place_for(&rows(&plate, 0, 2));
        assert!(first.is_some() && engine.place_for(&rows(&plate, 1, 2)).is_none());
        let strided = plate.slice(&[0, 0], &[2, 4], &[2, 1]).expect("a slice");
        assert!(engine.place_for(&strided).is_none());
        let filled = engine.fill(&[4, 4], Scalar::from(0.0)).expect("an array");
        assert!(engine.place_for(&filled).is_none());
        drop(first);
        engine.flush().expect("a flush");
        assert!(!engine.is_being_replaced(&plate), "nobody wants it any more");
    }

    #[test]
    fn boxes_without_holes_are_cut_into_boxes() {
        let part = vec![(0, 4), (0, 5)];
        let n = |boxes: &[Sides]| -> usize {
            boxes.iter().map(|one| one.iter().map(|(_, size)| size).product::<usize>()).sum()
        };
        assert_eq!(n(&without(&part, &vec![(1, 2), (1, 3)])), 20 - 6);
        assert_eq!(n(&without(&part, &vec![(0, 4), (0, 5)])), 0);
        assert_eq!(without(&part, &vec![(4, 2), (0, 5)]), [part]);
    }
}
