//! Values as JSON: numbers stay whole, dates are in RFC 3339, and bytes that are not text are kept exactly.

use std::borrow::Cow;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use scanns::schema::{Value, format_date};
use serde_json::Value as Json;

/// A text with `\xNN` for each byte that is not valid UTF-8.
pub(super) fn shown(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(ShownText::of(bytes).text),
    }
}

/// The bytes in base64, if they are not valid UTF-8.
pub(super) fn exact(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| STANDARD.encode(bytes))
}

/// A text that is shown, and where its bytes are in it.
pub(super) struct ShownText {
    pub(super) text: String,
    /// The places in the bytes after which the shown text is longer, and by how much in all.
    longer: Vec<(usize, usize)>,
}

impl ShownText {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut shown = ShownText { text: String::with_capacity(bytes.len()), longer: Vec::new() };
        let mut read = 0;
        for chunk in bytes.utf8_chunks() {
            shown.text.push_str(chunk.valid());
            read += chunk.valid().len();
            for byte in chunk.invalid() {
                // Writing to a string does not fail.
                let _ = write!(shown.text, "\\x{byte:02x}");
                read += 1;
                shown.longer.push((read, shown.text.len() - read));
            }
        }
        shown
    }

    /// The place of a byte in the shown text.
    pub(super) fn place(&self, byte: usize) -> usize {
        let after = self.longer.partition_point(|(place, _)| *place <= byte);
        byte + after.checked_sub(1).and_then(|at| self.longer.get(at)).map_or(0, |(_, more)| *more)
    }
}

/// A value. Bytes are hexadecimal; a float that JSON cannot write is null.
pub(super) fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => shown(text).into(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into(),
        Value::Unsigned(number) => (*number).into(),
        Value::Signed(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(flag) => (*flag).into(),
        Value::Date(moment) => format_date(*moment).into(),
    }
}

/// The bytes of a text in base64, if it is not valid UTF-8.
pub(super) fn exact_value(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => exact(text),
        _ => None,
    }
}

/// A score as the shortest number that parses to the same float of 32 bits.
pub(super) fn score(number: f32) -> Json {
    number.to_string().parse::<f64>().map_or(Json::Null, Json::from)
}

#[cfg(test)]
mod tests {
    use scanns::aggregate::Sum;

    use super::*;

    #[test]
    fn bytes_that_are_not_text_are_escaped_and_kept() {
        assert_eq!(shown(b"plain \\x"), "plain \\x");
        assert_eq!(exact(b"plain"), None);
        let bytes = b"a\xff\xfeb\xc3\xa4\xe2\x82z";
        assert_eq!(shown(bytes), "a\\xff\\xfebä\\xe2\\x82z");
        assert_eq!(STANDARD.decode(exact(bytes).unwrap()).unwrap(), bytes);
        let text = ShownText::of(bytes);
        let places: Vec<usize> = (0..=bytes.len()).map(|byte| text.place(byte)).collect();
        assert_eq!(places, [0, 1, 5, 9, 10, 11, 12, 16, 20, 21]);
        assert_eq!(text.text.len(), 21);
    }

    #[test]
    fn large_numbers_stay_whole() {
        assert_eq!(value(&Value::Unsigned(u64::MAX)).to_string(), "18446744073709551615");
        assert_eq!(Json::from(Sum::Whole(i128::from(u64::MAX) + 1)), "18446744073709551616");
        assert_eq!(score(0.1).to_string(), "0.1");
    }
}
