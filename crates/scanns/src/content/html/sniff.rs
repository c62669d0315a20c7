//! The start of a page whose type or encoding is not known.
//!
//! The type follows the table of the WHATWG MIME sniffing standard, the encoding the "prescan" of the
//! HTML standard.

use super::elements::{PageElement, read_name};
use super::tokens::{attributes, is_blank, skip_attributes, skip_comment, skip_past_angle};

/// How many bytes of a page may declare its encoding.
const PRESCAN: usize = 1024;

/// What a page of HTML may start with; a blank or `>` follows.
const STARTS: [&str; 16] = [
    "<!DOCTYPE HTML",
    "<HTML",
    "<HEAD",
    "<SCRIPT",
    "<IFRAME",
    "<H1",
    "<DIV",
    "<FONT",
    "<TABLE",
    "<A",
    "<STYLE",
    "<TITLE",
    "<B",
    "<BODY",
    "<BR",
    "<P",
];

/// What a file that is a page starts with.
const PAGE_STARTS: [&str; 3] = ["<!DOCTYPE HTML", "<HTML", "<HEAD"];

/// True if bytes that nobody describes look like HTML: after blanks, a byte order mark and comments, they
/// start with a tag that starts pages, or they start with a comment that is followed by a blank.
pub fn looks_like_html(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        if STARTS.iter().any(|start| starts_with_tag(rest, start.as_bytes()))
            || starts_with_tag(rest, b"<!--")
        {
            return true;
        }
        if !rest.starts_with(b"<!--") {
            return false;
        }
        rest = rest.get(skip_comment(rest, 4)..).unwrap_or_default();
    }
}

/// True if a file that nobody describes is a page of HTML: it starts with a document type or with the tag of
/// a page or its head. Stricter than [`looks_like_html`], since texts in other formats, such as Markdown and
/// templates of programs, often start with other tags.
pub fn is_html_page(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        if PAGE_STARTS.iter().any(|start| starts_with_tag(rest, start.as_bytes())) {
            return true;
        }
        rest = match rest {
            [b'<', b'!', b'-', b'-', ..] => rest.get(skip_comment(rest, 4)..).unwrap_or_default(),
            // The declaration of XML.
            [b'<', b'?', ..] => rest.get(skip_past_angle(rest, 1)..).unwrap_or_default(),
            _ => return false,
        };
    }
}

fn starts_with_tag(bytes: &[u8], start: &[u8]) -> bool {
    bytes.split_at_checked(start.len()).is_some_and(|(tag, after)| {
        tag.eq_ignore_ascii_case(start) && after.first().is_some_and(|&next| is_blank(next) || next == b'>')
    })
}

/// The encoding that a page declares in a `meta` tag within its first 1,024 bytes. The label is not
/// checked.
pub fn declared_charset(html: &[u8]) -> Option<&[u8]> {
    let html = html.get(..PRESCAN).unwrap_or(html);
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', html.get(at..)?)?;
        let rest = html.get(at..)?;
        at = match rest.get(1)? {
            b'!' if rest.starts_with(b"<!--") => skip_comment(html, at + 4),
            byte if byte.is_ascii_alphabetic() => match read_name(html, at + 1) {
                (PageElement::Meta, end) => {
                    let (label, next) = charset_of_meta(html, end)?;
                    if label.is_some() {
                        return label;
                    }
                    next
                }
                (_, end) => skip_attributes(html, end).0,
            },
            b'/' if rest.get(2)?.is_ascii_alphabetic() => skip_attributes(html, read_name(html, at + 2).1).0,
            b'!' | b'/' | b'?' => skip_past_angle(html, at + 1),
            _ => at + 1,
        };
    }
}

/// The label in a `meta` tag whose name ends at `at`, and the end of the tag.
fn charset_of_meta(html: &[u8], at: usize) -> Option<(Option<&[u8]>, usize)> {
    let ([charset, pragma, content], next) = attributes(html, at, ["charset", "http-equiv", "content"])?;
    let pragma = pragma.is_some_and(|pragma| pragma.trim_ascii().eq_ignore_ascii_case(b"content-type"));
    let of_content = content.filter(|_| pragma).and_then(charset_of_content);
    let label = charset.map(<[u8]>::trim_ascii).filter(|label| !label.is_empty()).or(of_content);
    Some((label, next))
}

