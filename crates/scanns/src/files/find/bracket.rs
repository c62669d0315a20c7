//! One bracket expression of a shell pattern, as fnmatch(3) of the GNU C library reads it in the C locale.
//!
//! Grammar: `[` [`!` | `^`] item… `]`, where an item is a byte, `\` and a byte, a range `a-z`, a class
//! `[:alpha:]`, an equivalence `[=a=]` or a symbol `[.a.]` of one byte. A `]` right at the start is a byte.
//!
//! Malformed brackets have a meaning, too. A bracket without an end is the byte `[`; a class that does not
//! exist matches nothing, unless an item before it matched. The reading depends on the byte that is
//! compared, so the function takes the byte and returns where the pattern continues.

/// The longest name of a class that the library reads. It takes names of the letters a to y only.
const LONGEST_CLASS: usize = 256;

/// The position after the bracket that opens at `open` when it matches `byte`.
pub(super) fn bracket_end(pattern: &[u8], open: usize, byte: u8, fold: bool) -> Option<usize> {
    let negated = matches!(at(pattern, open + 1), b'!' | b'^');
    let start = open + 1 + usize::from(negated);
    let items = BracketItems { pattern, byte, fold };
    let (end, is_match) = match items.scan(start) {
        BracketScan::Matched(position) => (skip_rest(pattern, position), !negated),
        BracketScan::Ended(end) => (end, negated),
    };
    match end {
        BracketEnd::At(end) => is_match.then_some(end),
        BracketEnd::Unterminated => (byte == b'[').then_some(open + 1),
        BracketEnd::Malformed => None,
    }
}

/// Where a bracket ends.
enum BracketEnd {
    /// The pattern continues here.
    At(usize),
    /// The pattern ended first.
    Unterminated,
    /// The bracket matches nothing.
    Malformed,
}

/// How the scan of the items ends.
enum BracketScan {
    /// An item matched; the rest begins here.
    Matched(usize),
    /// No item matched.
    Ended(BracketEnd),
}

/// What one item was.
enum BracketItem {
    /// It matched and ends here.
    Matched(usize),
    /// It did not match and ends here.
    Next(usize),
    /// It is the start of a range or a single byte, and ends here; true where the byte is as written.
    Byte(u8, usize, bool),
    /// It makes the bracket match nothing.
    Malformed,
}

struct BracketItems<'a> {
    pattern: &'a [u8],
    byte: u8,
    fold: bool,
}

