//! Whether a launcher started this process, and with how many ranks.
//!
//! An `mpiexec` of one MPI and a library of another do not know each other:
//! every process then becomes rank 0 of a world of one, and the program gives
//! wrong answers n times, or MPI ends it with a message about its insides.
//! [`check_family`] refuses the pair before MPI is initialised; [`check_world`]
//! compares the launcher's number with the world's afterwards.

use super::{Abi, MpiError, Result, connection};
use std::{ffi::OsString, path::Path};

/// Which MPI a launcher or a library belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// MPICH and its relatives (Intel, MVAPICH, Cray): PMI.
    Mpich,
    /// Open MPI: PMIx.
    OpenMpi,
}

/// What a launcher writes into the environment of the ranks that it starts.
struct Launcher {
    /// The variable that holds the number of ranks.
    size: &'static str,
    /// Which MPI it belongs to, where that variable tells.
    family: Option<Family>,
    /// The size counts only when this one is set too: a batch script has the sizes of
    /// its allocation in its environment without being a launched rank.
    only_with: Option<&'static str>,
    /// Other variables that only launched ranks have.
    rank_only: &'static [&'static str],
    /// What tells the places of all its jobs apart.
    place: &'static [&'static str],
    /// The variable that holds the number of the socket over which it speaks to the rank.
    connection: Option<&'static str>,
}

const LAUNCHERS: [Launcher; 5] = [
    Launcher {
        size: "OMPI_COMM_WORLD_SIZE",
        family: Some(Family::OpenMpi),
        only_with: None,
        rank_only: &["PMIX_RANK"],
        place: &["OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE", "PMIX_RANK"],
        connection: None,
    },
    Launcher {
        size: "PMI_SIZE",
        family: Some(Family::Mpich),
        only_with: None,
        rank_only: &["MPI_LOCALNRANKS"],
        place: &["PMI_RANK", "PMI_ID", "PMI_PORT"],
        connection: Some("PMI_FD"),
    },
    Launcher {
        size: "MV2_COMM_WORLD_SIZE",
        family: Some(Family::Mpich),
        only_with: None,
        rank_only: &[],
        place: &["MV2_COMM_WORLD_RANK"],
        connection: None,
    },
    Launcher {
        size: "PALS_SIZE",
        family: Some(Family::Mpich),
        only_with: None,
        rank_only: &[],
        place: &["PALS_APID", "PALS_RANKID"],
        connection: None,
    },
    Launcher {
        size: "SLURM_STEP_NUM_TASKS",
        family: None,
        only_with: Some("PMIX_RANK"),
        rank_only: &["PMIX_RANK"],
        place: &["SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"],
        connection: None,
    },
];

/// Whether a launcher of MPI has started this process.
pub fn is_launched() -> bool {
    is_launched_in(&|name| std::env::var_os(name))
}

fn is_launched_in(lookup: &Lookup<'_>) -> bool {
    let is_set = |name: &str| lookup(name).is_some();
    LAUNCHERS.iter().any(|launcher| {
        (launcher.only_with.is_none() && is_set(launcher.size))
            || launcher.rank_only.iter().any(|name| is_set(name))
    })
}

/// The place that the environment gives this process, in words: no two ranks have the same.
///
/// Children inherit the environment: one that finds its parent's place is no rank.
pub fn place() -> String {
    place_in(&|name| std::env::var_os(name))
}

fn place_in(lookup: &Lookup<'_>) -> String {
    let names = LAUNCHERS.iter().flat_map(|launcher| launcher.place);
    let values = names.map(|name| lookup(name).unwrap_or_default().to_string_lossy().into_owned());
    let sockets = promised(lookup).map(|number| connection::socket(&number).unwrap_or_default());
    values.chain(sockets).collect::<Vec<_>>().join("/")
}

/// Whether the environment names a connection to the launcher that this process does not have.
///
/// It was not inherited: a process that started this one has it, and is the rank.
pub fn is_cut_off() -> bool {
    is_cut_off_in(&|name| std::env::var_os(name))
}

fn is_cut_off_in(lookup: &Lookup<'_>) -> bool {
    promised(lookup).any(|number| connection::socket(&number).is_none())
}

/// The numbers of the sockets that launchers promise this process.
fn promised(lookup: &Lookup<'_>) -> impl Iterator<Item = OsString> {
    LAUNCHERS.iter().filter_map(|launcher| lookup(launcher.connection?))
}

/// A program that starts ranks, or stands between a launcher and its ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Program {
    name: &'static str,
    /// Which MPI it belongs to, where its name tells.
    pub family: Option<Family>,
}

const fn program(name: &'static str, family: Option<Family>) -> Program {
    Program { name, family }
}

const PROGRAMS: [Program; 12] = [
    program("hydra_pmi_proxy", Some(Family::Mpich)),
    program("hydra_bstrap_proxy", Some(Family::Mpich)),
    program("mpiexec.hydra", Some(Family::Mpich)),
    program("mpiexec.gforker", Some(Family::Mpich)),
    program("mpiexec.mpich", Some(Family::Mpich)),
    program("orterun", Some(Family::OpenMpi)),
    program("orted", Some(Family::OpenMpi)),
    program("prterun", Some(Family::OpenMpi)),
    program("prted", Some(Family::OpenMpi)),
    program("prte", Some(Family::OpenMpi)),
    program("mpiexec", None),
    program("mpirun", None),
];

