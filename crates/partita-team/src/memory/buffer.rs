//! Buffers: somebody's memory, described well enough to move through it.

use partita_layout::{Layout, Run};
use partita_plan::Move;

use crate::copy::{Region, Stores, Target, fill_zero, fill_zero_region};
use crate::error::{Result, TeamError};

/// A strided buffer of one rank. It borrows nothing: the engine's calls keep the owner waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Address of the element at position zero of every dimension.
    pub address: usize,
    /// Elements per dimension.
    pub shape: Vec<u64>,
    /// Distance in bytes between neighbours, per dimension.
    pub strides: Vec<isize>,
    /// Whether it may be written.
    pub access: Access,
}

/// What may be done to a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

impl Buffer {
    /// A dense buffer in C order.
    #[must_use]
    pub fn dense(address: usize, shape: &[u64], item_bytes: usize) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut stride = item_bytes as isize;
        for (to, length) in strides.iter_mut().zip(shape).rev() {
            *to = stride;
            stride = stride.saturating_mul((*length).max(1) as isize);
        }
        Self { address, shape: shape.to_vec(), strides, access: Access::Write }
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// First address and end of the memory that the elements lie in.
    #[must_use]
    pub fn span(&self, item_bytes: usize) -> (usize, usize) {
        if self.n_elements() == 0 {
            return (self.address, self.address);
        }
        let (mut low, mut high) = (self.address as isize, self.address as isize);
        for (length, stride) in self.shape.iter().zip(&self.strides) {
            let reach = (*length as isize - 1) * stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        (low as usize, high as usize + item_bytes)
    }

    /// The same for a buffer that somebody else describes; none where no memory can be so large.
    pub(crate) fn checked_span(&self, item_bytes: usize) -> Option<(usize, usize)> {
        if self.shape.contains(&0) {
            return Some((self.address, self.address));
        }
        let (mut low, mut high) = (self.address as i128, self.address as i128);
        for (length, stride) in self.shape.iter().zip(&self.strides) {
            let reach = i128::from(length - 1).checked_mul(*stride as i128)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        let high = high.checked_add(item_bytes as i128)?;
        Some((usize::try_from(low).ok()?, usize::try_from(high).ok()?))
    }

    /// Whether two buffers may share a byte.
    #[must_use]
    pub fn overlaps(&self, other: &Self, item_bytes: usize) -> bool {
        let (a, b) = (self.span(item_bytes), other.span(item_bytes));
        a.0.max(b.0) < a.1.min(b.1)
    }

    /// Makes every element zero.
    ///
    /// # Safety
    /// It must describe memory that can be written, and nobody else may touch it meanwhile.
    pub(crate) unsafe fn fill_zero(&self, item_bytes: usize, stores: Stores) {
        let target = Target { pointer: self.address as *mut u8, strides: &self.strides };
        // SAFETY: the caller's promise.
        unsafe { fill_zero(target, &self.shape, item_bytes, stores) };
    }

    /// Zeroes what a rank gives in a move, if this is the buffer that it comes from.
    ///
    /// # Safety
    /// Nobody else touches the memory meanwhile.
    pub(crate) unsafe fn fill_zero_given(&self, given: &Move, item_bytes: usize) {
        let runs: Vec<Vec<Run>> =
            given.runs.iter().map(|runs| runs.iter().map(Run::reversed).collect()).collect();
        let runs: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
        let target = Target { pointer: self.address as *mut u8, strides: &self.strides };
        let region = Region { runs: &runs, item_bytes };
        // SAFETY: the caller's promise; moves lie in the buffers of their plan.
        unsafe { fill_zero_region(target, region, Stores::Cached) };
    }

    /// Checks that every element can be written on its own.
    pub(crate) fn check_target(&self, number: usize, item_bytes: usize) -> Result<()> {
        if self.access == Access::Read {
            return Err(TeamError::BufferReadOnly { buffer: number });
        }
        if self.n_elements() == 0 {
            return Ok(());
        }
        // Each step must leave behind all that the smaller steps reach.
        let mut dims: Vec<usize> = (0..self.shape.len()).filter(|d| self.shape[*d] > 1).collect();
        dims.sort_by_key(|dim| self.strides[*dim].unsigned_abs());
        let mut reach = item_bytes as u128;
        for dim in dims {
            let step = self.strides[dim].unsigned_abs() as u128;
            if step < reach {
                return Err(TeamError::BufferRepeats { buffer: number, dim });
            }
            reach += step * u128::from(self.shape[dim] - 1);
        }
        Ok(())
    }
}

/// Checks a rank's buffers against its layout.
pub(crate) fn check_shapes(
    side: &'static str,
    given: &[Buffer],
    layout: &Layout,
    rank: u64,
) -> Result<()> {
    check_against(side, given, &layout.local_shapes(rank).collect::<Vec<_>>())
}

/// Checks a rank's buffers against the shapes that its layout asks for.
pub(crate) fn check_against(
    side: &'static str,
    given: &[Buffer],
    wanted: &[Vec<u64>],
) -> Result<()> {
    if given.len() != wanted.len() {
        return Err(TeamError::BufferCount { n_given: given.len(), n_wanted: wanted.len(), side });
    }
    for (number, (given, wanted)) in given.iter().zip(wanted).enumerate() {
        if given.shape != *wanted {
            let (given, wanted) = (given.shape.clone(), wanted.clone());
            return Err(TeamError::BufferShape { side, buffer: number, given, wanted });
        }
    }
    Ok(())
}
