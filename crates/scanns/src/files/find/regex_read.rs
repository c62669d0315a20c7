//! Reads a regular expression of a dialect into the syntax tree of `regex-syntax`.
//!
//! Grammar: alternatives are separated by bars, each is a sequence of pieces, a piece is an atom with
//! repetitions. What an operator means without an atom before it depends on the dialect.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

use super::dialect::Dialect;
use super::regex_bracket::bracket;
use super::regex_token::{RegexToken, RegexTokens};

/// The deepest nesting of groups, and of anchors with operators after them.
const DEEPEST: usize = 50;

/// The most operators in a row after one atom.
const MOST_OPERATORS: usize = 8;

/// The most repetitions that an interval may ask for.
const MOST: u32 = 0x7fff;

/// The syntax tree of an expression, or why it has none.
pub(super) fn read(text: &[u8], dialect: Dialect, fold: bool) -> Result<Hir, &'static str> {
    let tokens = RegexTokens { text, at: 0, dialect };
    let mut reader =
        RegexReader { tokens, token: RegexToken::End, fold, depth: 0, nested: 0, groups: 0, closed: 0 };
    reader.advance(true);
    let tree = reader.alternatives()?;
    match reader.token {
        RegexToken::End => Ok(tree),
        _ => Err("a group ends that did not begin"),
    }
}

struct RegexReader<'a> {
    tokens: RegexTokens<'a>,
    token: RegexToken,
    fold: bool,
    depth: usize,
    /// The anchors that wait for an operator after them.
    nested: usize,
    /// The number of groups that began.
    groups: u32,
    /// A bit for each group that ended, for back references.
    closed: u32,
}

