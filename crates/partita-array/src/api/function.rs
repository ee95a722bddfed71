//! Elementwise functions by name: which types they take, in which they compute.

use partita_kernel::{Dtype, Kind, Op, Scalar};
use smallvec::SmallVec;

use super::compare::exactly;
use super::error::{ApiError, Result};
use super::number::Number;
use super::promote::{float_of, is_same_kind, result_type};
use crate::error::LocalError;
use crate::local::{Array, Engine, Input};

/// What a function is given: an array, or a number without a type of its own.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// Elements.
    Array(&'a Array),
    /// A number.
    Number(Number),
}

/// In which type a function computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The common type; truth values are numbers of 8 bits.
    Numbers,
    /// The common type, where truth values have an operation of their own.
    NumbersOr(Op),
    /// The common type, truth values among them.
    Anything,
    /// Floating or complex numbers; integers become the floating type that has them.
    Floats,
    /// Floating or complex numbers; integers become float64.
    Quotients,
    /// Real floating numbers; integers become the floating type that has them.
    Reals,
    /// Numbers with an order.
    Ordered,
    /// Truth values.
    Truths,
    /// Integers and truth values.
    Bits,
    /// Integers.
    Integers,
    /// Integers stay as they are.
    Rounding,
    /// Integers have a known answer.
    Known(bool),
    /// Real numbers stay as they are; complex ones have an operation.
    Complex,
}

/// An elementwise function.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// The Array API's or NumPy's name.
    pub name: &'static str,
    op: Op,
    rule: Rule,
}

const fn function(name: &'static str, op: Op, rule: Rule) -> Function {
    Function { name, op, rule }
}

/// All of them.
pub const FUNCTIONS: &[Function] = &[
    function("add", Op::Add, Rule::NumbersOr(Op::LogicalOr)),
    function("subtract", Op::Subtract, Rule::Numbers),
    function("multiply", Op::Multiply, Rule::NumbersOr(Op::LogicalAnd)),
    function("divide", Op::Divide, Rule::Quotients),
    function("floor_divide", Op::FloorDivide, Rule::Numbers),
    function("remainder", Op::Remainder, Rule::Numbers),
    function("pow", Op::Power, Rule::Numbers),
    function("minimum", Op::Minimum, Rule::Ordered),
    function("maximum", Op::Maximum, Rule::Ordered),
    function("negative", Op::Negative, Rule::Numbers),
    function("abs", Op::Absolute, Rule::NumbersOr(Op::LogicalOr)),
    function("fabs", Op::Absolute, Rule::Reals),
    function("sign", Op::Sign, Rule::Numbers),
    function("square", Op::Square, Rule::Numbers),
    function("reciprocal", Op::Reciprocal, Rule::Quotients),
    function("sqrt", Op::SquareRoot, Rule::Floats),
    function("floor", Op::Floor, Rule::Rounding),
    function("ceil", Op::Ceil, Rule::Rounding),
    function("trunc", Op::Trunc, Rule::Rounding),
    function("round", Op::Round, Rule::Rounding),
    function("rint", Op::Round, Rule::Floats),
    function("equal", Op::Equal, Rule::Anything),
    function("not_equal", Op::NotEqual, Rule::Anything),
    function("less", Op::Less, Rule::Ordered),
    function("less_equal", Op::LessEqual, Rule::Ordered),
    function("greater", Op::Greater, Rule::Ordered),
    function("greater_equal", Op::GreaterEqual, Rule::Ordered),
    function("isnan", Op::IsNan, Rule::Known(false)),
    function("isinf", Op::IsInf, Rule::Known(false)),
    function("isfinite", Op::IsFinite, Rule::Known(true)),
    function("signbit", Op::SignBit, Rule::Reals),
    function("logical_and", Op::LogicalAnd, Rule::Truths),
    function("logical_or", Op::LogicalOr, Rule::Truths),
    function("logical_xor", Op::LogicalXor, Rule::Truths),
    function("logical_not", Op::LogicalNot, Rule::Truths),
    function("bitwise_and", Op::BitAnd, Rule::Bits),
    function("bitwise_or", Op::BitOr, Rule::Bits),
    function("bitwise_xor", Op::BitXor, Rule::Bits),
    function("bitwise_invert", Op::BitNot, Rule::Bits),
    function("bitwise_left_shift", Op::ShiftLeft, Rule::Integers),
    function("bitwise_right_shift", Op::ShiftRight, Rule::Integers),
    function("exp", Op::Exp, Rule::Floats),
    function("expm1", Op::Expm1, Rule::Floats),
    function("exp2", Op::Exp2, Rule::Reals),
    function("log", Op::Log, Rule::Floats),
    function("log1p", Op::Log1p, Rule::Floats),
    function("log2", Op::Log2, Rule::Floats),
    function("log10", Op::Log10, Rule::Floats),
    function("sin", Op::Sin, Rule::Floats),
    function("cos", Op::Cos, Rule::Floats),
    function("tan", Op::Tan, Rule::Floats),
    function("asin", Op::Asin, Rule::Floats),
    function("acos", Op::Acos, Rule::Floats),
    function("atan", Op::Atan, Rule::Floats),
    function("sinh", Op::Sinh, Rule::Floats),
    function("cosh", Op::Cosh, Rule::Floats),
    function("tanh", Op::Tanh, Rule::Floats),
    function("asinh", Op::Asinh, Rule::Floats),
    function("acosh", Op::Acosh, Rule::Floats),
    function("atanh", Op::Atanh, Rule::Floats),
    function("erf", Op::Erf, Rule::Reals),
    function("erfc", Op::Erfc, Rule::Reals),
    function("cbrt", Op::Cbrt, Rule::Reals),
    function("atan2", Op::Atan2, Rule::Reals),
    function("hypot", Op::Hypot, Rule::Reals),
    function("logaddexp", Op::LogAddExp, Rule::Reals),
    function("copysign", Op::CopySign, Rule::Reals),
    function("nextafter", Op::NextAfter, Rule::Reals),
    function("real", Op::Real, Rule::Complex),
    function("imag", Op::Imag, Rule::Complex),
    function("conj", Op::Conjugate, Rule::Complex),
    function("complex", Op::Complex, Rule::Reals),
];

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

