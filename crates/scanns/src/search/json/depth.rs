//! How deep brackets are nested, before anything is built of them.

use crate::search::parse::MAX_DEPTH;

/// Brackets within each other that a text may have: three to a list, and some around a term.
const MAX_BRACKETS: usize = 4 * MAX_DEPTH;

/// True if more brackets are within each other than a query can have.
pub(super) fn is_too_deep(text: &str) -> bool {
    let (mut open, mut quoted, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => open += 1,
            b']' | b'}' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_BRACKETS {
            return true;
        }
    }
    false
}
