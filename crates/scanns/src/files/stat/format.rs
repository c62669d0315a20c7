//! The formats of stat: text, escapes with `--printf`, and directives.
//!
//! Grammar: `%`, flags of `'-+ #0`, a width, a precision, `H` or `L` before `d` and `r`, and a letter. What
//! has no meaning is printed as `?`, and a percent sign at the end as it stands.

use crate::files::find::PrintLayout;

/// The greatest width and precision.
const WIDEST: usize = 1 << 16;

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatPiece {
    /// Text as it is.
    Text(Vec<u8>),
    /// A value of the entry.
    Value(StatDirective),
}

/// A value and how it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatDirective {
    pub(super) layout: PrintLayout,
    /// `H` or `L` before the letter, for the major or the minor number of a device; 0 for none.
    pub(super) half: u8,
    pub(super) letter: u8,
}

/// Reads a format, in which a backslash begins an escape if `escapes`.
pub(super) fn pieces(format: &[u8], escapes: bool) -> Vec<StatPiece> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), Vec::new(), format);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' if escapes => rest = escape(after, &mut text),
            b'%' => match directive(after) {
                (_, None) => text.push(b'%'),
                (_, Some(directive)) if directive.letter == b'%' => {
                    text.push(b'%');
                    rest = after.get(1..).unwrap_or_default();
                }
                (length, Some(directive)) => {
                    pieces.push(StatPiece::Text(std::mem::take(&mut text)));
                    pieces.push(StatPiece::Value(directive));
                    rest = after.get(length..).unwrap_or_default();
                }
            },
            byte => text.push(byte),
        }
    }
    pieces.push(StatPiece::Text(text));
    pieces
}

/// The directive after a percent sign, and its length; `None` at the end of the format.
fn directive(rest: &[u8]) -> (usize, Option<StatDirective>) {
    let count = |at: usize, wanted: fn(&u8) -> bool| {
        rest.get(at..).unwrap_or_default().iter().take_while(|byte| wanted(byte)).count()
    };
    let number = |at: usize, length: usize| {
        let digits = rest.get(at..at + length).unwrap_or_default();
        digits.iter().fold(0, |value: usize, digit| (value * 10 + usize::from(digit - b'0')).min(WIDEST))
    };
    let mut at = count(0, |byte| b"'-+ #0".contains(byte));
    let seen = |flag: u8| rest.get(..at).unwrap_or_default().contains(&flag);
    let mut layout = PrintLayout {
        left: seen(b'-'),
        plus: seen(b'+'),
        space: seen(b' '),
        alternate: seen(b'#'),
        zero: seen(b'0'),
        width: 0,
        precision: None,
    };
    let digits = count(at, u8::is_ascii_digit);
    layout.width = number(at, digits);
    at += digits;
    if rest.get(at) == Some(&b'.') {
        let digits = count(at + 1, u8::is_ascii_digit);
        // Without digits, times have nine of them.
        layout.precision = Some(if digits == 0 { 9 } else { number(at + 1, digits) });
        at += 1 + digits;
    }
    let mut half = 0;
    if let [first @ (b'H' | b'L'), b'd' | b'r', ..] = rest.get(at..).unwrap_or_default() {
        (half, at) = (*first, at + 1);
    }
    let letter = rest.get(at).copied();
    (at + 1, letter.map(|letter| StatDirective { layout, half, letter }))
}

/// Reads the escape after a backslash; gives what follows it.
fn escape<'f>(rest: &'f [u8], text: &mut Vec<u8>) -> &'f [u8] {
    let Some((&byte, after)) = rest.split_first() else {
        text.push(b'\\');
        return rest;
    };
    let digits = |bytes: &[u8], most: usize, radix: u32| {
        bytes.iter().take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count()
    };
    let value = |bytes: &[u8], radix: u8| {
        let digit = |byte: &u8| char::from(*byte).to_digit(radix.into()).unwrap_or(0);
        bytes.iter().fold(0, |value: u8, byte| {
            value.wrapping_mul(radix).wrapping_add(u8::try_from(digit(byte)).unwrap_or(0))
        })
    };
    let plain = match byte {
        b'0'..=b'7' => {
            let (number, after) = rest.split_at(digits(rest, 3, 8));
            text.push(value(number, 8));
            return after;
        }
        b'x' if digits(after, 2, 16) > 0 => {
            let (number, after) = after.split_at(digits(after, 2, 16));
            text.push(value(number, 16));
            return after;
        }
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        // As stat does it, which also warns.
        byte => byte,
    };
    text.push(plain);
    after
}
