//! Random programs mean the same before and after passes, on every number of ranks.
//!
//! A program has views with strides, writes through views, aliasing, sizes that do not divide,
//! loops, reductions. `PARTITA_CASES` says how many, `PARTITA_SEED` where to begin.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use partita_array::local::Window;
use partita_array::run::{Argument, Gather, ResultValue};
use partita_array::run_on_threads;
use partita_ir::{Module, passes};
use partita_kernel::Dtype;
use partita_oracle::{Rng, n_cases};

/// A dense array or a view of one, computed at once.
#[derive(Clone)]
struct Dense {
    data: Rc<RefCell<Vec<f64>>>,
    window: Window,
}

impl Dense {
    fn new(shape: &[usize], data: Vec<f64>) -> Self {
        Self { data: Rc::new(RefCell::new(data)), window: Window::dense(shape) }
    }

    fn places(&self) -> Vec<usize> {
        let mut places = vec![self.window.offset];
        for (size, stride) in self.window.shape.iter().zip(&self.window.strides) {
            let steps = |at: isize| (0..*size as isize).map(move |i| at + i * stride);
            places = places.into_iter().flat_map(steps).collect();
        }
        places.into_iter().map(|at| at as usize).collect()
    }

    fn values(&self) -> Vec<f64> {
        let data = self.data.borrow();
        self.places().into_iter().map(|at| data[at]).collect()
    }

    fn write(&self, values: &[f64]) {
        let mut data = self.data.borrow_mut();
        let from = |at: usize| values[at % values.len()];
        self.places().into_iter().enumerate().for_each(|(i, at)| data[at] = from(i));
    }

    fn view(&self, slice: &Slice) -> Self {
        let offsets: Vec<usize> = slice.offsets.iter().map(|o| *o as usize).collect();
        let sizes: Vec<usize> = slice.sizes.iter().map(|s| *s as usize).collect();
        let strides: Vec<isize> = slice.strides.iter().map(|s| *s as isize).collect();
        let window = self.window.slice(&offsets, &sizes, &strides);
        Self { data: Rc::clone(&self.data), window }
    }

    fn shape(&self) -> &[usize] {
        &self.window.shape
    }
}

#[derive(Clone, Debug)]
struct Slice {
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Slice {
    fn random(random: &mut Rng, shape: &[usize]) -> Self {
        let mut slice = Self { offsets: vec![], sizes: vec![], strides: vec![] };
        for &n in shape {
            let stride = random.pick(&[1_i64, 1, 1, 1, 2, -1, -2]);
            let offset = random.below(n.min(3)) as i64;
            let offset = if stride < 0 { n as i64 - 1 - offset } else { offset };
            let room = if stride < 0 { offset + 1 } else { n as i64 - offset };
            let most = (room + stride.abs() - 1) / stride.abs();
            slice.offsets.push(offset);
            slice.sizes.push(most - random.below(most.min(3) as usize) as i64);
            slice.strides.push(stride);
        }
        slice
    }

    fn attrs(&self) -> String {
        let list = |numbers: &[i64]| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        format!(
            "{{static_offsets = array<i64: {}>, static_sizes = array<i64: {}>, static_strides = array<i64: {}>}}",
            list(&self.offsets),
            list(&self.sizes),
            list(&self.strides)
        )
    }
}

/// The type of a distributed array of float64.
fn ty(shape: &[usize]) -> String {
    let any = vec!["-9223372036854775808"; shape.len()].join(", ");
    let sizes: String = shape.iter().map(|n| format!("{n}x")).collect();
    let part = format!("array<i64: {any}>");
    let env = match shape.len() {
        0 => "1 : i64, array<i64>, []".to_string(),
        _ => format!("1 : i64, {part}, [{part}, {part}, {part}]"),
    };
    format!("!ndarray.ndarray<tensor<{sizes}f64>, #dist.dist_env<{env}>>")
}

/// A program under construction: its text, and what each name stands for.
struct Program {
    random: Rng,
    text: String,
    names: Vec<(String, Dense)>,
    n_names: usize,
}

impl Program {
    fn new(seed: u64) -> (Self, Vec<Argument>) {
        let mut random = Rng::new(seed);
        let shape: Vec<usize> = match random.below(3) {
            0 => vec![1 + random.below(13)],
            _ => vec![1 + random.below(13), 1 + random.below(6)],
        };
        let mut made = Self { random, text: String::new(), names: Vec::new(), n_names: 0 };
        let mut arguments = Vec::new();
        let n_arguments = 1 + made.random.below(2);
        for number in 0..n_arguments {
            let n: usize = shape.iter().product();
            let values: Vec<f64> = (0..n).map(|_| made.random.below(19) as f64 - 9.0).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
            let (shape, dtype) = (shape.clone(), Dtype::Float64);
            arguments.push(Argument::Array { shape: shape.clone(), dtype, bytes: bytes.into() });
            made.names.push((format!("a{number}"), Dense::new(&shape, values)));
        }
        (made, arguments)
    }

