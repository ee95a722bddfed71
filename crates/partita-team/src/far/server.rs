//! The thread that serves this process's windows to far readers.
//!
//! It starts when the first window is made that somebody cannot reach otherwise, and lives as long
//! as the process. Each reader has a connection, and a thread here that does nothing but copy and
//! send. Whoever does not know the job's word is not heard.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::far::addresses::{N_ADDRESSES, own_addresses};
use crate::far::words::{GONE, N_REQUEST_WORDS, PIECE, PIECE_BYTES, Request, hear, say, say_look};
use crate::memory::served_window::{Served, ServedWindow};

/// Readers that are served at once; what comes on top is hung up on, and tries again.
const MOST_READERS: usize = 1024;
/// Whoever connects has so long to say the word.
const WORD_WITHIN: Duration = Duration::from_secs(5);
/// A reader that takes nothing for so long is gone.
const TAKEN_WITHIN: Duration = Duration::from_secs(120);
/// Where the system has no descriptor or thread for a reader, others may end meanwhile.
const PAUSE: Duration = Duration::from_millis(10);
const STACK_BYTES: usize = 1 << 17;

/// By process: after a fork the child has no thread that serves.
static SERVER: Mutex<Option<(u32, Endpoint)>> = Mutex::new(None);

/// Where windows of a process are served: what its readers must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub port: u16,
    /// What the server says first; no other one says it.
    pub name: u64,
    /// What it wants to hear.
    pub word: [u64; 2],
    pub addresses: [u32; N_ADDRESSES],
}

/// Where this process's windows are served, from now on; none where the system does not let it.
pub(crate) fn serve() -> Option<Endpoint> {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, endpoint)) = *server
        && of == process
    {
        return Some(endpoint);
    }
    let endpoint = start()?;
    *server = Some((process, endpoint));
    Some(endpoint)
}

fn start() -> Option<Endpoint> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    let port = listener.local_addr().ok()?.port();
    let [name, first, second] = random()?;
    let mut addresses = [0; N_ADDRESSES];
    for (word, address) in addresses.iter_mut().zip(own_addresses()) {
        *word = u32::from(address);
    }
    let endpoint = Endpoint { port, name, word: [first, second], addresses };
    let listen = move || listen(&listener, endpoint);
    std::thread::Builder::new()
        .name("partita-serve".into())
        .stack_size(STACK_BYTES)
        .spawn(listen)
        .ok()?;
    Some(endpoint)
}

fn random() -> Option<[u64; 3]> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom").ok()?.read_exact(&mut bytes).ok()?;
    hear(&mut bytes.as_slice()).ok()
}

fn listen(listener: &TcpListener, endpoint: Endpoint) {
    let n_readers = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        if n_readers.load(Ordering::Relaxed) >= MOST_READERS {
            continue;
        }
        n_readers.fetch_add(1, Ordering::Relaxed);
        let leaving = Leaving(Arc::clone(&n_readers));
        let work = move || {
            let _leaving = leaving;
            // A connection that breaks is the reader's to notice.
            let _ = attend(&stream, endpoint);
        };
        let thread = std::thread::Builder::new().name("partita-serve".into());
        if thread.stack_size(STACK_BYTES).spawn(work).is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Counts a reader off, also where no thread could be started for it.
struct Leaving(Arc<AtomicUsize>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves one reader until it hangs up.
fn attend(mut stream: &TcpStream, endpoint: Endpoint) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(TAKEN_WITHIN))?;
    stream.set_read_timeout(Some(WORD_WITHIN))?;
    say(&mut stream, &[endpoint.name])?;
    if hear(&mut stream)? != endpoint.word {
        return Ok(());
    }
    stream.set_read_timeout(None)?;
    let mut room = vec![0; size_of::<u64>() + PIECE_BYTES];
    loop {
        let words: [u64; N_REQUEST_WORDS] = hear(&mut stream)?;
        match Request::read(words) {
            Some(Request::Look { window }) => {
                let look = ServedWindow::find(window).map_or(Served::Closed, |found| found.look());
                say_look(&mut stream, &look)?;
            }
            Some(Request::Fetch { window, sequence, array, start, n_bytes }) => {
                give(&mut stream, &mut room, window, (sequence, array), (start, n_bytes))?;
            }
            None => return Ok(()),
        }
    }
}

/// Sends bytes of an array piece by piece, as long as they are shown.
fn give(
    stream: &mut impl Write,
    room: &mut [u8],
    window: u64,
    (sequence, array): (u64, u64),
    (start, n_bytes): (u64, u64),
) -> std::io::Result<()> {
    let found = ServedWindow::find(window);
    let mut done = 0;
    while done < n_bytes {
        let n = (n_bytes - done).min(PIECE_BYTES as u64);
        let (head, rest) = room.split_at_mut(size_of::<u64>());
        let piece = &mut rest[..n as usize];
        let at = start.saturating_add(done);
        if !found.as_ref().is_some_and(|found| found.copy(sequence, array, at, piece)) {
            return say(stream, &[GONE]);
        }
        head.copy_from_slice(&PIECE.to_le_bytes());
        stream.write_all(&room[..size_of::<u64>() + n as usize])?;
        done += n;
    }
    Ok(())
}
