//! What ranks do with plans that they run again and again, on every engine.
//!
//! Two runs of a plan are meetings of all; from the third on only partners come.

use std::time::{Duration, Instant};

use partita_layout::Layout;
use partita_plan::{Dtype, Plan};
use partita_team::{Buffer, Memory, Result, Team, TeamError};

/// Runs after which all have agreed on a plan.
const N_MEETINGS: usize = 2;
/// How soon a failure reaches everybody.
const SOON: Duration = Duration::from_secs(1);

/// A plan whose ranks have two partners in a ring, or one at an end.
fn halo(n_ranks: u64, width: u64) -> Plan {
    let notation = format!("block+halo({width},{width}) @ {n_ranks}");
    let layout = Layout::parse(&[8 * n_ranks], &notation).expect("a layout");
    Plan::new(&layout, &layout, Dtype::I64).expect("a plan")
}

/// One rank's share of an array with halos, in memory that other processes can map.
struct Share {
    rank: u64,
    width: u64,
    memory: Memory,
    length: u64,
}

impl Share {
    fn new(team: &Team, width: u64) -> Self {
        let (rank, n_ranks) = (team.rank().expect("a member"), team.size());
        let n_ends = [rank > 0, rank + 1 < n_ranks].into_iter().filter(|has| *has).count() as u64;
        let length = 8 + width * n_ends;
        Self { rank, width, memory: Memory::new(4096), length }
    }

    fn buffers(&self) -> Vec<Buffer> {
        vec![Buffer::dense(self.memory.address(), &[self.length], 8)]
    }

    fn read(&self) -> Vec<i64> {
        let at = self.memory.address() as *const i64;
        // SAFETY: a page of this rank's own; nobody touches it between calls.
        unsafe { std::slice::from_raw_parts(at, self.length as usize) }.to_vec()
    }

    /// The global index of the first element.
    fn first(&self) -> u64 {
        8 * self.rank - if self.rank > 0 { self.width } else { 0 }
    }

