//! Stages: a plan that is run as two, because that moves less.
//!
//! Where every rank of a line holds summands and wants the whole sum, each would fetch all of them:
//! p ranks receive p - 1 times the array each. If each rank adds up one part of it and all then
//! gather the parts, they receive it twice, whatever p is. Both halves are plans as any other, and
//! add in the same order, so the sums have the same bits.
//!
//! One rank that gives all others the same, or adds up what all have, would send or receive p - 1
//! times the array if they lie on other nodes. In parts, which go to all and from there to all, every
//! rank sends and receives it twice at most. In one node that would only be one more copy.

use std::collections::HashSet;

use partita_layout::{GridForm, GridSpec, Layout, Map, RanksSpec};

use crate::pattern::Pattern;
use crate::plan::{Direction, Forward, Plan};
use crate::reach::{Reach, grid_form};

/// Shorter lines cost the same either way.
const FROM_RANKS: u64 = 3;
/// Smaller arrays are there before a second stage could begin.
const FROM_BYTES: u64 = 256 << 10;
/// Larger teams are planned, not run.
const MOST_RANKS: u64 = 1 << 16;

/// The stages of a plan in its forward direction.
#[derive(Debug)]
pub(crate) struct Staged {
    plans: [Plan; 2],
    /// Ranks between which it pays where they are on so many nodes; everywhere if there are none.
    line: Vec<u64>,
    from_nodes: usize,
}

impl Plan {
    /// The two plans that do what this one does, one after the other, where that moves less.
    ///
    /// `nodes` has the node of each rank, and is empty where all share one.
    #[must_use]
    pub fn stages(&self, nodes: &[u64]) -> Option<[Self; 2]> {
        let staged = self.forward().staged()?;
        let node = |rank: &u64| nodes.get(*rank as usize);
        let n_nodes = staged.line.iter().filter_map(node).collect::<HashSet<_>>().len();
        if n_nodes < staged.from_nodes {
            return None;
        }
        self.stages_of_nodes().map(|(_, stages)| stages)
    }

    /// The same, and between how many nodes it pays; 0 if it always does.
    pub(crate) fn stages_of_nodes(&self) -> Option<(usize, [Self; 2])> {
        let staged = self.forward().staged()?;
        let [first, second] = &staged.plans;
        let stages = match self.direction() {
            Direction::Forward => [first.clone(), second.clone()],
            Direction::Adjoint => [second.adjoint(), first.adjoint()],
        };
        Some((staged.from_nodes, stages))
    }
}

impl Staged {
    /// The stages, if it is run so wherever its ranks are.
    pub(crate) fn everywhere(&self) -> Option<&[Plan; 2]> {
        (self.from_nodes == 0).then_some(&self.plans)
    }
}

/// The stages of a plan in its forward direction.
pub(crate) fn of(plan: &Forward) -> Option<Box<Staged>> {
    let (source, target) = (&plan.source, &plan.target);
    let reach = Reach::new(source, target);
    let n_most = reach.n_summands.max(reach.n_target_replicas);
    if n_most < FROM_RANKS || source.n_ranks().max(target.n_ranks()) > MOST_RANKS {
        return None;
    }
    // Ranks of a line of this layout hold the same; from so many nodes on, two stages are better.
    let (held, from_nodes) = match Plan::new(source, target, plan.dtype).ok()?.pattern() {
        Pattern::AllSumReduce => (source, 0),
        Pattern::SumReduce => (source, 2),
        Pattern::Broadcast if reach.n_replicas == 1 => (target, 3),
        _ => return None,
    };
    let form = grid_form(held)?;
    let n_held = held.n_held(form.ranks().iter().next()?).ok()?;
    if n_held * plan.dtype.n_bytes() < FROM_BYTES {
        return None;
    }
    let mut dims: Vec<usize> = (0..held.ndim()).collect();
    dims.sort_by_key(|dim| std::cmp::Reverse(held.shape()[*dim]));
    let plans = dims.into_iter().find_map(|dim| {
        let parts = in_parts(held, form, dim)?;
        let first = Plan::new(source, &parts, plan.dtype).ok()?;
        let second = Plan::new(&parts, target, plan.dtype).ok()?;
        let is_scattered = first.pattern() == Pattern::ReduceScatter;
        let is_gathered = second.pattern() == Pattern::AllGather;
        let fits = match from_nodes {
            0 => is_scattered && is_gathered,
            _ => is_scattered || is_gathered,
        };
        fits.then_some([first, second])
    })?;
    let line = if from_nodes == 0 { Vec::new() } else { first_line(held, form) };
    Some(Box::new(Staged { plans, line, from_nodes }))
}

/// The ranks that hold what the first one holds.
fn first_line(held: &Layout, form: &GridForm) -> Vec<u64> {
    let place = |rank: &u64| form.place(*rank).map(|place| place.coordinates);
    let mut ranks = held.ranks().iter();
    let Some(first) = ranks.next() else { return Vec::new() };
    let at = place(&first);
    std::iter::once(first).chain(ranks.filter(|rank| place(rank) == at)).collect()
}

/// The layout in which ranks of a line, which all held the same, hold a part each along a dimension.
fn in_parts(held: &Layout, form: &GridForm, dim: usize) -> Option<Layout> {
    let mut maps: Vec<Map> = form.dims().iter().map(|dim| dim.map().clone()).collect();
    let n_alike = form.grid().n_summands().max(form.grid().n_replicas());
    if maps[dim] != Map::Whole || held.shape()[dim] < n_alike {
        return None;
    }
    maps[dim] = Map::block();
    let grid = Some(form.grid().shape().to_vec());
    let ranks = Some(RanksSpec::List(form.ranks().iter().collect()));
    Layout::new(held.shape(), &GridSpec { maps, grid, ranks, partial: Vec::new() }).ok()
}

