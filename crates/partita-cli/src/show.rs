//! `partita show`: a layout as a picture.

use std::io::Write;

use partita_layout::{Layout, parse_shape};
use partita_picture::layout as picture;

use crate::args::ShowArgs;
use crate::{Colour, Outcome, write_file};

pub(crate) fn run(args: &ShowArgs, colour: Colour, out: &mut dyn Write) -> Outcome {
    let layout = Layout::parse(&parse_shape(&args.shape)?, &args.layout)?;
    let colour = match colour {
        Colour::Yes => picture::Colour::Ansi256,
        Colour::No => picture::Colour::Never,
    };
    let style = picture::TextStyle { colour, ..picture::TextStyle::default() };
    writeln!(out, "{}", picture::text(&layout, style))?;
    if let Some(path) = &args.svg {
        write_file(path, &picture::svg(&layout))?;
    }
    Ok(())
}
