//! A scanner for JSON whose strings are bytes.
//!
//! Exports of ncdu contain names as they stand in the file system, so they are not always UTF-8. The scanner
//! never recurses and stores nothing but the string that it is asked for.

use crate::record::dump::input::{DumpInput, Halt};

/// The greatest number of bytes of a string that are kept.
const LONGEST: usize = 1 << 20;

/// The fault of a longer string.
const TOO_LONG: JsonFault = "a name or text is longer than 1 MiB";

/// What is wrong with a string that was read to its end.
pub(super) type JsonFault = &'static str;

/// A number of JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonNumber {
    negative: bool,
    /// The digits before the point; `None` if they exceed 64 bits or if there is an exponent.
    whole: Option<u64>,
    /// The first nine digits after the point.
    nanoseconds: i64,
}

impl JsonNumber {
    /// Its value, if it is a whole number from 0 that fits.
    pub fn unsigned(self) -> Option<u64> {
        self.whole.filter(|whole| self.nanoseconds == 0 && (!self.negative || *whole == 0))
    }

    /// Its value as seconds, in nanoseconds, if the seconds fit. ncdu 1 writes seconds before 1970 without a
    /// sign, as two's complements; those of the 34,000 years before are recognized.
    pub fn seconds(self) -> Option<i64> {
        const FIRST: u64 = (1_u64 << 40).wrapping_neg();
        let whole = match self.whole? {
            whole @ FIRST.. if !self.negative => whole.cast_signed(),
            whole => i64::try_from(whole).ok()?,
        };
        let sign = if self.negative { -1 } else { 1 };
        Some(crate::source::nanoseconds(sign * whole, sign * self.nanoseconds))
    }
}

/// The JSON of an export.
pub(super) struct JsonBytes<'i> {
    pub input: DumpInput<'i>,
}

