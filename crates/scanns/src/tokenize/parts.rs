//! Filters that make several tokens of one word: n-grams, parts of identifiers, ancestors of a path.

use std::ops::Range;

use super::filter::TokenFilter;
use super::sink::TokenSink;
use crate::schema::Grams;
use crate::schema::MAX_TOKEN;

/// Makes n-grams of words.
pub(super) struct GramFilter {
    grams: Grams,
    /// True if the bytes of a word are the bytes of its source whenever both have the same length.
    in_place: bool,
}

impl GramFilter {
    pub(super) fn new(grams: Grams, in_place: bool) -> Self {
        GramFilter { grams, in_place }
    }
}

impl TokenFilter for GramFilter {
    /// Bytes that are not UTF-8 are kept: a byte that starts no character belongs to the character before.
    fn word<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        source: Range<usize>,
        sink: &mut S,
    ) {
        let (word, grams) = (&text[range], &self.grams);
        let starts = |at: &usize| word.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let next = |at: usize| (at + 1..=word.len()).find(starts);
        // Lower-casing may change the length of a word; then its n-grams have the whole word as their source.
        let unchanged = self.in_place && source.len() == word.len();
        let mut push = |gram: Range<usize>| {
            let of = source.start + gram.start..source.start + gram.end;
            sink.token(&word[gram], if unchanged { of } else { source.clone() });
        };
        if (0..grams.min()).try_fold(0, |at, _| next(at)).is_none() {
            return push(0..word.len());
        }
        let mut start = 0;
        loop {
            let mut end = start;
            for len in 1..=grams.max() {
                match next(end) {
                    Some(at) => end = at,
                    None if len <= grams.min() => return,
                    None => break,
                }
                if len >= grams.min() {
                    push(start..end);
                }
            }
            match next(start).filter(|&at| at < word.len() && !grams.edge()) {
                Some(at) => start = at,
                None => return,
            }
        }
    }
}

/// Makes an identifier and its parts, in lower case.
#[derive(Default)]
pub(super) struct Code {
    lower: Vec<u8>,
    parts: Vec<Range<usize>>,
}

/// The class of a character in an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Digit,
    /// Any other letter.
    Lower,
    Joint,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '_' => Class::Joint,
            _ if c.is_uppercase() => Class::Upper,
            _ if c.is_numeric() => Class::Digit,
            _ => Class::Lower,
        }
    }
}

/// The classes of ASCII characters.
static CLASSES: [Class; 128] = {
    let mut classes = [Class::Lower; 128];
    classes[b'_' as usize] = Class::Joint;
    let mut letter = b'A';
    while letter <= b'Z' {
        classes[letter as usize] = Class::Upper;
        letter += 1;
    }
    let mut digit = b'0';
    while digit <= b'9' {
        classes[digit as usize] = Class::Digit;
        digit += 1;
    }
    classes
};

impl TokenFilter for Code {
    fn word<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        source: Range<usize>,
        sink: &mut S,
    ) {
        let word = &text[range];
        if !word.is_ascii() {
            return self.foreign(word, source, sink);
        }
        self.lower.clear();
        self.lower.extend(word.iter().map(u8::to_ascii_lowercase));
        let classes = word.iter().map(|&byte| CLASSES[usize::from(byte & 0x7f)]).enumerate();
        find_parts(classes, word.len(), &mut self.parts);
        if self.parts.is_empty() {
            return;
        }
        let stands = |part: &Range<usize>| source.start + part.start..source.start + part.end;
        sink.token(&self.lower, stands(&(0..word.len())));
        if self.parts[0].len() < word.len() {
            // The first part has the position of the whole identifier.
            sink.shift(-1);
            self.parts.iter().for_each(|part| sink.token(&self.lower[part.clone()], stands(part)));
        }
    }
}

impl Code {
    /// Handles a word that is not all ASCII and may contain characters that do not belong to an identifier.
    #[cold]
    fn foreign<S: TokenSink + ?Sized>(&mut self, word: &[u8], source: Range<usize>, sink: &mut S) {
        let word = String::from_utf8_lossy(word);
        let unchanged = word.len() == source.len();
        let mut parts = std::mem::take(&mut self.parts);
        for identifier in word.split(|c: char| c != '_' && !c.is_alphanumeric()) {
            let start = source.start + (identifier.as_ptr().addr() - word.as_ptr().addr());
            let stands = |part: &Range<usize>| {
                if unchanged { start + part.start..start + part.end } else { source.clone() }
            };
            let classes = identifier.char_indices().map(|(at, c)| (at, Class::of(c)));
            find_parts(classes, identifier.len(), &mut parts);
            let whole = 0..identifier.len();
            if parts.is_empty() {
                continue;
            }
            let cut = self.push(identifier, stands(&whole), sink);
            // If it was cut, the first part might be the same term again, at the same position.
            if parts[0] != whole && !cut {
                sink.shift(-1);
                for part in &parts {
                    self.push(&identifier[part.clone()], stands(part), sink);
                }
            }
        }
        self.parts = parts;
    }

    /// Pushes a token in lower case; true if it was cut.
    fn push<S: TokenSink + ?Sized>(&mut self, token: &str, source: Range<usize>, sink: &mut S) -> bool {
        self.lower.clear();
        for c in token.chars().filter_map(|c| c.to_lowercase().next()) {
            self.lower.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        sink.token(&self.lower[..self.lower.len().min(MAX_TOKEN)], source);
        self.lower.len() > MAX_TOKEN
    }
}

/// Finds the parts of an identifier of `len` bytes. A part starts after `_` and at a capital that starts a
/// word.
///
/// A capital starts a word if the character before is not a capital, or if a small letter follows: `getURL`,
/// `HTTPServer`. Digits belong to the part before them.
fn find_parts(classes: impl Iterator<Item = (usize, Class)>, len: usize, parts: &mut Vec<Range<usize>>) {
    parts.clear();
    // Start of the current part, and the classes of the last two characters.
    let (mut start, mut before, mut before_that) = (0, Class::Joint, Class::Joint);
    let mut end_at = |start: usize, end: usize| {
        if start < end {
            parts.push(start..end);
        }
    };
    let mut last = 0;
    for (at, class) in classes {
        if before == Class::Joint {
            start = at;
        } else if class == Class::Joint || class == Class::Upper && before != Class::Upper {
            end_at(start, at);
            start = at;
        } else if class == Class::Lower && before == Class::Upper && before_that == Class::Upper {
            end_at(start, last);
            start = last;
        }
        (before_that, before, last) = (before, class, at);
    }
    if before != Class::Joint {
        end_at(start, len);
    }
}

/// Makes a path and the directories above it.
pub(super) struct Ancestors;

/// The maximum number of ancestors of a path that become terms; a deeper path only adds the path itself. The
/// terms of a line of only slashes and letters therefore do not exceed the memory of an index thread.
const MOST_ANCESTORS: usize = 128;

impl TokenFilter for Ancestors {
    fn word<S: TokenSink + ?Sized>(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        source: Range<usize>,
        sink: &mut S,
    ) {
        let path = &text[range];
        let whole = path.len() - path.iter().rev().take_while(|&&byte| byte == b'/').count();
        let ends = (1..whole).filter(|&at| path[at] == b'/' && path[at - 1] != b'/').take(MOST_ANCESTORS);
        for end in ends.chain((whole > 0).then_some(whole)) {
            sink.token(&path[..end], source.start..source.start + end);
        }
    }
}
