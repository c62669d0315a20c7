//! The plain text of wikitext, in one pass after the brackets are paired.
//!
//! Left out: comments, `<ref>…</ref>`, templates and parameters (`{{…}}`, `{{{…}}}`) with all that is in
//! them, tags, bold and italic marks, the marks of headings, lists and rules, `__WORDS__`, the addresses of
//! `[http://… text]`, and of tables the marks and attributes.
//!
//! Kept: `text` of `[[target|text]]`, `target` of `[[target]]`, the name of `[[Category:name|key]]`, the last
//! part of `[[File:…|…|caption]]` unless it is an option, cells and captions of tables, the address of
//! `[http://…]`, and literally what is in `nowiki`, `pre`, `math`, `chem`, `source` and `syntaxhighlight`.
//! Entities of HTML are replaced; unknown ones stay. A bracket without a partner is text. A link
//! with a line break in its target gives all that is in it.

use super::brackets::Pairs;
use super::regions::{WikiRegion, regions};
use super::stripper::{Stripper, WikiLines, starting};
use crate::record::corpus::entities::{Entity, entity_at};
use crate::record::corpus::latin1::push_char;
use crate::record::corpus::tags::tag_at;
use crate::record::deviations::Deviations;

/// Tags that part words.
const BLOCKS: [&[u8]; 12] =
    [b"br", b"p", b"div", b"li", b"ul", b"ol", b"tr", b"td", b"th", b"hr", b"table", b"gallery"];
/// Appends the plain text of wikitext.
pub(super) fn push_plain_text(text: &[u8], into: &mut Vec<u8>, deviations: &mut Deviations) {
    let regions = regions(text, deviations);
    let templates = Pairs::find(text, &regions, *b"{}");
    if templates.is_open() {
        deviations.add("template without end");
    }
    let links = Pairs::find(text, &regions, *b"[]");
    if links.is_open() {
        deviations.add("link without end");
    }
    let start = into.len();
    let mut stripper = Stripper {
        text,
        at: 0,
        into,
        lines: WikiLines::default(),
        regions,
        templates: templates.places,
        links: links.places,
        passed: [0; 3],
        open_links: Vec::new(),
        addresses: 0,
    };
    stripper.run();
    let kept = into.get(start..).unwrap_or_default().trim_ascii_end().len();
    into.truncate(start + kept);
}

impl Stripper<'_> {
    fn run(&mut self) {
        self.begin_line();
        while let Some(&byte) = self.text.get(self.at) {
            self.look_at_line();
            match byte {
                b'\n' => self.end_line(),
                b'{' => self.skip_template(),
                b'[' => self.open_link(),
                b']' => self.close_link(),
                b'|' => self.push_bar(),
                b'!' if self.lines.tables > 0 && self.follows(b"!!") => self.begin_cell(2),
                b'\'' => self.push_quotes(),
                b'<' => self.push_tag(),
                b'&' => self.push_entity(),
                b'_' if self.follows(b"__") => self.push_magic_word(),
                b'=' if self.lines.heading_end == Some(self.at) => self.at += self.run_of(b"="),
                _ => self.push_run(),
            }
        }
    }

    fn push_run(&mut self) {
        let length = self.rest().iter().skip(1).take_while(|byte| !b"\n{[]|!'<&_=".contains(byte)).count();
        self.push(1 + length);
    }

    fn end_line(&mut self) {
        self.end_links_of_line();
        self.push(1);
        self.begin_line();
    }

    fn skip_template(&mut self) {
        match starting(&self.templates, &mut self.passed[0], self.at) {
            Some(place) => self.at = place.end,
            None => self.push(1),
        }
    }

    /// Two marks are italic, three bold, five both; other quotes are text.
    fn push_quotes(&mut self) {
        let count = self.run_of(b"'");
        let kept = match count {
            1 | 4 => 1,
            0..=5 => 0,
            _ => count - 5,
        };
        self.at += count - kept;
        self.push(kept);
    }

    fn push_tag(&mut self) {
        let regions = self.regions.get(self.passed[2]..).unwrap_or_default();
        self.passed[2] += regions.iter().take_while(|region| region.place.start < self.at).count();
        let region = self.regions.get(self.passed[2]).filter(|region| region.place.start == self.at);
        if let Some(WikiRegion { place, literal }) = region.cloned() {
            self.into.extend_from_slice(self.text.get(literal).unwrap_or_default());
            self.at = place.end;
        } else if let Some(tag) = tag_at(self.text, self.at) {
            if BLOCKS.iter().any(|name| tag.name.eq_ignore_ascii_case(name)) {
                self.into.push(b' ');
            }
            self.at = tag.end;
        } else {
            self.push(1);
        }
    }

    fn push_entity(&mut self) {
        if let Entity::Known(letter, length) = entity_at(self.rest()) {
            push_char(if letter == '\u{a0}' { ' ' } else { letter }, self.into);
            self.at += length;
        } else {
            self.push(1);
        }
    }

    fn push_magic_word(&mut self) {
        let word = self.rest().get(2..).unwrap_or_default();
        let length = word.iter().take(32).take_while(|byte| byte.is_ascii_uppercase()).count();
        if length > 0 && word.get(length..).unwrap_or_default().starts_with(b"__") {
            self.at += length + 4;
        } else {
            self.push(2);
        }
    }
}
