//! Pictures of layouts, plans and runs: text for a terminal, SVG and HTML for a notebook or a document.
//!
//! ```
//! use partita_layout::Layout;
//! use partita_picture::layout::{TextStyle, text};
//! let layout = Layout::parse(&[2, 8], "*, block @ 3")?;
//! println!("{}", text(&layout, TextStyle::default()));
//! # Ok::<(), partita_layout::LayoutError>(())
//! ```
//!
//! A picture is a string: nothing here writes a file, asks a terminal, or looks at an array's
//! values. What does not fit is left out and said to be.

#![forbid(unsafe_code)]

pub mod layout;
pub mod plan;
pub mod timeline;
