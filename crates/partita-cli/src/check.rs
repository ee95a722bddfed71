//! `partita check`: a protocol dictionary in a file, judged.

use std::io::{Read, Write};
use std::path::Path;

use partita_protocol::check::{Protocol, file};
use partita_protocol::{Finding, LONGEST_TEXT, Strictness, Value, json, problems};

use crate::args::CheckArgs;
use crate::{Failure, Outcome};

impl CheckArgs {
    /// Whether the target is an object of a Python module rather than a file.
    pub(crate) fn is_object(&self) -> bool {
        self.target.contains(':') && !Path::new(&self.target).exists()
    }

    pub(crate) fn strictness(&self) -> Strictness {
        if self.strict { Strictness::Strict } else { Strictness::Lenient }
    }
}

pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Outcome {
    let text = read(&args.target)?;
    let value = match json::parse(&text) {
        Ok(value) => value,
        Err(error) => {
            writeln!(out, "{}: {error} [{}]", args.target, error.reason)?;
            return Err(Failure::Found);
        }
    };
    let findings = file(&value, args.strictness());
    if findings.is_empty() {
        writeln!(out, "{}: no problem found, {}", args.target, summary(&value))?;
        return Ok(());
    }
    tell(&findings, out)?;
    Err(Failure::Found)
}

fn read(target: &str) -> Result<String, Failure> {
    let wrong = |why: String| Failure::Usage { reason: "file-unreadable", message: why };
    let source: Box<dyn Read> = if target == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(open(target).map_err(wrong)?)
    };
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that the reader can say that it is too long.
    let read = source.take(LONGEST_TEXT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| wrong(format!("cannot read {target}: {error}; give a JSON file")))?;
    String::from_utf8(bytes)
        .map_err(|error| wrong(format!("{target} is no UTF-8: {error}; give a JSON file")))
}

fn open(target: &str) -> Result<std::fs::File, String> {
    std::fs::File::open(target).map_err(|error| {
        format!("cannot read {target}: {error}; give a JSON file or MODULE:OBJECT")
    })
}

fn summary(value: &Value) -> String {
    match value {
        Value::List(ranks) => format!("{} ranks", ranks.len()),
        _ => Protocol::of(value).map_or("a dictionary", Protocol::name).to_string(),
    }
}

fn tell(findings: &[Finding], out: &mut dyn Write) -> std::io::Result<()> {
    for finding in findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "{}", problems(findings.len()))
}
