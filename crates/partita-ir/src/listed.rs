//! Lists in encodings of other dialects, which are kept as text.

/// What stands between commas, up to the `)` that closes the list; commas in parentheses are no part
/// of it.
#[must_use]
pub fn listed(text: &str) -> Option<Vec<&str>> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, character) in text.char_indices() {
        match character {
            ')' if depth == 0 => {
                all.push(&text[start..at]);
                return Some(all);
            }
            ',' if depth == 0 => {
                all.push(&text[start..at]);
                start = at + 1;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
