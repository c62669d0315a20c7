//! The bytes that a bracket expression of a pattern matches.

use std::ops::RangeInclusive;

/// A set of bytes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BracketBytes([u64; 4]);

impl BracketBytes {
    pub(super) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|bits| bits >> (byte & 63) & 1 == 1)
    }

    pub(super) fn add(&mut self, byte: u8) {
        if let Some(bits) = self.0.get_mut(usize::from(byte >> 6)) {
            *bits |= 1 << (byte & 63);
        }
    }

    pub(super) fn add_range(&mut self, range: RangeInclusive<u8>) {
        range.for_each(|byte| self.add(byte));
    }

    /// Adds the bytes of a class such as `alpha`; false if git knows no such class.
    pub(super) fn add_class(&mut self, name: &[u8]) -> bool {
        let belongs: fn(&u8) -> bool = match name {
            b"alnum" => u8::is_ascii_alphanumeric,
            b"alpha" => u8::is_ascii_alphabetic,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => u8::is_ascii_control,
            b"digit" => u8::is_ascii_digit,
            b"graph" => u8::is_ascii_graphic,
            b"lower" => u8::is_ascii_lowercase,
            b"print" => |byte| matches!(byte, b' '..=b'~'),
            b"punct" => u8::is_ascii_punctuation,
            // Unlike C, git does not count vertical tabs and form feeds.
            b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
            b"upper" => u8::is_ascii_uppercase,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => return false,
        };
        (0..=u8::MAX).filter(belongs).for_each(|byte| self.add(byte));
        true
    }

    /// All other bytes but the slash, or the same bytes without it.
    pub(super) fn within_names(mut self, negated: bool) -> Self {
        if negated {
            self.0.iter_mut().for_each(|bits| *bits = !*bits);
        }
        if let Some(bits) = self.0.get_mut(usize::from(b'/' >> 6)) {
            *bits &= !(1 << (b'/' & 63));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_added_and_never_a_slash() {
        let mut set = BracketBytes::default();
        set.add(0xff);
        set.add_range(b'-'..=b'1');
        assert!(set.add_class(b"upper") && !set.add_class(b"uppercase"));
        let (some, others) = (set.within_names(false), set.within_names(true));
        for byte in 0..=u8::MAX {
            let expected = matches!(byte, 0xff | b'-' | b'.' | b'0' | b'1' | b'A'..=b'Z');
            assert_eq!(some.has(byte), expected, "{byte}");
            assert_eq!(others.has(byte), !expected && byte != b'/', "{byte}");
        }
        let mut reversed = BracketBytes::default();
        let (first, last) = (b'z', b'a');
        reversed.add_range(first..=last);
        assert_eq!(reversed, BracketBytes::default());
    }
}