    /// Writes what is owned, as of a step, and nonsense elsewhere.
    fn write(&self, step: i64) {
        let own = 8 * self.rank..8 * (self.rank + 1);
        let value = |index| if own.contains(&index) { 1000 * step + index as i64 } else { -1 };
        let values: Vec<i64> = (self.first()..).take(self.length as usize).map(value).collect();
        let at = self.memory.address() as *mut i64;
        // SAFETY: a page of this rank's own; nobody touches it between calls.
        unsafe { at.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }

    fn check(&self, step: i64) {
        for (index, value) in (self.first()..).zip(self.read()) {
            assert_eq!(value, 1000 * step + index as i64, "index {index} of step {step}");
        }
    }

    fn exchange(&self, team: &Team, plan: &Plan) -> Result<()> {
        // SAFETY: the memory is this rank's own and outlives the call.
        unsafe { team.run_in_place(plan, &self.buffers()) }
    }
}

/// Halos of two widths in turn, from two sets of buffers, with slow ranks and meetings in between.
pub fn steps(team: &Team) {
    let rank = team.rank().expect("a member");
    let plans = [halo(team.size(), 1), halo(team.size(), 2)];
    let shares = [1, 2].map(|width| [Share::new(team, width), Share::new(team, width)]);
    for step in 0..400_i64 {
        let which = usize::from(step % 3 == 0);
        let share = &shares[which][(step / 3 % 2) as usize];
        share.write(step);
        if step % 50 == 7 * rank as i64 % 50 {
            std::thread::sleep(Duration::from_millis(3));
        }
        share.exchange(team, &plans[which]).expect("an exchange");
        share.check(step);
        if step % 97 == 96 {
            team.barrier().expect("all meet");
        }
    }
}

/// Runs a plan until all have agreed on it.
fn agree(team: &Team, plan: &Plan, share: &Share) {
    for step in 0..=N_MEETINGS as i64 {
        share.write(step);
        share.exchange(team, plan).expect("an exchange");
        share.check(step);
    }
}

/// The error of whoever tries again and again: a rank far from the fault may get one call further.
fn until_told(mut call: impl FnMut() -> Result<()>) -> TeamError {
    let start = Instant::now();
    loop {
        if let Err(error) = call() {
            return error;
        }
        assert!(start.elapsed() < 2 * SOON, "nobody was told");
    }
}

/// Whatever one rank does instead of a near call, all are told, and the team works on.
pub fn faults(team: &Team) {
    let rank = team.rank().expect("a member");
    let plans = [halo(team.size(), 1), halo(team.size(), 2)];
    let shares = [1, 2].map(|width| Share::new(team, width));
    let try_first = || shares[0].exchange(team, &plans[0]);
    let agree_on_both = || {
        for (plan, share) in plans.iter().zip(&shares) {
            agree(team, plan, share);
        }
        team.barrier().expect("all meet");
    };

    agree_on_both();
    let error = match rank {
        1 => until_told(|| shares[1].exchange(team, &plans[1])),
        _ => until_told(try_first),
    };
    assert_eq!(error.reason(), "plans-differ", "{error}");

    agree_on_both();
    let error = if rank == 1 { until_told(|| team.barrier()) } else { until_told(try_first) };
    assert_eq!(error.reason(), "calls-differ", "{error}");

    agree_on_both();
    let start = Instant::now();
    if rank == 1 {
        team.report("my disk is full").expect("it goes out");
    } else {
        let error = until_told(try_first);
        assert_eq!(error.to_string(), "rank 1 failed: my disk is full");
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    }

    agree_on_both();
    let hasty = team.clone().with_deadline(Some(Duration::from_millis(300)));
    if rank == 1 {
        std::thread::sleep(Duration::from_millis(1500));
        let error = until_told(|| shares[0].exchange(&hasty, &plans[0]));
        assert_eq!(error.reason(), "rank-late", "{error}");
    } else {
        match until_told(|| shares[0].exchange(&hasty, &plans[0])) {
            TeamError::Deadline { missing, .. } => {
                assert_eq!(missing.iter().map(|rank| rank.team).collect::<Vec<_>>(), [1]);
            }
            TeamError::Remote(failure) => assert_eq!(failure.rank.team, 1, "{failure}"),
            other => panic!("{other}"),
        }
    }
    agree_on_both();
}

/// A rank has left after `steps`: all others are told in a near call, however far they are.
pub fn is_told_of_one_that_left(team: &Team) {
    let (plan, share) = (halo(team.size(), 1), Share::new(team, 1));
    let start = Instant::now();
    let error = until_told(|| share.exchange(team, &plan));
    assert_eq!(error.reason(), "rank-left", "{error}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

/// A rank waits for a partner that makes another near call, in which it has other partners.
pub fn passed_by(team: &Team) {
    let rank = team.rank().expect("a member");
    let rows = Layout::parse(&[24], "block @ 3").expect("a layout");
    let plans = [[1, 0, 2], [2, 1, 0]].map(|order| {
        let there = Layout::parse(&[24], &format!("block @ 3 on {}", listed(&order)));
        Plan::new(&rows, &there.expect("a layout"), Dtype::I64).expect("a plan")
    });
    let memory = [Memory::new(4096), Memory::new(4096)];
    let run = |plan: &Plan| {
        let buffers = memory
            .each_ref()
            .map(|memory| vec![Buffer::dense(memory.address(), &[8], 8); usize::from(rank < 3)]);
        // SAFETY: the memory is this rank's own and outlives the call.
        unsafe { team.run(plan, &buffers[0], &buffers[1]) }
    };
    for plan in plans.iter().chain(&plans).chain(&plans) {
        run(plan).expect("a run");
    }
    let start = Instant::now();
    let error = if rank == 1 {
        run(&plans[0]).expect_err("rank 0 makes another call")
    } else {
        until_told(|| run(&plans[1]).and_then(|()| team.barrier()))
    };
    assert!(matches!(error.reason(), "plans-differ" | "calls-differ"), "{error}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    team.barrier().expect("the team works on");
}

/// Ranks that are no partners of each other run different plans: they meet later, and find out.
pub fn far_mismatch(team: &Team) {
    let rank = team.rank().expect("a member");
    let pairs = Layout::parse(&[32], "block @ 4").expect("a layout");
    let swapped = |order: &[u64]| {
        let there = Layout::parse(&[32], &format!("block @ 4 on {}", listed(order)));
        Plan::new(&pairs, &there.expect("a layout"), Dtype::I64).expect("a plan")
    };
    // Both swap ranks 0 and 1, and ranks 2 and 3; they differ in nothing else but their type.
    let plans = [swapped(&[1, 0, 3, 2]), {
        let there = Layout::parse(&[32], &format!("block @ 4 on {}", listed(&[1, 0, 3, 2])));
        Plan::new(&pairs, &there.expect("a layout"), Dtype::F64).expect("a plan")
    }];
    let memory = [Memory::new(4096), Memory::new(4096)];
    let run = |plan: &Plan| {
        let [from, into] = [&memory[0], &memory[1]].map(|memory| {
            let is_member = usize::from(rank < 4);
            vec![Buffer::dense(memory.address(), &[8], 8); is_member]
        });
        // SAFETY: the memory is this rank's own and outlives the call.
        unsafe { team.run(plan, &from, &into) }
    };
    for plan in plans.iter().chain(&plans).chain(&plans) {
        run(plan).expect("a run");
    }
    let which = usize::from(rank >= 2);
    run(&plans[which]).expect("all partners make the same call");
    let error = team.barrier().expect_err("the others made another call");
    assert_eq!(error.reason(), "calls-differ", "{error}");
    assert!(error.to_string().contains("runs among partners"), "{error}");
    team.barrier().expect("the team works on");
}

fn listed(ranks: &[u64]) -> String {
    ranks.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
