//! The crate that computes: small programs over strided buffers, in one pass over memory.
//!
//! - [`program`]: what is to be computed.
//! - [`Machine`]: verifies, keeps kernels, runs calls.
//! - [`math`]: elementary functions on contiguous tiles, the same bits on every processor.
//!
//! Nothing here knows of ranks, layouts or Python.

mod cache;
pub mod dtype;
mod element;
#[cfg_attr(not(target_arch = "x86_64"), path = "emit/absent.rs")]
mod emit;
pub mod error;
mod machine;
pub mod math;
pub mod program;
mod simd;
mod space;
mod threads;
mod tiles;
mod whole;

pub use dtype::{Dtype, Kind};
pub use error::{KernelError, Result};
pub use machine::{Kernel, Machine, Settings};
pub use program::{
    Action, Builder, Fault, Instruction, Op, Output, Program, Reduction, Scalar, Value,
};
pub use space::{Call, View};
