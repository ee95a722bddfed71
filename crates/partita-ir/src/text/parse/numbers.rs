//! Numbers: integers that fit their type, floating numbers, sizes with `x` between them.

use super::super::error::SyntaxError;
use super::super::floats::float_from_bits;
use super::super::lexer::{Kind, skip_blank};
use super::{Failed, Parsed, Parser};
use crate::attr::{Attr, Float};
use crate::types::{Scalar, Sign, Size};

impl Parser<'_> {
    /// A plain integer of at most 64 bits without sign.
    pub(super) fn unsigned(&mut self) -> Parsed<u64> {
        if self.token.kind != Kind::Int {
            return Err(self.expected("a number"));
        }
        let number = self.magnitude("64 bits")?;
        self.advance()?;
        Ok(number)
    }

    /// An integer that fits `i64`.
    pub(super) fn signed(&mut self) -> Parsed<i64> {
        let at = self.token.start;
        let negative = self.take('-')?;
        let magnitude = self.unsigned()?;
        let wide = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        i64::try_from(wide).map_err(|_| self.too_large(&wide.to_string(), "i64", at))
    }

    fn magnitude(&mut self, range: &str) -> Parsed<u64> {
        let text = self.token_text();
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let at = self.token.start;
        parsed.map_err(|_| self.too_large(text, range, at))
    }

    pub(super) fn too_large(&mut self, number: &str, range: &str, at: usize) -> Failed {
        let number = number.chars().take(40).collect();
        self.fail(SyntaxError::NumberTooLarge { number, range: range.into() }, at)
    }

    /// A number attribute with its type behind it, or the usual type.
    pub(super) fn number_attr(&mut self) -> Parsed<Attr> {
        let at = self.token.start;
        let negative = self.take('-')?;
        let (kind, text) = (self.token.kind, self.token_text());
        match kind {
            Kind::Float => {
                self.advance()?;
                let scalar = self.number_type(Scalar::F64)?;
                self.float_attr(text, negative, scalar, at)
            }
            Kind::Int => {
                let magnitude = self.magnitude("64 bits")?;
                self.advance()?;
                let scalar = self.number_type(Scalar::I64)?;
                let is_bits = text.starts_with("0x");
                match scalar.is_integer() {
                    true => self.int_attr(magnitude, negative, scalar, at),
                    false => self.bits_attr(magnitude, scalar, is_bits && !negative, at),
                }
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn number_type(&mut self, usual: Scalar) -> Parsed<Scalar> {
        if !self.take(':')? {
            return Ok(usual);
        }
        self.scalar()
    }

    fn float_attr(
        &mut self,
        text: &str,
        negative: bool,
        scalar: Scalar,
        at: usize,
    ) -> Parsed<Attr> {
        let number: f64 = text.parse().map_err(|_| self.too_large(text, "f64", at))?;
        if scalar.is_integer() || scalar.is_complex() || !number.is_finite() {
            return Err(self.too_large(text, &scalar.to_string(), at));
        }
        Ok(Attr::Float(Float(if negative { -number } else { number }), scalar))
    }

    fn bits_attr(&mut self, bits: u64, scalar: Scalar, is_bits: bool, at: usize) -> Parsed<Attr> {
        let number = float_from_bits(bits, scalar).filter(|_| is_bits && scalar.is_float());
        match number {
            Some(number) => Ok(Attr::Float(Float(number), scalar)),
            None => {
                let range = format!("{scalar}, which is written with a point");
                Err(self.too_large(&bits.to_string(), &range, at))
            }
        }
    }

    fn int_attr(
        &mut self,
        magnitude: u64,
        negative: bool,
        scalar: Scalar,
        at: usize,
    ) -> Parsed<Attr> {
        let wide = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        match wrapped(wide, scalar) {
            Some(number) if scalar == Scalar::BOOL => Ok(Attr::Bool(number != 0)),
            Some(number) => Ok(Attr::Int(number, scalar)),
            None => Err(self.too_large(&wide.to_string(), &scalar.to_string(), at)),
        }
    }

    /// A floating number without type, for lists; bits are of the given type.
    pub(super) fn float_of(&mut self, scalar: Scalar) -> Parsed<Float> {
        let at = self.token.start;
        let negative = self.take('-')?;
        let text = self.token_text();
        let number = match self.token.kind {
            Kind::Float => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Kind::Int if text.starts_with("0x") => {
                let bits = self.magnitude("64 bits")?;
                float_from_bits(bits, scalar)
            }
            _ => return Err(self.expected("a floating number")),
        };
        self.advance()?;
        match number {
            Some(number) => Ok(Float(if negative { -number } else { number })),
            None => Err(self.too_large(text, &scalar.to_string(), at)),
        }
    }

    /// `4x?x`: sizes, each with an `x` behind it; what follows is the element type.
    pub(super) fn sizes_before_element(&mut self) -> Parsed<Vec<Size>> {
        let mut sizes = Vec::new();
        let mut at = self.token.start;
        while let Some((size, behind)) = self.size_at(at)? {
            if self.text.as_bytes().get(behind) != Some(&b'x') {
                self.lex_from(at)?;
                return Err(self.expected("a size followed by `x` and the element type"));
            }
            sizes.push(size);
            at = behind + 1;
        }
        self.lex_from(at)?;
        Ok(sizes)
    }

    /// `0x0,11x55,0x0`: shapes, separated by commas.
    pub(super) fn shapes(&mut self) -> Parsed<Vec<Vec<Size>>> {
        let mut shapes = Vec::new();
        let mut at = self.token.start;
        loop {
            let mut sizes = Vec::new();
            loop {
                let Some((size, behind)) = self.size_at(at)? else {
                    self.lex_from(at)?;
                    return Err(self.expected("a size or `?`"));
                };
                sizes.push(size);
                at = behind;
                if self.text.as_bytes().get(at) != Some(&b'x') {
                    break;
                }
                at += 1;
            }
            shapes.push(sizes);
            let next = skip_blank(self.text.as_bytes(), at);
            if self.text.as_bytes().get(next) != Some(&b',') || !self.size_follows(next + 1) {
                self.lex_from(at)?;
                return Ok(shapes);
            }
            at = skip_blank(self.text.as_bytes(), next + 1);
        }
    }

    fn size_follows(&self, from: usize) -> bool {
        let at = skip_blank(self.text.as_bytes(), from);
        self.text.as_bytes().get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'?')
    }

    /// A size at a byte of the text, and the byte behind it.
    fn size_at(&mut self, at: usize) -> Parsed<Option<(Size, usize)>> {
        let rest = &self.text.as_bytes()[at..];
        if rest.first() == Some(&b'?') {
            return Ok(Some((Size::Dynamic, at + 1)));
        }
        let n_digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if n_digits == 0 {
            return Ok(None);
        }
        let text = &self.text[at..at + n_digits];
        match text.parse::<i64>() {
            Ok(number) => Ok(Some((Size::Known(number.unsigned_abs()), at + n_digits))),
            Err(_) => Err(self.too_large(text, "a size below 2^63", at)),
        }
    }
}

/// The number as a type holds it: signless and signed ones with their sign, unsigned ones as bits.
fn wrapped(number: i128, scalar: Scalar) -> Option<i64> {
    let (width, sign) = match scalar {
        Scalar::Int { width, sign } => (u32::from(width), sign),
        _ => (64, Sign::Signless),
    };
    let (low, high) = match sign {
        Sign::Signless => (-(1_i128 << (width - 1)), 1_i128 << width),
        Sign::Signed => (-(1_i128 << (width - 1)), 1_i128 << (width - 1)),
        Sign::Unsigned => (0, 1_i128 << width),
    };
    if number < low || number >= high {
        return None;
    }
    let folds = sign == Sign::Signless && width > 1 && number >= 1_i128 << (width - 1);
    let folded = if folds { number - (1_i128 << width) } else { number };
    Some(folded as i64)
}
