//! Tags of SGML and XML: `<name attributes>` and `</name>`, names without regard to case.
//!
//! A tag has no `<` inside. A `<` that begins no tag is text. One pass over the bytes finds all tags.

use memchr::{memchr, memchr2};

/// A tag.
#[derive(Clone, Copy, Debug)]
pub struct Tag<'a> {
    /// The name.
    pub name: &'a [u8],
    /// Whether it is an end tag.
    pub is_end: bool,
    /// What follows the name, up to the `>`.
    pub attributes: &'a [u8],
    /// The place of its `<`.
    pub start: usize,
    /// The place after its `>`.
    pub end: usize,
}

impl<'a> Tag<'a> {
    /// Whether it is a start tag with a name.
    pub fn opens(&self, name: &[u8]) -> bool {
        !self.is_end && self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it is an end tag with a name.
    pub fn closes(&self, name: &[u8]) -> bool {
        self.is_end && self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it is an element of its own: `<name/>`.
    pub fn is_empty_element(&self) -> bool {
        self.attributes.ends_with(b"/")
    }

    /// The value of an attribute: in quotes, or up to a blank.
    pub fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        while let Some(at) = memchr(b'=', rest) {
            let (before, after) = rest.split_at_checked(at)?;
            let value = after.get(1..)?.trim_ascii_start();
            let (value, next) = first_value(value);
            let key = before.trim_ascii().rsplit(|byte| byte.is_ascii_whitespace()).next()?;
            if key.eq_ignore_ascii_case(name) {
                return Some(value);
            }
            rest = next;
        }
        None
    }
}

/// Splits the first value of an attribute from the rest.
fn first_value(text: &[u8]) -> (&[u8], &[u8]) {
    let Some((&quote @ (b'"' | b'\''), after)) = text.split_first() else {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        return text.split_at_checked(end).unwrap_or((text, b""));
    };
    let end = memchr(quote, after).unwrap_or(after.len());
    let (value, rest) = after.split_at_checked(end).unwrap_or((after, b""));
    (value, rest.get(1..).unwrap_or_default())
}

/// The tag that begins at a `<`, or None if that is text.
pub fn tag_at(bytes: &[u8], start: usize) -> Option<Tag<'_>> {
    let inside = bytes.get(start.checked_add(1)?..)?;
    let length = memchr2(b'<', b'>', inside)?;
    let (inside, rest) = inside.split_at_checked(length)?;
    let is_end = inside.first() == Some(&b'/');
    let named = inside.get(usize::from(is_end)..)?;
    if rest.first() != Some(&b'>') || !named.first()?.is_ascii_alphabetic() {
        return None;
    }
    let name_length = named.iter().position(|&byte| !is_name_byte(byte)).unwrap_or(named.len());
    let (name, attributes) = named.split_at_checked(name_length)?;
    Some(Tag { name, is_end, attributes, start, end: start + length + 2 })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.')
}

/// All tags from a place on, in order.
#[derive(Clone, Debug)]
pub struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    /// The tags of `bytes` that begin at `from` or later.
    pub fn new(bytes: &'a [u8], from: usize) -> Self {
        Self { bytes, at: from }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let start = self.at + memchr(b'<', self.bytes.get(self.at..)?)?;
            if let Some(tag) = tag_at(self.bytes, start) {
                self.at = tag.end;
                return Some(tag);
            }
            // Without any `>` behind it, a search from each `<` stops at the next one: the pass is linear.
            self.at = start + 1;
        }
    }
}

/// The bytes without tags, comments and declarations: whether something remains.
pub fn has_text(bytes: &[u8]) -> bool {
    let mut rest = bytes.trim_ascii_start();
    while !rest.is_empty() {
        let closing: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            [b'<', b'!' | b'/' | b'a'..=b'z' | b'A'..=b'Z', ..] => b">",
            _ => return true,
        };
        let Some(end) = memchr::memmem::find(rest, closing) else {
            return true;
        };
        rest = rest.get(end + closing.len()..).unwrap_or_default().trim_ascii_start();
    }
    false
}
