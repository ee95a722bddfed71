//! Programs as text.
//!
//! Three forms are written, and all are read, mixed if need be:
//!
//! - *generic*: MLIR's generic form, with types as stock MLIR tools verify them;
//! - *rfc*: the form of the specification, for people;
//! - *builtin*: in dialects that stock MLIR has (`crate::builtin`).
//!
//! Functions, arithmetic and loops are written as MLIR writes them in all three.

mod error;
mod floats;
mod lexer;
mod parse;
mod print;

pub use error::SyntaxError;
pub use floats::float_text;
pub(crate) use parse::parse_attr;
pub use parse::{parse, parse_bytes, parse_type};
pub(crate) use print::attr_text;
pub use print::{print, type_text};

/// Which form to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// For tools.
    #[default]
    Generic,
    /// For people.
    Rfc,
    /// For tools that know no dialect of ours.
    Builtin,
}

impl Form {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Generic, Self::Rfc, Self::Builtin];

    /// `generic`, `rfc`, `builtin`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Rfc => "rfc",
            Self::Builtin => "builtin",
        }
    }

    /// The form of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}
