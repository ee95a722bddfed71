//! A sparse tensor in the memory of one rank.

use partita_kernel::{Dtype, Kind};
use partita_layout::IndexBox;

use super::sum::add;
use super::{Format, SparseError};

/// Elements that are there, by their coordinates. What is made of coordinates has each place once;
/// elements that are given in rows or columns may repeat: their sum is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SparseTensor {
    /// Size of each dimension.
    pub shape: Vec<u64>,
    /// The element type.
    pub dtype: Dtype,
    /// How it lies in memory.
    pub format: Format,
    /// CSR and CSC: where each row or column begins, and behind the last one. COO: nothing.
    pub positions: Vec<i64>,
    /// CSR: columns. CSC: rows. COO: coordinates for each dimension.
    pub coordinates: Vec<Vec<i64>>,
    /// The elements, in order.
    pub values: Vec<u8>,
}

/// Whether an element is 0; -0.0 is, too.
fn is_zero(dtype: Dtype, element: &[u8]) -> bool {
    let n_parts = match dtype.kind() {
        Kind::Float => 1,
        Kind::Complex => 2,
        _ => return element.iter().all(|byte| *byte == 0),
    };
    element.chunks_exact(dtype.size() / n_parts).all(|part| {
        let (sign, rest) = if cfg!(target_endian = "little") {
            part.split_last().unwrap_or((&0, part))
        } else {
            part.split_first().unwrap_or((&0, part))
        };
        sign & 0x7f == 0 && rest.iter().all(|byte| *byte == 0)
    })
}

impl SparseTensor {
    /// A tensor, if its lists fit together.
    ///
    /// # Errors
    /// Lists of wrong lengths, positions that fall, coordinates outside.
    pub fn checked(self) -> Result<Self, SparseError> {
        let (ndim, n) = (self.shape.len(), self.n_elements());
        let compressed = self.compressed()?;
        let n_lists = if compressed.is_some() { 1 } else { ndim };
        equal("the list of coordinates", self.coordinates.len(), n_lists)?;
        equal("the values", self.values.len(), n * self.dtype.size())?;
        for list in &self.coordinates {
            equal("a list of coordinates", list.len(), n)?;
        }
        match compressed {
            Some((major, minor)) => {
                let wanted = usize::try_from(self.shape[major]).unwrap_or(usize::MAX);
                equal("the positions", self.positions.len(), wanted.saturating_add(1))?;
                check_positions(&self.positions, n)?;
                inside(&self.coordinates[0], minor, self.shape[minor])?;
            }
            None => {
                equal("the positions", self.positions.len(), 0)?;
                let mut dims = self.coordinates.iter().zip(&self.shape).enumerate();
                dims.try_for_each(|(dim, (list, size))| inside(list, dim, *size))?;
            }
        }
        Ok(self)
    }

    fn compressed(&self) -> Result<Option<(usize, usize)>, SparseError> {
        let (format, ndim) = (self.format, self.shape.len());
        match format.compressed() {
            Some(_) if ndim != 2 => Err(SparseError::FormatDims { format, ndim }),
            dims => Ok(dims),
        }
    }

