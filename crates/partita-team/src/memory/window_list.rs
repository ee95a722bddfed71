//! The list of a window's arrays, as its owner writes it and others read it: where each lies, and
//! a description that only the layers above understand.

use crate::memory::arena::Block;

/// Words before the arrays: version, number of arrays, bytes of the description.
const HEAD_WORDS: usize = 3;
/// Address, bytes, offset and bytes of the block, where they begin in it.
const WORDS_PER_ARRAY: usize = 5;
const WORD_BYTES: usize = size_of::<u64>();

/// Where an array's bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArrayPlace {
    /// In the memory of its process.
    pub address: usize,
    pub n_bytes: usize,
    /// Where they lie in the file of its arena; none if they lie elsewhere.
    pub in_file: Option<InFile>,
}

/// Bytes in a block of an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InFile {
    pub block: Block,
    /// From the beginning of the block.
    pub start: usize,
}

/// What a window shows at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ArrayList {
    /// Counts what the window has shown, in its owner's way.
    pub version: u64,
    pub places: Vec<ArrayPlace>,
    pub description: Vec<u8>,
}

impl ArrayPlace {
    fn words(self) -> [usize; WORDS_PER_ARRAY] {
        // A block of no bytes is none.
        let none = InFile { block: Block { offset: 0, n_bytes: 0 }, start: 0 };
        let InFile { block, start } = self.in_file.unwrap_or(none);
        [self.address, self.n_bytes, block.offset, block.n_bytes, start]
    }

    fn read([address, n_bytes, offset, block_bytes, start]: [usize; 5]) -> Option<Self> {
        if block_bytes == 0 {
            return Some(Self { address, n_bytes, in_file: None });
        }
        let is_inside = start.checked_add(n_bytes).is_some_and(|end| end <= block_bytes);
        let in_file = InFile { block: Block { offset, n_bytes: block_bytes }, start };
        is_inside.then_some(Self { address, n_bytes, in_file: Some(in_file) })
    }
}

impl ArrayList {
    pub(super) fn encode(&self) -> Vec<u8> {
        let head = [self.version as usize, self.places.len(), self.description.len()];
        let places = self.places.iter().flat_map(|place| place.words());
        let words = head.into_iter().chain(places);
        let mut bytes: Vec<u8> = words.flat_map(|word| (word as u64).to_le_bytes()).collect();
        bytes.extend(&self.description);
        bytes
    }

    /// None where the bytes are no list, as another version of the library may write one.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = words::<HEAD_WORDS>(bytes)?;
        let [version, n_arrays, n_described] = head;
        let mut rest = rest;
        let mut places = Vec::new();
        for _ in 0..n_arrays {
            let (array, after) = words::<WORDS_PER_ARRAY>(rest)?;
            places.push(ArrayPlace::read(array)?);
            rest = after;
        }
        let description = rest.to_vec();
        (description.len() == n_described).then_some(Self {
            version: version as u64,
            places,
            description,
        })
    }
}

/// The first words, and what follows.
fn words<const N: usize>(bytes: &[u8]) -> Option<([usize; N], &[u8])> {
    let (first, rest) = bytes.split_at_checked(N * WORD_BYTES)?;
    let mut found = [0; N];
    for (word, bytes) in found.iter_mut().zip(first.chunks_exact(WORD_BYTES)) {
        *word = usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()?;
    }
    Some((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written_and_nothing_else_is() {
        let block = Block { offset: 8192, n_bytes: 4096 };
        let places = vec![
            ArrayPlace { address: 100, n_bytes: 96, in_file: Some(InFile { block, start: 4000 }) },
            ArrayPlace { address: 7, n_bytes: 0, in_file: None },
        ];
        let list = ArrayList { version: 3, places, description: b"words".to_vec() };
        let bytes = list.encode();
        assert_eq!(ArrayList::decode(&bytes), Some(list.clone()));
        for length in 0..bytes.len() {
            assert_eq!(ArrayList::decode(&bytes[..length]), None, "{length} bytes");
        }
        let mut beyond = list;
        beyond.places[0].n_bytes = 97;
        assert_eq!(ArrayList::decode(&beyond.encode()), None, "bytes beyond the block");
    }
}
