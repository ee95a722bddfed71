//! Elements at positions that are known only when they are computed: index arrays and masks.
//!
//! These look at memory, so what is pending runs first.

use partita_kernel::Dtype;
use partita_team::Buffer;

use super::error::{ApiError, Result};
use super::index::counted;
use crate::local::{Array, broadcast_shapes, c_strides};

/// Where a mask is true: for each of its dimensions the positions, in C order.
///
/// # Errors
/// As the engine's flush.
pub fn positions_of(mask: &Array) -> Result<Vec<Array>> {
    let bytes = mask.to_bytes()?;
    let strides = c_strides(mask.shape());
    let found: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let along = |dim: usize| {
        let (stride, size) = (strides[dim] as usize, mask.shape()[dim]);
        let positions = found.iter().map(|at| (at / stride % size) as i64);
        let bytes: Vec<u8> = positions.flat_map(i64::to_ne_bytes).collect();
        Ok(mask.engine().from_bytes(&[found.len()], Dtype::Int64, &bytes)?)
    };
    (0..mask.ndim()).map(along).collect()
}

/// The elements of `view` at positions along `axes`; the positions' dimensions come at `at`.
///
/// # Errors
/// Positions outside; index arrays whose shapes do not fit.
pub fn gather(view: &Array, axes: &[usize], indices: &[Array], at: usize) -> Result<Array> {
    let view = &view.whole()?;
    let places = Places::new(view, axes, indices)?;
    let made = view.engine().empty_whole(&places.shape(), view.dtype())?;
    let (source, _source) = view.buffer()?;
    let (target, _target) = made.buffer()?;
    places.each(&source, |element, number| {
        let size = places.element_bytes;
        // SAFETY: positions were compared with the extents, and the new array has as many
        // elements as are numbered; both storages are held.
        unsafe {
            let to = (target.address as *mut u8).add(number * size);
            std::ptr::copy_nonoverlapping(element as *const u8, to, size);
        }
    });
    Ok(made.permute(&places.order_with(at)))
}

/// Writes `source` to the elements of `view` at positions; the last of several writes stays.
///
/// # Errors
/// As [`gather`]; sources that do not fit.
pub fn scatter(
    view: &Array,
    axes: &[usize],
    indices: &[Array],
    at: usize,
    source: &Array,
) -> Result<()> {
    view.check_writable()?;
    let engine = view.engine();
    let is_divided = engine.n_ranks() > 1;
    let changed = if is_divided {
        // Every rank changes a whole copy alike; of that each takes its part.
        engine.settle_place(view)?;
        let whole = engine.empty_whole(view.shape(), view.dtype())?;
        whole.write(view)?;
        whole
    } else {
        view.clone()
    };
    let places = Places::new(&changed, axes, indices)?;
    let order = places.order_with(at);
    let mut wanted = vec![0; order.len()];
    order.iter().enumerate().for_each(|(dim, from)| wanted[dim] = places.shape()[*from]);
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(dim, from)| back[*from] = dim);
    let source = source.broadcast(&wanted)?.permute(&back);
    let bytes = source.to_bytes()?;
    let (target, _target) = changed.buffer()?;
    places.each(&target, |element, number| {
        let size = places.element_bytes;
        // SAFETY: as in `gather`; the bytes are a copy and have all that is numbered.
        unsafe {
            let from = bytes.as_ptr().add(number * size);
            std::ptr::copy_nonoverlapping(from, element as *mut u8, size);
        }
    });
    if is_divided {
        view.write(&changed)?;
    }
    Ok(())
}

/// Elements of an array: positions along some axes, everything along the others.
struct Places {
    /// The shape that the index arrays have together.
    index_shape: Vec<usize>,
    /// For each point of it, the distance in bytes from the first element.
    starts: Vec<isize>,
    rest_shape: Vec<usize>,
    rest_dims: Vec<usize>,
    element_bytes: usize,
}

