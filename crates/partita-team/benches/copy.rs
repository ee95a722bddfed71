//! Copy kernels against a plain `memcpy` of the same bytes by the same two threads.
//!
//! `cargo bench -p partita-team --bench copy -- [extent] [repetitions] [name]` prints one line per
//! case: the median over repetitions of the ratio of times, by the clock and of the processor,
//! where each repetition runs the case and the plain copy one after the other.

use std::alloc::{Layout as Memory, alloc, dealloc};
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use partita_layout::{Block, DimMap, Map, Part, Run};
use partita_team::copy::{
    Dtype, Move, Prepared, Region, Shuffle, Stores, Sum, add_all, copy_all, sum_two,
};

const N_THREADS: usize = 2;
const ITEM: usize = 8;

/// Memory with huge pages where the system gives them.
struct Buffer {
    pointer: *mut u8,
    memory: Memory,
}

// SAFETY: threads write disjoint parts; the barrier orders them.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn new(n_bytes: usize) -> Self {
        let memory = Memory::from_size_align(n_bytes.max(1), 2 << 20).expect("a size");
        // SAFETY: the size is not zero; the advice covers the allocation only.
        let pointer = unsafe {
            let pointer = alloc(memory);
            assert!(!pointer.is_null(), "out of memory");
            libc::madvise(pointer.cast(), n_bytes, libc::MADV_HUGEPAGE);
            pointer
        };
        for at in (0..n_bytes / ITEM).map(|at| at * ITEM) {
            // SAFETY: inside the allocation, aligned.
            unsafe { pointer.add(at).cast::<u64>().write(at as u64) };
        }
        Self { pointer, memory }
    }

    fn at(&self, offset_bytes: usize) -> *mut u8 {
        assert!(offset_bytes <= self.memory.size());
        self.pointer.wrapping_add(offset_bytes)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.pointer, self.memory) };
    }
}

/// A map per dimension and how many coordinates each has.
#[derive(Clone)]
struct Side {
    dims: [DimMap; 2],
    grid: [u64; 2],
    /// Whether the last dimension is the slow one.
    is_transposed: bool,
}

impl Side {
    fn new(extent: usize, maps: &[Map; 2], grid: [u64; 2]) -> Self {
        let dim = |at: usize| {
            DimMap::new(&maps[at], at, extent as u64, grid[at]).expect("a map for the extent")
        };
        Self { dims: [dim(0), dim(1)], grid, is_transposed: false }
    }

    fn transposed(self) -> Self {
        Self { is_transposed: true, ..self }
    }

    fn n_ranks(&self) -> usize {
        (self.grid[0] * self.grid[1]) as usize
    }

    fn coords(&self, rank: usize) -> [u64; 2] {
        [rank as u64 / self.grid[1], rank as u64 % self.grid[1]]
    }

    fn shape(&self, rank: usize) -> [usize; 2] {
        let coords = self.coords(rank);
        [0, 1].map(|at| self.dims[at].count(coords[at], Part::Held) as usize)
    }

    fn strides(&self, rank: usize) -> [isize; 2] {
        let [rows, columns] = self.shape(rank);
        let item = ITEM as isize;
        if self.is_transposed {
            [item, item * rows as isize]
        } else {
            [item * columns as isize, item]
        }
    }

    /// Where a rank's buffer starts when all lie one after the other.
    fn offset(&self, rank: usize) -> usize {
        (0..rank).map(|before| self.shape(before).iter().product::<usize>() * ITEM).sum()
    }
}

fn prepare(source: (&Side, usize), target: (&Side, usize)) -> Option<Prepared> {
    let (from, to) = (source.0.coords(source.1), target.0.coords(target.1));
    let runs: Vec<Vec<Run>> = (0..2)
        .map(|at| {
            let mine = source.0.dims[at].indices(from[at], Part::Owned);
            let partners = target.0.dims[at].partners(&mine, Part::Held);
            let partner = partners.into_iter().find(|partner| partner.coordinate == to[at]);
            partner.map_or(Vec::new(), |partner| partner.runs.to_vec())
        })
        .collect();
    let runs: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    let region = Region { runs: &runs, item_bytes: ITEM };
    let is_empty = runs.iter().any(|runs| runs.is_empty());
    (!is_empty)
        .then(|| Prepared::new(region, &source.0.strides(source.1), &target.0.strides(target.1)))
}

/// Who carries out the moves.
#[derive(Clone, Copy, PartialEq)]
enum Driver {
    Sender,
    Receiver,
}

