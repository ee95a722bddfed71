//! Windows of far processes: asked for, and fetched, without their owners' help.
//!
//! What comes is a copy, of one moment. A reader waits at most as long as it says for something to
//! come, hears interrupts meanwhile, and never takes half of an answer.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::far::addresses::N_ADDRESSES;
use crate::far::server::{Endpoint, serve};
use crate::far::words::{GONE, PIECE, PIECE_BYTES, Request, hear, hear_look, odd, say};
use crate::memory::served_window::{Served, ServedList};
use crate::team::interrupt::is_interrupted;

/// How long an address may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How often a reader that waits looks for interrupts.
const LOOK_EVERY: Duration = Duration::from_millis(50);

static OWNERS: Mutex<BTreeMap<u64, Weak<Owner>>> = Mutex::new(BTreeMap::new());

/// How a far process finds a window: plain numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FarNote(pub [u64; 8]);

/// A window of a far process.
#[derive(Debug)]
pub struct FarWindow {
    owner: Arc<Owner>,
    number: u64,
}

/// What a far window showed when somebody looked.
#[derive(Debug)]
pub struct FarListing(ServedList);

/// What a reader finds.
#[derive(Debug)]
pub enum FarLook {
    /// What is shown.
    Shown(FarListing),
    /// The owner writes at the moment.
    Writing,
    /// The owner shows nothing any more.
    Closed,
    /// Nobody could be asked.
    Unheard(Unheard),
}

/// Why no answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unheard {
    /// No connection could be made.
    Apart,
    /// There was a connection, and there is none any more: the process has ended.
    Ended,
    /// Nothing came in time.
    Late,
    /// This process was interrupted.
    Interrupted,
}

/// What came of fetching bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarFetched {
    /// They are here, all of the moment when somebody looked.
    Read,
    /// They are not shown any more.
    Gone,
    /// Nobody could be asked.
    Unheard(Unheard),
}

/// Why an address gave no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoAnswer {
    /// Nobody listens there.
    Refused,
    /// Nothing came back from there.
    Unreached,
    /// Somebody listens, and says nothing.
    Silent,
    /// Somebody else listens, or the owner takes no more.
    HungUp,
    /// This process was interrupted.
    Interrupted,
}

/// A process that serves windows, and the connection to it.
#[derive(Debug)]
struct Owner {
    endpoint: Endpoint,
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    /// None before the first request, and after one that was not answered whole.
    stream: Option<TcpStream>,
    /// Where the owner answered before.
    known: Option<SocketAddr>,
}

impl FarNote {
    fn new(number: u64, endpoint: Endpoint) -> Self {
        let Endpoint { port, name, word: [first, second], addresses } = endpoint;
        let [one, two, three] = addresses.map(u64::from);
        Self([number, u64::from(port), name, first, second, one, two, three])
    }

    fn read(self) -> Option<(u64, Endpoint)> {
        let [number, port, name, first, second, addresses @ ..] = self.0;
        let port = u16::try_from(port).ok()?;
        let mut plain = [0; N_ADDRESSES];
        for (to, from) in plain.iter_mut().zip(addresses) {
            *to = u32::try_from(from).ok()?;
        }
        Some((number, Endpoint { port, name, word: [first, second], addresses: plain }))
    }

    /// How far processes find a window of this one by its number among those that are served; none
    /// where nothing can be served.
    #[must_use]
    pub fn of(number: u64) -> Option<Self> {
        serve().map(|endpoint| Self::new(number, endpoint))
    }
}

impl FarLook {
    /// Whether it is what somebody saw before; false where nobody could be asked.
    #[must_use]
    pub fn is_still(&self, listing: &FarListing) -> bool {
        matches!(self, Self::Shown(now) if now.0.sequence == listing.0.sequence)
    }
}

impl FarListing {
    /// Counts what the window has shown.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.0.words.version
    }

    /// What its owner says of the arrays.
    #[must_use]
    pub fn description(&self) -> &[u8] {
        &self.0.words.description
    }

    /// Bytes of an array; none if there is no such array.
    #[must_use]
    pub fn n_bytes(&self, array: usize) -> Option<usize> {
        self.0.sizes.get(array).and_then(|n_bytes| usize::try_from(*n_bytes).ok())
    }
}