    /// Number of elements that are there.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.coordinates.first().map_or(self.values.len() / self.dtype.size(), Vec::len)
    }

    /// A tensor of elements in any order, each with its coordinate in every dimension; those of one
    /// place are added.
    ///
    /// # Errors
    /// Lists of different lengths, coordinates outside, a format for other dimensions.
    pub fn from_coordinates(
        shape: &[u64],
        dtype: Dtype,
        format: Format,
        coordinates: &[Vec<i64>],
        values: &[u8],
    ) -> Result<Self, SparseError> {
        let (shape, positions) = (shape.to_vec(), Vec::new());
        let coordinates = coordinates.to_vec();
        let all = Self {
            shape,
            dtype,
            format: Format::Coo,
            positions,
            coordinates,
            values: values.to_vec(),
        };
        all.checked()?.sorted(format)
    }

    /// The elements of a dense array, in C order, that are not zero.
    ///
    /// # Errors
    /// Another number of elements than the shape has, a format for other dimensions.
    pub fn from_dense(
        shape: &[u64],
        dtype: Dtype,
        format: Format,
        bytes: &[u8],
    ) -> Result<Self, SparseError> {
        let n: u64 = shape.iter().product();
        equal("the array", bytes.len(), n as usize * dtype.size())?;
        let mut coordinates = vec![Vec::new(); shape.len()];
        let mut values = Vec::new();
        for (at, element) in bytes.chunks_exact(dtype.size()).enumerate() {
            if !is_zero(dtype, element) {
                let mut rest = at as u64;
                for dim in (0..shape.len()).rev() {
                    coordinates[dim].push((rest % shape[dim]) as i64);
                    rest /= shape[dim];
                }
                values.extend_from_slice(element);
            }
        }
        Self::from_coordinates(shape, dtype, format, &coordinates, &values)
    }

    /// The coordinates of every element, one list per dimension.
    #[must_use]
    pub fn all_coordinates(&self) -> Vec<Vec<i64>> {
        let Some((major, minor)) = self.format.compressed() else {
            return self.coordinates.clone();
        };
        let rows = self.positions.windows(2).enumerate();
        let row = |(at, ends): (usize, &[i64])| {
            std::iter::repeat_n(at as i64, usize::try_from(ends[1] - ends[0]).unwrap_or(0))
        };
        let mut all = vec![Vec::new(); 2];
        all[major] = rows.flat_map(row).collect();
        all[minor] = self.coordinates[0].clone();
        all
    }

    /// The same tensor in a format.
    ///
    /// # Errors
    /// A format for other dimensions.
    pub fn in_format(&self, format: Format) -> Result<Self, SparseError> {
        if self.format == format {
            return Ok(self.clone());
        }
        let coordinates = self.all_coordinates();
        Self::from_coordinates(&self.shape, self.dtype, format, &coordinates, &self.values)
    }

    /// A tensor in coordinates, sorted as a format wants it, elements of one place added.
    fn sorted(self, format: Format) -> Result<Self, SparseError> {
        let mut order: Vec<usize> = (0..self.n_elements()).collect();
        let dims = match format.compressed() {
            Some((major, minor)) => vec![major, minor],
            None => (0..self.shape.len()).collect(),
        };
        Self { format, ..self.clone() }.compressed()?;
        order.sort_by(|a, b| {
            let key = |at: usize| dims.iter().map(move |dim| (dim, at));
            key(*a)
                .map(|(d, at)| self.coordinates[*d][at])
                .cmp(key(*b).map(|(d, at)| self.coordinates[*d][at]))
        });
        let (order, values) = self.added(&order);
        let taken = |list: &[i64]| order.iter().map(|at| list[*at]).collect::<Vec<i64>>();
        let (shape, dtype) = (self.shape.clone(), self.dtype);
        let (positions, coordinates) = match format.compressed() {
            None => (Vec::new(), self.coordinates.iter().map(|list| taken(list)).collect()),
            Some((major, minor)) => {
                let starts = starts(&taken(&self.coordinates[major]), shape[major])?;
                (starts, vec![taken(&self.coordinates[minor])])
            }
        };
        Ok(Self { shape, dtype, format, positions, coordinates, values })
    }

    /// The first element of each place in an order that brings places together, and their sums.
    fn added(&self, order: &[usize]) -> (Vec<usize>, Vec<u8>) {
        let size = self.dtype.size();
        let (mut kept, mut values) = (Vec::<usize>::with_capacity(order.len()), Vec::new());
        for at in order {
            let value = &self.values[at * size..(at + 1) * size];
            let is_same =
                |last: &usize| self.coordinates.iter().all(|list| list[*last] == list[*at]);
            if kept.last().is_some_and(is_same) {
                let last = values.len() - size;
                add(self.dtype, &mut values[last..], value);
            } else {
                kept.push(*at);
                values.extend_from_slice(value);
            }
        }
        (kept, values)
    }

    /// The elements inside a box, with coordinates counted from its first.
    ///
    /// # Errors
    /// As [`SparseTensor::from_coordinates`]; a box outside has no elements.
    pub fn block(&self, place: &IndexBox) -> Result<Self, SparseError> {
        let all = self.all_coordinates();
        let is_inside = |at: usize| {
            all.iter().enumerate().all(|(dim, list)| {
                let low = place.start[dim] as i64;
                (low..low + place.shape[dim] as i64).contains(&list[at])
            })
        };
        let size = self.dtype.size();
        let (mut coordinates, mut values) = (vec![Vec::new(); all.len()], Vec::new());
        for at in (0..self.n_elements()).filter(|at| is_inside(*at)) {
            for (dim, list) in all.iter().enumerate() {
                coordinates[dim].push(list[at] - place.start[dim] as i64);
            }
            values.extend_from_slice(&self.values[at * size..(at + 1) * size]);
        }
        Self::from_coordinates(&place.shape, self.dtype, self.format, &coordinates, &values)
    }

    /// One tensor of blocks, each with the place of its first element.
    ///
    /// # Errors
    /// Blocks that reach outside.
    pub fn joined(
        shape: &[u64],
        dtype: Dtype,
        format: Format,
        blocks: &[(Vec<u64>, Self)],
    ) -> Result<Self, SparseError> {
        let (mut coordinates, mut values) = (vec![Vec::new(); shape.len()], Vec::new());
        for (start, block) in blocks {
            for (dim, list) in block.all_coordinates().into_iter().enumerate() {
                coordinates[dim].extend(list.into_iter().map(|at| at + start[dim] as i64));
            }
            values.extend_from_slice(&block.values);
        }
        Self::from_coordinates(shape, dtype, format, &coordinates, &values)
    }

    /// Length of what [`SparseTensor::packed`] gives.
    #[must_use]
    pub fn n_packed_bytes(&self) -> usize {
        let n_numbers = self.positions.len() + self.coordinates.iter().map(Vec::len).sum::<usize>();
        8 * n_numbers + self.values.len()
    }

    /// All of it as bytes, to be sent; shape, type and format are known elsewhere.
    #[must_use]
    pub fn packed(&self) -> Vec<u8> {
        let lists = std::iter::once(&self.positions).chain(&self.coordinates);
        let numbers = lists.flatten().flat_map(|number| number.to_le_bytes());
        numbers.chain(self.values.iter().copied()).collect()
    }

    /// What [`SparseTensor::packed`] packed.
    ///
    /// # Errors
    /// Bytes of something else.
    pub fn unpacked(
        shape: &[u64],
        dtype: Dtype,
        format: Format,
        bytes: &[u8],
    ) -> Result<Self, SparseError> {
        let major = format.compressed().map(|(major, _)| shape.get(major).map_or(0, |n| *n + 1));
        let n_positions = major.unwrap_or(0) as usize;
        let n_lists = if major.is_some() { 1 } else { shape.len() };
        let each = 8 * n_lists + dtype.size();
        let n = bytes.len().saturating_sub(8 * n_positions) / each;
        equal("the slice", bytes.len(), 8 * n_positions + n * each)?;
        let word = |chunk: &[u8]| i64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let numbers: Vec<i64> =
            bytes[..8 * (n_positions + n * n_lists)].chunks_exact(8).map(word).collect();
        let (positions, rest) = numbers.split_at(n_positions);
        let list = |at: usize| rest[at * n..(at + 1) * n].to_vec();
        let values = bytes[8 * numbers.len()..].to_vec();
        let (shape, positions) = (shape.to_vec(), positions.to_vec());
        let coordinates = (0..n_lists).map(list).collect();
        Self { shape, dtype, format, positions, coordinates, values }.checked()
    }
}