impl Program {
    /// The launcher that an executable is part of, if it is part of one.
    pub(super) fn of(executable: &Path) -> Option<Self> {
        let name = executable.file_name()?;
        PROGRAMS.into_iter().find(|program| name == program.name)
    }
}

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
    let counts = |one: &&Launcher| one.only_with.is_none_or(|name| lookup(name).is_some());
    let values = LAUNCHERS.iter().filter(counts).filter_map(|one| Some((one, lookup(one.size)?)));
    values.map(|(launcher, value)| read(launcher, &value.to_string_lossy())).collect()
}

fn read(launcher: &Launcher, value: &str) -> Result<Launched> {
    let variable = launcher.size;
    let wrong = |_| MpiError::LauncherValue { variable, value: value.to_owned() };
    let n_ranks = value.trim().parse().map_err(wrong)?;
    Ok(Launched { variable, n_ranks, family: launcher.family })
}

impl Family {
    /// The family of the launcher that started us, if exactly one did.
    pub(super) fn of_launcher(lookup: &Lookup<'_>) -> Option<Self> {
        let marks = LAUNCHERS.iter().filter(|launcher| lookup(launcher.size).is_some());
        let mut families: Vec<_> = marks.filter_map(|launcher| launcher.family).collect();
        families.dedup();
        match families[..] {
            [family] => Some(family),
            _ => None,
        }
    }

    /// The family of a library; `version` is the text it gives of itself.
    pub fn of_library(abi: Abi, version: &str) -> Self {
        match abi {
            Abi::Mpich => Self::Mpich,
            Abi::OpenMpi => Self::OpenMpi,
            Abi::Standard if version.contains("Open MPI") => Self::OpenMpi,
            Abi::Standard => Self::Mpich,
        }
    }

    /// Its name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
        }
    }
}

/// A library, as far as launchers are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Launchable<'a> {
    /// Which MPI it belongs to.
    pub family: Family,
    /// The text it gives of itself, for messages.
    pub version: &'a str,
}

impl Launchable<'_> {
    fn first_line(&self) -> String {
        self.version.lines().next().unwrap_or_default().trim().to_owned()
    }
}

/// The variable that allows a launcher of another MPI.
pub const ANY_LAUNCHER_VARIABLE: &str = "PARTITA_MPI_ANY_LAUNCHER";

/// Refuses a library if all launchers of several ranks are of another MPI.
///
/// An MPICH built for PMIx does work under Open MPI's launcher: setting
/// `PARTITA_MPI_ANY_LAUNCHER` leaves the verdict to [`check_world`].
///
/// # Errors
/// [`MpiError::LauncherForeign`] names both MPIs and the cure.
pub fn check_family(launched: &[Launched], library: Launchable<'_>) -> Result<()> {
    let known = || launched.iter().filter_map(|mark| Some((mark, mark.family?)));
    if known().any(|(_, family)| family == library.family) {
        return Ok(());
    }
    match known().find(|(mark, _)| mark.n_ranks > 1) {
        None => Ok(()),
        Some((mark, family)) => Err(MpiError::LauncherForeign {
            variable: mark.variable,
            launched: mark.n_ranks,
            launcher: family.name(),
            library: library.first_line(),
        }),
    }
}

