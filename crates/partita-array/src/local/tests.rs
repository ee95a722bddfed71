//! Random programs, compared with an evaluator that does everything at once and in order.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use partita_kernel::{Dtype, Kind, Machine, Op, Reduction, Scalar, Settings};
use partita_oracle::{Rng, n_cases};

use super::{Array, Engine, Window, broadcast_shapes};

/// An array of whole numbers that is computed at once.
#[derive(Clone)]
struct Model {
    data: Rc<RefCell<Vec<i128>>>,
    window: Window,
}

impl Model {
    fn new(shape: &[usize], data: Vec<i128>) -> Self {
        Self { data: Rc::new(RefCell::new(data)), window: Window::dense(shape) }
    }

    fn values(&self) -> Vec<i128> {
        let data = self.data.borrow();
        places(&self.window).into_iter().map(|at| data[at]).collect()
    }

    fn repeated(&self, shape: &[usize]) -> Vec<i128> {
        let window = self.window.broadcast(shape).expect("fits");
        Self { data: Rc::clone(&self.data), window }.values()
    }
}

fn places(window: &Window) -> Vec<usize> {
    let mut places = vec![window.offset];
    for (size, stride) in window.shape.iter().zip(&window.strides) {
        let steps = |at: isize| (0..*size as isize).map(move |i| at + i * stride);
        places = places.into_iter().flat_map(steps).collect();
    }
    places.into_iter().map(|at| at as usize).collect()
}

/// A number as its type has it.
fn wrapped(value: i128, dtype: Dtype) -> i128 {
    let bits = 8 * dtype.size() as u32;
    let low = value.rem_euclid(1 << bits.min(126));
    match dtype.kind() {
        Kind::Bool => i128::from(value != 0),
        Kind::Unsigned => low,
        Kind::Signed if low >= 1 << (bits - 1) => low - (1 << bits),
        Kind::Signed => low,
        Kind::Float | Kind::Complex => value,
    }
}

fn scalar(engine: &Engine, value: i128, dtype: Dtype) -> Scalar {
    let number = engine.fill(&[1], Scalar::from(value as i64)).expect("a number");
    engine.cast(&number, dtype).expect("a cast").to_scalar().expect("a number")
}

fn whole(array: &Array) -> Vec<i128> {
    let engine = array.engine();
    let real = match array.dtype() {
        Dtype::Complex64 | Dtype::Complex128 => engine.apply(Op::Real, &[array]).expect("real"),
        Dtype::UInt64 => {
            return array.to_vec::<u64>().expect("values").into_iter().map(Into::into).collect();
        }
        _ => array.clone(),
    };
    let numbers = engine.cast(&real, Dtype::Int64).expect("a cast").to_vec::<i64>();
    numbers.expect("values").into_iter().map(Into::into).collect()
}

fn operators(dtype: Dtype) -> &'static [Op] {
    match dtype.kind() {
        Kind::Bool => &[Op::LogicalAnd, Op::LogicalOr, Op::LogicalXor, Op::LogicalNot],
        Kind::Complex => &[Op::Add, Op::Subtract, Op::Negative],
        Kind::Float if dtype.size() == 2 => &[Op::Minimum, Op::Maximum, Op::Negative],
        _ => &[Op::Add, Op::Subtract, Op::Minimum, Op::Maximum, Op::Negative, Op::Add],
    }
}

fn computed(op: Op, x: i128, y: i128) -> i128 {
    match op {
        Op::Add => x + y,
        Op::Subtract => x - y,
        Op::Minimum | Op::LogicalAnd => x.min(y),
        Op::Maximum | Op::LogicalOr => x.max(y),
        Op::Negative => -x,
        Op::LogicalXor => x ^ y,
        Op::LogicalNot => 1 - x,
        other => panic!("no model of {other:?}"),
    }
}

struct Program {
    random: Rng,
    engine: Engine,
    arrays: Vec<(Array, Model)>,
    shapes: Vec<Vec<usize>>,
}

