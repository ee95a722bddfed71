//! `partita show`: a layout as a picture.

use std::io::Write;

use partita_layout::{Layout, parse_shape, picture};

use crate::args::ShowArgs;
use crate::{Colour, Outcome, write_file};

pub(crate) fn run(args: &ShowArgs, colour: Colour, out: &mut dyn Write) -> Outcome {
    let layout = Layout::parse(&parse_shape(&args.shape)?, &args.layout)?;
    let _ = colour;
    write!(out, "{}", picture::text(&layout, Default::default()))?;
    if let Some(path) = &args.svg {
        write_file(path, "")?;
    }
    Ok(())
}
