//! The tokens of RTF: braces, control words `\name123`, control symbols `\x`, hex bytes `\'hh`, and plain
//! bytes.

use std::io::{self, BufRead, Read};

/// The most letters of a control word that are kept; the specification allows 32.
const MOST_LETTERS: usize = 32;

/// A token. The name of a control word is at [`Tokens::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A control word with its number.
    Word(Option<i32>),
    /// A backslash and a byte that is no letter.
    Symbol(u8),
    /// A byte of text.
    Byte(u8),
    /// The input ends.
    End,
}

/// Reads tokens.
pub(super) struct Tokens<R> {
    input: R,
    name: Vec<u8>,
}

impl<R: BufRead> Tokens<R> {
    /// Starts at the beginning of `input`.
    pub(super) fn new(input: R) -> Self {
        Self { input, name: Vec::new() }
    }

    /// The name of the control word that was read last.
    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// The next token.
    pub(super) fn next(&mut self) -> io::Result<Token> {
        loop {
            return Ok(match self.byte()? {
                None => Token::End,
                Some(b'{') => Token::Open,
                Some(b'}') => Token::Close,
                Some(b'\r' | b'\n' | 0) => continue,
                Some(b'\\') => self.control()?,
                Some(byte) => Token::Byte(byte),
            });
        }
    }

    /// Passes over bytes that are not text.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<()> {
        io::copy(&mut self.input.by_ref().take(count), &mut io::sink()).map(|_| ())
    }

    /// The token after a backslash.
    fn control(&mut self) -> io::Result<Token> {
        match self.peek()? {
            None => Ok(Token::End),
            Some(b'\'') => {
                self.byte()?;
                self.hex()
            }
            Some(byte) if byte.is_ascii_alphabetic() => self.word(),
            Some(byte) => {
                self.byte()?;
                Ok(if matches!(byte, b'\\' | b'{' | b'}') { Token::Byte(byte) } else { Token::Symbol(byte) })
            }
        }
    }

    /// The byte of two hex digits. Fewer digits are taken as they are.
    fn hex(&mut self) -> io::Result<Token> {
        let mut value = 0_u8;
        for _ in 0..2 {
            let digit = self.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit.and_then(|digit| u8::try_from(digit).ok()) else { break };
            self.byte()?;
            value = value.wrapping_mul(16).wrapping_add(digit);
        }
        Ok(Token::Byte(value))
    }

    /// A control word: letters, a number, and one blank that belongs to it.
    fn word(&mut self) -> io::Result<Token> {
        self.name.clear();
        while let Some(byte) = self.peek()?.filter(u8::is_ascii_alphabetic) {
            self.byte()?;
            if self.name.len() < MOST_LETTERS {
                self.name.push(byte);
            }
        }
        let is_negative = self.peek()? == Some(b'-');
        if is_negative {
            self.byte()?;
        }
        let mut number: Option<i32> = None;
        while let Some(byte) = self.peek()?.filter(u8::is_ascii_digit) {
            self.byte()?;
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(i32::from(byte - b'0')));
        }
        if self.peek()? == Some(b' ') {
            self.byte()?;
        }
        Ok(Token::Word(number.map(|number| if is_negative { -number } else { number })))
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.input.consume(1);
        }
        Ok(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_symbols_and_bytes_are_told_apart() {
        let mut tokens = Tokens::new(&b"{\\b-12 x\\'e9\\~\\{\r\n\\par}"[..]);
        let mut all = Vec::new();
        loop {
            let token = tokens.next().unwrap();
            all.push(token);
            if token == Token::End {
                break;
            }
        }
        let word = Token::Word;
        let bytes = [Token::Byte(b'x'), Token::Byte(0xe9), Token::Symbol(b'~'), Token::Byte(b'{')];
        let mut expected = vec![Token::Open, word(Some(-12))];
        expected.extend(bytes);
        expected.extend([word(None), Token::Close, Token::End]);
        assert_eq!(all, expected);
    }
}
