//! Numbers of tests: `5` is exactly 5, `+5` is more and `-5` is less.

use super::error::FindError;

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Less than the number.
    Less,
    /// The number.
    Equal,
    /// More than the number.
    More,
}

impl Comparison {
    /// The comparison that a sign asks for, and the number after it.
    pub(super) fn split(argument: &[u8]) -> (Comparison, &[u8]) {
        match argument {
            [b'+', rest @ ..] => (Comparison::More, rest),
            [b'-', rest @ ..] => (Comparison::Less, rest),
            rest => (Comparison::Equal, rest),
        }
    }
}

/// A number that a column is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberTest {
    pub(super) how: Comparison,
    pub(super) number: u64,
}

impl NumberTest {
    /// Reads the argument of the test `word`.
    pub(super) fn parse(word: &[u8], argument: &[u8]) -> Result<NumberTest, FindError> {
        let (how, digits) = Comparison::split(argument);
        let number = whole(digits);
        let number =
            number.ok_or_else(|| FindError::argument(word, argument, "write a number, 5, +5 or -5"))?;
        Ok(NumberTest { how, number })
    }

    /// Whether a value satisfies it.
    pub(super) fn matches(self, value: u64) -> bool {
        match self.how {
            Comparison::Less => value < self.number,
            Comparison::Equal => value == self.number,
            Comparison::More => value > self.number,
        }
    }

    /// The least and the greatest value that satisfy it; the least is greater where none does.
    pub(super) fn range(self) -> (u64, u64) {
        match self.how {
            Comparison::Less => self.number.checked_sub(1).map_or((1, 0), |greatest| (0, greatest)),
            Comparison::Equal => (self.number, self.number),
            Comparison::More => self.number.checked_add(1).map_or((1, 0), |least| (least, u64::MAX)),
        }
    }
}

/// Digits as strtoumax(3) reads them: after white space and a plus.
fn whole(text: &[u8]) -> Option<u64> {
    let text = skip_space(text);
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    digits.first().filter(|digit| digit.is_ascii_digit())?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The text without the white space at its start.
pub(super) fn skip_space(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    text.get(spaces..).unwrap_or_default()
}

/// A size that is compared in units, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeTest {
    pub(super) test: NumberTest,
    pub(super) unit: u64,
}

impl SizeTest {
    /// Reads the argument of `-size`.
    pub(super) fn parse(argument: &[u8]) -> Result<SizeTest, FindError> {
        let unit = match argument.last() {
            Some(b'b' | b'0'..=b'9') => Some(512),
            Some(b'c') => Some(1),
            Some(b'w') => Some(2),
            Some(b'k') => Some(1 << 10),
            Some(b'M') => Some(1 << 20),
            Some(b'G') => Some(1 << 30),
            _ => None,
        };
        let refuse = || {
            let expected =
                "write a number with a unit: c bytes, w 2 bytes, b 512 bytes, k KiB, M MiB or G GiB, as +10M";
            FindError::argument(b"-size", argument, expected)
        };
        let unit = unit.ok_or_else(refuse)?;
        let digits = match argument {
            [number @ .., b'b' | b'c' | b'w' | b'k' | b'M' | b'G'] => number,
            number => number,
        };
        let test = NumberTest::parse(b"-size", digits).map_err(|_| refuse())?;
        Ok(SizeTest { test, unit })
    }

    /// Whether a size in bytes satisfies it.
    pub(super) fn matches(self, size: u64) -> bool {
        self.test.matches(size.div_ceil(self.unit))
    }

    /// The least and the greatest size in bytes that satisfy it.
    pub(super) fn range(self) -> (u64, u64) {
        let (least, greatest) = self.test.range();
        if least > greatest {
            return (1, 0);
        }
        let first = least.checked_sub(1).map_or(0, |units| units.saturating_mul(self.unit).saturating_add(1));
        (first, greatest.saturating_mul(self.unit))
    }
}
