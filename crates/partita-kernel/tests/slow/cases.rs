//! Random programs with buffers: every shape of strides, guarded memory, awkward values.

use super::number::{Number, round, wrap};
use partita_kernel::{Action, Builder, Dtype, Kind, Op, Program, Reduction, Scalar, Value};

/// Random numbers from a printed seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A strided buffer inside guarded memory.
#[derive(Clone)]
pub struct Memory {
    pub dtype: Dtype,
    pub bytes: Vec<u8>,
    /// Where the element of point zero lies.
    pub origin: usize,
    pub strides: Vec<isize>,
}

impl Memory {
    pub fn place(&self, point: &[usize]) -> usize {
        let offset: isize = self.strides.iter().zip(point).map(|(&s, &i)| s * i as isize).sum();
        (self.origin as isize + offset) as usize
    }

    pub fn get(&self, point: &[usize]) -> Number {
        Number::read(&self.bytes[self.place(point)..], self.dtype)
    }
}

/// A program, and everything to call it with.
pub struct Case {
    pub program: Program,
    pub extents: Vec<usize>,
    pub scalars: Vec<Scalar>,
    pub inputs: Vec<Memory>,
    pub outputs: Vec<Memory>,
    /// The input of which an input is a shifted view.
    pub shifted: Vec<Option<usize>>,
    /// The input in whose place an output is written.
    pub in_place: Vec<Option<usize>>,
}

pub const GUARD: usize = 96;

impl Case {
    pub fn new(random: &mut Random, dtypes: &[Dtype]) -> Case {
        let extents = extents(random);
        let ndim = extents.len();
        let mut b = Builder::new(ndim);
        let mut values = Vec::new();
        let n_inputs = random.below(4) + usize::from(ndim == 0);
        for _ in 0..n_inputs.max(1) {
            values.push(b.input(random.pick(dtypes)));
        }
        let mut scalars = Vec::new();
        for _ in 0..random.below(3) {
            let dtype = random.pick(dtypes);
            values.push(b.scalar(dtype));
            scalars.push(scalar(random, dtype));
        }
        for _ in 0..random.below(3) {
            let dtype = random.pick(dtypes);
            values.push(b.constant(scalar(random, dtype)));
        }
        if ndim > 0 && random.one_in(6) {
            values.push(b.index(random.below(ndim)));
        }
        let n_given = values.len();
        for _ in 0..1 + random.below(10) {
            operation(random, &mut b, &mut values, dtypes, n_given);
        }
        finish(random, &mut b, &values, &mut scalars, ndim);
        let program = b.finish();
        Case::with_memory(random, program, extents, scalars)
    }

    fn with_memory(
        random: &mut Random,
        program: Program,
        extents: Vec<usize>,
        scalars: Vec<Scalar>,
    ) -> Case {
        let mut inputs: Vec<Memory> = Vec::new();
        let mut shifted = Vec::new();
        for &dtype in &program.inputs {
            let base = inputs.iter().position(|m| m.dtype == dtype && dtype != Dtype::Bool);
            let base = base.filter(|_| random.one_in(2));
            inputs.push(match base {
                Some(base) => shift(random, &inputs[base]),
                None => input(random, dtype, &extents),
            });
            shifted.push(base);
        }
        let (outputs, in_place) = (Vec::new(), Vec::new());
        let mut case = Case { program, extents, scalars, inputs, shifted, outputs, in_place };
        for number in 0..case.program.outputs.len() {
            case.add_output(random, number);
        }
        case
    }

    fn add_output(&mut self, random: &mut Random, number: usize) {
        let dtype = self.program.output_dtype(number);
        let reduces = matches!(self.program.outputs[number].action, Action::Reduce(_));
        let mut extents = self.extents.clone();
        if reduces {
            for (axis, extent) in extents.iter_mut().enumerate() {
                if self.program.is_reduced(axis) {
                    *extent = 1;
                }
            }
        }
        let free = |i: &usize| {
            let memory = &self.inputs[*i];
            let zero = |(&s, &e): (&isize, &usize)| s == 0 && e > 1;
            memory.dtype == dtype
                && !memory.strides.iter().zip(&self.extents).any(zero)
                && !self.in_place.contains(&Some(*i))
                && self.shifted[*i].is_none()
                && !self.shifted.contains(&Some(*i))
        };
        let candidates: Vec<usize> = (0..self.inputs.len()).filter(free).collect();
        if !reduces && !candidates.is_empty() && random.one_in(3) {
            let input = random.pick(&candidates);
            self.outputs.push(self.inputs[input].clone());
            self.in_place.push(Some(input));
            return;
        }
        self.outputs.push(memory(random, dtype, &extents, false));
        self.in_place.push(None);
    }
}