type Work<'a> = Box<dyn Fn(usize) + Sync + 'a>;

struct Case<'a> {
    name: &'static str,
    n_bytes: usize,
    work: Work<'a>,
}

/// Ranks of the driving side are dealt to the threads; each runs its moves side by side.
fn redistribution<'a>(
    name: &'static str,
    (source, target): (&Side, &Side),
    (from, to): (&'a Buffer, &'a Buffer),
    driver: Driver,
) -> Case<'a> {
    let pairs = (0..source.n_ranks()).flat_map(|s| (0..target.n_ranks()).map(move |t| (s, t)));
    let moves: Vec<_> = pairs
        .filter_map(|(s, t)| {
            let prepared = prepare((source, s), (target, t))?;
            let rank = if driver == Driver::Sender { s } else { t };
            Some((rank, prepared, source.offset(s), target.offset(t)))
        })
        .collect();
    let n_ranks = if driver == Driver::Sender { source.n_ranks() } else { target.n_ranks() };
    let n_bytes = from.memory.size();
    let stores = Stores::for_bytes(n_bytes / target.n_ranks());
    let work = move |thread: usize| {
        for rank in (0..n_ranks).filter(|rank| rank * N_THREADS / n_ranks == thread) {
            let mine: Vec<_> = moves
                .iter()
                .filter(|(at, ..)| *at == rank)
                .map(|(_, prepared, source, target)| Move {
                    prepared,
                    source: from.at(*source),
                    target: to.at(*target),
                })
                .collect();
            // SAFETY: regions of the layouts whose buffers these are; targets are disjoint.
            unsafe { copy_all(&mine, stores) };
        }
    };
    Case { name, n_bytes, work: Box::new(work) }
}

fn sides(extent: usize) -> Vec<(&'static str, Side, Side, Driver)> {
    use Driver::{Receiver, Sender};
    let block = || Map::Block(Block::default());
    let rows = || Side::new(extent, &[block(), Map::Whole], [2, 1]);
    let side = |maps: [Map; 2], grid| Side::new(extent, &maps, grid);
    let cyclic = |block| Map::Cyclic { block };
    vec![
        ("row block to row block", rows(), rows(), Sender),
        ("row block to column block", rows(), side([Map::Whole, block()], [1, 2]), Sender),
        ("column block to row block", side([Map::Whole, block()], [1, 2]), rows(), Sender),
        ("row block to cyclic(64)^2 1x2", rows(), side([cyclic(64), cyclic(64)], [1, 2]), Sender),
        ("row block to cyclic(64)^2 2x2", rows(), side([cyclic(64), cyclic(64)], [2, 2]), Sender),
        ("row block to cyclic(5)^2 1x2", rows(), side([cyclic(5), cyclic(5)], [1, 2]), Sender),
        ("row block to cyclic(1) of 2", rows(), side([Map::Whole, cyclic(1)], [1, 2]), Sender),
        ("row block to cyclic(1) of 3", rows(), side([Map::Whole, cyclic(1)], [1, 3]), Sender),
        ("row block to cyclic(1) of 4", rows(), side([Map::Whole, cyclic(1)], [1, 4]), Sender),
        ("row block to cyclic(1) of 8", rows(), side([Map::Whole, cyclic(1)], [1, 8]), Sender),
        ("cyclic(1) of 2 to row block", side([Map::Whole, cyclic(1)], [1, 2]), rows(), Receiver),
        ("cyclic(1) of 4 to row block", side([Map::Whole, cyclic(1)], [1, 4]), rows(), Receiver),
        ("cyclic(64) to row block", side([Map::Whole, cyclic(64)], [1, 2]), rows(), Receiver),
        (
            "row block to transposed",
            rows(),
            side([Map::Whole, block()], [1, 2]).transposed(),
            Sender,
        ),
    ]
}

