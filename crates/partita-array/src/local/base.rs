//! Bases: the memory that arrays are windows of.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use partita_kernel::{Dtype, Scalar};
use partita_team::Memory;

use crate::error::{LocalError, Result};

/// Buffers of this size lie at different places of their pages, so that rows of several arrays
/// that are read together do not compete for the same lines of the cache.
const SPREAD_FROM_BYTES: usize = 1 << 20;
const SPREAD_STEP_BYTES: usize = 576;
const PAGE_BYTES: usize = 4096;

/// Memory of one base, freed (to the warm pool) with its last user.
#[derive(Debug)]
pub struct Storage {
    memory: Memory,
    shift_bytes: usize,
}

impl Storage {
    pub(super) fn new(n_bytes: usize) -> Result<Rc<Self>> {
        thread_local!(static TURN: Cell<usize> = const { Cell::new(0) });
        let shift_bytes = if n_bytes < SPREAD_FROM_BYTES {
            0
        } else {
            let turn = TURN.replace(TURN.get().wrapping_add(1));
            turn.wrapping_mul(SPREAD_STEP_BYTES) % PAGE_BYTES
        };
        let memory = n_bytes.checked_add(shift_bytes).and_then(Memory::try_new);
        let memory = memory.ok_or(LocalError::NoMemory { n_bytes })?;
        Ok(Rc::new(Self { memory, shift_bytes }))
    }

    /// Address of the first element.
    #[must_use]
    pub fn address(&self) -> usize {
        self.memory.address() + self.shift_bytes
    }
}

/// What several arrays are windows of.
#[derive(Debug)]
pub(super) struct Base {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// What was computed so far; nothing before the first flush that writes it.
    pub storage: RefCell<Option<Rc<Storage>>>,
    /// The number that every element has, as long as nobody has written any.
    pub fill: Cell<Option<Scalar>>,
    /// Its number among the bases of the pending work, and of which work.
    pub number: Cell<(u64, usize)>,
}

impl Base {
    pub fn new(shape: &[usize], dtype: Dtype) -> Self {
        Self {
            dtype,
            shape: shape.to_vec(),
            storage: RefCell::default(),
            fill: Cell::new(None),
            number: Cell::new((u64::MAX, 0)),
        }
    }

    pub fn n_bytes(&self) -> Option<usize> {
        let n_elements = self.shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
        n_elements.checked_mul(self.dtype.size()).filter(|n| *n <= isize::MAX as usize)
    }
}
