//! The protocols `__partitioned__` and `__distarray__` as plain data: judge, read, write.
//!
//! A dictionary is a [`Value`] tree. A check returns every problem at once, each with a path, a
//! stable reason and a cure, in time linear in the dictionary's size; it never panics.
//!
//! ```
//! use partita_protocol::{Strictness, check, json};
//! let text = r#"{"shape": [4], "partition_tiling": [2], "partitions": {
//!     "(0,)": {"start": [0], "shape": [2], "data": "a", "location": ["10.0.0.1"]},
//!     "(1,)": {"start": [3], "shape": [1], "data": "b", "location": ["10.0.0.2"]}}}"#;
//! let findings = check::file(&json::parse(text)?, Strictness::Lenient);
//! assert_eq!(findings[0].reason, "partitions-gap");
//! assert!(findings[0].message.contains("[2, 3)"));
//! # Ok::<(), partita_protocol::JsonError>(())
//! ```
//!
//! What is deliberately absent: no data is touched, no `get` is called, nothing is fetched. The
//! crate has no `unsafe`, no thread, no I/O and reads no environment.

#![forbid(unsafe_code)]

pub mod check;
pub mod distarray;
mod error;
mod finding;
pub mod json;
mod location;
mod numbers;
pub mod partitioned;
mod tags;
mod value;

pub use error::ProtocolError;
pub use finding::{Finding, Findings, Strictness, problems};
pub use json::JsonError;
pub use location::{Device, Location, read_locations};
pub use value::{Facts, Role, Thing, Value};

/// Most dimensions of an array.
pub const MOST_DIMS: usize = 64;
/// Most levels of lists within lists.
pub const MOST_NESTED: usize = 256;
/// Longest text of a file, in bytes.
pub const LONGEST_TEXT: usize = 64 << 20;