impl Function {
    /// The function of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Function> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// The function of a name that is known to be one, found by the compiler.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub const fn known(name: &str) -> &'static Function {
        let mut at = 0;
        while at < FUNCTIONS.len() {
            if same(FUNCTIONS[at].name.as_bytes(), name.as_bytes()) {
                return &FUNCTIONS[at];
            }
            at += 1;
        }
        panic!("no function has this name")
    }

    /// How many operands it takes.
    #[must_use]
    pub fn n_operands(&self) -> usize {
        self.op.n_operands()
    }

    /// The function of operands, at least one of them an array.
    ///
    /// # Errors
    /// Types and shapes that do not fit.
    pub fn apply(&self, engine: &Engine, operands: &[Operand<'_>]) -> Result<Array> {
        let common = common_type(operands)?;
        if let Some(truth) = self.foregone(operands, common) {
            return Ok(engine.fill(&shape_of(operands)?, Scalar::from(truth))?);
        }
        if self.leaves(common) {
            return self.left(engine, operands, common);
        }
        if common == Dtype::Float64
            && let Some(made) = exactly(self.op, engine, operands)
        {
            return made.map_err(|error| with_types(error, operands));
        }
        let typed = self.computes_in(common, operands)?;
        let op = self.op_for(common);
        if op == Op::Power {
            refuse_negative_power(operands, typed)?;
            if let Some(made) = simple_power(engine, operands, typed) {
                return made;
            }
        }
        if matches!(self.op, Op::Absolute) && op == Op::LogicalOr {
            return positive(engine, operands[0]);
        }
        applied(engine, op, operands, typed).map_err(|error| with_types(error, operands))
    }

    /// The function of an array and an operand, written to the array itself.
    ///
    /// # Errors
    /// As [`Function::apply`]; a result that the array's type cannot hold.
    pub fn apply_in_place(
        &self,
        engine: &Engine,
        target: &Array,
        other: Operand<'_>,
    ) -> Result<()> {
        let made = self.apply(engine, &[Operand::Array(target), other])?;
        let (given, dtype) = (made.dtype(), target.dtype());
        if !is_same_kind(given, dtype) {
            let function = self.name.to_string();
            return Err(ApiError::ResultType { function, made: given, dtype });
        }
        Ok(target.write(&engine.cast(&made, dtype)?)?)
    }

    /// The type it computes in for operands of a common type.
    fn computes_in(&self, common: Dtype, operands: &[Operand<'_>]) -> Result<Dtype> {
        use Kind::{Bool, Complex, Float, Signed, Unsigned};
        let refused = |wanted: &str| {
            let (function, wanted) = (self.name.to_string(), wanted.to_string());
            Err(ApiError::TypeRefused { function, given: common, wanted })
        };
        let kind = common.kind();
        let typed = match (self.rule, kind) {
            (Rule::Truths | Rule::NumbersOr(_), Bool) | (Rule::Truths, _) => Dtype::Bool,
            (Rule::Numbers, Bool) if matches!(self.op, Op::Subtract | Op::Negative | Op::Sign) => {
                return refused("logical_xor or logical_not, or astype(int)");
            }
            (Rule::Numbers, Bool) => Dtype::Int8,
            (Rule::Floats | Rule::Reals, Bool | Signed | Unsigned) => float_for(common, operands),
            (Rule::Quotients, Bool | Signed | Unsigned) => Dtype::Float64,
            (Rule::Rounding, Complex) if self.op == Op::Round => common,
            (Rule::Reals | Rule::Ordered | Rule::Rounding, Complex) => {
                return refused("real or abs, or real numbers");
            }
            (Rule::Bits, Float | Complex) => return refused("integers or truth values"),
            (Rule::Integers, Float | Complex) => return refused("integers"),
            (Rule::Integers, Bool) => Dtype::Int8,
            _ => common,
        };
        if !self.op_for(common).takes(typed) {
            return refused("another type");
        }
        Ok(typed)
    }

    fn op_for(&self, common: Dtype) -> Op {
        match self.rule {
            Rule::NumbersOr(op) if common == Dtype::Bool => op,
            _ => self.op,
        }
    }

    /// Whether elements of a type are their own result.
    fn leaves(&self, common: Dtype) -> bool {
        match self.rule {
            Rule::Rounding => !matches!(common.kind(), Kind::Float | Kind::Complex),
            Rule::Complex => common.kind() != Kind::Complex,
            _ => false,
        }
    }

    fn left(&self, engine: &Engine, operands: &[Operand<'_>], common: Dtype) -> Result<Array> {
        if self.op == Op::Imag {
            let zero = Number::Int(0).to_scalar(common)?;
            return Ok(engine.fill(&shape_of(operands)?, zero)?);
        }
        positive(engine, operands[0])
    }

    /// The answer that follows from the types, or from a number outside the elements' type.
    fn foregone(&self, operands: &[Operand<'_>], common: Dtype) -> Option<bool> {
        if let Rule::Known(truth) = self.rule {
            return (!matches!(common.kind(), Kind::Float | Kind::Complex)).then_some(truth);
        }
        let outside = |operand: &Operand<'_>| match operand {
            Operand::Number(Number::Int(int)) => (!Number::Int(*int).fits(common)).then_some(*int),
            _ => None,
        };
        let at = operands.iter().position(|operand| outside(operand).is_some())?;
        let is_larger = outside(&operands[at])? > 0;
        // Seen from the left: whether the left number is the smaller one.
        let is_less = is_larger == (at == 1);
        match self.op {
            Op::Equal => Some(false),
            Op::NotEqual => Some(true),
            Op::Less | Op::LessEqual => Some(is_less),
            Op::Greater | Op::GreaterEqual => Some(!is_less),
            _ => None,
        }
    }
}

/// Powers that are a square, a root or a division: as fast and as exact as these.
fn simple_power(engine: &Engine, operands: &[Operand<'_>], typed: Dtype) -> Option<Result<Array>> {
    let [base @ Operand::Array(_), Operand::Number(exponent)] = operands else { return None };
    let exponent = match exponent {
        Number::Int(int) => *int as f64,
        Number::Float(float) => *float,
        _ => return None,
    };
    let is_whole = !matches!(typed.kind(), Kind::Float | Kind::Complex);
    let op = match exponent {
        2.0 => Op::Square,
        0.5 if !is_whole => Op::SquareRoot,
        -1.0 if !is_whole => Op::Reciprocal,
        _ => return None,
    };
    op.takes(typed).then(|| applied(engine, op, &[*base], typed))
}

/// `x` where a condition holds, `y` elsewhere.
///
/// # Errors
/// Shapes that do not fit.
pub fn choose(engine: &Engine, condition: &Array, x: Operand<'_>, y: Operand<'_>) -> Result<Array> {
    let typed = common_type(&[x, y])?;
    let condition = engine.cast(condition, Dtype::Bool)?;
    let (x, y) = (Typed::new(engine, x, typed)?, Typed::new(engine, y, typed)?);
    Ok(engine.apply_to(Op::Where, &[Input::Array(&condition), x.input(), y.input()])?)
}

/// The elements themselves, in memory of their own.
///
/// # Errors
/// Memory that is not there.
pub fn positive(engine: &Engine, operand: Operand<'_>) -> Result<Array> {
    Ok(match operand {
        Operand::Array(array) => engine.copy(array)?,
        Operand::Number(number) => engine.fill(&[], number.to_scalar(number.own_type())?)?,
    })
}

/// An operand in the type in which an operation computes.
enum Typed<'a> {
    Same(&'a Array),
    Cast(Array),
    Number(Scalar),
}

impl<'a> Typed<'a> {
    fn new(engine: &Engine, operand: Operand<'a>, dtype: Dtype) -> Result<Self> {
        Ok(match operand {
            Operand::Array(array) if array.dtype() == dtype => Self::Same(array),
            Operand::Array(array) => Self::Cast(engine.cast(array, dtype)?),
            Operand::Number(number) => Self::Number(number.to_scalar(dtype)?),
        })
    }

    fn input(&self) -> Input<'_> {
        match self {
            Self::Same(array) => Input::Array(array),
            Self::Cast(array) => Input::Array(array),
            Self::Number(number) => Input::Number(*number),
        }
    }
}

/// An operand that has a type, or takes it.
fn input<'a>(operand: &Operand<'a>, typed: Dtype) -> Result<Input<'a>> {
    match *operand {
        Operand::Array(array) => Ok(Input::Array(array)),
        Operand::Number(number) => number.to_scalar(typed).map(Input::Number),
    }
}

