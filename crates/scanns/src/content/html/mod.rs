//! The text of an HTML page, read in one pass and without a tree.
//!
//! In come the bytes of a page in UTF-8; out go its text, its title and what its `meta` tags say. What is
//! a tag, a comment or a reference is decided by the tokenization rules of the HTML standard
//! (<https://html.spec.whatwg.org/multipage/parsing.html>), but no tree is built: nesting costs nothing.
//! Therefore a few rules of the tree are only approximated. Foreign content is a count of open `svg` and
//! `math` tags, so HTML in a `foreignObject` counts as foreign; text is kept where the tree would move it
//! or drop it; bytes that are zero are kept.
//!
//! Start to read at [`HtmlPage::read`]. `tokens` finds the ends of tokens, `elements` knows what a tag
//! does, `lines` writes text and breaks, `entities` decodes references, `sniff` looks at the start of a
//! page whose type or encoding is not known.

mod elements;
mod entities;
mod lines;
mod sniff;
mod tokens;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use elements::{PageElement, read_name};
use entities::{ReferencePlace, decode, decode_reference};
pub use entities::{character_of, numbered_character};
use lines::{LineWriter, TextBreak, collapse_blanks};
pub use sniff::{declared_charset, is_html_page, looks_like_html};
use tokens::{
    attributes, cdata_end, find_end_tag, find_mark, find_script_end, skip_attributes, skip_comment,
    skip_past_angle,
};

/// What a page says. The buffers are reused from page to page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HtmlPage {
    /// The first title that is not empty.
    pub title: Vec<u8>,
    /// The visible text. Blocks are separated by line feeds, cells of a table by tabs. Other blanks are
    /// those of the page.
    pub text: Vec<u8>,
    /// The first description, or that of Open Graph (`og:description`) if there is no other.
    pub description: Vec<u8>,
    /// The first keywords.
    pub keywords: Vec<u8>,
    /// The language that the `html` tag declares, such as `de-CH`.
    pub language: Vec<u8>,
}

impl HtmlPage {
    /// Reads a page of UTF-8. Invalid bytes are copied as they are.
    pub fn read(&mut self, html: &[u8]) {
        let mut head = PageHead {
            title: &mut self.title,
            description: &mut self.description,
            keywords: &mut self.keywords,
            language: &mut self.language,
            open_graph: Vec::new(),
        };
        head.clear();
        let lines = LineWriter::new(&mut self.text);
        let mut reader = PageReader { html, lines, head, foreign: 0, verbatim: false };
        reader.read();
        reader.lines.trim();
        reader.head.finish();
    }

    /// Appends the title, as a line, and the text.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        if !self.title.is_empty() {
            out.extend_from_slice(&self.title);
            out.push(b'\n');
        }
        out.extend_from_slice(&self.text);
    }
}

/// The values of a page other than its text.
struct PageHead<'o> {
    title: &'o mut Vec<u8>,
    description: &'o mut Vec<u8>,
    keywords: &'o mut Vec<u8>,
    language: &'o mut Vec<u8>,
    open_graph: Vec<u8>,
}

impl PageHead<'_> {
    fn clear(&mut self) {
        for value in [&mut *self.title, self.description, self.keywords, self.language] {
            value.clear();
        }
    }

    fn meta(&mut self, names: [Option<&[u8]>; 2], content: &[u8]) {
        for name in names.into_iter().flatten().map(<[u8]>::trim_ascii) {
            let value = match name {
                _ if name.eq_ignore_ascii_case(b"description") => &mut *self.description,
                _ if name.eq_ignore_ascii_case(b"keywords") => &mut *self.keywords,
                _ if name.eq_ignore_ascii_case(b"og:description") => &mut self.open_graph,
                _ => continue,
            };
            set_if_empty(value, content, ReferencePlace::Attribute);
        }
    }

    fn finish(&mut self) {
        if self.description.is_empty() {
            std::mem::swap(self.description, &mut self.open_graph);
        }
    }
}

/// Decodes `text` to `value` unless that has a text already.
fn set_if_empty(value: &mut Vec<u8>, text: &[u8], place: ReferencePlace) {
    if value.is_empty() {
        decode(text, place, value);
        collapse_blanks(value);
    }
}

/// A page while it is read.
struct PageReader<'h, 'o> {
    html: &'h [u8],
    lines: LineWriter<'o>,
    head: PageHead<'o>,
    /// How many tags of SVG and MathML are open.
    foreign: usize,
    /// In `pre`, blanks matter.
    verbatim: bool,
}

