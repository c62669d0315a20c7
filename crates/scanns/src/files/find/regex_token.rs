//! The tokens of a regular expression in a dialect.

use super::dialect::Dialect;
use regex_syntax::hir::Look;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegexToken {
    /// The end of the expression.
    End,
    /// A byte that stands for itself.
    Byte(u8),
    /// A byte after a backslash that stands for itself. As in the GNU C library, a small letter after a
    /// backslash matches nothing where case is ignored.
    Escaped(u8),
    /// `.`
    Dot,
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `?`
    Question,
    /// `|` or a newline.
    Bar,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `{`
    OpenCount,
    /// `}`
    CloseCount,
    /// `[`
    Bracket,
    /// `^`, `$`, `\<` and the like.
    Anchor(Look),
    /// `\w`, `\W`: true for the first.
    Word(bool),
    /// `\s`, `\S`: true for the first.
    Space(bool),
    /// `\1`
    Reference(u8),
    /// A backslash at the end.
    Backslash,
}

/// The tokens from a position on.
pub(super) struct RegexTokens<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) dialect: Dialect,
}

impl RegexTokens<'_> {
    /// The token here and its length; `here` says that a caret would be an anchor at this place.
    pub(super) fn peek(&self, here: bool) -> (RegexToken, usize) {
        match self.text.get(self.at..).unwrap_or_default() {
            [] => (RegexToken::End, 0),
            [b'\\'] => (RegexToken::Backslash, 1),
            [b'\\', byte, ..] => (self.escaped(*byte), 2),
            [byte, ..] => (self.plain(*byte, here), 1),
        }
    }

    fn escaped(&self, byte: u8) -> RegexToken {
        let dialect = self.dialect;
        let gnu = !dialect.no_gnu;
        match byte {
            b'|' if !dialect.limited && !dialect.plain_bar => RegexToken::Bar,
            b'1'..=b'9' if !dialect.no_references => RegexToken::Reference(byte - b'0'),
            b'<' if gnu => RegexToken::Anchor(Look::WordStartAscii),
            b'>' if gnu => RegexToken::Anchor(Look::WordEndAscii),
            b'b' if gnu => RegexToken::Anchor(Look::WordAscii),
            b'B' if gnu => RegexToken::Anchor(Look::WordAsciiNegate),
            b'w' | b'W' if gnu => RegexToken::Word(byte == b'w'),
            b's' | b'S' if gnu => RegexToken::Space(byte == b's'),
            b'`' if gnu => RegexToken::Anchor(Look::Start),
            b'\'' if gnu => RegexToken::Anchor(Look::End),
            b'(' if !dialect.plain_groups => RegexToken::Open,
            b')' if !dialect.plain_groups => RegexToken::Close,
            b'+' if !dialect.limited && dialect.escaped_plus => RegexToken::Plus,
            b'?' if !dialect.limited && dialect.escaped_plus => RegexToken::Question,
            b'{' if dialect.intervals && !dialect.plain_braces => RegexToken::OpenCount,
            b'}' if dialect.intervals && !dialect.plain_braces => RegexToken::CloseCount,
            _ => RegexToken::Escaped(byte),
        }
    }

    fn plain(&self, byte: u8, here: bool) -> RegexToken {
        let dialect = self.dialect;
        match byte {
            b'\n' if dialect.newline_alternates => RegexToken::Bar,
            b'|' if !dialect.limited && dialect.plain_bar => RegexToken::Bar,
            b'*' => RegexToken::Star,
            b'+' if !dialect.limited && !dialect.escaped_plus => RegexToken::Plus,
            b'?' if !dialect.limited && !dialect.escaped_plus => RegexToken::Question,
            b'{' if dialect.intervals && dialect.plain_braces => RegexToken::OpenCount,
            b'}' if dialect.intervals && dialect.plain_braces => RegexToken::CloseCount,
            b'(' if dialect.plain_groups => RegexToken::Open,
            b')' if dialect.plain_groups => RegexToken::Close,
            b'[' => RegexToken::Bracket,
            b'.' => RegexToken::Dot,
            b'^' if self.caret_is_anchor(here) => RegexToken::Anchor(Look::StartLF),
            b'$' if self.dollar_is_anchor() => RegexToken::Anchor(Look::EndLF),
            _ => RegexToken::Byte(byte),
        }
    }

    fn caret_is_anchor(&self, here: bool) -> bool {
        let after_newline = || self.dialect.newline_alternates && self.text.get(self.at - 1) == Some(&b'\n');
        here || self.dialect.anchors_everywhere || self.at == 0 || after_newline()
    }

    fn dollar_is_anchor(&self) -> bool {
        if self.dialect.anchors_everywhere || self.at + 1 >= self.text.len() {
            return true;
        }
        let next = RegexTokens { text: self.text, at: self.at + 1, dialect: self.dialect };
        matches!(next.peek(false).0, RegexToken::Bar | RegexToken::Close)
    }
}
