//! Ways: the networks on which other hosts are reached, looked at when this process ends.
//!
//! `MPI_Finalize` waits for all ranks, and for ever if the network that MPI uses has gone down. A host
//! may have several, and which of them is MPI's nobody says. So a host counts as cut off when some way
//! on which it was reached when the world was made has not answered for half a minute.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::mpi::doors::{Answer, answer, begin};

/// How often each way is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);
/// How long a way may be silent.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// All ways to other hosts.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// The host of each rank of the world, as a number.
    hosts: Box<[u64]>,
    all: Vec<Way>,
}

/// An address of a host, and a port at which a rank of it listens or has listened.
#[derive(Debug)]
struct Way {
    host: u64,
    address: Ipv4Addr,
    port: u16,
    /// A knock that is under way, and when it began.
    call: Option<(OwnedFd, Instant)>,
    /// When it was last answered, or first tried.
    heard: Option<Instant>,
}

impl Ways {
    pub(super) fn new(hosts: &[u64], known: &[(u64, Ipv4Addr, u16)]) -> Self {
        let way = |&(host, address, port): &(u64, Ipv4Addr, u16)| Way {
            host,
            address,
            port,
            call: None,
            heard: None,
        };
        Self { hosts: hosts.into(), all: known.iter().map(way).collect() }
    }

    /// Whether some way to the host of a rank is silent; tries them all.
    pub(super) fn is_cut_off(&mut self, rank: u64) -> bool {
        let Some(host) = self.hosts.get(rank as usize) else { return false };
        let now = Instant::now();
        let silences =
            self.all.iter_mut().filter(|way| way.host == *host).map(|way| way.silence(now));
        silences.max().is_some_and(|silence| silence >= LONGEST_SILENCE)
    }
}

impl Way {
    /// For how long nothing has been heard.
    fn silence(&mut self, now: Instant) -> Duration {
        let found = self.call.as_ref().map(|(call, _)| answer(call));
        if matches!(found, Some(Answer::Lives | Answer::Refused)) {
            self.heard = Some(now);
        }
        let is_due = self.call.as_ref().is_none_or(|(_, since)| now - *since >= TRY_EVERY);
        if is_due {
            self.call = begin(self.address, self.port).map(|call| (call, now));
        }
        now - *self.heard.get_or_insert(now)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use super::*;

    const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

    fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind((HERE, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        (listener, port)
    }

    fn silence_after(ways: &mut Ways, start: Instant, seconds: u64) -> Duration {
        std::thread::sleep(Duration::from_millis(20));
        ways.all[0].silence(start + Duration::from_secs(seconds))
    }

    /// Calls at a door with no room for more; the last is not answered.
    fn crowd(listener: &TcpListener, port: u16) -> Vec<OwnedFd> {
        // SAFETY: the socket listens already.
        unsafe { libc::listen(listener.as_raw_fd(), 0) };
        let mut calls = Vec::new();
        loop {
            let call = begin(HERE, port).expect("a socket");
            std::thread::sleep(Duration::from_millis(20));
            let is_answered = answer(&call) != Answer::None;
            calls.push(call);
            if !is_answered {
                return calls;
            }
            assert!(calls.len() < 100, "there is always room");
        }
    }

    #[test]
    fn a_way_is_silent_while_nobody_answers() {
        let ((answers, port), (silent, other_port)) = (listener(), listener());
        let _crowd = crowd(&silent, other_port);
        let start = Instant::now();
        let mut lives = Ways::new(&[0, 7], &[(7, HERE, port)]);
        let mut none = Ways::new(&[0, 7], &[(7, HERE, other_port)]);
        for seconds in 0..20 {
            let heard = silence_after(&mut lives, start, seconds);
            assert!(heard <= Duration::from_secs(1), "{heard:?}");
            assert_eq!(silence_after(&mut none, start, seconds), Duration::from_secs(seconds));
        }
        // A host is reached, too, where the rank that listened has ended.
        drop(answers);
        silence_after(&mut lives, start, 50);
        assert_eq!(silence_after(&mut lives, start, 51), Duration::ZERO);
        assert!(!lives.is_cut_off(0) && !lives.is_cut_off(1) && !lives.is_cut_off(2));
    }
}
