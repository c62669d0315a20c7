//! Whether bytes of which nothing is known are text.

use crate::content::html::looks_like_html;

/// The most bytes from which it is told whether a payload is text.
const MAX_SNIFFED: usize = 64 << 10;

/// Whether bytes without a type are text: a page, or valid UTF-8 without NUL.
pub(super) fn looks_like_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..MAX_SNIFFED).unwrap_or(bytes);
    looks_like_html(head) || is_plain_text(head)
}

/// Whether bytes are UTF-8 without NUL; the last character may be cut.
fn is_plain_text(head: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    is_utf8 && memchr::memchr(0, head).is_none()
}