impl RegexReader<'_> {
    fn advance(&mut self, here: bool) {
        let (token, length) = self.tokens.peek(here);
        self.token = token;
        self.tokens.at += length;
    }

    fn dialect(&self) -> Dialect {
        self.tokens.dialect
    }

    /// Whether an alternative ends here.
    fn at_end(&self) -> bool {
        match self.token {
            RegexToken::Bar | RegexToken::End => true,
            RegexToken::Close => self.depth > 0,
            _ => false,
        }
    }

    fn alternatives(&mut self) -> Result<Hir, &'static str> {
        let mut branches = vec![self.sequence()?];
        while self.token == RegexToken::Bar {
            self.advance(true);
            let branch = if self.at_end() { Hir::empty() } else { self.sequence()? };
            branches.push(branch);
        }
        Ok(Hir::alternation(branches))
    }

    fn sequence(&mut self) -> Result<Hir, &'static str> {
        let mut pieces = Vec::new();
        loop {
            pieces.push(self.piece()?);
            if self.at_end() {
                return Ok(Hir::concat(pieces));
            }
        }
    }

    /// An atom with its repetitions.
    fn piece(&mut self) -> Result<Hir, &'static str> {
        let Some(mut tree) = self.atom()? else { return Ok(Hir::empty()) };
        for _ in 0..MOST_OPERATORS {
            tree = match self.token {
                RegexToken::Star => self.repeated(tree, 0, None),
                RegexToken::Plus => self.repeated(tree, 1, None),
                RegexToken::Question => self.repeated(tree, 0, Some(1)),
                RegexToken::OpenCount => self.counted(tree)?,
                _ => return Ok(tree),
            };
            let is_again = matches!(self.token, RegexToken::Star | RegexToken::OpenCount);
            if self.dialect().rejects_repeated && is_again {
                return Err("an operator follows another one");
            }
        }
        if self.is_operator() { Err("too many operators follow each other") } else { Ok(tree) }
    }

    /// Whether a repetition comes next.
    fn is_operator(&self) -> bool {
        matches!(
            self.token,
            RegexToken::Star | RegexToken::Plus | RegexToken::Question | RegexToken::OpenCount
        )
    }

    fn repeated(&mut self, tree: Hir, min: u32, max: Option<u32>) -> Hir {
        self.advance(false);
        repetition(tree, min, max)
    }

    /// An atom; none at the end of an alternative.
    fn atom(&mut self) -> Result<Option<Hir>, &'static str> {
        let dialect = self.dialect();
        let tree = match self.token {
            RegexToken::Byte(byte) => self.byte(byte),
            RegexToken::Escaped(byte) if self.fold && byte.is_ascii_lowercase() => Hir::fail(),
            RegexToken::Escaped(byte) => self.byte(byte),
            RegexToken::Open => self.group()?,
            RegexToken::Bracket => self.bracket()?,
            RegexToken::Dot => self.dot(),
            RegexToken::Word(positive) => class(positive, is_word),
            RegexToken::Space(positive) => class(positive, |byte| matches!(byte, b' ' | b'\t'..=b'\r')),
            RegexToken::Anchor(look) => return self.anchor(look),
            RegexToken::Reference(number) if self.closed & (1 << number) == 0 => {
                return Err("a back reference has no group before it");
            }
            RegexToken::Reference(_) => {
                return Err(
                    "an index cannot answer back references; run find on the result: … -print0 | xargs -0 …",
                );
            }
            RegexToken::Backslash => return Err("it ends with a backslash"),
            RegexToken::End | RegexToken::Bar => return Ok(None),
            RegexToken::Close if !dialect.lone_group_end => return Err("a group ends that did not begin"),
            RegexToken::Close => self.byte(b')'),
            RegexToken::CloseCount => self.byte(b'}'),
            RegexToken::OpenCount if dialect.rejects_repeated => {
                return Err("a repetition has nothing before it");
            }
            RegexToken::OpenCount | RegexToken::Star | RegexToken::Plus | RegexToken::Question => {
                return self.leading();
            }
        };
        self.advance(false);
        Ok(Some(tree))
    }

    /// A repetition without something before it.
    fn leading(&mut self) -> Result<Option<Hir>, &'static str> {
        let dialect = self.dialect();
        if dialect.rejects_leading {
            return Err("a repetition has nothing before it");
        }
        if dialect.ignores_leading {
            while self.is_operator() {
                self.advance(false);
            }
            return self.atom();
        }
        let byte = match self.token {
            RegexToken::OpenCount => b'{',
            RegexToken::Plus => b'+',
            RegexToken::Question => b'?',
            _ => b'*',
        };
        let tree = self.byte(byte);
        self.advance(false);
        Ok(Some(tree))
    }

    /// An anchor; it takes no repetitions, so an operator after it stands at a start.
    fn anchor(&mut self, look: Look) -> Result<Option<Hir>, &'static str> {
        let after_caret = look == Look::StartLF;
        self.advance(false);
        let tree = Hir::look(look);
        if !self.is_operator() {
            return Ok(Some(tree));
        }
        if after_caret && self.token == RegexToken::OpenCount && self.dialect().rejects_repeated {
            return Err("a repetition has nothing before it");
        }
        if self.nested >= DEEPEST {
            return Err("too many anchors and operators follow each other");
        }
        self.nested += 1;
        let next = self.piece()?;
        self.nested -= 1;
        Ok(Some(Hir::concat(vec![tree, next])))
    }

    fn group(&mut self) -> Result<Hir, &'static str> {
        if self.depth >= DEEPEST {
            return Err("groups are nested too deeply");
        }
        self.groups += 1;
        let number = self.groups;
        self.advance(true);
        self.depth += 1;
        let tree = if self.token == RegexToken::Close { Hir::empty() } else { self.alternatives()? };
        self.depth -= 1;
        if self.token != RegexToken::Close {
            return Err("a group does not end");
        }
        self.closed |= if number < 10 { 1 << number } else { 0 };
        Ok(tree)
    }

    fn bracket(&mut self) -> Result<Hir, &'static str> {
        let (set, end) = bracket(self.tokens.text, self.tokens.at, self.dialect(), self.fold)?;
        self.tokens.at = end;
        Ok(class(true, |byte| set.get(usize::from(byte)).copied().unwrap_or(false)))
    }

    fn byte(&self, byte: u8) -> Hir {
        match self.fold && byte.is_ascii_alphabetic() {
            true => class(true, |other| other.eq_ignore_ascii_case(&byte)),
            false => Hir::literal([byte]),
        }
    }

    fn dot(&self) -> Hir {
        let newline = self.dialect().dot_newline;
        class(true, |byte| newline || byte != b'\n')
    }

    /// An interval; the token is its open brace.
    fn counted(&mut self, tree: Hir) -> Result<Hir, &'static str> {
        let start = self.tokens.at;
        let Some((min, max)) = self.bounds()? else {
            if !self.dialect().literal_interval {
                return Err("an interval is not valid: write {1,2}");
            }
            self.tokens.at = start;
            self.token = RegexToken::Byte(b'{');
            return Ok(tree);
        };
        if max.is_some_and(|max| min > max) || self.token != RegexToken::CloseCount {
            return Err("an interval is not valid: write {1,2}");
        }
        if max.unwrap_or(min) > MOST {
            return Err("an interval is too large");
        }
        self.advance(false);
        Ok(repetition(tree, min, max))
    }

    /// The bounds of an interval; none where they are no numbers.
    fn bounds(&mut self) -> Result<Option<(u32, Option<u32>)>, &'static str> {
        let min = match self.number() {
            Number::Invalid => return Ok(None),
            Number::Missing if matches!(self.token, RegexToken::Byte(b',') | RegexToken::Escaped(b',')) => 0,
            Number::Missing => return Err("an interval has no number: write {1,2}"),
            Number::Is(number) => number,
        };
        if self.token == RegexToken::CloseCount {
            return Ok(Some((min, Some(min))));
        }
        Ok(match self.number() {
            Number::Invalid => None,
            Number::Missing => Some((min, None)),
            Number::Is(max) => Some((min, Some(max))),
        })
    }

    /// A number of an interval; the token is then what follows it, a comma or a brace.
    fn number(&mut self) -> Number {
        let mut number = Number::Missing;
        loop {
            self.advance(false);
            number = match (self.token, number) {
                (RegexToken::End, _) => return Number::Invalid,
                (RegexToken::CloseCount | RegexToken::Byte(b',') | RegexToken::Escaped(b','), number) => {
                    return number;
                }
                (
                    RegexToken::Byte(digit @ b'0'..=b'9') | RegexToken::Escaped(digit @ b'0'..=b'9'),
                    Number::Missing,
                ) => Number::Is(u32::from(digit - b'0')),
                (
                    RegexToken::Byte(digit @ b'0'..=b'9') | RegexToken::Escaped(digit @ b'0'..=b'9'),
                    Number::Is(number),
                ) => Number::Is((number * 10 + u32::from(digit - b'0')).min(MOST + 1)),
                _ => Number::Invalid,
            };
        }
    }
}

#[derive(Clone, Copy)]
enum Number {
    Missing,
    Invalid,
    Is(u32),
}

fn repetition(tree: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(tree) })
}

/// A byte of a word: a letter, a digit or an underscore.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The class of the bytes for which `is_in` is `positive`.
fn class(positive: bool, is_in: impl Fn(u8) -> bool) -> Hir {
    let bytes = (0..=u8::MAX).filter(|&byte| is_in(byte) == positive);
    Hir::class(Class::Bytes(ClassBytes::new(bytes.map(|byte| ClassBytesRange::new(byte, byte)))))
}
