//! How the values of a field are written in records, where that does not follow from their text.

use std::fmt;

use super::date::{EpochUnit, parse_date, parse_epoch, parse_log_date, parse_rfc2822, parse_rfc3339};
use super::{FieldEntry, FieldKind};
use crate::error::{Error, Result};

/// How dates or numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueFormat {
    /// Dates in any form that [`parse_date`] reads, and numbers as JSON writes them.
    #[default]
    Auto,
    /// Dates that are numbers since 1970.
    Epoch(EpochUnit),
    /// Dates in RFC 3339 and forms close to it.
    Rfc3339,
    /// Dates in RFC 2822, as mails have them, or as `date` writes them.
    Rfc2822,
    /// Dates of the common log format.
    Log,
    /// Numbers with this decimal point, and with this character between groups of thousands, if any.
    Decimal {
        /// The decimal point: `.` or `,`.
        point: u8,
        /// The character between groups: `.`, `,`, `'` or a space.
        group: Option<u8>,
    },
}

/// The formats, by the names that schema files use. Numbers are named by an example.
const NAMES: [(&str, ValueFormat); 14] = [
    ("auto", ValueFormat::Auto),
    ("epoch-s", ValueFormat::Epoch(EpochUnit::Seconds)),
    ("epoch-ms", ValueFormat::Epoch(EpochUnit::Milliseconds)),
    ("epoch-us", ValueFormat::Epoch(EpochUnit::Microseconds)),
    ("epoch-ns", ValueFormat::Epoch(EpochUnit::Nanoseconds)),
    ("rfc3339", ValueFormat::Rfc3339),
    ("rfc2822", ValueFormat::Rfc2822),
    ("log", ValueFormat::Log),
    ("1234,56", ValueFormat::DECIMALS[0]),
    ("1.234,56", ValueFormat::DECIMALS[1]),
    ("1 234,56", ValueFormat::DECIMALS[2]),
    ("1,234.56", ValueFormat::DECIMALS[3]),
    ("1 234.56", ValueFormat::DECIMALS[4]),
    ("1'234.56", ValueFormat::DECIMALS[5]),
];

impl ValueFormat {
    /// The formats of numbers with other marks than JSON's.
    pub(crate) const DECIMALS: [Self; 6] = [
        ValueFormat::Decimal { point: b',', group: None },
        ValueFormat::Decimal { point: b',', group: Some(b'.') },
        ValueFormat::Decimal { point: b',', group: Some(b' ') },
        ValueFormat::Decimal { point: b'.', group: Some(b',') },
        ValueFormat::Decimal { point: b'.', group: Some(b' ') },
        ValueFormat::Decimal { point: b'.', group: Some(b'\'') },
    ];

    /// Parses the name of a format, such as `epoch-ms`, `rfc2822` or `1.234,56`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with all names.
    pub fn parse(name: &str) -> Result<Self> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format).ok_or_else(|| Error::UnknownName {
            what: "format",
            name: name.into(),
            known: NAMES.map(|(name, _)| name).join(" or ").replacen(" or ", ", ", NAMES.len() - 2),
        })
    }

    /// The name that [`ValueFormat::parse`] accepts.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("auto", |(name, _)| name)
    }

    /// True if the values of fields of this kind can be written like this.
    pub fn fits(self, kind: &FieldKind) -> bool {
        match self {
            ValueFormat::Auto => true,
            ValueFormat::Decimal { .. } => {
                matches!(kind, FieldKind::Unsigned | FieldKind::Signed | FieldKind::Float)
            }
            _ => *kind == FieldKind::Date,
        }
    }

    /// Parses a date; returns nanoseconds since 1970.
    #[inline]
    pub(crate) fn date(self, text: &[u8]) -> Option<i64> {
        match self {
            ValueFormat::Epoch(unit) => parse_epoch(text, unit),
            ValueFormat::Rfc3339 => parse_rfc3339(text),
            ValueFormat::Rfc2822 => parse_rfc2822(text),
            ValueFormat::Log => parse_log_date(text),
            ValueFormat::Auto | ValueFormat::Decimal { .. } => parse_date(text),
        }
    }

    /// Writes a number of this format as JSON writes it into `plain`; returns false if the text is not one.
    ///
    /// Groups have three digits, except for the first one. Without any mark between groups, a number has no
    /// groups.
    pub(crate) fn plain_number(self, text: &[u8], plain: &mut Vec<u8>) -> bool {
        plain.clear();
        let ValueFormat::Decimal { point, group } = self else {
            plain.extend_from_slice(text);
            return true;
        };
        let digits = match text.split_first() {
            Some((sign @ (b'-' | b'+'), digits)) => {
                plain.extend((*sign == b'-').then_some(b'-'));
                digits
            }
            _ => text,
        };
        let mut parts = digits.splitn(2, |byte| *byte == point);
        let (whole, fraction) = (parts.next().unwrap_or_default(), parts.next());
        let are_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let groups = group.map_or(1, |group| whole.split(|byte| *byte == group).count());
        for (number, part) in whole.split(|byte| Some(*byte) == group).enumerate() {
            let fits = match (groups, number) {
                (1, _) => true,
                (_, 0) => part.len() <= 3,
                _ => part.len() == 3,
            };
            if !fits || !are_digits(part) {
                return false;
            }
            plain.extend_from_slice(part);
        }
        if let Some(fraction) = fraction {
            plain.push(b'.');
            plain.extend_from_slice(fraction);
            return are_digits(fraction);
        }
        true
    }

    /// What to write into a schema file so that a field takes a value like this; `None` if only a field of
    /// texts does.
    pub fn hint(entry: &FieldEntry, value: &[u8]) -> Option<String> {
        let value = value.trim_ascii();
        let format = match entry.kind {
            FieldKind::Date => EpochUnit::guess(value)
                .map(ValueFormat::Epoch)
                .or_else(|| parse_date(value).map(|_| ValueFormat::Auto)),
            FieldKind::Float => Self::of_number(value, false),
            FieldKind::Unsigned | FieldKind::Signed => Self::of_number(value, true),
            _ => None,
        };
        let is_integer = matches!(entry.kind, FieldKind::Unsigned | FieldKind::Signed);
        match format {
            Some(format) => Some(format!("format = \"{}\"", format.name())),
            None if is_integer => number_type(value).map(|kind| format!("type = \"{kind}\"")),
            None => None,
        }
    }

    /// The first decimal format in which a text that JSON cannot read is a number, or an integer.
    fn of_number(text: &[u8], is_integer: bool) -> Option<Self> {
        let mut plain = Vec::new();
        let is_marked = text.iter().any(|byte| matches!(byte, b',' | b'\'' | b' '))
            || text.iter().filter(|byte| **byte == b'.').count() > 1;
        Self::DECIMALS
            .into_iter()
            .filter(|_| is_marked)
            .find(|format| format.plain_number(text, &mut plain) && !(is_integer && plain.contains(&b'.')))
    }
}

