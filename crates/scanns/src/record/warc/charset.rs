//! The character set of a payload, and its text in UTF-8.
//!
//! In this order: a byte order mark, the Content-Type, what the page declares, UTF-8 if the bytes
//! are valid, and what the bytes look like.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use super::deviations::{UNKNOWN_CHARSET, WRONG_CHARSET};
use crate::content::html::{declared_charset, looks_like_html};
use crate::record::deviations::Deviations;

/// The most bytes from which a character set is guessed.
const MAX_GUESSED: usize = 256 << 10;

/// The most bytes from which it is told whether a payload is text.
const MAX_SNIFFED: usize = 64 << 10;

/// What tells the character set of a payload beside its bytes.
pub(super) struct CharsetHints<'a> {
    /// The `charset` parameter of the Content-Type.
    pub(super) named: Option<&'a [u8]>,
    /// Whether the payload is HTML or XML, which may declare it.
    pub(super) may_declare: bool,
    /// The host, whose country tells what is likely.
    pub(super) host: &'a [u8],
}

/// The text of a payload in UTF-8, without a copy if it is so already, and its character set.
pub(super) fn to_utf8<'a>(
    payload: &'a [u8],
    hints: &CharsetHints<'_>,
    deviations: &mut Deviations,
) -> (Cow<'a, [u8]>, &'static Encoding) {
    if let Some((encoding, mark_len)) = Encoding::for_bom(payload) {
        return (convert(payload.get(mark_len..).unwrap_or_default(), encoding, deviations), encoding);
    }
    let encoding = match named_charset(payload, hints, deviations) {
        Some(encoding) => encoding,
        None if std::str::from_utf8(payload).is_ok() => return (Cow::Borrowed(payload), UTF_8),
        None => guess(payload, hints.host),
    };
    (convert(payload, encoding, deviations), encoding)
}

/// The character set that the Content-Type or the page names.
fn named_charset(
    payload: &[u8],
    hints: &CharsetHints<'_>,
    deviations: &mut Deviations,
) -> Option<&'static Encoding> {
    if let Some(name) = hints.named {
        match Encoding::for_label(name) {
            Some(encoding) => return Some(encoding),
            None => deviations.add(UNKNOWN_CHARSET),
        }
    }
    let name = declared_charset(payload).filter(|_| hints.may_declare)?;
    let encoding = Encoding::for_label(name);
    match encoding {
        None => deviations.add(UNKNOWN_CHARSET),
        // A page that declares UTF-16 in bytes that can be read as ASCII is in UTF-8.
        Some(encoding) if !encoding.is_ascii_compatible() => return Some(UTF_8),
        Some(_) => {}
    }
    encoding
}

/// The character set that bytes look like.
fn guess(payload: &[u8], host: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let head = payload.get(..MAX_GUESSED).unwrap_or(payload);
    detector.feed(head, head.len() == payload.len());
    let country = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_name = !country.is_empty() && country.iter().all(u8::is_ascii_lowercase);
    detector.guess(is_name.then_some(country), Utf8Detection::Allow)
}

/// Converts bytes to UTF-8.
fn convert<'a>(bytes: &'a [u8], encoding: &'static Encoding, deviations: &mut Deviations) -> Cow<'a, [u8]> {
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    if has_errors {
        deviations.add(WRONG_CHARSET);
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(payload: &'a [u8], named: Option<&[u8]>) -> (Cow<'a, [u8]>, &'static str, usize) {
        let mut deviations = Deviations::default();
        let hints = CharsetHints { named, may_declare: true, host: b"www.example.ru" };
        let (text, encoding) = to_utf8(payload, &hints, &mut deviations);
        (text, encoding.name(), deviations.kinds().len())
    }

    #[test]
    fn the_first_source_that_names_a_character_set_counts() {
        let declared = b"<meta charset=windows-1251>\xe4\xe0";
        let text = |payload: &[u8], named: Option<&[u8]>| {
            let (text, name, kinds) = read(payload, named);
            (String::from_utf8(text.into_owned()).unwrap(), name, kinds)
        };
        let da = |text: &str| format!("<meta charset=windows-1251>{text}");
        assert_eq!(text(declared, None), (da("да"), "windows-1251", 0));
        assert_eq!(text(declared, Some(b"latin1")), (da("äà"), "windows-1252", 0));
        assert_eq!(text(declared, Some(b"nonsense")), (da("да"), "windows-1251", 1));
        assert_eq!(text(b"\xef\xbb\xbfda", Some(b"latin1")), ("da".into(), "UTF-8", 0));
        assert_eq!(text(b"\xff\xfed\0a\0", None), ("da".into(), "UTF-16LE", 0));
        assert_eq!(text("да".as_bytes(), None), ("да".into(), "UTF-8", 0));
        assert_eq!(text(b"da\xff", Some(b"utf-8")), ("da\u{fffd}".into(), "UTF-8", 1));
        let (guessed, name, _) = text(b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", None);
        assert_eq!((guessed.as_str(), name), ("Привет, мир", "windows-1251"));
    }

    #[test]
    fn utf_8_is_not_copied() {
        assert!(matches!(read("да".as_bytes(), None).0, Cow::Borrowed(_)));
        assert!(matches!(read("да".as_bytes(), Some(b"utf-8")).0, Cow::Borrowed(_)));
    }
}
