//! The C libraries to compare with, compiled on the spot.

use libloading::Library;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The loaded libraries.
pub struct Peers {
    /// Values to judge by.
    pub reference: Library,
    /// libmvec with all the processor has, and with AVX2.
    pub native: Library,
    /// libmvec with AVX2.
    pub avx2: Library,
}

impl Peers {
    /// Compiles and loads.
    pub fn open() -> Peers {
        let native = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math"];
        let avx2 = ["-O3", "-march=haswell", "-ffast-math"];
        Peers {
            reference: library("reference", "reference.c", &["-O2"], &["-lquadmath", "-lm"]),
            native: library("libmvec-native", "libmvec.c", &native, &["-lmvec", "-lm"]),
            avx2: library("libmvec-avx2", "libmvec.c", &avx2, &["-lmvec", "-lm"]),
        }
    }
}

fn folder() -> PathBuf {
    std::env::var_os("PARTITA_PEERS").map_or_else(std::env::temp_dir, PathBuf::from)
}

fn library(name: &str, source: &str, options: &[&str], libraries: &[&str]) -> Library {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(source);
    let object = folder().join(format!("partita-{name}.o"));
    let shared = folder().join(format!("partita-{name}.so"));
    if source.exists() {
        run(Command::new("cc").args(options).args(["-fPIC", "-c", "-o"]).arg(&object).arg(source));
        run(Command::new("cc").args(["-shared", "-o"]).arg(&shared).arg(&object).args(libraries));
    }
    // SAFETY: the library is ours and does nothing when it is loaded.
    unsafe { Library::new(&shared).expect("the compiled library loads") }
}

fn run(command: &mut Command) {
    let status = command.status().expect("cc runs");
    assert!(status.success(), "{command:?} failed");
}
