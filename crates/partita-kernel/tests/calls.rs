//! Calls that do not fit are refused by name, and results do not depend on threads or tiles.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{
    Builder, Call, Dtype, KernelError, Machine, Program, Reduction, Scalar, Settings, View,
};

fn negative(ndim: usize) -> Program {
    let mut p = Builder::new(ndim);
    let x = p.input(Dtype::Float64);
    let y = p.negative(x);
    p.store(y);
    p.finish()
}

/// The reason of a call of `-x` with these extents, and strides and places in 4096 numbers.
fn refused(
    extents: &[usize],
    input: (usize, &[isize]),
    output: (usize, &[isize]),
) -> Result<(), &'static str> {
    let machine = Machine::new(Settings::default());
    let kernel = machine.kernel(&negative(extents.len())).unwrap();
    let mut memory = vec![0.0_f64; 4096];
    let start = memory.as_mut_ptr();
    let view = |(place, strides)| View { data: start.wrapping_add(place).cast(), strides };
    let (inputs, outputs) = ([view(input)], [view(output)]);
    let call = Call { extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: what is not refused stays within the numbers.
    unsafe { machine.run(&kernel, &call) }.map_err(|e: KernelError| e.reason())
}

#[test]
fn overlaps() {
    let row: &[isize] = &[8];
    let table: &[isize] = &[80, 8];
    assert_eq!(refused(&[10], (0, row), (0, row)), Ok(()));
    assert_eq!(refused(&[10], (0, row), (10, row)), Ok(()));
    assert_eq!(refused(&[10], (0, row), (1, row)), Err("output-read-elsewhere"));
    assert_eq!(refused(&[10], (0, &[16]), (1, &[16])), Ok(()));
    assert_eq!(refused(&[10, 5], (0, table), (5, table)), Ok(()));
    assert_eq!(refused(&[10, 5], (0, table), (4, table)), Err("output-read-elsewhere"));
    assert_eq!(refused(&[10], (9, &[-8]), (0, row)), Err("output-read-elsewhere"));
    assert_eq!(refused(&[10], (100, row), (0, &[0])), Err("output-repeats"));
    assert_eq!(refused(&[10, 5], (100, table), (0, &[8, 8])), Err("output-repeats"));
}

#[test]
fn enormous_extents() {
    let huge = 1 << 40;
    let none: &[isize] = &[0, 0];
    assert_eq!(refused(&[huge, huge], (0, none), (0, none)), Err("extents-overflow"));
    assert_eq!(refused(&[huge, huge, 0], (0, &[0; 3]), (0, &[0; 3])), Err("extents-overflow"));
    let far: &[isize] = &[isize::MAX / 2];
    assert_eq!(refused(&[5], (0, far), (0, far)), Err("span-overflow"));
    assert_eq!(refused(&[0], (0, &[8]), (0, &[8])), Ok(()));
}

#[test]
fn counts_and_types() {
    let machine = Machine::new(Settings::default());
    let mut p = Builder::new(1);
    let x = p.scalar(Dtype::Float64);
    p.over(&[0]).reduce(x, Reduction::Maximum);
    let kernel = machine.kernel(&p.finish()).unwrap();
    let mut out = [0.0_f64];
    let outputs = [View { data: out.as_mut_ptr().cast(), strides: &[0] }];
    let reason = |extents: &[usize], scalars: &[Scalar]| {
        let call = Call { extents, inputs: &[], outputs: &outputs, scalars };
        // SAFETY: the output has room.
        unsafe { machine.run(&kernel, &call) }.map_err(|e| e.reason())
    };
    assert_eq!(reason(&[2], &[]), Err("call-count"));
    assert_eq!(reason(&[2, 2], &[1.0.into()]), Err("call-count"));
    assert_eq!(reason(&[2], &[1_i64.into()]), Err("scalar-type"));
    assert_eq!(reason(&[0], &[1.0.into()]), Err("empty-reduction"));
    assert_eq!(reason(&[2], &[1.0.into()]), Ok(()));
}

