//! Every copy kernel against the dense model.

mod common;

use common::{Case, Random, Sizes, check, check_random, in_every_form};
use partita_layout::{Level, Run};
use partita_team::copy::{Move, Prepared, Region, Shuffle, Stores, copy_all};

#[test]
fn small_regions_of_every_item_size() {
    let items = [1, 1, 2, 3, 4, 4, 5, 7, 8, 8, 8, 12, 16, 16, 24, 33, 64, 100];
    check_random(6000, &items, Sizes { n_elements: 300, n_bytes: 1 << 20 });
}

#[test]
fn large_regions() {
    let items = [1, 2, 4, 8, 8, 8, 16, 6];
    check_random(400, &items, Sizes { n_elements: 60_000, n_bytes: 8 << 20 });
}

/// A case with dense buffers, the target transposed if asked.
fn dense(item_bytes: usize, runs: Vec<Vec<Run>>, order: Order, misfit: usize) -> Case {
    let mut random = Random::new(7);
    let extent = |of: fn((u64, u64)) -> u64, dim: usize| -> usize {
        runs[dim].iter().flat_map(Run::pairs).map(of).max().map_or(0, |at| at as usize + 1)
    };
    let strides = |of: fn((u64, u64)) -> u64, order: Order| -> (Vec<isize>, usize) {
        let (mut strides, mut step) = (vec![0; runs.len()], item_bytes);
        let dims: Vec<usize> = (0..runs.len()).collect();
        let dims: Vec<usize> =
            if order == Order::C { dims.into_iter().rev().collect() } else { dims };
        for dim in dims {
            strides[dim] = step as isize;
            step *= extent(of, dim);
        }
        (strides, step)
    };
    let (source, target) = (strides(|pair| pair.0, Order::C), strides(|pair| pair.1, order));
    Case {
        item_bytes,
        source: random.bytes(source.1 + 200),
        target: random.bytes(target.1 + 200),
        source_strides: source.0,
        target_strides: target.0,
        source_origin: 64,
        target_origin: 64 + misfit,
        runs,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    C,
    Fortran,
}

fn level(count: u64, source_step: i64, target_step: i64) -> Level {
    Level { count, source_step, target_step }
}

fn run(source: u64, target: u64, levels: [Level; 3]) -> Run {
    Run { source, target, levels }
}

/// Patterns of plans, each with its kernel, at sizes above every block.
#[test]
fn patterns_of_plans() {
    in_every_form(|| {
        let once = Level::ONCE;
        let rows = Run::contiguous(3, 5, 37);
        for item_bytes in [1, 2, 3, 4, 8, 12, 16] {
            for misfit in [0, 1, 8, 24] {
                let mut patterns = vec![
                    ("whole", vec![vec![Run::contiguous(0, 0, 200_000 / item_bytes as u64)]]),
                    ("rows", vec![vec![rows], vec![Run::contiguous(9, 0, 3001)]]),
                ];
                for step in [2, 3, 4, 5, 8, -1, -2] {
                    let first = if step < 0 { 4000 } else { 1 };
                    let gather = run(first, 0, [once, level(2000, step, 1), once]);
                    patterns.push(("gather", vec![vec![rows], vec![gather]]));
                    patterns.push(("scatter", vec![vec![rows], vec![gather.reversed()]]));
                }
                for block in [5, 64, 100] {
                    let pieces = level(block, 1, 1);
                    let cyclic = [once, level(20, 2 * block as i64, block as i64), pieces];
                    patterns.push(("pieces", vec![vec![rows], vec![run(block, 0, cyclic)]]));
                    patterns.push(("pieces", vec![vec![rows], vec![run(0, 0, cyclic).reversed()]]));
                }
                let singles =
                    |n: u64| (0..n).map(|at| Run::contiguous(at * 7 % n, at, 1)).collect();
                patterns.push(("list", vec![singles(1000)]));
                patterns
                    .push(("list of rows", vec![singles(100), vec![Run::contiguous(0, 0, 50)]]));
                patterns.push(("listed columns", vec![vec![rows], singles(100)]));
                patterns.push(("two lists", vec![singles(30), singles(40)]));
                for (what, runs) in patterns {
                    for order in [Order::C, Order::Fortran] {
                        let case = dense(item_bytes, runs.clone(), order, misfit);
                        check(&case, &format!("{what}, item {item_bytes}, {order:?}, +{misfit}"));
                    }
                }
            }
        }
    });
}

#[test]
fn nothing_to_copy() {
    let none: [Run; 0] = [];
    let case = dense(8, vec![vec![Run::contiguous(0, 0, 4)], none.to_vec()], Order::C, 0);
    check(&case, "no runs");
    check(&dense(8, vec![vec![Run::contiguous(0, 0, 0)]], Order::C, 0), "no elements");
    check(&dense(8, vec![], Order::C, 0), "no dimensions");
}

#[test]
fn one_source_value_for_many_targets() {
    in_every_form(|| {
        let spread = run(2, 0, [Level::ONCE, level(50, 0, 3), level(3, 1, 1)]);
        check(&dense(8, vec![vec![spread]], Order::C, 0), "repeated block");
        let same = run(2, 0, [Level::ONCE, Level::ONCE, level(50, 0, 1)]);
        check(&dense(4, vec![vec![same]], Order::C, 0), "repeated element");
    });
}

/// Moves out of one source advance together and still copy everything.
#[test]
fn side_by_side() {
    in_every_form(|| {
        const N: u64 = 5000;
        let source: Vec<u64> = (0..3 * N).collect();
        for stores in [Stores::Cached, Stores::Streaming] {
            let mut targets = vec![vec![u64::MAX; N as usize]; 3];
            let prepared: Vec<Prepared> = (0..3)
                .map(|rank| {
                    let runs = [run(rank, 0, [Level::ONCE, level(N, 3, 1), Level::ONCE])];
                    Prepared::new(Region { runs: &[&runs], item_bytes: 8 }, &[8], &[8])
                })
                .collect();
            let moves: Vec<Move<'_>> = prepared
                .iter()
                .zip(&mut targets)
                .map(|(prepared, target)| Move {
                    prepared,
                    source: source.as_ptr().cast(),
                    target: target.as_mut_ptr().cast(),
                })
                .collect();
            // SAFETY: each target holds every third element of the source.
            unsafe { copy_all(&moves, stores) };
            for (rank, target) in targets.iter().enumerate() {
                let wanted: Vec<u64> = (0..N).map(|at| 3 * at + rank as u64).collect();
                assert_eq!(target, &wanted, "{stores:?}, rank {rank}");
            }
        }
    });
}

/// Moves into one target, dealt out in turn, fill whole lines together.
#[test]
fn woven_from_many_sources() {
    in_every_form(|| {
        const N: u64 = 1237;
        for (n_lanes, item_bytes) in
            [(2, 8), (3, 8), (4, 8), (5, 8), (2, 4), (3, 1), (7, 16), (2, 12)]
        {
            let mut random = Random::new(n_lanes);
            let row_bytes = N as usize * item_bytes;
            let sources: Vec<Vec<u8>> = (0..n_lanes).map(|_| random.bytes(3 * row_bytes)).collect();
            let prepared: Vec<Prepared> = (0..n_lanes)
                .map(|lane| {
                    let rows = [Run::contiguous(0, 0, 3)];
                    let columns =
                        [run(0, lane, [Level::ONCE, level(N, 1, n_lanes as i64), Level::ONCE])];
                    let region = Region { runs: &[&rows, &columns], item_bytes };
                    let width = (row_bytes * n_lanes as usize) as isize;
                    let item = item_bytes as isize;
                    Prepared::new(region, &[row_bytes as isize, item], &[width + 8, item])
                })
                .collect();
            for stores in [Stores::Cached, Stores::Streaming] {
                let mut target = vec![0u8; 3 * (row_bytes * n_lanes as usize + 8)];
                let moves: Vec<Move<'_>> = prepared
                    .iter()
                    .zip(&sources)
                    .map(|(prepared, source)| Move {
                        prepared,
                        source: source.as_ptr(),
                        target: target.as_mut_ptr(),
                    })
                    .collect();
                // SAFETY: three rows of every lane, and of all lanes with a gap of eight bytes.
                unsafe { copy_all(&moves, stores) };
                let rows = target.chunks(row_bytes * n_lanes as usize + 8).enumerate();
                for (row, bytes) in rows {
                    let (items, gap) = bytes.split_at(row_bytes * n_lanes as usize);
                    assert_eq!(gap, [0; 8]);
                    for (at, item) in items.chunks(item_bytes).enumerate() {
                        let (lane, column) = (at % n_lanes as usize, at / n_lanes as usize);
                        let from = row * row_bytes + column * item_bytes;
                        assert_eq!(
                            item,
                            &sources[lane][from..from + item_bytes],
                            "{n_lanes} {stores:?}"
                        );
                    }
                }
            }
        }
    });
}

/// Elements of a source in random order to three targets, with gaps on both sides.
#[test]
fn shuffled() {
    in_every_form(|| {
        for (n, gap) in [(0u64, 0), (1, 0), (1000, 0), (300_000, 0), (300_000, 3)] {
            let mut random = Random::new(n + gap);
            let mut places: Vec<u64> = (0..n).collect();
            for at in (1..n).rev() {
                places.swap(at as usize, random.below(at + 1) as usize);
            }
            let mut runs = vec![Vec::new(); 3];
            let mut wanted = vec![vec![u64::MAX; n as usize]; 3];
            let source: Vec<u64> = (0..n * (gap + 1)).map(|_| random.next()).collect();
            for (at, place) in places.into_iter().enumerate() {
                let from = at as u64 * (gap + 1);
                let target = (place % 3) as usize;
                runs[target].push(Run::contiguous(from, place / 3, 1));
                wanted[target][(place / 3) as usize] = source[from as usize];
            }
            let runs: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
            let mut shuffle = Shuffle::new(&runs);
            for first in 0..4 {
                let mut found = vec![vec![u64::MAX; n as usize]; 3];
                let targets: Vec<*mut u8> =
                    found.iter_mut().map(|t| t.as_mut_ptr().cast()).collect();
                // SAFETY: source and targets hold all positions.
                unsafe { shuffle.copy(source.as_ptr().cast(), &targets, first) };
                assert!(found == wanted, "{n} elements, gap {gap}");
            }
        }
    });
}
