//! Formats, and the encodings that mean them.

use std::fmt;

use partita_ir::listed;

use super::SparseError;

/// How a sparse tensor lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A coordinate per dimension for every element; any number of dimensions.
    Coo,
    /// Rows one after another: where each begins, and the column of every element.
    Csr,
    /// Columns one after another: where each begins, and the row of every element.
    Csc,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Coo, Self::Csr, Self::Csc];

    /// `coo`, `csr`, `csc`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Coo => "coo",
            Self::Csr => "csr",
            Self::Csc => "csc",
        }
    }

    /// The format of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that an encoding such as `#sparse_tensor.encoding<{ map = .. }>` means.
    ///
    /// # Errors
    /// Encodings of other formats, of numbers that are not stored, and of coordinates narrower than
    /// 32 bits.
    pub fn of_encoding(encoding: &str) -> Result<Self, SparseError> {
        let refused = || SparseError::Encoding { encoding: encoding.chars().take(120).collect() };
        let has_value = encoding.contains("explicitVal");
        if has_value || widths(encoding).any(|width| !matches!(width, 0 | 32 | 64)) {
            return Err(refused());
        }
        let (dims, levels) = map_of(encoding).ok_or_else(refused)?;
        Self::of_levels(&dims, &levels).ok_or_else(refused)
    }

    /// The largest extent, and the most elements, that an encoding has coordinates and positions for.
    #[must_use]
    pub fn most_of_encoding(encoding: &str) -> u64 {
        if widths(encoding).any(|width| width == 32) { 1 << 31 } else { u64::MAX }
    }

    fn of_levels(dims: &[String], levels: &[Level]) -> Option<Self> {
        if dims.len() != levels.len() {
            return None;
        }
        let order: Option<Vec<usize>> =
            levels.iter().map(|level| dims.iter().position(|dim| *dim == level.dim)).collect();
        let kinds: Vec<&str> = levels.iter().map(|level| level.kind.as_str()).collect();
        match (order?.as_slice(), kinds.as_slice()) {
            ([0, 1], ["dense", "compressed"]) => Some(Self::Csr),
            ([1, 0], ["dense", "compressed"]) => Some(Self::Csc),
            ([0], ["compressed"]) => Some(Self::Coo),
            (order, [first, rest @ ..]) => {
                let is_coo = *first == "compressed(nonunique)"
                    && rest.iter().all(|kind| kind.starts_with("singleton"))
                    && order.iter().copied().eq(0..dims.len());
                is_coo.then_some(Self::Coo)
            }
            _ => None,
        }
    }

    /// The dimension whose indices lie one after another, and the one with coordinates.
    pub(super) fn compressed(self) -> Option<(usize, usize)> {
        match self {
            Self::Coo => None,
            Self::Csr => Some((0, 1)),
            Self::Csc => Some((1, 0)),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level of an encoding: the dimension it stores, and how.
struct Level {
    dim: String,
    kind: String,
}

/// Widths in bits that an encoding gives its positions and coordinates; 0 is that of an index.
fn widths(encoding: &str) -> impl Iterator<Item = u64> {
    let names = ["posWidth", "crdWidth"].into_iter();
    let behind = names.filter_map(|name| encoding.split_once(name)).map(|(_, rest)| rest);
    behind.map(|rest| {
        let number = rest.trim_start_matches(|c: char| c == '=' || c.is_whitespace());
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        number[..end].parse().unwrap_or(u64::MAX)
    })
}

/// Dimensions by name, and the levels.
fn map_of(encoding: &str) -> Option<(Vec<String>, Vec<Level>)> {
    let bare: String = encoding.chars().filter(|c| !c.is_whitespace()).collect();
    let (_, map) = bare.split_once("map=(")?;
    let (dims, rest) = map.split_once(")->(")?;
    let dims = dims.split(',').map(str::to_string).collect();
    let level = |word: &str| {
        let (dim, kind) = word.split_once(':')?;
        Some(Level { dim: dim.to_string(), kind: kind.to_string() })
    };
    let levels = listed(rest)?.into_iter().map(level).collect::<Option<_>>()?;
    Some((dims, levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(map: &str) -> Option<Format> {
        Format::of_encoding(&format!("#sparse_tensor.encoding<{{ map = {map} }}>")).ok()
    }

    #[test]
    fn encodings_mean_formats() {
        assert_eq!(of("(d0, d1) -> (d0 : dense, d1 : compressed)"), Some(Format::Csr));
        assert_eq!(of("(i, j) -> (j : dense, i : compressed)"), Some(Format::Csc));
        assert_eq!(
            of("(d0, d1) -> (d0 : compressed(nonunique), d1 : singleton)"),
            Some(Format::Coo)
        );
        assert_eq!(of("(d0) -> (d0 : compressed)"), Some(Format::Coo));
        assert_eq!(of("(d0, d1) -> (d0 : compressed)"), None);
        assert_eq!(of("(d0, d1, d2) -> (d0 : dense, d1 : compressed)"), None);
        let narrow = "(d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 64, crdWidth = 32";
        assert_eq!(of(narrow), Some(Format::Csr));
        assert_eq!(Format::most_of_encoding(narrow), 1 << 31);
        let three =
            "(a, b, c) -> (a : compressed(nonunique), b : singleton(nonunique), c : singleton)";
        assert_eq!(of(three), Some(Format::Coo));
    }

    #[test]
    fn other_encodings_are_refused() {
        let others = [
            "(d0, d1) -> (d0 : compressed, d1 : compressed)",
            "(d0, d1) -> (d0 : dense, d1 : dense)",
            "(d0, d1) -> (d0 floordiv 2 : dense, d1 : compressed)",
            "(d0, d1) -> (d0 : dense, d1",
            "",
        ];
        for map in others {
            assert_eq!(of(map), None, "{map}");
        }
        for more in ["explicitVal = 1.0 : f64", "crdWidth = 8", "posWidth = 32, crdWidth = 16"] {
            assert_eq!(
                of(&format!("(d0, d1) -> (d0 : dense, d1 : compressed), {more}")),
                None,
                "{more}"
            );
        }
        assert_eq!(Format::of_encoding("nothing").expect_err("none").reason(), "sparse-encoding");
    }
}
