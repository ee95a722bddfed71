//! Emitted code looked at by a disassembler, and where it comes from.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, Register};
use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Kernel, Machine, Program, Settings, View};
use std::sync::Arc;

fn levels() -> Vec<Level> {
    Level::all().into_iter().filter(|l| *l != Level::PORTABLE).collect()
}

fn machine(level: Level) -> Machine {
    Machine::new(Settings { level, emit: true, n_threads: 1, tile: 512, ..Settings::default() })
}

fn kernel(level: Level, program: &Program) -> Arc<Kernel> {
    machine(level).kernel(program).unwrap()
}

/// `a * b + c`, in two roundings.
fn multiply_add() -> Program {
    let mut p = Builder::new(1);
    let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
    let product = p.multiply(a, b);
    let sum = p.add(product, c);
    p.store(sum);
    p.finish()
}

/// The instructions up to the return.
fn instructions(code: &[u8]) -> Vec<iced_x86::Instruction> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut all = Vec::new();
    loop {
        let instruction = decoder.decode();
        assert!(!instruction.is_invalid(), "at {}", instruction.ip());
        all.push(instruction);
        if instruction.flow_control() == FlowControl::Return {
            return all;
        }
    }
}

fn count(all: &[iced_x86::Instruction], mnemonic: Mnemonic) -> usize {
    all.iter().filter(|i| i.mnemonic() == mnemonic).count()
}

#[test]
fn one_loop_without_fused_rounding() {
    for level in levels() {
        let kernel = kernel(level, &multiply_add());
        assert_eq!(kernel.n_tile_steps(), 0);
        let code = kernel.machine_code();
        assert_eq!(code.len(), 1);
        let all = instructions(&code[0]);
        // Two vectors at once, one vector, and the rest under a mask.
        assert_eq!(count(&all, Mnemonic::Vmulpd), 4, "{level:?}");
        assert_eq!(count(&all, Mnemonic::Vaddpd), 4);
        assert!(all.iter().all(|i| !format!("{:?}", i.mnemonic()).starts_with("Vfm")));
    }
}

#[test]
fn fused_rounding_where_it_is_asked_for() {
    for level in levels() {
        let mut p = Builder::new(1);
        let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
        let sum = p.fused_multiply_add(a, b, c);
        p.store(sum);
        let all = instructions(&kernel(level, &p.finish()).machine_code()[0]);
        assert_eq!(count(&all, Mnemonic::Vfmadd213pd), 4, "{level:?}");
    }
}

#[test]
fn branches_stay_inside_and_saved_registers_come_back() {
    let mut p = Builder::new(1);
    let inputs = [0; 8].map(|_| p.input(Dtype::Float32));
    let mut sum = inputs[0];
    for &input in &inputs[1..] {
        sum = p.add(sum, input);
    }
    p.store(sum);
    let program = p.finish();
    for level in levels() {
        let all = instructions(&kernel(level, &program).machine_code()[0]);
        let end = all.last().unwrap().ip();
        for i in &all {
            let jumps = i.flow_control() == FlowControl::ConditionalBranch
                || i.flow_control() == FlowControl::UnconditionalBranch;
            assert!(!jumps || i.near_branch64() <= end);
            assert!(i.flow_control() != FlowControl::Call && !i.is_string_instruction());
        }
        let moved = |m: Mnemonic| -> Vec<Register> {
            all.iter().filter(|i| i.mnemonic() == m).map(|i| i.op0_register()).collect()
        };
        let (pushed, mut popped) = (moved(Mnemonic::Push), moved(Mnemonic::Pop));
        popped.reverse();
        assert_eq!(pushed, popped, "{level:?}");
        assert!(!pushed.is_empty());
    }
}

/// Large calls take four rows at once: every vector of a line for each, and the rest under a mask.
#[test]
fn groups_of_rows_stream_whole_lines_and_ask_ahead() {
    for level in levels() {
        let kernel = kernel(level, &multiply_add());
        let all = instructions(&kernel.streaming_machine_code()[0]);
        let per_line = if count(&all, Mnemonic::Kmovd) > 0 { 1 } else { 2 };
        assert_eq!(count(&all, Mnemonic::Vmovntpd), 4 * per_line, "{level:?}");
        assert_eq!(count(&all, Mnemonic::Vmulpd), 4 * per_line + 4);
        // Two slots, once per line and row.
        assert_eq!(count(&all, Mnemonic::Prefetcht0), 8);
        let end = all.last().unwrap().ip();
        let jumps = |i: &&iced_x86::Instruction| i.flow_control() == FlowControl::ConditionalBranch;
        assert!(all.iter().filter(jumps).all(|i| i.near_branch64() <= end));
        let moved = |m: Mnemonic| -> Vec<Register> {
            all.iter().filter(|i| i.mnemonic() == m).map(|i| i.op0_register()).collect()
        };
        let (pushed, mut popped) = (moved(Mnemonic::Push), moved(Mnemonic::Pop));
        popped.reverse();
        assert_eq!(pushed, popped);
    }
}

#[test]
fn numbers_of_the_program_are_folded() {
    for level in levels() {
        let mut p = Builder::new(1);
        let x = p.input(Dtype::Float64);
        let (two, three) = (p.constant(2.0), p.constant(3.0));
        let six = p.multiply(two, three);
        let result = p.multiply(x, six);
        p.store(result);
        let all = instructions(&kernel(level, &p.finish()).machine_code()[0]);
        assert_eq!(count(&all, Mnemonic::Vmulpd), 4, "{level:?}");
    }
}

