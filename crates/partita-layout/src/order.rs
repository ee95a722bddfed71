//! C order: positions in a grid and their numbers, the last coordinate first.

/// The position of a number in C order.
///
/// ```
/// assert_eq!(partita_layout::position_of(5, &[2, 3]), [1, 2]);
/// ```
#[must_use]
pub fn position_of(number: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = number;
    let mut position = vec![0; shape.len()];
    for (at, length) in position.iter_mut().zip(shape).rev() {
        *at = rest % length;
        rest /= length;
    }
    position
}

/// The number in C order of a position that lies inside a grid of at most 2^64 - 1 places.
///
/// ```
/// assert_eq!(partita_layout::number_of(&[1, 2], &[2, 3]), 5);
/// ```
#[must_use]
pub fn number_of(position: &[u64], shape: &[u64]) -> u64 {
    position.iter().zip(shape).fold(0, |number, (at, length)| number * length + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_position() {
        for shape in [&[][..], &[1], &[4], &[2, 3, 4], &[3, 1, 2]] {
            let positions = (0..shape.iter().product()).map(|n| position_of(n, shape));
            assert!(positions.clone().is_sorted(), "{shape:?}");
            assert!(positions.zip(0..).all(|(at, n)| number_of(&at, shape) == n), "{shape:?}");
        }
    }
}
