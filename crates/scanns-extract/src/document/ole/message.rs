//! Outlook messages ([MS-OXMSG]): a stream for each property, named `__substg1.0_PPPPTTTT` by the property
//! and its type in hex digits. The body is plain text, or HTML, or else compressed RTF. Strings of the type
//! 001E and HTML are in encodings that follow from the list of fixed properties.

mod lzfu;

use std::io::{Cursor, Read, Seek};

use encoding_rs::{Encoding, WINDOWS_1252};

use super::super::bytes::{u32_at, u64_at, utf16};
use super::super::flow::{Break, Flow};
use super::super::xml::Markup;
use super::super::{charset, rtf, xhtml};
use super::compound::Compound;
use super::summary;
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
pub(super) const NAME: &str = "Outlook message";
/// The most attachments whose names are read.
const MOST_ATTACHMENTS: usize = 1_000;
/// The most recipients that are read one by one: each gives up to two fields.
const MOST_RECIPIENTS: usize = 400;
/// Properties that are fields.
const FIELDS: [(&str, &str); 6] = [
    ("0037", "title"),
    ("0C1A", "author"),
    ("0C1F", "author"),
    ("0E04", "recipient"),
    ("0E03", "recipient"),
    ("5D01", "author"),
];
/// The name of a recipient.
const RECIPIENT_NAME: &str = "3001";
/// The SMTP address of a recipient, or the address of its own kind.
const RECIPIENT_ADDRESS: [&str; 2] = ["39FE", "3003"];
/// The date when the message was submitted, and when it was delivered.
const DATES: [u32; 2] = [0x0039_0040, 0x0e06_0040];
/// The code page of the message's strings, its locale, and the code page of its body on the Internet.
const MESSAGE_PAGE: u32 = 0x3ffd_0003;
const LOCALE: u32 = 0x3ff1_0003;
const INTERNET_PAGE: u32 = 0x3fde_0003;

/// An open message.
struct Message<'c, S> {
    compound: &'c mut Compound<S>,
    /// The list of fixed properties.
    fixed: Vec<u8>,
}

/// Takes the text and the fields of a message.
pub(super) fn extract<S: Read + Seek>(
    compound: &mut Compound<S>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let fixed = compound.stream("/__properties_version1.0").ok().flatten().unwrap_or_default();
    let mut message = Message { compound, fixed };
    let subject = message.string("", "0037").unwrap_or_default();
    for (property, name) in FIELDS {
        if let Some(value) = message.string("", property) {
            out.field(name, &value);
        }
    }
    if let Some(date) = message.date() {
        out.field("created", &date);
    }
    for recipient in message.storages("__recip_", MOST_RECIPIENTS) {
        let address = RECIPIENT_ADDRESS.iter().find_map(|property| message.string(&recipient, property));
        let name = message.string(&recipient, RECIPIENT_NAME).filter(|name| Some(name) != address.as_ref());
        for value in [name, address].into_iter().flatten() {
            out.field("recipient", &value);
        }
    }
    let mut flow = Flow::new(out);
    flow.words(&subject);
    flow.part(Break::Line);
    for attachment in message.storages("__attach_", MOST_ATTACHMENTS) {
        let name = message.string(&attachment, "3707").or_else(|| message.string(&attachment, "3704"));
        flow.words(&name.unwrap_or_default());
        flow.part(Break::Line);
    }
    drop(flow);
    message.body(out)
}

