//! Programs of functions with loops between them: computed part by part, few loops, the same bits.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Machine, Program, Settings, View};

fn machine(level: Level, emit: bool, stream_from: usize) -> Machine {
    Machine::new(Settings { level, emit, n_threads: 1, tile: 512, stream_from })
}

/// The price of options, as it is written down: functions and what leads to them in turns.
fn prices() -> Program {
    let mut p = Builder::new(1);
    let [price, strike, years] = [0; 3].map(|_| p.input(Dtype::Float64));
    let [half, rate, drift] = [0.5, -0.1, 0.145].map(|number| p.constant(number));
    let risk = p.square_root(years);
    let ratio = p.divide(price, strike);
    let ratio = p.log(ratio);
    let term = p.multiply(years, drift);
    let ratio = p.add(ratio, term);
    let ratio = p.divide(ratio, risk);
    let near = p.erf(ratio);
    let near = p.multiply(near, half);
    let far = p.subtract(ratio, risk);
    let far = p.erf(far);
    let later = p.multiply(years, rate);
    let later = p.exp(later);
    let later = p.multiply(later, strike);
    let call = p.multiply(price, near);
    let cost = p.multiply(later, far);
    let call = p.subtract(call, cost);
    p.store(call);
    let put = p.add(call, later);
    p.store(put);
    p.finish()
}

/// A truth value beside numbers: elements of two sizes in one loop.
fn comparison() -> Program {
    let mut p = Builder::new(1);
    let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
    let wave = p.sin(a);
    let above = p.greater(wave, b);
    let other = p.exp(c);
    let chosen = p.select(above, other, wave);
    p.store(chosen);
    let sum = p.add(chosen, c);
    p.store(sum);
    p.finish()
}

/// What a program makes of numbers, on a machine, from the `skip`-th element on.
fn computed(machine: &Machine, program: &Program, n: usize, skip: usize) -> Vec<Vec<u64>> {
    let input = |k: usize| -> Vec<f64> {
        (0..n + skip).map(|i| 1.0 + ((i * (7 + 4 * k) + k) % 97) as f64 / 53.0).collect()
    };
    let inputs: Vec<Vec<f64>> = (0..3).map(input).collect();
    let mut outputs = vec![vec![-1.0_f64; n + skip]; 2];
    let read: Vec<_> = inputs.iter().map(|x| View::new(x[skip..].as_ptr(), &[8])).collect();
    let written: Vec<_> = outputs
        .iter_mut()
        .map(|x| View { data: x[skip..].as_mut_ptr().cast(), strides: &[8] })
        .collect();
    let call = Call { extents: &[n], inputs: &read, outputs: &written, scalars: &[] };
    let kernel = machine.kernel(program).unwrap();
    // SAFETY: the views lie within the vectors they were made of.
    unsafe { machine.run(&kernel, &call).unwrap() };
    outputs.iter().map(|x| x.iter().map(|y| y.to_bits()).collect()).collect()
}

#[test]
fn parts_of_tiles_are_computed_as_whole_ones() {
    let levels = Level::all().into_iter().filter(|l| *l != Level::PORTABLE);
    for level in levels {
        for program in [prices(), comparison()] {
            let plain = machine(level, false, usize::MAX);
            for stream_from in [0, usize::MAX] {
                let emitting = machine(level, true, stream_from);
                for n in [1, 7, 63, 64, 65, 127, 128, 511, 512, 513, 700, 1500] {
                    for skip in [0, 3] {
                        let wanted = computed(&plain, &program, n, skip);
                        let found = computed(&emitting, &program, n, skip);
                        assert_eq!(found, wanted, "{level:?}, {n} from {skip}, {stream_from}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_leads_to_several_functions_is_one_loop() {
    for level in Level::all().into_iter().filter(|l| *l != Level::PORTABLE) {
        let kernel = machine(level, true, usize::MAX).kernel(&prices()).unwrap();
        assert_eq!(kernel.n_tile_steps(), 4, "{level:?}");
        // Before the logarithm and the exponential, before the error functions, after them.
        assert_eq!(kernel.machine_code().len(), 3, "{level:?}");
    }
}
