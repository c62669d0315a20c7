//! The order of `ls -v`: numbers in names count by their values, and extensions only if the rest is equal.
//!
//! It is the order of versions of Debian packages with additions of GNU: `.` and `..` come first, then names
//! that begin with a dot. Extensions at the end are `(\.[A-Za-z~][A-Za-z0-9~]*)*`. In what is between
//! numbers, `~` comes before the end of a name, letters before other bytes.

use std::cmp::Ordering;

/// Compares two names as versions.
pub(super) fn by_version(one: &[u8], other: &[u8]) -> Ordering {
    let rank = |name: &[u8]| match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    let ranks = rank(one).cmp(&rank(other));
    if ranks.is_ne() || rank(one) < 3 {
        return ranks;
    }
    let by_stem = by_numbers(stem(one), stem(other));
    by_stem.then_with(|| by_numbers(one, other))
}

/// A name without the extensions at its end; the first byte always belongs to it.
fn stem(name: &[u8]) -> &[u8] {
    let begins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'~');
    let goes_on = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'~';
    let mut at = 1;
    while at < name.len() {
        let length = at;
        while name.get(at) == Some(&b'.') && begins(name.get(at + 1)) {
            at += 1 + name.iter().skip(at + 1).take_while(goes_on).count();
        }
        if at == name.len() {
            return name.get(..length).unwrap_or(name);
        }
        at += usize::from(at == length);
    }
    name
}

/// Compares texts piece by piece: bytes that are no digits, then numbers.
fn by_numbers(one: &[u8], other: &[u8]) -> Ordering {
    let (mut one, mut other) = (one, other);
    while !one.is_empty() || !other.is_empty() {
        let has_text = |text: &[u8]| text.first().is_some_and(|byte| !byte.is_ascii_digit());
        while has_text(one) || has_text(other) {
            let order = weight(one).cmp(&weight(other));
            if order.is_ne() {
                return order;
            }
            (one, other) = (rest(one, 1), rest(other, 1));
        }
        let order = number(one).cmp(&number(other));
        if order.is_ne() {
            return order;
        }
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (one, other) = (rest(one, digits(one)), rest(other, digits(other)));
    }
    Ordering::Equal
}

fn rest(text: &[u8], from: usize) -> &[u8] {
    text.get(from..).unwrap_or_default()
}

/// The place of the first byte in the order.
fn weight(text: &[u8]) -> i32 {
    match text.first() {
        None => -1,
        Some(b'~') => -2,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(&byte) if byte.is_ascii_alphabetic() => byte.into(),
        Some(&byte) => i32::from(byte) + 256,
    }
}

/// The number at the start of a text, as the number of its digits and the digits themselves.
fn number(text: &[u8]) -> (usize, &[u8]) {
    let zeros = text.iter().take_while(|byte| **byte == b'0').count();
    let digits = rest(text, zeros).iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits, text.get(zeros..zeros + digits).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_and_extensions_come_last() {
        let sorted = [
            "", ".", "..", ".9", ".Y", ".a1", ".a10", "a", "a.b", "a.tar.gz", "a1", "a1.txt", "a01b", "a9",
            "a10", "a10.txt", "a-1", "b~", "b", "b1",
        ];
        for (at, one) in sorted.iter().enumerate() {
            for (other_at, other) in sorted.iter().enumerate() {
                let order = by_version(one.as_bytes(), other.as_bytes());
                assert_eq!(order, at.cmp(&other_at), "{one:?} {other:?}");
            }
        }
        assert_eq!(by_version(b"a01", b"a1"), Ordering::Equal);
    }
}
