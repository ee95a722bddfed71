//! Rounds against everything that can go wrong, in orders that a seed chooses.
//!
//! Whatever happens: nobody hangs, nobody takes what another brought to another call, and who is
//! named is who did it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use partita_oracle::Rng;

use crate::error::{Failure, FailureKind};
use crate::memory::buffer::{Access, Buffer};
use crate::mpi::relays::Order;
use crate::mpi::simulation::network::Network;
use crate::mpi::simulation::process::{Misdeed, Process, Seen, Step, run};
use crate::program::offer::{Offer, Offered, Openness};
use crate::team::call::{Call, CallName};
use crate::team::meeting::{Contribution, Stage};

/// How long ranks wait for others.
const LIMIT: Duration = Duration::from_secs(1);
/// Nothing takes longer, or it hangs.
const LONGEST: Duration = Duration::from_secs(60);
const N_CALLS: u64 = 6;

/// One game: who misbehaves before which call, and how.
#[derive(Debug)]
struct Game {
    seed: u64,
    n_ranks: u64,
    culprit: u64,
    call: u64,
    misdeed: Misdeed,
    /// Another rank that comes so late to that call that it can be interrupted.
    sleeper: Option<u64>,
}

fn pick(rng: &mut Rng, n: u64) -> u64 {
    rng.next() % n
}

/// Messages come soon; sometimes a process or a wire is held up.
fn delays(seed: u64) -> Box<dyn FnMut() -> Duration> {
    let mut rng = Rng::new(seed);
    Box::new(move || match pick(&mut rng, 20) {
        0 => Duration::from_micros(pick(&mut rng, 60_000)),
        _ => Duration::from_micros(1 + pick(&mut rng, 50)),
    })
}

/// Some polls find one message, some find many: others may have the core.
fn poll_delays(seed: u64) -> Box<dyn FnMut() -> Duration> {
    let mut rng = Rng::new(!seed);
    Box::new(move || match pick(&mut rng, 8) {
        0 => Duration::from_micros(pick(&mut rng, 10_000)),
        _ => Duration::from_micros(pick(&mut rng, 3) * pick(&mut rng, 100)),
    })
}

/// The buffers of a rank in a call: others every third call, so that some are known and some new.
fn buffer_shape(rank: u64, call: u64) -> Vec<u64> {
    vec![rank + 1, call / 3]
}

fn offers(rank: u64) -> Vec<Arc<Offer>> {
    let offer = |call| {
        let (shape, access) = (buffer_shape(rank, call), Access::Write);
        let buffer = Buffer { address: 0, strides: vec![8; shape.len()], shape, access };
        let sources = vec![Offered::new(&buffer, Openness::Closed)];
        Arc::new(Offer { sources, ..Offer::default() })
    };
    let new: Vec<Arc<Offer>> = (0..N_CALLS).step_by(3).map(offer).collect();
    (0..N_CALLS).map(|call| Arc::clone(&new[call as usize / 3])).collect()
}

/// Whether a rank makes another call: one of them, or some.
fn differs(game: &Game, rank: u64) -> bool {
    let is_among_them = pick(&mut Rng::new(game.seed ^ rank << 32), 3) == 0;
    let is_alone = game.culprit == rank;
    matches!(game.misdeed, Misdeed::Differ)
        && if game.seed % 4 < 2 { is_alone } else { is_among_them }
}

/// Calls that run a plan and end with a second meeting, calls that bring bytes, and barriers.
fn script(game: &Game, rank: u64) -> Vec<Step> {
    let offers = offers(rank);
    let mut steps = Vec::new();
    for call in 0..N_CALLS {
        let is_now = call == game.call;
        if is_now && game.sleeper == Some(rank) {
            steps.push(Step::Misbehave(Misdeed::Sleep(LIMIT / 2)));
        }
        if is_now && game.culprit == rank {
            steps.push(Step::Misbehave(game.misdeed));
            match game.misdeed {
                Misdeed::Leave => return steps,
                // It posts its failure instead.
                Misdeed::Fail => continue,
                _ => {}
            }
        }
        let name = if call % 2 == 0 { CallName::Run } else { CallName::exchange("allgather_data") };
        let what = Call { name, argument: "the same".into() };
        let mut contribution = Contribution::new(what);
        if call % 2 == 0 {
            contribution.offer = Some(Arc::clone(&offers[call as usize]));
            steps.extend([Step::Meet(contribution), Step::Finish]);
            continue;
        }
        let is_other = is_now && differs(game, rank);
        let argument = if is_other { "another call".to_string() } else { format!("call {call}") };
        contribution.call.argument = argument.into();
        if (call % 4 == 1) != (is_other && game.seed.is_multiple_of(2)) {
            contribution.bytes = [call as u8, rank as u8].into();
        } else {
            contribution.call.name = CallName::Barrier;
        }
        steps.push(Step::Meet(contribution));
    }
    steps
}

