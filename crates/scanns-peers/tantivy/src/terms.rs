//! A tokenizer for tantivy that splits text at ASCII white space, and at `/` if that is wanted.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The maximum length of a term in bytes, as in Lucene. Longer terms are truncated.
pub const LONGEST: usize = 32_766;

/// The table of the bytes that separate terms: tab to carriage return, space, and `/` if `slash` is true.
const fn separators(slash: bool) -> [bool; 256] {
    let mut table = [false; 256];
    table[b' ' as usize] = true;
    table[b'/' as usize] = slash;
    let mut byte = b'\t';
    while byte <= b'\r' {
        table[byte as usize] = true;
        byte += 1;
    }
    table
}

static WHITE_SPACE: [bool; 256] = separators(false);
static WITH_SLASH: [bool; 256] = separators(true);

/// The tokenizer. It reuses one token.
#[derive(Clone)]
pub struct Delimited {
    separates: &'static [bool; 256],
    token: Token,
}

impl Delimited {
    /// Splits at white space.
    pub fn white_space() -> Self {
        Delimited { separates: &WHITE_SPACE, token: Token::default() }
    }

    /// Splits at white space and `/`.
    pub fn with_slash() -> Self {
        Delimited { separates: &WITH_SLASH, token: Token::default() }
    }
}

/// The terms of one text.
pub struct Terms<'a> {
    text: &'a str,
    at: usize,
    separates: &'static [bool; 256],
    token: &'a mut Token,
}

impl Tokenizer for Delimited {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        self.token.reset();
        Terms { text, at: 0, separates: self.separates, token: &mut self.token }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        while start < bytes.len() && self.separates[usize::from(bytes[start])] {
            start += 1;
        }
        let mut end = start;
        while end < bytes.len() && !self.separates[usize::from(bytes[end])] {
            end += 1;
        }
        self.at = end;
        if start == end {
            return false;
        }
        let mut cut = end.min(start + LONGEST);
        while !self.text.is_char_boundary(cut) {
            cut -= 1;
        }
        let token = &mut *self.token;
        token.text.clear();
        token.text.push_str(&self.text[start..cut]);
        token.position = token.position.wrapping_add(1);
        token.offset_from = start;
        token.offset_to = end;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_stand_between_white_space_and_slashes() {
        let mut tokenizer = Delimited::with_slash();
        let long = "é".repeat(LONGEST);
        let text = format!(" /usr//lib\tx.so\r\n{long} \u{b}ß/");
        let mut stream = tokenizer.token_stream(&text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push(stream.token().text.clone());
        }
        assert_eq!(found, ["usr", "lib", "x.so", &long[..LONGEST], "ß"]);
    }
}
