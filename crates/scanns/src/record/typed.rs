//! From the scalar of a record to the value of a field. A scalar that does not fit the field is a *conflict*.
//!
//! | field | takes |
//! |---|---|
//! | text, keyword, path, bytes | strings; numbers and booleans as they are written |
//! | unsigned, signed | numbers that are exactly integers in range, such as `1`, `1.0`, `1e3`; such strings |
//! | float | numbers whose closest double is finite; such strings |
//! | boolean | `true` and `false`, also as strings |
//! | date | strings that [`parse_date`](crate::schema::parse_date) reads; numbers with a unit as format |
//!
//! Every value of CSV is a string. A string with a number, a boolean or a date may have spaces around it; a
//! number in a string may have a plus sign and leading zeros. A text of more than 32 KiB, the maximum for a
//! key, is a conflict in a keyword or path. A [`ValueFormat`] can say that dates or numbers are written in
//! another way.

use super::json::number;
use super::scalar::{Scalar, parse_boolean};
use crate::schema::{FieldKind, MAX_KEY, ValueFormat, ValueRef};

/// The kind of a field, and how its values are written in records.
#[derive(Clone, Debug)]
pub(super) struct WrittenKind {
    pub kind: FieldKind,
    pub format: ValueFormat,
}

/// The value of a field; `None` if the scalar does not fit.
#[inline]
pub(super) fn convert<'r>(written: &WrittenKind, scalar: Scalar<'r>) -> Option<ValueRef<'r>> {
    match (&written.kind, written.format) {
        (FieldKind::Date, format) => match scalar {
            Scalar::Text(text) => format.date(text.trim_ascii()).map(ValueRef::Date),
            Scalar::Number(text, _) if matches!(format, ValueFormat::Epoch(_)) => {
                format.date(text).map(ValueRef::Date)
            }
            Scalar::Boolean(_) | Scalar::Number(..) => None,
        },
        (kind, ValueFormat::Decimal { .. }) => match scalar {
            Scalar::Text(text) => formatted_number(kind, written.format, text.trim_ascii()),
            Scalar::Boolean(_) | Scalar::Number(..) => plain(kind, scalar),
        },
        (kind, _) => plain(kind, scalar),
    }
}

/// A number that is written in a format.
fn formatted_number(kind: &FieldKind, format: ValueFormat, text: &[u8]) -> Option<ValueRef<'static>> {
    let mut digits = Vec::with_capacity(text.len());
    format.plain_number(text, &mut digits).then_some(())?;
    match kind {
        FieldKind::Unsigned => number::unsigned(&digits).map(ValueRef::Unsigned),
        FieldKind::Signed => number::signed(&digits).map(ValueRef::Signed),
        FieldKind::Float => number::float(&digits).map(ValueRef::Float),
        _ => None,
    }
}

/// The value of a field without a format.
#[inline]
fn plain<'r>(kind: &FieldKind, scalar: Scalar<'r>) -> Option<ValueRef<'r>> {
    match kind {
        FieldKind::Text { .. } => Some(ValueRef::Text(scalar.as_text())),
        FieldKind::Keyword | FieldKind::Path => {
            let text = scalar.as_text();
            (text.len() <= MAX_KEY).then_some(ValueRef::Text(text))
        }
        FieldKind::Bytes => Some(ValueRef::Bytes(scalar.as_text())),
        FieldKind::Unsigned => number::unsigned(digits(scalar)?).map(ValueRef::Unsigned),
        FieldKind::Signed => number::signed(digits(scalar)?).map(ValueRef::Signed),
        FieldKind::Float => number::float(digits(scalar)?).map(ValueRef::Float),
        FieldKind::Boolean => match scalar {
            Scalar::Boolean(boolean) => Some(ValueRef::Boolean(boolean)),
            Scalar::Text(text) => parse_boolean(text).map(ValueRef::Boolean),
            Scalar::Number(..) => None,
        },
        FieldKind::Date => None,
    }
}

