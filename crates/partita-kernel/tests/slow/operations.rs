//! What operations mean, one element at a time.

use super::number::{Number, round, wrap};
use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Kind, Machine, Op, Scalar, Settings, View};
use std::sync::OnceLock;

pub fn apply(op: Op, operand: Dtype, result: Dtype, x: &[Number]) -> Number {
    use Op::*;
    match op {
        Cast => cast(x[0], result),
        Complex => Number::Complex(x[0].float(), x[1].float()),
        Where => x[if x[0].truth() { 1 } else { 2 }],
        LogicalAnd => Number::Bool(x[0].truth() && x[1].truth()),
        LogicalOr => Number::Bool(x[0].truth() || x[1].truth()),
        LogicalXor => Number::Bool(x[0].truth() != x[1].truth()),
        LogicalNot => Number::Bool(!x[0].truth()),
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => compare(op, x),
        IsNan | IsInf | IsFinite | SignBit => test(op, x[0]),
        Exp | Expm1 | Exp2 | Log | Log1p | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos | Atan
        | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Erf | Erfc | Cbrt | Atan2 | Hypot
        | LogAddExp | CopySign | NextAfter | Random | RandomHigh => ask(op, operand, result, x),
        Power | SquareRoot if operand.kind() == Kind::Complex => ask(op, operand, result, x),
        Power if operand.kind() == Kind::Float => ask(op, operand, result, x),
        Absolute | Sign | Reciprocal | Divide if operand.kind() == Kind::Complex => {
            ask(op, operand, result, x)
        }
        _ => match operand.kind() {
            Kind::Bool => boolean(op, x),
            Kind::Signed | Kind::Unsigned => wrap(integer(op, operand, x), result),
            Kind::Float => Number::Float(float(op, operand, x)),
            Kind::Complex => complex(op, operand, x),
        },
    }
}

fn cast(x: Number, to: Dtype) -> Number {
    match (x, to.kind()) {
        (_, Kind::Bool) => Number::Bool(x.truth()),
        (Number::Float(f) | Number::Complex(f, _), Kind::Signed | Kind::Unsigned) => {
            let bits = 8 * to.size() as u32;
            let (low, high) = match to.kind() {
                Kind::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
                _ => (0, (1_i128 << bits) - 1),
            };
            Number::Int((f as i128).clamp(low, high))
        }
        (_, Kind::Signed | Kind::Unsigned) => wrap(x.int(), to),
        (Number::Complex(re, im), Kind::Complex) => Number::Complex(round(re, to), round(im, to)),
        (_, Kind::Complex) => Number::Complex(to_float(x, to), 0.0),
        (_, Kind::Float) => Number::Float(to_float(x, to)),
    }
}

/// Integers become halves by way of float32, everything else is rounded once.
fn to_float(x: Number, to: Dtype) -> f64 {
    match x {
        Number::Int(i) if to != Dtype::Float64 && to != Dtype::Complex128 => {
            round((i as f32).into(), to)
        }
        _ => round(x.float(), to),
    }
}

fn compare(op: Op, x: &[Number]) -> Number {
    let order = match (x[0], x[1]) {
        (Number::Complex(a, b), Number::Complex(c, d)) => {
            return Number::Bool((a == c && b == d) == (op == Op::Equal));
        }
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (a, b) => Some(a.int().cmp(&b.int())),
    };
    Number::Bool(match op {
        Op::Equal => order.is_some_and(|o| o.is_eq()),
        Op::NotEqual => !order.is_some_and(|o| o.is_eq()),
        Op::Less => order.is_some_and(|o| o.is_lt()),
        Op::LessEqual => order.is_some_and(|o| o.is_le()),
        Op::Greater => order.is_some_and(|o| o.is_gt()),
        _ => order.is_some_and(|o| o.is_ge()),
    })
}

fn test(op: Op, x: Number) -> Number {
    let parts = match x {
        Number::Complex(re, im) => vec![re, im],
        _ => vec![x.float()],
    };
    Number::Bool(match op {
        Op::IsNan => parts.iter().any(|p| p.is_nan()),
        Op::IsInf => parts.iter().any(|p| p.is_infinite()),
        Op::IsFinite => parts.iter().all(|p| p.is_finite()),
        _ => parts[0].is_sign_negative(),
    })
}

fn boolean(op: Op, x: &[Number]) -> Number {
    let [a, b] = [x[0].truth(), x[x.len() - 1].truth()];
    Number::Bool(match op {
        Op::BitAnd | Op::Minimum => a && b,
        Op::BitOr | Op::Maximum => a || b,
        Op::BitXor => a != b,
        Op::BitNot => !a,
        _ => panic!("{op:?} of bool"),
    })
}

fn integer(op: Op, dtype: Dtype, x: &[Number]) -> i128 {
    let (a, b) = (x[0].int(), x[x.len() - 1].int());
    let width = 8 * dtype.size() as i128;
    let inside = (0..width).contains(&b);
    match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a.wrapping_mul(b),
        Op::Power => power(a, b, dtype),
        Op::FloorDivide if b == 0 => 0,
        Op::FloorDivide => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
        Op::Remainder if b == 0 => 0,
        Op::Remainder => a - b * (a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        Op::Minimum => a.min(b),
        Op::Maximum => a.max(b),
        Op::Negative => -a,
        Op::Absolute => a.abs(),
        Op::Sign => a.signum(),
        Op::Square => a.wrapping_mul(a),
        Op::Floor | Op::Ceil | Op::Trunc | Op::Round => a,
        Op::BitAnd => a & b,
        Op::BitOr => a | b,
        Op::BitXor => a ^ b,
        Op::BitNot => !a,
        Op::ShiftLeft => {
            if inside {
                a << b
            } else {
                0
            }
        }
        Op::ShiftRight if inside => a >> b,
        Op::ShiftRight => {
            if a < 0 {
                -1
            } else {
                0
            }
        }
        _ => panic!("{op:?} of {dtype}"),
    }
}

