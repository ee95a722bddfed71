//! The stand-alone binary.

use std::io::{IsTerminal, Write};

use partita_cli::{Colour, Surroundings};

fn main() {
    let stdout = std::io::stdout();
    let surroundings = Surroundings::new(Colour::for_output(stdout.is_terminal()));
    let mut out = std::io::BufWriter::new(stdout.lock());
    let status =
        partita_cli::run(std::env::args(), &surroundings, &mut out, &mut std::io::stderr().lock());
    let _ = out.flush();
    std::process::exit(status);
}
