//! Matrices as Python hands them over.

use partita_plan::Dtype;
use partita_sparse::{Index, Matrix, Pattern, SparseError, Triplets};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::local::block::{Block, refused};

/// Row pointers and columns of one type.
pub(super) struct GivenPattern {
    pub indptr: Block,
    pub indices: Block,
}

impl GivenPattern {
    pub(super) fn new(indptr: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>) -> PyResult<Self> {
        let indptr = vector(indptr)?;
        let indices = vector(indices)?;
        same_type(&indices, indptr.dtype)?;
        Ok(Self { indptr, indices })
    }

    pub(super) fn index(&self) -> Dtype {
        self.indptr.dtype
    }

    pub(super) fn pattern<I: Index>(&self) -> PyResult<Pattern<'_, I>> {
        Pattern::new(row(&self.indptr)?, row(&self.indices)?).map_err(sparse_error)
    }
}

/// A pattern with values.
pub(super) struct GivenMatrix {
    pub pattern: GivenPattern,
    pub data: Block,
}

/// What Python calls a matrix: row pointers, columns, values.
pub(super) type Three<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

impl GivenMatrix {
    pub(super) fn new((indptr, indices, data): &Three<'_>) -> PyResult<Self> {
        Ok(Self { pattern: GivenPattern::new(indptr, indices)?, data: vector(data)? })
    }

    pub(super) fn matrix<I: Index, T>(&self) -> PyResult<Matrix<'_, I, T>> {
        let (indptr, indices) = (row(&self.pattern.indptr)?, row(&self.pattern.indices)?);
        Matrix::new(indptr, indices, row(&self.data)?).map_err(sparse_error)
    }

    /// Refuses a matrix whose types are not those of another.
    pub(super) fn like(&self, other: &GivenMatrix) -> PyResult<()> {
        same_type(&self.pattern.indptr, other.pattern.index())?;
        same_type(&self.data, other.data.dtype)
    }
}

/// Rows, columns and values of entries.
pub(super) struct GivenTriplets {
    pub rows: Block,
    pub columns: Block,
    pub values: Block,
}

impl GivenTriplets {
    pub(super) fn new((rows, columns, values): &Three<'_>) -> PyResult<Self> {
        let (rows, columns, values) = (vector(rows)?, vector(columns)?, vector(values)?);
        same_type(&columns, rows.dtype)?;
        Ok(Self { rows, columns, values })
    }

    pub(super) fn lists<I: Index, T>(&self) -> PyResult<Triplets<'_, I, T>> {
        let (rows, columns, values) = (row(&self.rows)?, row(&self.columns)?, row(&self.values)?);
        Ok(Triplets { rows, columns, values })
    }
}

/// An array of one dimension.
pub(super) fn vector(object: &Bound<'_, PyAny>) -> PyResult<Block> {
    let block = Block::new(object)?;
    match block.extents.len() {
        1 => Ok(block),
        n => Err(refused(&format!("an array has {n} dimensions; use one"))),
    }
}

/// All elements of an array.
pub(super) fn row<T>(block: &Block) -> PyResult<&[T]> {
    expect_aligned::<T>(block)?;
    block.row()
}

/// All elements of an array, to write.
pub(super) fn row_mut<T>(block: &mut Block) -> PyResult<&mut [T]> {
    expect_aligned::<T>(block)?;
    block.row_mut()
}

fn expect_aligned<T>(block: &Block) -> PyResult<()> {
    match block.n_elements() == 0 || block.addresses().start.is_multiple_of(align_of::<T>()) {
        true => Ok(()),
        false => Err(refused("elements lie at odd addresses; copy the array first")),
    }
}

/// Refuses elements of another type.
pub(super) fn same_type(block: &Block, wanted: Dtype) -> PyResult<()> {
    match block.dtype == wanted {
        true => Ok(()),
        false => {
            let (found, wanted) = (block.dtype.name(), wanted.name());
            Err(refused(&format!("elements are {found} beside {wanted}; use one type")))
        }
    }
}

