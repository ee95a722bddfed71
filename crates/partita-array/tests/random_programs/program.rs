//! Random programs: their text, and what each name stands for.
//!
//! Arrays have one to four dimensions, lie in rows or on grids with one or two cuts, have real or
//! complex elements, and types that say all of their sizes or not. Numbers of slices are written
//! down, or come from an argument that no pass knows.

use std::fmt::Write;

use partita_array::run::Argument;
use partita_ir::{Attr, DistEnv, Form, Grid, Scalar, Size, Type, type_text};
use partita_kernel::Dtype;
use partita_oracle::Rng;

use crate::dense::{Dense, Number, Slice};

const DYNAMIC: i64 = i64::MIN;

/// A value of the program.
#[derive(Clone)]
pub struct Name {
    name: String,
    ty: String,
    grid: Option<Grid>,
    dense: Dense,
    is_complex: bool,
}

pub struct Program {
    random: Rng,
    n_ranks: u64,
    text: String,
    names: Vec<Name>,
    n_names: usize,
}

/// A whole program with what it takes and gives.
pub struct Made {
    pub text: String,
    pub arguments: Vec<Argument>,
    pub wanted: Vec<(Vec<Number>, bool)>,
}

type Combine = fn(Number, Number) -> Number;
type Together = fn(&[Number]) -> Number;

fn add(a: Number, b: Number) -> Number {
    (a.0 + b.0, a.1 + b.1)
}

fn sub(a: Number, b: Number) -> Number {
    (a.0 - b.0, a.1 - b.1)
}

fn sum(all: &[Number]) -> Number {
    all.iter().fold((0.0, 0.0), |a, b| add(a, *b))
}

fn mean(all: &[Number]) -> Number {
    let (sum, n) = (sum(all), all.len() as f64);
    (sum.0 / n, sum.1 / n)
}

fn variance(all: &[Number]) -> Number {
    let middle = mean(all);
    let square = |one: &Number| {
        let distance = sub(*one, middle);
        distance.0 * distance.0 + distance.1 * distance.1
    };
    (all.iter().map(square).sum::<f64>() / all.len() as f64, 0.0)
}

fn deviation(all: &[Number]) -> Number {
    (variance(all).0.sqrt(), 0.0)
}

fn largest(all: &[Number]) -> Number {
    (all.iter().map(|one| one.0).fold(f64::NEG_INFINITY, f64::max), 0.0)
}

fn smallest(all: &[Number]) -> Number {
    (all.iter().map(|one| one.0).fold(f64::INFINITY, f64::min), 0.0)
}

/// Reductions by number: what they compute, whether the result is real.
const REDUCTIONS: [(i32, Together, bool); 6] = [
    (4, sum, false),
    (1, mean, false),
    (0, largest, true),
    (2, smallest, true),
    (5, deviation, true),
    (6, variance, true),
];

impl Program {
    /// The program of a seed.
    pub fn of(seed: u64, n_ranks: u64) -> Made {
        let random = Rng::new(seed);
        let mut made = Self { random, n_ranks, text: String::new(), names: Vec::new(), n_names: 0 };
        let arguments = made.arguments();
        for _ in 0..3 + made.random.below(9) {
            made.statement();
        }
        made.finish(arguments)
    }

    fn statement(&mut self) {
        match self.random.below(16) {
            0..=2 => self.view(),
            3..=6 => self.binary(),
            7 => self.negative(),
            8..=10 => self.write(),
            11 | 12 => self.reduction(),
            13 => self.running(),
            14 => self.turned(),
            _ => self.repeat(),
        }
    }

