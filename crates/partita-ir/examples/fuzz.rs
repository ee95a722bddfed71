//! Reads changed programs for as long as you like:
//! `cargo run --release -p partita-ir --example fuzz -- 10000000 [SEED]`.

#[path = "../tests/mutation/mod.rs"]
mod mutation;

const CHUNK: u64 = 100_000;

fn number(place: usize, usual: u64) -> u64 {
    std::env::args().nth(place).and_then(|word| word.parse().ok()).unwrap_or(usual)
}

fn main() {
    let (n_cases, seed) = (number(1, 10_000_000), number(2, 1));
    let n_chunks = n_cases.div_ceil(CHUNK);
    let mut n_read = 0;
    for chunk in 0..n_chunks {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(chunk);
        n_read += mutation::run(CHUNK.min(n_cases - chunk * CHUNK), seed);
        println!("{} of {n_chunks} done, seed {seed}, {n_read} programs so far", chunk + 1);
    }
}
