//! Tokenizers for tantivy that find the tokens of scanns and Lucene: `standard`, `english` and `code`.
//!
//! tantivy's own `SimpleTokenizer` and stemmers find other terms. Words are those of UAX #29, from the crate
//! `unicode-segmentation`. That crate looks every character up in tables, which would hold tantivy back, so
//! ASCII, which is nearly all of most text, takes a fast path with the same result: bytes are classified by a
//! table, and only the few bytes that may join two words are looked at closely. Text that is not ASCII is
//! taken from white space to white space. Porter's stemmer and the stop words are scanns' own, with its
//! memory of frequent words, so that the same terms are compared and tantivy is not held back by a slow one.

use std::ops::Range;

use scanns::analysis::{TokenSink, Tokenizer as Scanns};
use scanns::schema::Analyzer;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_segmentation::{UWordBounds, UnicodeSegmentation};

use crate::parts::{find_parts, identifier};
use crate::terms::LONGEST;

/// The steps that `english` applies to a word in lower case.
const ENGLISH: &str = "keyword | possessive | stop:english | porter";

/// What a tokenizer makes of words.
enum Kind {
    Standard,
    English(Box<Scanns>, Analyzer),
    Code,
}

/// A tokenizer for words. It reuses one token.
pub struct Words {
    kind: Kind,
    token: Token,
    /// The word before its stemmer.
    word: String,
    /// Places of the parts of an identifier that are still to be returned, the last first.
    parts: Vec<Range<usize>>,
    /// True if the next part has the position of the previous token.
    same_position: bool,
}

impl Words {
    /// The tokens of `standard`.
    pub fn standard() -> Self {
        Self::of(Kind::Standard)
    }

    /// The tokens of `english`.
    ///
    /// # Errors
    /// If scanns does not know one of its steps.
    pub fn english() -> scanns::Result<Self> {
        Ok(Self::stemming(Analyzer::parse(ENGLISH)?))
    }

    /// The tokens of `code`.
    pub fn code() -> Self {
        Self::of(Kind::Code)
    }

    fn stemming(steps: Analyzer) -> Self {
        Self::of(Kind::English(Box::new(Scanns::new(&steps)), steps))
    }

    fn of(kind: Kind) -> Self {
        let (word, parts) = (String::new(), Vec::new());
        Words { kind, token: Token::default(), word, parts, same_position: false }
    }
}

impl Clone for Words {
    fn clone(&self) -> Self {
        match &self.kind {
            Kind::Standard => Self::standard(),
            Kind::Code => Self::code(),
            Kind::English(_, steps) => Self::stemming(steps.clone()),
        }
    }
}

impl Tokenizer for Words {
    type TokenStream<'a> = Found<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Found<'a> {
        self.token.reset();
        self.parts.clear();
        Found { source: Source { text, at: 0, ascii: 0, foreign: None }, words: self }
    }
}

/// The tokens of one text.
pub struct Found<'a> {
    words: &'a mut Words,
    source: Source<'a>,
}

impl TokenStream for Found<'_> {
    fn advance(&mut self) -> bool {
        let words = &mut *self.words;
        match &mut words.kind {
            Kind::Standard => {
                let Some(place) = self.source.word() else { return false };
                words.token.position = words.token.position.wrapping_add(1);
                lower(&self.source.text[place.clone()], &mut words.token.text);
                stand(&mut words.token, place);
                true
            }
            Kind::English(steps, _) => {
                while let Some(place) = self.source.word() {
                    words.token.position = words.token.position.wrapping_add(1);
                    lower(&self.source.text[place.clone()], &mut words.word);
                    words.token.text.clear();
                    if stem(steps, &mut words.word, &mut words.token.text) {
                        stand(&mut words.token, place);
                        return true;
                    }
                }
                false
            }
            Kind::Code => self.part(),
        }
    }

    fn token(&self) -> &Token {
        &self.words.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.words.token
    }
}