fn power(base: i128, exponent: i128, dtype: Dtype) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut left) = (1_i128, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result = wrap(result.wrapping_mul(square), dtype).int();
        }
        square = wrap(square.wrapping_mul(square), dtype).int();
        left /= 2;
    }
    result
}

macro_rules! float_operations {
    ($name:ident $float:ident) => {
        fn $name(op: Op, x: &[Number]) -> f64 {
            let (a, b) = (x[0].float() as $float, x[x.len() - 1].float() as $float);
            let result = match op {
                Op::Add => a + b,
                Op::Subtract => a - b,
                Op::Multiply => a * b,
                Op::Divide => a / b,
                Op::FloorDivide => {
                    floor_divide(a.into(), b.into(), |q| f64::from(q as $float)) as $float
                }
                Op::Remainder => {
                    let rest = a % b;
                    match rest {
                        _ if rest == 0.0 => (0.0 as $float).copysign(b),
                        _ if (rest < 0.0) != (b < 0.0) => rest + b,
                        _ => rest,
                    }
                }
                Op::Minimum if a.is_nan() || b.is_nan() => $float::NAN,
                Op::Maximum if a.is_nan() || b.is_nan() => $float::NAN,
                Op::Minimum => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Op::Maximum => {
                    if a > b {
                        a
                    } else {
                        b
                    }
                }
                Op::Negative => -a,
                Op::Absolute => a.abs(),
                Op::Sign => {
                    if a == 0.0 {
                        0.0
                    } else if a.is_nan() {
                        a
                    } else {
                        a.signum()
                    }
                }
                Op::Square => a * a,
                Op::Reciprocal => 1.0 / a,
                Op::SquareRoot => a.sqrt(),
                Op::Floor => a.floor(),
                Op::Ceil => a.ceil(),
                Op::Trunc => a.trunc(),
                Op::Round => a.round_ties_even(),
                Op::FusedMultiplyAdd => a.mul_add(x[1].float() as $float, b),
                _ => panic!("{op:?} of floats"),
            };
            result.into()
        }
    };
}

float_operations!(double f64);
float_operations!(single f32);

/// NumPy's floor division, with the Array API's infinities; `to` rounds to the type.
fn floor_divide(a: f64, b: f64, to: impl Fn(f64) -> f64) -> f64 {
    if a.is_nan() || b.is_nan() || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = to(to(a - rest) / b);
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        quotient = to(quotient - 1.0);
    }
    if quotient == 0.0 {
        return 0.0_f64.copysign(to(a / b));
    }
    let floor = quotient.floor();
    if to(quotient - floor) > 0.5 { floor + 1.0 } else { floor }
}

fn float(op: Op, dtype: Dtype, x: &[Number]) -> f64 {
    match (op, dtype) {
        (_, Dtype::Float64) => double(op, x),
        (_, Dtype::Float32) => single(op, x),
        (Op::FusedMultiplyAdd, _) => round(double(op, x), dtype),
        _ => round(single(op, x), dtype),
    }
}

fn complex(op: Op, dtype: Dtype, x: &[Number]) -> Number {
    let parts = |n: Number| match n {
        Number::Complex(re, im) => (re, im),
        other => (other.float(), 0.0),
    };
    let ((a, b), (c, d)) = (parts(x[0]), parts(x[x.len() - 1]));
    let to = |x: f64| round(x, dtype);
    let product =
        |a, b, c, d| Number::Complex(to(to(a * c) - to(b * d)), to(to(a * d) + to(b * c)));
    match op {
        Op::Add => Number::Complex(to(a + c), to(b + d)),
        Op::Subtract => Number::Complex(to(a - c), to(b - d)),
        Op::Multiply => product(a, b, c, d),
        Op::Square => product(a, b, a, b),
        Op::Round => Number::Complex(a.round_ties_even(), b.round_ties_even()),
        Op::Negative => Number::Complex(-a, -b),
        Op::Conjugate => Number::Complex(a, -b),
        Op::Real => Number::Float(a),
        Op::Imag => Number::Float(b),
        _ => panic!("{op:?} of {dtype}"),
    }
}

/// One element by the portable machine.
fn ask(op: Op, operand: Dtype, result: Dtype, x: &[Number]) -> Number {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let level = Level::PORTABLE;
        Machine::new(Settings {
            level,
            emit: false,
            n_threads: 1,
            tile: 512,
            ..Settings::default()
        })
    });
    let mut b = Builder::new(0);
    let operands: Vec<_> = x.iter().map(|_| b.scalar(operand)).collect();
    let value = b.apply(op, &operands);
    b.store(value);
    let kernel = machine.kernel(&b.finish()).unwrap();
    let scalars: Vec<Scalar> =
        x.iter().map(|n| Scalar::from_bytes(operand, &n.write(operand))).collect();
    let mut out = [0_u128];
    let outputs = [View { data: out.as_mut_ptr().cast(), strides: &[] }];
    let call = Call { extents: &[], inputs: &[], outputs: &outputs, scalars: &scalars };
    // SAFETY: the output has room for one element of any type.
    unsafe { machine.run(&kernel, &call).unwrap() };
    Number::read(&out[0].to_le_bytes(), result)
}
