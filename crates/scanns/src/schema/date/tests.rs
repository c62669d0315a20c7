use super::calendar::{DAYS_OF_ERA, NANOSECONDS, SECONDS_OF_DAY};
use super::*;

/// A slow calendar: returns the day after a day.
fn next_day(year: i64, month: i64, day: i64) -> (i64, i64, i64) {
    let leap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0;
    let days = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let last = days[usize::try_from(month).unwrap() - 1];
    match (day == last, month) {
        (false, _) => (year, month, day + 1),
        (true, 12) => (year + 1, 1, 1),
        (true, _) => (year, month + 1, 1),
    }
}

#[test]
fn every_day_is_where_a_slow_calendar_has_it() {
    let mut date = (1970, 1, 1);
    let mut numbers = std::collections::HashMap::new();
    // Go backwards by two eras. The calendar repeats after each era, so days of 1970 - 800 are the days
    // of 1970, shifted.
    for number in -2 * DAYS_OF_ERA..2 * DAYS_OF_ERA {
        let (year, month, day) = date;
        let shifted = (year - 800, month, day);
        assert_eq!(days_since_1970(shifted.0, month, day), number, "{shifted:?}");
        assert_eq!(day_of(number), shifted);
        numbers.insert(shifted, number);
        date = next_day(year, month, day);
    }
    for year in 1600..=2300 {
        for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
            let text = format!("{year:04}-{month:02}-{day:02}");
            let expected = numbers.get(&(year, month, day));
            let parsed = parse_day(text.as_bytes()).map(|(day, _)| day);
            assert_eq!(parsed, expected.copied(), "{text}");
            let nanoseconds = expected.and_then(|days| days.checked_mul(SECONDS_OF_DAY * NANOSECONDS));
            assert_eq!(parse_date(text.as_bytes()), nanoseconds, "{text}");
        }
    }
}

#[test]
fn every_form_is_read() {
    for (text, seconds, nanoseconds) in [
        ("1970-01-01", 0, 0),
        ("1970-01-01T00:00:00Z", 0, 0),
        ("1970-01-01 00:00:01", 1, 0),
        ("1970-01-01t00:01:00z", 60, 0),
        ("1970-01-01T00:00:00.000000001", 0, 1),
        ("1970-01-01T00:00:00.1Z", 0, 100_000_000),
        ("1970-01-01T01:30:00+01:30", 0, 0),
        ("1969-12-31T23:00:00.25-01:00", 0, 250_000_000),
        ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
        ("2000-02-29T12:00:00Z", 951_825_600, 0),
        ("2038-01-19T03:14:08+00:00", 1 << 31, 0),
        ("1970/01/01", 0, 0),
        ("1970/01/01 00:01", 60, 0),
        ("1970-01-01T00:00Z", 0, 0),
        ("1970-01-01T01:00:00.5+0100", 0, 500_000_000),
        ("1970-01-01 01:00:00,5 +0100", 0, 500_000_000),
        ("1970-01-01 01:00:00+01", 0, 0),
        ("1970-01-01 00:00:01 UTC", 1, 0),
        ("1970-01-01+00:00:01.1234567890", 1, 123_456_789),
        ("1970-01-01T00:00:00.0000000000", 0, 0),
        ("19700101T000001Z", 1, 0),
        ("Thu, 1 Jan 1970 00:00:01 +0000", 1, 0),
        ("Thursday, 01 January 1970 00:01 GMT", 60, 0),
        ("1 Jan 70 00:00:01", 1, 0),
        ("Wed, 31 Dec 1969 19:00:00 -0500 (EST)", 0, 0),
        ("wed, 31 dec 1969 19:00:00 EST", 0, 0),
        ("Thu Jan  1 00:00:01 1970", 1, 0),
        ("Thu Jan  1 00:00:01.5000000000 1970", 1, 500_000_000),
        ("Thu Jan  1 00:00:01 UTC 1970", 1, 0),
        ("Thu Jan 1 01:00:01 1970 +0100", 1, 0),
        ("01/Jan/1970:01:00:01 +0100", 1, 0),
        ("[01/Jan/1970:01:00:01 +0100]", 1, 0),
        ("01/Jan/1970:00:00:01", 1, 0),
    ] {
        assert_eq!(parse_date(text.as_bytes()), Some(seconds * NANOSECONDS + nanoseconds), "{text}");
    }
    assert_eq!(parse_date(b"1677-09-21T00:12:43.145224192Z"), Some(i64::MIN));
    assert_eq!(parse_date(b"2262-04-11T23:47:16.854775807Z"), Some(i64::MAX));
    assert_eq!(parse_date(b"2262-04-12T00:47:16.854775807+01:00"), Some(i64::MAX));
}

