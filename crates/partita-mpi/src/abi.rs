//! The three binary interfaces of MPI libraries and how to tell them apart.
//!
//! The standard ABI says so itself (`MPI_Abi_get_version`); Open MPI exports
//! its predefined objects as symbols; what is left is MPICH and its relatives.

use super::handle::Width;
use std::fmt;

/// A binary interface: widths, constants and the layout of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Abi {
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH: handles are ints.
    Mpich,
    /// Open MPI: handles are addresses of exported symbols.
    OpenMpi,
    /// The ABI of MPI 5.0: handles are pointers with fixed values.
    Standard,
}

/// What a loaded library says about itself; see [`Abi::tell`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Signs {
    /// The major number of `MPI_Abi_get_version`, where it exists.
    pub abi_major: Option<i32>,
    /// Whether `ompi_mpi_comm_world` is among its symbols.
    pub open_mpi_world: bool,
}

impl Abi {
    /// All three, in the order of the columns of the constant tables.
    pub const ALL: [Self; 3] = [Self::Mpich, Self::Standard, Self::OpenMpi];

    /// Tells the ABI from what a library says about itself.
    ///
    /// The version is asked first: a library with the standard ABI may well be
    /// a thin layer over Open MPI, whose symbols are then visible too.
    ///
    /// ```
    /// use partita_mpi::{Abi, Signs};
    /// let legacy = Signs { abi_major: Some(-1), open_mpi_world: false };
    /// assert_eq!(Abi::tell(legacy), Abi::Mpich);
    /// ```
    pub fn tell(signs: Signs) -> Self {
        match signs {
            Signs { abi_major: Some(1..), .. } => Self::Standard,
            Signs { open_mpi_world: true, .. } => Self::OpenMpi,
            _ => Self::Mpich,
        }
    }

    /// How wide a handle is.
    pub fn width(self) -> Width {
        match self {
            Self::Mpich => Width::Int,
            Self::OpenMpi | Self::Standard => Width::Pointer,
        }
    }

    pub(super) fn column(self) -> usize {
        match self {
            Self::Mpich => 0,
            Self::Standard => 1,
            Self::OpenMpi => 2,
        }
    }
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
            Self::Standard => "standard",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abi_is_told_from_the_signs() {
        let cases = [
            (Some(1), false, Abi::Standard),
            (Some(1), true, Abi::Standard),
            (Some(-1), false, Abi::Mpich),
            (Some(-1), true, Abi::OpenMpi),
            (None, true, Abi::OpenMpi),
            (None, false, Abi::Mpich),
        ];
        for (abi_major, open_mpi_world, expected) in cases {
            assert_eq!(Abi::tell(Signs { abi_major, open_mpi_world }), expected);
        }
    }
}
