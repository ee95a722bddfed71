//! In which stretch of rows an index lies, and where in it.

/// More stretches than so many are looked through by halves.
const FEW: usize = 8;

/// Rows that lie in stretches one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct Stretches<'a> {
    /// Where each begins; the first at 0.
    pub starts: &'a [i64],
    /// Who has each.
    pub owners: &'a [i64],
    /// How many rows there are.
    pub n_rows: i64,
}

impl Stretches<'_> {
    #[inline(always)]
    fn stretch_of(&self, row: i64) -> usize {
        match self.starts.len() {
            // Comparisons without branches, which random rows would all mislead.
            ..=FEW => self.starts[1..].iter().map(|start| usize::from(row >= *start)).sum(),
            _ => self.starts.partition_point(|start| *start <= row) - 1,
        }
    }
}

/// Writes the owner of each row and its place there; which stretches were asked for, or nothing if
/// an index is outside. Negative ones count from the end.
#[must_use]
pub fn located(
    indices: &[i64],
    stretches: Stretches<'_>,
    owners: &mut [i64],
    places: &mut [i64],
) -> Option<Vec<bool>> {
    let n_rows = stretches.n_rows;
    let mut asked = vec![false; stretches.starts.len()];
    for ((index, owner), place) in indices.iter().zip(owners).zip(places) {
        let row = if *index < 0 { index.checked_add(n_rows)? } else { *index };
        if row < 0 || row >= n_rows {
            return None;
        }
        let stretch = stretches.stretch_of(row);
        asked[stretch] = true;
        *owner = stretches.owners[stretch];
        *place = row - stretches.starts[stretch];
    }
    Some(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_found_in_few_and_in_many_stretches() {
        for n in [1_i64, 3, 40] {
            let starts: Vec<i64> = (0..n).map(|at| 5 * at).collect();
            let owners: Vec<i64> = (0..n).rev().collect();
            let stretches = Stretches { starts: &starts, owners: &owners, n_rows: 5 * n };
            let indices = [0, 4, 5 * n - 1, -1, -5 * n, 5 * (n / 2)];
            let (mut to, mut places) = ([9; 6], [9; 6]);
            let asked = located(&indices, stretches, &mut to, &mut places).expect("inside");
            assert_eq!(to, [n - 1, n - 1, 0, 0, n - 1, n - 1 - n / 2]);
            assert_eq!(places, [0, 4, 4, 4, 0, 0]);
            let is_asked = |at: i64| [0, n - 1, n / 2].contains(&at);
            assert!((0..n).all(|at| asked[at as usize] == is_asked(at)));
            for wrong in [5 * n, -5 * n - 1, i64::MIN, i64::MAX] {
                assert_eq!(located(&[wrong], stretches, &mut to, &mut places), None);
            }
        }
    }
}