impl Places {
    fn new(view: &Array, axes: &[usize], indices: &[Array]) -> Result<Self> {
        let mut index_shape: Vec<usize> = Vec::new();
        for index in indices {
            let both = broadcast_shapes(&index_shape, index.shape());
            let (first, second) = (index_shape.clone(), index.shape().to_vec());
            index_shape = both.ok_or(ApiError::IndexShapes { first, second })?.to_vec();
        }
        let (buffer, _storage) = view.buffer()?;
        let mut starts = vec![0_isize; index_shape.iter().product()];
        for (&axis, index) in axes.iter().zip(indices) {
            let positions = index.broadcast(&index_shape)?.to_vec::<i64>()?;
            for (start, position) in starts.iter_mut().zip(positions) {
                let at = counted(position, axis, view.shape()[axis])?;
                *start += at as isize * buffer.strides[axis];
            }
        }
        let rest_dims: Vec<usize> = (0..view.ndim()).filter(|dim| !axes.contains(dim)).collect();
        let rest_shape = rest_dims.iter().map(|dim| view.shape()[*dim]).collect();
        Ok(Self { index_shape, starts, rest_shape, rest_dims, element_bytes: view.dtype().size() })
    }

    /// The positions' dimensions, then the others.
    fn shape(&self) -> Vec<usize> {
        [self.index_shape.clone(), self.rest_shape.clone()].concat()
    }

    /// The dimensions of `shape` in the order in which the positions' come at `at`.
    fn order_with(&self, at: usize) -> Vec<usize> {
        let (n_index, n_rest) = (self.index_shape.len(), self.rest_shape.len());
        let before = n_index..n_index + at.min(n_rest);
        let behind = n_index + at.min(n_rest)..n_index + n_rest;
        before.chain(0..n_index).chain(behind).collect()
    }

    /// Calls with the address and the number of every element.
    fn each(&self, buffer: &Buffer, mut call: impl FnMut(usize, usize)) {
        let mut rest = vec![0_isize];
        for (dim, size) in self.rest_dims.iter().zip(&self.rest_shape) {
            let stride = buffer.strides[*dim];
            let steps = |start: isize| (0..*size as isize).map(move |i| start + i * stride);
            rest = rest.into_iter().flat_map(steps).collect();
        }
        for (number, start) in self.starts.iter().enumerate() {
            for (place, offset) in rest.iter().enumerate() {
                call(
                    buffer.address.wrapping_add_signed(start + offset),
                    number * rest.len() + place,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Key, Selected, select};
    use super::*;
    use crate::local::Engine;

    fn numbers(engine: &Engine, shape: &[usize]) -> Array {
        let n = shape.iter().product::<usize>() as i64;
        let bytes: Vec<u8> = (0..n).flat_map(i64::to_ne_bytes).collect();
        engine.from_bytes(shape, Dtype::Int64, &bytes).expect("an array")
    }

    fn list(engine: &Engine, values: &[i64]) -> Key {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        Key::Array(engine.from_bytes(&[values.len()], Dtype::Int64, &bytes).expect("an array"))
    }

    fn picked(engine: &Engine, array: &Array, keys: &[Key]) -> (Vec<usize>, Vec<i64>) {
        let made = match select(engine, array, keys).expect("fits") {
            Selected::View(view) => view,
            Selected::Elements { view, axes, indices, at } => {
                gather(&view, &axes, &indices, at).expect("inside")
            }
        };
        (made.shape().to_vec(), made.to_vec().expect("values"))
    }

    #[test]
    fn dimensions_come_where_numpy_puts_them() {
        let engine = Engine::new();
        let array = numbers(&engine, &[2, 3, 4]);
        let full = Key::Slice { start: None, stop: None, step: None };
        let some = list(&engine, &[2, 0]);
        let middle = [full.clone(), some.clone(), full.clone()];
        let (shape, values) = picked(&engine, &array, &middle);
        assert_eq!((shape, values[..4].to_vec()), (vec![2, 2, 4], vec![8, 9, 10, 11]));
        let apart = [list(&engine, &[1, 0]), full, some];
        let (shape, values) = picked(&engine, &array, &apart);
        assert_eq!((shape, values), (vec![2, 3], vec![14, 18, 22, 0, 4, 8]));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let engine = Engine::new();
        let array = numbers(&engine, &[3, 4]);
        let keys = [list(&engine, &[-1, 0])];
        let Selected::Elements { view, axes, indices, at } =
            select(&engine, &array, &keys).expect("fits")
        else {
            panic!("no elements")
        };
        scatter(&view, &axes, &indices, at, &numbers(&engine, &[4])).expect("fits");
        let values = array.to_vec::<i64>().expect("values");
        assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
        let outside = select(&engine, &array, &[list(&engine, &[3])]).expect("fits");
        let Selected::Elements { view, axes, indices, at } = outside else { panic!("a view") };
        assert_eq!(
            gather(&view, &axes, &indices, at).expect_err("outside").reason(),
            "index-outside"
        );
    }
}