fn play(game: &Game) -> (Network, Vec<Process>) {
    let members: Arc<[u64]> = (0..game.n_ranks).collect();
    let mut network = Network::new(game.n_ranks, delays(game.seed));
    network.poll_delay = poll_delays(game.seed);
    // Some launchers deal ranks out to the nodes in turn.
    let nodes: Vec<u64> = (0..game.n_ranks).map(|rank| rank % (1 + game.seed % 3)).collect();
    let order = Order::around(&nodes);
    let rank = |own| Process::new(&members, order.as_ref(), own, script(game, own), Some(LIMIT));
    let mut ranks: Vec<Process> = (0..game.n_ranks).map(rank).collect();
    run(&mut network, &mut ranks, LONGEST);
    for (rank, process) in ranks.iter_mut().enumerate() {
        let waits_for = process.waits_for();
        let has_ended = network.is_dead[rank] || process.has_ended();
        assert!(has_ended, "rank {rank} hangs, {waits_for:?}, in {game:?}");
        process.seen.iter().for_each(|seen| check_data(seen, game));
    }
    (network, ranks)
}

/// Where all made the same call, each brought what it brings to that call.
fn check_data(seen: &Seen, game: &Game) {
    let came: Vec<&Contribution> =
        seen.posts.iter().filter_map(|post| post.as_ref().ok()).collect();
    let is_same = came.iter().all(|one| one.call == came[0].call);
    if came.len() as u64 != game.n_ranks || !is_same || seen.stage == Stage::Copying {
        return;
    }
    for (rank, one) in (0..).zip(&came) {
        match &one.offer {
            Some(offer) => {
                let version = came[0].offer.as_ref().map(|o| o.sources[0].buffer.shape[1]);
                let shape = &offer.sources[0].buffer.shape;
                assert_eq!((shape[0], Some(shape[1])), (rank + 1, version), "{game:?}");
            }
            None if came[0].bytes.is_empty() => assert!(one.bytes.is_empty(), "{game:?}"),
            None => assert_eq!(*one.bytes, [came[0].bytes[0], rank as u8], "{game:?}"),
        }
    }
}

fn failures(process: &Process) -> impl Iterator<Item = &Failure> {
    process.seen.iter().flat_map(|seen| seen.posts.iter()).filter_map(|post| post.as_ref().err())
}

/// Whether a rank was told that another did this.
fn is_told(process: &Process, rank: u64, kind: FailureKind) -> bool {
    failures(process).any(|failure| failure.rank.team == rank && failure.kind == kind)
}

/// Plays games, and gives each to a check with what every rank was told.
fn games(
    n_games: u64,
    misdeed: impl Fn(&mut Rng) -> Misdeed,
    check: impl Fn(&Game, &Network, &[Process]),
) {
    for seed in 0..n_games {
        let mut rng = Rng::new(seed);
        let n_ranks = 2 + pick(&mut rng, 22);
        let (culprit, call) = (pick(&mut rng, n_ranks), pick(&mut rng, N_CALLS));
        let misdeed = misdeed(&mut rng);
        let is_with_sleeper = matches!(misdeed, Misdeed::Interrupt(_) | Misdeed::DieWaiting(_));
        let sleeper = is_with_sleeper.then_some((culprit + 1 + seed % (n_ranks - 1)) % n_ranks);
        let game = Game { seed, n_ranks, culprit, call, misdeed, sleeper };
        let (network, ranks) = play(&game);
        check(&game, &network, &ranks);
    }
}

fn others<'a>(game: &Game, ranks: &'a [Process]) -> impl Iterator<Item = &'a Process> {
    let culprit = game.culprit;
    (0..).zip(ranks).filter(move |(rank, _)| *rank != culprit).map(|(_, process)| process)
}

/// Rounds of all calls: those that run a plan have two.
const N_ROUNDS: usize = (N_CALLS + N_CALLS / 2) as usize;

#[test]
fn who_comes_late_but_in_time_is_waited_for() {
    let sleep = |rng: &mut Rng| Misdeed::Sleep(Duration::from_micros(pick(rng, 900_000)));
    games(300, sleep, |game, _, ranks| {
        for process in ranks {
            assert_eq!(failures(process).count(), 0, "{game:?}");
            assert_eq!(process.seen.len(), N_ROUNDS, "{game:?}");
        }
    });
}

#[test]
fn who_fails_is_named_once_and_the_team_works_on() {
    let fail = |_: &mut Rng| Misdeed::Fail;
    games(300, fail, |game, _, ranks| {
        for process in others(game, ranks) {
            let failed: Vec<&Failure> = failures(process).collect();
            let [failure] = failed[..] else { panic!("{failed:?} in {game:?}") };
            let told = (failure.rank.team, failure.kind);
            assert_eq!(told, (game.culprit, FailureKind::Raised), "{game:?}");
            let last = process.seen.last().expect("calls");
            let is_last = game.call == N_CALLS - 1;
            assert!(is_last || last.posts.iter().all(Result::is_ok), "{game:?}");
        }
    });
}

