//! JSON as a stream of tokens, in little memory.
//!
//! Strings are decoded only where a caller asks for them, up to a number of bytes, and passed over otherwise,
//! so an image of any size takes no memory. Depth is limited. The reader is lenient where writers are: `NaN`,
//! control characters in strings, invalid UTF-8 and halves of surrogate pairs do not stop it. Numbers are not
//! checked. Bytes after the first value are not read.

use std::io::BufRead;

use crate::error::ExtractError;

/// Deeper values are an error.
const MOST_DEPTH: usize = 512;
/// What stands for half of a surrogate pair.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A token of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonToken {
    /// The start of an object.
    Object,
    /// The start of an array.
    Array,
    /// The end of an object or array.
    Close,
    /// A key. [`JsonTokens::string`] reads it.
    Key,
    /// A string. [`JsonTokens::string`] reads it.
    String,
    /// A number, `true`, `false` or `null`.
    Word,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedNext {
    Value,
    /// A value, or the end of an empty array.
    FirstValue,
    /// A key, or the end of an empty object.
    FirstKey,
    Colon,
    /// A comma, or the end of the object or array.
    Comma,
}

/// Reads tokens.
pub(super) struct JsonTokens<S> {
    source: S,
    format: &'static str,
    /// The objects (true) and arrays around the current place.
    around: Vec<bool>,
    expected: ExpectedNext,
    /// Whether the opening quote of a string was just read.
    in_string: bool,
    /// The offset of the next byte.
    at: u64,
}

impl<S: BufRead> JsonTokens<S> {
    /// Reads `source`. Errors name `format`.
    pub(super) fn new(source: S, format: &'static str) -> Self {
        Self { source, format, around: Vec::new(), expected: ExpectedNext::Value, in_string: false, at: 0 }
    }

    /// The next token. A string that was not read is passed over.
    ///
    /// # Errors
    /// The bytes are not JSON, end too early, or are nested too deep; or they cannot be read.
    pub(super) fn next(&mut self) -> Result<JsonToken, ExtractError> {
        if self.in_string {
            self.string(&mut Vec::new(), 0)?;
        }
        let mut byte = self.visible()?;
        if self.expected == ExpectedNext::Colon {
            if byte != b':' {
                return Err(self.damaged("expected a colon"));
            }
            self.expected = ExpectedNext::Value;
            byte = self.visible()?;
        }
        let is_object = self.around.last().copied();
        match (self.expected, byte, is_object) {
            (ExpectedNext::Comma, b',', Some(true)) => {
                byte = self.visible()?;
                self.key(byte)
            }
            (ExpectedNext::Comma, b',', Some(false)) => {
                byte = self.visible()?;
                self.value(byte)
            }
            (ExpectedNext::Comma | ExpectedNext::FirstKey, b'}', Some(true))
            | (ExpectedNext::Comma | ExpectedNext::FirstValue, b']', Some(false)) => {
                self.around.pop();
                self.expected = ExpectedNext::Comma;
                Ok(JsonToken::Close)
            }
            (ExpectedNext::Comma, ..) => Err(self.damaged("expected a comma")),
            (ExpectedNext::FirstKey, ..) => self.key(byte),
            _ => self.value(byte),
        }
    }

    fn key(&mut self, byte: u8) -> Result<JsonToken, ExtractError> {
        if byte != b'"' {
            return Err(self.damaged("expected a key"));
        }
        self.in_string = true;
        self.expected = ExpectedNext::Colon;
        Ok(JsonToken::Key)
    }

    fn value(&mut self, byte: u8) -> Result<JsonToken, ExtractError> {
        self.expected = ExpectedNext::Comma;
        match byte {
            b'{' | b'[' => {
                if self.around.len() >= MOST_DEPTH {
                    return Err(self.damaged("nested too deep"));
                }
                self.around.push(byte == b'{');
                self.expected = if byte == b'{' { ExpectedNext::FirstKey } else { ExpectedNext::FirstValue };
                Ok(if byte == b'{' { JsonToken::Object } else { JsonToken::Array })
            }
            b'"' => {
                self.in_string = true;
                Ok(JsonToken::String)
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_word()?;
                Ok(JsonToken::Word)
            }
            _ => Err(self.damaged("expected a value")),
        }
    }

