//! Doors: how a rank finds out that a process of another host has ended.
//!
//! Every process that has others on far hosts listens at a port. It never serves anybody there: the
//! system takes calls as long as the process lives, whatever that does meanwhile, and breaks them, and
//! refuses new ones, from the moment it has ended. So whoever sends to a far rank or waits for it
//! *knocks* at its door and keeps the call; when that breaks, the process has ended. A rank keeps some
//! calls only: to other ranks it hangs up, and knocks again later. A knock that is refused counts only
//! where the host is known to let knocks through, which is tried when the world is made; one that is
//! not answered says nothing, since the link may be down.
//!
//! Nothing is sent by MPI to a process that has ended: some of its implementations end the sender.

use std::fs::File;
use std::io::ErrorKind;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use partita_mpi::{Comm, MpiError};

use crate::far::addresses::{N_ADDRESSES, own_addresses};
use crate::mpi::node::gather;
use crate::mpi::ways::Ways;

/// What a process tells of its door: the port and its host's addresses.
const WORDS: usize = 1 + N_ADDRESSES;
/// How long the first knocks may take, all together.
const FIRST_KNOCKS: Duration = Duration::from_millis(500);
/// Hosts that are tried when the world is made.
const MOST_TRIED: usize = 64;
/// Knocks that one look around may begin.
const MOST_AT_ONCE: usize = 8;
/// Calls that one process keeps at most, and that may wait to be taken at its own door.
const MOST_KEPT: usize = 256;
const MOST_WAITING: i32 = 4096;
/// How long the first message to a far process waits for the answer to a knock.
const FIRST_ANSWER: Duration = Duration::from_millis(10);
/// How long the first knocks wait for other addresses of hosts that have answered.
const OTHER_WAYS: Duration = Duration::from_millis(20);
/// How often the same door is knocked at, and how long an answer is waited for.
const KNOCK_EVERY: Duration = Duration::from_millis(250);
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// The doors of far processes, and this one's.
#[derive(Debug)]
pub(crate) struct Doors {
    own: TcpListener,
    far: Mutex<Far>,
    ways: Mutex<Ways>,
}

/// The doors of far processes by rank of the world; none where no knock gets through.
#[derive(Debug)]
struct Far {
    doors: Vec<Option<Door>>,
    n_kept: usize,
    /// By what descriptors this process may have.
    most_kept: usize,
    /// Calls at the own door, where so many waited that others would have found no room.
    taken: Vec<TcpStream>,
}

/// A far process's door.
#[derive(Debug)]
struct Door {
    address: Ipv4Addr,
    port: u16,
    state: Knocked,
}

/// What is known of who is behind a door.
#[derive(Debug, Default)]
enum Knocked {
    #[default]
    Never,
    /// A knock is under way.
    Waiting(OwnedFd, Instant),
    /// A knock was answered, and the call is kept: it breaks when the process ends.
    Kept(OwnedFd),
    /// It lived then, or nothing was heard.
    Before(Instant),
    Gone,
}

/// What has come of a knock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Lives,
    Refused,
    /// Nothing yet.
    None,
    /// The host or the network says no.
    Unknown,
}

