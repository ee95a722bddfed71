//! Sorting up to sixteen registers of keys without a branch.
//!
//! The keys are a table of R rows (registers) and W columns (lanes). A network over the rows sorts
//! all columns at once; then neighbouring columns are merged, pairs of pairs, and so on, until the
//! table is sorted column by column. A bitonic merge compares a sequence with the reverse of the
//! other: row i and column c with row R-1-i and column S-1-c. What follows inside a column needs
//! no shuffles, which is why the table is kept that way round.

use super::vector::Vector;

/// The most rows.
pub(super) const MAX_ROWS: usize = 16;

/// Networks of the fewest comparisons known, layer by layer.
macro_rules! network {
    ($rows:ident: $($i:literal $j:literal),*) => {{$(
        let (low, high) = ($rows[$i].min($rows[$j]), $rows[$i].max($rows[$j]));
        $rows[$i] = low;
        $rows[$j] = high;
    )*}};
}

#[inline(always)]
fn sort_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    match R {
        2 => network!(rows: 0 1),
        4 => network!(rows: 0 2, 1 3, 0 1, 2 3, 1 2),
        8 => network!(rows: 0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5,
            1 4, 3 6, 1 2, 3 4, 5 6),
        16 => network!(rows: 0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10,
            0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12,
            0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15,
            0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15,
            1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14,
            1 4, 2 6, 5 8, 7 10, 9 13, 11 14,
            2 4, 3 6, 9 12, 11 13,
            3 5, 6 8, 7 9, 10 12,
            3 4, 5 6, 7 8, 9 10, 11 12,
            6 7, 8 9),
        _ => {}
    }
}

/// Sorts columns that are bitonic.
#[inline(always)]
fn settle_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    let mut distance = R / 2;
    while distance > 0 {
        for i in 0..R {
            if i & distance == 0 {
                let (a, b) = (rows[i], rows[i + distance]);
                rows[i] = a.min(b);
                rows[i + distance] = a.max(b);
            }
        }
        distance /= 2;
    }
}

/// Compares with the mirror image among X + 1 columns; the greater go to columns with the bit B.
#[inline(always)]
fn mirror<V: Vector, const R: usize, const X: usize, const B: usize>(rows: &mut [V; R]) {
    for i in 0..R.div_ceil(2) {
        let (a, b) = (rows[i], rows[R - 1 - i]);
        let (of_a, of_b) = (b.xor_lanes::<X>(), a.xor_lanes::<X>());
        rows[i] = V::by_bit::<B>(a.min(of_a), a.max(of_a));
        rows[R - 1 - i] = V::by_bit::<B>(b.min(of_b), b.max(of_b));
    }
}

/// Compares columns B apart.
#[inline(always)]
fn apart<V: Vector, const R: usize, const B: usize>(rows: &mut [V; R]) {
    for row in rows {
        let other = row.xor_lanes::<B>();
        *row = V::by_bit::<B>(row.min(other), row.max(other));
    }
}

#[inline(always)]
fn merge_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    mirror::<V, R, 1, 1>(rows);
    settle_columns(rows);
    mirror::<V, R, 3, 2>(rows);
    apart::<V, R, 1>(rows);
    settle_columns(rows);
    if V::W >= 8 {
        mirror::<V, R, 7, 4>(rows);
        apart::<V, R, 2>(rows);
        apart::<V, R, 1>(rows);
        settle_columns(rows);
    }
    if V::W >= 16 {
        mirror::<V, R, 15, 8>(rows);
        apart::<V, R, 4>(rows);
        apart::<V, R, 2>(rows);
        apart::<V, R, 1>(rows);
        settle_columns(rows);
    }
}

/// Turns columns into rows: the keys in their order.
#[inline(always)]
fn columns_to_rows<V: Vector, const R: usize>(rows: &mut [V; R]) {
    // `n` sequences of `length` registers; the first half of them is zipped with the second.
    let (mut n, mut length) = (R, 1);
    while n > 1 {
        let old = *rows;
        for i in 0..n / 2 {
            for t in 0..length {
                let (low, high) = old[i * length + t].zip(old[(i + n / 2) * length + t]);
                rows[2 * (i * length + t)] = low;
                rows[2 * (i * length + t) + 1] = high;
            }
        }
        n /= 2;
        length *= 2;
    }
}

/// # Safety
/// `from` has n readable and `to` n writable keys, n at most R registers and more than R / 2 - 1.
#[inline(always)]
unsafe fn sort_rows<V: Vector, const R: usize>(from: *const V::Key, to: *mut V::Key, n: usize) {
    let mut rows = [V::splat(V::LAST); R];
    // SAFETY: the caller's; registers that begin below n are touched up to n alone.
    unsafe {
        let mut i = 0;
        while i < R {
            if (i + 1) * V::W <= n {
                rows[i] = V::load(from.add(i * V::W));
            } else if i * V::W < n {
                rows[i] = V::load_first(from.add(i * V::W), n % V::W);
            }
            i += 1;
        }
        sort_columns(&mut rows);
        merge_columns(&mut rows);
        columns_to_rows(&mut rows);
        i = 0;
        while i < R {
            if (i + 1) * V::W <= n {
                rows[i].store(to.add(i * V::W));
            } else if i * V::W < n {
                rows[i].store_first(to.add(i * V::W), n % V::W);
            }
            i += 1;
        }
    }
}

/// Sorts n keys, at most sixteen registers of them; `to` may equal `from`.
///
/// # Safety
/// `from` has n readable and `to` n writable keys.
#[inline(always)]
pub(super) unsafe fn sort_few<V: Vector>(from: *const V::Key, to: *mut V::Key, n: usize) {
    debug_assert!(n <= MAX_ROWS * V::W);
    // SAFETY: the caller's.
    unsafe {
        match n.div_ceil(V::W) {
            0 => {}
            1 => sort_rows::<V, 1>(from, to, n),
            2 => sort_rows::<V, 2>(from, to, n),
            3..=4 => sort_rows::<V, 4>(from, to, n),
            5..=8 => sort_rows::<V, 8>(from, to, n),
            _ => sort_rows::<V, 16>(from, to, n),
        }
    }
}