fn equal(what: &str, found: usize, wanted: usize) -> Result<(), SparseError> {
    match found == wanted {
        true => Ok(()),
        false => Err(SparseError::Lengths { what: what.to_string(), found, wanted }),
    }
}

fn check_positions(positions: &[i64], n: usize) -> Result<(), SparseError> {
    let problem = match positions {
        [first, ..] if *first != 0 => format!("begin with {first}"),
        [.., last] if usize::try_from(*last) != Ok(n) => format!("end with {last}, not {n}"),
        _ => match positions.windows(2).find(|pair| pair[0] > pair[1]) {
            Some(pair) => format!("fall from {} to {}", pair[0], pair[1]),
            None => return Ok(()),
        },
    };
    Err(SparseError::Positions { problem })
}

fn inside(coordinates: &[i64], dim: usize, extent: u64) -> Result<(), SparseError> {
    let is_outside = |at: &&i64| !u64::try_from(**at).is_ok_and(|at| at < extent);
    match coordinates.iter().find(is_outside) {
        Some(&coordinate) => Err(SparseError::Coordinate { dim, coordinate, extent }),
        None => Ok(()),
    }
}

/// Where each index begins in a sorted list of coordinates.
fn starts(coordinates: &[i64], extent: u64) -> Result<Vec<i64>, SparseError> {
    let n = usize::try_from(extent).unwrap_or(usize::MAX).saturating_add(1);
    let mut counts = Vec::new();
    counts.try_reserve_exact(n).map_err(|_| SparseError::NoMemory { n_positions: n })?;
    counts.resize(n, 0);
    for at in coordinates {
        counts[*at as usize + 1] += 1;
    }
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 by 5, with an element where row and column add up to a multiple of three.
    fn example(format: Format) -> SparseTensor {
        let dense: Vec<u8> =
            (0..20).map(|at| if (at / 5 + at % 5) % 3 == 0 { at + 1 } else { 0 }).collect();
        SparseTensor::from_dense(&[4, 5], Dtype::UInt8, format, &dense).expect("a tensor")
    }

    #[test]
    fn formats_turn_into_each_other() {
        let csr = example(Format::Csr);
        assert_eq!(csr.positions, [0, 2, 3, 5, 7]);
        assert_eq!(csr.coordinates, [[0, 3, 2, 1, 4, 0, 3]]);
        assert_eq!(csr.values, [1, 4, 8, 12, 15, 16, 19]);
        for from in Format::ALL {
            for to in Format::ALL {
                assert_eq!(example(from).in_format(to), Ok(example(to)), "{from} to {to}");
            }
        }
    }

    #[test]
    fn blocks_join_to_the_whole_and_bytes_come_back() {
        for format in Format::ALL {
            let whole = example(format);
            let mut blocks = Vec::new();
            for (start, shape) in
                [([0, 0], [2, 3]), ([0, 3], [2, 2]), ([2, 0], [2, 3]), ([2, 3], [2, 2])]
            {
                let block = whole.block(&IndexBox::new(&start, &shape)).expect("a block");
                let again = SparseTensor::unpacked(&shape, Dtype::UInt8, format, &block.packed());
                assert_eq!(again.as_ref(), Ok(&block));
                assert_eq!(block.packed().len(), block.n_packed_bytes());
                blocks.push((start.to_vec(), block));
            }
            assert_eq!(SparseTensor::joined(&[4, 5], Dtype::UInt8, format, &blocks), Ok(whole));
        }
    }

    #[test]
    fn elements_of_one_place_are_added_in_every_format() {
        let coordinates = [vec![2, 0, 2, 2], vec![1, 3, 1, 0]];
        for format in Format::ALL {
            let given = (Dtype::UInt8, format);
            let twice = SparseTensor::from_coordinates(
                &[3, 4],
                given.0,
                given.1,
                &coordinates,
                &[5, 7, 6, 1],
            );
            let once = SparseTensor::from_coordinates(
                &[3, 4],
                given.0,
                given.1,
                &[vec![0, 2, 2], vec![3, 0, 1]],
                &[7, 1, 11],
            );
            assert_eq!(twice, once, "{format}");
        }
    }

    #[test]
    fn lists_that_do_not_fit_are_refused() {
        let reason = |change: fn(&mut SparseTensor)| {
            let mut tensor = example(Format::Csr);
            change(&mut tensor);
            tensor.checked().expect_err("a refusal").reason()
        };
        assert_eq!(reason(|t| t.positions[0] = 1), "sparse-positions");
        assert_eq!(reason(|t| t.positions[1] = 9), "sparse-positions");
        assert_eq!(reason(|t| t.positions[4] = 6), "sparse-positions");
        assert_eq!(reason(|t| t.positions.truncate(2)), "sparse-lengths");
        assert_eq!(reason(|t| t.values.truncate(2)), "sparse-lengths");
        assert_eq!(reason(|t| t.coordinates[0][0] = 5), "sparse-coordinate");
        assert_eq!(reason(|t| t.coordinates[0][0] = -1), "sparse-coordinate");
        let cube = SparseTensor::from_coordinates(
            &[1, 1, 1],
            Dtype::Int8,
            Format::Csr,
            &[vec![], vec![], vec![]],
            &[],
        );
        assert_eq!(cube.expect_err("two dimensions").reason(), "sparse-format-dims");
    }
}
