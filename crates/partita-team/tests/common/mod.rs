//! Random regions and the dense model they are compared with.
#![allow(dead_code)]

use std::sync::{Mutex, PoisonError};

use partita_layout::{Level, Run};
use partita_team::copy::{Isa, Region, Source, Stores, Target, copy};

/// A small generator with a seed to print (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `0..bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            (0..n.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(n);
        bytes
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A region with buffers on both sides, guard bytes around every element.
#[derive(Debug, Clone)]
pub struct Case {
    pub item_bytes: usize,
    pub runs: Vec<Vec<Run>>,
    pub source_strides: Vec<isize>,
    pub target_strides: Vec<isize>,
    pub source_origin: usize,
    pub target_origin: usize,
    pub source: Vec<u8>,
    pub target: Vec<u8>,
}

/// Limits of what is generated.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub n_elements: u64,
    pub n_bytes: usize,
}

impl Case {
    /// A case with positions that do not repeat in the target.
    pub fn random(random: &mut Random, item_bytes: usize, sizes: Sizes) -> Self {
        let ndim = random.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
        let most = match ndim {
            0 | 1 => sizes.n_elements,
            2 => sizes.n_elements.isqrt(),
            _ => sizes.n_elements.isqrt().isqrt(),
        };
        let runs: Vec<Vec<Run>> = (0..ndim).map(|_| random_runs(random, most)).collect();
        let extents = |of: fn((u64, u64)) -> u64| -> Vec<u64> {
            runs.iter()
                .map(|runs| runs.iter().flat_map(Run::pairs).map(of).max().map_or(0, |at| at + 1))
                .collect()
        };
        let (source_extents, target_extents) = (extents(|pair| pair.0), extents(|pair| pair.1));
        let source = strides(random, &source_extents, item_bytes);
        let target = strides(random, &target_extents, item_bytes);
        if source.2.max(target.2) > sizes.n_bytes {
            return Self::random(random, item_bytes, sizes);
        }
        Self {
            item_bytes,
            runs,
            source: random.bytes(source.2),
            target: random.bytes(target.2),
            source_strides: source.0,
            target_strides: target.0,
            source_origin: source.1,
            target_origin: target.1,
        }
    }

    /// Calls `put` with the byte offsets of every pair of elements.
    pub fn each(&self, mut put: impl FnMut(usize, usize)) {
        self.walk(0, (self.source_origin as isize, self.target_origin as isize), &mut put);
    }

    fn walk(&self, dim: usize, at: (isize, isize), put: &mut impl FnMut(usize, usize)) {
        let Some(runs) = self.runs.get(dim) else { return put(at.0 as usize, at.1 as usize) };
        for (source, target) in runs.iter().flat_map(Run::pairs) {
            let source = at.0 + self.source_strides[dim] * source as isize;
            let target = at.1 + self.target_strides[dim] * target as isize;
            self.walk(dim + 1, (source, target), put);
        }
    }

    /// The target after a dense copy.
    pub fn copied(&self) -> Vec<u8> {
        let mut target = self.target.clone();
        self.each(|from, to| {
            target[to..to + self.item_bytes]
                .copy_from_slice(&self.source[from..from + self.item_bytes]);
        });
        target
    }

