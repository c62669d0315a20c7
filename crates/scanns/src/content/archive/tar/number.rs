//! The numbers in tar archives: the length of a block, and fields and records that are numbers.

use super::super::member::until_nul;

/// The length of a block, and of a header.
pub(super) const BLOCK: usize = 512;

/// The number in a field: octal text with blanks around it, or binary if the first bit is set. A blank field
/// is zero. None if it is neither, or exceeds 63 bits.
pub(super) fn number(field: &[u8]) -> Option<i64> {
    let first = *field.first()?;
    if first & 0x80 != 0 {
        // The next bit is the sign; the number is in two's complement.
        let start = if first & 0x40 != 0 { -1 } else { 0 };
        let mut value = (start << 6) | i128::from(first & 0x3f);
        for &byte in field.iter().skip(1) {
            value = (value << 8) | i128::from(byte);
        }
        return i64::try_from(value).ok();
    }
    let text = until_nul(field).trim_ascii();
    let mut value = 0_i64;
    for &byte in text {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 8)?;
        if value >> 60 != 0 {
            return None;
        }
        value = value << 3 | i64::from(digit);
    }
    Some(value)
}

/// Sets a value that is valid; an empty one removes it.
pub(super) fn set_parsed<T>(to: &mut Option<T>, value: &[u8], parse: fn(&[u8]) -> Option<T>) -> bool {
    if value.is_empty() {
        *to = None;
        return true;
    }
    match parse(value) {
        Some(value) => {
            *to = Some(value);
            true
        }
        None => false,
    }
}

/// A number of at most 63 bits in decimal digits.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| plain)?;
    text.parse().ok().filter(|&value| i64::try_from(value).is_ok())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_octal_text_or_binary() {
        let cases: [(&[u8], Option<i64>); 14] = [
            (b"0000644\0", Some(0o644)),
            (b"   644 \0", Some(0o644)),
            (b"644", Some(0o644)),
            (b"\0\0\0\0", Some(0)),
            (b"    ", Some(0)),
            (b"77777777777\0", Some(0o77_777_777_777)),
            (b"777777777777", Some(0o777_777_777_777)),
            (b"0000648\0", None),
            (b"-1", None),
            (b"", None),
            (b"\x80\0\0\0\0\0\0\x01\0\0\0\0", Some(1 << 32)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", Some(-2)),
            (b"\x80\0\0\0\x80\0\0\0\0\0\0\0", None),
            (b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", Some(i64::MAX)),
        ];
        for (field, value) in cases {
            assert_eq!(number(field), value, "{}", field.escape_ascii());
        }
    }
}