/// Refuses a world with fewer ranks than the launcher started.
///
/// A launcher of the library's own family is believed before any other, since
/// launchers may be nested and their variables are inherited.
///
/// # Errors
/// [`MpiError::WorldTooSmall`] names both numbers and the cure.
pub fn check_world(launched: &[Launched], world: usize, library: Launchable<'_>) -> Result<()> {
    let own = launched.iter().find(|mark| mark.family == Some(library.family));
    let largest = launched.iter().max_by_key(|mark| mark.n_ranks);
    let Some(mark) = own.or(largest) else { return Ok(()) };
    if mark.n_ranks <= world as u64 {
        return Ok(());
    }
    Err(MpiError::WorldTooSmall {
        variable: mark.variable,
        launched: mark.n_ranks,
        world,
        library: library.first_line(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPICH: Launchable<'_> =
        Launchable { family: Family::Mpich, version: "MPICH Version:      5.0.2\n" };
    const OPEN_MPI: Launchable<'_> =
        Launchable { family: Family::OpenMpi, version: "Open MPI v5.0.11, package" };

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn marks(variables: Variables<'_>) -> Result<Vec<Launched>> {
        detect_in(&|name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
        })
    }

    fn reason(result: Result<()>) -> &'static str {
        result.map_or_else(|error| error.reason(), |()| "ok")
    }

    #[test]
    fn a_world_smaller_than_launched_is_refused() {
        let small = "mpi-world-too-small";
        let cases: &[(Variables<'_>, usize, Launchable<'_>, &str)] = &[
            (&[], 1, MPICH, "ok"),
            (&[("PMI_SIZE", "4")], 4, MPICH, "ok"),
            (&[("PMI_SIZE", "4")], 1, OPEN_MPI, small),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], 1, MPICH, small),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], 2, OPEN_MPI, "ok"),
            // Spawned ranks make a world larger.
            (&[("PMI_SIZE", "2")], 3, MPICH, "ok"),
            // A job of MPICH inside a rank of an Open MPI job.
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "2")], 2, MPICH, "ok"),
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "2")], 1, MPICH, small),
            // A batch script is not a launched rank; a Slurm step is.
            (&[("SLURM_STEP_NUM_TASKS", "8")], 1, MPICH, "ok"),
            (&[("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")], 1, MPICH, small),
            (&[("PMI_SIZE", "four")], 1, MPICH, "mpi-launcher-value"),
        ];
        for (variables, world, library, expected) in cases {
            let found = marks(variables).and_then(|marks| check_world(&marks, *world, *library));
            assert_eq!(reason(found), *expected, "{variables:?} {world}");
        }
    }

    #[test]
    fn a_launched_process_is_told_from_a_batch_script() {
        let cases: [(Variables<'_>, bool); 6] = [
            (&[], false),
            (&[("PMI_SIZE", "1")], true),
            (&[("PALS_SIZE", "4")], true),
            (&[("PMIX_RANK", "0")], true),
            (&[("MPI_LOCALNRANKS", "2")], true),
            (&[("SLURM_STEP_NUM_TASKS", "8")], false),
        ];
        for (variables, expected) in cases {
            let found = is_launched_in(&|name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            });
            assert_eq!(found, expected, "{variables:?}");
        }
    }

    #[test]
    fn no_two_ranks_have_the_same_place() {
        let place = |variables: Variables<'_>| {
            place_in(&|name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            })
        };
        let cases: [Variables<'_>; 8] = [
            &[],
            &[("MV2_COMM_WORLD_RANK", "0")],
            &[("MV2_COMM_WORLD_RANK", "1")],
            &[("PMI_RANK", "0"), ("PMI_PORT", "here:1")],
            &[("PMI_RANK", "1"), ("PMI_PORT", "here:1")],
            &[("PMI_RANK", "1"), ("PMI_PORT", "here:2")],
            &[("PMIX_NAMESPACE", "a"), ("PMIX_RANK", "1")],
            &[("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "1")],
        ];
        let places: std::collections::HashSet<_> = cases.iter().map(|one| place(one)).collect();
        assert_eq!(places.len(), cases.len(), "{places:?}");
    }

    #[test]
    fn a_socket_tells_ranks_from_their_children() {
        let socket = std::os::unix::net::UnixDatagram::unbound().expect("a socket");
        let number = std::os::fd::AsRawFd::as_raw_fd(&socket).to_string();
        let with = |value: Option<&str>| {
            let lookup = |name: &str| value.filter(|_| name == "PMI_FD").map(OsString::from);
            (is_cut_off_in(&lookup), place_in(&lookup))
        };
        let (none, rank, child) = (with(None), with(Some(&number)), with(Some("1000000")));
        assert_eq!([none.0, rank.0, child.0], [false, false, true]);
        assert_ne!(rank.1, child.1);
        assert!(with(Some("no number")).0);
    }

    #[test]
    fn a_launcher_of_another_mpi_is_refused() {
        let foreign = "mpi-launcher-foreign";
        let cases: &[(Variables<'_>, Launchable<'_>, &str)] = &[
            (&[], MPICH, "ok"),
            (&[("PMI_SIZE", "2")], MPICH, "ok"),
            (&[("PMI_SIZE", "2")], OPEN_MPI, foreign),
            (&[("OMPI_COMM_WORLD_SIZE", "2")], MPICH, foreign),
            // One rank is what a program without a launcher has, too.
            (&[("PMI_SIZE", "1")], OPEN_MPI, "ok"),
            (&[("OMPI_COMM_WORLD_SIZE", "8"), ("PMI_SIZE", "2")], MPICH, "ok"),
            (&[("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")], MPICH, "ok"),
        ];
        for (variables, library, expected) in cases {
            let found = marks(variables).and_then(|marks| check_family(&marks, *library));
            assert_eq!(reason(found), *expected, "{variables:?}");
        }
    }

    #[test]
    fn the_messages_name_both_sides_and_the_cure() {
        let marks = marks(&[("PMI_SIZE", "4")]).expect("a number");
        let cure = ["PMI_SIZE=4", "Open MPI v5.0.11", "PARTITA_MPI_LIBRARY", "mpiexec"];
        let texts = [check_world(&marks, 1, OPEN_MPI), check_family(&marks, OPEN_MPI)]
            .map(|result| result.expect_err("refused").to_string());
        for text in &texts {
            assert!(cure.iter().all(|part| text.contains(part)), "{text}");
        }
        assert!(texts[0].contains("the MPI world has 1"), "{}", texts[0]);
        assert!(texts[1].contains("belongs to MPICH"), "{}", texts[1]);
    }
}
