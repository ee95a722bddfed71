//! Every level computes the same bits, at every length, in place or not.

use partita_kernel::math::{Binary, Level, Number, Unary, binary, unary};

/// Random bits (xorshift), so that all exponents occur, with special values in between.
fn patterns(number: Number, count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e300];
    let mut value = || match next() % 8 {
        0 => special[(next() % special.len() as u64) as usize],
        1 => f64::from_bits(next()),
        2 => (next() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0,
        // Exponents that real data has.
        _ => f64::from_bits(next() & !(0x7ff << 52) | (1013 + next() % 20) << 52),
    };
    let n_parts = count * number.size() / number.real().size();
    match number.real() {
        Number::F32 => (0..n_parts).flat_map(|_| (value() as f32).to_ne_bytes()).collect(),
        _ => (0..n_parts).flat_map(|_| value().to_ne_bytes()).collect(),
    }
}

/// The bits with every NaN made the same; processors choose its sign and payload differently.
fn comparable(bytes: &[u8], size: usize) -> Vec<u64> {
    let of = |part: &[u8]| match size {
        4 => u64::from(canonical32(f32::from_ne_bytes(part.try_into().expect("4 bytes")))),
        8 => canonical64(f64::from_ne_bytes(part.try_into().expect("8 bytes"))),
        _ => u64::from(part[0]),
    };
    bytes.chunks(size).map(of).collect()
}

fn canonical32(x: f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
}

fn canonical64(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

fn run(level: Level, f: Unary, number: Number, x: &[u8], n: usize) -> Option<Vec<u8>> {
    let tile = unary(level, f, number)?;
    let mut out = vec![0xa5; n * f.result_size(number) + 8];
    // SAFETY: x has n elements and out has room for n results.
    unsafe { tile(x.as_ptr(), out.as_mut_ptr(), n) };
    assert_eq!(out[out.len() - 8..], [0xa5; 8], "{f:?} of {n} {number:?} wrote too much");
    out.truncate(out.len() - 8);
    Some(out)
}

fn run2(level: Level, f: Binary, number: Number, x: &[u8], y: &[u8], n: usize) -> Option<Vec<u8>> {
    let tile = binary(level, f, number)?;
    let mut out = vec![0xa5; n * number.size() + 8];
    // SAFETY: x and y have n elements and out has room for n results.
    unsafe { tile(x.as_ptr(), y.as_ptr(), out.as_mut_ptr(), n) };
    assert_eq!(out[out.len() - 8..], [0xa5; 8], "{f:?} of {n} {number:?} wrote too much");
    out.truncate(out.len() - 8);
    Some(out)
}

/// The size of the floats in a function's results.
fn part_size(f: Unary, number: Number) -> usize {
    if f == Unary::Signbit { 1 } else { number.real().size() }
}

#[test]
fn levels_agree_in_every_bit() {
    const N: usize = 100_000;
    for number in Number::ALL {
        let (x, y) = (patterns(number, N, 88172645463325252), patterns(number, N, 362436069));
        for &f in Unary::ALL {
            let Some(want) = run(Level::PORTABLE, f, number, &x, N) else { continue };
            for level in Level::all() {
                let got = run(level, f, number, &x, N).expect("all levels have the same functions");
                let size = part_size(f, number);
                let same = comparable(&got, size) == comparable(&want, size);
                assert!(same, "{f:?} of {number:?} at {level:?}");
            }
        }
        for &f in Binary::ALL {
            let Some(want) = run2(Level::PORTABLE, f, number, &x, &y, N) else { continue };
            for level in Level::all() {
                let got = run2(level, f, number, &x, &y, N).expect("all levels have the same");
                let size = number.real().size();
                assert!(
                    comparable(&got, size) == comparable(&want, size),
                    "{f:?} of {number:?} at {level:?}"
                );
            }
        }
    }
}

#[test]
fn every_length_gives_the_same_elements() {
    const N: usize = 37;
    for number in Number::ALL {
        let (x, y) = (patterns(number, N, 77), patterns(number, N, 78));
        for level in Level::all() {
            for n in 0..N {
                for &f in Unary::ALL {
                    let Some(whole) = run(level, f, number, &x, N) else { continue };
                    let part = run(level, f, number, &x, n).expect("the same function");
                    let size = part_size(f, number);
                    assert_eq!(
                        comparable(&part, size),
                        comparable(&whole[..part.len()], size),
                        "{f:?} {n}"
                    );
                }
                for &f in Binary::ALL {
                    let Some(whole) = run2(level, f, number, &x, &y, N) else { continue };
                    let part = run2(level, f, number, &x, &y, n).expect("the same function");
                    let size = number.real().size();
                    assert_eq!(
                        comparable(&part, size),
                        comparable(&whole[..part.len()], size),
                        "{f:?} {n}"
                    );
                }
            }
        }
    }
}

#[test]
fn results_may_take_the_place_of_arguments() {
    const N: usize = 45;
    for number in Number::ALL {
        let (x, y) = (patterns(number, N, 5), patterns(number, N, 6));
        for level in Level::all() {
            for &f in Unary::ALL {
                let Some(want) = run(level, f, number, &x, N) else { continue };
                let mut place = x.clone();
                let tile = unary(level, f, number).expect("the function ran before");
                // SAFETY: the place has N elements, and results are no larger.
                unsafe { tile(place.as_ptr(), place.as_mut_ptr(), N) };
                let size = part_size(f, number);
                assert_eq!(
                    comparable(&place[..want.len()], size),
                    comparable(&want, size),
                    "{f:?}"
                );
            }
            for &f in Binary::ALL {
                let Some(want) = run2(level, f, number, &x, &y, N) else { continue };
                let tile = binary(level, f, number).expect("the function ran before");
                let size = number.real().size();
                let mut left = x.clone();
                // SAFETY: all have N elements.
                unsafe { tile(left.as_ptr(), y.as_ptr(), left.as_mut_ptr(), N) };
                assert_eq!(comparable(&left, size), comparable(&want, size), "{f:?} in the left");
                let mut right = y.clone();
                // SAFETY: all have N elements.
                unsafe { tile(x.as_ptr(), right.as_ptr(), right.as_mut_ptr(), N) };
                assert_eq!(comparable(&right, size), comparable(&want, size), "{f:?} in the right");
            }
        }
    }
}
