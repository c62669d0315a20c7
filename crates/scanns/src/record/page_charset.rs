//! The character set of a page, and its text in UTF-8.
//!
//! In this order: a byte order mark, the Content-Type, what the page declares, UTF-8 if the bytes are valid,
//! and what the bytes look like. If the page may have been converted to UTF-8 since it was fetched, the other
//! way round: valid UTF-8 is UTF-8, and bytes that are not are in any other character set.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

use super::deviations::Deviations;
use crate::content::html::declared_charset;

/// The most bytes from which a character set is guessed.
const MAX_GUESSED: usize = 256 << 10;

const UNKNOWN_CHARSET: &str = "unknown character set";
const WRONG_CHARSET: &str = "bytes outside of the character set";

/// What tells the character set of a page beside its bytes.
pub(super) struct CharsetHints<'a> {
    /// The `charset` parameter of the Content-Type.
    pub(super) named: Option<&'a [u8]>,
    /// Whether the page is HTML or XML, which may declare it.
    pub(super) may_declare: bool,
    /// Whether the page may have been converted to UTF-8 since it was fetched.
    pub(super) may_be_converted: bool,
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
    let is_utf8 = || std::str::from_utf8(payload).is_ok();
    if hints.may_be_converted && is_utf8() {
        return (Cow::Borrowed(payload), UTF_8);
    }
    let encoding = match named_charset(payload, hints, deviations) {
        Some(encoding) => encoding,
        None if is_utf8() => return (Cow::Borrowed(payload), UTF_8),
        None => guess(payload, hints.host),
    };
    (convert(payload, encoding, deviations), encoding)
}

/// The character set that the Content-Type or the page names. If the page may have been converted, it is not
/// UTF-8, which was tried before.
fn named_charset(
    payload: &[u8],
    hints: &CharsetHints<'_>,
    deviations: &mut Deviations,
) -> Option<&'static Encoding> {
    let mut find = |name: &[u8]| {
        let encoding = Encoding::for_label(name);
        if encoding.is_none() {
            deviations.add(UNKNOWN_CHARSET);
        }
        encoding
    };
    let is_possible = |encoding: &&'static Encoding| !hints.may_be_converted || *encoding != UTF_8;
    let named = hints.named.and_then(&mut find).filter(is_possible);
    named.or_else(|| {
        let declared = find(declared_charset(payload).filter(|_| hints.may_declare)?)?;
        // A page that declares UTF-16 in bytes that can be read as ASCII is in UTF-8.
        Some(if declared.is_ascii_compatible() { declared } else { UTF_8 }).filter(is_possible)
    })
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

/// The `charset` parameter of a Content-Type.
pub(super) fn charset_of(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_at_checked(memchr::memchr(b'=', parameter)?)?;
        let value = value.strip_prefix(b"=")?.trim_ascii();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let value = value.strip_suffix(b"\"").or(value.strip_suffix(b"'")).unwrap_or(value).trim_ascii();
        (name.trim_ascii().eq_ignore_ascii_case(b"charset") && !value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(payload: &'a [u8], named: Option<&[u8]>) -> (Cow<'a, [u8]>, &'static str, usize) {
        let mut deviations = Deviations::default();
        let hints =
            CharsetHints { named, may_declare: true, may_be_converted: false, host: b"www.example.ru" };
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
    fn a_page_that_may_be_converted_is_in_utf_8_if_it_is_valid_and_else_not() {
        let read = |payload: &[u8], named: Option<&[u8]>| {
            let hints = CharsetHints { named, may_declare: true, may_be_converted: true, host: b"" };
            let (text, encoding) = to_utf8(payload, &hints, &mut Deviations::default());
            (String::from_utf8(text.into_owned()).unwrap(), encoding.name())
        };
        let page = |text: &[u8]| [b"<meta charset=koi8-r>", text].concat();
        let expected = |text: &str| format!("<meta charset=koi8-r>{text}");
        assert_eq!(read(&page("да".as_bytes()), Some(b"koi8-r")), (expected("да"), "UTF-8"));
        assert_eq!(read(&page(b"\xc4\xc1"), None), (expected("да"), "KOI8-R"));
        assert_eq!(read(&page(b"\xe4\xe0"), Some(b"windows-1251")), (expected("да"), "windows-1251"));
        assert_eq!(read(&page(b"\xc4\xc1"), Some(b"utf-8")), (expected("да"), "KOI8-R"));
        assert_eq!(read(b"\xfe", Some(b"utf-8")), ("þ".into(), "windows-1252"));
    }

    #[test]
    fn the_charset_of_a_content_type_stands_behind_its_name() {
        for (content_type, expected) in [
            ("text/html; charset=\"x\"", Some("x")),
            ("text/html;CHARSET = 'x y' ;z", Some("x y")),
            ("text/html; a=b; charset=x", Some("x")),
            ("charset=x", None),
            ("text/html; charset=", None),
            ("text/html; charset", None),
        ] {
            assert_eq!(charset_of(content_type.as_bytes()), expected.map(str::as_bytes), "{content_type}");
        }
    }

    #[test]
    fn utf_8_is_not_copied() {
        assert!(matches!(read("да".as_bytes(), None).0, Cow::Borrowed(_)));
        assert!(matches!(read("да".as_bytes(), Some(b"utf-8")).0, Cow::Borrowed(_)));
    }
}
