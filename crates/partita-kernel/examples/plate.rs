//! Heat spreads over a plate with a hot upper edge: one fused kernel, run again and again.
//!
//! ```text
//! cargo run --release -p partita-kernel --example plate
//! ```
//!
//! Each step writes the mean of four neighbours and finds, in the same pass over memory, the
//! largest change; it ends when nothing changes by more than 0.00002.

use partita_kernel::{Builder, Call, Dtype, Machine, Program, Reduction, Result, View};
use std::time::Instant;

const ROWS: usize = 98;
const COLUMNS: usize = 202;
const STRIDES: [isize; 2] = [8 * COLUMNS as isize, 8];

/// The mean of four neighbours, and the largest change from the middle.
fn step() -> Program {
    let mut b = Builder::new(2);
    let [up, down, left, right, middle] = [0; 5].map(|_| b.input(Dtype::Float64));
    let quarter = b.constant(0.25);
    let (vertical, horizontal) = (b.add(up, down), b.add(left, right));
    let sum = b.add(vertical, horizontal);
    let mean = b.multiply(sum, quarter);
    let change = b.subtract(mean, middle);
    let change = b.absolute(change);
    b.store(mean);
    b.over(&[0, 1]).reduce(change, Reduction::Maximum);
    b.finish()
}

fn main() -> Result<()> {
    let machine = Machine::global();
    let kernel = machine.kernel(&step())?;
    let mut plate = vec![0.0_f64; ROWS * COLUMNS];
    plate[..COLUMNS].fill(1.0);
    let mut next = plate.clone();
    let (mut change, mut n_steps, start) = (f64::MAX, 0, Instant::now());
    while change > 2e-5 {
        let at = |row: usize, column: usize| {
            View::new(plate[row * COLUMNS + column..].as_ptr(), &STRIDES)
        };
        let inputs = [at(0, 1), at(2, 1), at(1, 0), at(1, 2), at(1, 1)];
        let outputs = [
            View { data: next[COLUMNS + 1..].as_mut_ptr().cast(), strides: &STRIDES },
            View { data: std::ptr::from_mut(&mut change).cast(), strides: &[0, 0] },
        ];
        let extents = [ROWS - 2, COLUMNS - 2];
        let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
        // SAFETY: the views and what they are shifted by stay within the plates, which are two.
        unsafe { machine.run(&kernel, &call)? };
        std::mem::swap(&mut plate, &mut next);
        n_steps += 1;
    }
    show(&plate);
    let seconds = start.elapsed().as_secs_f64();
    let settings = machine.settings();
    let points = (n_steps * (ROWS - 2) * (COLUMNS - 2)) as f64;
    println!("{n_steps} steps of {} x {} points", ROWS - 2, COLUMNS - 2);
    println!(
        "{:.2} ns a point, {:?}, {} threads, {} emitted loops, {} steps of tiles",
        1e9 * seconds / points,
        settings.level,
        settings.n_threads,
        kernel.machine_code().len(),
        kernel.n_tile_steps(),
    );
    Ok(())
}

fn show(plate: &[f64]) {
    const SHADES: &[u8] = b" .:-=+*#%@";
    for row in (0..ROWS).step_by(6) {
        let shade = |column: usize| {
            let heat = plate[row * COLUMNS + column].clamp(0.0, 1.0);
            char::from(SHADES[(heat * (SHADES.len() - 1) as f64).round() as usize])
        };
        println!("{}", (0..COLUMNS).step_by(3).map(shade).collect::<String>());
    }
}
