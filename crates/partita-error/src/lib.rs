//! One way to write down what can go wrong: each variant beside its reason and its message.
//!
//! ```
//! partita_error::errors! {
//!     /// Why a door stays shut.
//!     pub enum DoorError {
//!         Locked { key: u32 } "locked" =>
//!             "the door is locked and key {key} does not fit; try key {}", key + 1;
//!         Gone "gone" => "there is no door; look elsewhere";
//!     }
//! }
//! let error = DoorError::Locked { key: 3 };
//! assert_eq!(error.reason(), "locked");
//! assert_eq!(error.to_string(), "the door is locked and key 3 does not fit; try key 4");
//! assert_eq!(DoorError::TABLE[1], ("Gone", "gone", "there is no door; look elsewhere"));
//! ```
//!
//! A message has three parts: what was wrong, the values, what to do. Callers and tests match the
//! reason, never the text. `thiserror` has no reasons; with it they stood in a second table, and
//! the two drifted.

#![forbid(unsafe_code)]

/// An error enum with `reason()`, `Display` and a `TABLE` of (variant, reason, message).
///
/// A variant is `Name { fields } "reason" => "message {field}", arguments;`. Fields are seen by
/// the arguments as references. Errors of others follow the enum, as `passing on Name(Error)`.
#[macro_export]
macro_rules! errors {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$about:meta])* $variant:ident $({ $($field:ident: $type:ty),* $(,)? })?
                $reason:literal => $text:literal $(, $argument:expr)* $(,)?;)*
        }
        $(passing on $outer:ident($inner:ty))*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the fields are the values named in the message")]
        pub enum $name {
            $($(#[$about])* $variant $({ $($field: $type),* })?,)*
            $($outer($inner),)*
        }

        impl $name {
            /// Every variant of its own with its reason and its message.
            pub const TABLE: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($variant), $reason, $text)),*];

            /// Stable code of the error; match this, not the text.
            #[must_use]
            pub fn reason(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $reason,)*
                    $(Self::$outer(error) => error.reason(),)*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            #[allow(unused_variables, reason = "not every message shows every field")]
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),* })? => ::std::write!(f, $text $(, $argument)*),)*
                    $(Self::$outer(error) => error.fmt(f),)*
                }
            }
        }

        impl ::std::error::Error for $name {
            fn source(&self) -> Option<&(dyn ::std::error::Error + 'static)> {
                match self {
                    $(Self::$outer(error) => Some(error),)*
                    #[allow(unreachable_patterns, reason = "some enums only pass on")]
                    _ => None,
                }
            }
        }

        $(impl From<$inner> for $name {
            fn from(error: $inner) -> Self {
                Self::$outer(error)
            }
        })*
    };
}

/// Checks a table of errors: what is wrong with it, in words; nothing if all is well.
///
/// A reason must be the variant's name in small letters with hyphens, after `prefix`, unless it is
/// one of `shared`: (variant, reason) pairs that are meant to differ. A message has a cure: it
/// says what to do after a semicolon.
#[must_use]
pub fn judge(
    table: &[(&'static str, &'static str, &'static str)],
    prefix: &str,
    shared: &[(&str, &str)],
) -> Vec<String> {
    let mut problems = Vec::new();
    for (variant, reason, text) in table {
        let expected = format!("{prefix}{}", hyphenated(variant));
        if *reason != expected && !shared.contains(&(variant, reason)) {
            problems.push(format!("{variant} has the reason {reason}, not {expected}"));
        }
        if !text.contains(';') {
            problems.push(format!("{variant} names no cure: {text}"));
        }
    }
    problems
}

fn hyphenated(variant: &str) -> String {
    let mut text = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn finds_a_reason_that_is_not_its_variant() {
        let table = [("GridZero", "grid-nought", "0 ranks; use 1")];
        assert_eq!(judge(&table, "", &[]), ["GridZero has the reason grid-nought, not grid-zero"]);
        assert!(judge(&table, "", &[("GridZero", "grid-nought")]).is_empty());
    }

    #[test]
    fn finds_a_message_without_a_cure() {
        let table = [("GridZero", "mpi-grid-zero", "0 ranks")];
        assert_eq!(judge(&table, "mpi-", &[]), ["GridZero names no cure: 0 ranks"]);
    }
}