    fn fresh(&mut self) -> String {
        self.n_names += 1;
        format!("v{}", self.n_names)
    }

    fn any(&mut self) -> (String, Dense) {
        let at = self.random.below(self.names.len());
        self.names[at].clone()
    }

    fn alike(&mut self, shape: &[usize]) -> Option<(String, Dense)> {
        let fits = |one: &&(String, Dense)| one.1.shape() == shape;
        let found: Vec<(String, Dense)> = self.names.iter().filter(fits).cloned().collect();
        if found.is_empty() { None } else { Some(found[self.random.below(found.len())].clone()) }
    }

    fn view(&mut self) {
        let (from, dense) = self.any();
        if dense.shape().is_empty() {
            return;
        }
        let slice = Slice::random(&mut self.random, dense.shape());
        let (name, view) = (self.fresh(), dense.view(&slice));
        let (old, new) = (ty(dense.shape()), ty(view.shape()));
        let attrs = slice.attrs();
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.subview\"(%{from}) {attrs} : ({old}) -> {new}"
        );
        self.names.push((name, view));
    }

    fn binary(&mut self) {
        let (x, a) = self.any();
        let Some((y, b)) = self.alike(a.shape()) else { return };
        let (op, compute): (i32, fn(f64, f64) -> f64) = self.random.pick(&[
            (0, (|p, q| p + q) as fn(f64, f64) -> f64),
            (24, |p, q| p - q),
            (18, f64::max),
            (19, f64::min),
        ]);
        let values = a.values().into_iter().zip(b.values()).map(|(p, q)| compute(p, q)).collect();
        let (name, t) = (self.fresh(), ty(a.shape()));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.ewbin\"(%{x}, %{y}) {{op = {op} : i32}} : ({t}, {t}) -> {t}"
        );
        self.names.push((name, Dense::new(a.shape(), values)));
    }

    fn write(&mut self) {
        let (to, dense) = self.any();
        if dense.shape().is_empty() {
            return;
        }
        let slice = Slice::random(&mut self.random, dense.shape());
        let view = dense.view(&slice);
        let source = match self.random.below(4) {
            0 => self.alike(&[]),
            _ => self.alike(view.shape()),
        };
        let Some((from, source)) = source else { return };
        let values = source.values();
        view.write(&values);
        let (d, s) = (ty(dense.shape()), ty(source.shape()));
        let attrs = slice.attrs();
        let _ = writeln!(
            self.text,
            "\"ndarray.insert_slice\"(%{to}, %{from}) {attrs} : ({d}, {s}) -> ()"
        );
    }

    fn sum(&mut self) {
        let (from, dense) = self.any();
        let value = dense.values().iter().sum();
        let (name, t, zero) = (self.fresh(), ty(dense.shape()), ty(&[]));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.reduction\"(%{from}) {{op = 4 : i32}} : ({t}) -> {zero}"
        );
        self.names.push((name, Dense::new(&[], vec![value])));
    }

    /// Twice the same update of an array in place.
    fn repeat(&mut self) {
        let (array, dense) = self.any();
        if dense.shape().is_empty() {
            return;
        }
        let (to, from) = (
            Slice::random(&mut self.random, dense.shape()),
            Slice::random(&mut self.random, dense.shape()),
        );
        if to.sizes != from.sizes {
            return;
        }
        let (lower, upper) = (self.fresh(), self.fresh());
        let [i, x, y, z] = [(); 4].map(|()| self.fresh());
        for _ in 0..2 {
            let (p, q) = (dense.view(&to).values(), dense.view(&from).values());
            let sum: Vec<f64> = p.iter().zip(&q).map(|(p, q)| p.max(*q)).collect();
            dense.view(&to).write(&sum);
        }
        let (t, v) = (ty(dense.shape()), ty(dense.view(&to).shape()));
        let _ = writeln!(
            self.text,
            "%{lower} = arith.constant 1 : index\n%{upper} = arith.constant 3 : index\n\
             scf.for %{i} = %{lower} to %{upper} step %{lower} {{\n\
             %{x} = \"ndarray.subview\"(%{array}) {} : ({t}) -> {v}\n\
             %{y} = \"ndarray.subview\"(%{array}) {} : ({t}) -> {v}\n\
             %{z} = \"ndarray.ewbin\"(%{x}, %{y}) {{op = 18 : i32}} : ({v}, {v}) -> {v}\n\
             \"ndarray.insert_slice\"(%{array}, %{z}) {} : ({t}, {v}) -> ()\n}}",
            to.attrs(),
            from.attrs(),
            to.attrs()
        );
    }

    fn finish(mut self, n_arguments: usize) -> (String, Vec<Vec<f64>>) {
        let arguments: Vec<String> = self.names[..n_arguments]
            .iter()
            .map(|(name, dense)| format!("%{name}: {}", ty(dense.shape())))
            .collect();
        let mut returned = self.names[..n_arguments].to_vec();
        for _ in 0..2 {
            let one = self.any();
            returned.push(one);
        }
        let types: Vec<String> = returned.iter().map(|(_, dense)| ty(dense.shape())).collect();
        let names: Vec<String> = returned.iter().map(|(name, _)| format!("%{name}")).collect();
        let (types, names) = (types.join(", "), names.join(", "));
        let text = format!(
            "func.func @f({}) -> ({types}) {{\n{}return {names} : {types}\n}}\n",
            arguments.join(", "),
            self.text
        );
        (text, returned.iter().map(|(_, dense)| dense.values()).collect())
    }
}

