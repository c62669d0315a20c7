//! Values laid out as printf(3) does it: flags, width and precision.

use super::format::PrintLayout;

impl PrintLayout {
    /// `%s`: the precision is the most bytes.
    pub fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        let length = self.precision.map_or(text.len(), |most| most.min(text.len()));
        self.padded(out, |out| out.extend_from_slice(text.get(..length).unwrap_or(text)));
    }

    /// `%d`
    pub fn number(&self, number: u64, out: &mut Vec<u8>) {
        let sign: &[u8] = match (self.plus, self.space) {
            (true, _) => b"+",
            (false, true) => b" ",
            (false, false) => b"",
        };
        self.digits(sign, &digits(number, 10), out);
    }

    /// `%o`; the alternate form begins with a zero.
    pub fn octal(&self, number: u32, out: &mut Vec<u8>) {
        let text = digits(u64::from(number), 8);
        let is_short = self.precision.unwrap_or(0) <= text.len();
        match self.alternate && number != 0 && is_short {
            true => self.digits(b"", &[b"0", text.as_slice()].concat(), out),
            false if self.alternate && number == 0 && self.precision == Some(0) => {
                self.digits(b"", b"0", out)
            }
            false if number == 0 && self.precision == Some(0) => self.digits(b"", b"", out),
            false => self.digits(b"", &text, out),
        }
    }

    /// `%g`
    pub fn general(&self, number: f64, out: &mut Vec<u8>) {
        let sign: &[u8] = match (self.plus, self.space) {
            (true, _) => b"+",
            (false, true) => b" ",
            (false, false) => b"",
        };
        if number.is_infinite() {
            let layout = PrintLayout { zero: false, precision: None, ..*self };
            return layout.text(&[sign, b"inf"].concat(), out);
        }
        let text = general(number, self.precision.unwrap_or(6).max(1), self.alternate);
        PrintLayout { precision: None, ..*self }.digits(sign, text.as_bytes(), out);
    }

    /// A sign and digits: the precision is the least number of digits, a zero fills up to the width.
    pub fn digits(&self, sign: &[u8], digits: &[u8], out: &mut Vec<u8>) {
        let digits =
            if self.precision == Some(0) && digits == b"0" && !self.alternate { b"" } else { digits };
        let fill = self.zero && !self.left && self.precision.is_none();
        let least = if fill { self.width.saturating_sub(sign.len()) } else { self.precision.unwrap_or(0) };
        self.padded(out, |out| {
            out.extend_from_slice(sign);
            out.resize(out.len() + least.saturating_sub(digits.len()), b'0');
            out.extend_from_slice(digits);
        });
    }

    /// Writes a value and fills it up with spaces.
    fn padded(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        write(out);
        let missing = self.width.saturating_sub(out.len() - start);
        out.resize(out.len() + missing, b' ');
        if !self.left
            && let Some(value) = out.get_mut(start..)
        {
            value.rotate_right(missing);
        }
    }
}

/// Digits of a number.
fn digits(number: u64, base: u64) -> Vec<u8> {
    match base {
        8 => format!("{number:o}").into_bytes(),
        _ => number.to_string().into_bytes(),
    }
}

/// A number with `digits` significant digits, as `%g` prints it.
fn general(number: f64, digits: usize, keeps_zeros: bool) -> String {
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let is_fixed = exponent >= -4 && i32::try_from(digits).is_ok_and(|digits| exponent < digits);
    let decimals = i32::try_from(digits).unwrap_or(i32::MAX).saturating_sub(1).saturating_sub(exponent);
    let fixed = || format!("{number:.*}", usize::try_from(decimals).unwrap_or(0));
    let text = if is_fixed { fixed() } else { mantissa.to_owned() };
    let text = match (text.contains('.'), keeps_zeros) {
        (true, false) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        (false, true) => format!("{text}."),
        _ => text,
    };
    match is_fixed {
        true => text,
        false => format!("{text}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}
