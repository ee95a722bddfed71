//! Programs: what is to be computed for every point of an iteration space.
//!
//! A program is plain data: instructions in the order of their results, what is stored, and
//! which axes are reduced or run along. Strides, extents, pointers and scalars come with the
//! call. [`Builder`] makes one, [`Program::verify`] says whether it means anything; a program
//! that was looked up in the cache has been verified once.
//!
//! ```
//! use partita_kernel::{Builder, Dtype};
//! let mut b = Builder::new(2);
//! let x = b.input(Dtype::Float64);
//! let y = b.input(Dtype::Float64);
//! let half = b.constant(0.5);
//! let sum = b.add(x, y);
//! let mean = b.multiply(sum, half);
//! b.store(mean);
//! assert!(b.finish().verify().is_ok());
//! ```
//!
//! Programs have no branches, no loops of their own and no memory beyond their inputs.

mod builder;
mod op;
mod scalar;
mod verify;

pub use builder::Builder;
pub use op::Op;
pub use scalar::Scalar;

use crate::dtype::Dtype;

/// The most dimensions an iteration space may have.
pub const MAX_NDIM: usize = 16;
/// The most inputs, and the most outputs, of a program.
pub const MAX_BUFFERS: usize = 64;
/// The most instructions of a program.
pub const MAX_INSTRUCTIONS: usize = 4096;

/// The result of one instruction, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Value(pub u16);

/// One operation with its operands and the type of its result.
///
/// The first operand of a source is a number: which input, scalar, constant or axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Instruction {
    /// What is done.
    pub op: Op,
    /// The type of the result.
    pub dtype: Dtype,
    /// The operands; unused ones are zero.
    pub operands: [Value; 3],
}

/// How a reduction combines elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the Array API")]
pub enum Reduction {
    Sum,
    Product,
    Minimum,
    Maximum,
    Any,
    All,
    /// How many elements are not zero, as int64.
    Count,
    /// Index of the first smallest element (NaN before all) among the reduced axes, C order.
    ArgMin,
    ArgMax,
    Mean,
    /// Mean squared distance from the mean; the divisor is the count less the output's
    /// correction.
    Variance,
    /// The mean that a variance finds on its way, and the elements at which the first smallest and
    /// the first largest are: beside these, of the same value, they cost nothing. Where a variance
    /// is not finite, its mean is any number.
    VarianceMean,
    ArgMinValue,
    ArgMaxValue,
}

/// What becomes of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Written for every point.
    Store,
    /// Combined over the program's reduced axes.
    Reduce(Reduction),
    /// Running sum along the program's scanned axis.
    RunningSum,
    /// Running product along the program's scanned axis.
    RunningProduct,
}

/// One output: a value and what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Output {
    /// The value written or combined.
    pub value: Value,
    /// What becomes of it.
    pub action: Action,
    /// What a variance's divisor is corrected by: a float64 scalar or constant.
    pub correction: Value,
}

/// What somebody asked of the builder that no program can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// So many dimensions.
    Dimensions(usize),
    /// A reduction over, or a running sum along, an axis beyond all.
    Axis(usize),
    /// Positions along an axis beyond all, as instruction `at`.
    #[allow(missing_docs, reason = "the words are those of the error")]
    Index { at: usize, axis: usize },
    /// An operation with more or fewer operands than it has, as instruction `at`.
    #[allow(missing_docs, reason = "the words are those of the error")]
    Operands { at: usize, op: Op, given: usize },
}

/// A list of instructions over an iteration space, with outputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Program {
    /// Dimensions of the iteration space.
    pub ndim: u16,
    /// Bit `k` set: axis `k` is reduced by every reduction.
    pub reduced_axes: u16,
    /// The axis along which running sums run.
    pub scan_axis: u16,
    /// Element types of the input buffers.
    pub inputs: Vec<Dtype>,
    /// Types of the scalars that come with a call.
    pub scalars: Vec<Dtype>,
    /// Values that are part of the program.
    pub constants: Vec<Scalar>,
    /// Instructions; operands name earlier ones.
    pub instructions: Vec<Instruction>,
    /// What is written, in the order of the output buffers.
    pub outputs: Vec<Output>,
    /// Why this is no program, where the builder was asked for what none can say.
    pub fault: Option<Fault>,
}

impl Reduction {
    /// The reduction that finds the same on its way.
    pub(crate) fn way(self) -> Reduction {
        match self {
            Reduction::VarianceMean => Reduction::Variance,
            Reduction::ArgMinValue => Reduction::ArgMin,
            Reduction::ArgMaxValue => Reduction::ArgMax,
            other => other,
        }
    }

    /// Whether values of this type can be combined so.
    #[must_use]
    pub fn takes(self, dtype: Dtype) -> bool {
        use crate::dtype::Kind;
        match self.way() {
            Reduction::Sum | Reduction::Product => dtype != Dtype::Bool,
            Reduction::Minimum | Reduction::Maximum | Reduction::ArgMin | Reduction::ArgMax => {
                dtype.kind() != Kind::Complex
            }
            Reduction::Any | Reduction::All => dtype == Dtype::Bool,
            Reduction::Count => true,
            Reduction::Mean => matches!(dtype.kind(), Kind::Float | Kind::Complex),
            _ => dtype.kind() == Kind::Float,
        }
    }

    /// The type of the result for values of this type.
    #[must_use]
    pub fn gives(self, dtype: Dtype) -> Dtype {
        match self {
            Reduction::Count | Reduction::ArgMin | Reduction::ArgMax => Dtype::Int64,
            _ => dtype,
        }
    }

    /// Whether combining no elements at all has a result.
    #[must_use]
    pub fn has_empty(self) -> bool {
        !matches!(
            self.way(),
            Reduction::Minimum | Reduction::Maximum | Reduction::ArgMin | Reduction::ArgMax
        )
    }
}

impl Program {
    /// The instruction that makes a value.
    #[must_use]
    pub fn instruction(&self, value: Value) -> &Instruction {
        &self.instructions[value.0 as usize]
    }

    /// The type of a value.
    #[must_use]
    pub fn dtype(&self, value: Value) -> Dtype {
        self.instruction(value).dtype
    }

    /// The element type of an output buffer.
    #[must_use]
    pub fn output_dtype(&self, output: usize) -> Dtype {
        let Output { value, action, .. } = self.outputs[output];
        match action {
            Action::Reduce(reduction) => reduction.gives(self.dtype(value)),
            _ => self.dtype(value),
        }
    }

    /// Whether any output is a reduction.
    #[must_use]
    pub fn reduces(&self) -> bool {
        self.outputs.iter().any(|o| matches!(o.action, Action::Reduce(_)))
    }

    /// Whether any output runs along an axis.
    #[must_use]
    pub fn scans(&self) -> bool {
        let runs = |o: &Output| matches!(o.action, Action::RunningSum | Action::RunningProduct);
        self.outputs.iter().any(runs)
    }

    /// Whether axis `axis` is reduced.
    #[must_use]
    pub fn is_reduced(&self, axis: usize) -> bool {
        self.reduced_axes >> axis & 1 == 1
    }
}
