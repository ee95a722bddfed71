//! Kernels are found by structure, and not too many are kept.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::{Builder, Dtype, Machine, Program, Settings};
use std::sync::Arc;

fn plus(constant: f64) -> Program {
    let mut p = Builder::new(1);
    let x = p.input(Dtype::Float64);
    let c = p.constant(constant);
    let sum = p.add(x, c);
    p.store(sum);
    p.finish()
}

#[test]
fn the_same_structure_is_the_same_kernel() {
    let machine = Machine::new(Settings::default());
    let one = machine.kernel(&plus(1.0)).unwrap();
    assert!(Arc::ptr_eq(&one, &machine.kernel(&plus(1.0)).unwrap()));
    assert!(!Arc::ptr_eq(&one, &machine.kernel(&plus(2.0)).unwrap()));
    // Zeros of both signs are different numbers here.
    let zero = machine.kernel(&plus(0.0)).unwrap();
    assert!(!Arc::ptr_eq(&zero, &machine.kernel(&plus(-0.0)).unwrap()));
}

#[test]
fn refused_programs_are_not_kept() {
    let machine = Machine::new(Settings::default());
    assert!(machine.kernel(&Program::default()).is_err());
    assert_eq!(machine.n_kernels(), 0);
}

#[test]
fn the_number_kept_is_bounded() {
    let machine = Machine::new(Settings { emit: false, ..Settings::default() });
    for i in 0..5000 {
        machine.kernel(&plus(f64::from(i))).unwrap();
    }
    assert!(machine.n_kernels() <= 1024);
    assert!(machine.n_kernels() >= 512);
}
