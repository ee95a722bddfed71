//! Stages: a plan that is run as two, because that moves less.
//!
//! Where every rank of a line holds summands and wants the whole sum, each would fetch all of them:
//! p ranks receive p - 1 times the array each. If each rank adds up one part of it and all then
//! gather the parts, they receive it twice, whatever p is. Both halves are plans as any other, and
//! add in the same order, so the sums have the same bits.

use partita_layout::{GridForm, GridSpec, Layout, Map, RanksSpec};

use crate::pattern::Pattern;
use crate::plan::{Direction, Forward, Plan};
use crate::reach::grid_form;

/// Shorter lines cost the same either way.
const FROM_SUMMANDS: u64 = 3;
/// Smaller arrays are there before a second stage could begin.
const FROM_BYTES: u64 = 256 << 10;
/// Larger teams are planned, not run.
const MOST_RANKS: u64 = 1 << 16;

impl Plan {
    /// The two plans that do what this one does, one after the other, where that moves less.
    #[must_use]
    pub fn stages(&self) -> Option<[Self; 2]> {
        let [first, second] = self.forward().stages()?;
        Some(match self.direction() {
            Direction::Forward => [first.clone(), second.clone()],
            Direction::Adjoint => [second.adjoint(), first.adjoint()],
        })
    }
}

/// The stages of a plan in its forward direction.
pub(crate) fn of(plan: &Forward) -> Option<Box<[Plan; 2]>> {
    let (source, target) = (&plan.source, &plan.target);
    let form = grid_form(source)?;
    if form.grid().n_summands() < FROM_SUMMANDS || source.n_ranks() > MOST_RANKS {
        return None;
    }
    let whole = Plan::new(source, target, plan.dtype).ok()?;
    let n_held = source.n_held(form.ranks().iter().next()?).ok()?;
    if whole.pattern() != Pattern::AllSumReduce || n_held * plan.dtype.n_bytes() < FROM_BYTES {
        return None;
    }
    let mut dims: Vec<usize> = (0..source.ndim()).collect();
    dims.sort_by_key(|dim| std::cmp::Reverse(source.shape()[*dim]));
    dims.into_iter().find_map(|dim| {
        let parts = in_parts(source, form, dim)?;
        let first = Plan::new(source, &parts, plan.dtype).ok()?;
        let second = Plan::new(&parts, target, plan.dtype).ok()?;
        let patterns = (first.pattern(), second.pattern());
        let fits = patterns == (Pattern::ReduceScatter, Pattern::AllGather);
        fits.then(|| Box::new([first, second]))
    })
}

/// The layout in which ranks that held summands hold a part each, along a dimension.
fn in_parts(source: &Layout, form: &GridForm, dim: usize) -> Option<Layout> {
    let mut maps: Vec<Map> = form.dims().iter().map(|dim| dim.map().clone()).collect();
    if maps[dim] != Map::Whole || source.shape()[dim] < form.grid().n_summands() {
        return None;
    }
    maps[dim] = Map::block();
    let grid = Some(form.grid().shape().to_vec());
    let ranks = Some(RanksSpec::List(form.ranks().iter().collect()));
    Layout::new(source.shape(), &GridSpec { maps, grid, ranks, partial: Vec::new() }).ok()
}

#[cfg(test)]
mod tests {
    use partita_layout::Layout;

    use crate::{Dtype, Plan};

    fn plan(shape: &[u64], source: &str, target: &str) -> Plan {
        let layout = |notation| Layout::parse(shape, notation).expect(notation);
        Plan::new(&layout(source), &layout(target), Dtype::F64).expect("a plan")
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
            let [first, second] = plan.stages().expect(source);
            assert_eq!(first.source(), plan.source());
            assert_eq!(first.target().notation(), between);
            assert_eq!(second.target(), plan.target());
            let moved = first.totals().bytes_moved + second.totals().bytes_moved;
            assert!(moved < plan.totals().bytes_moved, "{source}: {moved}");
            let [back, forth] = plan.adjoint().stages().expect(source);
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
            assert!(plan(shape, source, target).stages().is_none(), "{source} to {target}");
        }
    }
}
