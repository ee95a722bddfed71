//! Bases: the memory that arrays are windows of.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use partita_kernel::{Dtype, Scalar};
use partita_team::{Access, Memory};

use super::meter::Meter;
use super::ranks::Spread;
use super::window::Window;
use crate::error::{LocalError, Result};

/// Buffers of this size lie at different places of their pages, so that rows of several arrays
/// that are read together do not compete for the same lines of the cache.
const SPREAD_FROM_BYTES: usize = 1 << 20;
const SPREAD_STEP_BYTES: usize = 576;
const PAGE_BYTES: usize = 4096;

/// Memory of one base: of the warm pool, or somebody else's that is kept alive.
pub struct Storage {
    address: usize,
    _owner: Box<dyn Any>,
    /// Who counts its bytes.
    counted: Option<(Rc<Meter>, usize)>,
    /// Bytes that are somebody else's.
    n_foreign_bytes: Option<usize>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some((meter, n_bytes)) = &self.counted {
            meter.remove(*n_bytes);
        }
    }
}

impl Storage {
    pub(super) fn new(n_bytes: usize, meter: &Rc<Meter>) -> Result<Rc<Self>> {
        thread_local!(static TURN: Cell<usize> = const { Cell::new(0) });
        let shift_bytes = if n_bytes < SPREAD_FROM_BYTES {
            0
        } else {
            let turn = TURN.replace(TURN.get().wrapping_add(1));
            turn.wrapping_mul(SPREAD_STEP_BYTES) % PAGE_BYTES
        };
        // Always the same size: any block of a base as large that was used before fits.
        let n_spare = if n_bytes < SPREAD_FROM_BYTES { 0 } else { PAGE_BYTES };
        let memory = n_bytes.checked_add(n_spare).and_then(Memory::try_filled);
        let memory = memory.ok_or(LocalError::NoMemory { n_bytes })?;
        meter.add(n_bytes);
        let counted = Some((Rc::clone(meter), n_bytes));
        let address = memory.address() + shift_bytes;
        Ok(Rc::new(Self { address, _owner: Box::new(memory), counted, n_foreign_bytes: None }))
    }

    /// Memory of somebody else, so many bytes.
    ///
    /// # Safety
    /// The memory stays where it is as long as the owner lives.
    pub(super) unsafe fn foreign(address: usize, n_bytes: usize, owner: Box<dyn Any>) -> Rc<Self> {
        Rc::new(Self { address, _owner: owner, counted: None, n_foreign_bytes: Some(n_bytes) })
    }

    /// Whether it is somebody else's and lies between two addresses. Where nothing lies the address
    /// counts, so that ranks without elements say the same as others.
    pub(super) fn is_foreign_in(&self, first: usize, end: usize) -> bool {
        self.n_foreign_bytes.is_some_and(|n_bytes| {
            self.address < end.max(first + 1) && first < self.address + n_bytes.max(1)
        })
    }

    /// Address of the first element.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What several arrays are windows of.
#[derive(Debug)]
pub(super) struct Base {
    pub dtype: Dtype,
    /// The window that is all of it.
    pub all: Window,
    /// What was computed so far; nothing before the first flush that writes it.
    pub storage: RefCell<Option<Rc<Storage>>>,
    /// The number that every element has, as long as nobody has written any.
    pub fill: Cell<Option<Scalar>>,
    /// Whether others look at the memory, so that it must stay the base's.
    pub is_shared: Cell<bool>,
    /// Whether nobody may write it.
    pub is_read_only: Cell<bool>,
    /// Where its elements are, on several ranks and once that is known.
    pub spread: RefCell<Option<Rc<Spread>>>,
    /// Whether its margins are those of the owners.
    pub is_fresh: Cell<bool>,
    /// How often somebody has written it, or will have by what is pending.
    pub n_writes: Cell<u64>,
    /// Why its elements are lost, if they are.
    pub lost: RefCell<Option<Rc<str>>>,
    /// Whether it was made from nothing, as by `ones`: it goes where new arrays go unless it meets
    /// data that ranks have divided. What every rank has does not keep it.
    pub is_from_nothing: Cell<bool>,
    /// Its number among the bases of a segment of pending work, and of which.
    pub number: Cell<(u64, usize)>,
    /// Its number among all bases that ranks have computed with, the same on all; zero before.
    pub serial: Cell<u64>,
}

impl Base {
    pub fn new(all: Window, dtype: Dtype) -> Self {
        Self {
            dtype,
            all,
            storage: RefCell::default(),
            fill: Cell::new(None),
            is_shared: Cell::new(false),
            is_read_only: Cell::new(false),
            spread: RefCell::default(),
            is_fresh: Cell::new(false),
            n_writes: Cell::new(0),
            lost: RefCell::default(),
            is_from_nothing: Cell::new(false),
            number: Cell::new((u64::MAX, 0)),
            serial: Cell::new(0),
        }
    }

    /// The memory; new memory of so many bytes if it has none.
    pub fn memory(&self, n_bytes: usize, meter: &Rc<Meter>) -> Result<Rc<Storage>> {
        let mut storage = self.storage.borrow_mut();
        Ok(match &*storage {
            Some(storage) => Rc::clone(storage),
            None => Rc::clone(storage.insert(Storage::new(n_bytes, meter)?)),
        })
    }

    /// Takes memory that others look at, too.
    pub fn lie_in(&self, storage: Rc<Storage>, access: Access) {
        *self.storage.borrow_mut() = Some(storage);
        self.is_shared.set(true);
        self.is_read_only.set(access == Access::Read);
    }

    pub fn shape(&self) -> &[usize] {
        &self.all.shape
    }

    pub fn n_bytes(&self) -> Option<usize> {
        let n_elements = self.shape().iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
        n_elements.checked_mul(self.dtype.size()).filter(|n| *n <= isize::MAX as usize)
    }
}