impl<'h> PageReader<'h, '_> {
    /// Cost: what bounds the speed are the branches of a tag, about 50 ns with two attributes.
    fn read(&mut self) {
        let mut at = 0;
        while let Some(rest) = self.html.get(at..) {
            let length = find_mark(rest).unwrap_or(rest.len());
            let (text, mark) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            self.put(text);
            at += length;
            at = match mark.first() {
                Some(b'<') => self.read_markup(at),
                Some(_) => at + decode_reference(mark, ReferencePlace::Text, self.lines.begin_line()),
                None => return,
            };
        }
    }

    #[inline]
    fn put(&mut self, text: &[u8]) {
        if self.verbatim {
            self.lines.put_verbatim(text);
        } else {
            self.lines.put(text);
        }
    }

    /// Reads what starts with `<` at `at`. Returns where it ends.
    #[inline]
    fn read_markup(&mut self, at: usize) -> usize {
        match self.html.get(at + 1) {
            Some(byte) if byte.is_ascii_alphabetic() => self.read_start_tag(at + 1),
            Some(b'/') => match self.html.get(at + 2) {
                Some(byte) if byte.is_ascii_alphabetic() => self.read_end_tag(at + 2),
                Some(_) => skip_past_angle(self.html, at + 2),
                None => self.put_angle(at),
            },
            Some(b'!') => self.read_declaration(at),
            Some(b'?') => skip_past_angle(self.html, at + 1),
            _ => self.put_angle(at),
        }
    }

    /// A `<` that starts no tag is text.
    fn put_angle(&mut self, at: usize) -> usize {
        self.put(b"<");
        at + 1
    }

    fn read_declaration(&mut self, at: usize) -> usize {
        let rest = self.html.get(at..).unwrap_or_default();
        if rest.starts_with(b"<!--") {
            return skip_comment(self.html, at + 4);
        }
        if self.foreign > 0 && rest.starts_with(b"<![CDATA[") {
            let start = at + 9;
            let (end, next) = cdata_end(self.html, start);
            self.put(self.html.get(start..end).unwrap_or_default());
            return next;
        }
        skip_past_angle(self.html, at + 2)
    }

    #[inline]
    fn read_end_tag(&mut self, at: usize) -> usize {
        let (element, at) = read_name(self.html, at);
        let (next, _) = skip_attributes(self.html, at);
        match element {
            PageElement::Inline => {}
            PageElement::Foreign => self.foreign = self.foreign.saturating_sub(1),
            PageElement::Cell => self.lines.note(TextBreak::Tab),
            PageElement::Preformatted => {
                self.verbatim = false;
                self.lines.note(TextBreak::Line);
            }
            _ => self.lines.note(TextBreak::Line),
        }
        next
    }

    #[inline]
    fn read_start_tag(&mut self, at: usize) -> usize {
        let (element, at) = read_name(self.html, at);
        match element {
            PageElement::Inline => skip_attributes(self.html, at).0,
            PageElement::Block => {
                self.lines.note(TextBreak::Line);
                skip_attributes(self.html, at).0
            }
            PageElement::Cell => {
                self.lines.note(TextBreak::Tab);
                skip_attributes(self.html, at).0
            }
            _ => self.read_special(element, at),
        }
    }

    /// Reads the tag of an element with rules of its own, whose name ends at `at`.
    fn read_special(&mut self, element: PageElement, at: usize) -> usize {
        self.lines.note(if element == PageElement::Foreign { TextBreak::Nothing } else { TextBreak::Line });
        match element {
            PageElement::Meta => return self.read_meta(at),
            PageElement::Html => return self.read_language(at),
            _ => {}
        }
        let (next, self_closing) = skip_attributes(self.html, at);
        if self.foreign > 0 && self_closing {
            return next;
        }
        self.read_content(element, next, self_closing)
    }

    /// Reads what stands in an element whose content is not ordinary markup, up to its end tag.
    fn read_content(&mut self, element: PageElement, at: usize, self_closing: bool) -> usize {
        match element {
            PageElement::Foreign => {
                self.foreign += usize::from(!self_closing);
                at
            }
            PageElement::Preformatted => {
                self.verbatim = true;
                self.skip_line_feed(at)
            }
            PageElement::Title if self.foreign == 0 => {
                let end = find_end_tag(self.html, at, b"title");
                set_if_empty(self.head.title, self.between(at, end), ReferencePlace::Text);
                end
            }
            PageElement::Textarea => {
                let end = find_end_tag(self.html, at, b"textarea");
                let content = self.between(self.skip_line_feed(at), end);
                if !content.is_empty() {
                    decode(content, ReferencePlace::Text, self.lines.begin_line());
                }
                end
            }
            PageElement::Script => find_script_end(self.html, at),
            PageElement::Hidden(name) => find_end_tag(self.html, at, name),
            PageElement::Example => {
                let end = find_end_tag(self.html, at, b"xmp");
                self.lines.put_verbatim(self.between(at, end));
                end
            }
            PageElement::Plaintext => {
                self.lines.put_verbatim(self.between(at, self.html.len()));
                self.html.len()
            }
            _ => at,
        }
    }

    fn between(&self, start: usize, end: usize) -> &'h [u8] {
        self.html.get(start..end).unwrap_or_default()
    }

    /// A line feed right after `<pre>` or `<textarea>` is not a part of the text.
    fn skip_line_feed(&self, at: usize) -> usize {
        let rest = self.html.get(at..).unwrap_or_default();
        at + if rest.starts_with(b"\r\n") { 2 } else { usize::from(matches!(rest, [b'\n' | b'\r', ..])) }
    }

    fn read_meta(&mut self, at: usize) -> usize {
        let Some((values, next)) = attributes(self.html, at, ["name", "property", "content"]) else {
            return self.html.len();
        };
        let [name, property, content] = values;
        self.head.meta([name, property], content.unwrap_or_default());
        next
    }

    fn read_language(&mut self, at: usize) -> usize {
        let Some((values, next)) = attributes(self.html, at, ["lang", "xml:lang"]) else {
            return self.html.len();
        };
        for value in values.into_iter().flatten() {
            set_if_empty(self.head.language, value, ReferencePlace::Attribute);
        }
        next
    }
}
