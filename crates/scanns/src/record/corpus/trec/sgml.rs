//! The elements of a TREC document in SGML, and their text.
//!
//! Each tag inside of a text becomes a blank, comments are left out, and an unknown entity becomes a blank.
//! A `<` or `&` that begins neither is text. One pass over the tags finds the elements: for an element that
//! is not closed, the search for its end tag fails once for each of the names.

use super::body::{Body, DATE, HEADLINE, LATIN1, TEXT, TrecReader};
use crate::record::corpus::entities::{Entity, sgml_entity_at};
use crate::record::corpus::latin1::{push_char, push_text};
use crate::record::corpus::tags::{Tag, Tags, tag_at};
use crate::record::made_record::MadeRecord;
use memchr::{memchr2, memmem};

/// The elements that count, and the name of their values.
const ELEMENTS: [(&[u8], u32); 11] = [
    (b"text", TEXT),
    (b"headline", HEADLINE),
    (b"title", HEADLINE),
    (b"hl", HEADLINE),
    (b"head", HEADLINE),
    (b"ttl", HEADLINE),
    (b"dd", TEXT),
    (b"date", TEXT),
    (b"lp", TEXT),
    (b"leadpara", TEXT),
    (b"date1", DATE),
];

/// The number of the element in [`ELEMENTS`] that a tag opens.
pub(super) fn element_of(tag: &Tag<'_>) -> Option<usize> {
    ELEMENTS.iter().position(|element| tag.opens(element.0))
}

impl TrecReader {
    /// Reads the elements of a document.
    pub(super) fn read_sgml(&mut self, body: Body<'_>, into: &mut MadeRecord) {
        if body.is_latin1 {
            self.deviations.add(LATIN1);
        }
        let mut found = false;
        let mut unclosed = [false; ELEMENTS.len()];
        let mut tags = Tags::new(body.bytes, body.start);
        while let Some(tag) = tags.next() {
            let Some(number) = element_of(&tag) else {
                continue;
            };
            found = true;
            let end = self.element_end(&tags, number, &mut unclosed);
            let (stop, next) = end.unwrap_or((body.bytes.len(), body.bytes.len()));
            self.put_element(number, Body { start: tag.end, bytes: cut(body.bytes, stop), ..body }, into);
            tags = Tags::new(body.bytes, next);
        }
        if !found {
            self.put_text(TEXT, body, into);
        }
    }

    /// Where an element ends and where to go on: at its end tag, or before the next element without one.
    fn element_end(
        &mut self,
        tags: &Tags<'_>,
        number: usize,
        unclosed: &mut [bool; ELEMENTS.len()],
    ) -> Option<(usize, usize)> {
        let name = ELEMENTS.get(number).map_or(&b""[..], |element| element.0);
        let is_unclosed = unclosed.get(number).copied().unwrap_or(true);
        if !is_unclosed && let Some(tag) = tags.clone().find(|tag| tag.closes(name)) {
            return Some((tag.start, tag.end));
        }
        if let Some(flag) = unclosed.get_mut(number) {
            *flag = true;
        }
        self.deviations.add("element without end");
        tags.clone().find(|tag| element_of(tag).is_some()).map(|tag| (tag.start, tag.start))
    }

    fn put_element(&mut self, number: usize, body: Body<'_>, into: &mut MadeRecord) {
        let Some(&(name, value)) = ELEMENTS.get(number) else {
            return;
        };
        self.put_text(value, body, into);
        if name == b"date" {
            self.put_text(DATE, body, into);
        }
    }

    fn put_text(&mut self, name: u32, body: Body<'_>, into: &mut MadeRecord) {
        let text = body.bytes.get(body.start..).unwrap_or_default();
        let mut has_unknown = false;
        into.make(name, |bytes| has_unknown = push_sgml_text(text, body.is_latin1, bytes));
        if has_unknown {
            self.deviations.add("unknown entity");
        }
    }
}

fn cut(bytes: &[u8], end: usize) -> &[u8] {
    bytes.get(..end).unwrap_or(bytes)
}

/// Appends the trimmed text of SGML. Returns whether it has unknown entities.
fn push_sgml_text(sgml: &[u8], is_latin1: bool, into: &mut Vec<u8>) -> bool {
    let start = into.len();
    let mut has_unknown = false;
    let mut comments_end = true;
    let mut at = 0;
    while let Some(rest) = sgml.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr2(b'<', b'&', rest).unwrap_or(rest.len());
        let (text, markup) = rest.split_at_checked(length).unwrap_or((rest, b""));
        push_text(text, is_latin1, into);
        at += length;
        at += match markup.first() {
            Some(b'&') => push_entity(markup, &mut has_unknown, into),
            Some(_) => push_tag(markup, &mut comments_end, into),
            None => 0,
        };
        drop_leading_blanks(into, start);
    }
    let kept = into.get(start..).unwrap_or_default().trim_ascii_end().len();
    into.truncate(start + kept);
    has_unknown
}

/// While a value has only blanks, it is empty.
fn drop_leading_blanks(into: &mut Vec<u8>, start: usize) {
    let value = into.get(start..).unwrap_or_default();
    if value.first().is_some_and(u8::is_ascii_whitespace) {
        let blanks = value.len() - value.trim_ascii_start().len();
        into.drain(start..start + blanks);
    }
}

fn push_entity(markup: &[u8], has_unknown: &mut bool, into: &mut Vec<u8>) -> usize {
    match sgml_entity_at(markup) {
        Entity::Known(letter, length) => {
            push_char(letter, into);
            length
        }
        Entity::Unknown(length) => {
            *has_unknown = true;
            into.push(b' ');
            length
        }
        Entity::No => {
            into.push(b'&');
            1
        }
    }
}

fn push_tag(markup: &[u8], comments_end: &mut bool, into: &mut Vec<u8>) -> usize {
    if *comments_end && markup.starts_with(b"<!--") {
        if let Some(end) = memmem::find(markup, b"-->") {
            into.push(b' ');
            return end + 3;
        }
        *comments_end = false;
    }
    if let Some(tag) = tag_at(markup, 0) {
        into.push(b' ');
        return tag.end;
    }
    into.push(b'<');
    1
}