impl Program {
    fn with(seed: u64, engine: Engine) -> Self {
        let mut random = Rng::new(seed);
        random.below(2);
        // The last ones are large enough for new versions of bases.
        let all: [&[usize]; 8] =
            [&[5], &[4, 6], &[2, 3, 4], &[1, 6], &[], &[0, 3], &[72, 70], &[5000]];
        let n_shapes = 1 + random.below(3);
        let shapes = (0..n_shapes).map(|_| random.pick(&all).to_vec()).collect();
        Self { random, engine, arrays: Vec::new(), shapes }
    }

    fn keep(&mut self, array: Array, shape: &[usize], values: Vec<i128>) {
        self.arrays.push((array, Model::new(shape, values)));
    }

    fn create(&mut self) {
        let at = self.random.below(self.shapes.len());
        let shape = self.shapes[at].clone();
        let dtype = self.random.pick(&Dtype::ALL);
        let n: usize = shape.iter().product();
        if self.random.below(3) == 0 {
            let value = wrapped(self.random.below(9) as i128, dtype);
            let number = scalar(&self.engine, value, dtype);
            let array = self.engine.fill(&shape, number).expect("an array");
            return self.keep(array, &shape, vec![value; n]);
        }
        let values: Vec<i128> =
            (0..n).map(|_| wrapped(self.random.below(17) as i128 - 8, dtype)).collect();
        let signed: Vec<i64> = values.iter().map(|v| *v as i64).collect();
        let bytes: Vec<u8> = signed.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let array = self.engine.from_bytes(&shape, Dtype::Int64, &bytes).expect("an array");
        let array = self.engine.cast(&array, dtype).expect("a cast");
        self.keep(array, &shape, values);
    }

    fn view(&mut self) {
        let at = self.random.below(self.arrays.len());
        let (array, model) = self.arrays[at].clone();
        let (mut offsets, mut sizes, mut strides) = (vec![], vec![], vec![]);
        for &n in array.shape() {
            let stride = self.random.pick(&[1_i64, 1, 1, 2, -1, -3]);
            let offset = if n == 0 { 0 } else { self.random.below(n.min(3)) as i64 };
            let offset = if stride < 0 { n as i64 - 1 - offset } else { offset }.max(0);
            let room = if stride < 0 { (offset + 1).min(n as i64) } else { n as i64 - offset };
            let most = (room + stride.abs() - 1) / stride.abs();
            let less = if most == 0 { 0 } else { self.random.below(most.min(3) as usize) as i64 };
            offsets.push(offset);
            sizes.push(most - less);
            strides.push(stride);
        }
        let array = array.slice(&offsets, &sizes, &strides).expect("inside");
        let offsets: Vec<usize> = offsets.iter().map(|o| *o as usize).collect();
        let sizes: Vec<usize> = sizes.iter().map(|s| *s as usize).collect();
        let strides: Vec<isize> = strides.iter().map(|s| *s as isize).collect();
        let window = model.window.slice(&offsets, &sizes, &strides);
        self.arrays.push((array, Model { data: model.data, window }));
    }

    fn apply(&mut self) {
        let (x, y) = self.pair();
        let ((a, m), (b, n)) = (self.arrays[x].clone(), self.arrays[y].clone());
        let op = self.random.pick(operators(a.dtype()));
        let Some(shape) = broadcast_shapes(a.shape(), b.shape()) else { return };
        if op.n_operands() == 1 {
            let values = m.values().into_iter();
            let values = values.map(|v| wrapped(computed(op, v, 0), a.dtype())).collect();
            let made = self.engine.apply(op, &[&a]).expect("a result");
            return self.keep(made, a.shape(), values);
        }
        let pairs = m.repeated(&shape).into_iter().zip(n.repeated(&shape));
        let values = pairs.map(|(v, w)| wrapped(computed(op, v, w), a.dtype())).collect();
        let made = self.engine.apply(op, &[&a, &b]).expect("a result");
        self.keep(made, &shape, values);
    }

    /// Two arrays of one type.
    fn pair(&mut self) -> (usize, usize) {
        let x = self.random.below(self.arrays.len());
        let dtype = self.arrays[x].0.dtype();
        let alike: Vec<usize> =
            (0..self.arrays.len()).filter(|at| self.arrays[*at].0.dtype() == dtype).collect();
        (x, self.random.pick(&alike))
    }