/// What one piece of work took.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    /// Of this thread alone: other programs on the machine disturb it less.
    cpu: f64,
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Times of the case and of the plain copy, repetition by repetition.
fn measure(case: &Case<'_>, plain: &Work<'_>, n_repetitions: usize) -> Vec<(Time, Time)> {
    let barrier = Barrier::new(N_THREADS);
    let times = Mutex::new(Vec::new());
    let timed = |thread: usize, work: &Work<'_>| {
        barrier.wait();
        let (start, cpu) = (Instant::now(), cpu_seconds());
        work(thread);
        let cpu = cpu_seconds() - cpu;
        barrier.wait();
        Time { wall: start.elapsed().as_secs_f64(), cpu }
    };
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let (timed, times) = (&timed, &times);
            scope.spawn(move || {
                for repetition in 0..=n_repetitions {
                    let pair = (timed(thread, &case.work), timed(thread, plain));
                    if thread == 0 && repetition > 0 {
                        times.lock().expect("no panic").push(pair);
                    }
                }
            });
        }
    });
    times.into_inner().expect("no panic")
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn report(case: &Case<'_>, plain: &Work<'_>, n_repetitions: usize) {
    let times = measure(case, plain, n_repetitions);
    let seconds = median(times.iter().map(|time| time.0.wall));
    println!(
        "{:32} {:9.3} ms {:6.2} GB/s  plain {:6.2} GB/s  ratio {:5.2}  cpu {:5.2}",
        case.name,
        seconds * 1e3,
        case.n_bytes as f64 / seconds * 1e-9,
        case.n_bytes as f64 / median(times.iter().map(|time| time.1.wall)) * 1e-9,
        median(times.iter().map(|(case, plain)| case.wall / plain.wall)),
        median(times.iter().map(|(case, plain)| case.cpu / plain.cpu)),
    );
}

/// Each thread copies its half of the bytes.
fn plain<'a>(from: &'a Buffer, to: &'a Buffer, n_bytes: usize) -> Work<'a> {
    Box::new(move |thread| {
        let part = n_bytes / N_THREADS;
        // SAFETY: halves of two buffers of this size.
        unsafe { to.at(thread * part).copy_from_nonoverlapping(from.at(thread * part), part) };
    })
}

fn redistributions(extent: usize, n_repetitions: usize, wanted: &str) {
    let n_bytes = extent * extent * ITEM;
    let (from, to) = (Buffer::new(n_bytes), Buffer::new(n_bytes));
    let plain = plain(&from, &to, n_bytes);
    println!("{extent} x {extent} f64, {} MiB", n_bytes >> 20);
    for (name, source, target, driver) in sides(extent) {
        if name.contains(wanted) {
            let case = redistribution(name, (&source, &target), (&from, &to), driver);
            report(&case, &plain, n_repetitions);
        }
    }
}

