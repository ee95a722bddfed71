//! Whether a program makes sense.

mod error;

pub use error::VerifyError;
