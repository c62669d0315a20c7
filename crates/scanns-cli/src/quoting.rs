//! Quotes names, values and texts that are not safe to print.
//!
//! Printable text stays as it is. Text with control characters, with characters that hide or reorder others,
//! or with invalid UTF-8 is quoted as `ls --quoting-style=shell-escape` does it: `a`, a line feed and `b`
//! become `'a'$'\n''b'`. Shells such as bash read the result as the original bytes. So a name is always one
//! line without tabs, and cannot pass for another line or control a terminal. A name that begins with a quote
//! is quoted too; a name that does not begin with a quote is therefore exactly what is printed.

use std::borrow::Cow;
use std::fmt::Write;

/// A name or a value on one line, quoted if necessary.
pub fn quoted(bytes: &[u8]) -> Cow<'_, str> {
    let begins_with_quote = matches!(bytes.first(), Some(b'\'' | b'"'));
    match std::str::from_utf8(bytes) {
        Ok(text) if !begins_with_quote && is_plain(text) => text.into(),
        Ok(text) if begins_with_quote && text.contains('\'') && text.chars().all(stands_in_double_quotes) => {
            format!("\"{text}\"").into()
        }
        _ => {
            let mut quoter = Quoter::quoting();
            quoter.push(bytes);
            quoter.finish().into()
        }
    }
}

/// A name in quotes, as `ls --quoting-style=shell-escape-always` quotes it.
pub fn in_quotes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.contains('\'') && text.chars().all(stands_in_double_quotes) => format!("\"{text}\""),
        _ => {
            let mut quoter = Quoter::quoting();
            quoter.push(bytes);
            quoter.finish()
        }
    }
}

/// A text for people on one line, quoted if it has anything unsafe.
pub fn text_line(bytes: &[u8]) -> String {
    let mut quoter = Quoter::of(bytes);
    quoter.push(bytes);
    quoter.finish()
}

/// Replaces what could control a terminal in a message, but not its line feeds.
pub fn harmless(message: &str) -> Cow<'_, str> {
    if message.chars().all(|c| c == '\n' || !is_unsafe(c)) {
        return message.into();
    }
    let mut text = String::with_capacity(message.len() + 16);
    for c in message.chars() {
        if c == '\n' || !is_unsafe(c) { text.push(c) } else { put_escape(&mut text, c) }
    }
    text.into()
}

/// True if the text can be printed unchanged.
pub fn is_plain(text: &str) -> bool {
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
    text.as_bytes().iter().all(is_printable) || !text.chars().any(is_unsafe)
}

/// Quotes a text that arrives piece by piece, with marks for the terminal between the pieces.
pub struct Quoter {
    text: String,
    /// True if the whole text must be quoted.
    quotes: bool,
    /// True within `$'…'`.
    escapes: bool,
}

impl Quoter {
    /// A quoter for a text that is the concatenation of all pieces.
    pub fn of(whole: &[u8]) -> Self {
        match std::str::from_utf8(whole) {
            Ok(text) if is_plain(text) => Quoter { text: String::new(), quotes: false, escapes: false },
            _ => Quoter::quoting(),
        }
    }

    fn quoting() -> Self {
        Quoter { text: "'".into(), quotes: true, escapes: false }
    }

    /// Adds the next piece of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            if self.quotes {
                chunk.valid().chars().for_each(|c| self.put(c));
            } else {
                self.text.push_str(chunk.valid());
            }
            for byte in chunk.invalid() {
                self.begin_escape();
                put_octal(&mut self.text, *byte);
            }
        }
    }

    /// Adds a sequence for the terminal.
    pub fn mark(&mut self, sequence: &str) {
        self.text.push_str(sequence);
    }

    /// The quoted text.
    pub fn finish(mut self) -> String {
        if self.quotes {
            self.text.push('\'');
        }
        self.text
    }

    fn put(&mut self, c: char) {
        if is_unsafe(c) {
            self.begin_escape();
            put_escape(&mut self.text, c);
            return;
        }
        if c == '\'' {
            self.text.push_str("'\\''");
        } else {
            if self.escapes {
                self.text.push_str("''");
            }
            self.text.push(c);
        }
        self.escapes = false;
    }

    fn begin_escape(&mut self) {
        if !self.escapes {
            self.text.push_str("'$'");
            self.escapes = true;
        }
    }
}

/// The escape of an unsafe character: bytes in octal for control characters, and the number of others.
fn put_escape(text: &mut String, c: char) {
    match c {
        '\x07' => text.push_str("\\a"),
        '\x08' => text.push_str("\\b"),
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\x0b' => text.push_str("\\v"),
        '\x0c' => text.push_str("\\f"),
        '\r' => text.push_str("\\r"),
        c if c.is_control() || is_separator(c) => {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| put_octal(text, byte));
        }
        c if u32::from(c) < 0x1_0000 => drop(write!(text, "\\u{:04x}", u32::from(c))),
        c => drop(write!(text, "\\U{:08x}", u32::from(c))),
    }
}

fn put_octal(text: &mut String, byte: u8) {
    let _ = write!(text, "\\{byte:03o}");
}

/// True for characters that control a terminal, end a line, or hide or reorder others.
fn is_unsafe(c: char) -> bool {
    c.is_control() || (!c.is_ascii() && (is_separator(c) || is_hidden(c)))
}