/// Sum and mean of a table over some axes.
fn sums(machine: &Machine, shape: [usize; 2], axes: &[usize], x: &[f32]) -> Vec<f32> {
    let mut p = Builder::new(2);
    let input = p.input(Dtype::Float32);
    let square = p.multiply(input, input);
    let root = p.square_root(square);
    p.over(axes).reduce(root, Reduction::Sum).reduce(root, Reduction::Mean);
    let kernel = machine.kernel(&p.finish()).unwrap();
    let mut out = vec![0.0_f32; 2 * shape[0].max(shape[1])];
    let (sum, mean) = out.split_at_mut(shape[0].max(shape[1]));
    let strides = [4 * shape[1] as isize, 4];
    let outputs = [sum, mean].map(|o| View { data: o.as_mut_ptr().cast(), strides: &[4, 4] });
    let inputs = [View::new(x.as_ptr(), &strides)];
    let call = Call { extents: &shape, inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: the buffers have room for the shape.
    unsafe { machine.run(&kernel, &call).unwrap() };
    out
}

#[test]
fn same_bits_for_all_threads_tiles_and_machines() {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / 1e4 - 300.0
    };
    for shape in [[1, 700_001], [1000, 701], [350_000, 2], [3, 300_000], [400_003, 1]] {
        let x: Vec<f32> = (0..shape[0] * shape[1]).map(|_| next()).collect();
        for axes in [&[0, 1][..], &[0], &[1]] {
            let mut first: Option<Vec<f32>> = None;
            for level in Level::all() {
                for (emit, n_threads, tile) in [(false, 1, 512), (true, 2, 1024), (true, 5, 4096)] {
                    let machine = Machine::new(Settings {
                        level,
                        emit,
                        n_threads,
                        tile,
                        ..Settings::default()
                    });
                    let found = sums(&machine, shape, axes, &x);
                    let wanted = first.get_or_insert_with(|| found.clone());
                    assert!(*wanted == found, "{shape:?} {axes:?} {:?}", machine.settings());
                }
            }
            let total: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
            let given: f64 =
                first.unwrap()[..shape[0].max(shape[1])].iter().map(|&x| f64::from(x)).sum();
            assert!((given - total).abs() < 1e-5 * total, "{shape:?} {axes:?}");
        }
    }
}

#[test]
fn random_numbers_belong_to_their_counter() {
    let mut p = Builder::new(1);
    let (index, key) = (p.index(0), p.constant(42_u64));
    let counter = p.cast(index, Dtype::UInt64);
    let number = p.uniform(counter, key);
    p.store(number);
    let program = p.finish();
    let mut first: Option<Vec<f64>> = None;
    for level in Level::all() {
        for n_threads in [1, 3] {
            let machine = Machine::new(Settings {
                level,
                n_threads,
                emit: true,
                tile: 512,
                ..Settings::default()
            });
            let kernel = machine.kernel(&program).unwrap();
            let mut out = vec![0.0_f64; 200_000];
            let outputs = [View { data: out.as_mut_ptr().cast(), strides: &[8] }];
            let call = Call { extents: &[200_000], inputs: &[], outputs: &outputs, scalars: &[] };
            // SAFETY: the output has room.
            unsafe { machine.run(&kernel, &call).unwrap() };
            assert!(out.iter().all(|x| (0.0..1.0).contains(x)));
            let mean = out.iter().sum::<f64>() / 200_000.0;
            assert!((mean - 0.5).abs() < 0.005);
            assert!(*first.get_or_insert_with(|| out.clone()) == out);
        }
    }
}

/// Two stored values of a table of numbers, one of them behind a function where `function`.
fn stored(machine: &Machine, function: bool, from: &[f64], width: usize, skip: usize) -> Vec<f64> {
    let mut p = Builder::new(2);
    let x = p.input(Dtype::Float64);
    let square = p.multiply(x, x);
    let other = if function { p.cos(square) } else { p.square_root(square) };
    let sum = p.add(other, x);
    let difference = p.subtract(other, x);
    p.store(sum).store(difference);
    let kernel = machine.kernel(&p.finish()).unwrap();
    let (height, row) = (from.len() / width, width + 5);
    let mut out = vec![7.0; 2 * height * row + 16];
    let strides = [8 * row as isize, 8];
    let start = out[skip..].as_mut_ptr();
    let outputs =
        [0, height * row].map(|at| View { data: start.wrapping_add(at).cast(), strides: &strides });
    let read = [8 * width as isize, 8];
    let inputs = [View::new(from.as_ptr(), &read)];
    let extents = [height, width];
    let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: both outputs lie in `out`.
    unsafe { machine.run(&kernel, &call).unwrap() };
    out
}

/// Results of 16 MB and more, which are written past the cache: in rows of any length, at any
/// place within a cache line, and nothing between the rows.
#[test]
fn large_results_are_the_same_and_stay_in_their_rows() {
    let from: Vec<f64> = (0..1 << 20).map(|i| f64::from(i % 977) - 400.0).collect();
    let tiles = Settings {
        emit: false,
        n_threads: 1,
        tile: 512,
        level: Level::PORTABLE,
        ..Settings::default()
    };
    for width in [1 << 20, 1 << 10, 1 << 4] {
        for (function, skip) in [(false, 0), (false, 3), (true, 0), (true, 1)] {
            let wanted = stored(&Machine::new(tiles), function, &from, width, skip);
            for level in Level::all() {
                let settings =
                    Settings { level, emit: true, n_threads: 2, tile: 512, ..Settings::default() };
                let given = stored(&Machine::new(settings), function, &from, width, skip);
                assert!(wanted == given, "{level:?}, rows of {width}, {function}, {skip}");
            }
        }
    }
}

