//! A forgiving reader of XML: elements by local name, text with its entities resolved.
//!
//! Namespaces are ignored, so the transitional and the strict form of OOXML read alike. Entities that a
//! document declares are dropped, never expanded. Bytes in another encoding than UTF-8 are decoded first.

use std::borrow::Cow;
use std::io::{self, BufReader, Read};

use encoding_rs::{Decoder, Encoding, UTF_8};
use quick_xml::Reader;
use quick_xml::escape::{resolve_html5_entity, unescape_with};
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, Event};

/// How many bytes of a part are searched for the name of its encoding.
const HEAD: u64 = 256;

/// One step through a document.
pub(super) enum Node<'b> {
    /// An element begins. An empty element gives this and then its end.
    Open(Tag<'b>),
    /// An element ends.
    Close(EndTag<'b>),
    /// Text.
    Text(Cow<'b, str>),
    /// The document ends.
    End,
}

/// The begin of an element.
pub(super) struct Tag<'b>(BytesStart<'b>);

impl Tag<'_> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }

    /// The identifier of a relationship: the attribute `id` with a prefix.
    pub(super) fn relation(&self) -> Option<String> {
        let mut attributes = self.0.html_attributes();
        let is_wanted = |key: &[u8]| key != b"xml:id" && key.ends_with(b":id");
        let found =
            attributes.with_checks(false).flatten().find(|found| is_wanted(found.key.into_inner()))?;
        Some(String::from_utf8_lossy(&found.value).into_owned())
    }

    /// The value of the first attribute of this local name.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.html_attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|attribute| attribute.key.local_name().into_inner() == name.as_bytes())?;
        let raw = String::from_utf8_lossy(&found.value);
        Some(unescape_with(&raw, resolve_html5_entity).map_or_else(|_| raw.to_string(), Cow::into_owned))
    }
}

/// The end of an element.
pub(super) struct EndTag<'b>(BytesEnd<'b>);

impl EndTag<'_> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }
}

/// Reads one part.
pub(super) struct Markup<'p> {
    reader: Reader<BufReader<Box<dyn Read + 'p>>>,
    buffer: Vec<u8>,
}

impl<'p> Markup<'p> {
    /// Starts to read `part`.
    pub(super) fn new(part: impl Read + 'p) -> io::Result<Self> {
        let mut reader = Reader::from_reader(BufReader::new(decoded(part)?));
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        config.expand_empty_elements = true;
        Ok(Self { reader, buffer: Vec::new() })
    }

    /// The next step.
    pub(super) fn next(&mut self) -> Result<Node<'_>, quick_xml::Error> {
        self.buffer.clear();
        self.reader.read_event_into(&mut self.buffer).map(node)
    }

    /// The text up to the end of the element whose begin was just read.
    pub(super) fn inner_text(&mut self) -> Result<String, quick_xml::Error> {
        let mut text = String::new();
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Node::Open(_) => depth += 1,
                Node::Close(_) => depth -= 1,
                Node::Text(piece) => text.push_str(&piece),
                Node::End => break,
            }
        }
        Ok(text)
    }

    /// Passes over the element whose begin was just read.
    pub(super) fn skip(&mut self) -> Result<(), quick_xml::Error> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Node::Open(_) => depth += 1,
                Node::Close(_) => depth -= 1,
                Node::Text(_) => {}
                Node::End => break,
            }
        }
        Ok(())
    }
}