/// An error of shapes with the types that were given, before they were made the same.
#[cold]
fn with_types(error: ApiError, operands: &[Operand<'_>]) -> ApiError {
    let ApiError::Local { error: LocalError::ShapesDiffer { first, second, .. } } = error else {
        return error;
    };
    let arrays = operands.iter().filter_map(|one| match one {
        Operand::Array(array) => Some(array.in_words()),
        Operand::Number(_) => None,
    });
    let about = format!(" (of {})", arrays.collect::<Vec<_>>().join(" and "));
    ApiError::Local { error: LocalError::ShapesDiffer { first, second, about } }
}

fn applied(engine: &Engine, op: Op, operands: &[Operand<'_>], typed: Dtype) -> Result<Array> {
    // Most operands have the type already.
    let as_they_are = |operand: &Operand<'_>| match operand {
        Operand::Array(array) => array.dtype() == typed,
        Operand::Number(_) => true,
    };
    if operands.iter().all(as_they_are) {
        return Ok(match operands {
            [one] => engine.apply_to(op, &[input(one, typed)?])?,
            [one, other] => engine.apply_to(op, &[input(one, typed)?, input(other, typed)?])?,
            _ => {
                let inputs = operands.iter().map(|one| input(one, typed));
                engine.apply_to(op, &inputs.collect::<Result<Vec<_>>>()?)?
            }
        });
    }
    let made: Result<SmallVec<[Typed<'_>; 2]>> =
        operands.iter().map(|operand| Typed::new(engine, *operand, typed)).collect();
    let made = made?;
    let inputs: SmallVec<[Input<'_>; 2]> = made.iter().map(Typed::input).collect();
    Ok(engine.apply_to(op, &inputs)?)
}

fn common_type(operands: &[Operand<'_>]) -> Result<Dtype> {
    let mut common: Option<Dtype> = None;
    for operand in operands {
        if let Operand::Array(array) = operand {
            let (first, second) = (common.unwrap_or(array.dtype()), array.dtype());
            let both = result_type(first, second);
            common = Some(both.ok_or(ApiError::TypesApart { first, second })?);
        }
    }
    // Numbers come last: arrays decide.
    let mut found = common;
    for operand in operands {
        if let Operand::Number(number) = operand {
            let own = number.own_type();
            found = Some(match (common, found) {
                (Some(_), Some(found)) => number.type_with(found),
                (None, Some(found)) => result_type(found, own).unwrap_or(found),
                _ => own,
            });
        }
    }
    Ok(found.unwrap_or(Dtype::Float64))
}

/// The floating type that has the integers of all operands. Numbers have a say only where they
/// make integers of truth values.
fn float_for(common: Dtype, operands: &[Operand<'_>]) -> Dtype {
    let own = |operand: &Operand<'_>| match operand {
        Operand::Array(array) if array.dtype() == Dtype::Bool => Some(float_of(common)),
        Operand::Array(array) => Some(float_of(array.dtype())),
        Operand::Number(_) => None,
    };
    operands.iter().filter_map(own).max_by_key(|dtype| dtype.size()).unwrap_or(Dtype::Float64)
}

fn shape_of(operands: &[Operand<'_>]) -> Result<Vec<usize>> {
    let mut shape: Vec<usize> = Vec::new();
    for operand in operands {
        if let Operand::Array(array) = operand {
            let both = crate::local::broadcast_shapes(&shape, array.shape());
            shape = match both {
                Some(both) => both.to_vec(),
                // The engine says it in its own words.
                None => array.broadcast(&shape).map(|_| shape)?,
            };
        }
    }
    Ok(shape)
}

/// Whole numbers to a negative power are no whole numbers.
fn refuse_negative_power(operands: &[Operand<'_>], typed: Dtype) -> Result<()> {
    let is_whole = matches!(typed.kind(), Kind::Signed | Kind::Unsigned);
    match operands.get(1) {
        Some(Operand::Number(Number::Int(int))) if is_whole && *int < 0 => {
            Err(ApiError::NegativePower { number: int.to_string() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static Function {
        Function::named(name).expect("known")
    }

    #[test]
    fn types_follow_numpy() {
        use Dtype::*;
        let engine = Engine::new();
        let of = |dtype| engine.fill(&[2], Number::Int(1).to_scalar(dtype).expect("fits"));
        let cases = [
            ("add", Bool, Bool, Bool),
            ("add", Int8, UInt8, Int16),
            ("divide", Int32, Int32, Float64),
            ("divide", Float32, Int8, Float32),
            ("less", Int8, Float64, Bool),
            ("pow", Bool, Bool, Int8),
            ("atan2", Int64, Int64, Float64),
            ("atan2", Int8, UInt8, Float16),
            ("hypot", Int8, UInt16, Float32),
            ("divide", Int8, Int8, Float64),
            ("bitwise_and", Bool, Bool, Bool),
            ("logical_and", Float64, Int8, Bool),
            ("minimum", Bool, Bool, Bool),
        ];
        for (name, a, b, wanted) in cases {
            let (a, b) = (of(a).expect("an array"), of(b).expect("an array"));
            let operands = [Operand::Array(&a), Operand::Array(&b)];
            let made = named(name).apply(&engine, &operands).expect(name);
            assert_eq!(made.dtype(), wanted, "{name}");
        }
    }

    #[test]
    fn numbers_take_the_type_of_the_array() {
        let engine = Engine::new();
        let bytes = engine.fill(&[2], Scalar::from(200_u8)).expect("an array");
        let plus = |number| {
            named("add").apply(&engine, &[Operand::Array(&bytes), Operand::Number(number)])
        };
        assert_eq!(plus(Number::Int(5)).expect("fits").to_vec::<u8>().expect("values"), [205; 2]);
        assert_eq!(plus(Number::Float(0.5)).expect("fits").dtype(), Dtype::Float64);
        assert_eq!(plus(Number::Int(300)).expect_err("too large").reason(), "number-outside");
        let less = |a, b| named("less").apply(&engine, &[a, b]).expect("an answer");
        let truth = |array: Array| array.to_bytes().expect("bytes")[0];
        let (array, large) = (Operand::Array(&bytes), Operand::Number(Number::Int(300)));
        assert_eq!((truth(less(array, large)), truth(less(large, array))), (1, 0));
        let low = Operand::Number(Number::Int(-1));
        assert_eq!((truth(less(array, low)), truth(less(low, array))), (0, 1));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let engine = Engine::new();
        let truths = engine.fill(&[2], Scalar::from(true)).expect("an array");
        let reason = |name: &str, operands: &[Operand<'_>]| {
            named(name).apply(&engine, operands).expect_err(name).reason()
        };
        let both = [Operand::Array(&truths), Operand::Array(&truths)];
        assert_eq!(reason("subtract", &both), "type-refused");
        let whole = engine.fill(&[2], Scalar::from(3_i64)).expect("an array");
        let power = [Operand::Array(&whole), Operand::Number(Number::Int(-1))];
        assert_eq!(reason("pow", &power), "negative-power");
    }
}