    fn arguments(&mut self) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let rows = 1 + self.random.below(13);
        let columns = 1 + self.random.below(6);
        for number in 0..1 + self.random.below(3) {
            let shape = match self.random.below(6) {
                0 => vec![rows],
                1 => vec![columns],
                // As few rows as ranks, or fewer: some have a single one.
                2 => vec![1 + rows % 4, columns, 1 + rows % 3],
                3 => vec![1 + rows % 3, 1 + columns % 3, 2, 1 + rows % 2],
                _ => vec![rows, columns],
            };
            let is_complex = self.random.one_in(5);
            let n: usize = shape.iter().product();
            let one = |random: &mut Rng| random.below(19) as f64 - 9.0;
            let values: Vec<Number> = (0..n)
                .map(|_| {
                    let real = one(&mut self.random);
                    (real, if is_complex { one(&mut self.random) } else { 0.0 })
                })
                .collect();
            arguments.push(argument(&shape, &values, is_complex));
            let grid = self.grid(shape.len());
            let ty = self.ty_on(&shape, is_complex, grid.clone());
            let dense = Dense::new(&shape, values);
            self.names.push(Name { name: format!("a{number}"), ty, grid, dense, is_complex });
        }
        arguments
    }

    fn fresh(&mut self) -> String {
        self.n_names += 1;
        format!("v{}", self.n_names)
    }

    /// A type for a new array: 2-d arrays may lie on a grid.
    fn ty(&mut self, shape: &[usize], is_complex: bool) -> (String, Option<Grid>) {
        let grid = self.grid(shape.len());
        (self.ty_on(shape, is_complex, grid.clone()), grid)
    }

    /// The type of an array on a grid; some sizes are left open.
    fn ty_on(&mut self, shape: &[usize], is_complex: bool, grid: Option<Grid>) -> String {
        let open = self.random.one_in(4);
        let size = |random: &mut Rng, n: usize| match open && random.one_in(2) {
            true => Size::Dynamic,
            false => Size::Known(n as u64),
        };
        let sizes: Vec<Size> = shape.iter().map(|n| size(&mut self.random, *n)).collect();
        let team = Attr::i64(1);
        let env = match grid {
            Some(grid) => DistEnv::unknown_on(team, shape.len(), grid),
            None => DistEnv::unknown(team, shape.len()),
        };
        let element = if is_complex { Scalar::Complex64 } else { Scalar::F64 };
        type_text(&Type::dist_array(&sizes, element, env), Form::Generic)
    }

    fn grid(&mut self, ndim: usize) -> Option<Grid> {
        if ndim != 2 || !self.random.one_in(3) {
            return None;
        }
        let n = self.n_ranks;
        let across = (1..=n).filter(|k| n.is_multiple_of(*k)).collect::<Vec<_>>();
        let columns = self.random.pick(&across);
        let known = |n: u64| Size::Known(n);
        Some(match self.random.below(4) {
            0 => Grid { shape: vec![known(n)], cut: vec![1] },
            1 => Grid { shape: vec![Size::Dynamic, known(columns)], cut: vec![0, 1] },
            _ => Grid { shape: vec![known(n / columns), known(columns)], cut: vec![0, 1] },
        })
    }

    fn any(&mut self) -> Name {
        let at = self.random.below(self.names.len());
        self.names[at].clone()
    }

    fn keep(
        &mut self,
        name: String,
        (ty, grid): (String, Option<Grid>),
        dense: Dense,
        is_complex: bool,
    ) {
        self.names.push(Name { name, ty, grid, dense, is_complex });
    }

    /// A slice of a shape; now and then with no entries, or one along a dimension.
    fn slice(&mut self, shape: &[usize]) -> Slice {
        let mut slice = Slice { offsets: vec![], sizes: vec![], strides: vec![] };
        let empty = self.random.one_in(30);
        for &n in shape {
            let random = &mut self.random;
            let stride = random.pick(&[1_i64, 1, 1, 1, 2, -1, -2]);
            let offset = random.below(n.clamp(1, 3)) as i64;
            let offset = if stride < 0 { n as i64 - 1 - offset } else { offset };
            let room = if stride < 0 { offset + 1 } else { n as i64 - offset };
            let most = (room + stride.abs() - 1) / stride.abs();
            let size = match random.below(6) {
                _ if empty || most <= 0 => 0,
                0 => 1,
                _ => most - random.below(most.min(3) as usize) as i64,
            };
            slice.offsets.push(offset.max(0));
            slice.sizes.push(size);
            slice.strides.push(stride);
        }
        slice
    }

    /// The operands and attributes of a slice: some numbers come from `%z`, which is 0.
    fn slice_text(&mut self, slice: &Slice, n_arrays: usize) -> (String, String, String) {
        let open = self.random.one_in(3);
        let (mut names, mut lengths) = (Vec::new(), vec!["1".to_string(); n_arrays]);
        let mut attrs = Vec::new();
        let lists = [
            ("static_offsets", &slice.offsets, open),
            ("static_sizes", &slice.sizes, open && self.random.one_in(2)),
            ("static_strides", &slice.strides, open && self.random.one_in(6)),
        ];
        for (attr, numbers, open) in lists {
            let mut written = Vec::new();
            let before = names.len();
            for number in numbers {
                if open && self.random.one_in(2) {
                    names.push(self.number(*number));
                    written.push(DYNAMIC.to_string());
                } else {
                    written.push(number.to_string());
                }
            }
            lengths.push((names.len() - before).to_string());
            attrs.push(format!("{attr} = array<i64: {}>", written.join(", ")));
        }
        attrs.push(format!("operand_segment_sizes = array<i32: {}>", lengths.join(", ")));
        let operands: String = names.iter().map(|name| format!(", %{name}")).collect();
        let types = ", index".repeat(names.len());
        (operands, attrs.join(", "), types)
    }

    /// A number that only the run knows.
    fn number(&mut self, number: i64) -> String {
        let (constant, name) = (self.fresh(), self.fresh());
        let _ = writeln!(
            self.text,
            "%{constant} = arith.constant {number} : index\n%{name} = arith.addi %z, %{constant} : index"
        );
        name
    }

    fn view(&mut self) {
        let from = self.any();
        if from.dense.shape().is_empty() {
            return;
        }
        let slice = self.slice(from.dense.shape());
        let by_value = self.random.one_in(4);
        let (kind, view) = match by_value {
            true => ("extract_slice", from.dense.view(&slice).copy()),
            false => ("subview", from.dense.view(&slice)),
        };
        let (operands, attrs, types) = self.slice_text(&slice, 1);
        let name = self.fresh();
        let (ty, grid) = match by_value {
            true => self.ty(view.shape(), from.is_complex),
            // A view lies where its source lies.
            false => (self.ty_on(view.shape(), from.is_complex, from.grid.clone()), from.grid),
        };
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.{kind}\"(%{}{operands}) {{{attrs}}} : ({}{types}) -> {ty}",
            from.name, from.ty
        );
        self.keep(name, (ty, grid), view, from.is_complex);
    }

    fn binary(&mut self) {
        let (a, b) = (self.any(), self.any());
        let is_complex = a.is_complex || b.is_complex;
        let larger: Combine = |p, q| (p.0.max(q.0), 0.0);
        let smaller: Combine = |p, q| (p.0.min(q.0), 0.0);
        let all = [(0, add as Combine), (24, sub), (18, larger), (19, smaller)];
        let (op, compute) = self.random.pick(if is_complex { &all[..2] } else { &all });
        let Some(made) = a.dense.combined(&b.dense, compute) else { return };
        let (name, (ty, grid)) = (self.fresh(), self.ty(made.shape(), is_complex));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.ewbin\"(%{}, %{}) {{op = {op} : i32}} : ({}, {}) -> {ty}",
            a.name, b.name, a.ty, b.ty
        );
        self.keep(name, (ty, grid), made, is_complex);
    }

    fn negative(&mut self) {
        let a = self.any();
        let values = a.dense.values().iter().map(|one| (-one.0, -one.1)).collect();
        let made = Dense::new(a.dense.shape(), values);
        let (name, (ty, grid)) = (self.fresh(), self.ty(made.shape(), a.is_complex));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.ewuny\"(%{}) {{op = 30 : i32}} : ({}) -> {ty}",
            a.name, a.ty
        );
        self.keep(name, (ty, grid), made, a.is_complex);
    }

    /// An array that can be written into a slice: of its shape, or without dimensions.
    fn source(&mut self, shape: &[usize], is_complex: bool) -> Option<Name> {
        let single = self.random.one_in(4);
        let wanted: &[usize] = if single { &[] } else { shape };
        let fits = |one: &&Name| one.dense.shape() == wanted && one.is_complex == is_complex;
        let found: Vec<Name> = self.names.iter().filter(fits).cloned().collect();
        if found.is_empty() { None } else { Some(found[self.random.below(found.len())].clone()) }
    }

    fn write(&mut self) {
        let into = self.any();
        if into.dense.shape().is_empty() {
            return;
        }
        let slice = self.slice(into.dense.shape());
        let sizes: Vec<usize> = slice.sizes.iter().map(|n| *n as usize).collect();
        let Some(from) = self.source(&sizes, into.is_complex) else { return };
        let values = from.dense.values();
        let by_value = self.random.one_in(4);
        let target = if by_value { into.dense.copy() } else { into.dense.clone() };
        if !sizes.contains(&0) {
            target.view(&slice).write(&values);
        }
        let (operands, attrs, types) = self.slice_text(&slice, 2);
        let what = format!("(%{}, %{}{operands}) {{{attrs}}}", into.name, from.name);
        let types = format!("({}, {}{types})", into.ty, from.ty);
        if by_value {
            let (name, ty) = (self.fresh(), into.ty.clone());
            let _ = writeln!(
                self.text,
                "%{name} = \"ndarray.immutable_insert_slice\"{what} : {types} -> {ty}"
            );
            self.keep(name, (ty, into.grid), target, into.is_complex);
        } else {
            let _ = writeln!(self.text, "\"ndarray.insert_slice\"{what} : {types} -> ()");
        }
    }

    fn reduction(&mut self) {
        let from = self.any();
        let ndim = from.dense.shape().len();
        let (op, compute, is_real) = self.random.pick(&REDUCTIONS);
        let ordered = op == 0 || op == 2;
        let axes: Vec<usize> = match self.random.below(3) {
            0 if ndim > 0 => vec![self.random.below(ndim)],
            1 if ndim > 2 => vec![self.random.below(ndim - 1), ndim - 1],
            _ => (0..ndim).collect(),
        };
        let keeps = self.random.one_in(3);
        let nothing = from.dense.shape().contains(&0);
        if from.is_complex && ordered || nothing && op != 4 {
            return;
        }
        let made = from.dense.reduced(&axes, keeps, compute);
        let is_complex = from.is_complex && !is_real;
        let numbers: Vec<String> = axes.iter().map(ToString::to_string).collect();
        let mut attrs = format!("op = {op} : i32");
        if axes.len() < ndim || self.random.one_in(2) && ndim > 0 {
            let _ = write!(attrs, ", axes = array<i64: {}>", numbers.join(", "));
        }
        if keeps {
            attrs.push_str(", keepdims");
        }
        let (name, (ty, grid)) = (self.fresh(), self.ty(made.shape(), is_complex));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.reduction\"(%{}) {{{attrs}}} : ({}) -> {ty}",
            from.name, from.ty
        );
        self.keep(name, (ty, grid), made, is_complex);
    }

    fn running(&mut self) {
        let from = self.any();
        let ndim = from.dense.shape().len();
        if ndim == 0 || from.dense.shape().contains(&0) {
            return;
        }
        let axis = self.random.below(ndim);
        let made = from.dense.running_sum(axis);
        let (name, (ty, grid)) = (self.fresh(), self.ty(made.shape(), from.is_complex));
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.cumulative\"(%{}) {{op = 4 : i32, axis = {axis} : i64}} : ({}) -> {ty}",
            from.name, from.ty
        );
        self.keep(name, (ty, grid), made, from.is_complex);
    }

    /// The dimensions turned, or all of them made one.
    fn turned(&mut self) {
        let from = self.any();
        let ndim = from.dense.shape().len();
        if ndim < 2 {
            return;
        }
        let (name, n) = (self.fresh(), from.dense.shape().iter().product::<usize>());
        if self.random.one_in(2) {
            let axes: Vec<usize> = (0..ndim).rev().collect();
            let made = from.dense.permuted(&axes);
            let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
            let (ty, grid) = self.ty(made.shape(), from.is_complex);
            let _ = writeln!(
                self.text,
                "%{name} = \"ndarray.permute_dims\"(%{}) {{axes = array<i64: {}>}} : ({}) -> {ty}",
                from.name,
                axes.join(", "),
                from.ty
            );
            return self.keep(name, (ty, grid), made, from.is_complex);
        }
        let size = self.number(n as i64);
        let made = from.dense.reshaped(&[n]);
        let (ty, grid) = self.ty(made.shape(), from.is_complex);
        let _ = writeln!(
            self.text,
            "%{name} = \"ndarray.reshape\"(%{}, %{size}) {{copy = true}} : ({}, index) -> {ty}",
            from.name, from.ty
        );
        self.keep(name, (ty, grid), made, from.is_complex);
    }

    /// Twice the same update of an array in place.
    fn repeat(&mut self) {
        let array = self.any();
        if array.dense.shape().is_empty() {
            return;
        }
        let (to, from) = (self.slice(array.dense.shape()), self.slice(array.dense.shape()));
        if to.sizes != from.sizes || to.sizes.contains(&0) {
            return;
        }
        for _ in 0..2 {
            let both = array.dense.view(&to).combined(&array.dense.view(&from), add);
            array.dense.view(&to).write(&both.expect("one shape").values());
        }
        let (o, a, t) = self.slice_text(&to, 1);
        let (p, b, u) = self.slice_text(&from, 1);
        let (q, c, w) = self.slice_text(&to, 2);
        let sizes: Vec<usize> = to.sizes.iter().map(|n| *n as usize).collect();
        let v = self.ty_on(&sizes, array.is_complex, array.grid.clone());
        let (lower, upper) = (self.fresh(), self.fresh());
        let [i, x, y, z] = [(); 4].map(|()| self.fresh());
        let (name, t0) = (&array.name, &array.ty);
        let _ = writeln!(
            self.text,
            "%{lower} = arith.constant 1 : index\n%{upper} = arith.constant 3 : index\n\
             scf.for %{i} = %{lower} to %{upper} step %{lower} {{\n\
             %{x} = \"ndarray.subview\"(%{name}{o}) {{{a}}} : ({t0}{t}) -> {v}\n\
             %{y} = \"ndarray.subview\"(%{name}{p}) {{{b}}} : ({t0}{u}) -> {v}\n\
             %{z} = \"ndarray.ewbin\"(%{x}, %{y}) {{op = 0 : i32}} : ({v}, {v}) -> {v}\n\
             \"ndarray.insert_slice\"(%{name}, %{z}{q}) {{{c}}} : ({t0}, {v}{w}) -> ()\n}}"
        );
    }

    fn finish(mut self, mut arguments: Vec<Argument>) -> Made {
        let n_arguments = arguments.len();
        let formal: Vec<String> = self.names[..n_arguments]
            .iter()
            .map(|one| format!("%{}: {}", one.name, one.ty))
            .collect();
        let mut returned = self.names[..n_arguments].to_vec();
        for _ in 0..2 {
            let one = self.any();
            returned.push(one);
        }
        let types: Vec<&str> = returned.iter().map(|one| one.ty.as_str()).collect();
        let names: Vec<String> = returned.iter().map(|one| format!("%{}", one.name)).collect();
        let (types, names) = (types.join(", "), names.join(", "));
        let text = format!(
            "func.func @f({}, %z: index) -> ({types}) {{\n{}return {names} : {types}\n}}\n",
            formal.join(", "),
            self.text
        );
        arguments.push(Argument::Number(partita_array::run::Number::Int(0)));
        let wanted = returned.iter().map(|one| (one.dense.values(), one.is_complex)).collect();
        Made { text, arguments, wanted }
    }
}

fn argument(shape: &[usize], values: &[Number], is_complex: bool) -> Argument {
    let parts = |one: &Number| if is_complex { vec![one.0, one.1] } else { vec![one.0] };
    let bytes: Vec<u8> = values.iter().flat_map(parts).flat_map(f64::to_ne_bytes).collect();
    let dtype = if is_complex { Dtype::Complex128 } else { Dtype::Float64 };
    Argument::Array { shape: shape.to_vec(), dtype, bytes: bytes.into() }
}
