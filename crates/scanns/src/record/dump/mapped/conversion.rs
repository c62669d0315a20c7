//! How the values of a column are written: the names of conversions, and the fields that they fit.

use jiff::tz::TimeZone;

use super::field::{FieldClass, MapField};
use crate::schema::EpochUnit;

/// How the values of a column are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Conversion {
    /// A text as it is, a decimal number, a word.
    #[default]
    Plain,
    /// A text with bytes as `%XX`.
    Percent,
    /// Like `Percent`, with `+` for a blank.
    Url,
    /// A text in base 64.
    Base64,
    /// A number since 1970.
    Epoch(EpochUnit),
    /// A date in RFC 3339 or close to it; one without a zone is in this zone, or in UTC.
    Iso(Option<TimeZone>),
    /// A date in a format of `strptime`.
    Strptime(String),
    /// A size in units of this number of bytes.
    Units(u64),
    /// A size with a suffix.
    Human,
    /// Permissions in octal digits.
    Octal,
    /// Permissions as a decimal number, as `os.stat` has them.
    Decimal,
    /// Permissions as `drwxr-x---`.
    Symbolic,
    /// A number in hexadecimal digits.
    Hexadecimal,
    /// True for a directory, false for a file.
    IsDirectory,
}

/// Conversions by their names, and the classes of values that they fit.
static NAMES: [(&str, Conversion, &[FieldClass]); 17] = [
    ("text", Conversion::Plain, &[FieldClass::Text]),
    ("percent", Conversion::Percent, &[FieldClass::Text]),
    ("url", Conversion::Url, &[FieldClass::Text]),
    ("base64", Conversion::Base64, &[FieldClass::Text]),
    ("epoch", Conversion::Epoch(EpochUnit::Seconds), &[FieldClass::Time]),
    ("epoch-ms", Conversion::Epoch(EpochUnit::Milliseconds), &[FieldClass::Time]),
    ("epoch-us", Conversion::Epoch(EpochUnit::Microseconds), &[FieldClass::Time]),
    ("epoch-ns", Conversion::Epoch(EpochUnit::Nanoseconds), &[FieldClass::Time]),
    ("iso", Conversion::Iso(None), &[FieldClass::Time]),
    ("bytes", Conversion::Units(1), &[FieldClass::Size]),
    ("k", Conversion::Units(1024), &[FieldClass::Size]),
    ("blocks512", Conversion::Units(512), &[FieldClass::Size]),
    ("human", Conversion::Human, &[FieldClass::Size]),
    ("octal", Conversion::Octal, &[FieldClass::Mode]),
    ("decimal", Conversion::Decimal, &[FieldClass::Mode, FieldClass::Number]),
    ("symbolic", Conversion::Symbolic, &[FieldClass::Mode, FieldClass::Kind]),
    ("hex", Conversion::Hexadecimal, &[FieldClass::Number]),
];

/// More names of conversions of types.
static KINDS: [(&str, Conversion); 2] =
    [("words", Conversion::Plain), ("is-directory", Conversion::IsDirectory)];

impl Conversion {
    /// The conversion with a name, for a field.
    pub(super) fn parse(text: &str, field: MapField) -> Result<Self, String> {
        let class = field.class();
        let named = NAMES.iter().find(|(name, _, classes)| *name == text && classes.contains(&class));
        if let Some((_, conversion, _)) = named {
            return Ok(conversion.clone());
        }
        let kind = KINDS.iter().find(|(name, _)| *name == text && class == FieldClass::Kind);
        if let Some((_, conversion)) = kind {
            return Ok(conversion.clone());
        }
        match text.strip_prefix("iso:") {
            Some(zone) if class == FieldClass::Time => return iso(zone),
            _ if text.contains('%') && class == FieldClass::Time => {
                return Ok(Conversion::Strptime(text.to_owned()));
            }
            _ => {}
        }
        Err(format!("'{text}' is not a conversion of {}: write one of {}", field.name(), names(class)))
    }

    /// Its name for a field.
    pub(super) fn name(&self, field: MapField) -> String {
        let class = field.class();
        match self {
            Conversion::Plain => match class {
                FieldClass::Text => "text".into(),
                FieldClass::Kind => "words".into(),
                FieldClass::Flag => "true or false".into(),
                _ => "decimal".into(),
            },
            Conversion::Iso(Some(zone)) => {
                let offset = zone.to_fixed_offset().ok().map(|offset| offset.to_string());
                format!("iso:{}", zone.iana_name().map(str::to_owned).or(offset).unwrap_or_default())
            }
            Conversion::Strptime(format) => format.clone(),
            Conversion::IsDirectory => "is-directory".into(),
            other => NAMES.iter().find(|(_, known, _)| known == other).map_or("", |(name, ..)| name).into(),
        }
    }
}

/// A date without an offset in a zone: `+02:00` or `Europe/Berlin`.
fn iso(zone: &str) -> Result<Conversion, String> {
    let fixed = jiff::fmt::strtime::parse("%:z", zone).ok().and_then(|parsed| parsed.offset());
    let zone = match fixed {
        Some(offset) => TimeZone::fixed(offset),
        None => TimeZone::get(zone)
            .map_err(|_| format!("'{zone}' is not a time zone: write one such as +02:00 or Europe/Berlin"))?,
    };
    Ok(Conversion::Iso(Some(zone)))
}

/// The names of the conversions that fit a class.
fn names(class: FieldClass) -> String {
    let mut names: Vec<&str> =
        NAMES.iter().filter(|(.., classes)| classes.contains(&class)).map(|(name, ..)| *name).collect();
    match class {
        FieldClass::Kind => names.extend(KINDS.iter().map(|(name, _)| *name)),
        FieldClass::Time => names.extend(["iso:ZONE", "%Y-%m-%d"]),
        _ => {}
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_have_names_and_fit_some_fields_only() {
        for (text, field) in [
            ("epoch-ms", MapField::Modified),
            ("iso", MapField::Born),
            ("iso:+02:00", MapField::Born),
            ("iso:Europe/Berlin", MapField::Born),
            ("%d/%m/%Y", MapField::Accessed),
            ("k", MapField::Size),
            ("blocks512", MapField::Blocks),
            ("human", MapField::Size),
            ("octal", MapField::Mode),
            ("decimal", MapField::Mode),
            ("symbolic", MapField::Kind),
            ("percent", MapField::Path),
            ("url", MapField::Path),
            ("base64", MapField::Target),
            ("hex", MapField::Inode),
            ("words", MapField::Kind),
            ("is-directory", MapField::Kind),
            ("text", MapField::Owner),
        ] {
            let name = Conversion::parse(text, field).unwrap().name(field);
            assert_eq!(name.trim_end_matches(":00"), text.trim_end_matches(":00"));
        }
        for (text, field) in [
            ("epoch", MapField::Size),
            ("octal", MapField::Path),
            ("", MapField::Size),
            ("iso:Nowhere/None", MapField::Modified),
            ("%Y", MapField::Size),
        ] {
            assert!(Conversion::parse(text, field).is_err(), "{text}");
        }
        let error = Conversion::parse("x", MapField::Size).unwrap_err();
        assert_eq!(error, "'x' is not a conversion of size: write one of bytes, k, blocks512, human");
    }
}
