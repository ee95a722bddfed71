//! Lazy arrays for Python: `Array` with native operators, on the engine of its rank.
//!
//! - `rank`: the engine of one rank and the lock under which it is touched.
//! - `forms`: the shapes that an array was given.
//! - `array`: the class; `operators`: its slots; `indexing`: `a[key]` and `a[key] = value`.
//! - `given`: operands from Python; `types`: element types of NumPy.
//! - `reductions`: `a.sum()` and the like.
//! - `functions`: what `partita.sin` and the like are.
//! - `memory`: an array's memory for others; `shown`: all of it for NumPy, on one rank.

mod array;
mod forms;
mod functions;
mod given;
mod indexing;
mod lines;
mod memory;
mod operators;
mod rank;
mod reductions;
mod shown;
mod types;

use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<rank::Rank>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<functions::Elementwise>()?;
    module.add_class::<functions::UfuncBase>()?;
    module.add_class::<memory::SharedMemory>()?;
    functions::add(module)
}