impl Doors {
    /// Opens this process's door and tries those of other hosts; `hosts` are numbers by rank that
    /// are the same where processes see each other anyway. None where all do. Collective over the
    /// communicator.
    pub(crate) fn meet(world: &Comm, hosts: &[u64]) -> Result<Option<Self>, MpiError> {
        let here = hosts[world.rank()];
        if hosts.iter().all(|host| *host == here) {
            return Ok(None);
        }
        let own = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).ok();
        let port = own.as_ref().and_then(|own| own.local_addr().ok()).map_or(0, |at| at.port());
        let mut words = [0_u64; WORDS];
        words[0] = u64::from(port);
        for (word, address) in words[1..].iter_mut().zip(own_addresses()) {
            *word = u64::from(u32::from(address));
        }
        let all = gather(world, &words)?;
        let Some(own) = own.filter(|own| own.set_nonblocking(true).is_ok()) else {
            return Ok(None);
        };
        make_room(&own);
        close_in_children(&own);
        let told: Vec<&[u64]> = all.chunks(WORDS).collect();
        let known = first_knocks(&told, hosts, here);
        let door = |(rank, host): (usize, &u64)| {
            let (_, address, _) = known.iter().find(|(of, ..)| of == host)?;
            let port = u16::try_from(told[rank][0]).ok().filter(|port| *port != 0)?;
            Some(Door { address: *address, port, state: Knocked::Never })
        };
        let doors = hosts.iter().enumerate().map(door).collect();
        let far = Far { doors, n_kept: 0, most_kept: most_kept(), taken: Vec::new() };
        let ways = Mutex::new(Ways::new(hosts, &known));
        Ok(Some(Self { own, far: Mutex::new(far), ways }))
    }

    fn far(&self) -> MutexGuard<'_, Far> {
        self.far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a far process is known to have ended.
    pub(crate) fn is_gone(&self, rank: u64) -> bool {
        self.far().look(rank).is_some_and(|door| matches!(door.state, Knocked::Gone))
    }

    /// Whether something may be sent to a far process: it is not known to have ended. From now on its
    /// end is seen.
    pub(crate) fn may_be_told(&self, rank: u64) -> bool {
        let mut far = self.far();
        let Some(door) = far.look(rank) else { return true };
        // Where no call is kept nothing else says that it lives.
        if matches!(door.state, Knocked::Never | Knocked::Before(_)) {
            door.knock(Instant::now());
            door.await_answer(FIRST_ANSWER);
            return far.look(rank).is_none_or(|door| !matches!(door.state, Knocked::Gone));
        }
        !matches!(door.state, Knocked::Gone)
    }

    /// Whether the host of a far process is not reached any more, on some way on which it once was.
    /// Whoever asks asks again and again: it takes half a minute from the first time on.
    pub(crate) fn is_cut_off(&self, rank: u64) -> bool {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).is_cut_off(rank)
    }

    /// Knocks at the doors of some ranks, and hears what came of earlier knocks.
    pub(crate) fn ask_after(&self, ranks: &mut dyn Iterator<Item = u64>) {
        let (now, mut far, mut n_begun) = (Instant::now(), self.far(), 0);
        far.empty(&self.own);
        for rank in ranks {
            let Some(door) = far.look(rank) else { continue };
            if n_begun < MOST_AT_ONCE && door.is_due(now) {
                door.knock(now);
                n_begun += 1;
            }
        }
    }
}

impl Far {
    /// A door, with all that is known by now of who is behind it.
    fn look(&mut self, rank: u64) -> Option<&mut Door> {
        let door = self.doors.get_mut(rank as usize)?.as_mut()?;
        let was_kept = matches!(door.state, Knocked::Kept(_));
        door.hear(Instant::now(), self.n_kept < self.most_kept);
        let is_kept = matches!(door.state, Knocked::Kept(_));
        self.n_kept = self.n_kept + usize::from(is_kept) - usize::from(was_kept);
        Some(door)
    }

    /// Makes room where many calls wait at the own door: those that have hung up are let go.
    fn empty(&mut self, own: &TcpListener) {
        if !is_crowded(own) {
            return;
        }
        self.taken.retain(|call| !is_broken(call));
        while self.taken.len() < self.most_kept
            && let Ok((call, _)) = own.accept()
        {
            self.taken.extend((!is_broken(&call)).then_some(call));
        }
    }
}

impl Door {
    fn is_due(&self, now: Instant) -> bool {
        match self.state {
            Knocked::Never => true,
            Knocked::Before(last) => now.duration_since(last) >= KNOCK_EVERY,
            Knocked::Waiting(..) | Knocked::Kept(_) | Knocked::Gone => false,
        }
    }

    fn knock(&mut self, now: Instant) {
        self.state = match begin(self.address, self.port) {
            Some(call) => Knocked::Waiting(call, now),
            None => Knocked::Before(now),
        };
    }

