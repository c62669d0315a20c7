//! Character references: `&name;`, `&name`, `&#1;`, `&#x1;`.
//!
//! The names stand in `entities.txt`. A table of hashes finds a name. Only a name that ends with `;` can
//! be long, and it ends where its letters and digits end; the names that need no `;` have at most six
//! letters. So a reference costs at most six look-ups, and the text is never read twice for long.

use std::sync::LazyLock;

use memchr::memchr;

const NAMES_TEXT: &str = include_str!("entities.txt");
const SLOTS: usize = 8192;
const LONGEST_NAME: usize = 31;
const LONGEST_NAME_WITHOUT_SEMICOLON: usize = 6;
const SHORTEST_NAME: usize = 2;

/// What windows-1252 has at 0x80..0xA0; numbers in this range mean its characters.
const WINDOWS_1252: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

static NAMES: LazyLock<ReferenceNames> = LazyLock::new(|| ReferenceNames::parse(NAMES_TEXT));

/// Where a reference stands; in attributes, some names without `;` are not references.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferencePlace {
    Text,
    Attribute,
}

struct ReferenceName {
    name: &'static [u8],
    /// The characters in UTF-8.
    value: String,
    semicolon_optional: bool,
}

struct ReferenceNames {
    names: Vec<ReferenceName>,
    /// The number of a name plus one, at the hash of the name or after it; 0 is empty.
    slots: Vec<u16>,
}

