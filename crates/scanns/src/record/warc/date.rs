//! Dates of records: WARC-Date (RFC 3339 by the specification) and the 14 digits of ARC.

use super::deviations::{BAD_DATE, REWRITTEN_DATE, ROUGH_DATE};
use crate::record::deviations::Deviations;
use crate::schema::is_rfc3339;

/// The date of a record as RFC 3339, or None if it is not a time.
///
/// Accepts what RFC 3339 does, an offset without a colon, the 14 digits of ARC, and dates of reduced
/// precision as WARC 1.1 allows them.
pub(super) fn warc_date(date: &[u8], deviations: &mut Deviations) -> Option<Vec<u8>> {
    if date.is_empty() {
        return None;
    }
    if let Some(read) = rough_date(date) {
        deviations.add(ROUGH_DATE);
        return Some(read);
    }
    let read = match date.iter().all(u8::is_ascii_digit) {
        true => arc_date(date),
        false => with_colon(date).filter(|date| is_rfc3339(date)),
    };
    match &read {
        None => deviations.add(BAD_DATE),
        Some(read) if read != date => deviations.add(REWRITTEN_DATE),
        Some(_) => {}
    }
    read
}

/// The date of an ARC record as RFC 3339: 14 digits, of which 12 are needed; more are left out.
pub(super) fn arc_date(digits: &[u8]) -> Option<Vec<u8>> {
    let [year @ .., _, _, _, _, _, _, _, _] = digits.get(..12)? else { return None };
    let two = |at: usize| digits.get(at..at + 2);
    let parts = [year, two(4)?, two(6)?, two(8)?, two(10)?, two(12).unwrap_or(b"00")];
    let mut date = Vec::new();
    for (part, after) in parts.iter().zip(b"--T::Z") {
        date.extend_from_slice(part);
        date.push(*after);
    }
    is_rfc3339(&date).then_some(date)
}

/// The first instant of a year, a month, a day or a minute: `2016`, `2016-01`, `2016-01-11`,
/// `2016-01-11T23:24Z`.
fn rough_date(date: &[u8]) -> Option<Vec<u8>> {
    let (start, rest) = date.split_at_checked(date.len().min(16))?;
    let missing = match start.len() {
        4 => "-01-01T00:00:00Z",
        7 => "-01T00:00:00Z",
        10 => "T00:00:00Z",
        16 if !rest.is_empty() => ":00",
        _ => return None,
    };
    let whole = [start, missing.as_bytes(), rest].concat();
    with_colon(&whole).filter(|date| is_rfc3339(date))
}

/// A date with a colon in its offset.
fn with_colon(date: &[u8]) -> Option<Vec<u8>> {
    let mut date = date.to_vec();
    let place = date.len().checked_sub(5)?;
    let offset = date.get(place..)?;
    if matches!(offset, [b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit)) {
        date.insert(place + 3, b':');
    }
    Some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_kept_rewritten_or_refused() {
        let rows: [(&str, Option<&str>); 35] = [
            ("2017-03-06T04:03:53Z", Some("2017-03-06T04:03:53Z")),
            ("2017-03-06T04:03:53.123456Z", Some("2017-03-06T04:03:53.123456Z")),
            ("2017-03-06T04:03:53-08:00", Some("2017-03-06T04:03:53-08:00")),
            ("2017-03-06T04:03:53-0800", Some("2017-03-06T04:03:53-08:00")),
            ("20140216050221", Some("2014-02-16T05:02:21Z")),
            ("201404010000000000", Some("2014-04-01T00:00:00Z")),
            ("201402160502", Some("2014-02-16T05:02:00Z")),
            ("2009-03-65T08:43:19-0800", None),
            ("2009-02-29T08:43:19Z", None),
            ("2008-02-29T08:43:19Z", Some("2008-02-29T08:43:19Z")),
            ("2009-02-20T24:43:19Z", None),
            ("2009-02-20T04:43:19.Z", None),
            ("2009-02-20T04:43:19", None),
            ("20149916050221", None),
            ("2014", Some("2014-01-01T00:00:00Z")),
            ("2016-01", Some("2016-01-01T00:00:00Z")),
            ("2016-01-11", Some("2016-01-11T00:00:00Z")),
            ("2016-01-11T23:24Z", Some("2016-01-11T23:24:00Z")),
            ("2016-01-11T23:24+01:00", Some("2016-01-11T23:24:00+01:00")),
            ("2016-01-11T23:24", None),
            ("2016-13", None),
            ("2015-02-29", None),
            ("2016-1", None),
            ("201601", None),
            ("20160111", None),
            ("yesterday", None),
            ("0001-01-01t00:00:00z", Some("0001-01-01t00:00:00z")),
            ("2016-12-31 23:59:60Z", Some("2016-12-31 23:59:60Z")),
            ("2016-12-31T23:59:61Z", None),
            ("2016-12-31T1:02:03Z", None),
            ("2016-12-31T23:59:00,5Z", None),
            ("2016-12-31T23:59:00 Z", None),
            ("2016-12-31T23:59:00+24:00", None),
            ("2016/12/31T23:59:00Z", None),
            ("2016-12-31", Some("2016-12-31T00:00:00Z")),
        ];
        for (date, expected) in rows {
            let mut deviations = Deviations::default();
            let read = warc_date(date.as_bytes(), &mut deviations);
            assert_eq!(read.as_deref(), expected.map(str::as_bytes), "{date}");
            assert_eq!(deviations.kinds().is_empty(), expected == Some(date), "{date}");
        }
    }
}
