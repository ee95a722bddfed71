//! The reference pages are those of the table. A page that is not is written anew, and the test
//! fails once.

use std::path::Path;

use partita_ir::page;
use partita_ir::table::{DIALECTS, OWN_DIALECTS};

#[test]
fn reference_pages_are_those_of_the_table() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut changed = Vec::new();
    for dialect in &DIALECTS[..OWN_DIALECTS] {
        let path = docs.join(format!("dialect-{}.md", dialect.name));
        let text = page(dialect);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::write(&path, text).expect("a page");
        changed.push(path);
    }
    assert!(changed.is_empty(), "written anew, commit them: {changed:?}");
}
