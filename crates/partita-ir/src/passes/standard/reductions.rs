//! Reductions: each rank its share, then all ranks together.
//!
//! Where no reduced dimension is cut, a rank's share is its part of the result. Else every rank
//! writes its share into an array as large as the result, filled with what changes nothing (0 for
//! sums), and an allreduce makes it the result on all ranks, of which each takes its part.

use super::Lowering;
use super::neutral::{neutral, number};
use super::parts::{Parts, Window};
use crate::attr::Attr;
use crate::builder::Entry;
use crate::enums::{CmpI, EwBin, EwUny, Reduce};
use crate::kind::OpKind;
use crate::module::{NewOp, Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::{DistEnv, Grid, Scalar, Size, Type};

/// A reduction of an array that is wholly owned.
struct Reducing {
    result: Value,
    how: Reduce,
    axes: Vec<usize>,
    keeps: bool,
    /// The array's global shape.
    shape: Vec<u64>,
    from: Parts,
    env: DistEnv,
    correction: f64,
}

/// What came of it: reduced dimensions have the size 1, unless all are gone.
struct Reduced {
    local: Value,
    /// Whether every rank has all of it; else it has what its part of the array gave.
    everywhere: bool,
}

impl Lowering<'_> {
    pub(super) fn reduction(&mut self, op: Op) -> Option<()> {
        let what = self.reducing(op)?;
        let element = self.element(what.result);
        let reduced = match what.how {
            Reduce::Mean => self.mean(&what, what.from.own(), element)?,
            Reduce::Var | Reduce::Std => self.variance(&what, element)?,
            Reduce::ArgMax | Reduce::ArgMin => return None,
            how => self.reduced(&what, how, what.from.own(), element)?,
        };
        self.give_reduced(op, &what, &reduced)
    }

    /// The reduction of an operation; nothing where it is not one of owned parts of a known shape.
    fn reducing(&mut self, op: Op) -> Option<Reducing> {
        let module = &*self.emit.module;
        let (input, result) = (module.operands(op)[0], module.result(op));
        let how = Reduce::from_number(module.attr(op, "op")?.as_int()?)?;
        let sizes = module.ty(input).shape().filter(|sizes| !sizes.is_empty())?.to_vec();
        let axes = match module.attr(op, "axes").and_then(Attr::as_i64s) {
            Some(axes) => {
                axes.iter().map(|axis| usize::try_from(*axis).ok()).collect::<Option<_>>()?
            }
            None => (0..sizes.len()).collect::<Vec<_>>(),
        };
        let keeps = module.attr(op, "keepdims").is_some();
        // Of sums of everything no size has to be known; others have no answer for nothing.
        let sums = is_sum(how) && axes.len() == sizes.len() && !keeps;
        let known = |size: &Size| size.known().filter(|n| *n > 0).or(sums.then_some(1));
        let shape: Vec<u64> = sizes.iter().map(known).collect::<Option<_>>()?;
        let correction = match module.attr(op, "correction") {
            Some(Attr::Float(number, _)) => number.0,
            Some(other) => other.as_int().unwrap_or(0) as f64,
            None => 0.0,
        };
        self.known.all_owned.contains(&input).then_some(())?;
        let env = self.env(input)?;
        let complex = matches!(self.element(input), Scalar::Complex32 | Scalar::Complex64)
            && matches!(how, Reduce::Var | Reduce::Std);
        let widens =
            matches!(how, Reduce::Max | Reduce::Min) && self.element(input) != self.element(result);
        if complex || widens || !self.agree_where(result, input, (&axes, keeps)) {
            return None;
        }
        let from = self.parts_of(input).filter(Parts::is_alone)?;
        Some(Reducing { result, how, axes, keeps, shape, from, env, correction })
    }

    /// Whether the parts of a result lie where those of the array are, or a cut dimension goes.
    fn agree_where(&self, result: Value, input: Value, (axes, keeps): (&[usize], bool)) -> bool {
        let module = &*self.emit.module;
        let Some(env) = module.ty(input).dist() else { return false };
        if env.cut().iter().any(|dim| axes.contains(dim)) {
            return true;
        }
        let Some(own) = module.ty(result).dist() else { return false };
        let place =
            |dim: usize| if keeps { dim } else { dim - axes.iter().filter(|a| **a < dim).count() };
        let cut: Vec<usize> = env.cut().iter().map(|dim| place(*dim)).collect();
        let ranks = |grid: &Option<Grid>| grid.as_ref().map(|grid| grid.shape.clone());
        self.known.by_default.contains(&input)
            && own.cut() == cut
            && ranks(&own.grid) == ranks(&env.grid)
    }

    /// Sums and their like.
    fn reduced(
        &mut self,
        what: &Reducing,
        how: Reduce,
        own: Value,
        element: Scalar,
    ) -> Option<Reduced> {
        let crosses = what.env.cut().iter().any(|dim| what.axes.contains(dim));
        if !crosses {
            let local = self.local_reduction(what, how, own, element);
            return Some(Reduced { local, everywhere: false });
        }
        if is_sum(how) && flat_shape(what).is_empty() {
            let local = self.local_reduction(what, how, own, element);
            self.emit.build().allreduce(how, local, what.env.team.clone());
            return Some(Reduced { local, everywhere: true });
        }
        let neutral = neutral(how, element)?;
        let sizes: Vec<Value> =
            flat_shape(what).iter().map(|n| self.emit.index(*n as i64)).collect();
        let neutral = self.emit.build().constant(neutral);
        let ty = self.local(&sizes, element);
        let all = self.emit.build().create(&sizes, Some(neutral), ty);
        self.write_share(what, how, (own, element), all);
        self.emit.build().allreduce(how, all, what.env.team.clone());
        Some(Reduced { local: all, everywhere: true })
    }

    /// A rank's own share; a rank that has nothing leaves the array as it is.
    fn write_share(
        &mut self,
        what: &Reducing,
        how: Reduce,
        (own, element): (Value, Scalar),
        all: Value,
    ) {
        let slices = self.flat_window(what).slices(&self.emit);
        let sizes: Vec<Value> = (0..what.shape.len()).map(|dim| self.emit.size(own, dim)).collect();
        let zero = self.emit.index(0);
        let mut n = self.emit.index(1);
        for size in sizes {
            n = self.emit.mul(n, size);
        }
        let some = self.emit.build().cmpi(CmpI::Sgt, n, zero);
        let (_, then) = self.emit.build().if_then(some);
        let new = reduction_op(what, how, own, self.share_type(what, element));
        let mut b = self.emit.build();
        b.move_to_end(then);
        let share = b.value(new);
        b.insert_slice(all, share, &slices);
        b.yield_(&[]);
    }

    fn local_reduction(
        &mut self,
        what: &Reducing,
        how: Reduce,
        own: Value,
        element: Scalar,
    ) -> Value {
        let ty = self.share_type(what, element);
        self.emit.build().value(reduction_op(what, how, own, ty))
    }

    /// The type of a rank's share.
    fn share_type(&mut self, what: &Reducing, element: Scalar) -> Type {
        let window = self.flat_window(what);
        self.local(&window.sizes, element)
    }

    /// The place of a rank's share in the result; reduced dimensions have the size 1.
    fn flat_window(&mut self, what: &Reducing) -> Window {
        let (zero, one) = (self.emit.index(0), self.emit.index(1));
        let mut window = Window::default();
        if flat_shape(what).is_empty() {
            return window;
        }
        for (dim, marks) in what.from.bounds.iter().enumerate() {
            if what.axes.contains(&dim) {
                window.push(zero, one, Entry::Known(1));
            } else {
                let size = self.emit.sub(marks[2], marks[1]);
                window.push(marks[1], size, Entry::Known(1));
            }
        }
        window
    }

    fn mean(&mut self, what: &Reducing, own: Value, element: Scalar) -> Option<Reduced> {
        let n: f64 = what.axes.iter().map(|axis| what.shape[*axis] as f64).product();
        let sum = self.reduced(what, Reduce::Sum, own, element)?;
        self.divided(&sum, n, element)
    }

    fn divided(&mut self, sum: &Reduced, n: f64, element: Scalar) -> Option<Reduced> {
        let n = self.single_number(number(n, element)?, element);
        let local = self.local_binary(EwBin::TrueDivide, sum.local, n, element);
        Some(Reduced { local, everywhere: sum.everywhere })
    }

    /// The mean of squared distances from the mean.
    fn variance(&mut self, what: &Reducing, element: Scalar) -> Option<Reduced> {
        let mut own = what.from.own();
        if self.element(own) != element {
            let ty = self.emit.module.ty(own).shape().map(|shape| Type::array(shape, element))?;
            own = self.emit.build().cast_elemtype(own, ty);
        }
        let mean = self.mean(what, own, element)?;
        let mean = match mean.everywhere && !flat_shape(what).is_empty() {
            true => {
                let window = self.flat_window(what);
                self.window(mean.local, &window, element)
            }
            false => mean.local,
        };
        let ty = self.emit.module.ty(own).clone();
        let distance = self.emit.build().ewbin(EwBin::Subtract, own, mean, ty.clone());
        let squares = self.emit.build().ewbin(EwBin::Multiply, distance, distance, ty);
        let sum = self.reduced(what, Reduce::Sum, squares, element)?;
        let n: f64 = what.axes.iter().map(|axis| what.shape[*axis] as f64).product();
        let mut found = self.divided(&sum, (n - what.correction).max(0.0), element)?;
        if what.how == Reduce::Std {
            let ty = self.emit.module.ty(found.local).clone();
            found.local = self.emit.build().ewuny(EwUny::Sqrt, found.local, ty);
        }
        Some(found)
    }

    /// An operator on a local array and a single number.
    fn local_binary(&mut self, op: EwBin, array: Value, number: Value, element: Scalar) -> Value {
        let shape = self.emit.module.ty(array).shape().unwrap_or(&[]).to_vec();
        self.emit.build().ewbin(op, array, number, Type::array(&shape, element))
    }

    /// A local array without dimensions.
    pub(super) fn single_number(&mut self, number: Attr, element: Scalar) -> Value {
        let number = self.emit.build().constant(number);
        self.emit.build().create(&[], Some(number), Type::array(&[], element))
    }

    /// Puts the result together: of what every rank has, each takes its default part.
    fn give_reduced(&mut self, op: Op, what: &Reducing, reduced: &Reduced) -> Option<()> {
        let Some(env) = self.env(what.result) else {
            // Not distributed: every rank has to have it all.
            reduced.everywhere.then_some(())?;
            let window = self.whole_window(what);
            let local = self.kept(what, reduced.local, &window);
            self.emit.module.replace_uses(what.result, local);
            return Some(());
        };
        let at = match reduced.everywhere {
            true => self.default_result(what, &env),
            false => self.result_box(what),
        };
        let window = match reduced.everywhere {
            true => self.spread_window(what, &at),
            false => self.share_window(what),
        };
        let local = self.kept(what, reduced.local, &window);
        let stops = self.ends(&at);
        self.give(op, &Parts::owned_alone(&at.offsets, &stops, local, env.cut()));
        Some(())
    }

    fn default_result(&mut self, what: &Reducing, env: &DistEnv) -> BoxOf {
        let all: Vec<Value> = flat_shape(what).iter().map(|n| self.emit.index(*n as i64)).collect();
        let sizes = kept_of(what, &all);
        match sizes.is_empty() {
            true => BoxOf { offsets: Vec::new(), sizes },
            false => self.emit.default_box(env, &sizes),
        }
    }

    /// Where a rank's share lies in the result.
    fn result_box(&mut self, what: &Reducing) -> BoxOf {
        let window = self.flat_window(what);
        let left = |values: &[Value]| kept_of(what, values);
        BoxOf { offsets: left(&window.offsets), sizes: left(&window.sizes) }
    }

    /// A part of the result in an array with reduced dimensions of size 1.
    fn spread_window(&mut self, what: &Reducing, at: &BoxOf) -> Window {
        let (zero, one) = (self.emit.index(0), self.emit.index(1));
        let mut window = Window::default();
        let mut next = 0;
        for dim in 0..flat_shape(what).len() {
            let reduced = what.axes.contains(&dim);
            let gone = reduced && !what.keeps;
            let (offset, size) =
                if gone { (zero, one) } else { (at.offsets[next], at.sizes[next]) };
            next += usize::from(!gone);
            window.push(offset, size, Entry::Known(1));
        }
        window
    }

    /// All of a rank's share.
    fn share_window(&mut self, what: &Reducing) -> Window {
        let zero = self.emit.index(0);
        let mut window = Window::default();
        for size in self.flat_window(what).sizes {
            window.push(zero, size, Entry::Known(1));
        }
        window
    }

    fn whole_window(&mut self, what: &Reducing) -> Window {
        let zero = self.emit.index(0);
        let mut window = Window::default();
        for size in flat_shape(what) {
            let size = self.emit.index(size as i64);
            window.push(zero, size, Entry::Known(1));
        }
        window
    }

    /// A window without the dimensions that are gone.
    fn kept(&mut self, what: &Reducing, local: Value, window: &Window) -> Value {
        let element = self.element(what.result);
        if what.keeps || window.sizes.is_empty() {
            return self.window(local, window, element);
        }
        let sizes = kept_of(what, &window.sizes);
        let ty = self.local(&sizes, element);
        let slices = window.slices(&self.emit);
        self.emit.build().subview(local, &slices, ty)
    }

    /// Running sums along a dimension that is not cut.
    pub(super) fn cumulative(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let (input, result) = (module.operands(op)[0], module.result(op));
        let axis = usize::try_from(module.attr(op, "axis")?.as_int()?).ok()?;
        let longer = module.attr(op, "initial").is_some();
        let attrs = module.attrs(op).clone();
        let env = self.env(input)?;
        let there = self.known.by_default.contains(&input) && self.known.all_owned.contains(&input);
        let same = self.env(result)?.grid == env.grid;
        if !there || !same || env.cut().contains(&axis) {
            return None;
        }
        let from = self.parts_of(input).filter(Parts::is_alone)?;
        let mut at = self.owned_box(&from);
        if longer {
            let one = self.emit.index(1);
            at.sizes[axis] = self.emit.add(at.sizes[axis], one);
        }
        let ty = self.local(&at.sizes, self.element(result));
        let mut new = NewOp::new(OpKind::NdarrayCumulative).operands(&[from.own()]).result(ty);
        new.attrs = attrs;
        let local = self.emit.build().value(new);
        let stops = self.ends(&at);
        self.give(op, &Parts::owned_alone(&at.offsets, &stops, local, env.cut()));
        Some(())
    }
}

