//! Texts within HTML.

use crate::quoting::harmless;
use crate::units;

/// A name as text: invalid UTF-8 is replaced, and characters that hide or reorder others are written out.
pub fn shown(name: &[u8]) -> String {
    harmless(&String::from_utf8_lossy(name)).replace('\n', "\\n")
}

/// A text within an element or an attribute in double quotes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A part of a whole, of 1.
pub fn part(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { units::approximate(part) / units::approximate(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup_or_hide() {
        let name = b"</script><b a=\"1\" c='2'>&\xff\n\x1b\xe2\x80\xae";
        let text = escaped(&shown(name));
        let expected = "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\u{fffd}\\n\\033\\u202e";
        assert_eq!(text, expected);
    }
}
