//! Making programs, one value after another.
//!
//! The builder infers result types and judges nothing: [`Program::verify`] does. What a program has
//! no place for, such as an axis beyond all, becomes its [`Fault`].

use super::{Action, Fault, Instruction, MAX_NDIM, Op, Output, Program, Reduction, Scalar, Value};
use crate::dtype::Dtype;

/// Collects the instructions of one program.
#[derive(Debug, Default)]
pub struct Builder {
    program: Program,
}

macro_rules! unary {
    ($($name:ident => $op:ident),*) => {$(
        #[doc = concat!("Appends `", stringify!($op), "`.")]
        pub fn $name(&mut self, x: Value) -> Value {
            self.apply(Op::$op, &[x])
        }
    )*};
}

macro_rules! binary {
    ($($name:ident => $op:ident),*) => {$(
        #[doc = concat!("Appends `", stringify!($op), "`.")]
        pub fn $name(&mut self, x: Value, y: Value) -> Value {
            self.apply(Op::$op, &[x, y])
        }
    )*};
}

impl Builder {
    /// A program over a space of `ndim` dimensions, still empty.
    #[must_use]
    pub fn new(ndim: usize) -> Builder {
        let mut builder = Builder::default();
        match u16::try_from(ndim) {
            Ok(ndim) => builder.program.ndim = ndim,
            Err(_) => builder.fault(Fault::Dimensions(ndim)),
        }
        builder
    }

    /// The next input buffer.
    pub fn input(&mut self, dtype: Dtype) -> Value {
        self.program.inputs.push(dtype);
        self.source(Op::Input, dtype, self.program.inputs.len() - 1)
    }

    /// The next scalar of the call.
    pub fn scalar(&mut self, dtype: Dtype) -> Value {
        self.program.scalars.push(dtype);
        self.source(Op::Scalar, dtype, self.program.scalars.len() - 1)
    }

    /// A number that is part of the program.
    pub fn constant(&mut self, value: impl Into<Scalar>) -> Value {
        let value = value.into();
        self.program.constants.push(value);
        self.source(Op::Constant, value.dtype, self.program.constants.len() - 1)
    }

    /// The position along an axis, as int64.
    pub fn index(&mut self, axis: usize) -> Value {
        if axis > u16::MAX as usize {
            self.fault(Fault::Index { at: self.program.instructions.len(), axis });
        }
        self.source(Op::Index, Dtype::Int64, axis)
    }

    /// `start + step * index` along an axis; both have one floating type.
    pub fn ramp(&mut self, axis: usize, start: Value, step: Value) -> Value {
        let index = self.index(axis);
        let index = self.cast(index, self.dtype(step));
        let offset = self.multiply(index, step);
        self.add(start, offset)
    }

    /// Uniform float64 in [0, 1) from a counter and a key, both uint64.
    pub fn uniform(&mut self, counter: Value, key: Value) -> Value {
        let bits = self.random(counter, key);
        let shift = self.constant(11_u64);
        let bits = self.shift_right(bits, shift);
        let number = self.cast(bits, Dtype::Float64);
        let scale = self.constant(1.0 / (1_u64 << 53) as f64);
        self.multiply(number, scale)
    }

    /// Any operation whose result type follows from its operands.
    pub fn apply(&mut self, op: Op, operands: &[Value]) -> Value {
        let operand = operands.last().map_or(Dtype::Bool, |&v| self.dtype(v));
        self.push(op, op.gives(operand).unwrap_or(operand), operands)
    }

    /// The value converted to another type.
    pub fn cast(&mut self, x: Value, dtype: Dtype) -> Value {
        self.push(Op::Cast, dtype, &[x])
    }