#[test]
fn another_call_is_seen_by_all_and_the_team_works_on() {
    let differ = |_: &mut Rng| Misdeed::Differ;
    games(600, differ, |game, _, ranks| {
        for process in ranks {
            assert_eq!(failures(process).count(), 0, "{game:?}");
            assert_eq!(process.seen.len(), N_ROUNDS, "{game:?}");
            for (number, seen) in process.seen.iter().enumerate() {
                let calls: Vec<&Call> =
                    seen.posts.iter().flatten().map(|posted| &posted.call).collect();
                let odd = (0..).zip(&calls).filter(|(_, call)| &*call.argument == "another call");
                let odd: Vec<u64> = odd.map(|(rank, _)| rank).collect();
                let is_now =
                    game.call % 2 == 1 && number == (game.call + game.call.div_ceil(2)) as usize;
                assert_eq!(calls.len() as u64, game.n_ranks, "{game:?}");
                let others = (0..game.n_ranks).filter(|rank| is_now && differs(game, *rank));
                assert_eq!(odd, others.collect::<Vec<_>>(), "{game:?}");
            }
        }
    });
}

#[test]
fn who_leaves_has_taken_part_until_then() {
    let leave = |_: &mut Rng| Misdeed::Leave;
    games(300, leave, |game, _, ranks| {
        let n_before = (game.call + game.call.div_ceil(2)) as usize;
        for process in others(game, ranks) {
            let (before, after) = process.seen.split_at(n_before.min(process.seen.len()));
            assert!(before.iter().all(|s| s.posts.iter().all(Result::is_ok)), "{game:?}");
            assert!(after.iter().all(|s| s.posts.iter().any(Result::is_err)), "{game:?}");
            assert!(!after.is_empty(), "{game:?}");
            assert!(failures(process).all(|failure| failure.rank.team == game.culprit), "{game:?}");
            assert!(is_told(process, game.culprit, FailureKind::Left), "{game:?}");
        }
    });
}

#[test]
fn who_dies_is_named_whatever_it_had_sent() {
    let die = |rng: &mut Rng| Misdeed::DieAfter(pick(rng, 40));
    games(600, die, |game, network, ranks| {
        if !network.is_dead[game.culprit as usize] {
            return;
        }
        for process in others(game, ranks) {
            let mut kinds = failures(process).filter(|f| f.kind == FailureKind::Left);
            assert!(kinds.all(|failure| failure.rank.team == game.culprit), "{game:?}");
        }
        let n_told = others(game, ranks).filter(|process| failures(process).count() > 0).count();
        let n_rounds = others(game, ranks).map(|process| process.seen.len()).min();
        // Whoever dies after its last word is missed by nobody.
        assert!(n_told > 0 || n_rounds == Some(N_ROUNDS), "{game:?}");
    });
}

#[test]
fn who_dies_is_named_even_if_it_has_come_and_another_comes_late() {
    let die = |rng: &mut Rng| Misdeed::DieWaiting(pick(rng, 60));
    games(600, die, |game, network, ranks| {
        if !network.is_dead[game.culprit as usize] {
            return;
        }
        for process in others(game, ranks) {
            assert!(failures(process).all(|f| f.rank.team == game.culprit), "{game:?}");
            assert!(failures(process).all(|f| f.kind == FailureKind::Left), "{game:?}");
        }
    });
}

#[test]
fn only_who_keeps_all_waiting_is_late() {
    let sleep = |_: &mut Rng| Misdeed::Sleep(LIMIT * 5 / 2);
    games(300, sleep, |game, _, ranks| {
        for process in others(game, ranks) {
            let mut late = failures(process).filter(|f| f.kind == FailureKind::Late);
            let first = late.next().expect("somebody was late");
            assert_eq!(first.rank.team, game.culprit, "{game:?}");
        }
    });
}

#[test]
fn who_is_interrupted_tells_the_others() {
    let interrupt = |_: &mut Rng| Misdeed::Interrupt(Duration::from_millis(100));
    let n_interrupted = Cell::new(0);
    games(300, interrupt, |game, _, ranks| {
        // Where messages are held up for long, the sleeper may come before the interrupt.
        if ranks[game.culprit as usize].seen.len() == N_ROUNDS {
            return;
        }
        n_interrupted.set(n_interrupted.get() + 1);
        for process in others(game, ranks) {
            assert!(is_told(process, game.culprit, FailureKind::Raised), "{game:?}");
        }
    });
    assert!(n_interrupted.get() > 270, "{n_interrupted:?}");
}
