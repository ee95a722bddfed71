//! Plans by length and direction, kept because making one takes longer than using it.

use num_complex::Complex;
use partita_kernel::math::Level;
use partita_kernel::room;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner, FftPlannerScalar};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Plans that are kept at most.
const MOST: usize = 64;

/// Points of all kept plans together: each takes about a complex number in memory.
const MOST_POINTS: usize = 1 << 25;

/// Which way a transform goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// With the negative exponent.
    Forward,
    /// With the positive exponent.
    Backward,
}

/// A plan of some kind.
#[allow(missing_debug_implementations, reason = "the plans of rustfft have none")]
pub enum Plan<T: FftNum> {
    Complex(Arc<dyn Fft<T>>),
    FromReal(Arc<dyn RealToComplex<T>>),
    ToReal(Arc<dyn ComplexToReal<T>>),
}

impl<T: FftNum> Clone for Plan<T> {
    fn clone(&self) -> Plan<T> {
        match self {
            Plan::Complex(plan) => Plan::Complex(Arc::clone(plan)),
            Plan::FromReal(plan) => Plan::FromReal(Arc::clone(plan)),
            Plan::ToReal(plan) => Plan::ToReal(Arc::clone(plan)),
        }
    }
}

/// What is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// rustfft has vectors of its own; without them only at the portable level.
    Complex(Direction, Level),
    FromReal,
    ToReal,
}

/// Plans that were used lately, the latest last.
#[allow(missing_debug_implementations, reason = "the plans of rustfft have none")]
pub struct Plans<T: FftNum>(Mutex<Vec<(Kind, usize, Plan<T>)>>);

impl<T: FftNum> Plans<T> {
    pub const fn new() -> Plans<T> {
        Plans(Mutex::new(Vec::new()))
    }

    /// The plan of a kind for `n` points.
    pub fn find(&self, kind: Kind, n: usize) -> Plan<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = lock();
        if let Some(at) = kept.iter().position(|(other, m, _)| (*other, *m) == (kind, n)) {
            let found = kept.remove(at);
            let plan = found.2.clone();
            kept.push(found);
            return plan;
        }
        // Others may look up their plans while this one is made.
        drop(kept);
        // About as much as a plan takes, whose maker would end the process.
        room::expect(n.saturating_mul(2 * size_of::<Complex<T>>()));
        let plan = make(kind, n);
        let mut kept = lock();
        kept.push((kind, n, plan.clone()));
        while kept.len() > MOST || kept.iter().map(|(_, n, _)| n).sum::<usize>() > MOST_POINTS {
            kept.remove(0);
        }
        plan
    }
}

fn make<T: FftNum>(kind: Kind, n: usize) -> Plan<T> {
    match kind {
        Kind::Complex(direction, level) => {
            let direction = match direction {
                Direction::Forward => FftDirection::Forward,
                Direction::Backward => FftDirection::Inverse,
            };
            Plan::Complex(if level == Level::PORTABLE {
                FftPlannerScalar::new().plan_fft(n, direction)
            } else {
                FftPlanner::new().plan_fft(n, direction)
            })
        }
        Kind::FromReal => Plan::FromReal(RealFftPlanner::new().plan_fft_forward(n)),
        Kind::ToReal => Plan::ToReal(RealFftPlanner::new().plan_fft_inverse(n)),
    }
}

/// Real numbers that transforms are made of: float32 and float64.
pub trait Real: FftNum + Default {
    /// The plans of this type.
    #[doc(hidden)]
    fn plans() -> &'static Plans<Self>;

    /// The nearest number.
    #[doc(hidden)]
    fn from_f64_rounded(value: f64) -> Self;
}

macro_rules! reals {
    ($($type:ty)*) => {$(
        impl Real for $type {
            fn plans() -> &'static Plans<$type> {
                static PLANS: OnceLock<Plans<$type>> = OnceLock::new();
                PLANS.get_or_init(Plans::new)
            }

            fn from_f64_rounded(value: f64) -> $type {
                value as $type
            }
        }
    )*};
}
reals!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_kept_up_to_a_bound() {
        let plans = Plans::<f64>::new();
        let kind = Kind::Complex(Direction::Forward, Level::best());
        let address = |plan: &Plan<f64>| match plan {
            Plan::Complex(plan) => Arc::as_ptr(plan).cast::<()>(),
            _ => std::ptr::null(),
        };
        let first = plans.find(kind, 12);
        assert_eq!(address(&first), address(&plans.find(kind, 12)));
        for n in 100..100 + MOST {
            plans.find(kind, n);
        }
        let kept = plans.0.lock().expect("nobody panicked");
        assert_eq!(kept.len(), MOST);
        assert!(kept.iter().all(|(_, n, _)| *n != 12), "the oldest goes first");
    }
}
