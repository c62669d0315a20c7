//! Numbers: their grammar in JSON, and their exact value as integers and in double precision.
//!
//! An integer may be written with a fraction and an exponent, as in `1.0`, `1e3` and `12300e-2`: only the
//! value counts, and it is computed from the digits, never from a floating-point number. A number that is not
//! exactly an integer in range is refused; nothing is rounded except to double precision.

use crate::record::error::RecordError;

/// Finds the end of the number that starts at `start`; also returns true if the number has neither fraction
/// nor exponent.
///
/// # Errors
/// Text that is not a number of JSON: `+1`, `01`, `.5`, `5.`, `1e`.
#[inline]
pub(in crate::record) fn end(bytes: &[u8], start: usize) -> Result<(usize, bool), RecordError> {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = |mut at: usize| {
        while digit(at) {
            at += 1;
        }
        at
    };
    let first = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = match bytes.get(first) {
        Some(b'0') if digit(first + 1) => {
            return Err(RecordError::expected(first + 1, "no digit after a leading zero"));
        }
        Some(b'0'..=b'9') => digits(first + 1),
        _ => return Err(RecordError::expected(first, "a digit")),
    };
    let mut whole = true;
    if bytes.get(at) == Some(&b'.') {
        if !digit(at + 1) {
            return Err(RecordError::expected(at + 1, "a digit after the decimal point"));
        }
        (at, whole) = (digits(at + 2), false);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if !digit(at + 1 + sign) {
            return Err(RecordError::expected(at + 1 + sign, "a digit of the exponent"));
        }
        (at, whole) = (digits(at + 2 + sign), false);
    }
    Ok((at, whole))
}

/// The parts of a decimal number.
struct DecimalParts<'t> {
    negative: bool,
    /// Before the decimal point, and after it.
    digits: [&'t [u8]; 2],
    /// The power of ten. A value too far from zero for 64 bits is clamped, which leaves the number out of
    /// range.
    exponent: i64,
}

/// Splits a number. It accepts more forms than JSON: a plus sign, leading zeros, no digits on one side of the
/// point.
fn decimal(text: &[u8]) -> Option<DecimalParts<'_>> {
    let (negative, text) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let (before, rest) = digits(text);
    let (behind, rest) = match rest.split_first() {
        Some((b'.', rest)) => digits(rest),
        _ => ([].as_slice(), rest),
    };
    if before.is_empty() && behind.is_empty() {
        return None;
    }
    let exponent = match rest.split_first() {
        None => 0,
        Some((b'e' | b'E', power)) => exponent(power)?,
        Some(_) => return None,
    };
    Some(DecimalParts { negative, digits: [before, behind], exponent })
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, &[]))
}

/// The number after `e`, clamped to 64 bits, which is out of any range.
fn exponent(power: &[u8]) -> Option<i64> {
    let (negative, power) = match power.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, power),
    };
    if power.is_empty() || !power.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    let value = power.iter().fold(0, add);
    Some(if negative { -value } else { value })
}

/// Sign and magnitude of an integer of up to 20 digits; `None` for everything else.
fn integer(text: &[u8]) -> Option<(bool, u128)> {
    let DecimalParts { negative, digits: [before, behind], exponent } = decimal(text)?;
    let zeros = |digits: &[u8]| digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    // The significant digits of the fraction, or, if there are none, of the digits before the point.
    let behind = behind.get(..behind.len() - zeros(behind)).unwrap_or_default();
    let trimmed = if behind.is_empty() { zeros(before) } else { 0 };
    let before = before.get(..before.len() - trimmed).unwrap_or_default();
    let mut digits = before.iter().chain(behind).skip_while(|&&digit| digit == b'0');
    let count = digits.clone().count();
    if count == 0 {
        return Some((negative, 0));
    }
    let shift = i64::try_from(trimmed).ok()? - i64::try_from(behind.len()).ok()?;
    let power = u32::try_from(exponent.checked_add(shift)?).ok()?;
    if count + usize::try_from(power).ok()? > 20 {
        return None;
    }
    let value =
        digits.try_fold(0u128, |sum, digit| sum.checked_mul(10)?.checked_add((digit - b'0').into()))?;
    Some((negative, value.checked_mul(10u128.checked_pow(power)?)?))
}

/// The value of up to 18 digits.
#[inline]
fn short(text: &[u8]) -> Option<u64> {
    let digit = |sum: u64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0'));
    if text.is_empty() || text.len() > 18 { None } else { text.iter().try_fold(0, digit) }
}

/// The exact value of a number from 0 to 2⁶⁴ - 1.
#[inline]
pub(in crate::record) fn unsigned(text: &[u8]) -> Option<u64> {
    if let Some(number) = short(text) {
        return Some(number);
    }
    match integer(text)? {
        (_, 0) => Some(0),
        (negative, number) => u64::try_from(number).ok().filter(|_| !negative),
    }
}

/// The exact value of a number from -2⁶³ to 2⁶³ - 1.
#[inline]
pub(in crate::record) fn signed(text: &[u8]) -> Option<i64> {
    if let Some(number) =
        short(text.strip_prefix(b"-").unwrap_or(text)).and_then(|short| i64::try_from(short).ok())
    {
        return Some(if text.starts_with(b"-") { -number } else { number });
    }
    let (negative, number) = integer(text)?;
    let number = i128::try_from(number).ok()?;
    i64::try_from(if negative { -number } else { number }).ok()
}

