//! Processes of this machine: whether they live, and whether they know each other by number.

use partita_mpi::ProcessStat;

/// How a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Runs,
    /// By a signal or a debugger.
    Stopped,
    Ended,
}

/// Looks how a process is.
pub(crate) fn life_of(process: u64) -> Life {
    look_at(process).map_or(Life::Ended, |(life, _)| life)
}

/// How a process is, and when it started; none if there is no such process.
fn look_at(process: u64) -> Option<(Life, u64)> {
    let stat = ProcessStat::of(process)?;
    let life = match stat.state()? {
        "Z" | "X" | "x" => Life::Ended,
        "T" | "t" => Life::Stopped,
        _ => Life::Runs,
    };
    Some((life, stat.started()?))
}

/// A process of this machine that is never taken for another one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub number: u64,
    /// In the clock of the machine.
    pub started: u64,
}

impl Process {
    /// This process; none where the system does not tell.
    pub(crate) fn own() -> Option<Self> {
        let number = u64::from(std::process::id());
        look_at(number).map(|(_, started)| Self { number, started })
    }

    /// Looks how it is.
    pub(crate) fn life(self) -> Life {
        match look_at(self.number) {
            Some((life, started)) if started == self.started => life,
            _ => Life::Ended,
        }
    }
}

/// Numbers that processes have in common if they know each other by number; zero if unknown.
pub(crate) fn neighbourhood() -> u64 {
    let name = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let numbers = name.to_string_lossy();
    if machine() == 0 || numbers.is_empty() { 0 } else { hash(machine(), &numbers) }
}

fn hash(start: u64, text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    text.bytes().fold(start, step)
}

/// A number that processes of one machine have in common; zero if it is unknown.
pub(crate) fn machine() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    hash(0, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start_as_well() {
        let own = Process::own().expect("a system with /proc");
        assert_eq!(own.life(), Life::Runs);
        assert_eq!(Process { started: own.started + 1, ..own }.life(), Life::Ended);
        assert_eq!(Process { number: u64::from(u32::MAX), ..own }.life(), Life::Ended);
        assert_eq!(neighbourhood(), neighbourhood());
    }
}