    /// Passes over the value that `first` begins.
    ///
    /// # Errors
    /// As for [`JsonTokens::next`].
    pub(super) fn skip(&mut self, first: JsonToken) -> Result<(), ExtractError> {
        if !matches!(first, JsonToken::Object | JsonToken::Array) {
            return Ok(());
        }
        let outside = self.around.len().saturating_sub(1);
        while self.around.len() > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Appends the string or key of the last token to `text`, which grows to at most `most` bytes, and
    /// returns false if some of it did not fit. The bytes may not be UTF-8.
    ///
    /// # Errors
    /// An escape is unknown, or the bytes end; or they cannot be read.
    pub(super) fn string(&mut self, text: &mut Vec<u8>, most: usize) -> Result<bool, ExtractError> {
        if !std::mem::take(&mut self.in_string) {
            return Ok(true);
        }
        let mut fits = true;
        let mut high = None;
        loop {
            let plain = self.plain(|bytes| {
                if high.take_if(|_| !bytes.is_empty()).is_some() {
                    fits &= append_char(text, REPLACEMENT, most);
                }
                fits &= append(text, bytes, most);
            })?;
            if plain {
                continue;
            }
            if self.byte()? == b'"' {
                return Ok(if high.is_some() { append_char(text, REPLACEMENT, most) && fits } else { fits });
            }
            let (first, second) = match (self.escape()?, high.take()) {
                (JsonEscape::Unit(low @ 0xdc00..=0xdfff), Some(high)) => (None, pair(high, low)),
                (JsonEscape::Unit(unit @ 0xd800..=0xdbff), before) => {
                    high = Some(unit);
                    (before.map(|_| REPLACEMENT), None)
                }
                (JsonEscape::Unit(unit), before) => {
                    let letter = char::from_u32(u32::from(unit)).unwrap_or(REPLACEMENT);
                    (before.map(|_| REPLACEMENT), Some(letter))
                }
                (JsonEscape::Letter(letter), before) => (before.map(|_| REPLACEMENT), Some(letter)),
            };
            for letter in first.into_iter().chain(second) {
                fits &= append_char(text, letter, most);
            }
        }
    }

    /// Calls `each` with the bytes of a string up to the next quote or backslash, as far as they are
    /// buffered. Returns false if a quote or backslash is next.
    fn plain(&mut self, each: impl FnOnce(&[u8])) -> Result<bool, ExtractError> {
        let buffer = self.source.fill_buf()?;
        let is_end = buffer.is_empty();
        let len = buffer.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(buffer.len());
        each(buffer.get(..len).unwrap_or_default());
        self.consume(len);
        if is_end {
            return Err(self.ended());
        }
        Ok(len > 0)
    }

    /// The escape after a backslash.
    fn escape(&mut self) -> Result<JsonEscape, ExtractError> {
        Ok(JsonEscape::Letter(match self.byte()? {
            letter @ (b'"' | b'\\' | b'/') => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut unit = 0_u16;
                for _ in 0..4 {
                    let digit =
                        char::from(self.byte()?).to_digit(16).and_then(|digit| u16::try_from(digit).ok());
                    let Some(digit) = digit else { return Err(self.damaged("expected four hex digits")) };
                    unit = unit << 4 | digit;
                }
                return Ok(JsonEscape::Unit(unit));
            }
            _ => return Err(self.damaged("unknown escape")),
        }))
    }

