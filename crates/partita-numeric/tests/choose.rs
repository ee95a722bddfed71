//! Choosing against loops over single elements.

mod slow;

use partita_numeric::choose::{
    Owners, Summable, bincount, count, gather, pack, pack_positions, scatter, scatter_add,
};
use slow::{Random, all_cores};
use std::fmt::Debug;
use std::mem::MaybeUninit;

const SEED: u64 = 362_436_069;
const SIZES: [usize; 16] =
    [0, 1, 7, 15, 16, 17, 63, 64, 65, 100, 255, 256, 511, 1025, 66_000, 140_001];

fn written<T: Copy>(out: &[MaybeUninit<T>]) -> Vec<T> {
    // SAFETY: the functions under test promise to write everything.
    out.iter().map(|x| unsafe { x.assume_init() }).collect()
}

fn check_pack<T: Copy + Send + Sync + PartialEq + Debug>(make: impl Fn(u64) -> T) {
    let mut random = Random(SEED);
    for n in SIZES {
        for share in [0, 1, 50, 99, 100] {
            let values: Vec<T> = (0..n).map(|_| make(random.next())).collect();
            let mask: Vec<bool> = (0..n).map(|_| random.below(100) < share).collect();
            let chosen: Vec<usize> = (0..n).filter(|i| mask[*i]).collect();
            for cores in all_cores() {
                let what = format!("seed {SEED}: {n} with {share} % {cores:?}");
                assert_eq!(count(&mask, cores), chosen.len(), "{what}");
                let mut out = vec![MaybeUninit::uninit(); chosen.len()];
                assert_eq!(pack(&mask, &values, &mut out, cores), chosen.len(), "{what}");
                let want: Vec<T> = chosen.iter().map(|i| values[*i]).collect();
                assert!(written(&out) == want, "{what}");
                let mut out = vec![MaybeUninit::uninit(); chosen.len()];
                pack_positions(&mask, &mut out, cores);
                let want: Vec<i64> = chosen.iter().map(|i| *i as i64).collect();
                assert!(written(&out) == want, "{what}");
            }
        }
    }
}

#[test]
fn packs_every_size_of_elements() {
    check_pack(|bits| bits as u8);
    check_pack(|bits| bits as u16);
    check_pack(|bits| bits as u32);
    check_pack(|bits| bits);
    check_pack(|bits| [bits, !bits]);
}

/// What lies beyond the chosen elements stays as it is.
#[test]
fn packing_writes_nothing_else() {
    for cores in all_cores() {
        let (mask, values) = ([true; 40], [5_u64; 40]);
        let mut out = [MaybeUninit::new(7_u64); 60];
        assert_eq!(pack(&mask[..33], &values[..33], &mut out[..33], cores), 33);
        assert_eq!(written(&out[33..]), [7; 27]);
    }
}

fn positions_below(n: usize, count: usize, random: &mut Random) -> Vec<i64> {
    (0..count).map(|_| random.below(2 * n) as i64 - n as i64).collect()
}

fn index(position: i64, n: usize) -> usize {
    if position < 0 { (position + n as i64) as usize } else { position as usize }
}

fn check_numbers<T: Summable + PartialEq + Debug>(make: impl Fn(u64) -> T) {
    let mut random = Random(SEED);
    for (n, count) in [(1, 5), (10, 0), (10, 100), (1000, 513), (700, 20_000), (90_000, 40_000)] {
        let source: Vec<T> = (0..n).map(|_| make(random.next())).collect();
        let positions = positions_below(n, count, &mut random);
        let values: Vec<T> = (0..count).map(|_| make(random.next())).collect();
        for cores in all_cores() {
            let what = format!("seed {SEED}: {count} of {n} {cores:?}");
            let mut out = vec![MaybeUninit::uninit(); count];
            gather(&source, &positions, &mut out, cores).expect("all are inside");
            let want: Vec<T> = positions.iter().map(|p| source[index(*p, n)]).collect();
            assert!(written(&out) == want, "{what}");

            let (mut put, mut added) = (source.clone(), source.clone());
            scatter(&mut put, &positions, &values, cores).expect("all are inside");
            scatter_add(&mut added, &positions, &values, cores).expect("all are inside");
            let (mut want_put, mut want_added) = (source.clone(), source.clone());
            for (position, value) in positions.iter().zip(&values) {
                let i = index(*position, n);
                want_put[i] = *value;
                want_added[i] = want_added[i].plus(*value);
            }
            assert!(put == want_put, "{what}");
            assert!(added == want_added, "{what}");
        }
    }
}

#[test]
fn gathers_scatters_and_adds_every_type() {
    check_numbers(|bits| bits >> 63 == 1);
    check_numbers(|bits| bits as i8);
    check_numbers(|bits| bits as u8);
    check_numbers(|bits| bits as i16);
    check_numbers(|bits| bits as u16);
    check_numbers(|bits| bits as i32);
    check_numbers(|bits| bits as u32);
    check_numbers(|bits| bits as i64);
    check_numbers(|bits| bits);
    check_numbers(|bits| (bits >> 40) as f32);
    check_numbers(|bits| (bits >> 11) as f64 / 3.0);
    check_numbers(|bits| [(bits >> 40) as f32, 1.0]);
    check_numbers(|bits| [(bits >> 11) as f64, 0.1]);
}

