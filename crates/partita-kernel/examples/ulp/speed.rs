//! Time per element beside libmvec.

use crate::arguments::{Random, pairs, ranges};
use crate::peers::Peers;
use libloading::Library;
use partita_kernel::math::{self, Binary, Level, Number, Unary};
use std::time::Instant;

const N: usize = 1024;
type Tile = unsafe extern "C" fn(*const u8, *mut u8, usize);
type Tile2 = unsafe extern "C" fn(*const u8, *const u8, *mut u8, usize);

/// Best times of two competitors that take turns, in ns per element.
fn duel(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..400 {
        best.0 = best.0.min(time(&mut ours));
        best.1 = best.1.min(time(&mut theirs));
    }
    best
}

fn time(run: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..4 {
        run();
    }
    start.elapsed().as_nanos() as f64 / (4 * N) as f64
}

/// All functions, at the levels that libmvec has too.
pub fn all(peers: &Peers, wanted: impl Fn(&str) -> bool) {
    println!("| function | type | level | ns | libmvec ns | ratio |\n|---|---|---|---|---|---|");
    for level in Level::all() {
        let library = match level.name() {
            "avx512" => &peers.native,
            "avx2" => &peers.avx2,
            _ => continue,
        };
        for number in [Number::F64, Number::F32] {
            one(level, library, number, &wanted);
            two(level, library, number, &wanted);
        }
    }
}

/// The elements as bytes of the type.
fn bytes(values: &[f64], number: Number) -> Vec<u8> {
    match number {
        Number::F32 => values.iter().flat_map(|&x| (x as f32).to_ne_bytes()).collect(),
        _ => values.iter().flat_map(|x| x.to_ne_bytes()).collect(),
    }
}

fn peer_name(name: &str, number: Number) -> String {
    format!("mv_{name}{}", if number == Number::F32 { "f" } else { "" })
}

fn one(level: Level, library: &Library, number: Number, wanted: &impl Fn(&str) -> bool) {
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        // SAFETY: where the library has this function it has this signature.
        let peer = unsafe { library.get::<Tile>(peer_name(function.name(), number)) };
        let (Ok(peer), Some(draw)) = (peer, ranges(function.name()).first().copied()) else {
            continue;
        };
        let Some(tile) = math::unary(level, function, number) else { continue };
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..N).map(|_| draw.one(&mut random)).collect();
        let x = bytes(&values, number);
        let (mut y, mut z) = (x.clone(), x.clone());
        // SAFETY: all have N elements.
        let times = unsafe {
            duel(|| tile(x.as_ptr(), y.as_mut_ptr(), N), || peer(x.as_ptr(), z.as_mut_ptr(), N))
        };
        row(function.name(), number, level, times);
    }
}

fn two(level: Level, library: &Library, number: Number, wanted: &impl Fn(&str) -> bool) {
    for &function in Binary::ALL.iter().filter(|f| wanted(f.name())) {
        // SAFETY: where the library has this function it has this signature.
        let peer = unsafe { library.get::<Tile2>(peer_name(function.name(), number)) };
        let (Ok(peer), Some((left, right))) = (peer, pairs(function.name()).first().copied())
        else {
            continue;
        };
        let Some(tile) = math::binary(level, function, number) else { continue };
        let mut random = Random::new(7);
        let mut values = |draw: crate::arguments::Draw| -> Vec<u8> {
            let all: Vec<f64> = (0..N).map(|_| draw.one(&mut random)).collect();
            bytes(&all, number)
        };
        let (x, w) = (values(left), values(right));
        let (mut y, mut z) = (x.clone(), x.clone());
        // SAFETY: all have N elements.
        let times = unsafe {
            duel(
                || tile(x.as_ptr(), w.as_ptr(), y.as_mut_ptr(), N),
                || peer(x.as_ptr(), w.as_ptr(), z.as_mut_ptr(), N),
            )
        };
        row(function.name(), number, level, times);
    }
}

fn row(name: &str, number: Number, level: Level, (ours, theirs): (f64, f64)) {
    println!(
        "| {name} | {number:?} | {level:?} | {ours:.2} | {theirs:.2} | {:.2} |",
        ours / theirs
    );
}
