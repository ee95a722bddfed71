//! Functions of complex numbers, by their definitions; good for numbers of moderate size.

use super::{Pair, real};

/// Real and imaginary parts.
#[derive(Clone, Copy, Debug)]
pub struct Complex(pub Pair, pub Pair);

impl Complex {
    fn plus(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }

    fn plus_one(self) -> Complex {
        Complex(self.0 + Pair::ONE, self.1)
    }

    fn times(self, other: Complex) -> Complex {
        let (re, im) = (self.0 * other.0, self.0 * other.1);
        Complex(re - self.1 * other.1, im + self.1 * other.0)
    }

    fn over(self, other: Complex) -> Complex {
        let size = other.0 * other.0 + other.1 * other.1;
        let top = self.times(Complex(other.0, -other.1));
        Complex(top.0 / size, top.1 / size)
    }

    fn negative(self) -> Complex {
        Complex(-self.0, -self.1)
    }

    fn times_i(self) -> Complex {
        Complex(-self.1, self.0)
    }

    fn over_i(self) -> Complex {
        Complex(self.1, -self.0)
    }

    fn scaled(self, power: f64) -> Complex {
        Complex(self.0.scaled(power), self.1.scaled(power))
    }

    fn divided(self, by: Pair) -> Complex {
        Complex(self.0 / by, self.1 / by)
    }
}

pub fn exp(z: Complex) -> Complex {
    let (size, (sin, cos)) = (real::exp(z.0), real::sin_cos(z.1));
    Complex(size * cos, size * sin)
}

pub fn expm1(z: Complex) -> Complex {
    // (e^x - 1) cos y - 2 sin(y/2)^2 + i e^x sin y.
    let half = real::sin(z.1.scaled(0.5));
    let re = real::expm1(z.0) * real::cos(z.1) - (half * half).scaled(2.0);
    Complex(re, real::exp(z.0) * real::sin(z.1))
}

pub fn log(z: Complex) -> Complex {
    let size = z.0 * z.0 + z.1 * z.1;
    Complex(real::log(size).scaled(0.5), real::atan2(z.1, z.0))
}

pub fn log2(z: Complex) -> Complex {
    log(z).divided(super::constants::LN_2)
}

pub fn log10(z: Complex) -> Complex {
    log(z).divided(super::constants::LN_10)
}

pub fn log1p(z: Complex) -> Complex {
    let more = z.0.scaled(2.0) + z.0 * z.0 + z.1 * z.1;
    Complex(real::log1p(more).scaled(0.5), real::atan2(z.1, z.0 + Pair::ONE))
}

pub fn sqrt(z: Complex) -> Complex {
    let t = ((z.0.abs() + real::hypot(z.0, z.1)).scaled(0.5)).sqrt();
    let other = z.1.abs() / t.scaled(2.0);
    let (re, im) = if z.0.0 < 0.0 { (other, t) } else { (t, other) };
    Complex(re, if z.1.0 < 0.0 { -im } else { im })
}

pub fn sinh(z: Complex) -> Complex {
    let (sin, cos) = real::sin_cos(z.1);
    Complex(real::sinh(z.0) * cos, real::cosh(z.0) * sin)
}

pub fn cosh(z: Complex) -> Complex {
    let (sin, cos) = real::sin_cos(z.1);
    Complex(real::cosh(z.0) * cos, real::sinh(z.0) * sin)
}

pub fn tanh(z: Complex) -> Complex {
    sinh(z).over(cosh(z))
}

pub fn sin(z: Complex) -> Complex {
    sinh(z.times_i()).over_i()
}

pub fn cos(z: Complex) -> Complex {
    cosh(z.times_i())
}

pub fn tan(z: Complex) -> Complex {
    tanh(z.times_i()).over_i()
}

/// log(z + sqrt(z^2 + 1)), mirrored to where nothing cancels.
pub fn asinh(z: Complex) -> Complex {
    if z.0.0 < 0.0 {
        return asinh(z.negative()).negative();
    }
    log(z.plus(sqrt(z.times(z).plus_one())))
}

pub fn asin(z: Complex) -> Complex {
    asinh(z.times_i()).over_i()
}

/// pi/2 - asin(z)
pub fn acos(z: Complex) -> Complex {
    let Complex(re, im) = asin(z);
    Complex(super::constants::PI.scaled(0.5) - re, -im)
}

pub fn acosh(z: Complex) -> Complex {
    let w = acos(z);
    if z.1.0 < 0.0 { w.over_i() } else { w.times_i() }
}

/// (log(1 + z) - log(1 - z)) / 2
pub fn atanh(z: Complex) -> Complex {
    log1p(z).plus(log1p(z.negative()).negative()).scaled(0.5)
}

pub fn atan(z: Complex) -> Complex {
    atanh(z.times_i()).over_i()
}
