//! Character entities of SGML collections and of dumps of wikis: `&name;`, `&#number;`, `&#xnumber;`.
//!
//! The names are those of HTML (`content/html/entities.rs`) that stand for one character, and numbers from
//! 128 to 159 mean characters of windows-1252, as in HTML. The DTDs of the TREC disks have some names of
//! their own, which [`sgml_entity_at`] reads as well.

use crate::content::html::{character_of, numbered_character};
use crate::record::corpus::latin1::push_char;

/// The longest text between `&` and `;`: the longest name of HTML.
const NAME_MAX: usize = 31;

/// Names of the DTDs of the TREC disks that HTML does not have, or that stand for plainer characters there.
const SGML_NAMES: [(&[u8], char); 7] = [
    (b"hyph", '-'),
    (b"hyphen", '-'),
    (b"dash", '-'),
    (b"blank", ' '),
    (b"ensp", ' '),
    (b"emsp", ' '),
    (b"thinsp", ' '),
];

/// Accents that the DTDs put behind any letter.
const ACCENTS: [&[u8]; 8] = [b"acute", b"grave", b"circ", b"uml", b"tilde", b"cedil", b"ring", b"caron"];

/// The letters with accents that windows-1252 has beside those of Latin-1.
const WINDOWS_LETTERS: [char; 5] = ['Š', 'š', 'Ž', 'ž', 'Ÿ'];

/// What an `&` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A character, and the length of the entity with `&` and `;`.
    Known(char, usize),
    /// An entity with an unknown name or number, and its length.
    Unknown(usize),
    /// Text.
    No,
}

/// Reads the entity that `bytes` begin with.
pub fn entity_at(bytes: &[u8]) -> Entity {
    entity_with(bytes, character_of)
}

/// Like [`entity_at`], with the names of the DTDs of TREC. An accent on a letter gives the letter, unless
/// windows-1252 has the letter with the accent.
pub fn sgml_entity_at(bytes: &[u8]) -> Entity {
    entity_with(bytes, sgml_character_of)
}

fn entity_with(bytes: &[u8], named: fn(&[u8]) -> Option<char>) -> Entity {
    let name = bytes.get(1..).unwrap_or_default();
    let Some(end) = name.iter().take(NAME_MAX + 1).position(|byte| *byte == b';') else {
        return Entity::No;
    };
    let Some(name) = name.get(..end).filter(|name| is_entity_name(name)) else {
        return Entity::No;
    };
    let letter = name.strip_prefix(b"#").map_or_else(|| named(name), numbered);
    letter.map_or(Entity::Unknown(end + 2), |letter| Entity::Known(letter, end + 2))
}

fn is_entity_name(name: &[u8]) -> bool {
    let body = name.strip_prefix(b"#").unwrap_or(name);
    !body.is_empty() && body.iter().all(u8::is_ascii_alphanumeric)
}

fn sgml_character_of(name: &[u8]) -> Option<char> {
    if let Some(own) = SGML_NAMES.iter().find(|own| own.0 == name) {
        return Some(own.1);
    }
    let plain = name
        .split_first()
        .filter(|(letter, accent)| letter.is_ascii_alphabetic() && ACCENTS.contains(accent));
    let character = character_of(name);
    match plain {
        Some((&letter, _)) => {
            let is_kept = |&letter: &char| letter <= '\u{ff}' || WINDOWS_LETTERS.contains(&letter);
            character.filter(is_kept).or(Some(char::from(letter)))
        }
        None => character,
    }
}

fn numbered(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    numbered_character(number)
}

/// Appends `bytes` with the entities of XML and numbers replaced; other entities stay.
/// Returns whether all `&` began such an entity.
pub fn push_xml_text(bytes: &[u8], into: &mut Vec<u8>) -> bool {
    let mut all_known = true;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (text, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
        into.extend_from_slice(text);
        let length = if let Entity::Known(letter, length) = entity_at(after) {
            push_char(letter, into);
            length
        } else {
            all_known = false;
            into.push(b'&');
            1
        };
        rest = after.get(length..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
    all_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_html_and_some_of_trec() {
        for (text, html, sgml) in [
            ("&eacute;", Some('é'), Some('é')),
            ("&scaron;", Some('š'), Some('š')),
            ("&racute;", Some('ŕ'), Some('r')),
            ("&xcirc;", Some('◯'), Some('x')),
            ("&qacute;", None, Some('q')),
            ("&hyph;", None, Some('-')),
            ("&dash;", Some('‐'), Some('-')),
            ("&blank;", Some('␣'), Some(' ')),
            ("&cir;", Some('○'), Some('○')),
            ("&CounterClockwiseContourIntegral;", Some('∳'), Some('∳')),
            // Two characters.
            ("&NotEqualTilde;", None, None),
            ("&#x42;", Some('B'), Some('B')),
            ("&#0;", None, None),
            ("&#xd800;", None, None),
            ("&#127;", Some('\u{7f}'), Some('\u{7f}')),
            ("&#128;", Some('€'), Some('€')),
            ("&#150;", Some('–'), Some('–')),
            ("&#x92;", Some('’'), Some('’')),
            ("&#159;", Some('Ÿ'), Some('Ÿ')),
            // Not in windows-1252.
            ("&#129;", Some('\u{81}'), Some('\u{81}')),
            ("&#160;", Some('\u{a0}'), Some('\u{a0}')),
        ] {
            let expected = |letter: Option<char>| {
                letter.map_or(Entity::Unknown(text.len()), |letter| Entity::Known(letter, text.len()))
            };
            assert_eq!(entity_at(text.as_bytes()), expected(html), "{text}");
            assert_eq!(sgml_entity_at(text.as_bytes()), expected(sgml), "{text}");
        }
        for text in ["&amp", "&;", "& a;", "&a b;", "&CounterClockwiseContourIntegrals;"] {
            assert_eq!(sgml_entity_at(text.as_bytes()), Entity::No, "{text}");
        }
    }
}