fn extents(random: &mut Random) -> Vec<usize> {
    let ndim = random.pick(&[0, 1, 1, 1, 2, 2, 2, 3, 3, 4]);
    let mut extents: Vec<usize> = (0..ndim).map(|_| random.pick(&[1, 2, 3, 4, 5, 7, 9])).collect();
    if ndim > 0 {
        let axis = random.below(ndim);
        let room = if ndim < 3 { 3 } else { 1 };
        extents[axis] = random.pick(&[1, 8, 17, 31, 64, 65, 130]) * (1 + random.below(room));
        if ndim == 1 && random.one_in(8) {
            extents[0] = 500 + random.below(3000);
        }
        if random.one_in(40) {
            extents[axis] = 0;
        }
    }
    extents
}

/// Appends an operation that takes some value, casting where types do not fit.
fn operation(
    random: &mut Random,
    b: &mut Builder,
    values: &mut Vec<Value>,
    dtypes: &[Dtype],
    n_given: usize,
) {
    let computed = &Op::ALL[4..];
    let op = random.pick(computed);
    let recent = values.len().saturating_sub(4);
    let mut first = if random.one_in(2) {
        values[recent + random.below(values.len() - recent)]
    } else {
        random.pick(values)
    };
    if op == Op::Cast {
        values.push(b.cast(first, random.pick(dtypes)));
        return;
    }
    if !op.takes(b.dtype(first)) {
        let fits: Vec<Dtype> = dtypes.iter().copied().filter(|&d| op.takes(d)).collect();
        if fits.is_empty() {
            return;
        }
        first = b.cast(first, random.pick(&fits));
    }
    let dtype = b.dtype(first);
    let mut operands = vec![first];
    for _ in 1..op.n_operands() {
        let other = random.pick(values);
        let same = if b.dtype(other) == dtype { other } else { b.cast(other, dtype) };
        operands.push(same);
    }
    if op == Op::Where {
        let condition = random.pick(values);
        operands[0] = match b.dtype(condition) {
            Dtype::Bool => condition,
            _ => b.cast(condition, Dtype::Bool),
        };
        let last = operands[2];
        if b.dtype(operands[1]) != b.dtype(last) {
            operands[1] = last;
        }
    }
    if matches!(op, Op::SignBit | Op::CopySign) {
        let seen = operands.len() - 1;
        // The first values are given, not computed.
        if operands[seen].0 as usize >= n_given {
            operands[seen] = without_nan(b, operands[seen]);
        }
    }
    values.push(b.apply(op, &operands));
}

/// The value, with 1 in place of NaN.
///
/// IEEE 754 leaves open which of several NaNs an operation gives, and with it the sign: a fused
/// multiplication of the C library, which the portable machine asks, may choose another than the
/// instruction does. So operations that show signs see those of given NaNs only.
fn without_nan(b: &mut Builder, x: Value) -> Value {
    let dtype = b.dtype(x);
    let nan = b.is_nan(x);
    let one = b.constant(Scalar::from_bytes(dtype, &Number::Float(1.0).write(dtype)));
    b.select(nan, one, x)
}

fn finish(
    random: &mut Random,
    b: &mut Builder,
    values: &[Value],
    scalars: &mut Vec<Scalar>,
    ndim: usize,
) {
    let last = values[values.len() - 1];
    match random.below(4) {
        0 if ndim > 0 => {
            let axes: Vec<usize> = (0..ndim).filter(|_| !random.one_in(3)).collect();
            b.over(&axes);
            let all = [
                Reduction::Sum,
                Reduction::Product,
                Reduction::Minimum,
                Reduction::Maximum,
                Reduction::Any,
                Reduction::All,
                Reduction::Count,
                Reduction::ArgMin,
                Reduction::ArgMax,
                Reduction::Mean,
                Reduction::Variance,
                Reduction::VarianceMean,
                Reduction::ArgMinValue,
                Reduction::ArgMaxValue,
            ];
            for _ in 0..1 + random.below(2) {
                let other = random.pick(values);
                let value = random.pick(&[last, other]);
                let dtype = b.dtype(value);
                let fits: Vec<_> = all.into_iter().filter(|r| r.takes(dtype)).collect();
                match random.pick(&fits) {
                    Reduction::Variance => {
                        let number = random.below(2) as f64;
                        let correction = if random.one_in(2) {
                            scalars.push(Scalar::from(number));
                            b.scalar(Dtype::Float64)
                        } else {
                            b.constant(number)
                        };
                        b.variance(value, correction);
                    }
                    reduction => {
                        b.reduce(value, reduction);
                    }
                }
            }
            if random.one_in(3) {
                b.store(random.pick(values));
            }
        }
        1 if ndim > 0 && b.dtype(last) != Dtype::Bool => {
            b.along(random.below(ndim));
            if random.one_in(3) {
                b.running_product(last)
            } else {
                b.running_sum(last)
            };
        }
        _ => {
            b.store(last);
            for _ in 0..random.below(3) {
                b.store(random.pick(values));
            }
        }
    }
}

