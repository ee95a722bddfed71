//! What the command line understands.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::program::ProgramOptions;

/// Arrays that live in many address spaces at once.
#[derive(Debug, Parser)]
#[command(name = "partita", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw which rank holds which part of an array
    Show(ShowArgs),
    /// Explain how an array moves from one layout to another
    Plan(PlanArgs),
    /// Check a protocol dictionary: __partitioned__ or __distarray__
    Check(CheckArgs),
    /// Parse, verify, transform and print an array program
    Opt(OptArgs),
    /// Run a Python script or an array program on several ranks
    Run(RunArgs),
    /// Report what is installed and how fast memory is copied
    Doctor,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: partita show 16x16 \"block, cyclic(2) @ 2x2\"")]
pub(crate) struct ShowArgs {
    /// Shape of the array, such as 16x16
    #[arg(allow_hyphen_values = true)]
    pub shape: String,
    /// A layout, such as "block, cyclic(2) @ 2x2"
    #[arg(allow_hyphen_values = true)]
    pub layout: String,
    /// Also write the picture to an SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: partita check dictionary.json; partita check module:array")]
pub(crate) struct CheckArgs {
    /// A JSON file with one dictionary, or a list with one per rank; or MODULE:OBJECT
    #[arg(value_name = "FILE.json | MODULE:OBJECT")]
    pub target: String,
    /// Report everything that the text of the protocol does not allow
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: partita opt program.mlir --pass default --form rfc; partita opt --irdl"
)]
pub(crate) struct OptArgs {
    /// A program, - for the standard input
    #[arg(value_name = "FILE.mlir", required_unless_present_any = ["irdl", "list_passes"])]
    pub file: Option<String>,
    /// Apply a pass, several in their order or with commas; `default` is what `partita run` applies
    #[arg(long = "pass", value_name = "NAME", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// Print the names of the passes, and what each does
    #[arg(long, conflicts_with = "file")]
    pub list_passes: bool,
    /// Say what the program costs on so many ranks, before and after the default passes
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4",
        value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub explain: Option<u64>,
    /// With --explain: the function; else all of them
    #[arg(long, value_name = "F", requires = "explain")]
    pub function: Option<String>,
    /// With --explain: an argument that is a number
    #[arg(long = "arg", value_name = "I=VALUE", requires = "explain", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = FormName::Generic)]
    pub form: FormName,
    /// Print the dialects in IRDL instead, for mlir-opt --irdl-file
    #[arg(long, conflicts_with = "file")]
    pub irdl: bool,
    /// The release of LLVM that is to read the IRDL
    #[arg(long, value_name = "RELEASE", default_value_t = 19, requires = "irdl")]
    pub llvm: u32,
}

/// The forms of a program's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormName {
    /// MLIR's generic form, which stock tools verify
    Generic,
    /// The specification's form
    Rfc,
    /// Dialects of stock MLIR: memref, linalg, arith, scf, func
    Builtin,
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "partita run -n <N> [OPTIONS] <SCRIPT.py> [ARGS]...\n       partita run -n <N> <FILE.mlir> [OPTIONS]",
    after_help = "Example: partita run -n 4 script.py; partita run -n 2 step.mlir --arg 0=u.npy --json"
)]
pub(crate) struct RunArgs {
    /// Number of ranks
    #[arg(short, value_name = "N", allow_negative_numbers = true)]
    pub n: i64,
    /// What to use as ranks
    #[arg(long, value_enum, default_value_t = Engine::Threads)]
    pub engine: Engine,
    #[command(flatten)]
    pub program: ProgramOptions,
    // One list: what follows the script is the script's, even where it looks like our own options.
    /// A Python file followed by its arguments, or a program followed by its options
    #[arg(value_name = "SCRIPT", required = true, trailing_var_arg = true)]
    pub script: Vec<String>,
}

/// What the ranks of a script are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Threads of this process
    Threads,
    /// Processes started by mpiexec
    Mpi,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: partita plan 8192x8192 \"block, * @ 4x1\" \"*, block @ 1x4\"")]
pub(crate) struct PlanArgs {
    /// Shape of the array, such as 16x16
    #[arg(allow_hyphen_values = true)]
    pub shape: String,
    /// The layout to move from
    #[arg(allow_hyphen_values = true)]
    pub source: String,
    /// The layout to move to
    #[arg(allow_hyphen_values = true)]
    pub target: String,
    /// Element type
    #[arg(long, default_value = "f64")]
    pub dtype: String,
    /// Show only this rank's part of the plan
    #[arg(long, value_name = "R")]
    pub rank: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also draw who sends how much to whom, to an SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}
