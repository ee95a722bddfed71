//! Sparse tensors from `.npz` files, as SciPy's `save_npz` and `numpy.savez` write them.
//!
//! A file has `shape` and `data`, and either `indptr` and `indices` (with `format`, `csr` or
//! `csc`), or `row` and `col`, or `coords`, a row of coordinates per dimension.

use std::collections::HashMap;

use partita_array::run::Argument;
use partita_array::sparse::{Format, SparseTensor};
use partita_kernel::{Dtype, Kind};

use super::npy::{self, Plain};

/// More bytes than this in one array are taken for a file that wants to fill the memory.
const MOST_BYTES: usize = 1 << 36;

/// A sparse tensor from the bytes of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Argument, String> {
    let files = Files(unzipped(bytes)?);
    let data = files.array("data")?;
    let shape: Vec<u64> = files.numbers("shape")?.into_iter().map(|n| n.max(0) as u64).collect();
    let format = files.format()?;
    let (positions, coordinates) = match format {
        Format::Coo => (Vec::new(), files.coordinates(shape.len())?),
        _ => (files.numbers("indptr")?, vec![files.numbers("indices")?]),
    };
    let Plain { dtype, bytes: values, .. } = data;
    let tensor = SparseTensor { shape, dtype, format, positions, coordinates, values };
    let tensor = tensor.checked().map_err(|error| format!("is no sparse tensor: {error}"))?;
    Ok(Argument::Sparse(tensor.into()))
}

/// The arrays of a file by name, not read yet.
struct Files(HashMap<String, Vec<u8>>);

impl Files {
    fn array(&self, name: &str) -> Result<Plain, String> {
        let known = self.0.keys().cloned().collect::<Vec<_>>().join(", ");
        let bytes = self.0.get(name).ok_or_else(|| {
            format!("has the arrays {known} and no `{name}`; save it with scipy.sparse.save_npz")
        })?;
        npy::parse(bytes).map_err(|problem| format!("has an array `{name}` that {problem}"))
    }

    fn numbers(&self, name: &str) -> Result<Vec<i64>, String> {
        integers(&self.array(name)?)
            .ok_or_else(|| format!("has `{name}` of other numbers than integers; save integers"))
    }

    /// As the file says; without a word, as its arrays say.
    fn format(&self) -> Result<Format, String> {
        let Some(bytes) = self.0.get("format") else {
            return Ok(if self.0.contains_key("indptr") { Format::Csr } else { Format::Coo });
        };
        let word: Option<String> = npy::header(bytes).and_then(|header| {
            let size = header.code.get(2..)?.parse::<usize>().ok()?;
            let width = if header.code.contains('U') { 4 } else { 1 };
            let data = header.data(size * width)?;
            Some(data.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect())
        });
        let word = word.unwrap_or_default();
        Format::from_name(&word)
            .ok_or_else(|| format!("is of the format `{word}`; save it as coo, csr or csc"))
    }

    fn coordinates(&self, ndim: usize) -> Result<Vec<Vec<i64>>, String> {
        if !self.0.contains_key("coords") {
            return ["row", "col"].into_iter().map(|name| self.numbers(name)).collect();
        }
        let all = self.numbers("coords")?;
        let n = all.len() / ndim.max(1);
        match n * ndim == all.len() {
            true => Ok(all.chunks(n.max(1)).map(<[i64]>::to_vec).collect()),
            false => Err(format!("has `coords` for other than {ndim} dimensions; save a row each")),
        }
    }
}

fn integers(plain: &Plain) -> Option<Vec<i64>> {
    let is_signed = plain.dtype.kind() == Kind::Signed;
    if !is_signed && plain.dtype.kind() != Kind::Unsigned || plain.dtype == Dtype::UInt64 {
        return None;
    }
    let size = plain.dtype.size();
    let number = |chunk: &[u8]| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(chunk);
        let shift = if is_signed { 64 - 8 * size as u32 } else { 0 };
        i64::from_le_bytes(wide) << shift >> shift
    };
    Some(plain.bytes.chunks_exact(size).map(number).collect())
}

/// The files of an archive, by name without `.npy`.
fn unzipped(bytes: &[u8]) -> Result<HashMap<String, Vec<u8>>, String> {
    let broken = || "is no archive of arrays; save it with scipy.sparse.save_npz".to_string();
    let end = (0..bytes.len().saturating_sub(21))
        .rev()
        .find(|at| bytes[*at..].starts_with(b"PK\x05\x06"))
        .ok_or_else(broken)?;
    let n_files = number(bytes, end + 10, 2).ok_or_else(broken)?;
    let mut at = number(bytes, end + 16, 4).ok_or_else(broken)?;
    let mut files = HashMap::new();
    for _ in 0..n_files {
        let entry = Entry::read(bytes, at).ok_or_else(broken)?;
        at = entry.next;
        let content = entry.content(bytes).ok_or_else(broken)?;
        files.insert(entry.name.trim_end_matches(".npy").to_string(), content);
    }
    Ok(files)
}

/// A file in the directory of an archive.
struct Entry {
    name: String,
    is_packed: bool,
    n_packed: usize,
    n_bytes: usize,
    start: usize,
    next: usize,
}

