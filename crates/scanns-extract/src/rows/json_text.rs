//! Texts and numbers as JSON writes them.

use std::fmt::Write as _;

/// Bytes that are looked at together; compilers make a few SIMD instructions of it.
const STEP: usize = 32;

/// Writes a string with its quotes.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Writes the inside of a string. Stretches that need no escape are copied whole.
pub(super) fn push_escaped(out: &mut Vec<u8>, mut rest: &[u8]) {
    loop {
        let (plain, after) = rest.split_at_checked(plain_len(rest)).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let Some((&byte, next)) = after.split_first() else { return };
        push_escape(out, byte);
        rest = next;
    }
}

/// The number of bytes before the first one that needs an escape.
fn plain_len(bytes: &[u8]) -> usize {
    let is_plain = |chunk: &&[u8]| !chunk.iter().fold(false, |any, &byte| any | needs_escape(byte));
    let start = bytes.chunks_exact(STEP).take_while(is_plain).count() * STEP;
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|&byte| needs_escape(byte)).unwrap_or(rest.len())
}

fn needs_escape(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes an integer.
pub(super) fn push_integer(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes the shortest digits that yield the same number again, with a point or an exponent: `1.0`, `1e16`.
/// The number must be finite.
pub(super) fn push_float(out: &mut Vec<u8>, number: impl zmij::Float) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
}

/// Writes the digits of a number, with a sign if it is negative, so that the last `scale` of them stand
/// behind a point. With a scale below zero, zeros follow.
pub(super) fn push_decimal(out: &mut Vec<u8>, number: &str, scale: i8) {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    out.extend_from_slice(sign.as_bytes());
    let Ok(behind) = usize::try_from(scale) else {
        out.extend_from_slice(digits.as_bytes());
        let zeros = if digits == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
        out.resize(out.len() + zeros, b'0');
        return;
    };
    let whole = digits.len().saturating_sub(behind);
    let (before, after) = digits.split_at_checked(whole).unwrap_or((digits, ""));
    out.extend_from_slice(if before.is_empty() { b"0" } else { before.as_bytes() });
    if behind > 0 {
        out.push(b'.');
        out.resize(out.len() + (behind - after.len()), b'0');
        out.extend_from_slice(after.as_bytes());
    }
}

/// Writes 16 bytes as a UUID with its quotes; false for other lengths.
pub(super) fn push_uuid(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let Ok(bytes) = <[u8; 16]>::try_from(bytes) else { return false };
    let mut text = String::with_capacity(38);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    push_string(out, &text);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_those_of_another_writer() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..5_000 {
            let alphabet: Vec<char> =
                "aaaaaaaaaaaaé\u{2028}\u{7f}😀\"\\\n\r\t\u{8}\u{c}\0\u{1f} ".chars().collect();
            let dense = random.bool();
            let letter = |random: &mut fastrand::Rng| {
                if dense || random.u8(..8) == 0 { random.choice(&alphabet).copied().unwrap() } else { 'x' }
            };
            let string: String = (0..random.usize(..150)).map(|_| letter(&mut random)).collect();
            let ours = text(|out| push_string(out, &string));
            assert_eq!(ours, serde_json::to_string(&string).unwrap(), "seed {seed}");
        }
    }

    #[test]
    fn decimal_numbers_have_their_point_where_the_scale_says() {
        for (number, scale, expected) in [
            ("12345", 2, "123.45"),
            ("-5", 2, "-0.05"),
            ("0", 1, "0.0"),
            ("0", 0, "0"),
            ("0", -3, "0"),
            ("100", 2, "1.00"),
            ("-170141183460469231731687303715884105728", 3, "-170141183460469231731687303715884105.728"),
            ("7", -2, "700"),
            ("7", 5, "0.00007"),
        ] {
            assert_eq!(text(|out| push_decimal(out, number, scale)), expected);
        }
    }

    #[test]
    fn floats_yield_the_same_number_again() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let (double, single) = (f64::from_bits(random.u64(..)), f32::from_bits(random.u32(..)));
            if double.is_finite() {
                let written = text(|out| push_float(out, double));
                let read: f64 = serde_json::from_str(&written).unwrap();
                // Without its feature for exact floats, serde_json may be off by one unit.
                assert!((read - double).abs() <= double.abs() * 1e-15, "seed {seed} {double:e} {written}");
                assert_eq!(written.parse::<f64>().unwrap().to_bits(), double.to_bits(), "seed {seed}");
            }
            if single.is_finite() {
                let written = text(|out| push_float(out, single));
                assert_eq!(written.parse::<f32>().unwrap().to_bits(), single.to_bits(), "seed {seed}");
            }
        }
        assert_eq!(text(|out| push_float(out, 1.0_f64)), "1.0");
        assert_eq!(text(|out| push_float(out, 0.1_f32)), "0.1");
    }

    #[test]
    fn a_uuid_has_16_bytes() {
        let bytes: Vec<u8> = (0..16).map(|byte| byte * 17).collect();
        let mut out = Vec::new();
        assert!(push_uuid(&mut out, &bytes));
        assert_eq!(out, b"\"00112233-4455-6677-8899-aabbccddeeff\"");
        assert!(!push_uuid(&mut out, &bytes[1..]));
    }
}
