//! Nodes: operations that were recorded and not yet run, as plain data.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use partita_kernel::{Dtype, Op, Reduction, Scalar};

use smallvec::SmallVec;

use super::ranks::Spread;
use super::window::{Dims, Window};

/// What a node does for every point of its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// The operand itself.
    Copy,
    /// An operation of the kernels.
    Apply(Op),
    /// The operand in the node's element type.
    Cast,
    /// The position along an axis.
    Index(usize),
    /// The operand combined over axes, given as bits.
    Reduce(Reduction, u16),
    /// Running sum along an axis.
    RunningSum(usize),
    /// Running product along an axis.
    RunningProduct(usize),
}

/// A window of a base, by its number in the pending work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub base: usize,
    pub window: Window,
}

/// What a node reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// Elements.
    Array(Place),
    /// A number, by its place among the numbers of the pending work.
    Number(usize, Dtype),
}

/// What a node reads, in the order of its operation.
pub(super) type Operands = SmallVec<[Operand; 2]>;

/// One operation: what it reads, what it writes. Windows have the shape of the space; where a
/// reduction has combined an axis, the window it writes does not move along it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// A number for all that it is, but for which bases it touches.
    pub mark: u64,
    pub action: Action,
    pub dtype: Dtype,
    pub operands: Operands,
    pub target: Place,
}

impl Hash for Node {
    /// The mark stands for windows, types and action, so that these are hashed once.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mark);
        state.write_usize(self.target.base);
        self.places().for_each(|place| state.write_usize(place.base));
    }
}

impl Node {
    /// A node that nobody recorded: it comes from another.
    pub fn derived(action: Action, dtype: Dtype, operands: Operands, target: Place) -> Self {
        Self { mark: 0, action, dtype, operands, target }
    }

    pub fn space(&self) -> &[usize] {
        &self.target.window.shape
    }

    /// Whether its result is known at the point where it is computed.
    pub fn is_pointwise(&self) -> bool {
        !matches!(
            self.action,
            Action::Reduce(..) | Action::RunningSum(_) | Action::RunningProduct(_)
        )
    }

    /// The window it writes: one element where an axis was combined, even if that had none.
    pub fn written(&self) -> Window {
        let mut window = self.target.window.clone();
        if let Action::Reduce(_, axes) = self.action {
            let reduced = (0..window.shape.len()).filter(|axis| axes >> axis & 1 == 1);
            reduced.for_each(|axis| window.shape[axis] = 1);
        }
        window
    }

    /// The type of one of the work's numbers among its operands.
    pub fn number_dtype(&self, number: usize) -> Option<Dtype> {
        self.operands.iter().find_map(|operand| match operand {
            Operand::Number(at, dtype) if *at == number => Some(*dtype),
            _ => None,
        })
    }

    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Array(place) => Some(place),
            Operand::Number(..) => None,
        })
    }
}

/// What is known of a base when the pending work is compiled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BaseFacts {
    pub dtype: Dtype,
    pub shape: Dims<usize>,
    /// Whether an array looks at it, so that its elements must be there afterwards.
    pub is_alive: bool,
    /// Whether it has memory already.
    pub has_storage: bool,
    /// Whether others look at its memory, so that it cannot get another.
    pub is_shared: bool,
    /// Where its elements are, on several ranks and once that is known.
    pub spread: Option<Rc<Spread>>,
    /// Whether its margins are those of the owners.
    pub is_fresh: bool,
    /// Whether it was made from nothing, or of what was.
    pub is_from_nothing: bool,
}

/// Nodes in the order of the program, with the numbers they take.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub nodes: Vec<Node>,
    pub numbers: Vec<Scalar>,
}
