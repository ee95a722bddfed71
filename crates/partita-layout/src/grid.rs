//! Grids: ranks arranged in n dimensions, C order, and what each axis serves.

use crate::error::{LayoutError, Result};
use crate::map::Map;
use crate::order::{number_of, position_of};

/// What a grid axis is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisRole {
    /// Its coordinates share out this array dimension.
    Dim(usize),
    /// Its coordinates hold the same elements.
    Replicated,
    /// Its coordinates hold summands of the same elements.
    Partial,
}

/// A grid of ranks with the role of each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grid {
    shape: Vec<u64>,
    roles: Vec<AxisRole>,
    n_ranks: u64,
}

/// Where a place of the grid stands in each sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Coordinate in each array dimension; 0 in whole ones.
    pub coordinates: Vec<u64>,
    /// Number among the replicas.
    pub replica: u64,
    /// Number among the summands.
    pub summand: u64,
}

impl Grid {
    /// Gives each axis its role.
    ///
    /// With as many axes as dimensions, axis i serves dimension i; otherwise the distributed
    /// dimensions take the axes that are not partial in order, and axes left over replicate.
    ///
    /// # Errors
    /// Axes of length 0, too many ranks, too few axes, partial axes that do not exist or are
    /// needed.
    pub fn new(shape: &[u64], maps: &[Map], partial: &[usize]) -> Result<Self> {
        let n_ranks = count_ranks(shape)?;
        check_partial(partial, shape.len())?;
        let is_distributed = |dim: usize| maps[dim].is_distributed();
        let n_distributed = maps.iter().filter(|map| map.is_distributed()).count();
        let mut roles = vec![AxisRole::Replicated; shape.len()];
        if shape.len() == maps.len() {
            for dim in (0..maps.len()).filter(|dim| is_distributed(*dim)) {
                roles[dim] = AxisRole::Dim(dim);
            }
            for &axis in partial {
                if let AxisRole::Dim(dim) = roles[axis] {
                    return Err(LayoutError::PartialInUse { axis, dim });
                }
            }
        } else {
            let mut free = (0..shape.len()).filter(|axis| !partial.contains(axis));
            for dim in (0..maps.len()).filter(|dim| is_distributed(*dim)) {
                let Some(axis) = free.next() else {
                    return Err(LayoutError::GridAxes { grid: shape.to_vec(), n_distributed });
                };
                roles[axis] = AxisRole::Dim(dim);
            }
        }
        for &axis in partial {
            roles[axis] = AxisRole::Partial;
        }
        Ok(Self { shape: shape.to_vec(), roles, n_ranks })
    }

    /// Length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Role of each axis.
    #[must_use]
    pub fn roles(&self) -> &[AxisRole] {
        &self.roles
    }

    /// Number of places.
    #[must_use]
    pub fn n_ranks(&self) -> u64 {
        self.n_ranks
    }

