//! Reductions as tables of functions over bytes.

use super::argument::{Arg, Found};
use super::extreme::{Extreme, First, Last};
use super::kinds::{All, Any, Count, Mean, Product, Sum};
use super::variance::{Moments, Variance};
use super::{LEAF, Reduce, STREAMS};
use crate::dtype::{self, Dtype};
use crate::element::{BFloat16, Bool, Cast, Complex, Float16, Target};
use crate::math::Level;
use crate::math::level::Kind;
use crate::program::Reduction;
use crate::simd::Lanes;
use crate::tiles::functions::typed;

/// One reduction of one type. States and partial results need no alignment.
#[derive(Debug, Clone, Copy)]
pub struct Reducer {
    /// Bytes of a leaf's state.
    pub state: usize,
    /// Bytes of a partial result.
    pub partial: usize,
    /// Bytes of an item.
    pub item: usize,
    /// Writes an empty leaf.
    pub start: unsafe fn(state: *mut u8),
    /// Takes `n` items, the first of number `at`, into a leaf.
    pub add: unsafe fn(state: *mut u8, items: *const u8, n: usize, at: u64),
    /// Fills [`STREAMS`] leaves in turns, from as many items as they have, the first of number
    /// `at`; what is left of them is written `apart` bytes from each other, in place of what is
    /// left of earlier or of empty leaves.
    pub leaves: unsafe fn(items: *const u8, at: u64, partials: *mut u8, apart: usize),
    /// Writes what is left of a leaf.
    pub leaf: unsafe fn(state: *const u8, partial: *mut u8),
    /// Combines two neighbours into the first.
    pub merge: unsafe fn(left: *mut u8, right: *const u8),
    /// Takes one item into each of `n` partial results; `count` items came before.
    pub columns: unsafe fn(partials: *mut u8, items: *const u8, n: usize, at: u64, count: u64),
    /// Writes the result of `count` items.
    pub finish: unsafe fn(partial: *const u8, count: u64, correction: f64, out: *mut u8),
}

/// The functions of a reduction, for values of a type.
pub fn find(reduction: Reduction, dtype: Dtype, level: Level) -> Reducer {
    let leaves = functions(reduction, dtype, level).leaves;
    Reducer { leaves, ..functions(reduction, dtype, as_compiled_best(reduction, dtype, level)) }
}

fn functions(reduction: Reduction, dtype: Dtype, level: Level) -> Reducer {
    let found = match reduction {
        Reduction::Sum => typed!(dtype, T: numbers => table::<Sum<T>>(level)),
        Reduction::Product => typed!(dtype, T: numbers => table::<Product<T>>(level)),
        Reduction::Minimum => typed!(dtype, T: ordered => table::<Extreme<T, First>>(level)),
        Reduction::Maximum => typed!(dtype, T: ordered => table::<Extreme<T, Last>>(level)),
        Reduction::Any => typed!(dtype, T: all => table::<Any<T>>(level)),
        Reduction::All => typed!(dtype, T: all => table::<All<T>>(level)),
        Reduction::Count => typed!(dtype, T: all => table::<Count<T>>(level)),
        Reduction::ArgMin => typed!(dtype, T: ordered => table::<Arg<T, First>>(level)),
        Reduction::ArgMax => typed!(dtype, T: ordered => table::<Arg<T, Last>>(level)),
        Reduction::Mean => typed!(dtype, T: floats => table::<Mean<T>>(level))
            .or_else(|| typed!(dtype, T: complexes => table::<Mean<T>>(level))),
        Reduction::Variance => typed!(dtype, T: floats => table::<Variance<T>>(level)),
        Reduction::VarianceMean => typed!(dtype, T: floats =>
            Reducer { finish: finish_mean::<T>, ..table::<Variance<T>>(level) }),
        Reduction::ArgMinValue => typed!(dtype, T: ordered =>
            Reducer { finish: finish_value::<T>, ..table::<Arg<T, First>>(level) }),
        Reduction::ArgMaxValue => typed!(dtype, T: ordered =>
            Reducer { finish: finish_value::<T>, ..table::<Arg<T, Last>>(level) }),
    };
    found.unwrap_or_else(|| unreachable!("verified: {reduction:?} takes {dtype}"))
}

/// For extremes of integers the compiler makes gathers of 512 bits, many times as slow as plain
/// loads of 256; not where several leaves are filled.
fn as_compiled_best(reduction: Reduction, dtype: Dtype, level: Level) -> Level {
    use Reduction::{ArgMax, ArgMin, Maximum, Minimum};
    let extreme = matches!(reduction.way(), Minimum | Maximum | ArgMin | ArgMax);
    let integer = matches!(dtype.kind(), dtype::Kind::Signed | dtype::Kind::Unsigned);
    match level.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 if extreme && integer => Level(Kind::Avx2),
        _ => level,
    }
}

fn table<R: Reduce>(level: Level) -> Reducer {
    let _ = level;
    Reducer {
        state: size_of::<R::State>(),
        partial: size_of::<R::Partial>(),
        item: size_of::<R::Item>(),
        start: start::<R>,
        add: match level.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => add_avx2::<R>,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => add_avx512::<R>,
            _ => add::<R>,
        },
        leaves: match level.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => leaves_avx2::<R>,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => leaves_avx512::<R>,
            _ => leaves::<R, f64>,
        },
        leaf: leaf::<R>,
        merge: merge::<R>,
        columns: match level.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => columns_avx2::<R>,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => columns_avx512::<R>,
            _ => columns::<R>,
        },
        finish: finish::<R>,
    }
}