fn scalar(random: &mut Random, dtype: Dtype) -> Scalar {
    Scalar::from_bytes(dtype, &value(random, dtype).write(dtype))
}

/// Mostly small numbers, sometimes the ends of the range and special values.
pub fn value(random: &mut Random, dtype: Dtype) -> Number {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-40,
        3e4,
        1e300,
        5e-324,
    ];
    let mut float = || {
        let x = match random.below(8) {
            0 => random.pick(&special),
            1 => (random.below(9) as f64 - 4.0) / 2.0,
            _ => random.below(1 << 20) as f64 / 65536.0 - 8.0,
        };
        round(x, dtype.real())
    };
    match dtype.kind() {
        Kind::Bool => Number::Bool(random.one_in(2)),
        Kind::Float => Number::Float(float()),
        Kind::Complex => Number::Complex(float(), float()),
        _ => match random.below(6) {
            0 => wrap(random.next() as i128, dtype),
            1 => wrap(random.pick(&[i128::MIN >> 1 | 1 << 63, 1 << 63, -1, 0, 127, 128]), dtype),
            _ => wrap(random.below(41) as i128 - 20, dtype),
        },
    }
}

fn input(random: &mut Random, dtype: Dtype, extents: &[usize]) -> Memory {
    let mut memory = memory(random, dtype, extents, true);
    for_each_point(extents, |point| {
        let place = memory.place(point);
        let bytes = value(random, dtype).write(dtype);
        memory.bytes[place..place + bytes.len()].copy_from_slice(&bytes);
    });
    memory
}

/// The same memory seen some elements further on or back: as far as the guard reaches.
fn shift(random: &mut Random, base: &Memory) -> Memory {
    let size = base.dtype.size();
    let most = GUARD / size;
    let by = (random.below(2 * most + 1) * size) as isize - (most * size) as isize;
    let by = if random.one_in(2) { by.signum() * size as isize } else { by };
    Memory { origin: (base.origin as isize + by) as usize, ..base.clone() }
}

/// Strides of any order, with gaps, backwards, of no alignment; zero where that is allowed.
fn memory(random: &mut Random, dtype: Dtype, extents: &[usize], may_repeat: bool) -> Memory {
    let mut axes: Vec<usize> = (0..extents.len()).rev().collect();
    if random.one_in(4) {
        for i in 0..axes.len() {
            axes.swap(i, random.below(i + 1));
        }
    }
    let gap = |random: &mut Random| if random.one_in(4) { 1 + random.below(3) } else { 0 };
    let odd = usize::from(random.one_in(6));
    let mut span = dtype.size() + odd;
    let mut strides = vec![0; extents.len()];
    let mut below = 0;
    for axis in axes {
        span += gap(random) * dtype.size();
        if may_repeat && random.one_in(7) {
            continue;
        }
        let back = random.one_in(7);
        strides[axis] = if back { -(span as isize) } else { span as isize };
        let reach = span * extents[axis].saturating_sub(1);
        below += if back { reach } else { 0 };
        span += reach;
    }
    let origin = GUARD + below + random.below(2) * random.below(64);
    let n_bytes = origin + span + GUARD;
    let bytes = (0..n_bytes).map(|_| random.next() as u8).collect();
    Memory { dtype, bytes, origin, strides }
}

/// Every point of a space, in C order.
pub fn for_each_point(extents: &[usize], mut visit: impl FnMut(&[usize])) {
    if extents.contains(&0) {
        return;
    }
    let mut point = vec![0; extents.len()];
    loop {
        visit(&point);
        let Some(axis) = (0..extents.len()).rfind(|&a| point[a] + 1 < extents[a]) else {
            return;
        };
        point[axis] += 1;
        point[axis + 1..].fill(0);
    }
}