    fn write(&mut self) {
        let (x, y) = self.pair();
        let ((a, m), (b, n)) = (self.arrays[x].clone(), self.arrays[y].clone());
        if n.window.broadcast(a.shape()).is_none() {
            return;
        }
        a.write(&b).expect("a write");
        let values = n.repeated(a.shape());
        let mut data = m.data.borrow_mut();
        places(&m.window).into_iter().zip(values).for_each(|(at, value)| data[at] = value);
    }

    fn cast(&mut self) {
        let types = [Dtype::Int8, Dtype::Int16, Dtype::Int32, Dtype::Int64];
        let types = [&types[..], &[Dtype::Float32, Dtype::Float64]].concat();
        let at = self.random.below(self.arrays.len());
        let (array, model) = self.arrays[at].clone();
        let dtype = self.random.pick(&types);
        // A cast to its own type is the array itself.
        if !types.contains(&array.dtype()) || array.dtype() == dtype {
            return;
        }
        let from_float = array.dtype().kind() == Kind::Float && dtype.kind() == Kind::Signed;
        let most = (1_i128 << (8 * dtype.size() - 1)) - 1;
        let value = |v: &i128| match from_float {
            true => (*v).clamp(-most - 1, most),
            false => wrapped(*v, dtype),
        };
        let values = model.values().iter().map(value).collect();
        let made = self.engine.cast(&array, dtype).expect("a cast");
        self.keep(made, array.shape(), values);
    }

    fn reduce(&mut self) {
        let at = self.random.below(self.arrays.len());
        let (array, model) = self.arrays[at].clone();
        if array.dtype().kind() == Kind::Complex || array.ndim() == 0 || array.n_elements() == 0 {
            return;
        }
        let how = self.random.pick(&[Reduction::Minimum, Reduction::Maximum]);
        let axis = self.random.below(array.ndim());
        let mut shape = array.shape().to_vec();
        shape[axis] = 1;
        let rows: Vec<Vec<i128>> = (0..array.shape()[axis])
            .map(|row| {
                let mut start = vec![0; shape.len()];
                start[axis] = row;
                let window = model.window.slice(&start, &shape, &vec![1; shape.len()]);
                Model { data: Rc::clone(&model.data), window }.values()
            })
            .collect();
        let best = |at: usize| {
            let column = rows.iter().map(|row| row[at]);
            if how == Reduction::Minimum { column.min() } else { column.max() }
        };
        let values = (0..rows[0].len()).map(|at| best(at).expect("a row")).collect();
        let made = self.engine.reduce(&array, how, &[axis]).expect("a result");
        self.keep(made, &shape, values);
    }

    fn step(&mut self) {
        match self.random.below(20) {
            _ if self.arrays.is_empty() => self.create(),
            0 | 1 => self.create(),
            2..=5 => self.view(),
            6..=10 => self.apply(),
            11..=14 => self.write(),
            15 => self.cast(),
            16 => self.reduce(),
            17 | 18 => {
                let at = self.random.below(self.arrays.len());
                self.arrays.swap_remove(at);
            }
            _ => self.engine.flush().expect("a flush"),
        }
    }
}

#[test]
fn random_programs_mean_what_they_say_in_order() {
    for seed in 0..n_cases(3000) {
        let mut program = Program::with(seed, Engine::new());
        // Values double at most with each step, and must stay exact in float32.
        for _ in 0..16 {
            program.step();
        }
        for (at, (array, model)) in program.arrays.iter().enumerate() {
            assert_eq!(whole(array), model.values(), "seed {seed}, array {at}, {}", array.dtype());
        }
    }
}