impl JsonBytes<'_> {
    /// The next byte that is not white space, which stays.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, Halt> {
        loop {
            match self.input.peek()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.input.advance(1),
                byte => return Ok(byte),
            }
        }
    }

    /// Reads `byte`, which has to be the next byte that is not white space.
    pub fn expect(&mut self, byte: u8, what: &str) -> Result<(), Halt> {
        if self.peek()? != byte {
            return Err(self.unexpected(what));
        }
        self.input.advance(1);
        Ok(())
    }

    /// Reads over `byte` if it is next; says whether it was.
    pub fn accept(&mut self, byte: u8) -> Result<bool, Halt> {
        let found = self.peek()? == byte;
        self.input.advance(usize::from(found));
        Ok(found)
    }

    /// The error for a next byte that should begin `what`.
    #[cold]
    pub fn unexpected(&mut self, what: &str) -> Halt {
        let offset = self.input.offset();
        match self.input.peek() {
            Ok(found) => {
                Halt::invalid(offset, format_args!("expected {what}, found '{}'", found.escape_ascii()))
            }
            Err(halt) => halt,
        }
    }

    /// Reads a string into `into`. A string that is damaged or longer than 1 MiB is read to its end, too.
    pub fn string(&mut self, into: &mut Vec<u8>) -> Result<Result<(), JsonFault>, Halt> {
        self.expect(b'"', "a string in double quotes")?;
        into.clear();
        let mut fault = Ok(());
        loop {
            let rest = self.input.rest()?;
            let end = memchr::memchr2(b'"', b'\\', rest);
            let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
            if into.len() + text.len() > LONGEST {
                fault = Err(TOO_LONG);
            } else {
                into.extend_from_slice(text);
            }
            let read = text.len();
            self.input.advance(read);
            match end.map(|_| self.input.byte()).transpose()? {
                None => {}
                Some(b'"') => return Ok(fault),
                Some(_) => fault = fault.and(self.escape(into)?),
            }
            if into.len() > LONGEST {
                into.truncate(LONGEST);
                fault = Err(TOO_LONG);
            }
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, into: &mut Vec<u8>) -> Result<Result<(), JsonFault>, Halt> {
        let byte = match self.input.byte()? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => return self.code_point(into),
            byte @ (b'"' | b'\\' | b'/') => byte,
            _ => return Ok(Err("a text contains an unknown escape after a backslash")),
        };
        into.push(byte);
        Ok(Ok(()))
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair.
    fn code_point(&mut self, into: &mut Vec<u8>) -> Result<Result<(), JsonFault>, Halt> {
        const FAULT: JsonFault = "a text contains \\u without the four digits of a character";
        let Some(mut code) = self.hexadecimal()? else { return Ok(Err(FAULT)) };
        if (0xd800..0xdc00).contains(&code) {
            if self.input.peek()? != b'\\' {
                return Ok(Err(FAULT));
            }
            self.input.advance(1);
            if self.input.peek()? != b'u' {
                // Another escape, which may be a quote that does not end the string.
                return Ok(self.escape(into)?.and(Err(FAULT)));
            }
            self.input.advance(1);
            let low = self.hexadecimal()?.filter(|low| (0xdc00..0xe000).contains(low));
            let Some(low) = low else { return Ok(Err(FAULT)) };
            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        let Some(character) = char::from_u32(code) else { return Ok(Err(FAULT)) };
        into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(Ok(()))
    }

    /// Reads four hexadecimal digits; `None` if another byte stands there, which is not read.
    fn hexadecimal(&mut self) -> Result<Option<u32>, Halt> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.input.peek()?).to_digit(16) else { return Ok(None) };
            code = code << 4 | digit;
            self.input.advance(1);
        }
        Ok(Some(code))
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<JsonNumber, Halt> {
        let mut number = JsonNumber { negative: self.accept(b'-')?, ..JsonNumber::default() };
        if !self.input.peek()?.is_ascii_digit() {
            return Err(self.unexpected("a number"));
        }
        let mut whole = Some(0_u64);
        while let Some(digit) = self.digit()? {
            whole = whole.and_then(|whole| whole.checked_mul(10)?.checked_add(digit.into()));
        }
        number.whole = whole;
        if self.input.peek()? == b'.' {
            self.input.advance(1);
            let mut unit = 100_000_000;
            while let Some(digit) = self.digit()? {
                number.nanoseconds += unit * i64::from(digit);
                unit /= 10;
            }
        }
        while matches!(self.input.peek()?, b'e' | b'E' | b'+' | b'-' | b'0'..=b'9') {
            number.whole = None;
            self.input.advance(1);
        }
        Ok(number)
    }

    /// Reads a digit if one is next.
    #[inline]
    fn digit(&mut self) -> Result<Option<u8>, Halt> {
        let byte = self.input.peek()?;
        if !byte.is_ascii_digit() {
            return Ok(None);
        }
        self.input.advance(1);
        Ok(Some(byte - b'0'))
    }

    /// Reads `true`, `false` or `null`; says whether it was `true`.
    pub fn boolean(&mut self) -> Result<bool, Halt> {
        let first = self.peek()?;
        let word: &[u8] = match first {
            b't' => b"true",
            b'f' => b"false",
            b'n' => b"null",
            _ => return Err(self.unexpected("true or false")),
        };
        for letter in word {
            if self.input.peek()? != *letter {
                return Err(self.unexpected("true or false"));
            }
            self.input.advance(1);
        }
        Ok(first == b't')
    }

    /// Reads over a value of any kind and depth. `text` is room for its strings.
    pub fn skip_value(&mut self, text: &mut Vec<u8>) -> Result<(), Halt> {
        let mut depth = 0_u64;
        loop {
            match self.peek()? {
                b'[' | b'{' => {
                    depth += 1;
                    self.input.advance(1);
                }
                b']' | b'}' | b',' | b':' if depth > 0 => {
                    depth -= u64::from(matches!(self.input.byte()?, b']' | b'}'));
                }
                b'"' => self.string(text).map(|_| ())?,
                b'-' | b'0'..=b'9' => self.number().map(|_| ())?,
                b't' | b'f' | b'n' => self.boolean().map(|_| ())?,
                _ => return Err(self.unexpected("a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
