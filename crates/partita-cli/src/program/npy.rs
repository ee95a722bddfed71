//! Arrays from `.npy` files.

use partita_array::run::Argument;
use partita_kernel::Dtype;

/// Reads an array; says what is wrong where it is none.
pub(super) fn read(path: &str) -> Result<Argument, String> {
    let bytes = std::fs::read(path).map_err(|error| {
        format!("`{path}` is no number and no file ({error}); give a number or FILE.npy")
    })?;
    parse(&bytes).ok_or_else(|| {
        format!(
            "{path} is no array that can be read; save numbers with numpy.save, little end first"
        )
    })
}

/// An array from the bytes of a file; none if it is not one.
pub(super) fn parse(bytes: &[u8]) -> Option<Argument> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (&major, rest) = rest.split_first()?;
    let rest = rest.get(1..)?;
    let (length, rest) = match major {
        1 => (usize::from(u16::from_le_bytes(rest.get(..2)?.try_into().ok()?)), &rest[2..]),
        _ => (u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize, &rest[4..]),
    };
    let header = std::str::from_utf8(rest.get(..length)?).ok()?;
    let data = rest.get(length..)?;
    let dtype = dtype(&quoted(header, "'descr':")?)?;
    let after = header.split("'shape':").nth(1)?;
    let inner = after.split_once('(')?.1.split_once(')')?.0;
    let sizes = inner.split(',').map(str::trim).filter(|word| !word.is_empty());
    let shape: Vec<usize> = sizes.map(str::parse).collect::<Result<_, _>>().ok()?;
    let n_elements = shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
    let data = data.get(..n_elements.checked_mul(dtype.size())?)?;
    let is_turned = header.split("'fortran_order':").nth(1)?.trim_start().starts_with("True");
    let bytes = match is_turned {
        true => c_order(data, &shape, dtype.size()).into(),
        false => data.into(),
    };
    Some(Argument::Array { shape, dtype, bytes })
}

fn quoted(header: &str, key: &str) -> Option<String> {
    let after = header.split(key).nth(1)?.trim_start().strip_prefix('\'')?;
    after.split_once('\'').map(|(word, _)| word.to_string())
}

fn dtype(code: &str) -> Option<Dtype> {
    Some(match code {
        "|b1" => Dtype::Bool,
        "|i1" => Dtype::Int8,
        "|u1" => Dtype::UInt8,
        "<i2" => Dtype::Int16,
        "<i4" => Dtype::Int32,
        "<i8" => Dtype::Int64,
        "<u2" => Dtype::UInt16,
        "<u4" => Dtype::UInt32,
        "<u8" => Dtype::UInt64,
        "<f2" => Dtype::Float16,
        "<f4" => Dtype::Float32,
        "<f8" => Dtype::Float64,
        "<c8" => Dtype::Complex64,
        "<c16" => Dtype::Complex128,
        _ => return None,
    })
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
mod tests {
    use super::*;

    fn file(order: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': (2, 3), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn both_orders_are_read_and_short_files_are_not() {
        let found = |bytes: &[u8]| match parse(bytes) {
            Some(Argument::Array { bytes, .. }) => Some(bytes.to_vec()),
            _ => None,
        };
        assert_eq!(found(&file("False", &[1, 2, 3, 4, 5, 6])), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(found(&file("True", &[1, 4, 2, 5, 3, 6])), Some(vec![1, 2, 3, 4, 5, 6]));
        let whole = file("False", &[1, 2, 3, 4, 5, 6]);
        assert!((0..whole.len()).all(|length| found(&whole[..length]).is_none()));
    }
}
