//! The plan itself: two layouts, an element type and a direction.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use partita_layout::{DimMap, Form, Layout, Map, Unstructured};

use crate::dtype::Dtype;
use crate::error::{PlanError, Result};
use crate::fingerprint;
use crate::moves::Move;
use crate::reach::{Reach, grid_form};
use crate::stages::{self, Staged};
use crate::totals::{RankTotals, Totals};

/// Ranks whose shares are added up in some ten seconds.
const MOST_COUNTED_RANKS: u64 = 1 << 26;

/// Moves that turn data in a source layout into data in a target layout.
#[derive(Debug, Clone)]
pub struct Plan {
    forward: Arc<Forward>,
    direction: Direction,
}

#[derive(Debug)]
pub(crate) struct Forward {
    pub source: Layout,
    pub target: Layout,
    pub dtype: Dtype,
    totals: OnceLock<Totals>,
    /// Forward, adjoint: engines ask at every run.
    fingerprints: [OnceLock<Arc<str>>; 2],
    staged: OnceLock<Option<Box<Staged>>>,
}

/// Which way a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From what source ranks own to what target ranks hold.
    Forward,
    /// The adjoint: from what target ranks hold back, adding.
    Adjoint,
}

/// What a target element becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The one element that moves there.
    Copy,
    /// The sum of the elements that move there.
    Sum,
}

impl Plan {
    /// The plan from one layout to another.
    ///
    /// # Errors
    /// Layouts of different shapes, a source that lacks elements the target holds.
    ///
    /// # Cost
    /// Constant, but for lists and boxes, whose coverage is checked.
    pub fn new(source: &Layout, target: &Layout, dtype: Dtype) -> Result<Self> {
        if source.shape() != target.shape() {
            let (source, target) = (source.shape().to_vec(), target.shape().to_vec());
            return Err(PlanError::ShapesDiffer { source, target });
        }
        check_lists(source, target)?;
        let forward = Forward {
            source: source.clone(),
            target: target.clone(),
            dtype,
            totals: OnceLock::new(),
            fingerprints: [OnceLock::new(), OnceLock::new()],
            staged: OnceLock::new(),
        };
        let plan = Self { forward: Arc::new(forward), direction: Direction::Forward };
        plan.check_boxes()?;
        Ok(plan)
    }

    /// Boxes may leave gaps, which are harmless only where the target asks for nothing.
    fn check_boxes(&self) -> Result<()> {
        let (source, target) = (&self.forward.source, &self.forward.target);
        if source.covers() {
            return Ok(());
        }
        let reach = Reach::new(source, target);
        let takes = |rank: &u64| {
            let summand = grid_form(target).and_then(|form| form.place(*rank)).map(|at| at.summand);
            !reach.sources_of(summand.unwrap_or(0)).is_empty()
        };
        for rank in target.ranks().iter().filter(takes) {
            let wanted = u128::from(target.n_held(rank)?);
            let found: u128 = self.receives(rank).iter().map(|m| u128::from(m.n_elements())).sum();
            if found < wanted {
                return Err(PlanError::NotCoveredBox { rank, n_missing: wanted - found });
            }
        }
        Ok(())
    }

    pub(crate) fn forward(&self) -> &Forward {
        &self.forward
    }

    /// Layout of the data that the plan reads.
    #[must_use]
    pub fn source(&self) -> &Layout {
        match self.direction {
            Direction::Forward => &self.forward.source,
            Direction::Adjoint => &self.forward.target,
        }
    }

    /// Layout of the data that the plan writes.
    #[must_use]
    pub fn target(&self) -> &Layout {
        match self.direction {
            Direction::Forward => &self.forward.target,
            Direction::Adjoint => &self.forward.source,
        }
    }

