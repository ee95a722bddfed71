//! The machine: verifies programs, keeps their kernels, runs calls.

use crate::cache::Cache;
use crate::emit::{Access, Work, fuse};
use crate::environment;
use crate::error::Result;
use crate::math::Level;
use crate::program::Program;
use crate::space::{Call, check};
use crate::tiles::{self, Code, Tiles};
use crate::whole::Whole;
use std::sync::{Arc, OnceLock};

/// How kernels are made and run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Vector instructions that may be used.
    pub level: Level,
    /// Whether machine code may be emitted.
    pub emit: bool,
    /// Threads a run may use, the caller's among them.
    pub n_threads: usize,
    /// Elements of a tile; rounded up to a multiple of 512.
    pub tile: usize,
    /// Bytes of results from which they are written past the cache, and inputs are asked for
    /// ahead.
    pub stream_from: usize,
}

/// A program that has been verified and lowered.
#[derive(Debug)]
pub struct Kernel {
    program: Program,
    code: Code,
    work: Option<Vec<Work>>,
    whole: Option<Whole>,
}

impl Kernel {
    fn new(program: &Program, settings: &Settings) -> Result<Kernel> {
        program.verify()?;
        let code = Code::new(program, settings.level);
        let work = if settings.emit { fuse(&code, settings.level) } else { None };
        let whole = work.as_ref().and_then(|work| Whole::new(program, &code, work));
        Ok(Kernel { program: program.clone(), code, work, whole })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The machine code of every emitted loop, as tiles and small calls run it.
    #[must_use]
    pub fn machine_code(&self) -> Vec<Vec<u8>> {
        self.code_for(Access::default())
    }

    /// The same for large calls: results past the cache, the first two buffers asked for ahead,
    /// several rows at once.
    #[must_use]
    pub fn streaming_machine_code(&self) -> Vec<Vec<u8>> {
        self.code_for(Access { streams: true, ahead: 3, grouped: true, ..Access::default() })
    }

    fn code_for(&self, access: Access) -> Vec<Vec<u8>> {
        let bytes = |work: &Work| match work {
            Work::Fused(fused) => Some(fused.bytes(access)),
            Work::Step(_) => None,
        };
        self.work.iter().flatten().filter_map(bytes).collect()
    }

    /// How many steps are left to tile functions.
    #[must_use]
    pub fn n_tile_steps(&self) -> usize {
        match &self.work {
            Some(work) => work.iter().filter(|w| matches!(w, Work::Step(_))).count(),
            None => self.code.steps.len(),
        }
    }
}

/// Makes and runs kernels.
#[derive(Debug)]
pub struct Machine {
    settings: Settings,
    cache: Cache,
}

impl Default for Settings {
    /// The best the processor has. `PARTITA_SIMD` names a lower level, `PARTITA_KERNEL=tiles`
    /// forbids emitted code, `PARTITA_THREADS` bounds the threads. Values that are not known are
    /// told on stderr and ignored.
    fn default() -> Settings {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let emit = environment::choice("PARTITA_KERNEL", &[("tiles", false), ("emit", true)]);
        let threads = environment::count("PARTITA_THREADS");
        Settings {
            level: Level::best(),
            emit: emit.unwrap_or(true),
            n_threads: threads.unwrap_or(cores).clamp(1, 1024),
            tile: 512,
            // With 8 MB of results it already takes a tenth less time than plain stores, though
            // they would fit a large third-level cache.
            stream_from: 6 << 20,
        }
    }
}

impl Machine {
    /// The machine of this process, with the settings of its environment.
    pub fn global() -> &'static Machine {
        static GLOBAL: OnceLock<Machine> = OnceLock::new();
        GLOBAL.get_or_init(|| Machine::new(Settings::default()))
    }

    /// A machine with a cache of its own.
    #[must_use]
    pub fn new(settings: Settings) -> Machine {
        let tile = settings.tile.clamp(1, 1 << 16).next_multiple_of(512);
        let n_threads = settings.n_threads.max(1);
        Machine { settings: Settings { tile, n_threads, ..settings }, cache: Cache::default() }
    }

    /// How many kernels are kept.
    #[must_use]
    pub fn n_kernels(&self) -> usize {
        self.cache.len()
    }

    /// How it makes and runs kernels.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The kernel of a program, compiled if no program of this structure was asked for lately.
    ///
    /// # Errors
    /// As [`Program::verify`].
    pub fn kernel(&self, program: &Program) -> Result<Arc<Kernel>> {
        self.cache.find(program, || Kernel::new(program, &self.settings))
    }

    /// Bytes at most that a run keeps beside the call's memory and a few tiles for each thread. The
    /// call's extents and strides are looked at, its memory is not.
    #[must_use]
    pub fn scratch_bytes(&self, kernel: &Kernel, call: &Call<'_>) -> usize {
        tiles::scratch_bytes(&kernel.program, call, &self.tiles())
    }

    fn tiles(&self) -> Tiles {
        let Settings { level, n_threads, tile, stream_from, .. } = self.settings;
        Tiles { level, tile, n_threads, stream_from }
    }

    /// Computes a kernel's outputs for a call.
    ///
    /// # Errors
    /// Calls that do not fit the program, see [`crate::KernelError::reason`]; nothing is written.
    ///
    /// # Safety
    /// Every point of every input may be read, of every output written, by any thread, and nobody
    /// writes the inputs or touches the outputs meanwhile.
    pub unsafe fn run(&self, kernel: &Kernel, call: &Call<'_>) -> Result<()> {
        let n_points = check(&kernel.program, call)?;
        let Kernel { program, code, work, whole } = kernel;
        // SAFETY: the caller's.
        unsafe {
            if let (Some(whole), Some([Work::Fused(fused)])) = (whole, work.as_deref())
                && whole.run(program, fused, call, n_points, &self.settings)
            {
                return Ok(());
            }
            tiles::run(program, code, work.as_deref(), call, n_points, &self.tiles());
        }
        Ok(())
    }
}
