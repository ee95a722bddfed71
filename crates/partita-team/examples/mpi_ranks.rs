//! What every rank does in the tests of the MPI engine: `mpi_ranks SCENE`.

#[path = "../tests/followed/mod.rs"]
mod followed;
#[path = "../tests/near_scenes/mod.rs"]
mod near_scenes;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use followed::{Values, buffers, followed, values};
use partita_layout::Layout;
use partita_mpi::{Search, ThreadLevel};
use partita_oracle::{Dense, Rng, case};
use partita_plan::{Dtype, Plan};
use partita_team::mpi::{Sharing, World};
use partita_team::{Buffer, Memory, Team, TeamError};

const N_CASES: u64 = 150;

fn main() {
    let scene = std::env::args().nth(1).unwrap_or_default();
    let sharing = match std::env::args().nth(2).as_deref() {
        Some("messages") => Sharing::Nothing,
        Some("pairs") => Sharing::Among(2),
        _ => Sharing::Memory,
    };
    let library = Search::new().open().expect("an MPI");
    library.init(ThreadLevel::Multiple).expect("MPI starts");
    {
        let world = library.world().expect("a world");
        let world = Arc::new(World::new(&world, sharing).expect("a world"));
        let team = world.team();
        match scene.as_str() {
            "plans" => plans(&team),
            "mismatch" => mismatch(&team),
            "report" => report(&team),
            "late" => late(&team),
            "near" => near(&team),
            "near_faults" => near_scenes::faults(&team),
            "near_left" => return near_left(&world, &team, &library),
            "passed_by" => near_scenes::passed_by(&team),
            "far_mismatch" => near_scenes::far_mismatch(&team),
            "left" => return left(&world, &team, &library),
            other => panic!("unknown scene {other:?}"),
        }
        team.barrier().expect("all come to the end");
        println!("rank {} is done", world.rank());
    }
    library.finalize().expect("MPI ends");
}

fn own(values: &Values, rank: u64) -> Vec<Vec<i64>> {
    values.get(&rank).cloned().unwrap_or_default()
}

/// Generated plans and their adjoints give what their moves say.
fn plans(team: &Team) {
    run_plans(team, 0..N_CASES, 1);
}

/// Plans that only partners come to from the third run on.
fn near(team: &Team) {
    run_plans(team, 0..N_CASES / 3, 5);
    near_scenes::steps(team);
}

fn run_plans(team: &Team, seeds: Range<u64>, n_runs: u64) {
    let rank = team.rank().expect("a member");
    for (seed, turn) in seeds.flat_map(|seed| (0..n_runs).map(move |turn| (seed, turn))) {
        let (source, target) = case::pair(seed);
        let layouts = (source.layout().expect("a layout"), target.layout().expect("a layout"));
        let Ok(plan) = Plan::new(&layouts.0, &layouts.1, Dtype::I64) else { continue };
        let highest = layouts.0.ranks().iter().chain(layouts.1.ranks().iter()).max();
        if highest.is_some_and(|highest| highest >= team.size()) {
            continue;
        }
        let mut rng = Rng::new(seed + 1000 * turn);
        let x = values(&Dense::new(&source), &mut rng);
        let y = values(&Dense::new(&target), &mut rng);
        for (plan, from, into) in [(plan.clone(), &x, &y), (plan.adjoint(), &y, &x)] {
            let (mut mine, mut found) = (own(from, rank), own(into, rank));
            let mut sources = buffers(plan.source(), rank, &mut mine);
            let mut targets = buffers(plan.target(), rank, &mut found);
            // Every mixture of open and closed memory, other ones on other ranks.
            let _source = (seed + turn + rank).is_multiple_of(2).then(|| Opened::new(&mut sources));
            let moved =
                (seed / 2 + turn / 2 + rank).is_multiple_of(2).then(|| Opened::new(&mut targets));
            // SAFETY: the vectors and blocks outlive the call and are this rank's own.
            unsafe { team.run(&plan, &sources, &targets) }.expect("a run");
            if let Some(moved) = moved {
                moved.read(&mut found);
            }
            let wanted = own(&followed(&plan, from), rank);
            assert_eq!(found, wanted, "seed {seed} rank {rank}\n {source:?}\n {target:?}");
        }
    }
}

