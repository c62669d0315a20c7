//! Parses and formats sizes, counts and times for people.

const SUFFIXES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// Bytes per MiB.
pub const MIB: u64 = 1 << 20;

/// Parses `4GiB`, `512MiB`, `1.5g`, `64k` or a plain number of bytes.
///
/// As elsewhere on the command line, `k` and `KiB` are 1024 and `kB` is 1000; case does not matter.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("'{text}' is not a size: write bytes, or a number with k, m, g or t, such as 512MiB");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let factor = factor(suffix.trim()).ok_or_else(wrong)?;
    let size = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor).ok_or("more than 16 EiB")?,
        Err(_) => rounded(number.parse::<f64>().map_err(|_| wrong())? * approximate(factor)),
    };
    if size == 0 { Err("must be more than zero".into()) } else { Ok(size) }
}

/// The nearest whole number, or the largest `u64`.
#[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes the nearest bound")]
#[expect(clippy::cast_sign_loss, reason = "a negative number becomes 0")]
pub fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// The factor of a suffix.
fn factor(suffix: &str) -> Option<u64> {
    let suffix = suffix.to_ascii_lowercase();
    let Some(letter) = suffix.chars().next().filter(|&c| c != 'b') else {
        return (suffix.len() <= 1).then_some(1);
    };
    let power = 1 + "kmgtp".find(letter)?;
    let power = u32::try_from(power).ok()?;
    match suffix.get(1..)? {
        "" | "ib" => 1024u64.checked_pow(power),
        "b" => 1000u64.checked_pow(power),
        _ => None,
    }
}

/// Bytes with the IEC suffix that leaves at least one digit: `999 B`, `1.50 GiB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = approximate(bytes) / 1024.0;
    let mut rank = 0;
    while value >= 1023.95 && rank + 1 < SUFFIXES.len() {
        value /= 1024.0;
        rank += 1;
    }
    let digits = if value < 10.0 { 2 } else { usize::from(value < 1000.0) };
    format!("{value:.digits$} {}", SUFFIXES.get(rank).unwrap_or(&"B"))
}

/// A whole number with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 file`, `1,234 files`, `2 queries`.
pub fn counted(number: u64, thing: &str) -> String {
    let number_of = count(number);
    if number == 1 {
        return format!("{number_of} {thing}");
    }
    if thing.ends_with("ss") {
        return format!("{number_of} {thing}es");
    }
    match thing.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{number_of} {stem}ies"),
        None => format!("{number_of} {thing}s"),
    }
}

/// Seconds as `0.25 s`, `12.3 s`, `4 min 05 s` or `2 h 07 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.995 {
        return format!("{seconds:.2} s");
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = rounded(seconds);
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// Bytes per second in MiB, 0 if no time has passed.
pub fn mib_per_second(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { approximate(bytes) / approximate(MIB) / seconds } else { 0.0 }
}

/// A count as a float, exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "for display and rates, where 53 bits are plenty")]
pub fn approximate(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("1", 1),
            ("4096", 4096),
            ("512b", 512),
            ("64k", 64 << 10),
            ("64K", 64 << 10),
            ("64KiB", 64 << 10),
            ("64kb", 64_000),
            ("512MiB", 512 << 20),
            ("4 GiB", 4 << 30),
            ("1.5g", 3 << 29),
            ("0.5k", 512),
            ("1.1k", 1126),
            ("2.25m", 9 << 18),
            ("1.3kB", 1300),
            ("2t", 2 << 40),
            ("16383p", 16383 << 50),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "", "g", "-1", "1x", "1kk", "1.2.3k", "0", "0.0001", "1e9", "4 GB/s", "16384p", ".", "bb", "1bb",
            "½k",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_read_back_within_their_digits() {
        for bytes in [1, 1023, 1024, 1 << 20, (1 << 20) - 1, 3 << 29, 123_456_789_012, u64::MAX / 2] {
            let text = size(bytes);
            let back = approximate(parse_size(&text).unwrap());
            assert!((back / approximate(bytes) - 1.0).abs() < 0.006, "{bytes} is written {text}");
        }
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(3 << 29), "1.50 GiB");
        assert_eq!(size((1 << 20) - 1), "1.00 MiB");
    }

    #[test]
    fn counts_and_times_are_easy_to_read() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!((counted(1, "file"), counted(1000, "file")), ("1 file".into(), "1,000 files".into()));
        assert_eq!(["query", "key"].map(|thing| counted(512, thing)), ["512 queries", "512 keys"]);
        assert_eq!(counted(1, "query"), "1 query");
        for (seconds, text) in [
            (0.254, "0.25 s"),
            (12.34, "12.3 s"),
            (59.96, "1 min 00 s"),
            (245.0, "4 min 05 s"),
            (7650.0, "2 h 07 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert!((mib_per_second(10 << 20, 2.0) - 5.0).abs() < 1e-9);
        assert!(mib_per_second(10, 0.0).abs() < 1e-9);
    }
}
