//! Pictures of layouts: text for a terminal, SVG and HTML for a notebook or a document.
//!
//! ```
//! use partita_layout::Layout;
//! use partita_picture::layout::{TextStyle, text};
//! let layout = Layout::parse(&[2, 8], "*, block @ 3")?;
//! let picture = "\
//! 2x8  *, block @ 3  3 ranks
//!
//!    0     3     6
//! 0  A A A B B B C C
//! 1  A A A B B B C C
//!
//! A  rank 0 at (0)  local 2x3  owns 6
//! B  rank 1 at (1)  local 2x3  owns 6
//! C  rank 2 at (2)  local 2x2  owns 4";
//! assert_eq!(text(&layout, TextStyle::default()), picture);
//! # Ok::<(), partita_layout::LayoutError>(())
//! ```
//!
//! A picture costs the same for ten elements and for 2^63 of them: cells follow the cuts of the
//! maps, and what does not fit is left out and said to be. Colour never carries a meaning alone.
//! Nothing here writes a file, asks a terminal, or looks at an array's values.

mod axis;
mod cells;
mod draw;
mod halo;
mod html;
mod legend;
mod names;
mod palette;
mod panels;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod track;

pub use html::html;
pub use svg::svg;
pub use text::{Colour, TextStyle, text};