#[test]
fn positions_outside_are_refused() {
    for cores in all_cores() {
        for (n, wrong) in [(10, 10), (10, -11), (0, 0), (0, -1), (10, i64::MAX), (10, i64::MIN)] {
            for (count, at) in [(1, 0), (30_000, 29_000), (30_000, 700)] {
                let mut positions = vec![0; count];
                // Without elements, the first position is wrong already.
                let at = if n == 0 { 0 } else { at };
                positions[at..].fill(wrong);
                let mut target = vec![1.0; n];
                let mut out = vec![MaybeUninit::uninit(); count];
                let values = vec![0.0; count];
                let errors = [
                    gather(&target.clone(), &positions, &mut out, cores).expect_err("refused"),
                    scatter(&mut target, &positions, &values, cores).expect_err("refused"),
                    scatter_add(&mut target, &positions, &values, cores).expect_err("refused"),
                ];
                for error in errors {
                    assert_eq!(error.reason(), "index-out-of-range");
                    let expected = if n == 0 { positions[0] } else { wrong };
                    let text = format!("position {at} is {expected}, outside of {n} ");
                    assert!(error.to_string().starts_with(&text), "{error} not {text}");
                }
            }
        }
    }
}

#[test]
fn counts_bins() {
    let mut random = Random(SEED);
    for (n, n_bins) in [(0, 0), (0, 3), (1, 1), (1000, 7), (100_000, 5), (50_000, 100_000)] {
        let values: Vec<i64> = (0..n).map(|_| random.below(n_bins) as i64).collect();
        let mut want = vec![0; n_bins];
        values.iter().for_each(|value| want[*value as usize] += 1);
        for cores in all_cores() {
            let mut counts = vec![-1; n_bins];
            bincount(&values, &mut counts, cores).expect("all have bins");
            assert_eq!(counts, want, "seed {SEED}: {n} in {n_bins} {cores:?}");
        }
    }
    for cores in all_cores() {
        let mut values = vec![0; 60_000];
        values[50_000] = 4;
        values[59_999] = -1;
        let mut counts = [0; 4];
        let error = bincount(&values, &mut counts, cores).expect_err("refused");
        assert_eq!(error.reason(), "bin-too-large");
        values[50_000] = 1;
        let error = bincount(&values, &mut counts, cores).expect_err("refused");
        assert_eq!(error.reason(), "bin-negative");
    }
}

fn slices<T>(groups: &mut [Vec<T>]) -> Vec<&mut [T]> {
    groups.iter_mut().map(|group| &mut group[..]).collect()
}

/// Positions and rows by owner, and back; some owners have nothing.
#[test]
fn groups_by_owner_and_back() {
    let mut random = Random(SEED);
    let many: Vec<i64> = (1..40).map(|cut| cut * 30).collect();
    for cuts in [&[][..], &[500], &[0, 0, 300, 300, 900, 1000], &many] {
        let owners = Owners::new(cuts);
        for n in SIZES {
            let positions: Vec<i64> = (0..n).map(|_| random.below(1000) as i64).collect();
            let owner = |position: i64| cuts.iter().filter(|cut| **cut <= position).count();
            let mut want = vec![Vec::new(); owners.n_owners()];
            for (number, position) in positions.iter().enumerate() {
                let to = owner(*position);
                let first = if to == 0 { 0 } else { cuts[to - 1] };
                want[to].push((position - first, number));
            }
            for cores in all_cores() {
                let what = format!("seed {SEED}: {n} with {cuts:?} {cores:?}");
                let counts = owners.count(&positions, cores);
                let lengths: Vec<usize> = want.iter().map(Vec::len).collect();
                assert_eq!(counts, lengths, "{what}");
                let mut groups: Vec<_> =
                    counts.iter().map(|n| vec![MaybeUninit::uninit(); *n]).collect();
                owners.group_positions(&positions, &mut slices(&mut groups), cores);
                for (group, want) in groups.iter().zip(&want) {
                    let want: Vec<i64> = want.iter().map(|(position, _)| *position).collect();
                    assert!(written(group) == want, "{what}");
                }
                for length in [0, 1, 3] {
                    let rows: Vec<u32> = (0..n * length).map(|i| i as u32).collect();
                    let mut groups: Vec<_> =
                        counts.iter().map(|n| vec![MaybeUninit::uninit(); n * length]).collect();
                    let to = &mut slices(&mut groups);
                    owners.group_rows(&positions, (&rows, length), to, cores);
                    let groups: Vec<Vec<u32>> = groups.iter().map(|group| written(group)).collect();
                    for (group, want) in groups.iter().zip(&want) {
                        let row = |number: &usize| rows[number * length..][..length].to_vec();
                        let want: Vec<u32> = want.iter().flat_map(|(_, at)| row(at)).collect();
                        assert!(*group == want, "{what}: rows of {length}");
                    }
                    let mut back = vec![MaybeUninit::uninit(); n * length];
                    let groups: Vec<&[u32]> = groups.iter().map(|group| &group[..]).collect();
                    owners.ungroup_rows(&positions, (&groups, length), &mut back, cores);
                    assert!(written(&back) == rows, "{what}: rows of {length}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "room for all positions of an owner")]
fn refuses_groups_without_room() {
    let mut groups = [vec![MaybeUninit::uninit(); 2], vec![MaybeUninit::uninit(); 1]];
    let cores = all_cores()[0];
    Owners::new(&[5]).group_positions(&[1, 6, 7], &mut slices(&mut groups), cores);
}
