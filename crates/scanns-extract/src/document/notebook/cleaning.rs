//! Cleans the texts of notebooks of images in Markdown and of escapes of terminals, and finds headings.
//! Everything here takes linear time.

use std::borrow::Cow;

/// What comes before the data of an image in Markdown or HTML: `data:image/png;base64,`.
const MARK: &str = ";base64,";
/// Shorter data is kept: it may be an example.
const LEAST_DATA: usize = 100;

/// The text without long data in base64. What comes before the data stays.
pub(super) fn without_data(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, data) = rest.split_at(at + MARK.len());
        kept.push_str(before);
        let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'%');
        let len = data.bytes().take_while(is_data).count();
        rest = if len < LEAST_DATA { data } else { data.get(len..).unwrap_or_default() };
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The text without escape sequences of terminals (ECMA-48), which colour it.
pub(super) fn without_escapes(text: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(ESCAPE) {
        kept.push_str(before);
        rest = match after.as_bytes().first() {
            // Parameters and a final character: `ESC [ 0 ; 31 m`.
            Some(b'[') => {
                let inner = |byte: &u8| matches!(byte, b' '..=b'?');
                let len = 1 + after.bytes().skip(1).take_while(inner).count();
                let has_final = matches!(after.as_bytes().get(len), Some(b'@'..=b'~'));
                after.get(len + usize::from(has_final)..).unwrap_or_default()
            }
            // A command, as for links, which ends with BEL or the next escape.
            Some(b']') => {
                let end = after.find(['\u{7}', ESCAPE, '\n']).unwrap_or(after.len());
                let tail = after.get(end..).unwrap_or_default();
                tail.strip_prefix('\u{7}').or(tail.strip_prefix("\u{1b}\\")).unwrap_or(tail)
            }
            Some(b' '..=b'~') => after.get(1..).unwrap_or_default(),
            _ => after,
        };
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The text of the first heading of a Markdown text that is not inside fenced code: `# Heading`, or a line
/// that is underlined with `=` or `-`. Marks of emphasis around it are left out.
pub(super) fn first_heading(text: &str) -> Option<&str> {
    let mut fence = None;
    let mut before = "";
    for line in text.lines().map(str::trim) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
            before = "";
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let heading = line.get(level..).unwrap_or_default();
        let is_underline = |mark: char| line.len() >= 3 && line.chars().all(|letter| letter == mark);
        let found = if (1..=6).contains(&level) && heading.starts_with([' ', '\t']) {
            bare(heading)
        } else if is_underline('=') || is_underline('-') {
            bare(before)
        } else {
            ""
        };
        if !found.is_empty() {
            return Some(found);
        }
        before = line;
    }
    None
}

/// A heading without the marks around all of it.
fn bare(heading: &str) -> &str {
    let mut bare = heading.trim().trim_end_matches('#').trim();
    while let Some(mark) = bare.chars().next().filter(|mark| "*_`".contains(*mark)) {
        let Some(inner) = bare.strip_prefix(mark).and_then(|bare| bare.strip_suffix(mark)) else { break };
        bare = inner.trim();
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_left_out_and_examples_stay() {
        let image = "iVBORw0KGgo+/".repeat(50);
        let text = format!("a ![x](data:image/png;base64,{image}=) b data:x;base64,QUJD c");
        assert_eq!(without_data(&text), "a ![x](data:image/png;base64,) b data:x;base64,QUJD c");
        assert!(matches!(without_data("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn escapes_of_terminals_are_left_out() {
        for (text, plain) in [
            ("\u{1b}[0;31mValueError\u{1b}[0m: x", "ValueError: x"),
            ("\u{1b}[38;5;241m\u{1b}[43m.\u{1b}[39m", "."),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{7}", "link"),
            ("a\u{1b}(B\u{1b}", "aB"),
            ("a\u{1b}[", "a"),
            ("a\u{1b}]x", "a"),
            ("a\u{1b}\u{e9}\u{1b}[1\u{e9}", "a\u{e9}\u{e9}"),
        ] {
            assert_eq!(without_escapes(text), plain, "{text:?}");
        }
    }

    #[test]
    fn the_first_heading_is_found() {
        for (text, heading) in [
            ("x\n# An *O* #\n## Two", Some("An *O*")),
            ("```\n# code\n```\n## **Two**", Some("Two")),
            ("~~~\n```\n# code\n~~~\nThree\n=====", Some("Three")),
            ("\n---\n#hash\n####### seven\n#\n", None),
            ("Four \n----", Some("Four")),
            ("", None),
        ] {
            assert_eq!(first_heading(text), heading, "{text:?}");
        }
    }
}
