//! What programs of known shape cost, and how long passes take.

use std::time::{Duration, Instant};

use partita_ir::passes::{Costs, Options, apply_default, explain};
use partita_ir::{Attr, Builder, DistEnv, EwBin, Module, OpKind, Scalar, Size, Slices};
use partita_ir::{Type, Value};

fn dist(shape: &[u64]) -> Type {
    let sizes: Vec<Size> = shape.iter().map(|size| Size::Known(*size)).collect();
    Type::dist_array(&sizes, Scalar::F64, DistEnv::unknown(Attr::i64(1), shape.len()))
}

/// A cross of radius 2 on `n` by `n`: the centre with a weight, each arm with the arm across; 17
/// shifted views of one array, 18 operations, added up and written into another.
fn cross(n: u64) -> Module {
    let mut module = Module::new();
    let (whole, inner) = (dist(&[n, n]), dist(&[n - 4, n - 4]));
    let single = dist(&[]);
    let f = module.add_function("cross", &[whole.clone(), whole, single], &[]);
    let body = module.body(f).expect("a body");
    let [from, into, weight] = module.arguments(body)[..] else { panic!("three arguments") };
    let size = n as i64 - 4;
    let slice = |row: i64, column: i64| Slices::known(&[row, column], &[size, size], &[1, 1]);
    let mut b = Builder::at_end(&mut module, body);
    let mut sum = b.subview(into, &slice(2, 2), inner.clone());
    let arms = [(2, 2), (1, 2), (0, 2), (3, 2), (4, 2), (2, 1), (2, 0), (2, 3), (2, 4)];
    for (row, column) in arms {
        let view = b.subview(from, &slice(row, column), inner.clone());
        let factor = match (row, column) {
            (2, 2) => weight,
            _ => b.subview(from, &slice(4 - row, 4 - column), inner.clone()),
        };
        let term = b.ewbin(EwBin::Multiply, view, factor, inner.clone());
        sum = b.ewbin(EwBin::Add, sum, term, inner.clone());
    }
    b.insert_slice(into, sum, &slice(2, 2));
    b.ret(&[]);
    module
}

#[test]
fn a_cross_is_one_exchange_and_a_core_between_start_and_wait() {
    let found = explain(&cross(512), 3).expect("an explanation");
    let Costs { before, after, .. } = &found.functions[0];
    assert_eq!((before.exchanges, before.bytes), (36, 186_944), "{found}");
    assert_eq!(after.exchanges, 1, "{found}");
    // Two rows of 508 columns over each of two borders, both ways.
    assert_eq!(after.bytes, 2 * 2 * 2 * 508 * 8 + extra_columns(), "{found}");
    assert_eq!(after.cores[1], [167, 508], "{found}");
    assert!(found.to_string().contains("rank 1 computes 167x508 while data are under way"));
}

/// The box around the cross is 512 columns wide where its arms are.
fn extra_columns() -> u64 {
    2 * 2 * 2 * 4 * 8
}

#[test]
fn edges_are_thin() {
    let mut module = cross(512);
    let options = Options { n_ranks: Some(3), rank: Some(1) };
    apply_default(&mut module, &options).expect("the passes");
    let mut rows = Vec::new();
    for op in module.walk(module.top()) {
        if module.kind(op) == OpKind::NdarrayEwBin {
            let shape = module.ty(module.result(op)).shape().expect("a shape");
            rows.push(shape[0].known().expect("a known size"));
        }
    }
    assert_eq!(rows.iter().filter(|n| **n == 167).count(), 18);
    assert_eq!(rows.iter().filter(|n| **n == 2).count(), 36);
    assert_eq!(rows.len(), 54);
}

/// A function on arrays of `n` by `n`, of which `n` by `n` less two are written in each statement.
struct Steps<'m> {
    b: Builder<'m>,
    n: i64,
    inner: Type,
}

impl Steps<'_> {
    fn view(&mut self, array: Value, row: i64, column: i64) -> Value {
        let slice = self.slice(row, column);
        let inner = self.inner.clone();
        self.b.subview(array, &slice, inner)
    }

    fn slice(&self, row: i64, column: i64) -> Slices {
        Slices::known(&[row, column], &[self.n - 2, self.n - 2], &[1, 1])
    }

    fn op(&mut self, op: EwBin, lhs: Value, rhs: Value) -> Value {
        let inner = self.inner.clone();
        self.b.ewbin(op, lhs, rhs, inner)
    }

    /// The difference of two neighbours, times a number.
    fn slope(&mut self, array: Value, from: (i64, i64), to: (i64, i64), factor: Value) -> Value {
        let (high, low) = (self.view(array, to.0, to.1), self.view(array, from.0, from.1));
        let difference = self.op(EwBin::Subtract, high, low);
        self.op(EwBin::Multiply, difference, factor)
    }

    fn write(&mut self, into: Value, value: Value) {
        let slice = self.slice(1, 1);
        self.b.insert_slice(into, value, &slice);
    }
}