impl BracketItems<'_> {
    fn folded(&self, byte: u8) -> u8 {
        if self.fold { byte.to_ascii_lowercase() } else { byte }
    }

    fn scan(&self, start: usize) -> BracketScan {
        let mut position = start;
        loop {
            if position >= self.pattern.len() {
                return BracketScan::Ended(BracketEnd::Unterminated);
            }
            if position > start && at(self.pattern, position) == b']' {
                return BracketScan::Ended(BracketEnd::At(position + 1));
            }
            let item = match self.item(position) {
                BracketItem::Byte(low, end, raw) => self.range(low, end, raw),
                item => item,
            };
            match item {
                BracketItem::Matched(end) => return BracketScan::Matched(end),
                BracketItem::Next(end) => position = end,
                BracketItem::Malformed | BracketItem::Byte(..) => {
                    return BracketScan::Ended(BracketEnd::Malformed);
                }
            }
        }
    }

    /// The item at `position`.
    fn item(&self, position: usize) -> BracketItem {
        match (at(self.pattern, position), at(self.pattern, position + 1)) {
            (b'\\', 0) => BracketItem::Malformed,
            (b'\\', byte) => BracketItem::Byte(self.folded(byte), position + 2, false),
            (b'[', b':') => self.class(position),
            (b'[', b'=') => self.equivalence(position),
            (b'[', b'.') => match symbol(self.pattern, position) {
                Some((byte, end)) => BracketItem::Byte(byte, end, true),
                None => BracketItem::Malformed,
            },
            (byte, _) => BracketItem::Byte(self.folded(byte), position + 1, false),
        }
    }

    fn class(&self, position: usize) -> BracketItem {
        let mut end = position + 2;
        loop {
            match (at(self.pattern, end), at(self.pattern, end + 1)) {
                _ if end - position - 2 >= LONGEST_CLASS => return BracketItem::Malformed,
                (b':', b']') => break,
                (b'a'..=b'y', _) => end += 1,
                _ => return BracketItem::Byte(b'[', position + 1, false),
            }
        }
        match class_contains(self.pattern.get(position + 2..end).unwrap_or_default(), self.byte) {
            None => BracketItem::Malformed,
            Some(true) => BracketItem::Matched(end + 2),
            Some(false) => BracketItem::Next(end + 2),
        }
    }

    fn equivalence(&self, position: usize) -> BracketItem {
        let byte = at(self.pattern, position + 2);
        if byte == 0 || at(self.pattern, position + 3) != b'=' || at(self.pattern, position + 4) != b']' {
            return BracketItem::Byte(b'[', position + 1, false);
        }
        if byte == self.byte { BracketItem::Matched(position + 5) } else { BracketItem::Next(position + 5) }
    }

    /// A byte, or the range that it begins.
    fn range(&self, low: u8, end: usize, raw: bool) -> BracketItem {
        let (dash, next) = (at(self.pattern, end), at(self.pattern, end + 1));
        let is_range = dash == b'-' && next != 0 && (raw || next != b']');
        let compared = if raw { self.byte } else { self.folded(self.byte) };
        if !is_range && compared == low {
            return BracketItem::Matched(end);
        }
        if dash != b'-' || next == b']' {
            return BracketItem::Next(end);
        }
        let (high, after) = match (next, at(self.pattern, end + 2)) {
            (0, _) => return BracketItem::Malformed,
            (b'[', b'.') => match symbol(self.pattern, end + 1) {
                Some(symbol) => symbol,
                None => return BracketItem::Malformed,
            },
            (b'\\', 0) => return BracketItem::Malformed,
            (b'\\', byte) => (self.folded(byte), end + 3),
            (byte, _) => (self.folded(byte), end + 2),
        };
        let byte = self.folded(self.byte);
        if low <= byte && byte <= high { BracketItem::Matched(after) } else { BracketItem::Next(after) }
    }
}

/// The byte at a position; 0 after the end.
fn at(pattern: &[u8], position: usize) -> u8 {
    pattern.get(position).copied().unwrap_or(0)
}

/// The symbol `[.x.]` at a position, with the position after it.
fn symbol(pattern: &[u8], position: usize) -> Option<(u8, usize)> {
    let name = pattern.get(position + 2..)?;
    let length = name.windows(2).position(|pair| pair == b".]")?;
    match name.get(..length) {
        Some([byte]) => Some((*byte, position + 5)),
        _ => None,
    }
}

/// Whether a class contains a byte; none where there is no such class.
pub(super) fn class_contains(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

/// The end of a bracket, from a position after an item that matched.
fn skip_rest(pattern: &[u8], mut position: usize) -> BracketEnd {
    loop {
        let next = match (at(pattern, position), at(pattern, position + 1)) {
            (0, _) => return BracketEnd::Unterminated,
            (b']', _) => return BracketEnd::At(position + 1),
            (b'\\', 0) => None,
            (b'\\', _) => Some(position + 2),
            (b'[', b':') => skip_class(pattern, position),
            (b'[', b'=') => {
                let is_whole = at(pattern, position + 3) == b'=' && at(pattern, position + 4) == b']';
                is_whole.then_some(position + 5)
            }
            (b'[', b'.') => {
                let name = pattern.get(position + 2..).unwrap_or_default();
                name.windows(2).position(|pair| pair == b".]").map(|length| position + length + 4)
            }
            _ => Some(position + 1),
        };
        let Some(next) = next else { return BracketEnd::Malformed };
        position = next;
    }
}

/// The position after a class, or after its `[` where it is none.
fn skip_class(pattern: &[u8], position: usize) -> Option<usize> {
    let mut end = position + 2;
    loop {
        match (at(pattern, end), at(pattern, end + 1)) {
            _ if end - position > LONGEST_CLASS => return None,
            (b':', b']') => return Some(end + 2),
            (b'a'..=b'y', _) => end += 1,
            _ => return Some(position + 1),
        }
    }
}