#[test]
fn functions_stand_between_loops() {
    let mut p = Builder::new(1);
    let x = p.input(Dtype::Float64);
    let square = p.multiply(x, x);
    let exp = p.exp(square);
    let result = p.add(exp, x);
    p.store(result);
    let program = p.finish();
    for level in levels() {
        let kernel = kernel(level, &program);
        assert_eq!((kernel.machine_code().len(), kernel.n_tile_steps()), (2, 1));
    }
}

/// A byte tile that is free after its last use must not become a tile of numbers of the same loop.
#[test]
fn bytes_and_numbers_do_not_share_a_tile() {
    let n = 1000;
    let (x, mut out) = (vec![2.0_f32; n], vec![1.0_f32; n]);
    let mut flags = vec![0_u8; n];
    let mut p = Builder::new(1);
    let value = p.input(Dtype::Float32);
    let flag = p.cast(value, Dtype::Bool);
    let not = p.logical_not(flag);
    let root = p.square_root(value);
    let sine = p.sin(root);
    p.store(not).store(sine);
    let program = p.finish();
    for level in levels() {
        flags.fill(7);
        let machine = machine(level);
        let kernel = machine.kernel(&program).unwrap();
        let inputs = [View::new(x.as_ptr(), &[4])];
        let outputs = [
            View { data: flags.as_mut_ptr(), strides: &[1] },
            View { data: out.as_mut_ptr().cast(), strides: &[4] },
        ];
        let call = Call { extents: &[n], inputs: &inputs, outputs: &outputs, scalars: &[] };
        // SAFETY: all buffers have n elements.
        unsafe { machine.run(&kernel, &call).unwrap() };
        assert!(flags.iter().all(|&f| f == 0), "{level:?}");
    }
}

#[test]
fn tiles_on_request() {
    let settings = Settings { emit: false, ..Settings::default() };
    let kernel = Machine::new(settings).kernel(&multiply_add()).unwrap();
    assert!(kernel.machine_code().is_empty());
}

/// A program of float32 numbers that computes in float64 and stores float32 again.
fn through_float64() -> Program {
    let mut p = Builder::new(1);
    let [x, y] = [0; 2].map(|_| p.input(Dtype::Float32));
    let [wide_x, wide_y] = [x, y].map(|v| p.cast(v, Dtype::Float64));
    let product = p.multiply(wide_x, wide_y);
    let narrow = p.cast(product, Dtype::Float32);
    p.store(narrow);
    p.finish()
}

/// Casts between lanes of four and eight bytes need no tile functions with AVX-512.
#[test]
fn casts_between_sizes_stay_in_the_loop() {
    for level in Level::all().into_iter().filter(|level| level.name() == "avx512") {
        let machine = Machine::new(Settings { level, emit: true, ..Settings::default() });
        let kernel = machine.kernel(&through_float64()).unwrap();
        assert_eq!(kernel.n_tile_steps(), 0);
        assert_eq!(kernel.machine_code().len(), 1);
    }
}

/// Sums of products of twenty inputs, each used three times, into two results.
fn many_inputs() -> Program {
    let mut p = Builder::new(2);
    let inputs = [0; 20].map(|_| p.input(Dtype::Float64));
    let mut results = [inputs[0], inputs[19]];
    for (i, &input) in inputs.iter().enumerate() {
        let product = p.multiply(input, inputs[(i + 7) % 20]);
        results[0] = p.add(results[0], product);
        let difference = p.subtract(input, results[0]);
        results[1] = p.add(results[1], difference);
    }
    for result in results {
        p.store(result);
    }
    p.finish()
}

/// More inputs than there are registers for pointers, more elements than for values: still one
/// loop, over rows of a larger array.
#[test]
fn many_inputs_are_one_loop() {
    const WIDTH: usize = 61;
    let memory: Vec<f64> = (0..WIDTH * 12).map(|at| (at * at % 127) as f64).collect();
    let starts: Vec<usize> = (0..20).map(|i| i % 5 * WIDTH + i % 3).collect();
    let strides = [8 * WIDTH as isize, 8];
    for level in levels() {
        for extents in [[1, 40], [6, 53], [7, 3]] {
            let machine = machine(level);
            let kernel = machine.kernel(&many_inputs()).unwrap();
            assert_eq!((kernel.n_tile_steps(), kernel.machine_code().len()), (0, 1), "{level:?}");
            let mut made = [vec![0.0; WIDTH * 12], vec![0.0; WIDTH * 12]];
            let inputs: Vec<View<'_>> =
                starts.iter().map(|start| View::new(memory[*start..].as_ptr(), &strides)).collect();
            let outputs = made
                .each_mut()
                .map(|results| View { data: results.as_mut_ptr().cast(), strides: &strides });
            let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
            // SAFETY: all windows lie in their vectors.
            unsafe { machine.run(&kernel, &call).unwrap() };
            for (i, j) in (0..extents[0]).flat_map(|i| (0..extents[1]).map(move |j| (i, j))) {
                let x: Vec<f64> = starts.iter().map(|at| memory[at + i * WIDTH + j]).collect();
                let (mut first, mut second) = (x[0], x[19]);
                for k in 0..20 {
                    first += x[k] * x[(k + 7) % 20];
                    second += x[k] - first;
                }
                let found = (made[0][i * WIDTH + j], made[1][i * WIDTH + j]);
                assert_eq!(found, (first, second), "{level:?} {extents:?} at {i}, {j}");
            }
        }
    }
}