fn program(seed: u64) -> (String, Vec<Argument>, Vec<Vec<f64>>) {
    let (mut program, arguments) = Program::new(seed);
    for _ in 0..3 + program.random.below(9) {
        match program.random.below(10) {
            0..=2 => program.view(),
            3..=5 => program.binary(),
            6 | 7 => program.write(),
            8 => program.sum(),
            _ => program.repeat(),
        }
    }
    let (text, wanted) = program.finish(arguments.len());
    (text, arguments, wanted)
}

fn check(seed: u64, after: &str, module: &Module, arguments: &[Argument], wanted: &[Vec<f64>]) {
    let n_ranks = 1 + seed % 5;
    let shown = || partita_ir::print(module, partita_ir::Form::Generic);
    let reports = run_on_threads(module, "f", arguments, n_ranks, Gather::First);
    let reports = reports.unwrap_or_else(|error| {
        panic!("seed {seed}, {n_ranks} ranks, after {after}: {error}\n{}", shown())
    });
    let values = |one: &ResultValue| -> Vec<f64> {
        let ResultValue::Array(dense) = one else { panic!("{one:?}") };
        let words = dense.bytes.chunks_exact(8);
        words.map(|w| f64::from_ne_bytes(w.try_into().expect("8 bytes"))).collect()
    };
    let found: Vec<Vec<f64>> = reports[0].results.iter().map(values).collect();
    assert!(
        found == wanted,
        "seed {seed}, {n_ranks} ranks, after {after}:\n{found:?}\n{wanted:?}\n{}",
        shown()
    );
}

#[test]
fn random_programs_mean_the_same_after_every_pass() {
    let variable = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = variable("PARTITA_SEED").unwrap_or(0);
    for seed in first..first + n_cases(10_000) {
        let (text, arguments, wanted) = program(seed);
        let mut module = partita_ir::parse(&text).unwrap_or_else(|found| panic!("{found}\n{text}"));
        check(seed, "no pass", &module, &arguments, &wanted);
        // One prefix of the pipeline besides the whole: all of them have their turn.
        let n_passes = passes::DEFAULT_PIPELINE.len() as u64;
        let stop = (seed / 5) % n_passes;
        for (number, pass) in (0..).zip(passes::DEFAULT_PIPELINE) {
            passes::apply(&mut module, pass).expect("a pass");
            if number == stop || number + 1 == n_passes {
                check(seed, pass, &module, &arguments, &wanted);
            }
        }
    }
}