impl Found<'_> {
    /// Returns the next part of an identifier, or the next identifier.
    fn part(&mut self) -> bool {
        let words = &mut *self.words;
        if let Some(part) = words.parts.pop() {
            if !std::mem::take(&mut words.same_position) {
                words.token.position = words.token.position.wrapping_add(1);
            }
            lower(&self.source.text[part.clone()], &mut words.token.text);
            stand(&mut words.token, part);
            return true;
        }
        while let Some(place) = identifier(self.source.text, self.source.at) {
            self.source.at = place.end;
            find_parts(self.source.text, place.clone(), &mut words.parts);
            let Some(first) = words.parts.first() else { continue };
            if first.len() == place.len() {
                words.parts.clear();
            } else {
                words.parts.reverse();
                words.same_position = true;
            }
            words.token.position = words.token.position.wrapping_add(1);
            lower(&self.source.text[place.clone()], &mut words.token.text);
            stand(&mut words.token, place);
            return true;
        }
        false
    }
}

/// Writes `text` in lower case, one character for one.
fn lower(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.extend(text.chars().filter_map(|c| c.to_lowercase().next()));
    }
}

/// Finishes a token of the text at `place`.
fn stand(token: &mut Token, place: Range<usize>) {
    if token.text.len() > LONGEST {
        let cut = (0..=LONGEST).rev().find(|&at| token.text.is_char_boundary(at)).unwrap_or(0);
        token.text.truncate(cut);
    }
    (token.offset_from, token.offset_to) = (place.start, place.end);
}

/// Applies the steps of `english`; false if the word was removed.
fn stem(steps: &mut Scanns, word: &mut String, out: &mut String) -> bool {
    let mut bytes = std::mem::take(word).into_bytes();
    let all = 0..bytes.len();
    steps.run(&mut bytes, all, &mut Only(out));
    *word = String::from_utf8(bytes).unwrap_or_default();
    !out.is_empty()
}

/// Takes the only token of a word.
struct Only<'a>(&'a mut String);

impl TokenSink for Only<'_> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        if let [start, end] = *bounds {
            self.token(&text[base + usize::from(start)..base + usize::from(end)], 0..0);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.0.push_str(&String::from_utf8_lossy(token));
    }
}

/// Finds the words of a text.
struct Source<'a> {
    text: &'a str,
    at: usize,
    /// Where the ASCII text that may be taken alone ends.
    ascii: usize,
    /// The end of the text that is not ASCII, and the pieces that are left of it.
    foreign: Option<(usize, UWordBounds<'a>)>,
}

impl Source<'_> {
    fn word(&mut self) -> Option<Range<usize>> {
        loop {
            if let Some((end, pieces)) = &mut self.foreign {
                for piece in pieces {
                    let start = self.at;
                    self.at += piece.len();
                    if is_word(piece) {
                        return Some(start..self.at);
                    }
                }
                self.at = *end;
                self.foreign = None;
            }
            if self.at < self.ascii {
                if let Some(found) = ascii_word(self.text.as_bytes(), self.at, self.ascii) {
                    self.at = found.end;
                    return Some(found);
                }
                self.at = self.ascii;
            }
            if self.at == self.text.len() {
                return None;
            }
            self.look();
        }
    }

    /// Finds where ASCII text ends, and the stretch that is not ASCII if there is none.
    fn look(&mut self) {
        let bytes = self.text.as_bytes();
        let other = bytes[self.at..].iter().position(|byte| !byte.is_ascii());
        let Some(other) = other.map(|other| self.at + other) else {
            self.ascii = bytes.len();
            return;
        };
        // A mark may belong to the white space before it, which is part of the stretch therefore.
        let blank = bytes[self.at..other].iter().rposition(|&byte| byte == b' ' || byte == b'\n');
        self.ascii = self.at + blank.unwrap_or(0);
        if self.ascii > self.at {
            return;
        }
        let ends = |at: &usize| {
            (bytes[*at] == b' ' || bytes[*at] == b'\n') && bytes.get(at + 1).is_none_or(u8::is_ascii)
        };
        let end = (other..bytes.len()).find(ends).unwrap_or(bytes.len());
        self.foreign = Some((end, self.text[self.at..end].split_word_bounds()));
    }
}

