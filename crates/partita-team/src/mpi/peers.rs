//! Peers: the processes of all ranks, as far as this one can look at them.
//!
//! Whether a process lives can be seen on the same machine, whether memory is shared or not. What
//! happens to processes of other machines only their launcher knows.

use partita_mpi::{Comm, MpiError};

use crate::memory::process::{Life, Process, neighbourhood};
use crate::mpi::node::gather;

/// The processes by rank of the world; none where they cannot be looked at.
#[derive(Debug)]
pub(crate) struct Peers(Vec<Option<Process>>);

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
        Ok(Self(infos.chunks(3).map(process).collect()))
    }

    /// How a rank's process is; none where that is unknown.
    pub(crate) fn life(&self, rank: u64) -> Option<Life> {
        self.0.get(rank as usize)?.map(Process::life)
    }

    /// Number of processes on this machine, with this one.
    pub(crate) fn n_near(&self) -> usize {
        self.0.iter().flatten().count().max(1)
    }
}
