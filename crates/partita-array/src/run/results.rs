//! What a function gives back.

use std::hash::{DefaultHasher, Hash, Hasher};

use partita_ir::{Op, Scalar};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::dist::DistArray;
use super::problem::{Outcome, Problem, RunError, problem};
use super::value::{Number, Value};
use super::{Gather, Runner};
use crate::local::Array;
use crate::sparse::SparseTensor;

/// Elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// Elements per dimension.
    pub shape: Vec<usize>,
    /// The element type.
    pub dtype: Dtype,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// A part of a distributed array that this rank holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPart {
    /// Its first global index.
    pub offsets: Vec<u64>,
    /// Its elements.
    pub elements: Dense,
}

/// A slice of a partitioned tensor that this rank owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparsePart {
    /// Its first global index.
    pub offsets: Vec<u64>,
    /// Its elements, with coordinates counted from there.
    pub elements: SparseTensor,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultValue {
    /// A number with its type.
    Number(Number, Scalar),
    /// A whole array.
    Array(Dense),
    /// What this rank holds of a distributed array.
    Parts {
        /// The global shape.
        shape: Vec<u64>,
        /// Parts that have elements.
        parts: Vec<LocalPart>,
    },
    /// A whole sparse tensor, or one of this rank.
    Sparse(SparseTensor),
    /// What this rank owns of a partitioned tensor.
    SparseParts {
        /// The global shape.
        shape: Vec<u64>,
        /// Slices, at most one.
        parts: Vec<SparsePart>,
    },
}

impl Runner<'_> {
    pub(super) fn results(
        &mut self,
        function: Op,
        values: &[Value],
        gather: Gather,
    ) -> Outcome<Vec<ResultValue>> {
        let types = self.module.function_type(function).map(|ty| ty.results.clone());
        let types = types.unwrap_or_default();
        if gather == Gather::First && self.mover.n_ranks() > 1 {
            self.agree(values)?;
        }
        let mut results = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let scalar = types.get(at).and_then(partita_ir::Type::as_scalar);
            results.push(match value {
                Value::Number(number) => {
                    ResultValue::Number(*number, scalar.unwrap_or(Scalar::Index))
                }
                Value::Array(array) => ResultValue::Array(dense(array)?),
                Value::Dist(array) if gather == Gather::Nobody => local_parts(array)?,
                Value::Dist(array) => ResultValue::Array(self.gathered(array, gather)?),
                Value::Sparse(tensor) => {
                    if gather == Gather::First {
                        self.check_alike(at, tensor)?;
                    }
                    ResultValue::Sparse((**tensor).clone())
                }
                Value::Partitioned(tensor) if gather == Gather::Nobody => {
                    self.sparse_parts(tensor)?
                }
                Value::Partitioned(tensor) => ResultValue::Sparse(self.whole_sparse(tensor)?),
                Value::Handle(_) => {
                    return Err(problem("a handle cannot be returned; wait for it"));
                }
            });
        }
        Ok(results)
    }

    /// Refuses results that are not distributed and differ between ranks: one rank's would be shown
    /// for all.
    fn agree(&mut self, values: &[Value]) -> Outcome<()> {
        let mut own = Vec::new();
        for value in values {
            own.push(match value {
                Value::Number(number) => number.to_string(),
                Value::Array(array) => {
                    let mut hasher = DefaultHasher::new();
                    (array.shape(), array.to_bytes()?).hash(&mut hasher);
                    format!("an array of {:?} ({:016x})", array.shape(), hasher.finish())
                }
                _ => String::new(),
            });
        }
        if own.iter().all(String::is_empty) {
            return Ok(());
        }
        let all = self.mover.gather_bytes("results", own.join("\n").into_bytes())?;
        let texts: Vec<String> = all.iter().map(|b| String::from_utf8_lossy(b).into()).collect();
        match (1..texts.len()).find(|rank| texts[*rank] != texts[0]) {
            None => Ok(()),
            Some(rank) => Err(Problem::Named(differing(&texts[0], &texts[rank], rank))),
        }
    }

    fn gathered(&mut self, array: &DistArray, gather: Gather) -> Outcome<Dense> {
        if gather == Gather::All || array.shape.is_empty() {
            return dense(&self.whole(array)?);
        }
        let nothing =
            IndexBox { start: vec![0; array.shape.len()], shape: vec![0; array.shape.len()] };
        let mut wanted = vec![nothing; self.mover.n_ranks() as usize];
        wanted[0].shape = array.shape.clone();
        dense(&self.fetch(array, &wanted)?)
    }
}

/// The first result in which a rank differs from the first rank.
fn differing(first: &str, other: &str, rank: usize) -> RunError {
    let pairs = first.lines().zip(other.lines()).enumerate();
    let (number, (first, other)) =
        pairs.into_iter().find(|(_, (a, b))| a != b).unwrap_or((0, (first, other)));
    RunError::ResultsDiffer { number, first: first.into(), rank, other: other.into() }
}

fn dense(array: &Array) -> Outcome<Dense> {
    let bytes = array.to_bytes()?;
    Ok(Dense { shape: array.shape().to_vec(), dtype: array.dtype(), bytes })
}

fn local_parts(array: &DistArray) -> Outcome<ResultValue> {
    let part = |(place, part): (IndexBox, Array)| {
        Ok(LocalPart { offsets: place.start, elements: dense(&part)? })
    };
    let parts = array.pieces().into_iter().map(part).collect::<Outcome<_>>()?;
    Ok(ResultValue::Parts { shape: array.shape.clone(), parts })
}