    /// Waits until it is known what has come of a knock.
    fn await_answer(&self, limit: Duration) {
        if let Knocked::Waiting(call, _) = &self.state {
            let mut ready =
                libc::pollfd { fd: call.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
            // SAFETY: one structure.
            unsafe { libc::poll(&raw mut ready, 1, limit.as_millis() as i32) };
        }
    }

    fn hear(&mut self, now: Instant, may_keep: bool) {
        self.state = match std::mem::take(&mut self.state) {
            Knocked::Kept(call) if is_broken(&call) => match error_of(&call) {
                0 | libc::ECONNRESET => Knocked::Gone,
                _ => Knocked::Before(now),
            },
            Knocked::Waiting(call, since) => match answer(&call) {
                Answer::Refused => Knocked::Gone,
                Answer::Lives if may_keep => Knocked::Kept(call),
                Answer::None if now.duration_since(since) < ANSWER_WITHIN => {
                    Knocked::Waiting(call, since)
                }
                _ => Knocked::Before(now),
            },
            state => state,
        };
    }
}

/// Lets more calls wait at a door than usual: nobody takes them.
fn make_room(own: &TcpListener) {
    // SAFETY: the socket listens already; this changes how many may wait.
    unsafe { libc::listen(own.as_raw_fd(), MOST_WAITING) };
}

/// Doors of this process, which its forked children must not keep open when it ends; 0 is none.
static OPEN_DOORS: [AtomicI32; 16] = [const { AtomicI32::new(0) }; 16];
/// A file of nothing, which takes their place there.
static NOTHING: AtomicI32 = AtomicI32::new(0);

/// Lets children that are forked from now on close a door. Those of many worlds at once may stay open.
fn close_in_children(own: &TcpListener) {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let Ok(nothing) = File::open("/dev/null") else { return };
        NOTHING.store(nothing.into_raw_fd(), Ordering::Relaxed);
        // SAFETY: the handler makes system calls alone, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(close_doors)) };
    });
    let door = own.as_raw_fd();
    let take = |place: &&AtomicI32| {
        place.compare_exchange(0, door, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    let _ = OPEN_DOORS.iter().find(take);
}

extern "C" fn close_doors() {
    for place in &OPEN_DOORS {
        let door = place.load(Ordering::Relaxed);
        if door > 0 {
            // SAFETY: the descriptor stays open, on nothing, for whoever drops it.
            unsafe { libc::dup2(NOTHING.load(Ordering::Relaxed), door) };
        }
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        let own = self.own.as_raw_fd();
        for place in &OPEN_DOORS {
            let _ = place.compare_exchange(own, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Whether so many calls wait at a door that soon there is no room.
fn is_crowded(own: &TcpListener) -> bool {
    // SAFETY: all zeros are such a structure, and the option fills no more than it.
    let info = unsafe {
        let (mut info, mut n): (libc::tcp_info, _) = (zeroed(), size_of::<libc::tcp_info>() as u32);
        let at = (&raw mut info).cast();
        libc::getsockopt(own.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, at, &raw mut n);
        info
    };
    // Of a socket that listens these are the calls that wait, and how many may.
    2 * info.tcpi_unacked > info.tcpi_sacked
}

/// Whether a call at which nobody ever says anything has come to its end.
fn is_broken(call: &impl AsRawFd) -> bool {
    let events = libc::POLLIN | libc::POLLRDHUP;
    let mut ready = libc::pollfd { fd: call.as_raw_fd(), events, revents: 0 };
    // SAFETY: one structure, looked at without waiting.
    (unsafe { libc::poll(&raw mut ready, 1, 0) }) > 0
}

/// By which addresses each host lets knocks through, with the port that was tried; all are at once.
fn first_knocks(told: &[&[u64]], hosts: &[u64], here: u64) -> Vec<(u64, Ipv4Addr, u16)> {
    let mut calls = Vec::new();
    let mut tried: Vec<u64> = Vec::new();
    for (words, &host) in told.iter().zip(hosts) {
        let Ok(port) = u16::try_from(words[0]) else { continue };
        if host == here || port == 0 || tried.contains(&host) || tried.len() == MOST_TRIED {
            continue;
        }
        tried.push(host);
        for word in words[1..].iter().filter(|word| **word != 0) {
            let address = Ipv4Addr::from(*word as u32);
            calls.extend(begin(address, port).map(|call| ((host, address, port), call)));
        }
    }
    let (mut end, mut known) = (Instant::now() + FIRST_KNOCKS, Vec::new());
    let mut waits_for: Vec<u64> = tried;
    while !calls.is_empty() && Instant::now() < end {
        calls.retain(|(way, call)| {
            let found = answer(call);
            known.extend((found == Answer::Lives).then_some(*way));
            found == Answer::None
        });
        let n_before = waits_for.len();
        waits_for.retain(|host| !known.iter().any(|(of, ..)| of == host));
        if waits_for.is_empty() && n_before > 0 {
            end = end.min(Instant::now() + OTHER_WAYS);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    known
}

/// Begins a knock.
pub(super) fn begin(address: Ipv4Addr, port: u16) -> Option<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: makes a descriptor, which is owned from here on.
    let call = unsafe {
        let raw = libc::socket(libc::AF_INET, kind, 0);
        (raw >= 0).then(|| OwnedFd::from_raw_fd(raw))?
    };
    // Nothing is left of a knock when it is over, on either side.
    let hangs_up = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the structure is the option's.
    unsafe {
        let (at, n) = ((&raw const hangs_up).cast(), size_of::<libc::linger>() as u32);
        libc::setsockopt(call.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, at, n);
    }
    // SAFETY: all zeros are an address of no kind.
    let mut to: libc::sockaddr_in = unsafe { zeroed() };
    to.sin_family = libc::AF_INET as libc::sa_family_t;
    to.sin_port = port.to_be();
    to.sin_addr.s_addr = u32::from(address).to_be();
    // SAFETY: the structure is an address of the socket's family.
    let began = unsafe {
        libc::connect(
            call.as_raw_fd(),
            (&raw const to).cast(),
            size_of::<libc::sockaddr_in>() as u32,
        )
    };
    // On one machine the answer is there at once, and is heard as any other.
    let is_open = || std::io::Error::last_os_error().kind() != ErrorKind::PermissionDenied;
    (began == 0 || is_open()).then_some(call)
}

/// What has gone wrong with a call; 0 for nothing.
fn error_of(call: &OwnedFd) -> i32 {
    let (mut error, mut n) = (0_i32, size_of::<i32>() as u32);
    // SAFETY: the option is an integer.
    unsafe {
        let at = (&raw mut error).cast();
        libc::getsockopt(call.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, at, &raw mut n);
    }
    error
}

/// How many calls this process may keep: some of the descriptors that it may have.
fn most_kept() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    MOST_KEPT.min(usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) / 4)
}

/// What has come of a knock.
pub(super) fn answer(call: &OwnedFd) -> Answer {
    let mut ready = libc::pollfd { fd: call.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one structure, looked at without waiting.
    if unsafe { libc::poll(&raw mut ready, 1, 0) } <= 0 {
        return Answer::None;
    }
    match error_of(call) {
        0 if ready.revents & libc::POLLERR == 0 => Answer::Lives,
        libc::ECONNREFUSED => Answer::Refused,
        _ => Answer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(call: &OwnedFd) -> Answer {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            match answer(call) {
                Answer::None => std::thread::sleep(Duration::from_millis(1)),
                found => return found,
            }
        }
        Answer::None
    }

    #[test]
    fn a_door_answers_until_it_is_closed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let knock = || begin(Ipv4Addr::LOCALHOST, port).expect("a socket");
        // Nobody has to accept.
        assert_eq!(heard(&knock()), Answer::Lives);
        assert_eq!(heard(&knock()), Answer::Lives);
        drop(listener);
        assert_eq!(heard(&knock()), Answer::Refused);
    }

    #[test]
    fn a_process_is_gone_once_a_knock_was_refused() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let own = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        own.set_nonblocking(true).expect("an option");
        let (address, state) = (Ipv4Addr::LOCALHOST, Knocked::Never);
        let door = Door { address, port, state };
        let doors = vec![None, Some(door)];
        let far = Far { doors, n_kept: 0, most_kept: 1, taken: Vec::new() };
        let doors = Doors { own, far: Mutex::new(far), ways: Mutex::default() };
        let ask = |wanted: bool| {
            let start = Instant::now();
            while doors.is_gone(1) != wanted && start.elapsed() < Duration::from_secs(5) {
                doors.ask_after(&mut (0..2));
                std::thread::sleep(Duration::from_millis(5));
            }
            doors.is_gone(1)
        };
        for _ in 0..100 {
            doors.ask_after(&mut (0..2));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!doors.is_gone(1) && !doors.is_gone(0));
        drop(listener);
        assert!(ask(true));
        assert!(!doors.is_gone(0));
    }
}