/// The step that an event stands for.
fn node(event: Event<'_>) -> Node<'_> {
    match event {
        Event::Start(tag) | Event::Empty(tag) => Node::Open(Tag(tag)),
        Event::End(tag) => Node::Close(EndTag(tag)),
        Event::Text(text) => Node::Text(lossy(text.into_inner())),
        Event::CData(text) => Node::Text(lossy(text.into_inner())),
        Event::GeneralRef(name) => Node::Text(reference(&name)),
        Event::Eof => Node::End,
        // An empty text changes nothing.
        Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {
            Node::Text(Cow::Borrowed(""))
        }
    }
}

/// The text that a reference stands for; nothing for a name that XML and HTML do not define.
fn reference(name: &BytesRef<'_>) -> Cow<'static, str> {
    if let Ok(Some(letter)) = name.resolve_char_ref() {
        return Cow::Owned(letter.to_string());
    }
    let known = std::str::from_utf8(name).ok().and_then(resolve_html5_entity);
    Cow::Borrowed(known.unwrap_or_default())
}

/// Text whose invalid bytes are replaced.
fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// `part` as UTF-8.
fn decoded<'p>(part: impl Read + 'p) -> io::Result<Box<dyn Read + 'p>> {
    let mut part = part;
    let mut head = Vec::new();
    part.by_ref().take(HEAD).read_to_end(&mut head)?;
    let encoding = encoding_of(&head);
    let whole = io::Cursor::new(head).chain(part);
    if encoding == UTF_8 {
        return Ok(Box::new(whole));
    }
    let decoder = encoding.new_decoder();
    Ok(Box::new(Transcoder { inner: whole, decoder, text: Vec::new(), at: 0, ended: false }))
}

/// The encoding that a byte order mark or the declaration names.
fn encoding_of(head: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return encoding;
    }
    let text = String::from_utf8_lossy(head);
    let declaration = text.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split("?>").next());
    let value = declaration.and_then(|rest| rest.split_once("encoding")).map(|(_, rest)| rest);
    let label = value.and_then(|rest| rest.split(['"', '\'']).nth(1));
    label.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8)
}

/// Decodes bytes to UTF-8 as they are read.
struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    text: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.text.len() && !self.ended {
            let mut raw = [0_u8; 4_096];
            let count = self.inner.read(&mut raw)?;
            self.ended = count == 0;
            self.text.clear();
            self.at = 0;
            // Four output bytes for an input byte are more than any decoder asks for.
            self.text.resize(4 * count + 64, 0);
            let raw = raw.get(..count).unwrap_or_default();
            let (_, _, written, _) = self.decoder.decode_to_utf8(raw, &mut self.text, self.ended);
            self.text.truncate(written);
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_text(bytes: &[u8]) -> String {
        let mut markup = Markup::new(bytes).unwrap();
        let mut text = String::new();
        loop {
            match markup.next() {
                Ok(Node::Text(piece)) => text.push_str(&piece),
                Ok(Node::End) => return text,
                Ok(_) => text.push('|'),
                Err(error) => return text + &error.to_string(),
            }
        }
    }

    #[test]
    fn entities_are_resolved_and_unmatched_ends_pass() {
        assert_eq!(all_text(b"<a>x&amp;&#233;&eacute;&nope; & <b/></c></a>"), "|x&\u{e9}\u{e9} & ||||");
        assert_eq!(all_text(b"<a><![CDATA[<&]]></a>"), "|<&|");
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"xxxx\"><!ENTITY c \"&b;&b;&b;\">]><a>1&c;2</a>";
        assert_eq!(all_text(bomb), "|12|");
    }

    #[test]
    fn other_encodings_are_decoded() {
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>";
        assert_eq!(all_text(latin), "|\u{e9}|");
        let wide: Vec<u8> =
            "\u{feff}<a>\u{e9}\u{1f600}</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(all_text(&wide), "|\u{e9}\u{1f600}|");
    }

    #[test]
    fn an_attribute_is_found_by_its_local_name() {
        let mut markup = Markup::new(&b"<w:a w:x='1&amp;2' y=3>"[..]).unwrap();
        let Ok(Node::Open(tag)) = markup.next() else { panic!("no element") };
        assert_eq!(tag.attribute("x").as_deref(), Some("1&2"));
        assert_eq!(tag.attribute("y").as_deref(), Some("3"));
        assert_eq!(tag.attribute("z"), None);
    }
}
