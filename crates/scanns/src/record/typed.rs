//! From the scalar of a record to the value of a field, or to nothing: a *conflict*.
//!
//! | field | takes |
//! |---|---|
//! | text, keyword, path, bytes | strings; numbers and truths as they are written |
//! | unsigned, signed | numbers that are integers in range, exactly, as in `1`, `1.0` and `1e3`; strings with one |
//! | float | numbers whose closest double is finite; strings with one |
//! | boolean | `true` and `false`, also as strings |
//! | date | strings as [`parse_date`] reads them, and no numbers, since of these nobody knows the unit |
//!
//! Every value of CSV is a string. Around what stands in a string for a number, a truth or a date may be spaces; a
//! number may have a plus and leading zeros there. What is too long to be found as a whole, 32 KiB, is a conflict in
//! a keyword or path.

use super::json::number;
use super::raw::Scalar;
use crate::schema::{FieldKind, MAX_KEY, ValueRef, parse_date};

/// The value of a field of that kind; `None` if it has none for the scalar.
#[inline]
pub(super) fn convert<'r>(kind: &FieldKind, scalar: Scalar<'r>) -> Option<ValueRef<'r>> {
    match kind {
        FieldKind::Text { .. } => Some(ValueRef::Text(written(scalar))),
        FieldKind::Keyword | FieldKind::Path => {
            let text = written(scalar);
            (text.len() <= MAX_KEY).then_some(ValueRef::Text(text))
        }
        FieldKind::Bytes => Some(ValueRef::Bytes(written(scalar))),
        FieldKind::Unsigned => number::unsigned(digits(scalar)?).map(ValueRef::Unsigned),
        FieldKind::Signed => number::signed(digits(scalar)?).map(ValueRef::Signed),
        FieldKind::Float => number::float(digits(scalar)?).map(ValueRef::Float),
        FieldKind::Boolean => match scalar {
            Scalar::Boolean(truth) => Some(ValueRef::Boolean(truth)),
            Scalar::Text(text) => truth(text).map(ValueRef::Boolean),
            Scalar::Number(..) => None,
        },
        FieldKind::Date => match scalar {
            Scalar::Text(text) => parse_date(text.trim_ascii()).map(ValueRef::Date),
            Scalar::Boolean(_) | Scalar::Number(..) => None,
        },
    }
}

/// True or false as JSON writes them, with spaces around.
pub(super) fn truth(text: &[u8]) -> Option<bool> {
    match text.trim_ascii() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// A scalar as text.
#[inline]
pub(super) fn written(scalar: Scalar<'_>) -> &[u8] {
    match scalar {
        Scalar::Boolean(true) => b"true",
        Scalar::Boolean(false) => b"false",
        Scalar::Number(text, _) | Scalar::Text(text) => text,
    }
}

/// What may be a number.
#[inline]
fn digits(scalar: Scalar<'_>) -> Option<&[u8]> {
    match scalar {
        Scalar::Boolean(_) => None,
        Scalar::Number(text, _) => Some(text),
        Scalar::Text(text) => Some(text.trim_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Analyzer, Postings};

    fn text() -> FieldKind {
        FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies }
    }

    #[test]
    fn what_fits_is_converted_and_the_rest_is_a_conflict() {
        let number = |text: &'static str| Scalar::Number(text.as_bytes(), false);
        let string = |text: &'static str| Scalar::Text(text.as_bytes());
        let truth = Scalar::Boolean(true);
        for (kind, scalar, expected) in [
            (text(), string(" a "), Some(ValueRef::Text(b" a "))),
            (text(), number("1.50"), Some(ValueRef::Text(b"1.50"))),
            (FieldKind::Keyword, truth, Some(ValueRef::Text(b"true"))),
            (FieldKind::Keyword, string(""), Some(ValueRef::Text(b""))),
            (FieldKind::Path, string("/a/b"), Some(ValueRef::Text(b"/a/b"))),
            (FieldKind::Bytes, string("\0"), Some(ValueRef::Bytes(b"\0"))),
            (FieldKind::Unsigned, number("1e3"), Some(ValueRef::Unsigned(1000))),
            (FieldKind::Unsigned, string(" 007 "), Some(ValueRef::Unsigned(7))),
            (FieldKind::Unsigned, number("-1"), None),
            (FieldKind::Unsigned, number("1.5"), None),
            (FieldKind::Unsigned, string("7 apples"), None),
            (FieldKind::Unsigned, string(""), None),
            (FieldKind::Unsigned, truth, None),
            (FieldKind::Signed, number("-1.0"), Some(ValueRef::Signed(-1))),
            (FieldKind::Signed, string("+1"), Some(ValueRef::Signed(1))),
            (FieldKind::Float, number("1e400"), None),
            (FieldKind::Float, string("nan"), None),
            (FieldKind::Float, number("25e-1"), Some(ValueRef::Float(2.5))),
            (FieldKind::Boolean, truth, Some(ValueRef::Boolean(true))),
            (FieldKind::Boolean, string("false"), Some(ValueRef::Boolean(false))),
            (FieldKind::Boolean, string("False"), None),
            (FieldKind::Boolean, number("1"), None),
            (FieldKind::Date, string("1970-01-01 "), Some(ValueRef::Date(0))),
            (FieldKind::Date, string("yesterday"), None),
            (FieldKind::Date, number("0"), None),
            (FieldKind::Date, truth, None),
        ] {
            assert_eq!(convert(&kind, scalar), expected, "{kind:?} {scalar:?}");
        }
    }

    #[test]
    fn what_is_converted_fits_the_field_and_a_key_is_not_too_long() {
        let long = vec![b'1'; MAX_KEY + 1];
        let short = &long[..MAX_KEY];
        let kinds = [
            text(),
            FieldKind::Keyword,
            FieldKind::Unsigned,
            FieldKind::Signed,
            FieldKind::Float,
            FieldKind::Bytes,
            FieldKind::Boolean,
            FieldKind::Date,
            FieldKind::Path,
        ];
        let texts = [b"1".as_slice(), b"-1", b"true", b"1970-01-01", b"x", b"", b"\xff", short, &long];
        for (kind, text) in kinds.iter().flat_map(|kind| texts.map(|text| (kind, text))) {
            for scalar in [Scalar::Text(text), Scalar::Number(text, true), Scalar::Boolean(false)] {
                let value = convert(kind, scalar);
                assert!(value.is_none_or(|value| value.fits(kind)), "{kind:?} {value:?}");
            }
        }
        for kind in [FieldKind::Keyword, FieldKind::Path] {
            assert!(convert(&kind, Scalar::Text(short)).is_some());
            assert!(convert(&kind, Scalar::Text(&long)).is_none());
        }
        assert!(convert(&text(), Scalar::Text(&long)).is_some());
    }
}
