//! How the values of a column are written, if its first values say it for certain.

use super::conversion::Conversion;
use super::field::{FieldClass, MapField};
use super::table_map::{ColumnType, TableColumn};
use super::value::{self, TableValue, is_unknown};
use crate::record::dump::number;
use crate::schema::EpochUnit;

/// The conversion of a column for a field.
///
/// # Errors
/// Why it is not certain.
pub(super) fn conversion(
    field: MapField,
    column: &TableColumn,
    hint: Option<&Conversion>,
) -> Result<Conversion, String> {
    let samples: Vec<&[u8]> = column
        .samples
        .iter()
        .map(|sample| sample.trim_ascii())
        .filter(|sample| !is_unknown(sample))
        .collect();
    match field.class() {
        FieldClass::Text => Ok(Conversion::Plain),
        FieldClass::Time if column.kind == ColumnType::Moment => Ok(Conversion::Iso(None)),
        FieldClass::Time => time(&samples, hint),
        FieldClass::Size => size(&samples, hint),
        FieldClass::Mode => mode(&samples),
        FieldClass::Kind => kind(&samples, hint),
        FieldClass::Number => {
            let are_numbers = samples.iter().all(|sample| {
                value::number(&Conversion::Plain, TableValue::Text(sample)).is_ok_and(|found| found.is_some())
            });
            certain(are_numbers, Conversion::Plain, "its values are not whole numbers")
        }
        FieldClass::Flag => {
            let are_flags = samples.iter().all(|sample| value::flag(TableValue::Text(sample)).is_ok());
            certain(are_flags, Conversion::Plain, "its values are not true or false")
        }
    }
}

fn certain(is_certain: bool, conversion: Conversion, reason: &str) -> Result<Conversion, String> {
    if is_certain { Ok(conversion) } else { Err(reason.into()) }
}

/// Dates, or numbers whose unit follows from the years 1990 to 2100.
fn time(samples: &[&[u8]], hint: Option<&Conversion>) -> Result<Conversion, String> {
    const UNITS: &str = "the unit of its numbers is not certain: say epoch, epoch-ms, epoch-us or epoch-ns";
    let are_numbers =
        samples.iter().all(|sample| sample.iter().all(|byte| b"+-.eE0123456789".contains(byte)));
    let is_date = |sample: &&[u8]| {
        value::moment(&Conversion::Iso(None), TableValue::Text(sample)).is_ok_and(|found| found.is_some())
    };
    if samples.is_empty() {
        return hint
            .cloned()
            .ok_or_else(|| "its first rows have no values, so their form is not known".into());
    }
    if samples.iter().all(is_date) {
        return Ok(Conversion::Iso(None));
    }
    if !are_numbers {
        return Err("its values are neither numbers since 1970 nor dates such as 2026-01-31 12:00:00".into());
    }
    let is_small = |sample: &&&[u8]| {
        value::moment(&Conversion::Epoch(EpochUnit::Seconds), TableValue::Text(sample))
            .is_ok_and(|found| found.is_some_and(|moment| moment < 631_152_000_000_000_000))
    };
    let mut unit = None;
    let mut certain = 0;
    for sample in samples {
        match (EpochUnit::guess(sample), unit) {
            (Some(found), None) => (unit, certain) = (Some(found), 1),
            (Some(found), Some(unit)) if found != unit => return Err(UNITS.into()),
            (Some(_), _) => certain += 1,
            (None, _) => {}
        }
    }
    let small = samples.iter().filter(is_small).count();
    let unit = unit.filter(|_| certain * 2 > samples.len() && certain + small == samples.len());
    match (unit.map(Conversion::Epoch), hint) {
        (Some(found), Some(hint)) if found != *hint => Err(UNITS.into()),
        (Some(found), _) => Ok(found),
        (None, _) => Err(UNITS.into()),
    }
}

/// Bytes or blocks as the name says, or sizes with suffixes.
fn size(samples: &[&[u8]], hint: Option<&Conversion>) -> Result<Conversion, String> {
    let all = |conversion: &Conversion| {
        let read = |sample: &&[u8]| {
            value::size(conversion, TableValue::Text(sample)).is_ok_and(|found| found.is_some())
        };
        samples.iter().all(read)
    };
    match hint {
        Some(units) if all(units) => Ok(units.clone()),
        None if all(&Conversion::Units(1)) => Ok(Conversion::Units(1)),
        _ if all(&Conversion::Human) => Ok(Conversion::Human),
        _ => Err("its values are not sizes".into()),
    }
}

