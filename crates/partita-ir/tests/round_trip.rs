//! What is written is read again as the same program, in every form.

use std::path::{Path, PathBuf};

use partita_ir::{Form, Module, parse, print};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text")
}

fn texts() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder())
        .expect("the folder of texts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "mlir"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    found.sort();
    found
}

fn read(name: &str, text: &str) -> Module {
    parse(text).unwrap_or_else(|found| panic!("{name}:\n{found}"))
}

#[test]
fn every_form_of_every_text_is_read_as_it_was() {
    for (name, text) in texts() {
        let module = read(&name, &text);
        for form in Form::ALL {
            let printed = print(&module, form);
            let again = read(&format!("{name} as {}:\n{printed}", form.name()), &printed);
            assert!(again == module, "{name} as {} changes:\n{printed}", form.name());
            assert_eq!(print(&again, form), printed, "{name} as {} is not settled", form.name());
        }
    }
}