fn steps(n: u64, n_arrays: usize, build: impl Fn(&mut Steps<'_>, &[Value])) -> Module {
    let mut module = Module::new();
    let mut types = vec![dist(&[n, n]); n_arrays];
    types.push(dist(&[]));
    let f = module.add_function("step", &types, &[]);
    let body = module.body(f).expect("a body");
    let arguments = module.arguments(body).to_vec();
    let b = Builder::at_end(&mut module, body);
    let mut all = Steps { b, n: n as i64, inner: dist(&[n - 2, n - 2]) };
    build(&mut all, &arguments);
    all.b.ret(&[]);
    module
}

/// The wave equation: the next state from the five-point sum of this one and the one before.
fn wave(n: u64) -> Module {
    steps(n, 3, |steps, arguments| {
        let [now, before, next, factor] = arguments[..] else { panic!("four arguments") };
        let here = steps.view(now, 1, 1);
        let mut sum = steps.view(now, 0, 1);
        for (row, column) in [(2, 1), (1, 0), (1, 2)] {
            let neighbour = steps.view(now, row, column);
            sum = steps.op(EwBin::Add, sum, neighbour);
        }
        let scaled = steps.op(EwBin::Multiply, sum, factor);
        let twice = steps.op(EwBin::Add, here, here);
        let before = steps.view(before, 1, 1);
        let change = steps.op(EwBin::Subtract, twice, before);
        let state = steps.op(EwBin::Add, change, scaled);
        steps.write(next, state);
    })
}

/// Shallow water: slopes of the height change the flows, then slopes of the flows the height.
fn shallow_water(n: u64) -> Module {
    steps(n, 3, |steps, arguments| {
        let [east, north, height, factor] = arguments[..] else { panic!("four arguments") };
        for (flow, from) in [(east, (1, 0)), (north, (0, 1))] {
            let slope = steps.slope(height, from, (1, 1), factor);
            let old = steps.view(flow, 1, 1);
            let new = steps.op(EwBin::Subtract, old, slope);
            steps.write(flow, new);
        }
        let along = steps.slope(east, (1, 1), (1, 2), factor);
        let across = steps.slope(north, (1, 1), (2, 1), factor);
        let both = steps.op(EwBin::Add, along, across);
        let old = steps.view(height, 1, 1);
        let new = steps.op(EwBin::Subtract, old, both);
        steps.write(height, new);
    })
}

#[test]
fn a_wave_is_one_exchange_of_a_row_each_way() {
    let found = explain(&wave(120), 3).expect("an explanation");
    let Costs { before, after, .. } = &found.functions[0];
    // A row of all columns over each of two borders, both ways.
    assert_eq!((after.exchanges, after.bytes), (1, 2 * 2 * 120 * 8), "{found}");
    assert_eq!((before.exchanges, before.bytes), (14, 9440), "{found}");
    assert_eq!(after.cores[1], [38, 118], "{found}");
}

#[test]
fn shallow_water_moves_what_slopes_need() {
    let found = explain(&shallow_water(120), 3).expect("an explanation");
    let Costs { before, after, .. } = &found.functions[0];
    // A row of the height moves over each of two borders before the flows change, and a row of the
    // northern flow before the height does. Two more exchanges find nothing to move.
    assert_eq!((after.exchanges, after.bytes), (4, 2 * 2 * 118 * 8), "{found}");
    assert_eq!((before.exchanges, before.bytes), (23, 15_104), "{found}");
    // A program for one rank knows that, and does without them.
    let mut module = shallow_water(120);
    let options = Options { n_ranks: Some(3), rank: Some(1) };
    apply_default(&mut module, &options).expect("the passes");
    let ops = module.walk(module.top()).into_iter();
    assert_eq!(ops.filter(|op| module.kind(*op) == OpKind::RuntimeGetHalo).count(), 2);
}

/// Statements one after the other, about ten operations each.
fn long(n_statements: i64) -> Module {
    let mut module = Module::new();
    let (whole, inner) = (dist(&[64, 64]), dist(&[62, 62]));
    let f = module.add_function("long", &[whole.clone(), whole], &[]);
    let body = module.body(f).expect("a body");
    let [a, x] = module.arguments(body)[..] else { panic!("two arguments") };
    let mut b = Builder::at_end(&mut module, body);
    for number in 0..n_statements {
        let (from, into) = if number % 2 == 0 { (a, x) } else { (x, a) };
        let slice = |row: i64| Slices::known(&[row, 1], &[62, 62], &[1, 1]);
        let mut sum = b.subview(from, &slice(1), inner.clone());
        for row in [0, 2, 1, 0] {
            let view = b.subview(from, &slice(row), inner.clone());
            sum = b.ewbin(EwBin::Add, sum, view, inner.clone());
        }
        b.insert_slice(into, sum, &slice(1));
    }
    b.ret(&[]);
    module
}

fn time(n_statements: i64) -> Duration {
    let once = || {
        let mut module = long(n_statements);
        let start = Instant::now();
        apply_default(&mut module, &Options::default()).expect("the passes");
        start.elapsed()
    };
    (0..3).map(|_| once()).min().expect("three times")
}

#[test]
fn passes_take_time_in_proportion() {
    let (short, long) = (time(50), time(500));
    println!("500 operations {short:?}, 5000 operations {long:?}");
    assert!(long < short * 40, "ten times the program takes {long:?} instead of {short:?}");
}
