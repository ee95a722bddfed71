//! The Python module `partita._partita`: converts arguments and forwards, holds no algorithm.

#![allow(missing_docs, reason = "the Python docstrings are the documentation")]

mod allocator;
mod arrays;
mod bound;
mod buffers;
mod cli;
mod convert;
mod dist;
mod errors;
mod facts;
mod gathered;
mod interpreter;
mod ir;
mod layout;
mod lazy;
mod loan;
mod local;
mod maps;
mod moves;
mod mpi;
mod order;
mod pieces;
mod plan;
mod protocol;
mod run;
mod tasks;
mod team;
mod values;
mod window;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: allocator::HugePages = allocator::HugePages;

#[pymodule(gil_used = false)]
fn _partita(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Counts forks from now on: a child must know that it is one, whatever it uses first.
    partita_mpi::n_forks();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NO_MPIEXEC", partita_mpi::NO_MPIEXEC)?;
    module.add_class::<maps::Block>()?;
    module.add_class::<maps::Cyclic>()?;
    module.add_class::<maps::Whole>()?;
    module.add_class::<maps::Unstructured>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<pieces::Piece>()?;
    module.add_class::<pieces::Pieces>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<moves::Move>()?;
    module.add_class::<moves::Run>()?;
    module.add_class::<buffers::WarmMemory>()?;
    module.add_class::<loan::LentBytes>()?;
    module.add_class::<team::ThreadWorld>()?;
    module.add_class::<team::TeamCore>()?;
    module.add_class::<team::KeptTeam>()?;
    module.add_class::<team::Started>()?;
    module.add_class::<bound::BoundPlan>()?;
    module.add_class::<mpi::MpiWorld>()?;
    module.add_function(wrap_pyfunction!(mpi::is_launched, module)?)?;
    module.add_function(wrap_pyfunction!(mpi::launcher_place, module)?)?;
    module.add_function(wrap_pyfunction!(mpi::launcher_is_cut_off, module)?)?;
    module.add_function(wrap_pyfunction!(mpi::find_mpiexec, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan::bytes_in_words, module)?)?;
    module.add_function(wrap_pyfunction!(plan::a_layout, module)?)?;
    module.add_function(wrap_pyfunction!(run::local_shapes, module)?)?;
    module.add_function(wrap_pyfunction!(cli::run_command, module)?)?;
    module.add_function(wrap_pyfunction!(cli::problems, module)?)?;
    module.add_function(wrap_pyfunction!(cli::run_doctor, module)?)?;
    module.add_function(wrap_pyfunction!(cli::run_program_rank, module)?)?;
    module.add_class::<ir::ProgramCore>()?;
    module.add_function(wrap_pyfunction!(ir::program_passes, module)?)?;
    module.add_function(wrap_pyfunction!(ir::default_passes, module)?)?;
    protocol::add(module)?;
    module.add_function(wrap_pyfunction!(loan::machine_name, module)?)?;
    module.add_function(wrap_pyfunction!(loan::set_kept_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::pack_parts, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::join_parts, module)?)?;
    order::add(module)?;
    lazy::add(module)?;
    local::add(module)?;
    window::add(module)?;
    dist::add(module)
}
