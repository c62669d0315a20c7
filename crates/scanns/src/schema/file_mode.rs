//! Modes of files: permissions as `0644` or `rw-r--r--`, perhaps with the type of the file.

/// The bits of a mode that are permissions; those above are the type of the file.
const PERMISSIONS: u64 = 0o7777;

/// The types of files as in `ls -l`, with the bits of a mode above the permissions.
const TYPES: [(char, u64); 7] =
    [('-', 0o10), ('d', 0o4), ('l', 0o12), ('p', 0o1), ('c', 0o2), ('b', 0o6), ('s', 0o14)];

/// What the text of a mode asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeText {
    /// These permissions, of a file of any type.
    Permissions(u64),
    /// A mode with its type, or a number in decimal.
    Whole(u64),
}

impl ModeText {
    /// Parses octal digits (`0644`, `644`, `0100644`), permissions (`rw-r--r--`), or permissions after a type
    /// (`drwxr-xr-x`). Numbers in decimal are read too, if they cannot be octal and can be modes: `493`,
    /// `33188`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let octal = u64::from_str_radix(text, 8).ok();
            if let Some(permissions) = octal.filter(|&mode| mode <= PERMISSIONS) {
                return Some(ModeText::Permissions(permissions));
            }
            let is_known = |mode: u64| TYPES.iter().any(|(_, kind)| *kind == mode >> 12);
            let decimal = text.parse::<u64>().ok().filter(|_| !text.starts_with('0'));
            let decimal = decimal.filter(|&mode| mode <= PERMISSIONS || is_known(mode));
            return decimal.or(octal.filter(|&mode| is_known(mode))).map(ModeText::Whole);
        }
        match text.len() {
            9 => letters(text.as_bytes()).map(ModeText::Permissions),
            10 => {
                let first = text.chars().next()?;
                let kind = TYPES.iter().find(|(letter, _)| *letter == first).map(|(_, kind)| *kind)?;
                let permissions = letters(text.as_bytes().get(1..)?)?;
                Some(ModeText::Whole(kind << 12 | permissions))
            }
            _ => None,
        }
    }

    /// The values of a column that fit: with any type of file or none, and, for listings that write modes in
    /// octal, the number that has these digits in decimal.
    pub(crate) fn values(self) -> Vec<u64> {
        match self {
            // The octal digits of regular files, read in decimal, are greater than any mode.
            ModeText::Whole(mode) if mode >= 0o10_0000 => {
                let mut values = vec![mode];
                values.extend(format!("{mode:o}").parse::<u64>());
                values
            }
            ModeText::Whole(mode) => vec![mode],
            ModeText::Permissions(permissions) => {
                let mut values = vec![permissions];
                values.extend(TYPES.iter().map(|(_, kind)| kind << 12 | permissions));
                values.extend(format!("{permissions:o}").parse::<u64>());
                values.sort_unstable();
                values.dedup();
                values
            }
        }
    }
}

/// The permissions of nine letters: `rw-r--r--`, with `s`, `S`, `t` and `T` for the special bits.
fn letters(text: &[u8]) -> Option<u64> {
    let mut mode = 0;
    for (class, letters) in text.chunks(3).enumerate() {
        let &[read, write, run] = letters else { return None };
        let special = *[0o4000, 0o2000, 0o1000].get(class)?;
        let (set, unset) = if class == 2 { (b't', b'T') } else { (b's', b'S') };
        let run = match run {
            b'-' => 0,
            b'x' => 1,
            letter if letter == set => special | 1,
            letter if letter == unset => special,
            _ => return None,
        };
        let bit = |letter: u8, wanted: u8, bit: u64| match letter {
            b'-' => Some(0),
            letter if letter == wanted => Some(bit),
            _ => None,
        };
        let shift = 6 - 3 * class;
        mode |= (bit(read, b'r', 4)? | bit(write, b'w', 2)? | (run & 1)) << shift | (run & !1);
    }
    Some(mode)
}

/// Formats the permissions of a mode as `ls -l` does: `rw-r--r--`. The type of the file is left out.
pub fn format_mode(mode: u64) -> String {
    let mut text = String::with_capacity(9);
    for (class, special) in [0o4000, 0o2000, 0o1000].into_iter().enumerate() {
        let bits = mode >> (6 - 3 * class);
        text.push(if bits & 4 > 0 { 'r' } else { '-' });
        text.push(if bits & 2 > 0 { 'w' } else { '-' });
        text.push(match (bits & 1 > 0, mode & special > 0, class) {
            (run, false, _) => ['-', 'x'][usize::from(run)],
            (run, true, 2) => ['T', 't'][usize::from(run)],
            (run, true, _) => ['S', 's'][usize::from(run)],
        });
    }
    text
}

/// Formats the permissions of a mode in octal, as `chmod` takes them: `0644`.
pub fn format_mode_octal(mode: u64) -> String {
    format!("{:04o}", mode & PERMISSIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_read_as_it_is_written() {
        for mode in 0..=PERMISSIONS {
            let expected = Some(ModeText::Permissions(mode));
            assert_eq!(ModeText::parse(&format_mode(mode)), expected, "{mode:o}");
            assert_eq!(ModeText::parse(&format_mode_octal(mode)), expected, "{mode:o}");
            for (letter, kind) in TYPES {
                let text = format!("{letter}{}", format_mode(mode));
                assert_eq!(ModeText::parse(&text), Some(ModeText::Whole(kind << 12 | mode)), "{text}");
            }
        }
        for text in ["0100644", "100644", "33188"] {
            assert_eq!(ModeText::parse(text), Some(ModeText::Whole(0o100_644)), "{text}");
        }
        assert_eq!(ModeText::Whole(0o100_644).values(), [0o100_644, 100_644]);
        assert_eq!(ModeText::parse("493"), Some(ModeText::Whole(0o755)));
    }

    #[test]
    fn other_texts_are_not_modes() {
        for text in
            ["", "0649", "0999", "77777", "0777777", "99999", "rw-r--r-", "rwxrwx", "rwxrwxrwz", "u+w"]
        {
            assert_eq!(ModeText::parse(text), None, "{text}");
        }
    }
}
