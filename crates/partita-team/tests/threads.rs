//! The threads engine against the dense oracle, and its failures.

mod followed;
mod near_scenes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use followed::{Values, buffers, followed, values};
use partita_layout::Layout;
use partita_oracle::{Dense, Rng, case, n_cases};
use partita_plan::{Dtype, Plan};
use partita_team::Team;
use partita_team::threads::World;
use partita_team::{Buffer, TeamError};

/// Runs a function on every rank of a world; a rank that returns has left.
fn spmd<T: Send>(n_ranks: u64, body: impl Fn(Team) -> T + Sync) -> Vec<T> {
    let world = World::new(n_ranks);
    std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..n_ranks)
            .map(|rank| {
                let (world, body) = (Arc::clone(&world), &body);
                scope.spawn(move || {
                    let result = body(world.team(rank));
                    world.leave(rank, None);
                    result
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    })
}

fn run_on_threads(plan: &Plan, from: &Values, into: &Values, n_ranks: u64) -> Values {
    let results = spmd(n_ranks, |team| {
        let rank = team.rank().expect("a member");
        let mut source = from.get(&rank).cloned().unwrap_or_default();
        // Old values everywhere: nothing may be left of them.
        let mut target = into.get(&rank).cloned().unwrap_or_default();
        for value in target.iter_mut().flatten() {
            *value = -77;
        }
        let sources = buffers(plan.source(), rank, &mut source);
        let targets = buffers(plan.target(), rank, &mut target);
        // The last ones are near calls.
        for _ in 0..4 {
            // SAFETY: the vectors outlive the call and are this rank's own.
            unsafe { team.run(plan, &sources, &targets) }.expect("a run");
        }
        (rank, target)
    });
    results.into_iter().filter(|(rank, _)| into.contains_key(rank)).collect()
}

#[test]
fn generated_plans_run_as_they_say() {
    let mut n_run = 0;
    for seed in 0..n_cases(600) {
        let (source, target) = case::pair(seed);
        let layouts = (source.layout().expect("a layout"), target.layout().expect("a layout"));
        let Ok(plan) = Plan::new(&layouts.0, &layouts.1, Dtype::I64) else { continue };
        let n_ranks =
            1 + layouts.0.ranks().iter().chain(layouts.1.ranks().iter()).max().unwrap_or(0);
        let mut rng = Rng::new(seed);
        let x = values(&Dense::new(&source), &mut rng);
        let y = values(&Dense::new(&target), &mut rng);
        for (plan, from, into) in [(plan.clone(), &x, &y), (plan.adjoint(), &y, &x)] {
            let wanted = followed(&plan, from);
            let found = run_on_threads(&plan, from, into, n_ranks);
            assert_eq!(found, wanted, "seed {seed}\n {source:?}\n {target:?}");
        }
        n_run += 1;
    }
    assert!(n_run > 0);
}

/// Every rank fails in the same way, soon, and the team works afterwards.
fn fails(n_ranks: u64, reason: &str, body: impl Fn(&Team) -> Result<(), TeamError> + Sync) {
    let start = Instant::now();
    let found = spmd(n_ranks, |team| {
        let error = body(&team).expect_err("a failure");
        let again = team.allgather("again", vec![team.rank().expect("a member") as u8]);
        (error, again.map(|all| all.len()))
    });
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    for (error, again) in found {
        assert_eq!(error.reason(), reason, "{error}");
        assert_eq!(again, Ok(n_ranks as usize));
    }
}

#[test]
fn other_calls_are_told_apart() {
    fails(3, "calls-differ", |team| match team.rank() {
        Some(1) => team.allgather("sum", vec![]).map(|_| ()),
        _ => team.barrier(),
    });
    fails(2, "arguments-differ", |team| {
        let root = format!("root {}", team.rank().expect("a member"));
        team.allgather_with("broadcast", root, vec![]).map(|_| ())
    });
}

#[test]
fn other_teams_are_told_apart() {
    fails(3, "teams-differ", |team| match team.rank() {
        Some(1) => team.subteam(&[1, 0])?.barrier(),
        _ => team.barrier(),
    });
    // Each waits for the next, on a team of the two.
    fails(5, "teams-differ", |team| {
        let rank = team.rank().expect("a member");
        team.subteam(&[rank, (rank + 1) % 5])?.allgather("greet", vec![]).map(|_| ())
    });
}

#[test]
fn other_plans_are_told_apart() {
    fails(2, "plans-differ", |team| {
        let rank = team.rank().expect("a member");
        let layout = Layout::parse(&[4], "block @ 2").expect("a layout");
        let dtype = if rank == 0 { Dtype::I64 } else { Dtype::F64 };
        let plan = Plan::new(&layout, &layout, dtype).expect("a plan");
        let (mut a, mut b) = (vec![vec![0; 2]], vec![vec![0; 2]]);
        let (from, into) = (buffers(&layout, rank, &mut a), buffers(&layout, rank, &mut b));
        // SAFETY: as above.
        unsafe { team.run(&plan, &from, &into) }
    });
}

#[test]
fn a_failing_rank_fails_all() {
    let found = spmd(4, |team| {
        if team.rank() == Some(2) {
            team.report("my disk is full").expect("it goes out");
            return None;
        }
        let error = team.barrier().expect_err("rank 2 failed");
        Some(error.to_string())
    });
    for message in found.into_iter().flatten() {
        assert_eq!(message, "rank 2 failed: my disk is full");
    }
}

#[test]
fn a_wrong_buffer_fails_all_and_changes_nothing() {
    let found = spmd(3, |team| {
        let rank = team.rank().expect("a member");
        let layout = Layout::parse(&[6], "block @ 3").expect("a layout");
        let plan = Plan::new(&layout, &layout, Dtype::I64).expect("a plan");
        let (mut a, mut b) = (vec![vec![1; 2]], vec![vec![5; 2]]);
        let mut from = buffers(&layout, rank, &mut a);
        let into = buffers(&layout, rank, &mut b);
        if rank == 1 {
            from[0].shape = vec![7];
        }
        // SAFETY: as above; the wrong shape is found before anything is read.
        let error = unsafe { team.run(&plan, &from, &into) }.expect_err("a wrong buffer");
        assert_eq!(b, [[5, 5]]);
        (error.reason(), team.barrier())
    });
    assert_eq!(found[1].0, "buffer-shape");
    assert_eq!((found[0].0, found[2].0), ("rank-raised", "rank-raised"));
    assert!(found.iter().all(|(_, again)| again.is_ok()));
}

#[test]
fn a_rank_that_left_is_not_waited_for() {
    let start = Instant::now();
    let found = spmd(3, |team| match team.rank() {
        Some(0) => None,
        _ => Some(team.barrier().expect_err("rank 0 has left").reason()),
    });
    assert_eq!(found, [None, Some("rank-left"), Some("rank-left")]);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_late_rank_is_named_and_gets_the_error_too() {
    let found = spmd(3, |team| {
        let team = team.with_deadline(Some(Duration::from_millis(100)));
        if team.rank() == Some(1) {
            std::thread::sleep(Duration::from_millis(1500));
        }
        let error = team.barrier().expect_err("rank 1 is late");
        let patient = team.with_deadline(Some(Duration::from_secs(5)));
        (error, patient.barrier())
    });
    for (rank, (error, again)) in found.into_iter().enumerate() {
        let wanted = if rank == 1 { "rank-late" } else { "deadline" };
        assert_eq!(error.reason(), wanted, "{error}");
        assert_eq!(again, Ok(()), "rank {rank}");
    }
}

#[test]
fn overlapping_memory_is_refused_on_all() {
    let mut shared = vec![0_i64; 8];
    let address = shared.as_mut_ptr() as usize;
    fails(2, "buffer-overlap", |team| {
        let rank = team.rank().expect("a member");
        let layout = Layout::parse(&[4], "block @ 2").expect("a layout");
        let plan = Plan::new(&layout, &layout, Dtype::I64).expect("a plan");
        let from = [Buffer::dense(address + 16 * rank as usize, &[2], 8)];
        let into = [Buffer::dense(address + 8 + 16 * rank as usize, &[2], 8)];
        // SAFETY: refused before anything is touched.
        unsafe { team.run(&plan, &from, &into) }
    });
}

#[test]
fn teams_do_not_disturb_each_other() {
    spmd(4, |team| {
        let rank = team.rank().expect("a member");
        let pair = team.subteam(if rank < 2 { &[1, 0] } else { &[3, 2] }).expect("a team");
        let odd = team.subteam(&[1, 3]).expect("a team");
        for turn in 0..50_u8 {
            let all = pair.allgather("turn", vec![turn, rank as u8]).expect("all");
            let order = if rank < 2 { [1, 0] } else { [3, 2] };
            assert_eq!(all.iter().map(|b| b[1]).collect::<Vec<_>>(), order);
            if odd.rank().is_some() {
                odd.barrier().expect("all");
            }
        }
        assert_eq!(odd.rank().is_some(), rank % 2 == 1);
        assert_eq!(odd, team.subteam(&[1, 3]).expect("a team"));
        assert_ne!(odd, team.subteam(&[3, 1]).expect("a team"));
        assert_eq!(odd.union(&pair).expect("one world").members()[..2], [1, 3]);
        assert_eq!(team.subteam(&[0, 0]).expect_err("twice").reason(), "member-twice");
        assert_eq!(team.subteam(&[9]).expect_err("unknown").reason(), "member-unknown");
    });
}

#[test]
fn only_partners_come_to_plans_that_all_agreed_on() {
    for n_ranks in [1, 2, 3, 5, 8] {
        spmd(n_ranks, |team| near_scenes::steps(&team));
    }
}

#[test]
fn failures_of_near_calls_reach_every_thread() {
    for n_ranks in [2, 3, 5] {
        spmd(n_ranks, |team| near_scenes::faults(&team));
    }
    spmd(4, |team| near_scenes::far_mismatch(&team));
    spmd(3, |team| near_scenes::passed_by(&team));
    spmd(4, |team| {
        near_scenes::steps(&team);
        if team.rank() != Some(0) {
            near_scenes::is_told_of_one_that_left(&team);
        }
    });
}