/// Buffers moved to memory that other processes can map.
struct Opened(Vec<Memory>);

impl Opened {
    fn new(buffers: &mut [Buffer]) -> Self {
        let blocks = buffers.iter_mut().map(|buffer| {
            let n_elements = buffer.n_elements() as usize;
            // A page at least: smaller blocks are not shared.
            let block = Memory::new((n_elements * 8).max(4096));
            let (from, to) = (buffer.address as *const i64, block.address() as *mut i64);
            // SAFETY: both hold so many elements.
            unsafe { std::ptr::copy_nonoverlapping(from, to, n_elements) };
            buffer.address = block.address();
            block
        });
        Self(blocks.collect())
    }

    fn read(&self, values: &mut [Vec<i64>]) {
        for (block, values) in self.0.iter().zip(values) {
            let from = block.address() as *const i64;
            // SAFETY: the block holds as many elements as the vector.
            unsafe { std::ptr::copy_nonoverlapping(from, values.as_mut_ptr(), values.len()) };
        }
    }
}

/// Other calls and other plans are told apart on every rank, and the team works on.
fn mismatch(team: &Team) {
    let rank = team.rank().expect("a member");
    let error = match rank {
        1 => team.allgather("sum", vec![]).map(|_| ()),
        _ => team.barrier(),
    };
    assert_eq!(error.expect_err("calls differ").reason(), "calls-differ");
    let layout = Layout::parse(&[4], "block @ 2").expect("a layout");
    let dtype = if rank == 0 { Dtype::I64 } else { Dtype::F64 };
    let plan = Plan::new(&layout, &layout, dtype).expect("a plan");
    let n_buffers = usize::from(rank < 2);
    let (mut a, mut b) = (vec![vec![0; 2]; n_buffers], vec![vec![0; 2]; n_buffers]);
    let (from, into) = (buffers(&layout, rank, &mut a), buffers(&layout, rank, &mut b));
    // SAFETY: as above.
    let error = unsafe { team.run(&plan, &from, &into) }.expect_err("plans differ");
    assert_eq!(error.reason(), "plans-differ");
    assert_eq!(team.allgather("again", vec![rank as u8]).expect("all").len() as u64, team.size());
}

/// A rank that fails in its own code fails the others, once.
fn report(team: &Team) {
    if team.rank() == Some(1) {
        team.report("my disk is full").expect("it goes out");
    } else {
        let error = team.barrier().expect_err("rank 1 failed");
        assert_eq!(error.to_string(), "rank 1 failed: my disk is full");
    }
}

/// A late rank is named, and gets the error too.
fn late(team: &Team) {
    let hasty = team.clone().with_deadline(Some(Duration::from_millis(300)));
    if team.rank() == Some(1) {
        std::thread::sleep(Duration::from_millis(1500));
        let error = hasty.barrier().expect_err("too late");
        assert_eq!(error.reason(), "rank-late", "{error}");
        return;
    }
    match hasty.barrier().expect_err("rank 1 is late") {
        TeamError::Deadline { missing, .. } => assert_eq!(missing[0].team, 1),
        // Another rank gave up first and said so.
        TeamError::Remote(failure) => assert_eq!(failure.rank.team, 1, "{failure}"),
        other => panic!("{other}"),
    }
}

/// A rank that leaves is not waited for in near calls either.
fn near_left(world: &World, team: &Team, library: &partita_mpi::Library) {
    if team.rank() == Some(0) {
        near_scenes::steps(team);
        world.leave(None).expect("it goes out");
    } else {
        near_scenes::steps(team);
        near_scenes::is_told_of_one_that_left(team);
    }
    println!("rank {} is done", world.rank());
    library.finalize().expect("MPI ends");
}

/// A rank that leaves is not waited for.
fn left(world: &World, team: &Team, library: &partita_mpi::Library) {
    if team.rank() == Some(0) {
        world.leave(None).expect("it goes out");
    } else {
        let error = team.barrier().expect_err("rank 0 has left");
        assert_eq!(error.reason(), "rank-left", "{error}");
    }
    println!("rank {} is done", world.rank());
    library.finalize().expect("MPI ends");
}
