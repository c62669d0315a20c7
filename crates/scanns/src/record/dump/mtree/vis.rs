//! Escapes of vis(3) in names and values.

/// Appends `text` with its escapes replaced to `into`; false if a backslash begins no known escape. Such a
/// backslash stays.
///
/// ```text
/// escape = \ooo (octal) | \xhh | \a \b \t \n \v \f \r \s (blank) \E (27) \\ \#
///        | \^C (control) | \M-C (C + 128) | \M^C (control + 128)
/// ```
pub(super) fn unescape(text: &[u8], into: &mut Vec<u8>) -> bool {
    let (mut rest, mut known) = (text, true);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        into.extend_from_slice(plain);
        match byte_of(escape.get(1..).unwrap_or_default()) {
            Some((byte, length)) => {
                into.push(byte);
                rest = escape.get(1 + length..).unwrap_or_default();
            }
            None => {
                known = false;
                into.push(b'\\');
                rest = escape.get(1..).unwrap_or_default();
            }
        }
    }
    into.extend_from_slice(rest);
    known
}

/// The byte that the escape `text`, without its backslash, stands for, and the length of the escape.
fn byte_of(text: &[u8]) -> Option<(u8, usize)> {
    let simple = |byte| Some((byte, 1));
    match *text {
        [b'0'..=b'7', ..] => octal(text),
        [b'a', ..] => simple(7),
        [b'b', ..] => simple(8),
        [b't', ..] => simple(b'\t'),
        [b'n', ..] => simple(b'\n'),
        [b'v', ..] => simple(11),
        [b'f', ..] => simple(12),
        [b'r', ..] => simple(b'\r'),
        [b's', ..] => simple(b' '),
        [b'E', ..] => simple(27),
        [byte @ (b'\\' | b'#'), ..] => simple(byte),
        [b'^', byte, ..] => Some((control(byte), 2)),
        [b'M', b'-', byte, ..] => Some((byte | 128, 3)),
        [b'M', b'^', byte, ..] => Some((control(byte) | 128, 3)),
        [b'x', high, low, ..] => {
            let digit = |digit| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            Some((digit(high)? << 4 | digit(low)?, 3))
        }
        _ => None,
    }
}

/// The byte of one to three octal digits.
fn octal(text: &[u8]) -> Option<(u8, usize)> {
    let length = text.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let digits = text.get(..length)?;
    let value = digits.iter().fold(0_u32, |value, digit| value << 3 | u32::from(digit - b'0'));
    Some((u8::try_from(value).ok()?, length))
}

/// The control character that `^` and `byte` name.
fn control(byte: u8) -> u8 {
    if byte == b'?' { 127 } else { byte & 31 }
}
