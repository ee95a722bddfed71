//! The rendezvous under a model checker: every interleaving that a seed makes.
//!
//! Run by `cargo test -p partita-team --features shuttle --lib model`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use shuttle::thread;

use crate::error::{Failure, FailureKind, Rank};
use crate::program::offer::Half;
use crate::team::meeting::Stage;
use crate::team::near::{NearNote, NearPlace};
use crate::team::patience::Patience;
use crate::threads::near::NearBox;
use crate::threads::rendezvous::Rendezvous;
use crate::threads::world::World;

const N_SCHEDULES: usize = 3000;

/// No spinning: the checker explores what matters, the lock and the condition.
const PATIENCE: Patience = Patience { limit: None, n_spins: 0, n_yields: 0 };

fn failure(rank: u64) -> Failure {
    Failure::new(Rank::new(rank, rank), FailureKind::Raised, "")
}

/// Runs `body(meeting, world, rank)` on model threads.
fn check(
    n_ranks: u64,
    body: impl Fn(&Rendezvous<(u64, u64)>, &World, u64) + Send + Sync + Copy + 'static,
) {
    shuttle::check_random(
        move || {
            let world = World::new(n_ranks);
            let meeting = Arc::new(Rendezvous::new((0..n_ranks).collect()));
            let ranks: Vec<_> = (0..n_ranks)
                .map(|rank| {
                    let (world, meeting) = (Arc::clone(&world), Arc::clone(&meeting));
                    thread::spawn(move || body(&meeting, &world, rank))
                })
                .collect();
            for rank in ranks {
                rank.join().expect("no panic");
            }
        },
        N_SCHEDULES,
    );
}

/// Every rank sees every rank's post of the same round, round after round.
#[test]
fn rounds_do_not_mix() {
    check(3, |meeting, world, rank| {
        for turn in 0..3 {
            let round = meeting.post(rank as usize, Ok((rank, turn)), world, &PATIENCE);
            let posts = meeting.wait(round, world, &PATIENCE, Stage::Arrival);
            let seen: Vec<_> = posts.iter().map(|post| *post.as_ref().expect("a value")).collect();
            assert_eq!(seen, [(0, turn), (1, turn), (2, turn)]);
        }
    });
}

/// A rank that fails posts and goes on; the others see its failure in that round and no other.
#[test]
fn a_note_belongs_to_its_round() {
    check(3, |meeting, world, rank| {
        if rank == 1 {
            meeting.post(1, Err(failure(1)), world, &PATIENCE);
        } else {
            let round = meeting.post(rank as usize, Ok((rank, 0)), world, &PATIENCE);
            let posts = meeting.wait(round, world, &PATIENCE, Stage::Arrival);
            let seen: Vec<_> = posts.iter().map(Result::is_ok).collect();
            assert_eq!(seen, [true, false, true]);
        }
        let round = meeting.post(rank as usize, Ok((rank, 1)), world, &PATIENCE);
        let posts = meeting.wait(round, world, &PATIENCE, Stage::Arrival);
        let seen: Vec<_> = posts.iter().map(|post| *post.as_ref().expect("a value")).collect();
        assert_eq!(seen, [(0, 1), (1, 1), (2, 1)]);
    });
}

/// Two failures in a row, and in different rounds of different ranks.
#[test]
fn notes_in_a_row_keep_their_order() {
    check(2, |meeting, world, rank| {
        for turn in 0..3 {
            let fails = turn % 2 == rank;
            let post = if fails { Err(failure(rank)) } else { Ok((rank, turn)) };
            let round = meeting.post(rank as usize, post, world, &PATIENCE);
            if !fails {
                let posts = meeting.wait(round, world, &PATIENCE, Stage::Arrival);
                assert!(posts.get(1 - rank as usize).is_some_and(Result::is_err));
            }
        }
    });
}

/// Ranks 0 and 1 wait for each other on two teams of the same three ranks, and rank 2 for rank 0.
/// Whoever ends both rounds, all are told once, and the next rounds are in step.
#[test]
fn a_circle_ends_its_rounds_once() {
    shuttle::check_random(
        || {
            let world = World::new(3);
            let teams = [0, 1].map(|_| Arc::new(Rendezvous::new((0..3).collect())));
            let ranks: Vec<_> = (0..3)
                .map(|rank| {
                    let (world, teams) = (Arc::clone(&world), teams.clone());
                    thread::spawn(move || crossed(&world, &teams, rank))
                })
                .collect();
            // The finder sees ranks that wait, and nothing else of them.
            while teams[0].missing(0) != [1, 2] || teams[1].missing(0) != [0] {
                thread::yield_now();
            }
            for team in &teams {
                team.end(0, |rank| Failure { kind: FailureKind::Circle, ..failure(rank) });
            }
            for rank in ranks {
                rank.join().expect("no panic");
            }
        },
        N_SCHEDULES,
    );
}

/// A rank's call on the one team or the other, and then one on each.
fn crossed(world: &World, teams: &[Arc<Rendezvous<(u64, u64)>>; 2], rank: u64) {
    let first = &teams[usize::from(rank > 0)];
    let round = first.post(rank as usize, Ok((rank, 0)), world, &PATIENCE);
    let posts = first.wait(round, world, &PATIENCE, Stage::Arrival);
    assert!(posts.iter().any(Result::is_err));
    for team in teams {
        // The engine passes rounds only when all of the circle have ended.
        team.wait(0, world, &PATIENCE, Stage::Arrival);
        team.pass(rank as usize, 0);
    }
    for team in teams {
        let round = team.post(rank as usize, Ok((rank, 1)), world, &PATIENCE);
        let posts = team.wait(round, world, &PATIENCE, Stage::Arrival);
        let seen: Vec<_> = posts.iter().map(|post| *post.as_ref().expect("a value")).collect();
        assert_eq!(seen, [(0, 1), (1, 1), (2, 1)]);
    }
}

/// A rank that gives a near call up and a partner that is about to copy: the partner never touches
/// memory that its owner has taken back.
#[test]
fn a_permit_that_was_withdrawn_is_held_by_nobody() {
    shuttle::check_random(
        || {
            let boxes = Arc::new([NearBox::new(), NearBox::new()]);
            let is_taken_back = Arc::new(shuttle::sync::atomic::AtomicBool::new(false));
            let place = NearPlace { round: 0, number: 0 };
            let owner = {
                let (boxes, is_taken_back) = (Arc::clone(&boxes), Arc::clone(&is_taken_back));
                thread::spawn(move || {
                    let permit = boxes[0].begin();
                    boxes[1].put_here(place, 0, &note(), &permit);
                    boxes[0].withdraw_own();
                    is_taken_back.store(true, Ordering::SeqCst);
                })
            };
            let partner = thread::spawn(move || {
                while boxes[1].here(place, &[0])[0].is_none() {
                    thread::yield_now();
                }
                if boxes[1].take_permits(place, &[0]) {
                    for _ in 0..3 {
                        assert!(
                            !is_taken_back.load(Ordering::SeqCst),
                            "memory is touched too late"
                        );
                        thread::yield_now();
                    }
                    boxes[1].release_permits();
                }
            });
            owner.join().expect("no panic");
            partner.join().expect("no panic");
        },
        N_SCHEDULES,
    );
}

fn note() -> NearNote {
    let (call, offer, half) = (0, Arc::default(), Half::First);
    NearNote { call, offer, slot: 0, is_told: false, tag: 0, half }
}