/// True if a piece between two word boundaries is a word: it has a letter or a decimal digit. Numbers such as
/// `½` and `²` are no letters to UAX #29.
fn is_word(piece: &str) -> bool {
    let odd = |c: char| matches!(c, '\u{b2}'..='\u{be}' | '\u{2070}'..='\u{2bff}' | '\u{3190}'..='\u{33ff}');
    piece.chars().any(|c| c.is_alphabetic() || c.is_numeric() && !odd(c))
}

/// The class of a byte: letter, digit, joint, joiner of letters, of digits, of both, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Underscore,
    JoinsLetters,
    JoinsDigits,
    JoinsBoth,
    Other,
}

const CLASSES: [Class; 128] = {
    let mut table = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "less than 128")]
        let one = byte as u8;
        table[byte] = match one {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            b':' => Class::JoinsLetters,
            b',' | b';' => Class::JoinsDigits,
            b'.' | b'\'' => Class::JoinsBoth,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// The first word of `text[at..end]`, which is ASCII.
fn ascii_word(text: &[u8], mut at: usize, end: usize) -> Option<Range<usize>> {
    let class = |at: usize| if at < end { CLASSES[usize::from(text[at] & 127)] } else { Class::Other };
    while at < end {
        let mut only_joints = true;
        let start = at;
        while at < end {
            match class(at) {
                Class::Letter | Class::Digit => only_joints = false,
                Class::Underscore => {}
                Class::Other => break,
                joiner => {
                    let (before, after) =
                        (if at > start { class(at - 1) } else { Class::Other }, class(at + 1));
                    let letters = (before, after) == (Class::Letter, Class::Letter);
                    let digits = (before, after) == (Class::Digit, Class::Digit);
                    if !(letters && joiner != Class::JoinsDigits || digits && joiner != Class::JoinsLetters) {
                        break;
                    }
                }
            }
            at += 1;
        }
        if at > start && !only_joints {
            return Some(start..at);
        }
        at = at.max(start + 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &mut Words, text: &str) -> Vec<(usize, String)> {
        let mut stream = words.token_stream(text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().position, stream.token().text.clone()));
        }
        found
    }

    fn of_scanns(analyzer: &str, text: &str) -> Vec<(usize, String)> {
        let mut tokenizer = Scanns::new(&Analyzer::parse(analyzer).unwrap());
        let terms = tokenizer.placed_terms(&mut text.as_bytes().to_vec());
        let text = |term: Vec<u8>| String::from_utf8(term).unwrap();
        terms.into_iter().map(|(at, term)| (usize::try_from(at).unwrap(), text(term))).collect()
    }

    #[test]
    fn tokens_are_those_of_scanns() {
        // Without Hebrew: Lucene and scanns keep a digit after a letter and `'` in one word, the crate does
        // not.
        let alphabet = [
            "a",
            "B",
            "Cd",
            "1",
            "_",
            ".",
            ":",
            ",",
            ";",
            "'",
            "'s ",
            " ",
            "\n",
            "é",
            "Ж",
            "日",
            "カ",
            "²",
            "½",
            "the ",
            "running",
            "HTTPServer",
            "camelCase",
            "/",
            "-",
            "\u{301}",
            "的",
        ];
        let mut state = 7u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]);
            }
            for (name, mut words) in [
                ("standard", Words::standard()),
                ("english", Words::english().unwrap()),
                ("code", Words::code()),
            ] {
                assert_eq!(found(&mut words, &text), of_scanns(name, &text), "{name} of {text:?}");
            }
        }
    }
}