    /// `x` where `condition` holds, `y` elsewhere.
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.apply(Op::Where, &[condition, x, y])
    }

    /// `x * y + z`, rounded once.
    pub fn fused_multiply_add(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.apply(Op::FusedMultiplyAdd, &[x, y, z])
    }

    unary!(negative => Negative, absolute => Absolute, sign => Sign, square => Square,
        reciprocal => Reciprocal, square_root => SquareRoot, floor => Floor, ceil => Ceil,
        trunc => Trunc, round => Round, is_nan => IsNan, is_inf => IsInf, is_finite => IsFinite,
        sign_bit => SignBit, logical_not => LogicalNot, bit_not => BitNot, exp => Exp,
        expm1 => Expm1, exp2 => Exp2, log => Log, log1p => Log1p, log2 => Log2, log10 => Log10,
        sin => Sin, cos => Cos, tan => Tan, asin => Asin, acos => Acos, atan => Atan,
        sinh => Sinh, cosh => Cosh, tanh => Tanh, asinh => Asinh, acosh => Acosh, atanh => Atanh,
        erf => Erf, erfc => Erfc, cbrt => Cbrt, real => Real, imag => Imag,
        conjugate => Conjugate);

    binary!(add => Add, subtract => Subtract, multiply => Multiply, divide => Divide,
        floor_divide => FloorDivide, remainder => Remainder, power => Power, minimum => Minimum,
        maximum => Maximum, equal => Equal, not_equal => NotEqual, less => Less,
        less_equal => LessEqual, greater => Greater, greater_equal => GreaterEqual,
        logical_and => LogicalAnd, logical_or => LogicalOr, logical_xor => LogicalXor,
        bit_and => BitAnd, bit_or => BitOr, bit_xor => BitXor, shift_left => ShiftLeft,
        shift_right => ShiftRight, atan2 => Atan2, hypot => Hypot, log_add_exp => LogAddExp,
        copy_sign => CopySign, next_after => NextAfter, complex => Complex, random => Random, random_high => RandomHigh);

    /// Writes the value for every point.
    pub fn store(&mut self, value: Value) -> &mut Builder {
        self.output(value, Action::Store, Value(0))
    }

    /// The axes over which this program's reductions combine.
    pub fn over(&mut self, axes: &[usize]) -> &mut Builder {
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= MAX_NDIM) {
            self.fault(Fault::Axis(axis));
        }
        let known = axes.iter().filter(|&&axis| axis < MAX_NDIM);
        self.program.reduced_axes = known.fold(0, |bits, &axis| bits | 1 << axis);
        self
    }

    /// Combines the value over the reduced axes.
    pub fn reduce(&mut self, value: Value, reduction: Reduction) -> &mut Builder {
        self.output(value, Action::Reduce(reduction), Value(0))
    }

    /// The variance over the reduced axes, its divisor corrected by a float64 scalar or constant.
    pub fn variance(&mut self, value: Value, correction: Value) -> &mut Builder {
        self.output(value, Action::Reduce(Reduction::Variance), correction)
    }

    /// The axis along which running sums and products run.
    pub fn along(&mut self, axis: usize) -> &mut Builder {
        match u16::try_from(axis) {
            Ok(axis) => self.program.scan_axis = axis,
            Err(_) => self.fault(Fault::Axis(axis)),
        }
        self
    }

    /// Writes the running sum.
    pub fn running_sum(&mut self, value: Value) -> &mut Builder {
        self.output(value, Action::RunningSum, Value(0))
    }

    /// Writes the running product.
    pub fn running_product(&mut self, value: Value) -> &mut Builder {
        self.output(value, Action::RunningProduct, Value(0))
    }

    /// The program.
    #[must_use]
    pub fn finish(self) -> Program {
        self.program
    }

    /// The type of a value made so far.
    #[must_use]
    pub fn dtype(&self, value: Value) -> Dtype {
        self.program.instructions.get(value.0 as usize).map_or(Dtype::Bool, |i| i.dtype)
    }

    fn output(&mut self, value: Value, action: Action, correction: Value) -> &mut Builder {
        self.program.outputs.push(Output { value, action, correction });
        self
    }

    fn source(&mut self, op: Op, dtype: Dtype, number: usize) -> Value {
        self.push(op, dtype, &[Value(number as u16)])
    }

    fn push(&mut self, op: Op, dtype: Dtype, given: &[Value]) -> Value {
        let at = self.program.instructions.len();
        // A source's operand is a number.
        let wanted = if op.is_source() { 1 } else { op.n_operands() };
        if given.len() != wanted {
            self.fault(Fault::Operands { at, op, given: given.len() });
        }
        let mut operands = [Value(0); 3];
        operands.iter_mut().zip(given).for_each(|(operand, &value)| *operand = value);
        self.program.instructions.push(Instruction { op, dtype, operands });
        // More instructions than a value can name are refused for their number.
        Value(at as u16)
    }

    /// Only the first is kept: the others may follow from it.
    fn fault(&mut self, fault: Fault) {
        self.program.fault.get_or_insert(fault);
    }
}
