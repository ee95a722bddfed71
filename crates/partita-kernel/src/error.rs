//! What can be wrong with a program or a call, each with a stable reason code.
//!
//! Every message has three parts: what was wrong, the values, what to do.
//! Tests and callers match [`KernelError::reason`], never the text.

use crate::dtype::Dtype;
use crate::program::{Op, Reduction};
use std::fmt;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, KernelError>;

/// Why a program or a call was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the values named in the message")]
pub enum KernelError {
    TooMany { what: &'static str, count: usize, most: usize },
    NoOutput,
    OperandNotBefore { at: usize, operand: usize },
    OperandType { at: usize, op: Op, given: Dtype },
    OperandsDiffer { at: usize, op: Op, first: Dtype, other: Dtype },
    ResultType { at: usize, op: Op, given: Dtype, wanted: Dtype },
    SourceUnknown { at: usize, op: Op, number: usize, known: usize },
    OutputUnknown { output: usize, value: usize },
    ReductionType { output: usize, reduction: Reduction, given: Dtype },
    ScanType { output: usize, given: Dtype },
    CorrectionUnknown { output: usize, scalar: usize },
    ReducesAndScans,
    AxisUnknown { axis: usize, ndim: usize },
    CallCount { what: &'static str, given: usize, wanted: usize },
    ScalarType { scalar: usize, given: Dtype, wanted: Dtype },
    ExtentsOverflow { extents: Vec<usize> },
    SpanOverflow { what: &'static str, number: usize },
    EmptyReduction { output: usize, reduction: Reduction },
    OutputRepeats { output: usize, axis: usize },
    OutputReadElsewhere { output: usize, input: usize },
    OutputsOverlap { first: usize, second: usize },
}

impl KernelError {
    /// The stable name of the fault.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        use KernelError::*;
        match self {
            TooMany { .. } => "too-many",
            NoOutput => "no-output",
            OperandNotBefore { .. } => "operand-not-before",
            OperandType { .. } => "operand-type",
            OperandsDiffer { .. } => "operands-differ",
            ResultType { .. } => "result-type",
            SourceUnknown { .. } => "source-unknown",
            OutputUnknown { .. } => "output-unknown",
            ReductionType { .. } => "reduction-type",
            ScanType { .. } => "scan-type",
            CorrectionUnknown { .. } => "correction-unknown",
            ReducesAndScans => "reduces-and-scans",
            AxisUnknown { .. } => "axis-unknown",
            CallCount { .. } => "call-count",
            ScalarType { .. } => "scalar-type",
            ExtentsOverflow { .. } => "extents-overflow",
            SpanOverflow { .. } => "span-overflow",
            EmptyReduction { .. } => "empty-reduction",
            OutputRepeats { .. } => "output-repeats",
            OutputReadElsewhere { .. } => "output-read-elsewhere",
            OutputsOverlap { .. } => "outputs-overlap",
        }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use KernelError::*;
        match self {
            TooMany { what, count, most } => {
                write!(f, "{count} {what} are too many: split the program, at most {most} each")
            }
            NoOutput => write!(f, "the program has no output: store or reduce a value"),
            OperandNotBefore { at, operand } => write!(
                f,
                "instruction {at} uses {operand}, which does not come before it: order the list"
            ),
            OperandType { at, op, given } => {
                write!(f, "instruction {at}: {op:?} does not take {given}: cast it first")
            }
            OperandsDiffer { at, op, first, other } => write!(
                f,
                "instruction {at}: {op:?} of {first} and {other}: cast them to one type first"
            ),
            ResultType { at, op, given, wanted } => {
                write!(f, "instruction {at}: {op:?} gives {wanted}, not {given}: correct its type")
            }
            SourceUnknown { at, op, number, known } => {
                write!(f, "instruction {at}: {op:?} {number} does not exist: there are {known}")
            }
            OutputUnknown { output, value } => {
                write!(f, "output {output} is value {value}, which no instruction makes")
            }
            ReductionType { output, reduction, given } => {
                write!(f, "output {output}: no {reduction:?} of {given}: cast it first")
            }
            ScanType { output, given } => {
                write!(f, "output {output}: nothing runs along {given}: cast it to an integer")
            }
            CorrectionUnknown { output, scalar } => write!(
                f,
                "output {output}: the variance's correction is scalar {scalar}: give a float64"
            ),
            ReducesAndScans => {
                write!(f, "the program has reductions and running sums: make it two programs")
            }
            AxisUnknown { axis, ndim } => {
                write!(f, "axis {axis} does not exist: the space has {ndim} dimensions")
            }
            CallCount { what, given, wanted } => {
                write!(f, "{given} {what} were given: the program has {wanted}")
            }
            ScalarType { scalar, given, wanted } => {
                write!(f, "scalar {scalar} is {given}: the program wants {wanted}")
            }
            ExtentsOverflow { extents } => {
                write!(f, "the extents {extents:?} have more points than an index can count")
            }
            SpanOverflow { what, number } => {
                write!(f, "{what} {number} reaches beyond the address space: check its strides")
            }
            EmptyReduction { output, reduction } => {
                write!(f, "output {output}: {reduction:?} of no elements has no value")
            }
            OutputRepeats { output, axis } => write!(
                f,
                "output {output} meets itself along axis {axis}: give strides that reach each element once"
            ),
            OutputReadElsewhere { output, input } => {
                write!(f, "output {output} overlaps input {input} at other points: write to a copy")
            }
            OutputsOverlap { first, second } => {
                write!(f, "outputs {first} and {second} overlap: give them memory of their own")
            }
        }
    }
}

impl std::error::Error for KernelError {}