/// Two summands of 64 MiB to one sum, each thread half of it.
fn sums(n_repetitions: usize, wanted: &str) {
    const N_BYTES: usize = 64 << 20;
    let part = N_BYTES / N_THREADS;
    let (first, second, to) = (Buffer::new(N_BYTES), Buffer::new(N_BYTES), Buffer::new(N_BYTES));
    let plain = plain(&first, &to, N_BYTES);
    let (first, second, to) = (&first, &second, &to);
    let half = Prepared::new(
        Region { runs: &[&[Run::contiguous(0, 0, part as u64 / 4)]], item_bytes: 4 },
        &[4],
        &[4],
    );
    let half = &half;
    let fused = move |thread: usize| {
        let at = thread * part;
        let rows = Sum {
            first: first.at(at),
            second: second.at(at),
            target: to.at(at),
            n_items: part / 4,
        };
        // SAFETY: a half of each buffer.
        unsafe { sum_two(rows, Dtype::F32, Stores::Streaming) };
    };
    let added = move |thread: usize| {
        let at = thread * part;
        let one =
            |source: &Buffer| Move { prepared: half, source: source.at(at), target: to.at(at) };
        // SAFETY: a half of each buffer.
        unsafe { add_all(&[one(second)], Dtype::F32) };
    };
    let two_passes = move |thread: usize| {
        let at = thread * part;
        let one =
            |source: &Buffer| Move { prepared: half, source: source.at(at), target: to.at(at) };
        // SAFETY: a half of each buffer.
        unsafe {
            copy_all(&[one(first)], Stores::Streaming);
            add_all(&[one(second)], Dtype::F32);
        }
    };
    println!("64 MiB f32, two summands to one sum");
    let cases: [(&str, Work<'_>); 3] = [
        ("sum in one pass", Box::new(fused)),
        ("sum: add to what is there", Box::new(added)),
        ("sum: copy, then add", Box::new(two_passes)),
    ];
    for (name, work) in cases {
        if name.contains(wanted) {
            report(&Case { name, n_bytes: N_BYTES, work }, &plain, n_repetitions);
        }
    }
}

/// A random permutation of doubles from two ranks to two ranks.
fn permutations(n_repetitions: usize) {
    const N_ITEMS: usize = 1 << 24;
    let part = N_ITEMS / N_THREADS;
    let (from, to) = (Buffer::new(N_ITEMS * ITEM), Buffer::new(N_ITEMS * ITEM));
    let plain = plain(&from, &to, N_ITEMS * ITEM);
    let (from, to) = (&from, &to);
    let runs = random_runs(N_ITEMS);
    let prepared: Vec<Vec<Prepared>> = runs
        .iter()
        .map(|targets| {
            let prepare = |runs: &Vec<Run>| {
                let runs: [&[Run]; 1] = [runs];
                Prepared::new(Region { runs: &runs, item_bytes: ITEM }, &[8], &[8])
            };
            targets.iter().map(prepare).collect()
        })
        .collect();
    let shuffles: Vec<Mutex<Shuffle>> = runs
        .iter()
        .map(|targets| {
            let runs: Vec<&[Run]> = targets.iter().map(Vec::as_slice).collect();
            Mutex::new(Shuffle::new(&runs))
        })
        .collect();
    let one_by_one = |thread: usize| {
        let target = |at: usize| to.at(at * part * ITEM);
        let one = |(at, prepared)| Move {
            prepared,
            source: from.at(thread * part * ITEM),
            target: target(at),
        };
        let moves: Vec<_> = prepared[thread].iter().enumerate().map(one).collect();
        // SAFETY: a permutation of the buffers' elements.
        unsafe { copy_all(&moves, Stores::Streaming) };
    };
    let buckets = |thread: usize| {
        let targets = [to.at(0), to.at(part * ITEM)];
        let mut shuffle = shuffles[thread].lock().expect("no panic");
        // SAFETY: a permutation of the buffers' elements.
        unsafe { shuffle.copy(from.at(thread * part * ITEM), &targets, thread) };
    };
    println!("{N_ITEMS} doubles in random order");
    let cases: [(&str, Work<'_>); 2] = [
        ("random elements one by one", Box::new(one_by_one)),
        ("random elements by buckets", Box::new(buckets)),
    ];
    for (name, work) in cases {
        report(&Case { name, n_bytes: N_ITEMS * ITEM, work }, &plain, n_repetitions);
    }
}

/// Runs of single elements: for each source rank, for each target rank.
fn random_runs(n_items: usize) -> Vec<Vec<Vec<Run>>> {
    let part = n_items / N_THREADS;
    let mut places: Vec<usize> = (0..n_items).collect();
    let mut state = 88_172_645_463_325_252u64;
    for at in (1..n_items).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        places.swap(at, state as usize % (at + 1));
    }
    let mut runs = vec![vec![Vec::new(); N_THREADS]; N_THREADS];
    for (at, place) in places.into_iter().enumerate() {
        let run = Run::contiguous((at % part) as u64, (place % part) as u64, 1);
        runs[at / part][place / part].push(run);
    }
    runs
}

/// What a small move costs in all, and the part that is not copying.
fn latencies() {
    println!("small moves, one thread, prepared before");
    for n_items in [1usize, 512, 4096] {
        let (from, to) = (Buffer::new(n_items * ITEM), Buffer::new(n_items * ITEM));
        let runs = [Run::contiguous(0, 0, n_items as u64)];
        let prepared = Prepared::new(Region { runs: &[&runs], item_bytes: ITEM }, &[8], &[8]);
        let moves = [Move { prepared: &prepared, source: from.at(0), target: to.at(0) }];
        let times = (0..1000).map(|_| {
            let start = Instant::now();
            for _ in 0..100 {
                // SAFETY: two buffers of `n_items`.
                unsafe { copy_all(std::hint::black_box(&moves), Stores::Cached) };
            }
            start.elapsed().as_secs_f64() * 1e7
        });
        println!("{n_items:6} doubles {:9.0} ns", median(times));
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number = |at: usize, or: usize| words.get(at).and_then(|w| w.parse().ok()).unwrap_or(or);
    let (extent, n_repetitions) = (number(0, 8192), number(1, 9));
    let wanted = words.get(2).map_or("", String::as_str);
    redistributions(extent, n_repetitions, wanted);
    sums(n_repetitions, wanted);
    if "random".contains(wanted) {
        permutations(n_repetitions);
    }
    if "latency".contains(wanted) {
        latencies();
    }
    redistributions(512, 40 * n_repetitions, wanted);
}
