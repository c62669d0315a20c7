//! One bracket expression of a regular expression, as a set of bytes.
//!
//! Grammar: `[` [`^`] item… `]`, where an item is a byte, a range `a-z`, a class `[:alpha:]`, an equivalence
//! `[=a=]` or a symbol `[.a.]`. A `]` right at the start and a `-` at the start or the end are bytes.

use super::bracket::class_contains;
use super::dialect::Dialect;

/// The longest name of a class.
const LONGEST_NAME: usize = 32;

const NO_END: &str = "a bracket does not end: write ']'";
const BAD_RANGE: &str = "a range of a bracket is not valid";

/// The set of a bracket whose items begin at `start`, and the position of the byte after its `]`.
pub(super) fn bracket(
    text: &[u8],
    start: usize,
    dialect: Dialect,
    fold: bool,
) -> Result<([bool; 256], usize), &'static str> {
    let mut reader = SetReader { text, at: start, dialect, fold, set: [false; 256] };
    let negated = text.get(start) == Some(&b'^');
    reader.at += usize::from(negated);
    reader.items()?;
    let mut set = [false; 256];
    for (byte, is_in) in (0..=u8::MAX).zip(set.iter_mut()) {
        let seen = if fold { byte.to_ascii_uppercase() } else { byte };
        *is_in = reader.set.get(usize::from(seen)).copied().unwrap_or(false) != negated;
    }
    Ok((set, reader.at))
}

/// What stands in a bracket.
enum SetToken {
    /// A byte for itself.
    Byte(u8),
    /// A dash.
    Dash,
    /// `]`
    End,
    /// `[.`, `[=` or `[:`.
    Open(u8),
}

/// An end of a range, or an item alone.
enum SetItem {
    Byte(u8),
    /// A class or an equivalence; it is in the set already.
    Done,
}

struct SetReader<'a> {
    text: &'a [u8],
    at: usize,
    dialect: Dialect,
    fold: bool,
    set: [bool; 256],
}

impl SetReader<'_> {
    fn items(&mut self) -> Result<(), &'static str> {
        let mut is_first = true;
        loop {
            let (token, length) = self.peek()?;
            let item = match token {
                SetToken::End if is_first => {
                    self.at += 1;
                    SetItem::Byte(b']')
                }
                SetToken::End => {
                    self.at += 1;
                    return Ok(());
                }
                token => self.item(token, length, is_first)?,
            };
            is_first = false;
            let SetItem::Byte(low) = item else { continue };
            match self.range_end()? {
                None => self.add(low),
                Some(SetItem::Byte(high)) => self.add_range(low, high)?,
                Some(SetItem::Done) => return Err(BAD_RANGE),
            }
        }
    }

    /// The end of a range, where a dash follows that begins one.
    fn range_end(&mut self) -> Result<Option<SetItem>, &'static str> {
        let (SetToken::Dash, length) = self.peek()? else { return Ok(None) };
        let before = self.at;
        self.at += length;
        let (token, length) = self.peek()?;
        if matches!(token, SetToken::End) {
            self.at = before;
            self.add(b'-');
            self.at += 1;
            return Ok(None);
        }
        self.item(token, length, true).map(Some)
    }

    fn item(&mut self, token: SetToken, length: usize, accepts_dash: bool) -> Result<SetItem, &'static str> {
        self.at += length;
        match token {
            SetToken::Byte(byte) => Ok(SetItem::Byte(byte)),
            SetToken::End => Ok(SetItem::Byte(b']')),
            SetToken::Dash if accepts_dash => Ok(SetItem::Byte(b'-')),
            SetToken::Dash => match self.peek()?.0 {
                SetToken::End => Ok(SetItem::Byte(b'-')),
                _ => Err(BAD_RANGE),
            },
            SetToken::Open(kind) => self.named(kind),
        }
    }

    fn named(&mut self, kind: u8) -> Result<SetItem, &'static str> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.windows(2).position(|pair| pair == [kind, b']']).ok_or(NO_END)?;
        let name = rest.get(..length).filter(|name| name.len() < LONGEST_NAME).ok_or(NO_END)?;
        self.at += length + 2;
        match (kind, name) {
            (b':', name) => self.add_class(name)?,
            (b'.', [byte]) => return Ok(SetItem::Byte(self.upper(*byte))),
            (b'=', [byte]) => self.add(self.upper(*byte)),
            _ => return Err("a symbol of a bracket is not one byte"),
        }
        Ok(SetItem::Done)
    }

    fn add_class(&mut self, name: &[u8]) -> Result<(), &'static str> {
        let name = if self.fold && matches!(name, b"upper" | b"lower") { b"alpha" } else { name };
        for (byte, is_in) in (0..=u8::MAX).zip(self.set.iter_mut()) {
            *is_in |=
                class_contains(name, byte).ok_or("a class is not known: write [:alpha:] or the like")?;
        }
        Ok(())
    }

    fn add_range(&mut self, low: u8, high: u8) -> Result<(), &'static str> {
        if low > high && self.dialect.rejects_empty_ranges {
            return Err(BAD_RANGE);
        }
        (low..=high).for_each(|byte| self.add(byte));
        Ok(())
    }

    fn add(&mut self, byte: u8) {
        if let Some(is_in) = self.set.get_mut(usize::from(byte)) {
            *is_in = true;
        }
    }

    fn upper(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_uppercase() } else { byte }
    }

    fn peek(&self) -> Result<(SetToken, usize), &'static str> {
        Ok(match self.text.get(self.at..).unwrap_or_default() {
            [] => return Err(NO_END),
            [b'\\', byte, ..] if self.dialect.escape_in_brackets => (SetToken::Byte(self.upper(*byte)), 2),
            [b'[', kind @ (b'.' | b'='), ..] => (SetToken::Open(*kind), 2),
            [b'[', b':', ..] if self.dialect.classes => (SetToken::Open(b':'), 2),
            [b'-', b'-', b'-', ..] => (SetToken::Byte(b'-'), 3),
            [b'-', ..] => (SetToken::Dash, 1),
            [b']', ..] => (SetToken::End, 1),
            [byte, ..] => (SetToken::Byte(self.upper(*byte)), 1),
        })
    }
}
