//! What kernels take while they run is at most what they say.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use partita_kernel::{Builder, Call, Dtype, Machine, Reduction, Settings, View};

/// The system's memory, counted.
struct Counted;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Tiles, a few partial results of each tile, and what keeps them.
const PER_THREAD_BYTES: usize = 400 << 10;

/// Bytes that a reduction took beside its result, and how many it said.
fn taken(reduction: Reduction, shape: [usize; 2], axis: usize, n_threads: usize) -> [usize; 2] {
    let mut p = Builder::new(2);
    let x = p.input(Dtype::Float64);
    match reduction {
        Reduction::Variance => {
            let correction = p.scalar(Dtype::Float64);
            p.over(&[axis]).variance(x, correction);
        }
        _ => {
            p.over(&[axis]).reduce(x, reduction);
        }
    }
    let machine = Machine::new(Settings { n_threads, ..Settings::default() });
    let kernel = machine.kernel(&p.finish()).unwrap();
    let table = vec![1.5; shape[0] * shape[1]];
    let mut out = vec![0.0; shape[1 - axis]];
    let strides = [8 * shape[1] as isize, 8];
    let to = if axis == 0 { [0, 8] } else { [8, 0] };
    let inputs = [View::new(table.as_ptr(), &strides)];
    let outputs = [View { data: out.as_mut_ptr().cast(), strides: &to }];
    let scalars = [0.0.into()];
    let scalars = if reduction == Reduction::Variance { &scalars[..] } else { &[] };
    let call = Call { extents: &shape, inputs: &inputs, outputs: &outputs, scalars };
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    // SAFETY: the table and the results have room.
    unsafe { machine.run(&kernel, &call).unwrap() };
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    [most, machine.scratch_bytes(&kernel, &call)]
}

#[test]
fn reductions_take_no_more_than_they_say() {
    let shapes = [[3, 400_000], [400_000, 3], [2, 300_000], [5000, 300], [300, 5000], [1, 900_000]];
    for reduction in [Reduction::Sum, Reduction::Variance, Reduction::ArgMin, Reduction::Maximum] {
        for (shape, axis, n_threads) in
            shapes.iter().flat_map(|shape| [(shape, 0, 1), (shape, 1, 1), (shape, 0, 3)])
        {
            let [most, said] = taken(reduction, *shape, axis, n_threads);
            let allowed = said + n_threads * PER_THREAD_BYTES;
            assert!(most <= allowed, "{reduction:?} of {shape:?} over {axis}: {most}, said {said}");
            // Nothing beside a few rows of results, however many there are.
            assert!(said <= 4 << 20, "{reduction:?} of {shape:?} over {axis}: {said}");
        }
    }
}