impl Entry {
    fn read(bytes: &[u8], at: usize) -> Option<Self> {
        bytes.get(at..)?.starts_with(b"PK\x01\x02").then_some(())?;
        let field = |offset: usize, size: usize| number(bytes, at + offset, size);
        let (name, extra, note) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
        let method = field(10, 2)?;
        Some(Self {
            name: String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned(),
            is_packed: method == 8,
            n_packed: field(20, 4)?,
            n_bytes: field(24, 4).filter(|n| *n <= MOST_BYTES && matches!(method, 0 | 8))?,
            start: field(42, 4)?,
            next: at + 46 + name + extra + note,
        })
    }

    fn content(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (name, extra) =
            (number(bytes, self.start + 26, 2)?, number(bytes, self.start + 28, 2)?);
        let start = self.start + 30 + name + extra;
        let packed = bytes.get(start..start.checked_add(self.n_packed)?)?;
        match self.is_packed {
            false => Some(packed.to_vec()),
            true => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, self.n_bytes).ok(),
        }
    }
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    usize::try_from(u64::from_le_bytes(wide)).ok()
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::file;
    use super::*;

    /// An archive of files, packed or not.
    fn archive(files: &[(&str, Vec<u8>)], is_packed: bool) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let packed = match is_packed {
                true => miniz_oxide::deflate::compress_to_vec(content, 6),
                false => content.clone(),
            };
            let start = bytes.len() as u32;
            let method = [if is_packed { 8_u8 } else { 0 }, 0];
            let sizes = [(packed.len() as u32).to_le_bytes(), (content.len() as u32).to_le_bytes()];
            let length = (name.len() as u16).to_le_bytes();
            let common = [&[20, 0, 0, 0][..], &method, &[0; 8], &sizes.concat(), &length, &[0, 0]];
            bytes.extend([&b"PK\x03\x04"[..], &common.concat(), name.as_bytes(), &packed].concat());
            let places = [&[0; 10][..], &start.to_le_bytes(), name.as_bytes()].concat();
            directory.extend([&b"PK\x01\x02\x14\x00"[..], &common.concat(), &places].concat());
        }
        let n = (files.len() as u16).to_le_bytes();
        let (start, size) =
            ((bytes.len() as u32).to_le_bytes(), (directory.len() as u32).to_le_bytes());
        bytes.extend(directory);
        bytes.extend([&b"PK\x05\x06\0\0\0\0"[..], &n, &n, &size, &start, &[0, 0]].concat());
        bytes
    }

    fn numbers(all: &[i64]) -> Vec<u8> {
        let bytes: Vec<u8> = all.iter().flat_map(|n| n.to_le_bytes()).collect();
        file("<i8", "False", &format!("({},)", all.len()), &bytes)
    }

    fn csr() -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("format.npy", file("|S3", "False", "()", b"csr")),
            ("shape.npy", numbers(&[2, 3])),
            ("data.npy", file("|u1", "False", "(3,)", &[7, 8, 9])),
            ("indptr.npy", numbers(&[0, 1, 3])),
            ("indices.npy", numbers(&[2, 0, 1])),
        ]
    }

    fn tensor(bytes: &[u8]) -> Result<SparseTensor, String> {
        match parse(bytes)? {
            Argument::Sparse(tensor) => Ok((*tensor).clone()),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn packed_and_plain_archives_are_read() {
        for is_packed in [false, true] {
            let found = tensor(&archive(&csr(), is_packed)).expect("a tensor");
            assert_eq!((found.format, found.shape.as_slice()), (Format::Csr, &[2, 3][..]));
            assert_eq!((found.positions, found.values), (vec![0, 1, 3], vec![7, 8, 9]));
        }
    }

    #[test]
    fn coordinates_are_rows_and_columns_or_one_array() {
        let pairs = [("row.npy", numbers(&[0, 1])), ("col.npy", numbers(&[2, 1]))];
        let one = [("coords.npy", numbers(&[0, 1, 2, 1]))];
        for lists in [&pairs[..], &one[..]] {
            let mut files =
                vec![csr()[1].clone(), ("data.npy", file("|u1", "False", "(2,)", &[7, 8]))];
            files.extend(lists.to_vec());
            let found = tensor(&archive(&files, false)).expect("a tensor");
            assert_eq!(found.coordinates, [[0, 1], [2, 1]]);
        }
    }

    #[test]
    fn what_is_cut_off_or_wrong_is_refused() {
        let whole = archive(&csr(), true);
        assert!((0..whole.len()).all(|length| tensor(&whole[..length]).is_err()));
        let without = |at: usize| {
            let mut files = csr();
            files.remove(at);
            tensor(&archive(&files, false)).expect_err("something is missing")
        };
        assert!(without(1).contains("no `shape`"));
        assert!(without(4).contains("no `indices`"));
        let mut files = csr();
        files[4].1 = numbers(&[2, 0, 3]);
        assert!(tensor(&archive(&files, false)).expect_err("outside").contains("coordinate 3"));
        files[0].1 = file("|S3", "False", "()", b"bsr");
        assert!(tensor(&archive(&files, false)).expect_err("a format").contains("`bsr`"));
    }
}
