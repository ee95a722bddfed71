//! Levels: which instructions the processor has.

use crate::environment;
use std::sync::OnceLock;

/// A set of instructions that this processor has.
///
/// There is no way to make a level that the processor lacks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub(crate) Kind);

/// Which instructions a level has; code for one of them is chosen by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are the instructions")]
pub enum Kind {
    Portable,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// Plain float64 arithmetic.
    pub const PORTABLE: Level = Level(Kind::Portable);

    /// All levels of this processor, the best last.
    ///
    /// ```
    /// use partita_kernel::math::Level;
    /// assert_eq!(Level::all()[0], Level::PORTABLE);
    /// ```
    pub fn all() -> Vec<Level> {
        let mut levels = vec![Level::PORTABLE];
        levels.extend(vector_levels());
        levels
    }

    /// The best level, or the one that the variable `PARTITA_SIMD` names, if the processor has it.
    ///
    /// The variable is read once; a name that this processor does not know is told on stderr.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let levels = Level::all();
            let mut known: Vec<_> = levels.iter().map(|level| (level.name(), *level)).collect();
            known.push(("scalar", Level::PORTABLE));
            let named = environment::choice("PARTITA_SIMD", &known);
            named.or(levels.last().copied()).unwrap_or(Level::PORTABLE)
        })
    }

    /// The instructions: AVX2 comes with FMA, AVX-512 is F, DQ, VL and BW.
    pub fn kind(self) -> Kind {
        self.0
    }

    /// The name that `PARTITA_SIMD` takes.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "neon",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }
}

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn vector_levels() -> Vec<Level> {
    let mut levels = Vec::new();
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        levels.push(Level(Kind::Avx2));
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw");
        if wide {
            levels.push(Level(Kind::Avx512));
        }
    }
    levels
}

#[cfg(target_arch = "aarch64")]
fn vector_levels() -> Vec<Level> {
    vec![Level(Kind::Neon)]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn vector_levels() -> Vec<Level> {
    Vec::new()
}