#[cfg(test)]
mod tests {
    use partita_layout::Layout;

    use crate::{Dtype, Plan};

    fn plan(shape: &[u64], source: &str, target: &str) -> Plan {
        let layout = |notation| Layout::parse(shape, notation).expect(notation);
        Plan::new(&layout(source), &layout(target), Dtype::F64).expect("a plan")
    }

    fn source_ranks(plan: &Plan) -> impl Iterator<Item = u64> {
        plan.source().ranks().iter()
    }

    fn bytes_given(plan: &Plan, rank: u64) -> u128 {
        let crossing = plan.sends(rank).into_iter().filter(|one| one.crosses());
        crossing.map(|one| u128::from(one.n_elements() * plan.dtype().n_bytes())).sum()
    }

    #[test]
    fn sums_for_all_go_through_parts() {
        let cases: [(&[u64], &str, &str, &str); 5] = [
            (&[1 << 16], "* @ 4 partial 0", "* @ 4", "block @ 4"),
            (&[4, 1 << 16], "*, * @ 3 partial 0", "*, * @ 3", "*, block @ 3"),
            (&[512, 512], "*, * @ 4x1 partial 0", "*, * @ 4x1", "block, * @ 4x1"),
            (&[512, 512], "*, block @ 3x2 partial 0", "*, block @ 3x2", "block, block @ 3x2"),
            (&[1 << 16], "* @ 3 on 5,1,2 partial 0", "* @ 3 on 5,1,2", "block @ 3 on 5,1,2"),
        ];
        for (shape, source, target, between) in cases {
            let plan = plan(shape, source, target);
            let [first, second] = plan.stages(&[]).expect(source);
            assert_eq!(first.source(), plan.source());
            assert_eq!(first.target().notation(), between);
            assert_eq!(second.target(), plan.target());
            let at_once: u128 = source_ranks(&plan).map(|rank| bytes_given(&plan, rank)).sum();
            let totals = plan.totals();
            let moved = first.totals().bytes_moved + second.totals().bytes_moved;
            assert_eq!(totals.bytes_moved, moved);
            assert!(totals.bytes_lower_bound <= moved && moved < at_once, "{source}: {moved}");
            let sent = source_ranks(&plan).map(|rank| plan.rank_totals(rank).expect("a rank"));
            let (sends, bytes) =
                sent.fold((0, 0), |sum, one| (sum.0 + one.n_sends, sum.1 + one.send_bytes));
            assert_eq!((u128::from(sends), bytes), (totals.n_messages, moved));
            assert_eq!(plan.adjoint().totals().bytes_moved, moved);
            let [back, forth] = plan.adjoint().stages(&[]).expect(source);
            assert_eq!((back.source(), back.target()), (plan.target(), first.target()));
            assert_eq!((forth.source(), forth.target()), (first.target(), plan.source()));
        }
    }

    #[test]
    fn everything_else_is_run_at_once() {
        let large = [1 << 16];
        let cases: [(&[u64], &str, &str); 6] = [
            (&large, "* @ 2 partial 0", "* @ 2"),
            (&large, "* @ 4 partial 0", "* @ 1"),
            (&large, "block @ 4", "* @ 4"),
            (&[1 << 10], "* @ 4 partial 0", "* @ 4"),
            (&[2, 1 << 16], "*, block @ 3x2 partial 0", "*, block @ 3x2"),
            (&large, "* @ 2x3 partial 0,1", "* @ 2x3"),
        ];
        for (shape, source, target) in cases {
            let plan = plan(shape, source, target);
            assert!(plan.stages(&[]).is_none(), "{source} to {target}");
        }
    }

    #[test]
    fn between_nodes_one_rank_gives_to_all_and_takes_of_all_in_parts() {
        let cases: [(&[u64], &str, &str, &str); 4] = [
            (&[1 << 16], "* @ 1", "* @ 4", "block @ 4"),
            (&[512, 512], "*, * @ 1x1 on 2", "*, * @ 4x1", "block, * @ 4x1"),
            (&[512, 512], "block, * @ 2x1", "block, * @ 2x3", "block, block @ 2x3"),
            (&[1 << 16], "* @ 4 partial 0", "* @ 1", "block @ 4"),
        ];
        for (shape, source, target, between) in cases {
            let plan = plan(shape, source, target);
            assert!(plan.stages(&[]).is_none() && plan.stages(&[0; 6]).is_none(), "{source}");
            let apart = [0, 1, 2, 3, 4, 5];
            let [first, second] = plan.stages(&apart).expect(source);
            assert_eq!(first.target().notation(), between);
            assert_eq!((first.source(), second.target()), (plan.source(), plan.target()));
            let most = |plan: &Plan| {
                let totals = plan.totals();
                totals.max_send_bytes.max(totals.max_recv_bytes)
            };
            assert!(most(&first) + most(&second) < most(&plan), "{source}");
            let [back, forth] = plan.adjoint().stages(&apart).expect(source);
            assert_eq!((back.source(), forth.target()), (plan.target(), plan.source()));
        }
        let pairs = [0, 0, 1, 1];
        assert!(plan(&[1 << 16], "* @ 4 partial 0", "* @ 1").stages(&pairs).is_some());
        assert!(plan(&[1 << 16], "* @ 1", "* @ 4").stages(&pairs).is_none());
        assert!(plan(&[1 << 16], "* @ 2 partial 0", "* @ 1").stages(&[0, 1]).is_none());
    }
}
