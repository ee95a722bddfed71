//! What the system says of a process: its state, its parent, when it started.
//!
//! Read from `/proc`; where the system has none, nothing is known of any process.

use std::fs;

/// What `/proc/PID/stat` says of a process: `PID (NAME) STATE PARENT ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// What follows the name.
    fields: String,
}

impl ProcessStat {
    /// Asks the system; none if there is no such process.
    pub fn of(process: u64) -> Option<Self> {
        let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
        Self::parse(&String::from_utf8_lossy(&stat))
    }

    fn parse(stat: &str) -> Option<Self> {
        // A name may have brackets and blanks of its own.
        let (_, fields) = stat.rsplit_once(')')?;
        Some(Self { fields: fields.to_owned() })
    }

    fn field(&self, number: usize) -> Option<&str> {
        self.fields.split_ascii_whitespace().nth(number)
    }

    /// Its state, such as `R` or `Z`.
    pub fn state(&self) -> Option<&str> {
        self.field(0)
    }

    /// Its parent; none for the first process of all.
    pub fn parent(&self) -> Option<u64> {
        self.field(1)?.parse().ok().filter(|parent| *parent != 0)
    }

    /// When it started, in the clock of the machine.
    pub fn started(&self) -> Option<u64> {
        self.field(19)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_after_any_name() {
        let cases = [
            ("7 (sh) S 5 7 7 0", Some("S"), Some(5)),
            ("7 (a) b (c) Z 5 7", Some("Z"), Some(5)),
            ("1 (init) S 0 1 1", Some("S"), None),
            ("7 (sh)", None, None),
        ];
        for (stat, state, parent) in cases {
            let read = ProcessStat::parse(stat).expect("a name");
            assert_eq!((read.state(), read.parent()), (state, parent), "{stat}");
            assert_eq!(read.started(), None);
        }
        assert_eq!(ProcessStat::parse("7 (sh"), None);
    }

    #[test]
    fn the_start_is_the_twenty_second_field() {
        let numbers: Vec<String> = (4..30).map(|number| number.to_string()).collect();
        let stat = format!("7 (sh) S {}", numbers.join(" "));
        assert_eq!(ProcessStat::parse(&stat).and_then(|read| read.started()), Some(22));
    }
}