/// Reductions that have an answer for no elements.
fn is_sum(how: Reduce) -> bool {
    matches!(how, Reduce::Sum | Reduce::Prod | Reduce::All | Reduce::Any | Reduce::CountNonzero)
}

/// The shape of a share that all ranks have: nothing is left of an array that is wholly reduced.
fn flat_shape(what: &Reducing) -> Vec<u64> {
    if what.axes.len() == what.shape.len() && !what.keeps {
        return Vec::new();
    }
    let size = |dim: usize| if what.axes.contains(&dim) { 1 } else { what.shape[dim] };
    (0..what.shape.len()).map(size).collect()
}

/// Of one value per dimension those of dimensions that stay.
fn kept_of(what: &Reducing, values: &[Value]) -> Vec<Value> {
    let stays = |(dim, _): &(usize, &Value)| what.keeps || !what.axes.contains(dim);
    values.iter().enumerate().filter(stays).map(|(_, value)| *value).collect()
}

fn reduction_op(what: &Reducing, how: Reduce, own: Value, ty: Type) -> NewOp {
    let new =
        NewOp::new(OpKind::NdarrayReduction).operands(&[own]).attr("op", Attr::i32(how as i32));
    if flat_shape(what).is_empty() {
        return new.result(ty);
    }
    let axes: Vec<i64> = what.axes.iter().map(|axis| *axis as i64).collect();
    new.attr("axes", Attr::i64s(&axes)).attr("keepdims", Attr::Unit).result(ty)
}
