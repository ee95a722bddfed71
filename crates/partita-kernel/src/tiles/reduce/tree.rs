//! The binary tree over leaves.
//!
//! Leaves are combined as the bits of a counter carry: two subtrees of equal height become one.
//! A [`GROUP`] of leaves is a whole subtree, so that groups can be computed anywhere, in any
//! order, and combined by the same rule.

use super::table::Reducer;

/// Leaves of a group; a power of two.
pub const GROUP: usize = 16;

/// Partial results of all reductions of a program, combined as they come.
pub struct Tree {
    /// Partial results of subtrees, higher ones first, each of `width` bytes.
    stack: Vec<u8>,
    heights: Vec<u32>,
    width: usize,
}

impl Tree {
    /// A tree whose leaves have `width` bytes.
    pub fn new(width: usize) -> Tree {
        Tree { stack: Vec::new(), heights: Vec::new(), width }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.stack.clear();
        self.heights.clear();
    }

    /// Appends the next subtree of a height; `merge` combines two neighbours into the first.
    pub fn push(&mut self, partial: &[u8], height: u32, merge: &mut impl FnMut(&mut [u8], &[u8])) {
        self.stack.extend_from_slice(partial);
        self.heights.push(height);
        while let [.., left, right] = self.heights[..] {
            if left != right {
                break;
            }
            self.join(left + 1, merge);
        }
    }

    /// Combines what is left, the last with the one before, and gives it.
    pub fn finish(&mut self, merge: &mut impl FnMut(&mut [u8], &[u8])) -> Option<&[u8]> {
        while self.heights.len() > 1 {
            self.join(u32::MAX, merge);
        }
        (!self.heights.is_empty()).then_some(&self.stack[..])
    }

    fn join(&mut self, height: u32, merge: &mut impl FnMut(&mut [u8], &[u8])) {
        let at = self.stack.len() - self.width;
        let (left, right) = self.stack.split_at_mut(at);
        let start = left.len() - self.width;
        merge(&mut left[start..], right);
        self.stack.truncate(at);
        self.heights.pop();
        if let Some(last) = self.heights.last_mut() {
            *last = height;
        }
    }
}

/// How the partial results of several reductions lie beside each other.
pub struct Row<'a> {
    /// The reductions.
    pub reducers: &'a [Reducer],
    /// Elements per reduction: columns combined at once.
    pub n: usize,
}

impl Row<'_> {
    /// Bytes of all partial results.
    pub fn width(&self) -> usize {
        self.reducers.iter().map(|r| r.partial * self.n).sum()
    }

    /// Combines all partial results of two neighbours into the first.
    pub fn merge(&self, left: &mut [u8], right: &[u8]) {
        let mut at = 0;
        for reducer in self.reducers {
            for _ in 0..self.n {
                // SAFETY: both hold partial results of this reduction here.
                unsafe { (reducer.merge)(left.as_mut_ptr().add(at), right.as_ptr().add(at)) };
                at += reducer.partial;
            }
        }
    }
}