/// Permissions as `ls` writes them, in octal digits, or as a decimal number.
fn mode(samples: &[&[u8]]) -> Result<Conversion, String> {
    const DIGITS: &str = "its numbers may be octal or decimal: say octal or decimal";
    if samples.is_empty() {
        return Err("its first rows have no values, so their form is not known".into());
    }
    if samples.iter().all(|sample| number::permissions(sample).is_some()) {
        return Ok(Conversion::Symbolic);
    }
    let read = |conversion: &Conversion, sample: &[u8]| {
        value::mode(conversion, TableValue::Text(sample)).ok().flatten().map(|(mode, _)| mode)
    };
    let is_octal = samples.iter().all(|sample| read(&Conversion::Octal, sample).is_some_and(is_octal_mode));
    let is_decimal = samples.iter().all(|sample| read(&Conversion::Decimal, sample).is_some_and(has_type));
    match (is_octal, is_decimal) {
        (true, false) => Ok(Conversion::Octal),
        (false, true) => Ok(Conversion::Decimal),
        _ if samples.iter().all(|sample| read(&Conversion::Decimal, sample).is_some()) => Err(DIGITS.into()),
        _ => Err("its values are not permissions".into()),
    }
}

/// True if the mode has the bits of a type, and no other bits than modes have.
fn has_type(mode: u32) -> bool {
    mode < 0o200_000 && crate::source::EntryKind::of_mode(mode).is_some()
}

/// True if octal digits are usual permissions: the group and others may not do what the owner may not.
fn is_octal_mode(mode: u32) -> bool {
    let (owner, group, others) = (mode >> 6 & 7, mode >> 3 & 7, mode & 7);
    (mode <= 0o7777 || has_type(mode)) && group & !owner == 0 && others & !owner == 0
}

fn kind(samples: &[&[u8]], hint: Option<&Conversion>) -> Result<Conversion, String> {
    let candidates = hint.into_iter().chain(&[Conversion::Plain, Conversion::Symbolic]);
    for conversion in candidates {
        let read = |sample: &&[u8]| {
            value::kind(conversion, TableValue::Text(sample)).is_ok_and(|found| found.is_some())
        };
        if samples.iter().all(read) {
            return Ok(conversion.clone());
        }
    }
    Err("its values are not types such as file and directory".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(field: &str, samples: &[&str]) -> Result<String, String> {
        let field = MapField::named(field).unwrap();
        let samples = samples.iter().map(|sample| sample.as_bytes().to_vec()).collect();
        let column = TableColumn { samples, ..TableColumn::default() };
        conversion(field, &column, None).map(|conversion| conversion.name(field))
    }

    #[test]
    fn the_unit_of_times_follows_from_their_size_and_the_form_from_their_look() {
        for (samples, expected) in [
            (&["1700000000", "1600000000.5", "0"][..], "epoch"),
            (&["1700000000000", "1600000000123"], "epoch-ms"),
            (&["1700000000000000"], "epoch-us"),
            (&["1700000000123456789", ""], "epoch-ns"),
            (&["1.7e9"], "epoch"),
            (&["2026-01-31", "2026-01-31 12:00:00", "2026-01-31T12:00:00.5+02:00", "null"], "iso"),
        ] {
            assert_eq!(of("mtime", samples), Ok(expected.into()), "{samples:?}");
        }
        for samples in [
            &["1700000000", "1600000000123"][..],
            &["0", "0"],
            &[],
            &["soon"],
            &["5000000000000"],
            &["20260131"],
        ] {
            assert!(of("mtime", samples).is_err(), "{samples:?}");
        }
    }

    #[test]
    fn digits_of_permissions_are_octal_or_decimal_only_where_this_is_certain() {
        for (samples, expected) in [
            (&["0644", "755"][..], Ok("octal")),
            (&["100644", "040755", "0o120777"], Ok("octal")),
            (&["33188", "16877"], Ok("decimal")),
            (&["33261"], Ok("decimal")),
            (&["drwxr-x---", "-rw-r--r--"], Ok("symbolic")),
            (&["420"], Err("may be octal or decimal")),
            (&["420", "493"], Err("may be octal or decimal")),
            (&["rw"], Err("not permissions")),
            (&[], Err("no values")),
        ] {
            match (of("mode", samples), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{samples:?}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{samples:?} {found}"),
                other => panic!("{samples:?} {other:?}"),
            }
        }
    }

    #[test]
    fn sizes_have_suffixes_and_types_are_words() {
        assert_eq!(of("size", &["12", "0", "1.0"]), Ok("bytes".into()));
        assert_eq!(of("size", &["12", "10K", "1.5 GiB"]), Ok("human".into()));
        assert!(of("size", &["12", "large"]).is_err());
        assert_eq!(of("type", &["f", "Directory", "symbolic link"]), Ok("words".into()));
        assert_eq!(of("type", &["drwxr-xr-x"]), Ok("symbolic".into()));
        assert!(of("type", &["text/plain"]).is_err());
        assert!(of("uid", &["0", "-1"]).is_err());
    }
}