    /// Element type.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.forward.dtype
    }

    /// Which way the plan runs.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The same moves reversed; what was copied is summed.
    #[must_use]
    pub fn adjoint(&self) -> Self {
        let direction = match self.direction {
            Direction::Forward => Direction::Adjoint,
            Direction::Adjoint => Direction::Forward,
        };
        Self { forward: Arc::clone(&self.forward), direction }
    }

    /// Whether target elements are copies or sums.
    ///
    /// Target elements that no move reaches become zero in either case.
    #[must_use]
    pub fn combine(&self) -> Combine {
        match self.direction {
            Direction::Adjoint => Combine::Sum,
            Direction::Forward if self.forward.n_summands_added() > 1 => Combine::Sum,
            Direction::Forward => Combine::Copy,
        }
    }

    /// Whether the target needs zeros before the moves.
    #[must_use]
    pub fn needs_zeros(&self) -> bool {
        let reach = Reach::new(&self.forward.source, &self.forward.target);
        self.combine() == Combine::Sum || !reach.is_paired()
    }

    /// Moves that a rank gives, its own to itself among them.
    #[must_use]
    pub fn sends(&self, rank: u64) -> Vec<Move> {
        match self.direction {
            Direction::Forward => self.forward.sends(rank),
            Direction::Adjoint => self.forward.receives(rank).iter().map(Move::reversed).collect(),
        }
    }

    /// Moves that a rank takes, its own from itself among them.
    #[must_use]
    pub fn receives(&self, rank: u64) -> Vec<Move> {
        match self.direction {
            Direction::Forward => self.forward.receives(rank),
            Direction::Adjoint => self.forward.sends(rank).iter().map(Move::reversed).collect(),
        }
    }

    /// Every move a rank takes part in: what it gives, then what it takes from others.
    ///
    /// # Errors
    /// A rank of neither layout.
    pub fn moves(&self, rank: u64) -> Result<Vec<Move>> {
        self.check_rank(rank)?;
        let mut moves = self.sends(rank);
        moves.extend(self.receives(rank).into_iter().filter(|m| m.source_rank != rank));
        Ok(moves)
    }

    /// Checks that a rank takes part.
    ///
    /// # Errors
    /// A rank of neither layout.
    pub fn check_rank(&self, rank: u64) -> Result<()> {
        let is_known = |layout: &Layout| layout.ranks().place_of(rank).is_some();
        if is_known(self.source()) || is_known(self.target()) {
            return Ok(());
        }
        Err(PlanError::RankUnknown { rank })
    }

    /// Messages and bytes of one rank.
    ///
    /// # Errors
    /// A rank of neither layout.
    pub fn rank_totals(&self, rank: u64) -> Result<RankTotals> {
        self.check_rank(rank)?;
        Ok(RankTotals::new(self, rank))
    }

    /// Checks that totals over all ranks are to be had in seconds.
    ///
    /// # Errors
    /// Layouts of more ranks than that.
    pub fn check_countable(&self) -> Result<()> {
        let n_ranks = self.source().n_ranks().max(self.target().n_ranks());
        if n_ranks <= MOST_COUNTED_RANKS {
            return Ok(());
        }
        Err(PlanError::TooManyRanks { n_ranks, most: MOST_COUNTED_RANKS })
    }

    /// Messages and bytes over all ranks, computed once.
    ///
    /// # Cost
    /// Proportional to the number of ranks; [`Plan::check_countable`] tells when that is too many.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let totals = self.forward.totals.get_or_init(|| Totals::new(&self.forward));
        match self.direction {
            Direction::Forward => totals.clone(),
            Direction::Adjoint => totals.reversed(),
        }
    }

    /// Sixteen digits that name the plan; every rank computes the same.
    #[must_use]
    pub fn fingerprint(&self) -> Arc<str> {
        let known = &self.forward.fingerprints[usize::from(self.direction == Direction::Adjoint)];
        Arc::clone(known.get_or_init(|| fingerprint::of(self).into()))
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.forward, &other.forward);
        self.direction == other.direction
            && (Arc::ptr_eq(a, b)
                || (a.dtype == b.dtype && a.source == b.source && a.target == b.target))
    }
}

impl Eq for Plan {}

impl Hash for Plan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.direction.hash(state);
        self.forward.dtype.hash(state);
        self.forward.source.hash(state);
        self.forward.target.hash(state);
    }
}

/// Lists name indices freely, so a dimension's source and target may not speak of the same ones.
fn check_lists(source: &Layout, target: &Layout) -> Result<()> {
    let (Form::Grid(from), Form::Grid(to)) = (source.form(), target.form()) else {
        return check_box_and_lists(source, target);
    };
    for (dim, (from, to)) in from.dims().iter().zip(to.dims()).enumerate() {
        check_dim(dim, from, to)?;
    }
    Ok(())
}

/// A box holds indices from 0 on, so lists must name those.
fn check_box_and_lists(source: &Layout, target: &Layout) -> Result<()> {
    for layout in [source, target] {
        if let Form::Grid(form) = layout.form() {
            for (dim, map) in form.dims().iter().enumerate() {
                let whole = DimMap::new(&Map::Whole, dim, map.extent(), 1)?;
                check_dim(dim, map, &whole)?;
            }
        }
    }
    Ok(())
}

fn check_dim(dim: usize, from: &DimMap, to: &DimMap) -> Result<()> {
    match (from.map(), to.map()) {
        (Map::Unstructured(from), Map::Unstructured(to)) if from != to => {
            let indices = (0..to.n_coordinates()).flat_map(|k| to.list(k));
            match indices.copied().find(|index| from.owner(*index).is_none()) {
                Some(index) => Err(PlanError::NotCovered { dim, index }),
                None => Ok(()),
            }
        }
        (Map::Unstructured(_), Map::Unstructured(_)) => Ok(()),
        // As many distinct indices as the extent: they are 0..extent if they are inside it.
        (Map::Unstructured(lists), _) => match outside(lists, from.extent()) {
            None => Ok(()),
            Some(_) => Err(PlanError::NotCovered { dim, index: first_missing(lists) }),
        },
        (_, Map::Unstructured(lists)) => match outside(lists, from.extent()) {
            None => Ok(()),
            Some(index) => Err(PlanError::NotCovered { dim, index }),
        },
        _ => Ok(()),
    }
}

/// An index that lies outside the extent, if there is any.
fn outside(lists: &Unstructured, extent: u64) -> Option<i64> {
    let (first, last) = lists.range()?;
    let is_outside = |index: &i64| !(0..i128::from(extent)).contains(&i128::from(*index));
    [first, last].into_iter().find(is_outside)
}

/// The smallest index from 0 on that is in no list.
fn first_missing(lists: &Unstructured) -> i64 {
    (0..).find(|index| lists.owner(*index).is_none()).unwrap_or(0)
}

impl Forward {
    /// How many summands are added into one target element.
    pub(crate) fn n_summands_added(&self) -> u64 {
        let reach = Reach::new(&self.source, &self.target);
        if reach.is_paired() { 1 } else { reach.n_summands }
    }

    /// The two plans that it is run as, found once.
    pub(crate) fn staged(&self) -> Option<&Staged> {
        self.staged.get_or_init(|| stages::of(self)).as_deref()
    }
}
