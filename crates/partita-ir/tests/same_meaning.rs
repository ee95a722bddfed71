//! Random programs mean the same before and after every pass, on any number of ranks.

use partita_ir::model::{Item, World};
use partita_ir::passes::{DEFAULT_PIPELINE, Options, apply_with};
use partita_ir::{
    Attr, Block, Builder, DistEnv, EwBin, EwUny, Form, Grid, Module, Reduce, Scalar, Size, Slices,
    Type, Value, print,
};

/// A small generator of numbers (xorshift), so that a seed says everything.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as i64
    }
}

struct Writer {
    dice: Dice,
    shape: Vec<i64>,
    grid: Option<Grid>,
}

impl Writer {
    fn ty(&self, shape: &[i64]) -> Type {
        let sizes: Vec<Size> = shape.iter().map(|size| Size::Known(*size as u64)).collect();
        let env = match &self.grid {
            Some(grid) => DistEnv::unknown_on(Attr::i64(1), shape.len(), grid.clone()),
            None => DistEnv::unknown(Attr::i64(1), shape.len()),
        };
        Type::dist_array(&sizes, Scalar::F64, env)
    }

    /// A slice of a shape, of the array's own.
    fn slices(&mut self, of: &[i64], sizes: &[i64]) -> Slices {
        let (mut offsets, mut strides) = (Vec::new(), Vec::new());
        for (extent, size) in of.iter().zip(sizes) {
            let most = if *size > 1 { (extent - 1) / (size - 1) } else { 2 };
            let stride = if self.dice.below(4) == 0 { 1 + self.dice.below(most.min(3)) } else { 1 };
            let reach = (size - 1).max(0) * stride;
            let offset = self.dice.below(extent - reach);
            if self.dice.below(9) == 0 && *size > 0 {
                offsets.push(offset + reach);
                strides.push(-stride);
            } else {
                offsets.push(offset);
                strides.push(stride);
            }
        }
        Slices::known(&offsets, sizes, &strides)
    }

    fn expression(&mut self, b: &mut Builder<'_>, arrays: &[Value], sizes: &[i64]) -> Value {
        let ty = self.ty(sizes);
        let n = 1 + self.dice.below(4);
        let mut sum = None;
        for _ in 0..n {
            let array = arrays[self.dice.below(arrays.len() as i64) as usize];
            let of = self.shape.clone();
            let slices = self.slices(&of, sizes);
            let mut term = b.subview(array, &slices, ty.clone());
            if self.dice.below(3) == 0 {
                term = b.ewuny(EwUny::Negative, term, ty.clone());
            }
            let op = [EwBin::Add, EwBin::Subtract, EwBin::Maximum][self.dice.below(3) as usize];
            sum = Some(match sum {
                None => term,
                Some(sum) => b.ewbin(op, sum, term, ty.clone()),
            });
        }
        sum.expect("a term")
    }

    fn sizes(&mut self) -> Vec<i64> {
        let shape = self.shape.clone();
        shape.iter().map(|extent| extent - self.dice.below((extent / 2).max(1))).collect()
    }

    fn statements(&mut self, b: &mut Builder<'_>, arrays: &[Value], n: i64) {
        for _ in 0..n {
            let sizes = self.sizes();
            let value = self.expression(b, arrays, &sizes);
            let into = arrays[self.dice.below(arrays.len() as i64) as usize];
            let of = self.shape.clone();
            let slices = self.slices(&of, &sizes);
            b.insert_slice(into, value, &slices);
        }
    }

    fn program(&mut self) -> Module {
        let mut module = Module::new();
        let ty = self.ty(&self.shape.clone());
        let single = Type::dist_array(&[], Scalar::F64, DistEnv::unknown(Attr::i64(1), 0));
        let results = vec![ty.clone(), ty.clone(), ty.clone(), single.clone()];
        let f = module.add_function("f", &[ty.clone(), ty.clone()], &results);
        let body: Block = module.body(f).expect("a body");
        let mut arrays = module.arguments(body).to_vec();
        let mut b = Builder::at_end(&mut module, body);
        let whole = b.ewbin(EwBin::Add, arrays[0], arrays[1], ty.clone());
        arrays.push(whole);
        let n = 1 + self.dice.below(3);
        self.statements(&mut b, &arrays, n);
        if self.dice.below(3) == 0 {
            let (low, high, step) = (b.index(0), b.index(2), b.index(1));
            let (_, inner) = b.for_loop(low, high, step, &[]);
            b.move_to_end(inner);
            self.statements(&mut b, &arrays, 1);
            b.yield_(&[]);
            b.move_to_end(body);
        }
        let sizes = self.sizes();
        let last = self.expression(&mut b, &arrays, &sizes);
        let sum = b.reduce(Reduce::Sum, last, single);
        b.ret(&[arrays[0], arrays[1], arrays[2], sum]);
        module
    }
}

fn outcome(module: &Module, n_ranks: usize, data: &[Vec<f64>]) -> Result<Vec<Vec<f64>>, String> {
    let mut world = World::new(module, n_ranks, true);
    let ranks = world.run("f", data).map_err(|error| error.to_string())?;
    let n_results = ranks[0].len();
    let result = |number: usize| {
        let parts: Vec<&Item> = ranks.iter().map(|items| &items[number]).collect();
        World::gathered(&parts)
    };
    Ok((0..n_results).map(result).collect())
}

fn close(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    a.iter().zip(b).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(near))
}

fn check(seed: u64) {
    let mut dice = Dice(seed * 2_654_435_761 + 88_172_645_463_325_252);
    let ndim = 1 + dice.below(4);
    let most = if ndim > 2 { 4 } else { 11 };
    let shape: Vec<i64> = (0..ndim).map(|_| 1 + dice.below(most)).collect();
    let n_ranks = 1 + dice.below(5) as usize;
    let grid = (ndim == 2 && dice.below(3) == 0 && n_ranks == 4)
        .then(|| Grid { shape: vec![Size::Known(2), Size::Known(2)], cut: vec![0, 1] });
    let n: i64 = shape.iter().product();
    let numbers = |dice: &mut Dice| (0..n).map(|_| dice.below(100) as f64).collect::<Vec<f64>>();
    let data = [numbers(&mut dice), numbers(&mut dice)];
    let mut module = Writer { dice, shape, grid }.program();
    let before = print(&module, Form::Rfc);
    let wanted =
        outcome(&module, n_ranks, &data).unwrap_or_else(|e| panic!("{seed}: {e}\n{before}"));
    let options = Options { n_ranks: seed.is_multiple_of(2).then_some(n_ranks as u64), rank: None };
    for name in DEFAULT_PIPELINE {
        apply_with(&mut module, name, &options).expect("a pass");
        let after = || print(&module, Form::Rfc);
        if let Err(found) = partita_ir::verify(&module) {
            panic!("seed {seed}, after {name}: {found:?}\n{}", after());
        }
        let found = outcome(&module, n_ranks, &data).unwrap_or_else(|error| {
            panic!("seed {seed}, {n_ranks} ranks, after {name}: {error}\n{before}\n{}", after())
        });
        assert!(
            close(&found, &wanted),
            "seed {seed}, {n_ranks} ranks, {name}:\n{before}\n{}\n{wanted:?}\n{found:?}",
            after()
        );
    }
}

#[test]
fn passes_keep_the_meaning_of_random_programs() {
    for seed in 1..=400 {
        check(seed);
    }
}
