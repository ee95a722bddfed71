//! Measures accuracy and speed of the vector mathematics and prints tables in Markdown.
//!
//! Accuracy: against gcc's libquadmath (float64, complex128) and glibc (float32). Speed: against
//! glibc's libmvec, in the first cache, alternating in one process.
//!
//! ```text
//! cargo run --release -p partita-kernel --example ulp -- accuracy 10000000 [function ...]
//! cargo run --release -p partita-kernel --example ulp -- single [stride] [function ...]
//! cargo run --release -p partita-kernel --example ulp -- complex 1000000 [function ...]
//! cargo run --release -p partita-kernel --example ulp -- speed [function ...]
//! ```
//!
//! `single` runs over all 2^32 float32, or every stride-th of them. The C files in `benches` are
//! compiled with `cc` into the folder `PARTITA_PEERS`, by default the system's temporary one;
//! libraries that are already there are used as they are.

mod accuracy;
mod arguments;
mod peers;
mod speed;

use peers::Peers;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = words.first().map_or("speed", String::as_str);
    let number = words.get(1).and_then(|word| word.parse::<u64>().ok());
    let names = &words[words.len().min(1 + usize::from(number.is_some()))..];
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let peers = Peers::open();
    match command {
        "accuracy" => accuracy::double(&peers, number.unwrap_or(1_000_000), wanted),
        "single" => accuracy::single(&peers, number.unwrap_or(1), wanted),
        "complex" => accuracy::complex(&peers, number.unwrap_or(1_000_000), wanted),
        "speed" => speed::all(&peers, wanted),
        other => eprintln!("{other} is none of accuracy, single, complex, speed"),
    }
}
