//! The property set `\x05SummaryInformation`: title, author and dates ([MS-OLEPS]).
//!
//! `28 bytes, (class 16, offset u32)…`; at the offset `size u32, count u32, (property u32, offset u32)…`; a
//! value is `type u16, 0 u16`, and then a length and text, or a date.

use std::io::{Read, Seek};

use encoding_rs::{Encoding, WINDOWS_1252};

use super::super::bytes::{size_at, u16_at, u32_at, u64_at, utf16};
use super::super::charset;
use super::super::number::{NumberKind, written};
use super::compound::Compound;
use crate::output::Output;

/// The properties that are fields.
const FIELDS: [(u32, &str); 6] =
    [(2, "title"), (4, "author"), (3, "subject"), (5, "keywords"), (12, "created"), (13, "modified")];
/// Days from 1601-01-01, where file times begin, to 1899-12-30.
const DAYS_1601: f64 = 109_205.0;

/// Takes the fields. A damaged property set gives fewer of them.
pub(super) fn read<S: Read + Seek>(compound: &mut Compound<S>, output: &mut Output) {
    if let Ok(Some(stream)) = compound.stream("/\u{5}SummaryInformation") {
        let _ = fields(&stream, output);
    }
}

/// Takes the fields of a stream. `None`: it is too short.
fn fields(stream: &[u8], output: &mut Output) -> Option<()> {
    let set = stream.get(size_at(stream, 44)?..)?;
    let count = size_at(set, 4)?;
    let place = |wanted: u32| {
        let mut entries = set.get(8..)?.chunks_exact(8).take(count);
        let entry = entries.find(|entry| u32_at(entry, 0) == Some(wanted))?;
        set.get(size_at(entry, 4)?..)
    };
    let page = place(1).and_then(|value| u16_at(value, 4)).map(i32::from);
    let encoding = page.map_or(WINDOWS_1252, charset::of_code_page);
    for (property, name) in FIELDS {
        if let Some(value) = place(property).and_then(|value| value_text(value, encoding)) {
            output.field(name, &value);
        }
    }
    Some(())
}

/// A value as text: a string in the encoding of the set, a wide string, or a file time.
fn value_text(value: &[u8], encoding: &'static Encoding) -> Option<String> {
    let size = size_at(value, 4)?;
    let rest = value.get(8..)?;
    match u16_at(value, 0)? {
        30 => {
            let bytes = rest.get(..size.min(rest.len()))?;
            Some(encoding.decode_without_bom_handling(bytes).0.trim_end_matches('\0').to_owned())
        }
        31 => {
            let bytes = rest.get(..size.saturating_mul(2).min(rest.len()))?;
            Some(utf16(bytes).trim_end_matches('\0').to_owned())
        }
        64 => file_time(u64_at(value, 4)?),
        _ => None,
    }
}

/// A number of 100-nanosecond steps since 1601 as a date. `None`: it is unset, or before 1900.
pub(super) fn file_time(steps: u64) -> Option<String> {
    let seconds = u32::try_from(steps / 10_000_000 % 86_400).ok()?;
    let days = u32::try_from(steps / 10_000_000 / 86_400).ok()?;
    let serial = f64::from(days) - DAYS_1601 + f64::from(seconds) / 86_400.0;
    (61.0..2_958_466.0)
        .contains(&serial)
        .then(|| written(serial, NumberKind::DateTime, false).replace(' ', "T") + "Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_time_is_a_date() {
        assert_eq!(file_time(128_166_372_003_061_629).as_deref(), Some("2007-02-22T17:00:00Z"));
        assert_eq!(file_time(0), None);
        assert_eq!(file_time(u64::MAX), None);
    }
}
