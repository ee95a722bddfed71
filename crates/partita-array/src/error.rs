//! What can go wrong when programs run.

use partita_kernel::{Dtype, KernelError};
use partita_team::TeamError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, LocalError>;

partita_error::errors! {
    /// Why an operation on arrays of one rank was refused.
    pub enum LocalError {
        NoMemory { n_bytes: usize } "no-memory" =>
            "the system has no {n_bytes} bytes of memory left; use smaller arrays or more ranks";
        TooLarge { shape: Vec<usize> } "array-too-large" =>
            "an array of the shape {shape:?} has more bytes than an address space; use a smaller one";
        TooManyDims { ndim: usize, most: usize } "dimensions" =>
            "an array of {ndim} dimensions, where {most} are the most that can be computed with; \
             use reshape to join some of them, or squeeze those of size 1";
        ShapesDiffer { first: Vec<usize>, second: Vec<usize>, about: String } "shapes-differ" =>
            "the shapes {first:?} and {second:?} do not fit{about}; use equal sizes, or sizes of 1";
        SliceOutside { dim: usize, offset: i64, size: i64, stride: i64, extent: usize }
            "slice-outside" =>
            "{size} entries from {offset} on with stride {stride} leave dimension {dim} of size \
             {extent}; use a slice inside";
        ReshapeSize { from: Vec<usize>, to: Vec<usize> } "reshape-size" =>
            "the shape {from:?} cannot become {to:?}; use a shape of as many elements";
        DtypesDiffer { first: Dtype, second: Dtype } "dtypes-differ" =>
            "elements of {first} and {second} where one type is needed; cast one of them";
        ReadOnly { shape: Vec<usize>, why: &'static str } "read-only" =>
            "this array of shape {shape:?} is read-only: {why}; write to a copy";
        Kernel { error: KernelError } "kernel" =>
            "the kernel was refused: {error}; use another operation or type";
        MemoryLimit { n_bytes: usize, limit: usize, largest: String } "memory-limit" =>
            "the program would need {n_bytes} bytes for arrays where {limit} are allowed{largest}; \
             use smaller arrays, more ranks, or a higher memory_limit";
        MemoryLimitOn { rank: u64, n_bytes: usize, limit: usize, largest: String } "memory-limit" =>
            "the program would need {n_bytes} bytes for arrays on rank {rank} where {limit} are \
             allowed{largest}; use smaller arrays, more ranks, or a higher memory_limit";
        Lost { shape: Vec<usize>, why: String } "elements-lost" =>
            "the elements of this array of shape {shape:?} are lost, since computing them has \
             failed ({why}); make it anew";
        NoWords { what: String } "no-words" =>
            "the dialect ndarray has no words for {what}; use explain() to see what will run";
        Unplanned { problem: String } "movement" =>
            "the data cannot be moved: {problem}; this is a fault of partita, report it";
        ProgramsDiffer { at: usize, first: String, rank: usize, other: String }
            "programs-differ" =>
            "the ranks do not run the same program; they differ from operation {at} on: rank 0 \
             {first}, rank {rank} {other}; do the same operations on arrays on every rank";
        Team { error: TeamError } "team" => "{error}; see the other ranks";
    }
}

impl From<TeamError> for LocalError {
    fn from(error: TeamError) -> Self {
        Self::Team { error }
    }
}

impl From<KernelError> for LocalError {
    fn from(error: KernelError) -> Self {
        Self::Kernel { error }
    }
}
