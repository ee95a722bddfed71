//! Problems with a program, each at its place in the text.

use std::fmt;

use crate::module::Location;
use crate::text::SyntaxError;
use crate::verify::VerifyError;

partita_error::errors! {
    /// What is wrong with a program.
    pub enum IrError {
    }
    passing on Syntax(SyntaxError)
    passing on Verify(VerifyError)
}

/// One problem and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub error: IrError,
    /// Where; zeros for a program that was never text.
    pub location: Location,
    /// The line of the text, if there is one.
    pub source_line: Option<String>,
}

/// Everything that was found, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

/// Lines longer than this are shown around the place only.
const MAX_SHOWN: usize = 160;

impl Diagnostics {
    /// The problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes one more.
    pub fn push(&mut self, error: impl Into<IrError>, location: Location) {
        self.0.push(Diagnostic { error: error.into(), location, source_line: None });
    }

    /// The reasons, in order.
    #[must_use]
    pub fn reasons(&self) -> Vec<&'static str> {
        self.iter().map(|one| one.error.reason()).collect()
    }

    /// Shows the lines of the text the program was read from.
    #[must_use]
    pub fn with_source(mut self, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        for one in &mut self.0 {
            let line = (one.location.line as usize).checked_sub(1).and_then(|at| lines.get(at));
            one.source_line = line.map(|line| (*line).to_string());
        }
        self
    }

    /// Nothing, if there are no problems; else the problems.
    ///
    /// # Errors
    /// If there are problems.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, one) in self.0.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            one.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { line, column } = self.location;
        if line > 0 {
            write!(f, "{line}:{column}: ")?;
        }
        write!(f, "error: {}", self.error)?;
        let Some(text) = &self.source_line else { return Ok(()) };
        let here = Location { line: 1, column };
        write!(f, "\n{}", marked_line(text, here).unwrap_or_default())
    }
}

/// A line of a text with a mark under one of its columns; nothing if there is no such line.
#[must_use]
pub fn marked_line(text: &str, location: Location) -> Option<String> {
    let line = text.lines().nth((location.line as usize).checked_sub(1)?)?;
    let (shown, column) = window(line, location.column as usize);
    Some(format!("  {shown}\n  {:>column$}", '^'))
}

/// The part of a line to show, and the column of the caret in it, from 1.
fn window(line: &str, column: usize) -> (String, usize) {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let n_chars = line.chars().count();
    let column = column.max(1);
    if n_chars <= MAX_SHOWN {
        return (line.chars().map(printable).collect(), column);
    }
    let start = (column - 1).saturating_sub(MAX_SHOWN / 2);
    let shown: String = line.chars().skip(start).take(MAX_SHOWN).map(printable).collect();
    (shown, column - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let mut found = Diagnostics::default();
        let error = SyntaxError::UnknownValue { name: "x".into() };
        found.push(error, Location { line: 2, column: 3 });
        let shown = found.with_source("first\n  %x\n").to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("2:3: error: "), "{shown}");
        assert_eq!(lines[1..], ["    %x", "    ^"]);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let line = format!("{}%x{}", "a".repeat(5000), "b".repeat(5000));
        let (shown, column) = window(&line, 5001);
        assert_eq!(shown.chars().count(), MAX_SHOWN);
        assert_eq!(shown.chars().nth(column - 1), Some('%'));
    }
}