#[test]
fn a_dropped_temporary_keeps_what_it_was_computed_from() {
    let engine = Engine::new();
    let g = engine.from_bytes(&[1], Dtype::Int64, &1_i64.to_ne_bytes()).expect("an array");
    let t = engine.apply(Op::Add, &[&g, &g]).expect("a sum");
    let ten = engine.fill(&[], Scalar::from(10_i64)).expect("ten");
    g.write(&engine.apply(Op::Multiply, &[&g, &ten]).expect("a product")).expect("a write");
    let three = engine.fill(&[], Scalar::from(3_i64)).expect("three");
    let u = engine.apply(Op::Multiply, &[&t, &three]).expect("a product");
    drop(t);
    assert_eq!((u.to_vec(), g.to_vec()), (Ok(vec![6_i64]), Ok(vec![10_i64])));
}

/// The mean of four neighbours, written back: one loop, and copies of the border.
fn smooth(engine: &Engine, u: &Array) {
    let n = u.shape()[0] as i64 - 2;
    let at = |i, j| u.slice(&[i, j], &[n, n], &[1, 1]).expect("inside");
    let rows = engine.apply(Op::Add, &[&at(0, 1), &at(2, 1)]).expect("a sum");
    let columns = engine.apply(Op::Add, &[&at(1, 0), &at(1, 2)]).expect("a sum");
    let sum = engine.apply(Op::Add, &[&rows, &columns]).expect("a sum");
    let quarter = engine.fill(&[], Scalar::from(0.25)).expect("a number");
    let mean = engine.apply(Op::Multiply, &[&sum, &quarter]).expect("a product");
    drop((rows, columns, sum));
    at(1, 1).write(&mean).expect("a write");
}

#[test]
fn a_stencil_written_back_is_one_loop_and_its_border() {
    let engine = Engine::new();
    let values: Vec<u8> = (0..10_000).flat_map(|i| f64::from(i % 97).to_ne_bytes()).collect();
    let u = engine.from_bytes(&[100, 100], Dtype::Float64, &values).expect("an array");
    smooth(&engine, &u);
    engine.flush().expect("a flush");
    assert_eq!(engine.n_kernels(), 1 + 4);
    smooth(&engine, &u);
    let mut wanted: Vec<f64> = (0..10_000).map(|i| f64::from(i % 97)).collect();
    for _ in 0..2 {
        let old = wanted.clone();
        for (i, j) in (1..99).flat_map(|i| (1..99).map(move |j| (i, j))) {
            let at = |i: usize, j: usize| old[i * 100 + j];
            let sum = (at(i - 1, j) + at(i + 1, j)) + (at(i, j - 1) + at(i, j + 1));
            wanted[i * 100 + j] = sum * 0.25;
        }
    }
    assert_eq!(u.to_vec(), Ok(wanted));
}

#[test]
fn a_loop_without_a_read_is_divided_and_stores_no_temporaries() {
    let values: Vec<u8> = (0..400).flat_map(|i| f64::from(i % 97).to_ne_bytes()).collect();
    let run = |engine: &Engine| {
        let u = engine.from_bytes(&[20, 20], Dtype::Float64, &values).expect("an array");
        let mut most_pending = 0;
        for _ in 0..500 {
            smooth(engine, &u);
            engine.run_ready().expect("a run");
            most_pending = most_pending.max(engine.n_pending());
        }
        (u.to_vec::<f64>().expect("values"), most_pending)
    };
    let machine = Arc::new(Machine::new(Settings::default()));
    let divides = Engine::that_divides(machine);
    let (wanted, _) = run(&Engine::new());
    let (found, most_pending) = run(&divides);
    assert_eq!(found, wanted);
    assert!(most_pending < 200, "{most_pending}");
    // A loop of 20 turns or more makes one schedule; what runs first and last may be others.
    assert!(divides.0.kept.borrow().len() <= 4);
}

#[test]
fn random_programs_mean_the_same_when_they_are_divided() {
    let machine = Arc::new(Machine::new(Settings::default()));
    for seed in 0..n_cases(500) {
        let mut program = Program::with(seed, Engine::that_divides(Arc::clone(&machine)));
        for _ in 0..16 {
            program.step();
            program.engine.run_ready().expect("a run");
        }
        for (at, (array, model)) in program.arrays.iter().enumerate() {
            assert_eq!(whole(array), model.values(), "seed {seed}, array {at}, {}", array.dtype());
        }
    }
}