unsafe fn start<R: Reduce>(state: *mut u8) {
    // SAFETY: the state has room.
    unsafe { state.cast::<R::State>().write_unaligned(R::start()) };
}

#[inline(always)]
unsafe fn add<R: Reduce>(state: *mut u8, items: *const u8, n: usize, at: u64) {
    // SAFETY: the state is one of this reduction and there are n items, aligned.
    unsafe {
        let state = state.cast::<R::State>();
        let mut kept = state.read_unaligned();
        by_blocks::<R>(&mut kept, std::slice::from_raw_parts(items.cast(), n), at);
        state.write_unaligned(kept);
    }
}

/// Takes elements of one leaf, of any number of blocks.
#[inline(always)]
fn by_blocks<R: Reduce>(state: &mut R::State, mut items: &[R::Item], mut at: u64) {
    loop {
        let room = R::BLOCK - at as usize % R::BLOCK;
        if items.len() < room {
            return R::add(state, items, at);
        }
        let (now, later) = items.split_at(room);
        R::add(state, now, at);
        R::end_block(state);
        (items, at) = (later, at + room as u64);
        if items.is_empty() {
            return;
        }
    }
}

#[inline(always)]
unsafe fn leaves<R: Reduce, V: Lanes>(items: *const u8, at: u64, partials: *mut u8, apart: usize) {
    // SAFETY: the leaves have as many items, aligned; as many partial results lie so far apart.
    unsafe {
        let items = std::slice::from_raw_parts(items.cast(), LEAF * STREAMS);
        let before = partials.add((STREAMS - 1) * apart).cast::<R::Partial>().read_unaligned();
        for (i, partial) in R::leaves::<V>(items, at, before).into_iter().enumerate() {
            partials.add(i * apart).cast::<R::Partial>().write_unaligned(partial);
        }
    }
}

#[inline(always)]
unsafe fn columns<R: Reduce>(partials: *mut u8, items: *const u8, n: usize, at: u64, count: u64) {
    let (partials, items) = (partials.cast::<R::Partial>(), items.cast::<R::Item>());
    for i in 0..n {
        // SAFETY: there are n of each.
        unsafe {
            let item = items.add(i).read();
            let partial = partials.add(i);
            partial.write_unaligned(match count {
                0 => R::single(item, at),
                _ => R::push(partial.read_unaligned(), item, at, count),
            });
        }
    }
}

macro_rules! at_level {
    ($lanes:ty, $features:literal $add:ident $leaves:ident $columns:ident) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $leaves<R: Reduce>(items: *const u8, at: u64, partials: *mut u8, apart: usize) {
            // SAFETY: the caller's.
            unsafe { leaves::<R, $lanes>(items, at, partials, apart) };
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $add<R: Reduce>(state: *mut u8, items: *const u8, n: usize, at: u64) {
            // SAFETY: the caller's.
            unsafe { add::<R>(state, items, n, at) };
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $columns<R: Reduce>(
            partials: *mut u8,
            items: *const u8,
            n: usize,
            at: u64,
            count: u64,
        ) {
            // SAFETY: the caller's.
            unsafe { columns::<R>(partials, items, n, at, count) };
        }
    };
}

at_level!(crate::simd::Avx2, "avx2,fma,bmi1,bmi2,lzcnt,popcnt" add_avx2 leaves_avx2 columns_avx2);
at_level!(crate::simd::Avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
    add_avx512 leaves_avx512 columns_avx512);

unsafe fn leaf<R: Reduce>(state: *const u8, partial: *mut u8) {
    // SAFETY: the state is one of this reduction, the result has room.
    unsafe {
        let state = state.cast::<R::State>().read_unaligned();
        partial.cast::<R::Partial>().write_unaligned(R::leaf(&state));
    }
}

unsafe fn merge<R: Reduce>(left: *mut u8, right: *const u8) {
    let left = left.cast::<R::Partial>();
    // SAFETY: both are partial results of this reduction.
    unsafe {
        let right = right.cast::<R::Partial>().read_unaligned();
        left.write_unaligned(R::merge(left.read_unaligned(), right));
    }
}

unsafe fn finish<R: Reduce>(partial: *const u8, count: u64, correction: f64, out: *mut u8) {
    // SAFETY: the partial result is one of this reduction, the result has room.
    unsafe {
        let partial = partial.cast::<R::Partial>().read_unaligned();
        out.cast::<R::Out>().write_unaligned(R::finish(partial, count, correction));
    }
}

/// Writes the mean of what a variance knows.
unsafe fn finish_mean<T: Target>(partial: *const u8, _: u64, _: f64, out: *mut u8) {
    // SAFETY: the partial result is one of a variance, the result has room.
    unsafe {
        let partial = partial.cast::<Moments>().read_unaligned();
        out.cast::<T>().write_unaligned(partial.mean().cast());
    }
}

/// Writes the element that was looked for.
unsafe fn finish_value<T: Copy>(partial: *const u8, _: u64, _: f64, out: *mut u8) {
    // SAFETY: the partial result is one of an index of such elements, the result has room.
    unsafe {
        let partial = partial.cast::<Found<T>>().read_unaligned();
        out.cast::<T>().write_unaligned(partial.value());
    }
}
