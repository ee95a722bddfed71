//! Which of many buckets a key belongs to.
//!
//! The splitters are a complete tree in the order of its levels, the root at 1: from node i a key
//! goes to 2 i if it is less than the splitter, else to 2 i + 1. Comparisons with NaN are false,
//! so NaN goes to the last bucket.

/// The most buckets: a number is one byte.
pub(super) const MAX_BUCKETS: usize = 256;

/// Writes the bucket of each key.
///
/// # Safety
/// `from` has n readable keys and `to` n writable bytes. The tree's length is a power of two up to
/// [`MAX_BUCKETS`].
#[inline(always)]
pub(super) unsafe fn one_by_one<K: Copy + PartialOrd>(
    from: *const K,
    to: *mut u8,
    n: usize,
    tree: &[K],
) {
    /// Keys on their way at once, since a step waits for the one before.
    const GROUP: usize = 16;
    let n_levels = tree.len().trailing_zeros();
    let descend = |keys: &[K], to: &mut [u8]| {
        let mut node = [1_usize; GROUP];
        for _ in 0..n_levels {
            for (node, key) in node.iter_mut().zip(keys) {
                // SAFETY: a node of the last level but one is below the tree's length.
                let splitter = unsafe { *tree.get_unchecked(*node) };
                let less = *key < splitter;
                *node = 2 * *node + usize::from(!less);
            }
        }
        for (to, node) in to.iter_mut().zip(node) {
            *to = (node - tree.len()) as u8;
        }
    };
    // SAFETY: the caller's.
    let (keys, to) =
        unsafe { (std::slice::from_raw_parts(from, n), std::slice::from_raw_parts_mut(to, n)) };
    for (keys, to) in keys.chunks(GROUP).zip(to.chunks_mut(GROUP)) {
        descend(keys, to);
    }
}

/// The tree of sorted splitters, one less than a power of two.
pub(super) fn tree<K: Copy>(splitters: &[K]) -> Vec<K> {
    let n = splitters.len() + 1;
    assert!(n.is_power_of_two() && n >= 2, "a complete tree");
    let mut tree = vec![splitters[0]; n];
    let n_levels = n.trailing_zeros();
    for level in 0..n_levels {
        let step = n >> (level + 1);
        for i in 0..1 << level {
            tree[(1 << level) + i] = splitters[(2 * i + 1) * step - 1];
        }
    }
    tree
}