/// Refuses a result that shares memory with what it is made from.
pub(super) fn apart(result: &Block, others: &[&Block]) -> PyResult<()> {
    let own = result.addresses();
    let meets = |other: &&Block| {
        let other = other.addresses();
        own.start < other.end && other.start < own.end
    };
    match others.iter().any(meets) {
        false => Ok(()),
        true => Err(refused("the result shares memory with an operand; copy one of them")),
    }
}

/// Rows of a vector or matrix, and numbers per row.
pub(super) fn rows_and_width(block: &Block) -> PyResult<[usize; 2]> {
    match block.extents[..] {
        [n] => Ok([n, 1]),
        [n, width] => Ok([n, width]),
        _ => {
            let n = block.extents.len();
            Err(refused(&format!("an operand has {n} dimensions; use vectors or matrices")))
        }
    }
}

/// Refuses operands of which some are vectors and some matrices, or rows of other widths.
pub(super) fn one_width(blocks: &[&Block]) -> PyResult<usize> {
    let [first, others @ ..] = blocks else { return Ok(1) };
    let [_, width] = rows_and_width(first)?;
    for other in others {
        if other.extents.len() != first.extents.len() || rows_and_width(other)?[1] != width {
            let (one, two) = (&first.extents, &other.extents);
            let message =
                format!("operands of shapes {one:?} and {two:?} do not fit; use one width");
            return Err(refused(&message));
        }
    }
    Ok(width)
}

/// What a matrix was refused for.
#[allow(clippy::needless_pass_by_value, reason = "it is given to map_err")]
pub(super) fn sparse_error(error: SparseError) -> PyErr {
    match error {
        SparseError::NoMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Runs code with `$I` as the type of indices.
macro_rules! with_index {
    ($dtype:expr, $I:ident => $code:expr) => {
        match $dtype {
            partita_plan::Dtype::I32 => {
                type $I = i32;
                $code
            }
            partita_plan::Dtype::I64 => {
                type $I = i64;
                $code
            }
            other => Err(crate::local::block::refused(&format!(
                "indices are {}; use int32 or int64",
                other.name()
            ))),
        }
    };
}

/// Runs code with `$T` as a type that adds and multiplies as the values do: integers wrap, so that
/// unsigned ones do the work of signed ones.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $code:expr) => {{
        use partita_plan::Dtype;
        match $dtype {
            Dtype::Bool => {
                type $T = partita_sparse::Truth;
                $code
            }
            Dtype::I8 | Dtype::U8 => {
                type $T = u8;
                $code
            }
            Dtype::I16 | Dtype::U16 => {
                type $T = u16;
                $code
            }
            Dtype::I32 | Dtype::U32 => {
                type $T = u32;
                $code
            }
            Dtype::I64 | Dtype::U64 => {
                type $T = u64;
                $code
            }
            Dtype::F32 => {
                type $T = f32;
                $code
            }
            Dtype::F64 => {
                type $T = f64;
                $code
            }
            Dtype::C64 => {
                type $T = [f32; 2];
                $code
            }
            Dtype::C128 => {
                type $T = [f64; 2];
                $code
            }
            other => crate::local::sparse::given::no_number(other),
        }
    }};
}

/// The same where values are compared too: signed integers are themselves.
macro_rules! with_ordered {
    ($dtype:expr, $T:ident => $code:expr) => {{
        use crate::local::sparse::given::with_number;
        use partita_plan::Dtype;
        match $dtype {
            Dtype::I8 => {
                type $T = i8;
                $code
            }
            Dtype::I16 => {
                type $T = i16;
                $code
            }
            Dtype::I32 => {
                type $T = i32;
                $code
            }
            Dtype::I64 => {
                type $T = i64;
                $code
            }
            other => with_number!(other, $T => $code),
        }
    }};
}

/// The error of values without sums here.
pub(super) fn no_number<R>(dtype: Dtype) -> PyResult<R> {
    Err(refused(&format!("values are {}; use float32", dtype.name())))
}

pub(super) use {with_index, with_number, with_ordered};