#[test]
fn what_is_no_date_is_refused() {
    for text in [
        "",
        "1970",
        "1970-1-1",
        "1970-01",
        "70-01-01",
        "+1970-01-01",
        "1970-01-01T",
        "1970-01-01Z",
        "1970-01-01T24:00:00",
        "1970-01-01T00:60:00",
        "1970-01-01T00:00:60Z",
        "2016-12-31T23:59:60Z",
        "1970-01-01T00:00:00.",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00+1:00",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+00:60",
        "1970-01-01T00:00:00ZZ",
        "1970-01-01  00:00:00",
        " 1970-01-01",
        "1970-01-01 ",
        "1970-02-29",
        "1900-02-29",
        "1677-09-21T00:12:43.145224191Z",
        "2262-04-11T23:47:16.854775808Z",
        "0000-01-01",
        "9999-12-31",
        "19700101",
        "0",
        "1709288430",
        "1970-01/01",
        "1970-01-01T00:00:0",
        "1970-01-01T0000",
        "1970-01-01T00:00:00+1",
        "1970-01-01T00:00:00 CET",
        "1970-01-01 00:00:00  Z",
        "1 Jan 1970",
        "Thu",
        "Thu, 32 Jan 1970 00:00:00 GMT",
        "Thu, 1 Jam 1970 00:00:00 GMT",
        "Thu, 1 Jan 1970 00:00:00 GMT GMT",
        "Thu, 1 Jan 197 00:00:00 GMT",
        "Jan 1 00:00:00",
        "01/Jan/1970",
        "01/01/1970:00:00:00 +0000",
        "[01/Jan/1970:00:00:00 +0000",
        "a b c d e f g h",
        "١٩٧٠-٠١-٠١",
    ] {
        assert_eq!(parse_date(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn what_is_written_reads_back_and_no_bytes_do_harm() {
    let seed = 0x5eed_da7e;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..20_000 {
        let unit = [1, 1000, 1_000_000, NANOSECONDS][random.usize(..4)];
        let date = match round {
            0 => i64::MIN,
            1 => i64::MAX,
            2 => 0,
            _ => (random.i64(..) >> random.u32(..60)) / unit * unit,
        };
        let mut text = format_date(date).into_bytes();
        assert_eq!(parse_date(&text), Some(date), "seed {seed:x} round {round} date {date}");
        let at = random.usize(..text.len());
        text[at] = random.u8(..);
        text.truncate(random.usize(..=text.len()));
        if let Some(other) = parse_date(&text) {
            assert_eq!(parse_date(format_date(other).as_bytes()), Some(other), "seed {seed:x} {round}");
        }
    }
    assert_eq!(format_date(-1), "1969-12-31T23:59:59.999999999Z");
    assert_eq!(format_date(1_000), "1970-01-01T00:00:00.000001Z");
}

/// Every day from 1677 to 2262, by its number since 1970, counted one by one.
fn slow_days() -> std::collections::HashMap<i64, (i64, i64, i64)> {
    let mut date = (1600, 1, 1);
    // 370 years with 90 leap days lie between 1600 and 1970.
    let mut number = -(370 * 365 + 90);
    let mut days = std::collections::HashMap::new();
    while date.0 < 2263 {
        days.insert(number, date);
        date = next_day(date.0, date.1, date.2);
        number += 1;
    }
    assert_eq!(days[&0], (1970, 1, 1));
    days
}

/// A moment in the forms of other programs, in a zone that is `ahead` minutes ahead of UTC, each with the
/// nanoseconds of a second that it names.
fn written(slow: (i64, i64, i64), of_day: i64, nanosecond: i64, ahead: i64) -> Vec<(String, i64)> {
    const SHORT: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day) = slow;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let (sign, hours, minutes) = (if ahead < 0 { '-' } else { '+' }, ahead.abs() / 60, ahead.abs() % 60);
    let name = SHORT[usize::try_from(month).unwrap() - 1];
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    let zone = format!("{sign}{hours:02}{minutes:02}");
    let colon = format!("{sign}{hours:02}:{minutes:02}");
    vec![
        (format!("{year:04}-{month:02}-{day:02}T{clock}.{nanosecond:09}{colon}"), nanosecond),
        (format!("{year:04}-{month:02}-{day:02} {clock}.{nanosecond:09}7{zone}"), nanosecond),
        (format!("{year:04}/{month:02}/{day:02} {clock},{nanosecond:09} {zone}"), nanosecond),
        (format!("{year:04}{month:02}{day:02}T{}{zone}", clock.replace(':', "")), 0),
        (format!("{day} {name} {year:04} {clock} {zone}"), 0),
        (format!("Mon, {day:02} {name} {year:04} {clock}.{nanosecond:09} {zone}"), nanosecond),
        (format!("Sun {name} {day:2} {clock} {year:04} {zone}"), 0),
        (format!("{day:02}/{name}/{year:04}:{clock} {zone}"), 0),
    ]
}

#[test]
fn random_moments_in_every_form_are_read_as_a_slow_calendar_writes_them() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let days = slow_days();
    for _ in 0..5_000 {
        let day = random.i64(-106_000..106_000);
        let (of_day, nanosecond) = (random.i64(0..SECONDS_OF_DAY), random.i64(0..NANOSECONDS));
        let ahead = random.i64(-23 * 60..=23 * 60);
        for (text, nanosecond) in written(days[&day], of_day, nanosecond, ahead) {
            let seconds = day * SECONDS_OF_DAY + of_day - ahead * 60;
            let expected = seconds * NANOSECONDS + nanosecond;
            assert_eq!(parse_date(text.as_bytes()), Some(expected), "seed {seed:x} {text}");
        }
    }
}

#[test]
fn obsolete_forms_are_read_only_where_a_date_is_of_a_mail() {
    for (text, seconds) in [
        ("1 Jan 1970 (a (b)) 00:00:01 +0000", 1),
        ("Mar , 1 , Jan 70 0:0:1 Z", 1),
        ("1 Jan 070 00:00 GMT", 0),
        ("1 Jan 1970 00:00:60 A", 60),
        ("2 Jan 1970 00:00 +2400", 0),
    ] {
        assert_eq!(parse_rfc2822(text.as_bytes()), Some(seconds * NANOSECONDS), "{text}");
        assert_eq!(parse_date(text.as_bytes()), None, "{text}");
    }
    assert_eq!(parse_rfc2822(b"1 Jan 0001 00:00 GMT"), None);
}

#[test]
fn random_moments_are_read_as_numbers_in_every_unit() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..20_000 {
        let moment = match round {
            0 => i64::MIN,
            1 => i64::MAX,
            _ => random.i64(..) >> random.u32(..63),
        };
        for (unit, digits) in EpochUnit::ALL.into_iter().zip([9usize, 6, 3, 0]) {
            let padded = format!("{:010}", moment.unsigned_abs());
            let (whole, fraction) = padded.split_at(padded.len() - digits);
            let sign = if moment < 0 { "-" } else { "" };
            let mut texts =
                vec![format!("{sign}{whole}.{fraction}0"), format!("{sign}{whole}{fraction}e-{digits}")];
            texts.extend((digits == 0).then(|| format!("{sign}{whole}")));
            texts.extend(
                fraction.ends_with('0').then(|| format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))),
            );
            for text in texts.iter().filter(|text| !text.ends_with('.')) {
                assert_eq!(parse_epoch(text.as_bytes(), unit), Some(moment), "seed {seed:x} {unit:?} {text}");
            }
        }
    }
    for text in ["", "-", "+", ".", ".5", "1.", "1e", "e1", "1e99999", "1.5.5", "0x10", "1 ", "nan", "1_000"]
    {
        assert_eq!(parse_epoch(text.as_bytes(), EpochUnit::Seconds), None, "{text}");
    }
    assert_eq!(parse_epoch(b"9223372036.854775808", EpochUnit::Seconds), None);
    assert_eq!(parse_epoch(b"99999999999999999999999999", EpochUnit::Nanoseconds), None);
    assert_eq!(parse_epoch(b"1e32767", EpochUnit::Nanoseconds), None);
    assert_eq!(parse_epoch(b"0e32767", EpochUnit::Seconds), Some(0));
    assert_eq!(parse_epoch(b"1.7e9", EpochUnit::Seconds), Some(1_700_000_000 * NANOSECONDS));
    assert_eq!(parse_epoch(b"-1.5", EpochUnit::Seconds), Some(-1_500_000_000));
}

#[test]
fn the_unit_of_a_number_follows_from_its_size() {
    for (text, unit) in [
        ("1700000000", Some(EpochUnit::Seconds)),
        ("1700000000.1234567890", Some(EpochUnit::Seconds)),
        ("1700000000123", Some(EpochUnit::Milliseconds)),
        ("1.700000000123e15", Some(EpochUnit::Microseconds)),
        ("1700000000123456789", Some(EpochUnit::Nanoseconds)),
        ("17", None),
        ("5000000000", None),
        ("x", None),
    ] {
        assert_eq!(EpochUnit::guess(text.as_bytes()), unit, "{text}");
    }
}