/// The text of a scalar that may be a number.
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

    fn auto(kind: &FieldKind) -> WrittenKind {
        WrittenKind { kind: kind.clone(), format: ValueFormat::Auto }
    }

    #[test]
    fn formats_say_how_dates_and_numbers_are_written() {
        let number = |text: &'static str| Scalar::Number(text.as_bytes(), false);
        let string = |text: &'static str| Scalar::Text(text.as_bytes());
        for (kind, format, scalar, expected) in [
            (FieldKind::Date, "epoch-s", string(" 1.5 "), Some(ValueRef::Date(1_500_000_000))),
            (FieldKind::Date, "epoch-ms", number("-1"), Some(ValueRef::Date(-1_000_000))),
            (FieldKind::Date, "epoch-ms", string("1970-01-01"), None),
            (FieldKind::Date, "rfc2822", string("1 Jan 1970 00:00 GMT"), Some(ValueRef::Date(0))),
            (FieldKind::Date, "rfc2822", string("1970-01-01"), None),
            (FieldKind::Date, "rfc3339", number("0"), None),
            (FieldKind::Float, "1.234,56", string("1.234,5"), Some(ValueRef::Float(1234.5))),
            (FieldKind::Unsigned, "1.234,56", string("1.234"), Some(ValueRef::Unsigned(1234))),
            (FieldKind::Signed, "1'234.56", string("-1'234"), Some(ValueRef::Signed(-1234))),
            (FieldKind::Unsigned, "1.234,56", number("7"), Some(ValueRef::Unsigned(7))),
            (FieldKind::Unsigned, "1.234,56", string("1,5"), None),
            (FieldKind::Float, "1234,56", string("1.5"), None),
        ] {
            let format = ValueFormat::parse(format).unwrap();
            let written = WrittenKind { kind, format };
            assert_eq!(convert(&written, scalar), expected, "{written:?} {scalar:?}");
        }
    }

    #[test]
    fn scalars_that_fit_are_converted_and_others_conflict() {
        let number = |text: &'static str| Scalar::Number(text.as_bytes(), false);
        let string = |text: &'static str| Scalar::Text(text.as_bytes());
        let boolean = Scalar::Boolean(true);
        for (kind, scalar, expected) in [
            (text(), string(" a "), Some(ValueRef::Text(b" a "))),
            (text(), number("1.50"), Some(ValueRef::Text(b"1.50"))),
            (FieldKind::Keyword, boolean, Some(ValueRef::Text(b"true"))),
            (FieldKind::Keyword, string(""), Some(ValueRef::Text(b""))),
            (FieldKind::Path, string("/a/b"), Some(ValueRef::Text(b"/a/b"))),
            (FieldKind::Bytes, string("\0"), Some(ValueRef::Bytes(b"\0"))),
            (FieldKind::Unsigned, number("1e3"), Some(ValueRef::Unsigned(1000))),
            (FieldKind::Unsigned, string(" 007 "), Some(ValueRef::Unsigned(7))),
            (FieldKind::Unsigned, number("-1"), None),
            (FieldKind::Unsigned, number("1.5"), None),
            (FieldKind::Unsigned, string("7 apples"), None),
            (FieldKind::Unsigned, string(""), None),
            (FieldKind::Unsigned, boolean, None),
            (FieldKind::Signed, number("-1.0"), Some(ValueRef::Signed(-1))),
            (FieldKind::Signed, string("+1"), Some(ValueRef::Signed(1))),
            (FieldKind::Float, number("1e400"), None),
            (FieldKind::Float, string("nan"), None),
            (FieldKind::Float, number("25e-1"), Some(ValueRef::Float(2.5))),
            (FieldKind::Boolean, boolean, Some(ValueRef::Boolean(true))),
            (FieldKind::Boolean, string("false"), Some(ValueRef::Boolean(false))),
            (FieldKind::Boolean, string("False"), None),
            (FieldKind::Boolean, number("1"), None),
            (FieldKind::Date, string("1970-01-01 "), Some(ValueRef::Date(0))),
            (FieldKind::Date, string("yesterday"), None),
            (FieldKind::Date, number("0"), None),
            (FieldKind::Date, boolean, None),
        ] {
            assert_eq!(convert(&auto(&kind), scalar), expected, "{kind:?} {scalar:?}");
        }
    }

    #[test]
    fn converted_values_fit_their_fields_and_keys_are_not_too_long() {
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
                let value = convert(&auto(kind), scalar);
                assert!(value.is_none_or(|value| value.fits(kind)), "{kind:?} {value:?}");
            }
        }
        for kind in [FieldKind::Keyword, FieldKind::Path] {
            assert!(convert(&auto(&kind), Scalar::Text(short)).is_some());
            assert!(convert(&auto(&kind), Scalar::Text(&long)).is_none());
        }
        assert!(convert(&auto(&text()), Scalar::Text(&long)).is_some());
    }
}