    /// Hands region and buffers to `run`; gives the target afterwards.
    pub fn run(&self, run: impl FnOnce(Region<'_>, Source<'_>, Target<'_>)) -> Vec<u8> {
        let runs: Vec<&[Run]> = self.runs.iter().map(Vec::as_slice).collect();
        let mut target = self.target.clone();
        run(
            Region { runs: &runs, item_bytes: self.item_bytes },
            Source {
                pointer: self.source.as_ptr().wrapping_add(self.source_origin),
                strides: &self.source_strides,
            },
            Target {
                pointer: target.as_mut_ptr().wrapping_add(self.target_origin),
                strides: &self.target_strides,
            },
        );
        target
    }
}

/// Runs with up to about `most` pairs whose target positions differ.
fn random_runs(random: &mut Random, most: u64) -> Vec<Run> {
    let n_runs = random.pick(&[0, 1, 1, 1, 1, 2, 3, 12, 40]).min(most);
    let is_same = random.below(2) == 0;
    let mut one = random_levels(random, (most / n_runs.max(1)).max(1));
    let mut next_target = random.below(3);
    let mut runs = Vec::new();
    for _ in 0..n_runs {
        if !is_same {
            one = random_levels(random, (most / n_runs).max(1));
        }
        let run = place(random, one, next_target);
        next_target = run.pairs().map(|pair| pair.1 + 1).max().unwrap_or(next_target);
        next_target += random.pick(&[0, 0, 1, 7]);
        runs.push(run);
    }
    if random.below(2) == 0 && runs.len() > 2 {
        let (a, b) = (random.below(n_runs) as usize, random.below(n_runs) as usize);
        runs.swap(a, b);
    }
    runs
}

/// Three levels that never come back to a target position.
fn random_levels(random: &mut Random, most: u64) -> [Level; 3] {
    let mut levels = [Level::ONCE; 3];
    let (mut span, mut left) = (1u64, most);
    for level in levels.iter_mut().rev() {
        if random.below(3) == 0 {
            continue;
        }
        let bound = random.pick(&[2, 9, 70, 100_000]).min(left);
        let count = 1 + random.below(bound);
        let gap = random.pick(&[0, 0, 0, 1, 3, 7]);
        let sign = random.pick(&[1, 1, 1, -1]);
        let source_step = match random.below(4) {
            0 => (span + gap) as i64 * sign,
            1 => random.below(9) as i64 * sign,
            _ => (span * random.pick(&[1, 2, 4, 8])) as i64 * random.pick(&[1, 1, -1]),
        };
        let target_step = (span + gap) as i64 * sign;
        *level = Level { count, source_step, target_step };
        if count == 1 && random.below(2) == 0 {
            *level = Level::ONCE;
        }
        span = (span + gap) * count;
        left = (left / count).max(1);
    }
    if random.below(40) == 0 {
        levels[1].count = 0;
    }
    levels
}

/// Starts far enough from zero that no position is negative.
fn place(random: &mut Random, levels: [Level; 3], first_target: u64) -> Run {
    let least = |step: fn(&Level) -> i64| -> u64 {
        let down = |level: &Level| (step(level) * (level.count as i64 - 1).max(0)).min(0);
        levels.iter().map(down).sum::<i64>().unsigned_abs()
    };
    Run {
        source: least(|level| level.source_step) + random.below(5),
        target: least(|level| level.target_step) + first_target,
        levels,
    }
}

/// Strides of a dense or padded buffer in any order, the origin, and the size, guards included.
fn strides(random: &mut Random, extents: &[u64], item_bytes: usize) -> (Vec<isize>, usize, usize) {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    if random.below(3) == 0 {
        order.reverse();
    }
    if random.below(4) == 0 && order.len() > 1 {
        let other = random.below(order.len() as u64) as usize;
        order.swap(0, other);
    }
    let guard = random.pick(&[64, 65, 71, 128]);
    let mut strides = vec![0; extents.len()];
    let (mut step, mut origin) = (item_bytes, guard);
    for &dim in order.iter().rev() {
        step += random.pick(&[0, 0, 0, 1, item_bytes, 5]);
        let reach = step * extents[dim].saturating_sub(1) as usize;
        strides[dim] = step as isize;
        if random.below(5) == 0 {
            strides[dim] = -strides[dim];
            origin += reach;
        }
        step += reach;
    }
    (strides, origin, guard + step + item_bytes + 64)
}

/// Runs a test with every instruction set that this processor has. The limit holds for the whole
/// process, so such tests take turns.
pub fn in_every_form(test: impl Fn()) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let widest = Isa::detect();
    for isa in [Isa::Portable, Isa::Neon, Isa::Sse2, Isa::Avx2, Isa::Avx512] {
        isa.limit();
        assert_eq!(Isa::detect(), isa.min(widest));
        test();
    }
}

/// Copies a case both ways and compares with the dense model.
pub fn check(case: &Case, what: &str) {
    let wanted = case.copied();
    for stores in [Stores::Cached, Stores::Streaming] {
        // SAFETY: the buffers hold every position of the region.
        let found = case.run(|region, source, target| unsafe {
            copy(region, source, target, stores);
        });
        if found != wanted {
            let at = (0..wanted.len()).find(|&at| found[at] != wanted[at]);
            let (source, target) = (&case.source_strides, &case.target_strides);
            panic!(
                "{what}, {stores:?}: byte {at:?} differs; item {} runs {:?} strides {source:?} {target:?}",
                case.item_bytes, case.runs
            );
        }
    }
}

/// Checks random cases with elements of these sizes.
pub fn check_random(n_cases: u64, item_bytes: &[usize], sizes: Sizes) {
    for seed in 0..n_cases {
        let mut random = Random::new(seed);
        let item_bytes = random.pick(item_bytes);
        check(&Case::random(&mut random, item_bytes, sizes), &format!("seed {seed}"));
    }
}
