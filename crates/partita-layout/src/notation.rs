//! The notation of layouts: `block+halo(1,1), cyclic(64) @ 2x3 on 4..10 partial 1`.
//!
//! ```text
//! layout  = [ map { "," map } ] [ "@" grid ] { option }
//! map     = "*" | "block" [ "(" rule ")" ] { suffix } | "cyclic" [ "(" number ")" ]
//! rule    = "last" | "ceil" | number { "," number }
//! suffix  = "+halo(" width { ";" width } ")" | "+periodic"
//! width   = number [ "," number ]
//! grid    = number { "x" number }
//! option  = "on" ( number ".." number | number { "," number } )
//!         | "partial" number { "," number }
//! ```
//! Spaces are free between words. Errors point at the column where reading stopped.

use crate::error::{NotationError, NotationProblem, Result};
use crate::layout::{Form, GridSpec, Layout, RanksSpec};
use crate::map::{Block, BlockRule, Halo, Map, joined};
use crate::ranks::Ranks;

/// Reads a notation.
///
/// # Errors
/// [`crate::LayoutError::Notation`] with the column.
pub fn parse(notation: &str) -> Result<GridSpec> {
    let mut parser = Parser { text: notation, chars: notation.chars().collect(), at: 0 };
    let spec = parser.layout()?;
    Ok(spec)
}

/// Writes a layout's notation.
pub(crate) fn print(layout: &Layout) -> String {
    let form = match layout.form() {
        Form::Grid(form) => form,
        Form::Boxes(_) => return format!("boxes @ {}", layout.n_ranks()),
    };
    let maps: Vec<String> = form.dims().iter().map(|dim| dim.map().to_string()).collect();
    let mut text = maps.join(", ");
    if !form.grid().shape().is_empty() {
        let grid = joined(form.grid().shape(), "x");
        text.push_str(&format!(" @ {grid}"));
    }
    match form.ranks() {
        Ranks::Range { first: 0, .. } => {}
        Ranks::Range { first, count } => text.push_str(&format!(" on {first}..{}", first + count)),
        Ranks::List { ranks, .. } => text.push_str(&format!(" on {}", joined(ranks, ","))),
    }
    let partial = form.grid().partial_axes();
    if !partial.is_empty() {
        text.push_str(&format!(" partial {}", joined(&partial, ",")));
    }
    text.trim_start().to_string()
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
}