/// The label in a value such as `text/html; charset=utf-8`.
fn charset_of_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let found = rest.windows(7).position(|word| word.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(found + 7..)?.trim_ascii_start();
        if let Some(value) = rest.strip_prefix(b"=") {
            return label(value.trim_ascii_start());
        }
    }
}

fn label(value: &[u8]) -> Option<&[u8]> {
    let label = match value {
        [quote @ (b'"' | b'\''), rest @ ..] => rest.get(..rest.iter().position(|byte| byte == quote)?)?,
        _ => value.split(|&byte| is_blank(byte) || byte == b';').next()?,
    };
    Some(label.trim_ascii()).filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_pages_only_if_they_start_as_whole_pages_do() {
        for (head, is_page) in [
            ("<!doctype html>", true),
            ("\u{feff}\n<HTML lang=en>", true),
            ("<!-- saved from --><!-- twice -->\n<html>", true),
            ("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML'>", true),
            ("<head><title>x", true),
            ("<p align=center>a readme", false),
            ("<?xml version='1.0'?><feed>", false),
            ("<?php echo 1 ?><html>", true),
            ("<!-- only a comment", false),
            ("<htmlx>", false),
            ("<header>", false),
            ("", false),
        ] {
            assert_eq!(is_html_page(head.as_bytes()), is_page, "{head}");
        }
    }

    fn charset(html: &str) -> Option<&str> {
        declared_charset(html.as_bytes()).map(|label| std::str::from_utf8(label).unwrap())
    }

    #[test]
    fn a_charset_is_read_from_the_attributes_of_meta_only() {
        assert_eq!(charset("<html><META a=b Charset = ' utf-8 '>"), Some("utf-8"));
        assert_eq!(charset("<meta charset=latin1/>"), Some("latin1/"));
        assert_eq!(charset("<meta charset=latin1 />"), Some("latin1"));
        assert_eq!(charset("<p title='<meta charset=x>'><!-- <meta charset=x> --><?<meta charset=x>"), None);
        assert_eq!(charset("<a charset=x></meta charset=x><metal charset=x> < meta charset=x>"), None);
        assert_eq!(charset("<meta><meta charset=''><meta charset=b>"), Some("b"));
        assert_eq!(charset("<meta charset=utf-8"), None);
        assert_eq!(charset(""), None);
    }

    #[test]
    fn a_charset_is_read_from_a_content_type() {
        let pragma = |content: &str| format!("<meta content=\"{content}\" http-equiv=Content-Type>");
        assert_eq!(charset(&pragma("text/html; charset=ISO-8859-1")), Some("ISO-8859-1"));
        assert_eq!(charset(&pragma("text/html; charset charset  =  'x y' ;z")), Some("x y"));
        assert_eq!(charset(&pragma("text/html;CHARSET=a;b")), Some("a"));
        assert_eq!(charset(&pragma("charset='open")), None);
        assert_eq!(charset(&pragma("charset=")), None);
        assert_eq!(charset("<meta content='text/html; charset=x'>"), None);
        assert_eq!(charset("<meta http-equiv=refresh content='text/html; charset=x'>"), None);
    }

    #[test]
    fn a_charset_after_the_first_kibibyte_does_not_count() {
        let meta = "<meta charset=utf-8>";
        let page = |blanks: usize| format!("{}{meta}", " ".repeat(blanks));
        assert_eq!(charset(&page(PRESCAN - meta.len())), Some("utf-8"));
        assert_eq!(charset(&page(PRESCAN - meta.len() + 1)), None);
    }

    #[test]
    fn what_starts_like_a_page_looks_like_html() {
        for start in STARTS.iter().chain(["<!--"].iter()) {
            for after in [" ", ">", "\n"] {
                let page = format!("\u{FEFF} \r\n\t<!--x--> <!---->{}{after}", start.to_ascii_lowercase());
                assert!(looks_like_html(page.as_bytes()), "{page}");
            }
            assert!(!looks_like_html(format!("{start}x").as_bytes()));
            assert!(!looks_like_html(start.as_bytes()));
            assert!(!looks_like_html(format!("x{start}>").as_bytes()));
        }
        for other in ["", "<", "<?xml version='1.0'?><html>", "text", "<!--x", "<project >", "<!DOCTYPE svg>"]
        {
            assert!(!looks_like_html(other.as_bytes()), "{other}");
        }
    }
}
