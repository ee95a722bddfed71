//! A program that is run to its end or to a deadline.

use std::{
    fmt,
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How a program ended and what it printed.
#[derive(Debug)]
pub struct Run {
    status: Option<ExitStatus>,
    pub text: String,
    pub took: Duration,
    command: String,
}

impl Run {
    /// Runs a program; at the deadline it and its children are ended.
    pub fn new(command: &mut Command, limit: Duration) -> Self {
        let start = Instant::now();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own group, so that its children can be ended with it.
        let mut child = match command.process_group(0).spawn() {
            Ok(child) => child,
            Err(error) => panic!("{command:?} does not start: {error}"),
        };
        let output = child.stdout.take().map(read_in_background);
        let errors = child.stderr.take().map(read_in_background);
        let status = wait(&mut child, start + limit);
        let texts = [output, errors].into_iter().flatten();
        let text = texts.map(|reader| reader.join().unwrap_or_default()).collect();
        Self { status, text, took: start.elapsed(), command: format!("{command:?}") }
    }

    pub fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// What follows a word at the start of a line.
    pub fn line(&self, start: &str) -> &str {
        self.text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default()
    }
}

fn read_in_background(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The status, or nothing if the deadline came first.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    // A launcher told to terminate ends its ranks; then nothing may be left.
    for (signal, grace) in [("-TERM", Duration::from_secs(5)), ("-KILL", Duration::ZERO)] {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args([signal, "--", &group]).status();
        let end = Instant::now() + grace;
        while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(10));
        }
    }
    let _ = child.wait();
    None
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.status.map_or("passed its deadline".to_owned(), |s| s.to_string());
        write!(f, "{}\n{ended} after {:.1?}, printed\n{}", self.command, self.took, self.text)
    }
}
