//! Refuses JSON that is nested too deep, before the recursive parser reads it.

use crate::query::limits::MAX_DEPTH;

/// The maximum number of nested brackets: three for each list, and some around a term.
const MAX_BRACKETS: usize = 4 * MAX_DEPTH;

/// Returns true if the brackets are nested deeper than in any valid query.
pub(super) fn is_too_deep(text: &str) -> bool {
    let (mut open, mut is_quoted, mut is_escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'[' | b'{' if !is_quoted => open += 1,
            b']' | b'}' if !is_quoted => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_BRACKETS {
            return true;
        }
    }
    false
}
