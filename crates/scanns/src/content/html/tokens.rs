//! Where the tokens of HTML end, by the tokenization rules of the HTML standard.
//!
//! Every function takes the whole page and a place in it, and returns a place after that one. A token
//! that is not closed ends with the page, so nothing is read twice.

use memchr::{memchr, memchr2};

/// The white space of HTML.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}

const BLANK: u8 = 1;
const ENDS_ATTRIBUTE_NAME: u8 = 2;
const ENDS_VALUE: u8 = 4;
const BEFORE_ATTRIBUTE: u8 = 8;
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let blanks = b" \n\t\r\x0c";
    let mut i = 0;
    while i < blanks.len() {
        classes[blanks[i] as usize] = BLANK | ENDS_ATTRIBUTE_NAME | ENDS_VALUE | BEFORE_ATTRIBUTE;
        i += 1;
    }
    classes[b'/' as usize] = ENDS_ATTRIBUTE_NAME | BEFORE_ATTRIBUTE;
    classes[b'>' as usize] = ENDS_ATTRIBUTE_NAME | ENDS_VALUE;
    classes[b'=' as usize] = ENDS_ATTRIBUTE_NAME;
    classes
}

#[inline]
fn is_in(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

/// The first place from `at` whose byte is in the class, or not in it, as `wanted` says.
#[inline]
fn find_class(html: &[u8], at: usize, class: u8, wanted: bool) -> usize {
    let rest = html.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| is_in(byte, class) == wanted).unwrap_or(rest.len())
}

/// What stands in a tag after its name.
pub(super) enum InTag<'a> {
    Attribute { name: &'a [u8], value: &'a [u8], next: usize },
    End { next: usize, self_closing: bool },
    EndOfPage,
}

/// Reads an attribute or the end of the tag.
#[inline(always)]
pub(super) fn read_attribute(html: &[u8], at: usize) -> InTag<'_> {
    let start = find_class(html, at, BEFORE_ATTRIBUTE, false);
    let Some(&first) = html.get(start) else { return InTag::EndOfPage };
    if first == b'>' {
        let self_closing = start > at && html.get(start - 1) == Some(&b'/');
        return InTag::End { next: start + 1, self_closing };
    }
    let end = find_class(html, start + 1, ENDS_ATTRIBUTE_NAME, true);
    let name = html.get(start..end).unwrap_or_default();
    let mark = find_class(html, end, BLANK, false);
    if html.get(mark) != Some(&b'=') {
        return InTag::Attribute { name, value: &[], next: mark };
    }
    let from = find_class(html, mark + 1, BLANK, false);
    let Some((value, next)) = read_value(html, from) else { return InTag::EndOfPage };
    InTag::Attribute { name, value, next }
}

/// Finds a byte that is probably near: the first bytes are looked at without a call.
#[inline]
pub(super) fn find_near(needle: u8, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for chunk in bytes.chunks_exact(8).take(3) {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let found = zero_bytes(word ^ (LOW_BITS * u64::from(needle)));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr(needle, bytes.get(at..)?).map(|length| at + length)
}

/// Finds the start of markup or of a reference, which is probably near.
#[inline]
pub(super) fn find_mark(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for chunk in bytes.chunks_exact(8).take(2) {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        let found =
            zero_bytes(word ^ (LOW_BITS * u64::from(b'<'))) | zero_bytes(word ^ (LOW_BITS * u64::from(b'&')));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'<', b'&', bytes.get(at..)?).map(|length| at + length)
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte that is zero; bits after the first are not certain.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW_BITS) & !word & (LOW_BITS << 7)
}

#[inline]
fn read_value(html: &[u8], at: usize) -> Option<(&[u8], usize)> {
    match html.get(at) {
        Some(&quote @ (b'"' | b'\'')) => {
            let rest = html.get(at + 1..)?;
            let length = find_near(quote, rest)?;
            Some((rest.get(..length)?, at + length + 2))
        }
        _ => {
            let end = find_class(html, at, ENDS_VALUE, true);
            Some((html.get(at..end)?, end))
        }
    }
}

/// The end of a tag whose name ends at `at`, and whether it closes itself.
#[inline]
pub(super) fn skip_attributes(html: &[u8], at: usize) -> (usize, bool) {
    let mut at = at;
    loop {
        match read_attribute(html, at) {
            InTag::Attribute { next, .. } => at = next,
            InTag::End { next, self_closing } => return (next, self_closing),
            InTag::EndOfPage => return (html.len(), false),
        }
    }
}

