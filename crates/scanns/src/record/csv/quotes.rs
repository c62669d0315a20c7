//! Doubled quotes in quoted values.

/// Writes a value to `out`, with one quote for every two in a row.
pub(in crate::record) fn undouble(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = raw;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(rest.get(..=quote).unwrap_or_default());
        rest = rest.get(quote + 1..).unwrap_or_default();
        rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    }
    out.extend_from_slice(rest);
}
