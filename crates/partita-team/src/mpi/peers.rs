//! Peers: the processes of all ranks, as far as this one can look at them.
//!
//! Whether a process lives can be seen on the same machine, whether memory is shared or not. Of
//! processes of other machines it can be found out that they have ended (`doors.rs`).

use partita_mpi::{Comm, MpiError};

use crate::memory::process::{Life, Process, neighbourhood};
use crate::mpi::doors::Doors;
use crate::mpi::node::gather;

/// How many far ranks one looks after that waits for none of them.
const N_WATCHED: usize = 8;

/// The processes by rank of the world.
#[derive(Debug)]
pub(crate) struct Peers {
    /// None where they cannot be looked at.
    seen: Vec<Option<Process>>,
    /// Those of other hosts.
    doors: Option<Doors>,
}

impl Peers {
    /// Tells all others of this process. Collective over the communicator.
    pub(crate) fn meet(world: &Comm) -> Result<Self, MpiError> {
        let own = Process::own().unwrap_or(Process { number: 0, started: 0 });
        let infos = gather(world, &[neighbourhood(), own.number, own.started])?;
        let here = infos[3 * world.rank()];
        let process = |info: &[u64]| {
            let process = Process { number: info[1], started: info[2] };
            // Everybody lives at this moment: who does not seem to is out of sight.
            let is_seen = info[0] == here && here != 0 && process.life() != Life::Ended;
            is_seen.then_some(process)
        };
        let seen = infos.chunks(3).map(process).collect();
        let hosts: Vec<u64> = infos.chunks(3).map(|info| info[0]).collect();
        Ok(Self { seen, doors: Doors::meet(world, &hosts)? })
    }

    /// How a rank's process is; none where that is unknown, as it is of far ones that may live.
    pub(crate) fn life(&self, rank: u64) -> Option<Life> {
        match self.seen.get(rank as usize)? {
            Some(process) => Some(process.life()),
            None => self.doors.as_ref()?.is_gone(rank).then_some(Life::Ended),
        }
    }

    /// Tries to find out whether far ones of these ranks have ended; [`Peers::life`] knows later.
    pub(crate) fn ask_after(&self, ranks: &mut dyn Iterator<Item = u64>) {
        let Some(doors) = &self.doors else { return };
        let is_far = |rank: &u64| self.seen.get(*rank as usize).is_some_and(Option::is_none);
        doors.ask_after(&mut ranks.filter(is_far));
    }

    /// The same for some only of those that follow a rank: others look after the rest.
    pub(crate) fn ask_after_next(&self, ranks: &mut dyn Iterator<Item = u64>) {
        let Some(doors) = &self.doors else { return };
        let is_far = |rank: &u64| self.seen.get(*rank as usize).is_some_and(Option::is_none);
        doors.ask_after(&mut ranks.filter(is_far).take(N_WATCHED));
    }

    /// Whether something may be sent by MPI to a rank: it is not known to have ended, as far as that
    /// can be found out at once.
    pub(crate) fn may_be_told(&self, rank: u64) -> bool {
        let is_seen = self.seen.get(rank as usize).is_some_and(Option::is_some);
        is_seen || self.doors.as_ref().is_none_or(|doors| doors.may_be_told(rank))
    }

    /// Whether a far rank is not reached any more; see [`Doors::is_cut_off`].
    pub(crate) fn is_cut_off(&self, rank: u64) -> bool {
        let is_far = self.seen.get(rank as usize).is_some_and(Option::is_none);
        is_far && self.doors.as_ref().is_some_and(|doors| doors.is_cut_off(rank))
    }

    /// Number of processes on this machine, with this one.
    pub(crate) fn n_near(&self) -> usize {
        self.seen.iter().flatten().count().max(1)
    }
}
