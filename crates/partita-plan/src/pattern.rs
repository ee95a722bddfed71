//! Patterns: plans that engines have a collective for.

use partita_layout::{GridForm, Part};

use crate::plan::{Direction, Plan};
use crate::reach::{Reach, grid_form};

/// The kind of movement a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Nothing crosses ranks.
    Local,
    /// From what ranks own to what they hold of the same layout.
    HaloExchange,
    /// The same elements to all ranks of a line.
    Broadcast,
    /// Summands to one rank of a line.
    SumReduce,
    /// Summands to all ranks of a line.
    AllSumReduce,
    /// Parts to all ranks of a line.
    AllGather,
    /// Summands to the ranks of a line, a part each.
    ReduceScatter,
    /// Anything else.
    Redistribution,
}

impl Pattern {
    /// A name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local copy",
            Self::HaloExchange => "halo exchange",
            Self::Broadcast => "broadcast",
            Self::SumReduce => "sum-reduce",
            Self::AllSumReduce => "all-sum-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::Redistribution => "redistribution",
        }
    }

    /// The pattern of the adjoint.
    #[must_use]
    pub const fn adjoint(self) -> Self {
        match self {
            Self::Broadcast => Self::SumReduce,
            Self::SumReduce => Self::Broadcast,
            Self::AllGather => Self::ReduceScatter,
            Self::ReduceScatter => Self::AllGather,
            other => other,
        }
    }
}

impl Plan {
    /// The kind of movement.
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        let forward = Self::forward_pattern(self);
        match self.direction() {
            Direction::Forward => forward,
            Direction::Adjoint => forward.adjoint(),
        }
    }

    fn forward_pattern(&self) -> Pattern {
        let plan = self.forward();
        if plan.source == plan.target {
            return if plan.source.holds_more() { Pattern::HaloExchange } else { Pattern::Local };
        }
        let (Some(source), Some(target)) = (grid_form(&plan.source), grid_form(&plan.target))
        else {
            return Pattern::Redistribution;
        };
        let reach = Reach::new(&plan.source, &plan.target);
        let adds = reach.n_summands > 1 && reach.n_target_summands == 1;
        let grows = reach.n_target_replicas > reach.n_replicas;
        match same_parts(source, target) {
            Parts::Same if adds && grows => Pattern::AllSumReduce,
            Parts::Same if adds => Pattern::SumReduce,
            Parts::Same if grows && reach.n_summands == 1 => Pattern::Broadcast,
            Parts::TargetWhole if grows && reach.n_summands == 1 => Pattern::AllGather,
            Parts::SourceWhole if adds && !grows => Pattern::ReduceScatter,
            _ => Pattern::Redistribution,
        }
    }
}

/// How the parts of two grids compare, dimension by dimension.
enum Parts {
    Same,
    TargetWhole,
    SourceWhole,
    Other,
}

fn same_parts(source: &GridForm, target: &GridForm) -> Parts {
    let (mut n_gathered, mut n_scattered) = (0, 0);
    for (from, to) in source.dims().iter().zip(target.dims()) {
        let is_same = from.map() == to.map() && from.n_coordinates() == to.n_coordinates();
        match (from.n_coordinates(), to.n_coordinates()) {
            _ if is_same && !to.holds_more() => {}
            (1, 1) if from.count(0, Part::Owned) == to.count(0, Part::Held) => {}
            (_, 1) if to.count(0, Part::Held) == to.extent() => n_gathered += 1,
            (1, _) if !to.holds_more() => n_scattered += 1,
            _ => return Parts::Other,
        }
    }
    match (n_gathered, n_scattered) {
        (0, 0) => Parts::Same,
        (_, 0) => Parts::TargetWhole,
        (0, _) => Parts::SourceWhole,
        _ => Parts::Other,
    }
}

#[cfg(test)]
mod tests {
    use partita_layout::Layout;

    use super::Pattern;
    use crate::{Dtype, Plan};

    fn patterns(source: &str, target: &str) -> (Pattern, Pattern) {
        let layout = |notation| Layout::parse(&[8, 8], notation).expect(notation);
        let plan = Plan::new(&layout(source), &layout(target), Dtype::F64).expect("a plan");
        (plan.pattern(), plan.adjoint().pattern())
    }

    #[test]
    fn movements_are_known_by_their_names() {
        use Pattern::*;
        let cases = [
            ("block, * @ 2x1", "block, * @ 2x1", Local, Local),
            ("block+halo(1,1), * @ 2x1", "block+halo(1,1), * @ 2x1", HaloExchange, HaloExchange),
            ("*, * @ 1x1", "*, * @ 4x1", Broadcast, SumReduce),
            ("block, * @ 2x1", "block, * @ 2x2", Broadcast, SumReduce),
            ("*, * @ 4x1 partial 0", "*, * @ 1x1", SumReduce, Broadcast),
            ("*, * @ 4x1 partial 0", "*, * @ 4x1", AllSumReduce, AllSumReduce),
            ("block, * @ 4x1", "*, * @ 4x1", AllGather, ReduceScatter),
            ("*, * @ 4x1 partial 0", "block, * @ 4x1", ReduceScatter, AllGather),
            ("block, * @ 4x1", "*, block @ 1x4", Redistribution, Redistribution),
            ("block, * @ 4x1", "block+halo(1,1), * @ 4x1", Redistribution, Redistribution),
        ];
        for (source, target, forward, adjoint) in cases {
            assert_eq!(patterns(source, target), (forward, adjoint), "{source} to {target}");
        }
    }
}
