//! Numbers as sums of two float64, with about 104 bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The sum of a number and a much smaller one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair(pub f64, pub f64);

fn two_sum(a: f64, b: f64) -> Pair {
    let sum = a + b;
    let used = sum - a;
    Pair(sum, (a - (sum - used)) + (b - used))
}

fn two_product(a: f64, b: f64) -> Pair {
    let product = a * b;
    Pair(product, a.mul_add(b, -product))
}

impl Pair {
    pub const ONE: Pair = Pair(1.0, 0.0);

    fn renormalised(self) -> Pair {
        let sum = self.0 + self.1;
        Pair(sum, (self.0 - sum) + self.1)
    }

    /// A product with a power of two.
    pub fn scaled(self, power: f64) -> Pair {
        Pair(self.0 * power, self.1 * power)
    }

    pub fn abs(self) -> Pair {
        if self.0 < 0.0 { -self } else { self }
    }

    pub fn sqrt(self) -> Pair {
        if self.0 == 0.0 {
            return self;
        }
        let root = Pair(self.0.sqrt(), 0.0);
        root + (self - root * root) / root.scaled(2.0)
    }
}

impl From<f64> for Pair {
    fn from(x: f64) -> Pair {
        Pair(x, 0.0)
    }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        let (high, low) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let middle = Pair(high.0, high.1 + low.0).renormalised();
        Pair(middle.0, middle.1 + low.1).renormalised()
    }
}

impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair(-self.0, -self.1)
    }
}

impl Sub for Pair {
    type Output = Pair;
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

impl Mul for Pair {
    type Output = Pair;
    fn mul(self, other: Pair) -> Pair {
        let product = two_product(self.0, other.0);
        Pair(product.0, product.1 + (self.0 * other.1 + self.1 * other.0)).renormalised()
    }
}

impl Div for Pair {
    type Output = Pair;
    fn div(self, other: Pair) -> Pair {
        let first = Pair(self.0 / other.0, 0.0);
        let rest = self - first * other;
        let second = Pair(rest.0 / other.0, 0.0);
        let third = (rest - second * other).0 / other.0;
        first + second + Pair(third, 0.0)
    }
}
