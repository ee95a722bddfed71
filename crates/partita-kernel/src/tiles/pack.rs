//! Strided elements into tiles and back.

use crate::space::{Position, Space};

/// Copies `n` points of a buffer, from a position on, into a tile.
///
/// # Safety
/// The buffer's points may be read and the tile has room for them.
pub unsafe fn pack(space: &Space, buffer: usize, from: &Position, n: usize, tile: *mut u8) {
    let (size, stride) = (space.buffers[buffer].size, space.row_stride(buffer));
    from.stretches(space, n, |at, done, length| {
        let row = at.address(space, buffer);
        // SAFETY: the stretch lies in the space and in the tile.
        unsafe { copy(row, stride, tile.add(done * size), size as isize, size, length) };
    });
}

/// Copies a tile to `n` points of a buffer, from a position on.
///
/// # Safety
/// The buffer's points may be written and the tile has them.
pub unsafe fn unpack(space: &Space, buffer: usize, from: &Position, n: usize, tile: *const u8) {
    let (size, stride) = (space.buffers[buffer].size, space.row_stride(buffer));
    from.stretches(space, n, |at, done, length| {
        let row = at.address(space, buffer);
        // SAFETY: the stretch lies in the space and in the tile.
        unsafe { copy(tile.add(done * size), size as isize, row, stride, size, length) };
    });
}

/// Writes the turns of a loop for `n` points into a tile, as int64.
///
/// # Safety
/// The tile has room for `n` numbers.
pub unsafe fn turns(space: &Space, dim: usize, from: &Position, n: usize, tile: *mut i64) {
    let along = usize::from(dim + 1 == space.dims.len());
    from.stretches(space, n, |at, done, length| {
        let first = at.turn(dim);
        for i in 0..length {
            // SAFETY: the stretch lies in the tile.
            unsafe { tile.add(done + i).write((first + i * along) as i64) };
        }
    });
}

/// Fills a tile with one element.
///
/// # Safety
/// The tile has room for `n` elements of `bytes.len()` bytes.
pub unsafe fn fill(bytes: &[u8], tile: *mut u8, n: usize) {
    let size = bytes.len();
    // SAFETY: as promised.
    unsafe { copy(bytes.as_ptr(), 0, tile, size as isize, size, n) };
}

/// Copies `n` elements between strides.
///
/// # Safety
/// All elements may be read and written.
pub unsafe fn copy(
    from: *const u8,
    step: isize,
    to: *mut u8,
    to_step: isize,
    size: usize,
    n: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        match size {
            _ if step == size as isize && to_step == step => {
                std::ptr::copy_nonoverlapping(from, to, n * size);
            }
            1 => each::<u8>(from, step, to, to_step, n),
            2 => each::<u16>(from, step, to, to_step, n),
            4 => each::<u32>(from, step, to, to_step, n),
            8 => each::<u64>(from, step, to, to_step, n),
            _ => each::<u128>(from, step, to, to_step, n),
        }
    }
}

/// # Safety
/// As [`copy`].
unsafe fn each<T: Copy>(from: *const u8, step: isize, to: *mut u8, to_step: isize, n: usize) {
    if step == 0 && to_step == size_of::<T>() as isize {
        // SAFETY: n > 0 elements are written only if there is one to read.
        let value = if n > 0 { unsafe { from.cast::<T>().read_unaligned() } } else { return };
        for i in 0..n {
            // SAFETY: the caller's.
            unsafe { to.cast::<T>().add(i).write_unaligned(value) };
        }
        return;
    }
    for i in 0..n as isize {
        // SAFETY: the caller's; elements need no alignment here.
        unsafe {
            let value = from.wrapping_offset(i * step).cast::<T>().read_unaligned();
            to.wrapping_offset(i * to_step).cast::<T>().write_unaligned(value);
        }
    }
}
