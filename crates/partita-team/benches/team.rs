//! Latency of meetings and halo exchanges between ranks that are threads, in microseconds.
//!
//! `cargo bench -p partita-team --bench team`

use std::sync::Arc;
use std::time::Instant;

use partita_layout::Layout;
use partita_plan::{Dtype, Plan};
use partita_team::Team;
use partita_team::threads::World;
use partita_team::{Buffer, Memory};

const N_TURNS: u32 = 2000;
const N_REPEATS: usize = 9;

/// Median over repeats of the mean time of a turn, on the slowest rank.
fn measure(n_ranks: u64, body: impl Fn(&Team) -> Box<dyn FnMut()> + Sync) -> f64 {
    let world = World::new(n_ranks);
    let times: Vec<f64> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..n_ranks)
            .map(|rank| {
                let (world, body) = (Arc::clone(&world), &body);
                scope.spawn(move || {
                    let team = world.team(rank);
                    let mut turn = body(&team);
                    let mut times: Vec<f64> = (0..N_REPEATS)
                        .map(|_| {
                            team.barrier().expect("all come");
                            let start = Instant::now();
                            (0..N_TURNS).for_each(|_| turn());
                            start.elapsed().as_secs_f64() / f64::from(N_TURNS) * 1e6
                        })
                        .collect();
                    times.sort_by(f64::total_cmp);
                    times[N_REPEATS / 2]
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    });
    times.into_iter().fold(0.0, f64::max)
}

fn barrier(team: &Team) -> Box<dyn FnMut()> {
    let team = team.clone();
    Box::new(move || team.barrier().expect("all come"))
}

fn halo(team: &Team, notation: &str) -> Box<dyn FnMut()> {
    let layout = Layout::parse(&[4096, 4096], notation).expect("a layout");
    let plan = Plan::new(&layout, &layout, Dtype::F64).expect("a plan");
    let shape = layout.local_shape(team.rank().expect("a member"), 0).expect("a shape");
    let memory = Memory::new(shape.iter().product::<u64>() as usize * 8);
    let buffers = [Buffer::dense(memory.address(), &shape, 8)];
    let team = team.clone();
    Box::new(move || {
        let _kept = &memory;
        // SAFETY: the block lives as long as the closure, and only the team touches it.
        unsafe { team.run_in_place(&plan, &buffers) }.expect("all come");
    })
}

fn main() {
    println!("barrier, 2 ranks           {:8.2} us", measure(2, barrier));
    println!("barrier, 4 ranks           {:8.2} us", measure(4, barrier));
    for (name, n_ranks, notation) in [
        ("halo rows, 2 ranks", 2, "block+halo(1,1), * @ 2x1"),
        ("halo columns, 2 ranks", 2, "*, block+halo(1,1) @ 1x2"),
        ("halo 2x2, 4 ranks", 4, "block+halo(1,1), block+halo(1,1) @ 2x2"),
    ] {
        println!("{name:<26} {:8.2} us", measure(n_ranks, |team| halo(team, notation)));
    }
}