    /// Passes over the rest of a number or word.
    fn skip_word(&mut self) -> Result<(), ExtractError> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        loop {
            let buffer = self.source.fill_buf()?;
            let len = buffer.iter().position(|byte| !is_part(byte));
            let done = len.is_some() || buffer.is_empty();
            let len = len.unwrap_or(buffer.len());
            self.consume(len);
            if done {
                return Ok(());
            }
        }
    }

    /// The next byte that is not white space.
    fn visible(&mut self) -> Result<u8, ExtractError> {
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.ended());
            }
            let found = buffer.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            let byte = found.and_then(|at| buffer.get(at).copied());
            let len = found.map_or(buffer.len(), |at| at + 1);
            self.consume(len);
            if let Some(byte) = byte {
                return Ok(byte);
            }
        }
    }

    fn byte(&mut self) -> Result<u8, ExtractError> {
        match self.source.fill_buf()?.first().copied() {
            Some(byte) => {
                self.consume(1);
                Ok(byte)
            }
            None => Err(self.ended()),
        }
    }

    fn consume(&mut self, len: usize) {
        self.source.consume(len);
        self.at += u64::try_from(len).unwrap_or(0);
    }

    fn ended(&self) -> ExtractError {
        ExtractError::damaged(self.format, format!("the file ends at byte {}, inside a value", self.at))
    }

    /// An error about the last byte read.
    fn damaged(&self, what: &str) -> ExtractError {
        ExtractError::damaged(self.format, format!("{what} at byte {}", self.at.saturating_sub(1)))
    }
}

/// What an escape stands for: a character, or a unit of UTF-16.
enum JsonEscape {
    Letter(char),
    Unit(u16),
}

/// The character of a surrogate pair.
fn pair(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next().and_then(Result::ok)
}

/// Appends as many bytes as fit, and says whether all did.
fn append(text: &mut Vec<u8>, bytes: &[u8], most: usize) -> bool {
    let room = most.saturating_sub(text.len());
    text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    bytes.len() <= room
}

fn append_char(text: &mut Vec<u8>, letter: char, most: usize) -> bool {
    append(text, letter.encode_utf8(&mut [0; 4]).as_bytes(), most)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// All tokens of a text, with the strings, read through a buffer of `size` bytes.
    fn tokens(text: &[u8], size: usize) -> Result<Vec<String>, ExtractError> {
        let mut tokens = JsonTokens::new(BufReader::with_capacity(size, text), "JSON");
        let mut found = Vec::new();
        loop {
            let token = tokens.next()?;
            let mut string = Vec::new();
            tokens.string(&mut string, 100)?;
            found.push(format!("{token:?} {}", String::from_utf8_lossy(&string)));
            if tokens.around.is_empty() {
                return Ok(found);
            }
        }
    }

    #[test]
    fn tokens_do_not_depend_on_the_buffer() {
        let text = "{\"a\" : [1, -2.5e+7,\t\"x\\n\\u00e9\\ud83d\\ude00\\ud83d\u{e9}\\udc00\"], \
            \"\": {}, \"b\": [], \
            \"c\": NaN}";
        let expected = [
            "Object ",
            "Key a",
            "Array ",
            "Word ",
            "Word ",
            "String x\n\u{e9}\u{1f600}\u{fffd}\u{e9}\u{fffd}",
            "Close ",
            "Key ",
            "Object ",
            "Close ",
            "Key b",
            "Array ",
            "Close ",
            "Key c",
            "Word ",
            "Close ",
        ];
        for size in 1..80 {
            assert_eq!(tokens(text.as_bytes(), size).unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{1:2}",
            "[1 2]",
            "[1}",
            "{\"a\":1]",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "]",
            "}",
            ":",
            "[\"a\":1]",
            "{\"a\" 1}",
        ] {
            assert!(tokens(text.as_bytes(), 7).is_err(), "{text}");
        }
        let deep = "[".repeat(1_000_000);
        let error = tokens(deep.as_bytes(), 1 << 16).unwrap_err().to_string();
        assert_eq!(error, "damaged JSON: nested too deep at byte 512");
    }

    #[test]
    fn a_string_keeps_only_what_fits() {
        let text = format!("[\"{}\", 1]", "a\\u00e9".repeat(100_000));
        let mut tokens = JsonTokens::new(text.as_bytes(), "JSON");
        tokens.next().unwrap();
        tokens.next().unwrap();
        let mut string = b"b".to_vec();
        assert!(!tokens.string(&mut string, 10).unwrap());
        assert_eq!((string.len(), tokens.next().unwrap()), (10, JsonToken::Word));
    }
}