/// Line and paragraph separators.
fn is_separator(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Characters without a shape of their own that reorder or hide others: bidirectional controls, invisible
/// operators and spaces, annotations and tags. Joiners are not among them, since scripts and emoji need them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// True for characters that GNU quotes with double quotes if the name has a single quote.
fn stands_in_double_quotes(c: char) -> bool {
    c.is_ascii_alphanumeric() || " '%+,-./:@]_".contains(c) || (!c.is_ascii() && !is_unsafe(c))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_what_is_not_safe_is_quoted() {
        for name in ["a/b c.txt", "grün/日本", "it's", "-rf", "$(x) & *?", "👩\u{200d}🔬", ""] {
            assert_eq!(quoted(name.as_bytes()), name);
        }
        for (name, expected) in [
            (&b"a\nb"[..], r"'a'$'\n''b'"),
            (b"\x1b[31m", r"''$'\033''[31m'"),
            (b"\xff", r"''$'\377'"),
            ("\u{202e}txt\u{9b}".as_bytes(), r"''$'\u202e''txt'$'\302\233'"),
            ("\u{e0041}".as_bytes(), r"''$'\U000e0041'"),
            (b"'a'", "\"'a'\""),
            (b"\"a\"", "'\"a\"'"),
            (b"it's\t'", r"'it'\''s'$'\t'\'''"),
        ] {
            assert_eq!(quoted(name), expected);
        }
        assert_eq!(harmless("a\x1b[31m\nb\u{202e}"), "a\\033[31m\nb\\u202e");
    }

    /// All names of up to three of these bytes and some longer ones, which hold something unsafe.
    fn hostile_names() -> Vec<Vec<u8>> {
        let bytes: [&[u8]; 16] = [
            b"a",
            b"\n",
            b"\t",
            b"\x1b",
            b"'",
            b"\"",
            b" ",
            b"\\",
            b"\xff",
            b"$",
            b"#",
            b"~",
            b"\xc2",
            b"1",
            "é".as_bytes(),
            "\u{85}".as_bytes(),
        ];
        let mut names: Vec<Vec<u8>> = bytes.iter().map(|byte| byte.to_vec()).collect();
        for first in bytes {
            for second in bytes {
                names.push([first, second].concat());
                names.extend(bytes.map(|third| [first, second, third].concat()));
            }
        }
        names.extend((1..=127u8).filter(|byte| *byte != b'/').map(|byte| vec![b'\'', b'x', byte]));
        names.extend([b"a\n99\t9.9\tfake".to_vec(), "\u{2028}".into(), b"-\n".to_vec()]);
        names
    }

    #[test]
    fn names_are_quoted_as_ls_quotes_them() {
        let dir = tempfile::tempdir().unwrap();
        let ls = |names: &[Vec<u8>]| {
            let names = names.iter().map(|name| OsStr::from_bytes(name));
            let mut ls = Command::new("ls");
            ls.args(["-dU", "--quoting-style=shell-escape", "-1", "--"]).args(names);
            ls.current_dir(dir.path()).env("LC_ALL", "C.UTF-8").output()
        };
        std::fs::write(dir.path().join("\t"), "").unwrap();
        if ls(&[b"\t".to_vec()]).map(|out| out.stdout).ok().as_deref() != Some(b"''$'\\t'\n") {
            use std::io::Write;
            let skipped = b"SKIPPED names_are_quoted_as_ls_quotes_them: there is no ls of GNU\n";
            std::io::stderr().write_all(skipped).unwrap();
            return;
        }
        let names = hostile_names();
        // Some versions of ls print another name if a name has a single quote and ends with an escape.
        let is_misquoted = |name: &[u8]| {
            let end =
                name.last().is_some_and(|end| end.is_ascii_control() || [0xff, 0xc2, 0x85].contains(end));
            end && name.contains(&b'\'')
        };
        let wanted = |name: &Vec<u8>| quoted(name).as_bytes() != *name && !is_misquoted(name);
        let names: Vec<_> = names.into_iter().filter(wanted).collect();
        assert!(names.len() > 2000, "{}", names.len());
        for name in &names {
            std::fs::write(dir.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let out = ls(&names).unwrap();
        let lines = String::from_utf8(out.stdout).unwrap();
        assert_eq!(lines.lines().count(), names.len());
        for (name, line) in names.iter().zip(lines.lines()) {
            assert_eq!(quoted(name), line, "{name:?}");
        }
    }

    #[test]
    fn quoted_text_holds_nothing_that_controls_a_terminal() {
        for byte in 0..=255u8 {
            assert!(quoted(&[byte, b'a']).chars().all(|c| !c.is_control()), "byte {byte}");
        }
    }

    #[test]
    fn marks_do_not_change_what_is_quoted() {
        let mut quoter = Quoter::of(b"a\nb c");
        quoter.push(b"a\nb");
        quoter.mark("<");
        quoter.push(b" c");
        quoter.mark(">");
        assert_eq!(quoter.finish(), r"'a'$'\n''b< c>'");
        let mut plain = Quoter::of(b"'a' b");
        plain.push(b"'a' b");
        assert_eq!(plain.finish(), "'a' b");
    }
}
