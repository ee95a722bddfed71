//! How long planning takes: one rank's moves, and the totals of a million ranks.
//!
//! `cargo bench --bench planning -- FILE` writes a line per figure, fields between tabs: topic,
//! case, number of moves, median and fastest nanoseconds, number of samples. Without a file the
//! lines go to the terminal. What is measured moves no data; `benches/run.py` makes the tables.

use std::hint::black_box;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use partita_layout::{GridSpec, Layout, Map, Unstructured};
use partita_plan::{Dtype, Plan};

/// Samples of one case end after this time, however few they are.
const ENOUGH: Duration = Duration::from_millis(600);
const MOST_SAMPLES: usize = 1001;
const FEWEST_SAMPLES: usize = 5;
/// A sample repeats a short case until it is long beside the clock.
const SAMPLE: Duration = Duration::from_micros(20);

struct Figure {
    topic: &'static str,
    case: String,
    n_moves: u128,
    times: Times,
}

struct Times {
    median_ns: f64,
    fastest_ns: f64,
    n_samples: usize,
}

fn main() -> std::io::Result<()> {
    let mut figures = redistributions();
    figures.extend(halo_exchanges());
    figures.extend(unstructured());
    figures.extend(totals());
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    match file {
        Some(path) => write(&figures, &mut std::fs::File::create(path)?),
        None => write(&figures, &mut std::io::stdout()),
    }
}

fn write(figures: &[Figure], out: &mut dyn Write) -> std::io::Result<()> {
    for Figure { topic, case, n_moves, times } in figures {
        let Times { median_ns, fastest_ns, n_samples } = times;
        writeln!(out, "{topic}\t{case}\t{n_moves}\t{median_ns:.1}\t{fastest_ns:.1}\t{n_samples}")?;
    }
    Ok(())
}

/// Times of a case on what `prepare` makes anew for every sample, outside the clock.
fn timed<T, R>(mut prepare: impl FnMut() -> T, mut case: impl FnMut(&T) -> R) -> Times {
    let first = Instant::now();
    black_box(case(&prepare()));
    let n_repeats = 1 + (SAMPLE.as_nanos() / first.elapsed().as_nanos().max(1)) as u32;
    let mut samples: Vec<f64> = Vec::new();
    let start = Instant::now();
    while samples.len() < MOST_SAMPLES
        && (samples.len() < FEWEST_SAMPLES || start.elapsed() < ENOUGH)
    {
        let prepared = prepare();
        let begin = Instant::now();
        for _ in 0..n_repeats {
            black_box(case(black_box(&prepared)));
        }
        samples.push(begin.elapsed().as_nanos() as f64 / f64::from(n_repeats));
    }
    samples.sort_by(f64::total_cmp);
    Times {
        median_ns: samples[samples.len() / 2],
        fastest_ns: samples[0],
        n_samples: samples.len(),
    }
}

fn layout(shape: &[u64], notation: &str) -> Layout {
    Layout::parse(shape, notation).expect(notation)
}

fn plan((source, target): &(Layout, Layout)) -> Plan {
    Plan::new(source, target, Dtype::F64).expect("layouts of one shape")
}

/// One rank's plan, sends and receives, from two layouts at hand.
fn rank_figure(topic: &'static str, case: String, pair: &(Layout, Layout), rank: u64) -> Figure {
    let moves = |pair: &(Layout, Layout)| plan(pair).moves(rank).expect("a rank of the layouts");
    let n_moves = moves(pair).len() as u128;
    Figure { topic, case, n_moves, times: timed(|| pair.clone(), moves) }
}