impl<S: Read + Seek> Message<'_, S> {
    /// A text property of the message or of a storage in it.
    fn string(&mut self, storage: &str, property: &str) -> Option<String> {
        let path = |kind: &str| format!("{storage}/__substg1.0_{property}{kind}");
        if let Ok(Some(bytes)) = self.compound.stream(&path("001F")) {
            return Some(utf16(&bytes).trim_end_matches('\0').to_owned());
        }
        let bytes = self.compound.stream(&path("001E")).ok().flatten()?;
        let (text, _) = self.encoding().decode_without_bom_handling(&bytes);
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// The value of a fixed property of the message: an entry of 16 bytes after a head of 32.
    fn fixed(&self, tag: u32) -> Option<u64> {
        let entries = self.fixed.get(32..)?.chunks_exact(16);
        entries.into_iter().find(|entry| u32_at(entry, 0) == Some(tag)).and_then(|entry| u64_at(entry, 8))
    }

    /// The date of the message.
    fn date(&self) -> Option<String> {
        summary::file_time(DATES.iter().find_map(|tag| self.fixed(*tag))?)
    }

    /// The value of a fixed property of 32 bits; what stands behind it has no meaning.
    fn number(&self, tag: u32) -> Option<i32> {
        i32::try_from(self.fixed(tag)? & 0xffff_ffff).ok()
    }

    /// The encoding of a property that holds a code page.
    fn encoding_of(&self, tag: u32) -> Option<&'static Encoding> {
        self.number(tag).map(charset::of_code_page)
    }

    /// The encoding of strings.
    fn encoding(&self) -> &'static Encoding {
        let of_locale = || self.number(LOCALE).and_then(|locale| u16::try_from(locale).ok());
        let encoding = self.encoding_of(MESSAGE_PAGE);
        let encoding = encoding.or_else(|| of_locale().map(charset::of_locale));
        encoding.or_else(|| self.encoding_of(INTERNET_PAGE)).unwrap_or(WINDOWS_1252)
    }

    /// The paths of up to `most` storages of the message whose names begin with `start`.
    fn storages(&self, start: &str, most: usize) -> Vec<String> {
        let root = self.compound.file.read_root_storage();
        let storages = root.filter(|entry| entry.is_storage() && entry.name().starts_with(start));
        storages.map(|entry| format!("/{}", entry.name())).take(most).collect()
    }

    /// The HTML of the body, in UTF-8.
    fn html(&mut self) -> Result<Option<Vec<u8>>, ExtractError> {
        let Some(bytes) = self.compound.stream("/__substg1.0_10130102")? else {
            return Ok(self.string("", "1013").map(String::into_bytes));
        };
        if std::str::from_utf8(&bytes).is_ok() {
            return Ok(Some(bytes));
        }
        let encoding = self.encoding_of(INTERNET_PAGE).unwrap_or_else(|| self.encoding());
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        Ok(Some(text.into_owned().into_bytes()))
    }

    /// Appends the body.
    fn body(&mut self, out: &mut Output) -> Result<(), ExtractError> {
        if let Some(text) = self.string("", "1000").filter(|text| !text.trim().is_empty()) {
            let mut flow = Flow::new(out);
            for line in text.lines() {
                flow.words(line);
                flow.part(Break::Line);
            }
            return Ok(());
        }
        if let Some(html) = self.html()? {
            let mut flow = Flow::new(out);
            let mut markup = Markup::new(&html[..])?;
            return xhtml::page(&mut markup, &mut flow)
                .map_err(|error| ExtractError::damaged(NAME, format!("HTML: {error}")));
        }
        let Some(packed) = self.compound.stream("/__substg1.0_10090102")? else { return Ok(()) };
        let bytes = lzfu::expand(&packed).ok_or_else(|| ExtractError::damaged(NAME, "the RTF is cut off"))?;
        // The head of this RTF is of the message's converter; its fields are not the message's.
        let mut inner = Output::new(out.room(), 0);
        let result = rtf::extract(&mut Cursor::new(bytes), &mut inner);
        out.text(&inner.into_parts().0);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::samples::compound;
    use super::*;

    /// The text and the fields of a message with these streams and fixed properties.
    fn read(streams: &[(&str, &[u8])], fixed: &[(u32, u64)]) -> (String, Vec<(&'static str, String)>) {
        let mut list = vec![0; 32];
        for (tag, value) in fixed {
            list.extend(tag.to_le_bytes());
            list.extend([6, 0, 0, 0]);
            list.extend(value.to_le_bytes());
        }
        let mut all: Vec<(&str, Vec<u8>)> =
            streams.iter().map(|(name, bytes)| (*name, bytes.to_vec())).collect();
        all.push(("/__properties_version1.0", list));
        let mut out = Output::new(1_000, 100);
        let file = Compound::open(Cursor::new(compound(&all)), NAME).unwrap();
        file.extract(extract, &mut out).unwrap();
        let (text, fields, _) = out.into_parts();
        (text, fields)
    }

    #[test]
    fn strings_and_html_are_in_the_code_page_of_the_message() {
        let subject = ("/__substg1.0_0037001E", &b"\xef\xee\xf7\xf2\xe0"[..]);
        let (text, fields) = read(&[subject, ("/__substg1.0_1000001E", b"\xe4\xe0")], &[(0x3ffd_0003, 1251)]);
        assert_eq!((text.as_str(), fields[0].1.as_str()), ("почта\nда\n", "почта"));
        // The locale counts where the code page is absent, and the code page of the Internet comes last.
        assert_eq!(read(&[subject], &[(0x3ff1_0003, 0x419), (0x3fde_0003, 65_001)]).0, "почта\n");
        // HTML prefers the code page of the Internet.
        let html = ("/__substg1.0_10130102", &b"<p>\xe4\xe0</p>"[..]);
        assert_eq!(read(&[html, subject], &[(0x3fde_0003, 0xffff_ffff_0000_04e3)]).0, "почта\nда\n");
        assert_eq!(read(&[html], &[(0x3ffd_0003, 1252), (0x3fde_0003, 1251)]).0, "да\n");
        let utf8 = ("/__substg1.0_10130102", "<p>да</p>".as_bytes());
        assert_eq!(read(&[utf8], &[(0x3fde_0003, 1251)]).0, "да\n");
        assert_eq!(read(&[html], &[]).0, "äà\n");
    }

    #[test]
    fn recipients_have_their_names_and_addresses() {
        let streams: [(&str, &[u8]); 4] = [
            ("/__recip_version1.0_#00000000/__substg1.0_3001001E", b"Ann"),
            ("/__recip_version1.0_#00000000/__substg1.0_3003001E", b"/o=x/cn=ann"),
            ("/__recip_version1.0_#00000000/__substg1.0_39FE001E", b"ann@example.org"),
            ("/__recip_version1.0_#00000001/__substg1.0_3003001E", b"bob@example.org"),
        ];
        let (_, fields) = read(&streams, &[]);
        let names: Vec<&str> = fields.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(names, ["Ann", "ann@example.org", "bob@example.org"]);
        assert!(fields.iter().all(|(name, _)| *name == "recipient"));
    }
}