/// The type of number that takes a value which an integer field does not take.
fn number_type(value: &[u8]) -> Option<&'static str> {
    let text =
        std::str::from_utf8(value).ok().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit()))?;
    match text.parse::<i64>() {
        Ok(_) => Some("signed"),
        Err(_) => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|_| "float"),
    }
}

impl fmt::Display for ValueFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_others_are_refused_with_all_of_them() {
        for (name, format) in NAMES {
            assert_eq!((ValueFormat::parse(name).unwrap(), format.name()), (format, name));
        }
        let error = ValueFormat::parse("epoch").unwrap_err().to_string();
        assert!(error.contains("epoch-ms, ") && error.ends_with("1 234.56 or 1'234.56"), "{error}");
    }

    #[test]
    fn random_numbers_in_every_format_are_written_as_json_writes_them() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let (whole, fraction) = (random.u64(..) >> random.u32(..64), random.u32(..100_000));
            let sign = if random.bool() { "-" } else { "" };
            for (name, format) in NAMES {
                let ValueFormat::Decimal { point, group } = format else { continue };
                let digits = whole.to_string();
                let mut grouped = String::new();
                for (at, digit) in digits.chars().enumerate() {
                    if at > 0 && (digits.len() - at) % 3 == 0 {
                        grouped.extend(group.map(char::from));
                    }
                    grouped.push(digit);
                }
                let text = format!("{sign}{grouped}{}{fraction}", char::from(point));
                let mut plain = Vec::new();
                assert!(format.plain_number(text.as_bytes(), &mut plain), "seed {seed:x} {name} {text}");
                assert_eq!(String::from_utf8(plain).unwrap(), format!("{sign}{whole}.{fraction}"));
            }
        }
    }

    #[test]
    fn what_is_no_number_of_a_format_is_refused() {
        let german = ValueFormat::parse("1.234,56").unwrap();
        let mut plain = Vec::new();
        for text in
            ["", "-", ",5", "1,", "1,2,3", "12.34", "1.2345", "1234.567", "1..234", "x", "1.234,5 6", "--1"]
        {
            assert!(!german.plain_number(text.as_bytes(), &mut plain), "{text}");
        }
        for (text, expected) in
            [("1234,5", "1234.5"), ("1.234", "1234"), ("+7", "7"), ("-1.234.567,8", "-1234567.8")]
        {
            assert!(german.plain_number(text.as_bytes(), &mut plain), "{text}");
            assert_eq!(plain, expected.as_bytes());
        }
    }

    #[test]
    fn a_value_that_does_not_fit_says_what_to_write() {
        let date = FieldEntry::new("when", FieldKind::Date);
        let price = FieldEntry::new("price", FieldKind::Float);
        let count = FieldEntry::new("count", FieldKind::Unsigned);
        for (entry, value, hint) in [
            (&date, "1700000000.1234567890", Some("format = \"epoch-s\"")),
            (&date, "1700000000123", Some("format = \"epoch-ms\"")),
            (&date, "soon", None),
            (&price, "1.234,56", Some("format = \"1.234,56\"")),
            (&price, "1234,56", Some("format = \"1234,56\"")),
            (&price, "unknown", None),
            (&count, "1.5", Some("type = \"float\"")),
            (&count, "-7", Some("type = \"signed\"")),
            (&count, "1,234", Some("format = \"1,234.56\"")),
            (&count, "many", None),
        ] {
            assert_eq!(ValueFormat::hint(entry, value.as_bytes()).as_deref(), hint, "{value}");
        }
    }
}