impl ReferenceNames {
    fn parse(text: &'static str) -> ReferenceNames {
        let mut all = ReferenceNames { names: Vec::with_capacity(2200), slots: vec![0; SLOTS] };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let word = words.next().unwrap_or_default();
            let name = word.trim_end_matches('?');
            let value = words.filter_map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
            all.add(ReferenceName {
                name: name.as_bytes(),
                value: value.collect(),
                semicolon_optional: name != word,
            });
        }
        all
    }

    fn add(&mut self, name: ReferenceName) {
        let mut slot = slot_of(name.name);
        self.names.push(name);
        let number = u16::try_from(self.names.len()).unwrap_or(0);
        while self.slots.get(slot).is_some_and(|&taken| taken != 0) {
            slot = (slot + 1) % SLOTS;
        }
        if let Some(place) = self.slots.get_mut(slot) {
            *place = number;
        }
    }

    fn find(&self, name: &[u8]) -> Option<&ReferenceName> {
        let mut slot = slot_of(name);
        loop {
            let number = usize::from(*self.slots.get(slot)?);
            let found = self.names.get(number.checked_sub(1)?)?;
            if found.name == name {
                return Some(found);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

fn slot_of(name: &[u8]) -> usize {
    let hash = name
        .iter()
        .fold(0_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x9E37_79B1).rotate_left(9));
    (hash >> 16) as usize % SLOTS
}

/// The character of a name without `&` and `;`, if the name stands for one character.
pub fn character_of(name: &[u8]) -> Option<char> {
    let mut characters = NAMES.find(name)?.value.chars();
    let first = characters.next();
    first.filter(|_| characters.next().is_none())
}

/// Appends `bytes` with its references replaced.
pub(super) fn decode(bytes: &[u8], place: ReferencePlace, out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some((before, reference)) = memchr(b'&', rest).and_then(|at| rest.split_at_checked(at)) {
        out.extend_from_slice(before);
        let length = decode_reference(reference, place, out);
        rest = reference.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Appends the characters of the reference at the start of `bytes`, or the `&` there if it starts no
/// reference. Returns how many bytes that took.
pub(super) fn decode_reference(bytes: &[u8], place: ReferencePlace, out: &mut Vec<u8>) -> usize {
    let body = bytes.get(1..).unwrap_or_default();
    let length = match body.first() {
        Some(b'#') => decode_number(body, out),
        Some(byte) if byte.is_ascii_alphabetic() => decode_name(body, place, out),
        _ => None,
    };
    if length.is_none() {
        out.push(b'&');
    }
    1 + length.unwrap_or(0)
}

/// Appends the characters of the name at the start of `body`. Returns its length with the `;`.
fn decode_name(body: &[u8], place: ReferencePlace, out: &mut Vec<u8>) -> Option<usize> {
    let length = body.iter().take(LONGEST_NAME + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let (run, after) = body.split_at_checked(length)?;
    if after.first() == Some(&b';')
        && let Some(name) = NAMES.find(run)
    {
        put_characters(&name.value, out);
        return Some(length + 1);
    }
    let (name, length) = longest_without_semicolon(run)?;
    let next = body.get(length).copied().unwrap_or(b' ');
    if place == ReferencePlace::Attribute && (next == b'=' || next.is_ascii_alphanumeric()) {
        return None;
    }
    put_characters(&name.value, out);
    Some(length)
}

fn longest_without_semicolon(run: &[u8]) -> Option<(&'static ReferenceName, usize)> {
    (SHORTEST_NAME..=LONGEST_NAME_WITHOUT_SEMICOLON.min(run.len())).rev().find_map(|length| {
        let name = NAMES.find(run.get(..length)?)?;
        name.semicolon_optional.then_some((name, length))
    })
}

/// Appends the character of the number that `body` starts with, `#1;` or `#x1;`. Returns its length.
fn decode_number(body: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let (radix, start) = if matches!(body.get(1), Some(b'x' | b'X')) { (16, 2) } else { (10, 1) };
    let mut value = 0_u32;
    let mut at = start;
    while let Some(digit) = body.get(at).and_then(|&byte| char::from(byte).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    put_characters(character(value).encode_utf8(&mut [0; 4]), out);
    Some(at + usize::from(body.get(at) == Some(&b';')))
}

/// Appends what a reference stands for. A soft hyphen only says where a word may be divided.
fn put_characters(characters: &str, out: &mut Vec<u8>) {
    if characters != "\u{ad}" {
        out.extend_from_slice(characters.as_bytes());
    }
}

fn character(value: u32) -> char {
    numbered_character(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The character that a number stands for: `&#150;` is a dash, since numbers from 128 to 159 mean characters
/// of windows-1252. `None` for 0 and for what is not a character.
pub fn numbered_character(value: u32) -> Option<char> {
    let value = match value {
        0 => return None,
        0x80..0xA0 => {
            WINDOWS_1252.get(value as usize - 0x80).map_or(value, |&character| u32::from(character))
        }
        _ => value,
    };
    char::from_u32(value)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn text(bytes: &str) -> String {
        decoded(bytes, ReferencePlace::Text)
    }

    fn decoded(bytes: &str, place: ReferencePlace) -> String {
        let mut out = Vec::new();
        decode(bytes.as_bytes(), place, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_name_of_the_file_is_found() {
        assert_eq!(NAMES.names.len(), 2125);
        for name in &NAMES.names {
            let word = std::str::from_utf8(name.name).unwrap();
            let value = name.value.replace('\u{ad}', "");
            assert_eq!(text(&format!("a&{word};b")), format!("a{value}b"), "{word}");
            if name.semicolon_optional {
                assert_eq!(text(&format!("a&{word} b")), format!("a{value} b"), "{word}");
            }
        }
    }

    #[test]
    fn the_limits_on_lengths_are_those_of_the_names() {
        let lengths = || NAMES.names.iter().map(|name| name.name.len());
        let legacy = NAMES.names.iter().filter(|name| name.semicolon_optional).map(|name| name.name.len());
        assert_eq!(lengths().max(), Some(LONGEST_NAME));
        assert_eq!(lengths().min(), Some(SHORTEST_NAME));
        assert_eq!(legacy.clone().max(), Some(LONGEST_NAME_WITHOUT_SEMICOLON));
        assert_eq!(legacy.count(), 106);
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(text("&notit; &notin; &not; &noti &ampamp; &AMPx"), "¬it; ∉ ¬ ¬i &amp; &x");
        assert_eq!(text("&CounterClockwiseContourIntegral; &CounterClockwiseContourIntegral"), {
            "∳ &CounterClockwiseContourIntegral"
        });
    }

    #[test]
    fn in_attributes_a_name_before_an_equals_sign_or_a_letter_is_text() {
        assert_eq!(decoded("?a&lt=1&ltx&lt;x&lt&amp", ReferencePlace::Attribute), "?a&lt=1&ltx<x<&");
        assert_eq!(text("?a&lt=1&ltx"), "?a<=1<x");
    }

    #[test]
    fn numbers_are_mended_as_the_standard_says() {
        assert_eq!(text("&#65;&#x42;&#X43 &#128;&#x9f;&#x81;"), "ABC €\u{178}\u{81}");
        assert_eq!(text("&#0;&#xD800;&#x110000;&#99999999999999;"), "\u{FFFD}".repeat(4));
        assert_eq!(text("&#;&#x;&#xg&# &&;"), "&#;&#x;&#xg&# &&;");
        assert_eq!(text("&#x10FFFF;&#xA0;"), "\u{10FFFF}\u{A0}");
    }

    #[test]
    fn the_file_has_the_names_of_python() {
        let program = "import html.entities as e\nfor k, v in e.html5.items(): print(k, *map(ord, v))";
        let Ok(output) = Command::new("python3").args(["-c", program]).output() else {
            println!("SKIPPED: there is no python3");
            return;
        };
        let output = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.lines().count(), 2125 + 106);
        for line in output.lines() {
            let mut words = line.split(' ');
            let word = words.next().unwrap();
            let value: String = words.map(|code| char::from_u32(code.parse().unwrap()).unwrap()).collect();
            let name = NAMES.find(word.trim_end_matches(';').as_bytes()).unwrap();
            assert_eq!(name.value, value, "{word}");
            assert!(word.ends_with(';') || name.semicolon_optional, "{word}");
        }
    }
}
