//! The crate that computes: small programs over strided buffers, in one pass over memory.
//!
//! - [`program`]: what is to be computed.
//! - [`Machine`]: verifies, keeps kernels, runs calls.
//! - [`math`]: elementary functions on contiguous tiles, the same bits on every processor.
//!
//! A program is built, made into a kernel once, and called with any extents and strides:
//!
//! ```
//! use partita_kernel::{Builder, Call, Dtype, Machine, Reduction, View};
//!
//! // The distance from a point of every pair (x, y), and the largest of them.
//! let mut b = Builder::new(1);
//! let (x, y) = (b.input(Dtype::Float64), b.input(Dtype::Float64));
//! let centre = b.scalar(Dtype::Float64);
//! let (dx, dy) = (b.subtract(x, centre), b.subtract(y, centre));
//! let distance = b.hypot(dx, dy);
//! b.store(distance);
//! b.over(&[0]).reduce(distance, Reduction::Maximum);
//!
//! let machine = Machine::global();
//! let kernel = machine.kernel(&b.finish())?;
//!
//! // Both inputs lie in one buffer, every other number: strides are bytes.
//! let pairs = [4.0_f64, 5.0, 1.0, 1.0, 7.0, 9.0];
//! let (mut distances, mut largest) = ([0.0_f64; 3], 0.0_f64);
//! let inputs = [View::new(&pairs[0], &[16]), View::new(&pairs[1], &[16])];
//! let outputs = [
//!     View { data: distances.as_mut_ptr().cast(), strides: &[8] },
//!     View { data: std::ptr::from_mut(&mut largest).cast(), strides: &[0] },
//! ];
//! let scalars = [1.0.into()];
//! let call = Call { extents: &[3], inputs: &inputs, outputs: &outputs, scalars: &scalars };
//! // SAFETY: three points lie within the buffers, and nobody else uses them.
//! unsafe { machine.run(&kernel, &call)? };
//! assert_eq!(distances, [5.0, 0.0, 10.0]);
//! assert_eq!(largest, 10.0);
//! # Ok::<(), partita_kernel::KernelError>(())
//! ```
//!
//! `examples/plate.rs` runs one kernel again and again. Variables of the environment choose how the
//! machine of the process runs: see [`Settings`].
//!
//! Nothing here knows of ranks, layouts or Python.

mod cache;
pub mod dtype;
mod element;
#[cfg_attr(not(target_arch = "x86_64"), path = "emit/absent.rs")]
mod emit;
mod environment;
pub mod error;
mod machine;
pub mod math;
pub mod program;
pub mod room;
mod simd;
mod space;
pub mod threads;
mod tiles;
mod whole;

pub use dtype::{Dtype, Kind};
pub use error::{KernelError, Result};
pub use machine::{Kernel, Machine, Settings};
pub use program::{
    Action, Builder, Fault, Instruction, Op, Output, Program, Reduction, Scalar, Value,
};
pub use space::{Call, View};