impl FarWindow {
    /// A window of a far process; none where the numbers are those of none. Nobody is asked yet.
    #[must_use]
    pub fn open(note: FarNote) -> Option<Self> {
        let (number, endpoint) = note.read()?;
        let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|_, owner| owner.strong_count() > 0);
        let known = owners.get(&endpoint.name).and_then(Weak::upgrade);
        let owner = known.filter(|owner| owner.endpoint == endpoint).unwrap_or_else(|| {
            let owner = Arc::new(Owner { endpoint, line: Mutex::default() });
            owners.insert(endpoint.name, Arc::downgrade(&owner));
            owner
        });
        Some(Self { owner, number })
    }

    /// What the owner shows now; waited for as long as `limit`.
    #[must_use]
    pub fn look(&self, limit: Option<Duration>) -> FarLook {
        let request = Request::Look { window: self.number };
        match self.owner.ask(request, limit, |mut line| hear_look(&mut line)) {
            Ok(Served::Shown(list)) => FarLook::Shown(FarListing(list)),
            Ok(Served::Writing) => FarLook::Writing,
            Ok(Served::Closed) => FarLook::Closed,
            Err(unheard) => FarLook::Unheard(unheard),
        }
    }

    /// Fetches bytes of an array from `start` on.
    #[must_use]
    pub fn fetch(
        &self,
        listing: &FarListing,
        (array, start): (usize, usize),
        into: &mut [u8],
        limit: Option<Duration>,
    ) -> FarFetched {
        let request = Request::Fetch {
            window: self.number,
            sequence: listing.0.sequence,
            array: array as u64,
            start: start as u64,
            n_bytes: into.len() as u64,
        };
        let take = |mut line: Patient<'_>| {
            for piece in into.chunks_mut(PIECE_BYTES) {
                match hear(&mut line)? {
                    [PIECE] => line.read_exact(piece)?,
                    [GONE] => return Ok(FarFetched::Gone),
                    _ => return Err(odd()),
                }
            }
            Ok(FarFetched::Read)
        };
        self.owner.ask(request, limit, take).unwrap_or_else(FarFetched::Unheard)
    }
}