    /// Numbers of the partial axes.
    #[must_use]
    pub fn partial_axes(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|axis| self.roles[*axis] == AxisRole::Partial).collect()
    }

    /// How many places hold the same elements.
    #[must_use]
    pub fn n_replicas(&self) -> u64 {
        self.product_of(AxisRole::Replicated)
    }

    /// How many places hold summands of the same elements.
    #[must_use]
    pub fn n_summands(&self) -> u64 {
        self.product_of(AxisRole::Partial)
    }

    fn product_of(&self, role: AxisRole) -> u64 {
        let lengths = self.shape.iter().zip(&self.roles);
        lengths.filter(|(_, found)| **found == role).map(|(length, _)| length).product()
    }

    /// Length of the axis that serves an array dimension; 1 if none does.
    #[must_use]
    pub fn axis_length(&self, dim: usize) -> u64 {
        self.roles
            .iter()
            .position(|role| *role == AxisRole::Dim(dim))
            .map_or(1, |axis| self.shape[axis])
    }

    /// Distance in places between neighbouring coordinates of each dimension; 0 in whole ones.
    #[must_use]
    pub fn dim_strides(&self, ndim: usize) -> Vec<u64> {
        let mut strides = vec![0; ndim];
        let mut stride = 1;
        for (length, role) in self.shape.iter().zip(&self.roles).rev() {
            if let AxisRole::Dim(dim) = role {
                strides[*dim] = stride;
            }
            stride *= length;
        }
        strides
    }

    /// Distance in places of a replica from the first one.
    #[must_use]
    pub fn replica_offset(&self, replica: u64) -> u64 {
        self.offset_along(AxisRole::Replicated, replica)
    }

    /// Distance in places of a summand from the first one.
    #[must_use]
    pub fn summand_offset(&self, summand: u64) -> u64 {
        self.offset_along(AxisRole::Partial, summand)
    }

    fn offset_along(&self, wanted: AxisRole, mut number: u64) -> u64 {
        let mut offset = 0;
        let mut stride = 1;
        for (length, role) in self.shape.iter().zip(&self.roles).rev() {
            if *role == wanted {
                offset += take_digit(&mut number, *length) * stride;
            }
            stride *= length;
        }
        offset
    }

    /// Coordinates of a place, one per axis.
    #[must_use]
    pub fn coords(&self, place: u64) -> Vec<u64> {
        position_of(place, &self.shape)
    }

    /// Place with the given coordinates, one per axis.
    #[must_use]
    pub fn place_at(&self, coords: &[u64]) -> u64 {
        number_of(coords, &self.shape)
    }

    /// What a place means for an array of `ndim` dimensions.
    #[must_use]
    pub fn place(&self, place: u64, ndim: usize) -> Place {
        let mut found = Place { coordinates: vec![0; ndim], replica: 0, summand: 0 };
        for ((coord, length), role) in self.coords(place).iter().zip(&self.shape).zip(&self.roles) {
            match role {
                AxisRole::Dim(dim) => found.coordinates[*dim] = *coord,
                AxisRole::Replicated => found.replica = found.replica * length + coord,
                AxisRole::Partial => found.summand = found.summand * length + coord,
            }
        }
        found
    }

    /// The inverse of [`Grid::place`].
    #[must_use]
    pub fn place_of(&self, at: &Place) -> u64 {
        let strides = self.dim_strides(at.coordinates.len());
        let along_dims: u64 =
            at.coordinates.iter().zip(strides).map(|(k, stride)| k * stride).sum();
        along_dims + self.replica_offset(at.replica) + self.summand_offset(at.summand)
    }
}

fn take_digit(number: &mut u64, base: u64) -> u64 {
    let digit = *number % base;
    *number /= base;
    digit
}

fn count_ranks(shape: &[u64]) -> Result<u64> {
    if let Some(axis) = shape.iter().position(|length| *length == 0) {
        return Err(LayoutError::GridAxisZero { grid: shape.to_vec(), axis });
    }
    shape
        .iter()
        .try_fold(1_u64, |product, length| product.checked_mul(*length))
        .filter(|product| *product <= 1 << 63)
        .ok_or_else(|| LayoutError::GridOverflow { grid: shape.to_vec() })
}

fn check_partial(partial: &[usize], n_axes: usize) -> Result<()> {
    for (number, &axis) in partial.iter().enumerate() {
        if axis >= n_axes {
            return Err(LayoutError::PartialAxis { axis, n_axes });
        }
        if partial[..number].contains(&axis) {
            return Err(LayoutError::PartialDuplicate { axis });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_trip() {
        let maps = [Map::block(), Map::Whole, Map::block()];
        let grid = Grid::new(&[2, 3, 5], &maps, &[1]).expect("a grid");
        assert_eq!(grid.n_summands(), 3);
        for place in 0..30 {
            assert_eq!(grid.place_at(&grid.coords(place)), place);
            assert_eq!(grid.place_of(&grid.place(place, 3)), place);
        }
    }

    #[test]
    fn axes_serve_distributed_dimensions_in_order() {
        let maps = [Map::Whole, Map::block(), Map::block()];
        let grid = Grid::new(&[2, 3], &maps, &[]).expect("a grid");
        assert_eq!(grid.roles(), [AxisRole::Dim(1), AxisRole::Dim(2)]);
        let grid = Grid::new(&[7, 2, 3, 4], &maps, &[0]).expect("a grid");
        let roles = [AxisRole::Partial, AxisRole::Dim(1), AxisRole::Dim(2), AxisRole::Replicated];
        assert_eq!(grid.roles(), roles);
    }
}
