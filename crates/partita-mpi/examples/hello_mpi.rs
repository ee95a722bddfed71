//! Says hello from every rank and checks all that partita needs of MPI.
//!
//! ```text
//! mpiexec -n 4 target/debug/examples/hello_mpi [path of libmpi] [--huge]
//! ```

#[path = "exercise/mod.rs"]
mod exercise;

use exercise::{Extent, Outcome, same};
use partita_mpi::{Init, Library, Search, ThreadLevel};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let path = arguments.iter().find(|argument| !argument.starts_with("--"));
    let search = path.map_or_else(Search::new, |path| Search::new().path(path));
    let library = search.open().unwrap_or_else(|error| {
        eprintln!("hello_mpi: {error}");
        std::process::exit(2)
    });
    let huge = arguments.iter().any(|argument| argument == "--huge");
    let extent = if huge { Extent::Huge } else { Extent::Usual };
    if let Err(error) = hello(&library, extent) {
        eprintln!("hello_mpi: {error}");
        library.abort(1)
    }
}

fn hello(library: &Library, extent: Extent) -> Outcome {
    let before = library.world().map(|_| ()).map_err(|error| error.reason());
    same("before init", before, Err("mpi-not-initialized"))?;
    let init = library.init(ThreadLevel::Multiple)?;
    let comm = library.world()?.dup()?;
    greet(library, init, comm.rank(), comm.size())?;
    exercise::run(&comm, extent)?;
    if comm.rank() == 0 {
        println!("hello_mpi: all checks passed on {} ranks", comm.size());
    }
    // These live longer than MPI: dropping them must not call it.
    let data = [7_u8; 8];
    // SAFETY: the buffer outlives the request.
    let request = unsafe { comm.isend(data.as_ptr().cast(), 8, comm.rank(), 0)? };
    let poll = || comm.improbe(comm.rank(), 0);
    let message = exercise::polling().until("a message", poll, exercise::never)?;
    message.recv(&mut [0; 8])?;
    comm.barrier()?;
    library.finalize()?;
    let after = comm.barrier().map_err(|error| error.reason());
    drop((request, comm));
    same("after finalize", after, Err("mpi-finalized"))?;
    same("init again", library.init(ThreadLevel::Single).is_err(), true)
}

fn greet(library: &Library, init: Init, rank: usize, size: usize) -> Outcome {
    if rank == 0 {
        let (major, minor) = library.version();
        let version = library.library_version();
        println!("library: {}", library.path().display());
        println!("version: {}", version.lines().next().unwrap_or_default());
        println!("abi: {}, standard: {major}.{minor}", library.abi());
        println!("large counts: {}, threads: {:?}", library.has_large_counts(), init.provided);
    }
    println!("rank {rank} of {size} on {}", library.processor_name()?);
    Ok(())
}
