//! The command line of programs.

use clap::Parser;
use partita_array::run::{Argument, Number};

use super::npy;
use crate::Failure;
use crate::args::Engine;

/// What can be said of a program, before its file and behind it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ProgramOptions {
    /// FILE.mlir: the function to run; may be left away where there is one
    #[arg(long, value_name = "F")]
    function: Option<String>,
    /// FILE.mlir: an argument of the function: a number, an array, or a sparse tensor (.npz)
    #[arg(long = "arg", value_name = "I=VALUE|FILE.npy|FILE.npz", allow_hyphen_values = true)]
    args: Vec<String>,
    /// FILE.mlir: none, or names of passes with commas between them; default is one
    #[arg(long, value_name = "PASSES")]
    passes: Option<String>,
    /// FILE.mlir: print what each rank holds instead of whole arrays
    #[arg(long)]
    local: bool,
    /// FILE.mlir: print JSON; numbers that JSON lacks are "NaN", "Infinity", "-Infinity"
    #[arg(long)]
    json: bool,
    /// FILE.mlir: write what the ranks did, and when: a picture, or a trace for Perfetto
    #[arg(long, value_name = "FILE.svg|FILE.json")]
    timeline: Option<String>,
}

impl ProgramOptions {
    /// Whether none was given.
    pub(crate) fn is_empty(&self) -> bool {
        let is_plain = self.function.is_none() && self.args.is_empty() && self.passes.is_none();
        is_plain && !self.local && !self.json && self.timeline.is_none()
    }
}

/// Behind the file everything may be said again, but the rest is nobody else's.
#[derive(Debug, Parser)]
#[command(name = "partita run", no_binary_name = true)]
struct Behind {
    file: String,
    #[arg(short, value_name = "N", allow_negative_numbers = true)]
    n: Option<i64>,
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    #[command(flatten)]
    options: ProgramOptions,
}

/// A program to be run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub file: String,
    pub function: Option<String>,
    /// Names of passes, `default` among them.
    pub passes: Vec<String>,
    pub is_local: bool,
    pub is_json: bool,
    pub timeline: Option<String>,
    args: Vec<String>,
}

impl Program {
    /// Reads what stands behind the file; gives ranks and engine too, where they stand there.
    pub(crate) fn read(
        words: &[String],
        before: &ProgramOptions,
    ) -> Result<(Self, Option<i64>, Option<Engine>), clap::Error> {
        let Behind { file, n, engine, options } = Behind::try_parse_from(words)?;
        let passes = options.passes.as_ref().or(before.passes.as_ref()).map(String::as_str);
        let passes = match passes.unwrap_or("default") {
            "none" => Vec::new(),
            names => names.split(',').map(|name| name.trim().to_string()).collect(),
        };
        let program = Self {
            file,
            function: options.function.or_else(|| before.function.clone()),
            passes,
            is_local: options.local || before.local,
            is_json: options.json || before.json,
            timeline: options.timeline.or_else(|| before.timeline.clone()),
            args: [before.args.clone(), options.args].concat(),
        };
        Ok((program, n, engine))
    }

    /// The words that [`Program::read`] makes the same program of.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec![self.file.clone()];
        let mut add = |name: &str, value: &str| words.push(format!("--{name}={value}"));
        self.function.iter().for_each(|function| add("function", function));
        self.args.iter().for_each(|one| add("arg", one));
        self.timeline.iter().for_each(|file| add("timeline", file));
        match self.passes.is_empty() {
            true => add("passes", "none"),
            false => add("passes", &self.passes.join(",")),
        }
        words.extend(self.is_local.then(|| "--local".to_string()));
        words.extend(self.is_json.then(|| "--json".to_string()));
        words
    }

    /// The arguments by their number, none missing.
    pub(crate) fn arguments(&self) -> Result<Vec<Argument>, Failure> {
        let given = numbered(&self.args)?;
        let missing = given.iter().position(Option::is_none);
        if let Some(number) = missing {
            return Err(usage(format!("argument {number} is missing; give --arg {number}=VALUE")));
        }
        Ok(given.into_iter().flatten().collect())
    }
}

/// Arguments of `--arg I=VALUE` by their number, each given once.
pub(crate) fn numbered(words: &[String]) -> Result<Vec<Option<Argument>>, Failure> {
    let mut given: Vec<Option<Argument>> = Vec::new();
    for word in words {
        let (number, value) = word
            .split_once('=')
            .and_then(|(number, value)| Some((number.parse::<usize>().ok()?, value)))
            .filter(|(number, _)| *number < 1024)
            .ok_or_else(|| usage(format!("`{word}` is no argument; use I=VALUE")))?;
        if given.len() <= number {
            given.resize(number + 1, None);
        }
        if given[number].replace(argument(value)?).is_some() {
            return Err(usage(format!("argument {number} is given twice; give it once")));
        }
    }
    Ok(given)
}

fn argument(value: &str) -> Result<Argument, Failure> {
    let number = match value {
        "true" => Some(Number::Int(1)),
        "false" => Some(Number::Int(0)),
        text => text.parse().map(Number::Int).or_else(|_| text.parse().map(Number::Float)).ok(),
    };
    match number {
        Some(number) => Ok(Argument::Number(number)),
        None => npy::read(value).map_err(usage),
    }
}

fn usage(message: String) -> Failure {
    Failure::Usage { reason: "argument", message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<Argument>, Failure> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let (program, ..) = Program::read(&words, &ProgramOptions::default()).expect("options");
        program.arguments()
    }

    #[test]
    fn arguments_are_put_in_order() {
        let found = read(&["a.mlir", "--arg", "1=2.5", "--arg", "0=-3"]).expect("two arguments");
        assert!(matches!(found[0], Argument::Number(Number::Int(-3))));
        assert!(matches!(found[1], Argument::Number(Number::Float(2.5))));
    }

    #[test]
    fn the_words_of_a_program_read_as_the_same_passes() {
        for (given, wanted) in [
            ("none", &[][..]),
            ("default", &["default"]),
            ("cse, default,dce", &["cse", "default", "dce"]),
        ] {
            let words = ["a.mlir".to_string(), format!("--passes={given}")];
            let (program, ..) = Program::read(&words, &ProgramOptions::default()).expect("options");
            assert_eq!(program.passes, wanted, "{given}");
            let again = Program::read(&program.words(), &ProgramOptions::default());
            assert_eq!(again.expect("options").0.passes, wanted, "{given}");
        }
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for words in [&["1=2"][..], &["0"], &["0=nothing.npy"], &["0=1", "0=2"], &["x=1"]] {
            let all = words.iter().flat_map(|word| ["--arg", *word]);
            let all: Vec<&str> = std::iter::once("a.mlir").chain(all).collect();
            assert!(read(&all).is_err(), "{words:?}");
        }
    }
}
