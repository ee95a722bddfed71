//! What has happened to a base so far, and what a further read or write must wait for.
//!
//! A base has a *version*: a slot of memory. Writing in place keeps the version. Where a node
//! would overwrite elements that its own group still reads at other points, the base gets a new
//! version: the node writes there, and the rest is copied behind the group. So `u[1:-1] = f(u)`
//! is one pass over memory, as with two arrays that change places.

use super::super::node::{BaseFacts, Node};
use super::super::window::Window;

/// Smaller bases are not worth a new version: a copy of the result is as cheap.
const VERSION_FROM_BYTES: usize = 1 << 15;

/// A node that touches a base, the group it has joined, and the window.
#[derive(Debug, Clone)]
pub(super) struct Touch {
    pub node: usize,
    pub group: usize,
    pub window: Window,
}

/// The current version of a base.
#[derive(Debug, Default)]
pub(super) struct Version {
    pub slot: usize,
    pub writes: Vec<Touch>,
    /// Reads from memory; those that took a value from a node of their group are none.
    pub reads: Vec<Touch>,
    /// The group behind which the version is complete.
    pub made_in: Option<usize>,
}

/// Where a read finds its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The first group that may read them.
    pub from: usize,
    /// The one node that has written all of them, and its group: there it is a value.
    pub made_by: Option<(usize, usize)>,
}

impl Version {
    /// Where the elements of a window come from.
    pub fn find(&self, window: &Window, base: &BaseFacts, nodes: &[Node]) -> Found {
        let meets = |touch: &Touch| touch.window.meets(window, &base.shape);
        let last = self.writes.iter().rfind(|touch| meets(touch));
        let made_by = last
            .filter(|last| last.window == *window && nodes[last.node].is_pointwise())
            .map(|last| (last.node, last.group));
        let from = |touch: &Touch| match made_by {
            // Earlier writes of the same elements stand before this one.
            Some((_, group)) if meets(touch) => group,
            _ if meets(touch) || is_doubtful(touch, window) => touch.group + 1,
            _ => 0,
        };
        let written = self.writes.iter().map(from).max().unwrap_or(0);
        let made = self.made_in.filter(|_| made_by.is_none()).map_or(0, |group| group + 1);
        Found { from: written.max(made), made_by }
    }

    /// The first group in which a window may be written in place.
    pub fn in_place_from(&self, node: &Node, base: &BaseFacts, nodes: &[Node]) -> usize {
        let window = &node.written();
        let after = |touch: &Touch, is_pointwise: bool| {
            if touch.window == *window && is_pointwise && node.is_pointwise() {
                return touch.group;
            }
            let is_free = !touch.window.meets(window, &base.shape) && !is_doubtful(touch, window);
            if is_free { 0 } else { touch.group + 1 }
        };
        let writes = self.writes.iter().map(|w| after(w, nodes[w.node].is_pointwise()));
        let reads = self.reads.iter().map(|r| after(r, true));
        let made = self.made_in.map(|group| group + 1);
        writes.chain(reads).chain(made).max().unwrap_or(0)
    }

    /// The first group in which a new version may be made: all writes to this one are done.
    pub fn renewed_from(&self) -> usize {
        let writes = self.writes.iter().map(|w| w.group);
        writes.chain(self.made_in.map(|group| group + 1)).max().unwrap_or(0)
    }
}

/// Whether a kernel that does both could not be sure that they have nothing in common.
fn is_doubtful(touch: &Touch, window: &Window) -> bool {
    touch.window.shape == window.shape && !touch.window.plainly_apart(window)
}

/// The boxes of a base outside a window, if the window is a box and leaves little.
pub(super) fn rest_of(window: &Window, base: &BaseFacts) -> Option<Vec<Window>> {
    let n_all: usize = base.shape.iter().product();
    let n_rest = n_all.checked_sub(window.n_elements())?;
    if n_all * base.dtype.size() < VERSION_FROM_BYTES || n_rest > n_all / 4 {
        return None;
    }
    let walks = window.walks(&base.shape)?;
    // Elements that repeat would be written many times.
    let n_walked: usize = walks.iter().map(|walk| walk.count).product();
    if walks.iter().any(|walk| walk.count > 1 && walk.step != 1) || n_walked + n_rest != n_all {
        return None;
    }
    let all = Window::dense(&base.shape);
    let steps = vec![1; base.shape.len()];
    let mut offsets = vec![0; base.shape.len()];
    let mut sizes = base.shape.clone();
    let mut rest = Vec::new();
    for (dim, walk) in walks.iter().enumerate() {
        let stop = walk.start + walk.count;
        for (offset, size) in [(0, walk.start), (stop, base.shape[dim] - stop)] {
            if size > 0 {
                (offsets[dim], sizes[dim]) = (offset, size);
                rest.push(all.slice(&offsets, &sizes, &steps));
            }
        }
        (offsets[dim], sizes[dim]) = (walk.start, walk.count);
    }
    Some(rest)
}
