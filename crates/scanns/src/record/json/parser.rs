//! A strict parser of one object that streams its scalars.

use super::paths::{Paths, ROOT};
use super::{number, string};
use crate::record::error::RecordError;
use crate::record::raw::{BYTE_ORDER_MARK, RawScalar, ScalarKind};

/// The maximum depth of nested objects and arrays, including the record itself.
pub(super) const MAX_DEPTH: usize = 128;

/// Calls `visit` with every scalar of a record, in order. Returns false if the record is blank.
///
/// # Errors
/// A malformed record; the caller must ignore the scalars that `visit` was called with.
pub(in crate::record) fn parse(
    record: &[u8],
    paths: &mut Paths,
    visit: &mut impl FnMut(RawScalar),
) -> Result<bool, RecordError> {
    if u32::try_from(record.len()).is_err() {
        return Err(RecordError::TooLong { len: record.len() });
    }
    if let Err(error) = std::str::from_utf8(record) {
        return Err(RecordError::NotUtf8 { at: error.valid_up_to() });
    }
    let at = if record.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    paths.restart();
    let mut parser = JsonParser { bytes: record, at, paths, visit };
    match parser.peek() {
        0 if parser.at == record.len() => return Ok(false),
        b'{' => {}
        b'[' => {
            return Err(parser.expected("an object, not an array (jq -c '.[]' makes a line of each element)"));
        }
        _ => return Err(parser.expected("the { of an object")),
    }
    parser.object()?;
    match parser.peek() {
        0 if parser.at == record.len() => Ok(true),
        _ => Err(parser.expected("the end of the record after its object")),
    }
}

/// The objects and arrays that enclose a place: the number of the name of each, and whether it is an object.
struct Nesting {
    around: [(u32, bool); MAX_DEPTH],
    depth: usize,
    /// The name of the innermost object or array.
    name: u32,
    object: bool,
}

impl Nesting {
    fn new() -> Self {
        Nesting { around: [(ROOT, true); MAX_DEPTH], depth: 1, name: ROOT, object: true }
    }

    /// Enters an object or an array; returns `None` if it is nested too deep.
    fn push(&mut self, name: u32, object: bool) -> Option<()> {
        *self.around.get_mut(self.depth)? = (self.name, self.object);
        self.depth += 1;
        (self.name, self.object) = (name, object);
        Some(())
    }

    /// Leaves the innermost object or array; returns false if it was the record.
    fn pop(&mut self) -> bool {
        self.depth -= 1;
        (self.name, self.object) = self.around.get(self.depth).copied().unwrap_or((ROOT, true));
        self.depth > 0
    }

    fn closer(&self) -> u8 {
        if self.object { b'}' } else { b']' }
    }
}

struct JsonParser<'r, 'p, V> {
    bytes: &'r [u8],
    at: usize,
    paths: &'p mut Paths,
    visit: &'p mut V,
}

impl<V: FnMut(RawScalar)> JsonParser<'_, '_, V> {
    /// Skips white space and returns the next byte; 0 at the end, where a NUL byte is not allowed either.
    #[inline]
    fn peek(&mut self) -> u8 {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(&byte) => return byte,
                None => return 0,
            }
        }
    }

    #[cold]
    fn expected(&self, what: &'static str) -> RecordError {
        RecordError::expected(self.at, what)
    }

    /// Parses from the brace that opens the record to the one that closes it.
    fn object(&mut self) -> Result<(), RecordError> {
        self.at += 1;
        let mut open = Nesting::new();
        let mut first = true;
        loop {
            let byte = self.peek();
            if !(first && byte == open.closer()) {
                let name = if open.object { self.name(byte, open.name)? } else { open.name };
                let byte = self.peek();
                if matches!(byte, b'{' | b'[') {
                    let deeper = open.push(name, byte == b'{');
                    deeper.ok_or(RecordError::TooDeep { at: self.at, limit: MAX_DEPTH })?;
                    self.at += 1;
                    first = true;
                    continue;
                }
                self.scalar(byte, name)?;
            }
            loop {
                let byte = self.peek();
                if byte == b',' {
                    self.at += 1;
                    first = false;
                    break;
                }
                if byte != open.closer() {
                    let what = if open.object { "a comma or }" } else { "a comma or ]" };
                    return Err(self.expected(what));
                }
                self.at += 1;
                if !open.pop() {
                    return Ok(());
                }
            }
        }
    }

    /// Parses the name of a member and its colon; returns the number of the name.
    #[inline]
    fn name(&mut self, byte: u8, parent: u32) -> Result<u32, RecordError> {
        if byte != b'"' {
            return Err(self.expected("the opening quote of a name"));
        }
        let start = self.at + 1;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let name = if let Some((name, len)) = self.paths.guess(parent, rest) {
            self.at = start + len;
            name
        } else {
            let (end, _) = string::end(self.bytes, start)?;
            self.at = end + 1;
            self.paths.find(parent, self.bytes.get(start..self.at).unwrap_or_default())
        };
        if self.peek() != b':' {
            return Err(self.expected("the colon after a name"));
        }
        self.at += 1;
        Ok(name)
    }

    /// Parses the scalar that starts with `byte`.
    #[inline]
    fn scalar(&mut self, byte: u8, name: u32) -> Result<(), RecordError> {
        let (kind, start, end) = match byte {
            b'"' => {
                let start = self.at + 1;
                let (end, escaped) = string::end(self.bytes, start)?;
                self.at = end + 1;
                (if escaped { ScalarKind::Escaped } else { ScalarKind::Text }, start, end)
            }
            b'-' | b'0'..=b'9' => {
                let start = self.at;
                let (end, whole) = number::end(self.bytes, start)?;
                self.at = end;
                (if whole { ScalarKind::Whole } else { ScalarKind::Fraction }, start, end)
            }
            b't' => self.word(b"true", ScalarKind::True)?,
            b'f' => self.word(b"false", ScalarKind::False)?,
            b'n' => self.word(b"null", ScalarKind::Null)?,
            _ => return Err(self.expected("a value")),
        };
        // The record is shorter than 4 GiB, see `parse`.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (self.visit)(RawScalar { name, kind, start: place(start), end: place(end) });
        Ok(())
    }

    fn word(
        &mut self,
        word: &'static [u8],
        kind: ScalarKind,
    ) -> Result<(ScalarKind, usize, usize), RecordError> {
        let start = self.at;
        if !self.bytes.get(start..).unwrap_or_default().starts_with(word) {
            return Err(self.expected("true, false, null, a number, a string, an object or an array"));
        }
        self.at += word.len();
        Ok((kind, start, self.at))
    }
}
