//! Elements as text, and arrays as NumPy prints them.

use partita_array::run::Dense;
use partita_kernel::{Dtype, Kind};

/// Arrays with more elements are shown by their ends.
const MOST_SHOWN: usize = 1000;
const AT_EDGES: usize = 3;
const WIDTH: usize = 75;

/// The numbers of an element: one, or real and imaginary part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Element {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

/// All elements, in C order.
pub(super) fn elements(dense: &Dense) -> Vec<Element> {
    dense.bytes.chunks_exact(dense.dtype.size()).map(|one| element(one, dense.dtype)).collect()
}

fn element(bytes: &[u8], dtype: Dtype) -> Element {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = i128::from_le_bytes(wide);
    match dtype.kind() {
        Kind::Bool => Element::Bool(bits != 0),
        Kind::Unsigned => Element::Int(bits),
        Kind::Signed => {
            let shift = 128 - 8 * dtype.size() as u32;
            Element::Int(bits << shift >> shift)
        }
        Kind::Float => Element::Float(float(bits as u64, dtype)),
        Kind::Complex if dtype == Dtype::Complex64 => Element::Complex(
            float(bits as u64 & 0xffff_ffff, Dtype::Float32),
            float((bits >> 32) as u64 & 0xffff_ffff, Dtype::Float32),
        ),
        Kind::Complex => {
            Element::Complex(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64))
        }
    }
}

fn float(bits: u64, dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Float64 => f64::from_bits(bits),
        Dtype::Float32 => shortest(f32::from_bits(bits as u32)),
        Dtype::BFloat16 => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => half(bits as u16),
    }
}

/// The number that the shortest digits of a float32 mean, so that 0.1 is shown as 0.1.
fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// A single number in words.
pub(super) fn one(element: Element) -> String {
    match element {
        Element::Bool(truth) => if truth { "True" } else { "False" }.to_string(),
        Element::Int(number) => number.to_string(),
        Element::Float(number) => repr(number),
        Element::Complex(real, imaginary) => {
            let sign = if imaginary.is_sign_negative() { "" } else { "+" };
            format!("({}{sign}{}j)", repr(real), repr(imaginary))
        }
    }
}

fn repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_string();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{number:?}")
}

/// An array as NumPy prints it.
pub(super) fn array(dense: &Dense) -> String {
    let all = elements(dense);
    if dense.shape.is_empty() {
        return all.first().map_or_else(String::new, |element| one(*element));
    }
    let is_cut = all.len() > MOST_SHOWN;
    let shown: Vec<usize> = shown_places(&dense.shape, is_cut);
    let words = aligned(&shown.iter().map(|at| all[*at]).collect::<Vec<_>>());
    let mut words = words.into_iter();
    lines(&dense.shape, is_cut, 0, &mut words)
}

/// Indices of a dimension that are shown; none stands for those left out.
fn along(size: usize, is_cut: bool) -> Vec<Option<usize>> {
    if !is_cut || size <= 2 * AT_EDGES {
        return (0..size).map(Some).collect();
    }
    let (first, last) = ((0..AT_EDGES).map(Some), (size - AT_EDGES..size).map(Some));
    first.chain([None]).chain(last).collect()
}

fn shown_places(shape: &[usize], is_cut: bool) -> Vec<usize> {
    let mut places = vec![0];
    for &size in shape {
        let shown: Vec<usize> = along(size, is_cut).into_iter().flatten().collect();
        let next = |at: usize| shown.iter().map(move |i| at * size + i).collect::<Vec<_>>();
        places = places.into_iter().flat_map(next).collect();
    }
    places
}

/// Words of one width, dots under dots.
fn aligned(all: &[Element]) -> Vec<String> {
    let floats: Vec<f64> = all
        .iter()
        .filter_map(|element| match element {
            Element::Float(number) => Some(*number),
            _ => None,
        })
        .collect();
    let words: Vec<String> = match floats.len() == all.len() {
        true => fixed(&floats),
        false => all.iter().map(|element| one(*element)).collect(),
    };
    let width = words.iter().map(String::len).max().unwrap_or(0);
    words.into_iter().map(|word| format!("{word:>width$}")).collect()
}

fn fixed(all: &[f64]) -> Vec<String> {
    let finite = || all.iter().map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0);
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    if high >= 1e8 || low < 1e-4 || high / low > 1000.0 && high > 0.0 && low < 1e-3 {
        return all.iter().map(|x| repr(*x)).collect();
    }
    let word = |x: &f64| match x.is_finite() {
        true => format!("{x:.8}").trim_end_matches('0').to_string(),
        false => repr(*x),
    };
    let words: Vec<String> = all.iter().map(word).collect();
    let behind = |word: &String| word.split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = words.iter().map(behind).max().unwrap_or(0);
    let padded = |word: String| {
        let n_missing = if word.contains('.') { most - behind(&word) } else { 0 };
        format!("{word}{}", " ".repeat(n_missing))
    };
    words.into_iter().map(padded).collect()
}

fn lines(
    shape: &[usize],
    is_cut: bool,
    depth: usize,
    words: &mut impl Iterator<Item = String>,
) -> String {
    let shown = along(shape[depth], is_cut);
    if depth + 1 == shape.len() {
        return row(&shown, depth, words);
    }
    let gap = "\n".repeat(shape.len() - depth - 1) + &" ".repeat(depth + 1);
    let parts: Vec<String> = shown
        .iter()
        .map(|at| match at {
            Some(_) => lines(shape, is_cut, depth + 1, words),
            None => "...".to_string(),
        })
        .collect();
    format!("[{}]", parts.join(&gap))
}

fn row(shown: &[Option<usize>], depth: usize, words: &mut impl Iterator<Item = String>) -> String {
    let mut text = "[".to_string();
    let mut column = depth + 1;
    for (number, at) in shown.iter().enumerate() {
        let word = at.map_or("...".to_string(), |_| words.next().unwrap_or_default());
        if number > 0 {
            let wraps = column + 1 + word.len() > WIDTH;
            text += &if wraps { format!("\n{}", " ".repeat(depth + 1)) } else { " ".to_string() };
            column = if wraps { depth + 1 } else { column + 1 };
        }
        column += word.len();
        text += &word;
    }
    text + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(shape: &[usize], values: &[f64]) -> String {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        array(&Dense { shape: shape.to_vec(), dtype: Dtype::Float64, bytes })
    }

    #[test]
    fn arrays_look_as_in_numpy() {
        assert_eq!(shown(&[3], &[0.0, 1.0, 2.5]), "[0.  1.  2.5]");
        assert_eq!(shown(&[2, 2], &[1.0, -20.0, 3.0, 4.0]), "[[  1. -20.]\n [  3.   4.]]");
        assert_eq!(shown(&[0], &[]), "[]");
        assert_eq!(shown(&[], &[2.5]), "2.5");
        let many: Vec<f64> = (0..2000).map(f64::from).collect();
        assert_eq!(shown(&[2000], &many), "[   0.    1.    2. ... 1997. 1998. 1999.]");
    }

    #[test]
    fn halves_are_read() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x0001), 2_f64.powi(-24));
        assert!(half(0x7e00).is_nan());
    }
}
