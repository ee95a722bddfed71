//! Arrays from `.npy` files.

use partita_array::run::Argument;
use partita_kernel::{Dtype, Kind};

/// An array as a file has it: in C order, the little end first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plain {
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    pub bytes: Vec<u8>,
}

impl From<Plain> for Argument {
    fn from(Plain { shape, dtype, bytes }: Plain) -> Self {
        Self::Array { shape, dtype, bytes: bytes.into() }
    }
}

/// Reads an array; says what is wrong where it is none.
pub(super) fn read(path: &str) -> Result<Argument, String> {
    let bytes = std::fs::read(path).map_err(|error| {
        format!("`{path}` is no number and no file ({error}); give a number, FILE.npy or FILE.npz")
    })?;
    if bytes.starts_with(b"PK") {
        return super::npz::parse(&bytes).map_err(|problem| format!("{path} {problem}"));
    }
    parse(&bytes).map(Into::into).map_err(|problem| format!("{path} {problem}"))
}

/// What the header of a file says, and what follows it.
pub(super) struct Header<'f> {
    pub code: String,
    pub shape: Vec<usize>,
    is_turned: bool,
    data: &'f [u8],
}

/// The header of a file; none if it has none.
pub(super) fn header(bytes: &[u8]) -> Option<Header<'_>> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (&major, rest) = rest.split_first()?;
    let rest = rest.get(1..)?;
    let (length, rest) = match major {
        1 => (usize::from(u16::from_le_bytes(rest.get(..2)?.try_into().ok()?)), &rest[2..]),
        _ => (u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize, &rest[4..]),
    };
    let header = std::str::from_utf8(rest.get(..length)?).ok()?;
    let after = header.split("'shape':").nth(1)?;
    let inner = after.split_once('(')?.1.split_once(')')?.0;
    let sizes = inner.split(',').map(str::trim).filter(|word| !word.is_empty());
    Some(Header {
        code: quoted(header, "'descr':")?,
        shape: sizes.map(str::parse).collect::<Result<_, _>>().ok()?,
        is_turned: header.split("'fortran_order':").nth(1)?.trim_start().starts_with("True"),
        data: rest.get(length..)?,
    })
}

impl<'f> Header<'f> {
    /// The bytes of all elements, each so large.
    pub(super) fn data(&self, size: usize) -> Option<&'f [u8]> {
        let n = self.shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
        self.data.get(..n.checked_mul(size)?)
    }
}

/// An array from the bytes of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Plain, String> {
    let header = header(bytes).ok_or("is no array; save one with numpy.save")?;
    let (dtype, is_big_end_first) = dtype(&header.code).ok_or_else(|| {
        format!("has elements of `{}`; save numbers or truth values", header.code)
    })?;
    let cut_off = "ends before its last element; save it again";
    let mut bytes = header.data(dtype.size()).ok_or(cut_off)?.to_vec();
    if is_big_end_first {
        let n_parts = if dtype.kind() == Kind::Complex { 2 } else { 1 };
        bytes.chunks_exact_mut(dtype.size() / n_parts).for_each(<[u8]>::reverse);
    }
    if header.is_turned {
        bytes = c_order(&bytes, &header.shape, dtype.size());
    }
    Ok(Plain { shape: header.shape, dtype, bytes })
}

fn quoted(header: &str, key: &str) -> Option<String> {
    let after = header.split(key).nth(1)?.trim_start().strip_prefix('\'')?;
    after.split_once('\'').map(|(word, _)| word.to_string())
}

/// The element type of a code, and whether the big end of each number comes first.
fn dtype(code: &str) -> Option<(Dtype, bool)> {
    let (order, kind) = code.split_at_checked(1)?;
    let dtype = match kind {
        "b1" => Dtype::Bool,
        "i1" => Dtype::Int8,
        "u1" => Dtype::UInt8,
        "i2" => Dtype::Int16,
        "i4" => Dtype::Int32,
        "i8" => Dtype::Int64,
        "u2" => Dtype::UInt16,
        "u4" => Dtype::UInt32,
        "u8" => Dtype::UInt64,
        "f2" => Dtype::Float16,
        "f4" => Dtype::Float32,
        "f8" => Dtype::Float64,
        "c8" => Dtype::Complex64,
        "c16" => Dtype::Complex128,
        _ => return None,
    };
    matches!(order, "<" | ">" | "|").then_some((dtype, order == ">"))
}

/// Elements whose first index runs fastest, with the last one running fastest.
fn c_order(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut sorted = Vec::with_capacity(data.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..data.len() / size.max(1) {
        let at = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i);
        sorted.extend_from_slice(&data[at * size..(at + 1) * size]);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    sorted
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file with so many elements of a type.
    pub(in crate::program) fn file(code: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{code}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn both_orders_are_read_and_short_files_are_not() {
        let found = |bytes: &[u8]| parse(bytes).map(|plain| plain.bytes);
        let six = |order, data: &[u8]| file("|u1", order, "(2, 3)", data);
        assert_eq!(found(&six("False", &[1, 2, 3, 4, 5, 6])), Ok(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(found(&six("True", &[1, 4, 2, 5, 3, 6])), Ok(vec![1, 2, 3, 4, 5, 6]));
        let whole = six("False", &[1, 2, 3, 4, 5, 6]);
        assert!((0..whole.len()).all(|length| found(&whole[..length]).is_err()));
    }

    #[test]
    fn the_big_end_may_come_first() {
        let bytes = [1.5_f64.to_be_bytes(), (-2.0_f64).to_be_bytes()].concat();
        let real = parse(&file(">f8", "False", "(2,)", &bytes)).expect("two numbers");
        assert_eq!(real.bytes, [1.5_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()].concat());
        let complex = parse(&file(">c16", "False", "(1,)", &bytes)).expect("one number");
        assert_eq!((complex.dtype, complex.bytes), (Dtype::Complex128, real.bytes));
    }

    #[test]
    fn other_elements_are_named() {
        let problem = parse(&file("<U3", "False", "(1,)", &[0; 12])).expect_err("no numbers");
        assert!(problem.contains("`<U3`"), "{problem}");
    }
}