impl Owner {
    /// Asks, and takes the answer whole; a connection that breaks is made once more.
    fn ask<T>(
        &self,
        request: Request,
        limit: Option<Duration>,
        mut take: impl FnMut(Patient<'_>) -> io::Result<T>,
    ) -> Result<T, Unheard> {
        let mut line = self.line();
        let was_open = line.stream.is_some();
        match self.ask_once(&mut line, request, limit, &mut take) {
            // The owner may have hung up on a line that was not used for long.
            Err(Unheard::Ended) if was_open => self.ask_once(&mut line, request, limit, &mut take),
            done => done,
        }
    }

    fn ask_once<T>(
        &self,
        line: &mut Line,
        request: Request,
        limit: Option<Duration>,
        take: &mut impl FnMut(Patient<'_>) -> io::Result<T>,
    ) -> Result<T, Unheard> {
        if line.stream.is_none() {
            self.connect(line, limit)?;
        }
        // It is put back only if the answer came whole: nobody shall hear the rest of another one.
        let stream = line.stream.take().ok_or(Unheard::Apart)?;
        let answer = say(&mut &stream, &request.words())
            .and_then(|()| take(Patient { stream: &stream, limit, since: Instant::now() }));
        match answer {
            Ok(found) => {
                line.stream = Some(stream);
                Ok(found)
            }
            Err(error) => Err(why(&error)),
        }
    }

    fn connect(&self, line: &mut Line, limit: Option<Duration>) -> Result<(), Unheard> {
        let since = Instant::now();
        let before = line.known;
        let mut tried = before.map_or_else(|| self.addresses(), |known| vec![known]);
        let left = || limit.map(|limit| limit.saturating_sub(since.elapsed()));
        let mut within = Some(ANSWER_WITHIN);
        loop {
            let mut silent = Vec::new();
            for at in tried {
                let within = [within, left()].into_iter().flatten().min();
                match self.connect_to(at, within) {
                    Ok(stream) => {
                        *line = Line { stream: Some(stream), known: Some(at) };
                        return Ok(());
                    }
                    Err(NoAnswer::Interrupted) => return Err(Unheard::Interrupted),
                    Err(NoAnswer::Refused) if before.is_some() => return Err(Unheard::Ended),
                    Err(NoAnswer::Silent) => silent.push(at),
                    // Where the owner answered before it may be about to end, or have too much to do.
                    Err(NoAnswer::HungUp | NoAnswer::Unreached) if before.is_some() => {
                        silent.push(at);
                    }
                    Err(_) => {}
                }
            }
            if silent.is_empty() {
                return Err(Unheard::Apart);
            }
            // Somebody listens there, and may be stopped: it is waited for as long as any answer.
            if left().is_some_and(|left| left.is_zero()) {
                return Err(Unheard::Late);
            }
            std::thread::sleep(left().map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
            (tried, within) = (silent, None);
        }
    }

    /// A connection on which the owner has said its name.
    fn connect_to(&self, at: SocketAddr, within: Option<Duration>) -> Result<TcpStream, NoAnswer> {
        if is_interrupted() {
            return Err(NoAnswer::Interrupted);
        }
        let reached = within.map_or(ANSWER_WITHIN, |within| within.min(ANSWER_WITHIN));
        let stream =
            TcpStream::connect_timeout(&at, reached.max(LOOK_EVERY)).map_err(
                |error| match error.kind() {
                    ErrorKind::ConnectionRefused => NoAnswer::Refused,
                    _ => NoAnswer::Unreached,
                },
            )?;
        self.is_known_to(&stream, within).map_err(|error| match why(&error) {
            Unheard::Interrupted => NoAnswer::Interrupted,
            Unheard::Late => NoAnswer::Silent,
            Unheard::Apart | Unheard::Ended => NoAnswer::HungUp,
        })?;
        Ok(stream)
    }

    /// The owner's addresses, and this machine's own where both are on one.
    fn addresses(&self) -> Vec<SocketAddr> {
        let told = self.endpoint.addresses.into_iter().filter(|address| *address != 0);
        let near = u32::from(Ipv4Addr::LOCALHOST);
        let all = told.chain([near]);
        all.map(|at| SocketAddr::from((Ipv4Addr::from(at), self.endpoint.port))).collect()
    }

    /// Hears the owner's name, and says the word.
    fn is_known_to(&self, stream: &TcpStream, within: Option<Duration>) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK_EVERY))?;
        stream.set_write_timeout(Some(ANSWER_WITHIN))?;
        let mut answer = Patient { stream, limit: within, since: Instant::now() };
        if hear(&mut answer)? != [self.endpoint.name] {
            return Err(odd());
        }
        say(&mut &*stream, &self.endpoint.word)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why no answer came.
fn why(error: &io::Error) -> Unheard {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Unheard::Late,
        ErrorKind::Other => Unheard::Interrupted,
        // What is no answer of ours is taken as its sender's leaving, as among near ranks.
        _ => Unheard::Ended,
    }
}

/// A connection that waits as long as its reader wants, and hears interrupts.
struct Patient<'a> {
    stream: &'a TcpStream,
    limit: Option<Duration>,
    /// When something came last.
    since: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&mut &*self.stream).read(into) {
                Err(error) if is_pause(&error) => {}
                done => {
                    self.since = Instant::now();
                    return done;
                }
            }
            if is_interrupted() {
                return Err(io::Error::from(ErrorKind::Other));
            }
            if self.limit.is_some_and(|limit| self.since.elapsed() > limit) {
                return Err(io::Error::from(ErrorKind::TimedOut));
            }
        }
    }
}

/// Whether nothing has come for a moment.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