impl Parser<'_> {
    fn layout(&mut self) -> Result<GridSpec> {
        let mut spec = GridSpec::default();
        let start = self.here();
        let is_option = matches!(self.word().as_str(), "on" | "partial");
        self.at = start;
        if !is_option && !matches!(self.peek(), None | Some('@')) {
            spec.maps.push(self.map()?);
            while self.take(',') {
                spec.maps.push(self.map()?);
            }
        }
        if self.take('@') {
            spec.grid = Some(self.grid()?);
        }
        self.options(&mut spec)?;
        match self.peek() {
            None => Ok(spec),
            Some(_) if spec.grid.is_some() => self.unexpected("`on`, `partial` or the end"),
            Some(_) => self.unexpected("`,` before the next map or `@` before the grid"),
        }
    }

    fn map(&mut self) -> Result<Map> {
        if self.take('*') {
            return self.no_suffix(Map::Whole);
        }
        let start = self.here();
        let word = self.word();
        match word.as_str() {
            "" => self.unexpected("a map: *, block or cyclic"),
            "block" => self.block().map(Map::Block),
            "cyclic" => {
                let block = if self.take('(') {
                    self.closed(|parser| parser.positive(NotationProblem::CyclicZero))?
                } else {
                    1
                };
                self.no_suffix(Map::Cyclic { block })
            }
            "unstructured" | "boxes" => {
                self.fail(start, word.chars().count(), NotationProblem::ObjectsOnly { word })
            }
            _ => self.fail(start, word.chars().count(), NotationProblem::UnknownMap { word }),
        }
    }

    fn no_suffix(&mut self, map: Map) -> Result<Map> {
        let start = self.here();
        if !self.take('+') {
            return Ok(map);
        }
        let word = self.word();
        let problem = match word.as_str() {
            "halo" => NotationProblem::HaloNeedsBlock,
            "periodic" => NotationProblem::PeriodicNeedsBlock,
            _ => NotationProblem::UnknownSuffix { word: word.clone() },
        };
        self.fail(start, 1 + word.chars().count(), problem)
    }

    fn block(&mut self) -> Result<Block> {
        let mut block = Block::default();
        if self.take('(') {
            block.rule = self.closed(Self::rule)?;
        }
        let mut has_halo = false;
        loop {
            let start = self.here();
            if !self.take('+') {
                return Ok(block);
            }
            let word = self.word();
            let width = 1 + word.chars().count();
            match word.as_str() {
                "halo" if has_halo => {
                    return self.fail(start, width, NotationProblem::Repeated { word: "halo" });
                }
                "periodic" if block.periodic => {
                    return self.fail(start, width, NotationProblem::Repeated { word: "periodic" });
                }
                "halo" => {
                    has_halo = true;
                    self.expect('(', "`(` and the widths of the halo")?;
                    block.halo = self.closed(Self::halo)?;
                }
                "periodic" => block.periodic = true,
                _ => return self.fail(start, width, NotationProblem::UnknownSuffix { word }),
            }
        }
    }

    fn rule(&mut self) -> Result<BlockRule> {
        let start = self.here();
        let word = self.word();
        match word.as_str() {
            "last" => Ok(BlockRule::Last),
            "ceil" => Ok(BlockRule::Ceil),
            "" => self.numbers(',').map(|sizes| BlockRule::Sizes(sizes.into())),
            _ => {
                let expected = "last, ceil or block sizes";
                let found = format!("`{word}`");
                let width = word.chars().count();
                self.fail(start, width, NotationProblem::Unexpected { found, expected })
            }
        }
    }

    fn halo(&mut self) -> Result<Halo> {
        let mut widths = vec![self.width()?];
        while self.take(';') {
            widths.push(self.width()?);
        }
        Ok(match widths[..] {
            [(left, right)] => Halo::Same(left, right),
            _ => Halo::Each(widths.into()),
        })
    }

    fn width(&mut self) -> Result<(u64, u64)> {
        let left = self.number()?;
        let right = if self.take(',') { self.number()? } else { left };
        Ok((left, right))
    }

    fn grid(&mut self) -> Result<Vec<u64>> {
        let mut grid = vec![self.positive(NotationProblem::GridZero)?];
        while self.take('x') {
            grid.push(self.positive(NotationProblem::GridZero)?);
        }
        Ok(grid)
    }

    /// A number above zero, or the problem at its place.
    fn positive(&mut self, problem: NotationProblem) -> Result<u64> {
        let start = self.here();
        match self.number()? {
            0 => self.fail(start, self.at - start, problem),
            number => Ok(number),
        }
    }

    fn options(&mut self, spec: &mut GridSpec) -> Result<()> {
        loop {
            let start = self.here();
            let word = self.word();
            match word.as_str() {
                "" => return Ok(()),
                "on" if spec.ranks.is_none() => spec.ranks = Some(self.ranks()?),
                "partial" if spec.partial.is_empty() => {
                    let axes = self.numbers(',')?;
                    spec.partial = axes.into_iter().map(|axis| axis as usize).collect();
                }
                "on" => return self.fail(start, 2, NotationProblem::Repeated { word: "on" }),
                "partial" => {
                    return self.fail(start, 7, NotationProblem::Repeated { word: "partial" });
                }
                _ => {
                    self.at = start;
                    return Ok(());
                }
            }
        }
    }

    fn ranks(&mut self) -> Result<RanksSpec> {
        let from = self.here();
        let start = self.number()?;
        if self.take('.') {
            self.expect('.', "a second `.` of the range")?;
            let stop = self.number()?;
            if stop < start {
                let width = self.at - from;
                return self.fail(from, width, NotationProblem::RangeReversed { start, stop });
            }
            return Ok(RanksSpec::Range(start, stop));
        }
        let mut ranks = vec![start];
        while self.take(',') {
            ranks.push(self.number()?);
        }
        Ok(RanksSpec::List(ranks))
    }

    fn numbers(&mut self, separator: char) -> Result<Vec<u64>> {
        let mut numbers = vec![self.number()?];
        while self.take(separator) {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    fn number(&mut self) -> Result<u64> {
        let start = self.here();
        let mut end = start;
        while self.chars.get(end).is_some_and(char::is_ascii_digit) {
            end += 1;
        }
        let digits: String = self.chars[start..end].iter().collect();
        if digits.is_empty() {
            return self.unexpected("a number");
        }
        self.at = end;
        digits.parse().or_else(|_| {
            let width = end - start;
            self.fail(start, width, NotationProblem::NumberTooLarge { digits: digits.clone() })
        })
    }

    /// Reads something and the bracket that closes it.
    fn closed<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let value = read(self)?;
        self.expect(')', "`)`")?;
        Ok(value)
    }

    fn word(&mut self) -> String {
        let start = self.here();
        while self.chars.get(self.at).is_some_and(|c| c.is_alphabetic() || *c == '_') {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    /// Position of the next character that is no space.
    fn here(&mut self) -> usize {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.at
    }

    fn peek(&mut self) -> Option<char> {
        let at = self.here();
        self.chars.get(at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, wanted: char, expected: &'static str) -> Result<()> {
        if self.take(wanted) {
            return Ok(());
        }
        self.unexpected(expected)
    }

    fn unexpected<T>(&mut self, expected: &'static str) -> Result<T> {
        let start = self.here();
        let mut end = start;
        while self.chars.get(end).is_some_and(|c| c.is_alphanumeric()) {
            end += 1;
        }
        let end = end.max(start + 1).min(self.chars.len()).max(start);
        let found = match self.chars.get(start..end) {
            Some([]) | None => "the end".to_string(),
            Some(found) => format!("`{}`", found.iter().collect::<String>()),
        };
        self.fail(start, end - start, NotationProblem::Unexpected { found, expected })
    }

    fn fail<T>(&self, start: usize, width: usize, problem: NotationProblem) -> Result<T> {
        // A line break would put the caret under the wrong line.
        let notation = self.text.replace(|c: char| c.is_control(), " ");
        Err(NotationError { notation, column: start + 1, width, problem }.into())
    }
}

/// Reads a shape such as `16x16`; the empty text is the shape of a scalar.
///
/// # Errors
/// [`crate::LayoutError::Notation`] with the column.
pub fn parse_shape(text: &str) -> Result<Vec<u64>> {
    let mut parser = Parser { text, chars: text.chars().collect(), at: 0 };
    if parser.peek().is_none() || text.trim() == "()" {
        return Ok(Vec::new());
    }
    let shape = parser.numbers('x')?;
    match parser.peek() {
        None => Ok(shape),
        Some(_) => parser.unexpected("`x` and the next extent, or the end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LayoutError;

    fn fails(notation: &str) -> (&'static str, usize) {
        match parse(notation) {
            Err(LayoutError::Notation(error)) => (error.reason(), error.column),
            other => panic!("{notation}: {other:?}"),
        }
    }

    #[test]
    fn errors_point_at_the_column() {
        assert_eq!(fails("blok @ 2"), ("notation-unknown-map", 1));
        assert_eq!(fails("block, blok @ 2"), ("notation-unknown-map", 8));
        assert_eq!(fails("block(3,,4) @ 2"), ("notation-unexpected", 9));
        assert_eq!(fails("block(3 @ 2"), ("notation-unexpected", 9));
        assert_eq!(fails("cyclic+halo(1,1) @ 2"), ("notation-halo-needs-block", 7));
        assert_eq!(fails("*+periodic @ 2"), ("notation-periodic-needs-block", 2));
        assert_eq!(fails("block+ghost @ 2"), ("notation-unknown-suffix", 6));
        assert_eq!(fails("block @ 2x"), ("notation-unexpected", 11));
        assert_eq!(fails("block @"), ("notation-unexpected", 8));
        assert_eq!(fails("block block"), ("notation-unexpected", 7));
        assert_eq!(fails("unstructured @ 2"), ("notation-objects-only", 1));
        assert_eq!(fails("block @ 99999999999999999999"), ("notation-number-too-large", 9));
        assert_eq!(fails("block @ 2 on 5..3"), ("notation-range-reversed", 14));
        assert_eq!(fails("block @ 2 on 1,2 on 1,2"), ("notation-repeated", 18));
        assert_eq!(fails("block+halo(1)+halo(1) @ 2"), ("notation-repeated", 14));
        assert_eq!(fails(","), ("notation-unexpected", 1));
        assert_eq!(fails("block, cyclic(0) @ 2x2"), ("cyclic-block", 15));
        assert_eq!(fails("block @ 2x0"), ("grid-axis-zero", 11));
        assert_eq!(fails("block @ -2"), ("notation-unexpected", 9));
        assert_eq!(fails("bløck @ 2"), ("notation-unknown-map", 1));
    }

    #[test]
    fn the_caret_stands_under_the_word() {
        let error = parse("block, blok @ 2").expect_err("a wrong map").to_string();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines[1], "  block, blok @ 2");
        assert_eq!(lines[2], "         ^^^^");
    }

    #[test]
    fn notation_round_trips() {
        let cases: [(&[u64], &str); 12] = [
            (&[8], "block @ 4"),
            (&[8, 8], "block(last), block(ceil) @ 2x3"),
            (&[7, 9], "block(3,0,4), cyclic(2) @ 3x2"),
            (&[7, 9], "*, cyclic @ 2"),
            (&[7, 9], "block+halo(1,2)+periodic, * @ 2x2 on 3,1,0,2"),
            (&[7], "block+halo(0,1;1,1;1,0) @ 3 on 4..7"),
            (&[7], "block @ 3x2 partial 1"),
            (&[7, 8], "* , * @ 3x2x2 on 10..22 partial 0,2"),
            (&[], ""),
            (&[], "@ 4"),
            (&[3], "*"),
            (&[0, 3], "block+periodic, * @ 2"),
        ];
        for (shape, notation) in cases {
            let layout = Layout::parse(shape, notation).expect(notation);
            let again = Layout::parse(shape, &layout.notation()).expect("its own notation");
            assert_eq!(layout, again, "{notation} printed as {}", layout.notation());
        }
    }

    #[test]
    fn shapes_parse() {
        assert_eq!(parse_shape("16x16"), Ok(vec![16, 16]));
        assert_eq!(parse_shape(""), Ok(vec![]));
        assert_eq!(parse_shape("()"), Ok(vec![]));
        assert_eq!(parse_shape("0"), Ok(vec![0]));
        assert!(parse_shape("16x").is_err() && parse_shape("x").is_err());
        assert!(parse_shape("-3").is_err() && parse_shape("3,4").is_err());
    }
}
