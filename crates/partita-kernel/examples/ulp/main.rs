//! Measures accuracy and speed of the vector mathematics and prints tables in Markdown.
//!
//! Accuracy: against gcc's libquadmath (float64, complex128) and glibc (float32), beside the bounds
//! that the functions state; it ends with 1 where one is exceeded. Speed: against glibc's libmvec,
//! in the first cache, alternating in one process.
//!
//! ```text
//! cargo run --release -p partita-kernel --example ulp -- double [count] [function ...]
//! cargo run --release -p partita-kernel --example ulp -- single [stride | --all] [function ...]
//! cargo run --release -p partita-kernel --example ulp -- complex [count] [function ...]
//! cargo run --release -p partita-kernel --example ulp -- speed [function ...]
//! cargo run --release -p partita-kernel --example ulp -- --all
//! ```
//!
//! `double` draws 10^7 arguments per function from all its ranges, or as many as asked for; `single`
//! takes every 997th float32, every stride-th, or all 2^32. `--all` alone is everything: tens of
//! minutes. The C files in `benches` are compiled with `cc` into the folder `PARTITA_PEERS`, by
//! default the system's temporary one; libraries that are already there are used as they are.

mod arguments;
mod complex;
mod double;
mod peers;
mod single;
mod speed;
mod units;
mod worst;

use peers::Peers;
use std::process::ExitCode;

const COUNT: u64 = 10_000_000;
const STRIDE: u64 = 997;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = words.first().map_or("speed", String::as_str);
    let number = words.get(1).and_then(|word| match word.as_str() {
        "--all" => Some(1),
        word => word.parse::<u64>().ok().filter(|number| *number > 0),
    });
    let names = &words[words.len().min(1 + usize::from(number.is_some()))..];
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    let peers = Peers::open();
    let holds = match command {
        "double" => double::all(&peers, number.unwrap_or(COUNT), wanted),
        "single" => single::all(&peers, number.unwrap_or(STRIDE), wanted),
        "complex" => complex::all(&peers, number.unwrap_or(COUNT), wanted),
        "speed" => {
            speed::all(&peers, wanted);
            true
        }
        "--all" => everything(&peers),
        other => {
            eprintln!("{other} is none of double, single, complex, speed, --all");
            false
        }
    };
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All arguments of float32, and as many of the other types as they are judged by.
fn everything(peers: &Peers) -> bool {
    let single = single::all(peers, 1, |_| true);
    let double = double::all(peers, COUNT, |_| true);
    let complex = complex::all(peers, COUNT / 10, |_| true);
    speed::all(peers, |_| true);
    single && double && complex
}
