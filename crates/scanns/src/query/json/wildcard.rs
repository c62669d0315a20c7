//! Wildcards as strings: `li?en*`.

use crate::query::pattern::WildcardPart;

/// The parts of a wildcard. `?` and `*` are plain characters after a backslash. Returns `None` if the text
/// ends with a backslash.
pub(super) fn wildcard_parts(text: &str) -> Option<Vec<WildcardPart>> {
    let mut parts = Vec::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let char = match char {
            '?' => {
                parts.push(WildcardPart::AnyChar);
                continue;
            }
            '*' => {
                parts.push(WildcardPart::Anything);
                continue;
            }
            '\\' => chars.next()?,
            char => char,
        };
        let mut buffer = [0; 4];
        let bytes = char.encode_utf8(&mut buffer).as_bytes();
        match parts.last_mut() {
            Some(WildcardPart::Text(before)) => before.extend_from_slice(bytes),
            _ => parts.push(WildcardPart::Text(bytes.to_vec())),
        }
    }
    Some(parts)
}

/// The string that [`wildcard_parts`] parses as these parts; `None` if there is none.
pub(super) fn wildcard_text(parts: &[WildcardPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            WildcardPart::AnyChar => text.push('?'),
            WildcardPart::Anything => text.push('*'),
            WildcardPart::Text(bytes) => {
                for char in std::str::from_utf8(bytes).ok()?.chars() {
                    text.extend(matches!(char, '*' | '?' | '\\').then_some('\\'));
                    text.push(char);
                }
            }
        }
    }
    // Adjacent texts would be parsed as one text, and an empty text would be lost.
    (wildcard_parts(&text).as_deref() == Some(parts)).then_some(text)
}