fn redistributions() -> Vec<Figure> {
    let shape = [1 << 16, 1 << 16];
    let mut figures: Vec<Figure> = [2_u64, 8, 32, 128]
        .map(|side| {
            let source = format!("cyclic(64), cyclic(64) @ {side}x{side}");
            let target = format!("cyclic(96), cyclic(96) @ {side}x{side}");
            let pair = (layout(&shape, &source), layout(&shape, &target));
            let rank = side * side / 2 + side / 3;
            rank_figure("cyclic", format!("{side}x{side}"), &pair, rank)
        })
        .into();
    let pair = (layout(&shape, "block, * @ 1024x1"), layout(&shape, "*, block @ 1x1024"));
    let case = "row block to column block, 65536x65536, 1024 ranks".to_string();
    figures.push(rank_figure("rank", case, &pair, 333));
    let shape = [1 << 20, 1 << 20];
    let pair = (
        layout(&shape, "block, block @ 1024x1024"),
        layout(&shape, "cyclic(64), cyclic(64) @ 1024x1024"),
    );
    let case = "block to cyclic(64), 1048576x1048576, 1024x1024 ranks".to_string();
    figures.push(rank_figure("rank", case, &pair, 777_777));
    figures
}

fn halo_exchanges() -> Vec<Figure> {
    let shape = [2048, 2048, 2048];
    [("", "halo exchange"), ("+periodic", "periodic halo exchange")]
        .map(|(suffix, words)| {
            let owned = layout(&shape, "block, block, block @ 16x16x16");
            let map = format!("block+halo(1,1){suffix}");
            let held = layout(&shape, &format!("{map}, {map}, {map} @ 16x16x16"));
            let case = format!("{words}, width 1, 2048^3, 16x16x16 ranks");
            rank_figure("rank", case, &(owned, held), 2184)
        })
        .into()
}

const N_LISTED: u64 = 1_000_000;
const N_LISTS: u64 = 8;

/// A permutation of `0..N_LISTED` cut into equal lists: a fixed shuffle.
fn lists() -> Vec<Vec<i64>> {
    let mut indices: Vec<i64> = (0..N_LISTED as i64).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for at in (1..indices.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        indices.swap(at, (state % (at as u64 + 1)) as usize);
    }
    indices.chunks((N_LISTED / N_LISTS) as usize).map(<[i64]>::to_vec).collect()
}

fn unstructured() -> Vec<Figure> {
    let lists = lists();
    let blocks = layout(&[N_LISTED], &format!("block @ {N_LISTS}"));
    let pair = || {
        let map = Map::Unstructured(Arc::new(Unstructured::new(&lists)));
        let spec = GridSpec { maps: vec![map], grid: Some(vec![N_LISTS]), ..GridSpec::default() };
        (Layout::new(&[N_LISTED], &spec).expect("a permutation"), blocks.clone())
    };
    let figure = |case: &str, times| Figure {
        topic: "unstructured",
        case: case.to_string(),
        n_moves: 2 * u128::from(N_LISTS) - 1,
        times,
    };
    let moves = |pair: &(Layout, Layout)| plan(pair).moves(3).expect("a rank of the layouts");
    let known = pair();
    vec![
        figure("the map from its lists", timed(|| (), |()| Unstructured::new(&lists))),
        figure("one rank's plan, the map's first", timed(pair, moves)),
        figure("one rank's plan, the map's next", timed(|| known.clone(), moves)),
    ]
}

fn totals() -> Vec<Figure> {
    let figure = |shape: &[u64], source: &str, target: &str| {
        let pair = (layout(shape, source), layout(shape, target));
        let n_moves = plan(&pair).totals().n_moves;
        let times = timed(|| pair.clone(), |pair| plan(pair).totals());
        Figure { topic: "totals", case: format!("{source} to {target}"), n_moves, times }
    };
    let (square, line) = ([1 << 20, 1 << 20], [1 << 40]);
    vec![
        figure(&square, "block, block @ 1024x1024", "cyclic(64), cyclic(64) @ 1024x1024"),
        figure(&square, "cyclic(64), cyclic(64) @ 1024x1024", "cyclic(96), cyclic(96) @ 1024x1024"),
        figure(&square, "block, * @ 1048576x1", "*, block @ 1x1048576"),
        figure(&line, "block @ 1048576", "cyclic(64) @ 1048576"),
    ]
}
