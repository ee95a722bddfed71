//! Whether a launcher started this process, and with how many ranks.
//!
//! An `mpiexec` of one MPI and a library of another do not know each other:
//! every process then becomes rank 0 of a world of one, and the program gives
//! wrong answers n times. [`check`] compares the launcher's number with the
//! world's and refuses.

use super::{MpiError, Result};
use std::ffi::OsString;

/// Which MPI a launcher or a library belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// MPICH and its relatives (Intel, MVAPICH, Cray): PMI.
    Mpich,
    /// Open MPI: PMIx.
    OpenMpi,
}

/// A variable that holds the number of ranks.
struct Sign {
    variable: &'static str,
    family: Option<Family>,
    /// Counts only when this one is set too: a batch script has the sizes of
    /// its allocation in its environment without being a launched rank.
    only_with: Option<&'static str>,
}

const fn sign(variable: &'static str, family: Option<Family>) -> Sign {
    Sign { variable, family, only_with: None }
}

const SIGNS: [Sign; 5] = [
    sign("OMPI_COMM_WORLD_SIZE", Some(Family::OpenMpi)),
    sign("PMI_SIZE", Some(Family::Mpich)),
    sign("MV2_COMM_WORLD_SIZE", Some(Family::Mpich)),
    sign("PALS_SIZE", Some(Family::Mpich)),
    Sign { variable: "SLURM_STEP_NUM_TASKS", family: None, only_with: Some("PMIX_RANK") },
];

/// What a launcher said about the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// The variable that says so.
    pub variable: &'static str,
    /// How many ranks it started.
    pub n_ranks: u64,
    /// Which MPI the launcher belongs to, where the variable tells.
    pub family: Option<Family>,
}

type Lookup<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

/// Every launcher that left its mark on the environment of this process.
///
/// # Errors
/// [`MpiError::LauncherValue`] if a mark is not a number.
pub fn detect() -> Result<Vec<Launched>> {
    detect_in(&|name| std::env::var_os(name))
}

fn detect_in(lookup: &Lookup<'_>) -> Result<Vec<Launched>> {
    let set = |sign: &&Sign| sign.only_with.is_none_or(|name| lookup(name).is_some());
    let values = SIGNS.iter().filter(set).filter_map(|sign| Some((sign, lookup(sign.variable)?)));
    values.map(|(sign, value)| read(sign, &value.to_string_lossy())).collect()
}

fn read(sign: &Sign, value: &str) -> Result<Launched> {
    let variable = sign.variable;
    let wrong = |_| MpiError::LauncherValue { variable, value: value.to_owned() };
    let n_ranks = value.trim().parse().map_err(wrong)?;
    Ok(Launched { variable, n_ranks, family: sign.family })
}

impl Family {
    /// The family of the launcher that started us, if exactly one did.
    pub(super) fn of_launcher(lookup: &Lookup<'_>) -> Option<Self> {
        let marks = SIGNS.iter().filter(|sign| lookup(sign.variable).is_some());
        let mut families: Vec<_> = marks.filter_map(|sign| sign.family).collect();
        families.dedup();
        match families[..] {
            [family] => Some(family),
            _ => None,
        }
    }

    /// The family of a library, from the text of `MPI_Get_library_version`.
    pub fn of_library(version: &str) -> Self {
        if version.contains("Open MPI") { Self::OpenMpi } else { Self::Mpich }
    }
}

/// Refuses a world with fewer ranks than the launcher started.
///
/// A launcher of the library's own family is believed before any other, since
/// launchers may be nested and their variables are inherited.
///
/// # Errors
/// [`MpiError::WorldTooSmall`] names both numbers and the cure.
pub fn check(launched: &[Launched], world: usize, version: &str) -> Result<()> {
    let family = Family::of_library(version);
    let own = launched.iter().find(|mark| mark.family == Some(family));
    let largest = launched.iter().max_by_key(|mark| mark.n_ranks);
    let Some(mark) = own.or(largest) else { return Ok(()) };
    if mark.n_ranks <= world as u64 {
        return Ok(());
    }
    Err(MpiError::WorldTooSmall {
        variable: mark.variable,
        launched: mark.n_ranks,
        world,
        library: version.lines().next().unwrap_or_default().trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPICH: &str = "MPICH Version:      5.0.2\n";
    const OPEN_MPI: &str = "Open MPI v5.0.11, package";

    fn verdict(variables: &[(&str, &str)], world: usize, version: &str) -> String {
        let lookup = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        };
        match detect_in(&lookup).and_then(|marks| check(&marks, world, version)) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.reason().to_owned(),
        }
    }

    #[test]
    fn a_world_smaller_than_launched_is_refused() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Variables<'_>, usize, &str, &str)] = &[
            (&[], 1, MPICH, "ok"),
            (&[("PMI_SIZE", "4")], 4, MPICH, "ok"),
            (&[("PMI_SIZE", "4")], 1, OPEN_MPI, "mpi-world-too-small"),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], 1, MPICH, "mpi-world-too-small"),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], 2, OPEN_MPI, "ok"),
            // Spawned ranks make a world larger.
            (&[("PMI_SIZE", "2")], 3, MPICH, "ok"),
            // A job of MPICH inside a rank of an Open MPI job.
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "2")], 2, MPICH, "ok"),
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "2")], 1, MPICH, "mpi-world-too-small"),
            // A batch script is not a launched rank; a Slurm step is.
            (&[("SLURM_STEP_NUM_TASKS", "8")], 1, MPICH, "ok"),
            (&[("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")], 1, MPICH, "mpi-world-too-small"),
            (&[("PMI_SIZE", "four")], 1, MPICH, "mpi-launcher-value"),
        ];
        for (variables, world, version, expected) in cases {
            assert_eq!(verdict(variables, *world, version), *expected, "{variables:?} {world}");
        }
    }

    #[test]
    fn the_message_names_both_numbers_and_the_cure() {
        let marks = [Launched { variable: "PMI_SIZE", n_ranks: 4, family: Some(Family::Mpich) }];
        let text = check(&marks, 1, OPEN_MPI).map_err(|error| error.to_string());
        let text = text.expect_err("refused");
        for part in ["PMI_SIZE=4", "the MPI world has 1", "Open MPI v5.0.11", "PARTITA_MPI_LIBRARY"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
}