/// The closest number of double precision, if it is finite.
#[inline]
pub(in crate::record) fn float(text: &[u8]) -> Option<f64> {
    if text.len() <= 15
        && let Some(number) = short(text)
    {
        // Exact, because it is below 10¹⁵.
        return Some(number as f64);
    }
    // Rust also parses `inf` and `nan`.
    decimal(text)?;
    std::str::from_utf8(text).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// True for digits with an optional minus sign and without leading zeros: an integer rather than a phone
/// number.
pub(in crate::record) fn is_plain_integer(text: &[u8]) -> bool {
    end(text, 0) == Ok((text.len(), true))
}

/// True for a number as JSON writes it.
pub(in crate::record) fn is_plain(text: &[u8]) -> bool {
    end(text, 0).is_ok_and(|(end, _)| end == text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_in_every_spelling() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e5", 0),
            ("0e999999999999999999999", 0),
            ("1.0", 1),
            ("1e3", 1000),
            ("1E+3", 1000),
            ("12300e-2", 123),
            ("0.00123e5", 123),
            ("1.5e1", 15),
            ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("-9223372036854775808.000", i64::MIN),
            ("-922337203685477580.8e1", i64::MIN),
            ("+7", 7),
            ("007", 7),
            ("7.", 7),
            (".7e1", 7),
            ("-00000000000000000000000000000000000000000007", -7),
        ] {
            assert_eq!(signed(text.as_bytes()), Some(number), "{text}");
            assert_eq!(unsigned(text.as_bytes()), u64::try_from(number).ok(), "{text}");
        }
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"1844674407370955161.50e1"), Some(u64::MAX));
        for text in [
            "18446744073709551616",
            "99999999999999999999",
            "1e20",
            "100000000000000000000",
            "0.5",
            "1e-1",
            "15e-1",
            "1e-999999999999999999999",
            "1e999999999999999999999",
            "",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            "1 ",
            " 1",
            "0x10",
            "1_000",
            "1,000",
            "inf",
            "NaN",
            "--1",
            "٣",
        ] {
            assert_eq!((signed(text.as_bytes()), unsigned(text.as_bytes())), (None, None), "{text}");
        }
        assert_eq!(signed(b"9223372036854775808"), None);
        assert_eq!(signed(b"-9223372036854775809"), None);
    }

    #[test]
    fn a_thousand_digits_yield_no_wrong_value() {
        let ones = "1".repeat(1000);
        let zeros = "0".repeat(1000);
        assert_eq!(unsigned(ones.as_bytes()), None);
        assert_eq!(unsigned(format!("{ones}e-980").as_bytes()), None);
        assert_eq!(unsigned(format!("1{zeros}e-1000").as_bytes()), Some(1));
        assert_eq!(unsigned(format!("0.{zeros}1e1001").as_bytes()), Some(1));
        assert_eq!(unsigned(format!("12.{zeros}").as_bytes()), Some(12));
        assert_eq!(signed(format!("-{zeros}12.{zeros}e1").as_bytes()), Some(-120));
        assert_eq!(float(ones.as_bytes()), None);
        assert_eq!(float(format!("{ones}e-1000").as_bytes()), Some(1.0 / 9.0));
        assert_eq!(float(format!("0.{zeros}1").as_bytes()), Some(0.0));
    }

    #[test]
    fn random_integers_survive_any_shift_of_the_point() {
        let seed = 0x5eed_4a3b;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..50_000 {
            let number = random.i64(..) >> random.u32(..64);
            let digits = number.unsigned_abs().to_string();
            let point = random.usize(..=digits.len());
            let zeros = "0".repeat(random.usize(..4));
            let (before, behind) = digits.split_at(point);
            let sign = if number < 0 { "-" } else { "" };
            let text = format!("{sign}{zeros}{before}.{behind}{zeros}e{}", behind.len());
            let context = format!("seed {seed:x} round {round} {text}");
            assert_eq!(signed(text.as_bytes()), Some(number), "{context}");
            assert_eq!(unsigned(text.as_bytes()), u64::try_from(number).ok(), "{context}");
            assert_eq!(float(number.to_string().as_bytes()), Some(number as f64), "{context}");
            let real = f64::from_bits(random.u64(..));
            if real.is_finite() {
                assert_eq!(float(format!("{real:e}").as_bytes()), Some(real), "{context}");
            }
        }
    }

    #[test]
    fn floats_are_the_closest_and_finite() {
        assert_eq!(float(b"0.1"), Some(0.1));
        assert_eq!(float(b"999999999999999"), Some(999_999_999_999_999.0));
        assert_eq!(float(b"9007199254740993"), Some(9_007_199_254_740_992.0));
        assert_eq!(float(b"-0").map(f64::is_sign_negative), Some(true));
        assert_eq!(float(b".5"), Some(0.5));
        for text in ["1e309", "-1e309", "inf", "nan", "infinity", "", "1e", "0x1", "1.2.3"] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_grammar_is_the_one_of_json() {
        for (text, whole) in
            [("0", true), ("-0", true), ("10", true), ("-1.5", false), ("1e5", false), ("1.0E-05", false)]
        {
            assert_eq!(end(text.as_bytes(), 0), Ok((text.len(), whole)), "{text}");
        }
        for text in ["", "-", "+1", "01", "-01", ".5", "5.", "1.e5", "1e", "1e+", "-a", "00"] {
            assert!(end(text.as_bytes(), 0).is_err(), "{text}");
        }
        assert_eq!(end(b"12abc", 0), Ok((2, true)));
        assert!(is_plain_integer(b"-12") && !is_plain_integer(b"012") && !is_plain_integer(b"1.0"));
        assert!(is_plain(b"1.0") && !is_plain(b"1.0 ") && !is_plain(b"+1"));
    }
}
