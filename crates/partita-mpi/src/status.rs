//! What a finished receive says: source, tag, length.
//!
//! `MPI_Status` has another layout in each ABI; arrays of them have another
//! stride. [`StatusArray`] is the memory MPI writes, [`Status`] what we read.

use super::Abi;
use std::ffi::{c_int, c_void};

/// Where MPI puts the public fields of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLayout {
    /// Size of one status, also the stride of an array.
    pub size_bytes: usize,
    /// Which `int` of it is the source.
    pub source: usize,
    /// Which `int` of it is the tag.
    pub tag: usize,
    /// Which `int` of it is the error code.
    pub error: usize,
}

impl StatusLayout {
    /// The layout in one ABI.
    pub fn of(abi: Abi) -> Self {
        match abi {
            Abi::Mpich => Self { size_bytes: 20, source: 2, tag: 3, error: 4 },
            Abi::Standard => Self { size_bytes: 32, source: 0, tag: 1, error: 2 },
            // Three ints, one private int and one size_t.
            Abi::OpenMpi => {
                Self { size_bytes: 16 + size_of::<usize>(), source: 0, tag: 1, error: 2 }
            }
        }
    }
}

/// What a finished receive, probe or request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// The rank the message came from; of no meaning for sends.
    pub source: i32,
    /// The tag of the message; of no meaning for sends.
    pub tag: i32,
    /// Length of the message in bytes; zero for sends.
    pub n_bytes: usize,
    /// Whether the request was cancelled before a message came.
    pub cancelled: bool,
}

impl Status {
    /// The status of several messages that carried one long one.
    pub(super) fn merge(self, next: Self) -> Self {
        Self {
            n_bytes: self.n_bytes + next.n_bytes,
            cancelled: self.cancelled || next.cancelled,
            ..self
        }
    }
}

/// Statuses side by side in memory, as MPI writes them.
#[derive(Debug)]
pub(super) struct StatusArray {
    // u64, because the status of Open MPI and of the standard is so aligned.
    words: Vec<u64>,
    len: usize,
    layout: StatusLayout,
}

impl StatusArray {
    pub(super) fn new(abi: Abi, len: usize) -> Self {
        let layout = StatusLayout::of(abi);
        // One to spare, so that an empty array still has an address to pass.
        let n_words = (layout.size_bytes * (len + 1)).div_ceil(8);
        Self { words: vec![0; n_words], len, layout }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    pub(super) fn at(&self, index: usize) -> *const c_void {
        assert!(index < self.len);
        // SAFETY: `index < len`, and `len` statuses fit into `words`.
        unsafe { self.words.as_ptr().cast::<u8>().add(index * self.layout.size_bytes).cast() }
    }

    fn int(&self, index: usize, field: usize) -> c_int {
        // SAFETY: `field` is one of the layout's, inside the status at `index`,
        // which is aligned for an int in every layout.
        unsafe { *self.at(index).cast::<c_int>().add(field) }
    }

    pub(super) fn source(&self, index: usize) -> c_int {
        self.int(index, self.layout.source)
    }

    pub(super) fn tag(&self, index: usize) -> c_int {
        self.int(index, self.layout.tag)
    }

    pub(super) fn error(&self, index: usize) -> c_int {
        self.int(index, self.layout.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two statuses as a C compiler lays them out, from the three headers.
    fn written_by_mpi(abi: Abi) -> Vec<c_int> {
        match abi {
            Abi::Mpich => vec![8, 0, 1, 11, 0, 16, 0, 2, 22, 15],
            Abi::Standard => vec![1, 11, 0, 9, 9, 9, 9, 9, 2, 22, 15, 9, 9, 9, 9, 9],
            Abi::OpenMpi => vec![1, 11, 0, 0, 8, 0, 2, 22, 15, 0, 16, 0],
        }
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn statuses_decode_in_every_abi() {
        for abi in Abi::ALL {
            let ints = written_by_mpi(abi);
            assert_eq!(ints.len() * 4, 2 * StatusLayout::of(abi).size_bytes, "{abi}");
            let mut array = StatusArray::new(abi, 2);
            // SAFETY: the array has room for two statuses, which the ints are.
            unsafe { array.as_mut_ptr().cast::<c_int>().copy_from(ints.as_ptr(), ints.len()) };
            for (index, expected) in [(1, 11, 0), (2, 22, 15)].iter().enumerate() {
                let found = (array.source(index), array.tag(index), array.error(index));
                assert_eq!(found, *expected, "{abi}");
            }
        }
    }

    #[test]
    fn parts_of_one_message_add_up() {
        let part = Status { source: 3, tag: 5, n_bytes: 10, cancelled: false };
        let whole = part.merge(Status { source: 3, tag: 5, n_bytes: 7, cancelled: false });
        assert_eq!(whole, Status { n_bytes: 17, ..part });
    }
}