/// The values of the attributes with these names in a tag whose name ends at `at`, and the end of the
/// tag. The first attribute of a name counts. None if the page ends in the tag.
pub(super) fn attributes<'a, const N: usize>(
    html: &'a [u8],
    at: usize,
    names: [&str; N],
) -> Option<([Option<&'a [u8]>; N], usize)> {
    let mut values = [None; N];
    let mut at = at;
    loop {
        match read_attribute(html, at) {
            InTag::End { next, .. } => return Some((values, next)),
            InTag::EndOfPage => return None,
            InTag::Attribute { name, value, next } => {
                let wanted = names.iter().position(|wanted| wanted.as_bytes().eq_ignore_ascii_case(name));
                if let Some(slot) = wanted.and_then(|wanted| values.get_mut(wanted)) {
                    slot.get_or_insert(value);
                }
                at = next;
            }
        }
    }
}

/// The place after the next `>`.
pub(super) fn skip_past_angle(html: &[u8], at: usize) -> usize {
    let rest = html.get(at..).unwrap_or_default();
    memchr(b'>', rest).map_or(html.len(), |length| at + length + 1)
}

/// The end of a comment whose `<!--` ends at `start`. The two hyphens of `-->` may be those of `<!--`.
pub(super) fn skip_comment(html: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        at = skip_past_angle(html, at);
        let before = html.get(..at).unwrap_or_default();
        let inside = before.get(start..).unwrap_or_default();
        if at == html.len() || before.ends_with(b"-->") || inside.ends_with(b"--!>") {
            return at;
        }
    }
}

/// The end of the text of a CDATA section that starts at `start`, and the end of the section.
pub(super) fn cdata_end(html: &[u8], start: usize) -> (usize, usize) {
    let mut at = start;
    loop {
        at = skip_past_angle(html, at);
        if html.get(start..at).unwrap_or_default().ends_with(b"]]>") {
            return (at - 3, at);
        }
        if at == html.len() {
            return (at, at);
        }
    }
}

/// Where the end tag of `name` starts, from `at` on: in an element whose text is not markup.
pub(super) fn find_end_tag(html: &[u8], at: usize, name: &[u8]) -> usize {
    let mut at = at;
    while let Some(length) = memchr(b'<', html.get(at..).unwrap_or_default()) {
        at += length;
        if html.get(at + 1) == Some(&b'/') && is_name(html, at + 2, name) {
            return at;
        }
        at += 1;
    }
    html.len()
}

/// True if a tag has this name at `at`.
fn is_name(html: &[u8], at: usize, name: &[u8]) -> bool {
    let rest = html.get(at..).unwrap_or_default();
    rest.split_at_checked(name.len()).is_some_and(|(start, after)| {
        start.eq_ignore_ascii_case(name)
            && after.first().is_some_and(|&next| is_blank(next) || matches!(next, b'/' | b'>'))
    })
}

/// How `</script` is read in a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptState {
    Plain,
    /// After `<!--`: a `<script` hides the next `</script`.
    Escaped,
    /// After `<!--` and `<script`.
    DoubleEscaped,
}

/// Where the end tag of a script starts, from `at` on.
pub(super) fn find_script_end(html: &[u8], at: usize) -> usize {
    let mut at = at;
    let mut state = ScriptState::Plain;
    loop {
        let rest = html.get(at..).unwrap_or_default();
        let found = if state == ScriptState::Plain { memchr(b'<', rest) } else { memchr2(b'<', b'>', rest) };
        let Some(length) = found else { return html.len() };
        at += length;
        let rest = html.get(at..).unwrap_or_default();
        let closes = rest.starts_with(b"</") && is_name(html, at + 2, b"script");
        match state {
            ScriptState::Plain | ScriptState::Escaped if closes => return at,
            ScriptState::DoubleEscaped if closes => state = ScriptState::Escaped,
            ScriptState::Plain if rest.starts_with(b"<!--") => state = ScriptState::Escaped,
            ScriptState::Escaped if rest.starts_with(b"<") && is_name(html, at + 1, b"script") => {
                state = ScriptState::DoubleEscaped;
            }
            ScriptState::Escaped | ScriptState::DoubleEscaped
                if rest.starts_with(b">") && html.get(..at).unwrap_or_default().ends_with(b"--") =>
            {
                state = ScriptState::Plain;
            }
            _ => {}
        }
        at += 1;
    }
}
