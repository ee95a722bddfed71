//! `partita opt`: array programs parsed, verified, transformed and printed.

use std::io::{Read, Write};

use partita_array::run::Argument;
use partita_ir::{Diagnostics, Form, Llvm, Module, irdl, parse_bytes, passes, print, verify};

use crate::args::{FormName, OptArgs};
use crate::program::numbered;
use crate::{Failure, Outcome};

pub(crate) fn run(args: &OptArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    if args.list_passes {
        return list_passes(out);
    }
    let Some(file) = &args.file else {
        let llvm = if args.llvm < 20 { Llvm::V19 } else { Llvm::V20 };
        return Ok(write!(out, "{}", irdl(llvm))?);
    };
    let bytes = read(file)?;
    let mut module = match checked(&bytes) {
        Ok(module) => module,
        Err(found) => {
            tell(file, &found, err)?;
            return Err(Failure::Found);
        }
    };
    if let Some(n_ranks) = args.explain {
        return explain(args, &module, n_ranks, out);
    }
    transform(&mut module, &args.passes)?;
    Ok(write!(out, "{}", print(&module, form(args.form)))?)
}

fn explain(args: &OptArgs, module: &Module, n_ranks: u64, out: &mut dyn Write) -> Outcome {
    let given = numbered(&args.args)?;
    let number = |argument: &Argument| match argument {
        Argument::Number(number) => Some(*number),
        _ => None,
    };
    let numbers: Vec<_> = given.iter().map(|one| one.as_ref().and_then(number)).collect();
    let explained = partita_array::explain(module, args.function.as_deref(), n_ranks, &numbers);
    let file = args.file.as_deref().unwrap_or("-");
    let explained = explained.map_err(|error| Failure::Failed(format!("{file}: {error}")))?;
    Ok(write!(out, "{explained}")?)
}

fn list_passes(out: &mut dyn Write) -> Outcome {
    let all = passes::DEFAULT_PIPELINE.join(", ");
    writeln!(out, "{:<30} What `partita run` applies: {all}.", "default")?;
    for pass in passes::registry() {
        writeln!(out, "{:<30} {}", pass.name, pass.summary)?;
    }
    Ok(())
}

fn transform(module: &mut Module, names: &[String]) -> Result<(), Failure> {
    for name in passes::listed(names.iter().map(|name| name.trim())) {
        passes::apply(module, name).map_err(|error| Failure::Usage {
            reason: error.reason(),
            message: error.to_string(),
        })?;
    }
    Ok(())
}

fn form(name: FormName) -> Form {
    match name {
        FormName::Generic => Form::Generic,
        FormName::Rfc => Form::Rfc,
        FormName::Builtin => Form::Builtin,
    }
}

fn checked(bytes: &[u8]) -> Result<Module, Diagnostics> {
    let module = parse_bytes(bytes)?;
    let text = String::from_utf8_lossy(bytes);
    verify(&module).map_err(|found| found.with_source(&text))?;
    Ok(module)
}

fn tell(file: &str, found: &Diagnostics, err: &mut dyn Write) -> std::io::Result<()> {
    for one in found {
        writeln!(err, "{file}:{one} [{}]", one.error.reason())?;
    }
    let plural = if found.len() == 1 { "" } else { "s" };
    writeln!(err, "{} problem{plural}", found.len())
}

fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        path => std::fs::read(path).map(|content| bytes = content),
    };
    let message = |error| format!("cannot read {file}: {error}; give a file with a program");
    read.map_err(|error| Failure::Usage { reason: "file-unreadable", message: message(error) })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use crate::{Colour, Ending, run};

    fn ran(words: &[&str]) -> (Ending, String, String) {
        let args = ["partita", "opt"].iter().chain(words).map(ToString::to_string);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ending = run(args, Colour::No, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (ending, text(out), text(err))
    }

    fn file(name: &str, text: &str) -> String {
        let path = std::env::temp_dir().join(format!("partita-opt-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    }

    #[test]
    fn a_program_is_printed_in_the_form_that_is_asked_for() {
        let path = file("good", "func.func @f(%a: ndarray.ndarray<4xf64>) { return }");
        let (ending, out, _) = ran(&[&path, "--form", "rfc"]);
        assert_eq!(ending, Ending::Status(0));
        assert_eq!(out, "func.func @f(%a: !ndarray.ndarray<4xf64>) {\n  return\n}\n");
        let (_, out, _) = ran(&[&path]);
        assert!(out.contains("%a: !ndarray.ndarray<tensor<4xf64>, unit>"), "{out}");
        let (_, out, _) = ran(&[&path, "--form", "builtin"]);
        assert!(out.contains("%a: memref<4xf64, strided<[?], offset: ?>>"), "{out}");
    }

    #[test]
    fn problems_are_told_with_file_line_and_reason() {
        let path = file("bad", "func.func @f() {\n  return %x : index\n}\n");
        let (ending, out, err) = ran(&[&path]);
        assert_eq!((ending, out.as_str()), (Ending::Status(1), ""));
        assert!(err.starts_with(&format!("{path}:2:10: error: ")), "{err}");
        assert!(err.contains("[unknown-value]") && err.ends_with("1 problem\n"), "{err}");
        let (ending, _, err) = ran(&["no-such-file.mlir"]);
        assert_eq!(ending, Ending::Status(2));
        assert!(err.starts_with("error[file-unreadable]"), "{err}");
    }

    #[test]
    fn passes_are_listed_applied_and_explained() {
        let (ending, out, _) = ran(&["--list-passes"]);
        assert_eq!(ending, Ending::Status(0));
        assert!(out.contains("dist-coalesce") && out.starts_with("default "), "{out}");
        let text = "func.func @f() -> index { %a = arith.constant 2 : index \
                    %b = arith.addi %a, %a : index return %b : index }";
        let path = file("fold", text);
        let (_, out, _) = ran(&[&path, "--pass", "canonicalise", "--form", "rfc"]);
        assert!(out.contains("4 : index") && !out.contains("addi"), "{out}");
        let (ending, _, err) = ran(&[&path, "--pass", "no-such-pass"]);
        assert_eq!(ending, Ending::Status(2), "{err}");
        let (_, out, _) = ran(&[&path, "--explain", "3"]);
        assert!(out.starts_with("@f on 3 ranks\n  before: 0 exchanges, 0 bytes\n"), "{out}");
    }

    #[test]
    fn irdl_needs_no_program() {
        let (ending, out, _) = ran(&["--irdl"]);
        assert_eq!(ending, Ending::Status(0));
        assert!(out.contains("irdl.dialect @dist"));
        assert_eq!(ran(&[]).0, Ending::Status(2));
    }
}