/// Wide tables are read in longer stretches than a tile where nothing is computed: the same sums,
/// in the order of the rows up to 128 of them.
#[test]
fn columns_of_wide_tables() {
    let (rows, columns) = (100_usize, 4500_usize);
    let table: Vec<f64> = (0..rows * columns).map(|i| (i * i % 9973) as f64 / 7.0).collect();
    let mut p = Builder::new(2);
    let x = p.input(Dtype::Float64);
    p.over(&[0]).reduce(x, Reduction::Sum);
    let program = p.finish();
    let mut wanted = table[..columns].to_vec();
    for row in table.chunks_exact(columns).skip(1) {
        wanted.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    for level in Level::all() {
        for (n_threads, tile) in [(1, 512), (1, 4096), (3, 1024)] {
            let settings = Settings { level, n_threads, tile, ..Settings::default() };
            let machine = Machine::new(settings);
            let kernel = machine.kernel(&program).unwrap();
            let mut sums = vec![0.0_f64; columns];
            let strides = [8 * columns as isize, 8];
            let inputs = [View::new(table.as_ptr(), &strides)];
            let outputs = [View { data: sums.as_mut_ptr().cast(), strides: &[0, 8] }];
            let extents = [rows, columns];
            let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
            // SAFETY: the table and the sums have as many elements.
            unsafe { machine.run(&kernel, &call).unwrap() };
            assert!(sums == wanted, "{settings:?}");
        }
    }
}

/// Integers and truth values are all finite, and taken as every other type is.
#[test]
fn every_type_is_asked_for_infinities() {
    for level in Level::all() {
        for emit in [false, true] {
            let machine = Machine::new(Settings { level, emit, ..Settings::default() });
            for dtype in Dtype::ALL {
                let mut p = Builder::new(1);
                let x = p.input(dtype);
                let (nan, inf, finite) = (p.is_nan(x), p.is_inf(x), p.is_finite(x));
                p.store(nan).store(inf).store(finite);
                let kernel = machine.kernel(&p.finish()).unwrap();
                // One of every type, or a small number.
                let memory = vec![1_u8; 16 * 70];
                let mut out = [[9_u8; 70]; 3];
                let strides = [dtype.size() as isize];
                let inputs = [View::new(memory.as_ptr(), &strides)];
                let outputs = out.each_mut().map(|o| View { data: o.as_mut_ptr(), strides: &[1] });
                let call =
                    Call { extents: &[70], inputs: &inputs, outputs: &outputs, scalars: &[] };
                // SAFETY: the buffers have 70 elements.
                unsafe { machine.run(&kernel, &call).unwrap() };
                assert!(out == [[0; 70], [0; 70], [1; 70]], "{dtype} at {level:?}");
            }
        }
    }
}

#[test]
fn a_machine_without_threads_has_one() {
    let mut b = Builder::new(1);
    let x = b.input(Dtype::Float64);
    let y = b.add(x, x);
    b.store(y);
    let machine = Machine::new(Settings { n_threads: 0, ..Settings::default() });
    let kernel = machine.kernel(&b.finish()).expect("a kernel");
    let (mut given, mut made) = (vec![1.5_f64; 300_000], vec![0.0_f64; 300_000]);
    let view = |numbers: &mut Vec<f64>| View { data: numbers.as_mut_ptr().cast(), strides: &[8] };
    let (inputs, outputs) = ([view(&mut given)], [view(&mut made)]);
    let call = Call { extents: &[300_000], inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: both views have so many elements of this type.
    unsafe { machine.run(&kernel, &call) }.expect("a run");
    assert!(made.iter().all(|x| *x == 3.0));
}

#[test]
fn repeated_elements_do_not_make_more_points_than_a_kernel_visits() {
    let mut b = Builder::new(1);
    let x = b.input(Dtype::Float64);
    b.over(&[0]);
    b.reduce(x, Reduction::Sum);
    let machine = Machine::new(Settings::default());
    let kernel = machine.kernel(&b.finish()).expect("a kernel");
    let (mut one, mut sum) = (1.5_f64, 0.0_f64);
    let still: &[isize] = &[0];
    let inputs = [View { data: (&raw mut one).cast(), strides: still }];
    let outputs = [View { data: (&raw mut sum).cast(), strides: still }];
    let call = Call { extents: &[1 << 50], inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: one element each, which is not left.
    let refused = unsafe { machine.run(&kernel, &call) };
    assert_eq!(refused.expect_err("too many").reason(), "extents-overflow");
}
