//! The literal of a pattern: bytes that are part of every string that it matches. They are found in many
//! strings at once, faster than a machine reads these, and only strings that contain them are matched.

use memchr::memmem::Finder;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::codec::StringBatch;
use crate::query::WildcardPart;

/// A part of a pattern that stands for itself.
pub(crate) struct Literal {
    finder: Finder<'static>,
}

impl Literal {
    /// The longest literal of a wildcard; `None` if there is none.
    pub(super) fn of_wildcard(parts: &[WildcardPart]) -> Option<Self> {
        let texts = parts.iter().filter_map(|part| match part {
            WildcardPart::Text(bytes) => Some(bytes.as_slice()),
            WildcardPart::AnyChar | WildcardPart::Anything => None,
        });
        Literal::of(texts.max_by_key(|bytes| bytes.len())?)
    }

    /// The longest literal that each match of a regular expression contains; `None` if there is none.
    pub(super) fn of_regex(text: &str) -> Option<Self> {
        let parsed = ParserBuilder::new().utf8(false).build().parse(text).ok()?;
        Literal::of(longest(&parsed))
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        (!bytes.is_empty()).then(|| Literal { finder: Finder::new(bytes).into_owned() })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    /// Fills `found` with the numbers of the strings of a batch that contain the literal, in order.
    pub(crate) fn find(&self, batch: &StringBatch, found: &mut Vec<usize>) {
        found.clear();
        let (text, ends) = (batch.text(), batch.ends());
        let (mut from, mut string) = (0, 0);
        while let Some(at) = text.get(from..).and_then(|rest| self.finder.find(rest)) {
            let at = from + at;
            let Some(end) = ends.iter().skip(string).position(|&end| end > at) else { return };
            string += end;
            let end = ends.get(string).copied().unwrap_or(at);
            // Otherwise it begins in this string and ends in a later one, as all literals would after it.
            if at + self.bytes().len() <= end {
                found.push(string);
            }
            (from, string) = (end, string + 1);
        }
    }
}

/// The longest literal that each match of a part of an expression contains.
fn longest(part: &Hir) -> &[u8] {
    match part.kind() {
        HirKind::Literal(literal) => &literal.0,
        HirKind::Capture(capture) => longest(&capture.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => longest(&repeated.sub),
        HirKind::Concat(parts) => parts.iter().map(longest).max_by_key(|bytes| bytes.len()).unwrap_or(&[]),
        _ => &[],
    }
}
