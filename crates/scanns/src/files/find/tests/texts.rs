//! Random texts of commands: shell patterns, regular expressions, modes and formats.

use super::generate::Generator;

impl Generator<'_> {
    /// The end of a path of the tree.
    pub(super) fn tail(&mut self) -> Vec<u8> {
        let path = self.entry().path.to_vec();
        let at = self.random.usize(..path.len());
        path[at..].to_vec()
    }

    /// A pattern that may match a text.
    pub(super) fn glob(&mut self, text: &[u8]) -> Vec<u8> {
        let mut pattern = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            at += 1;
            match self.random.u8(..24) {
                0 => {
                    pattern.push(b'*');
                    at += self.random.usize(..=text.len() - at);
                }
                1 => pattern.push(b'?'),
                2 => pattern.extend([b'[', byte, b']']),
                3 => {
                    pattern.extend([b'[', byte.saturating_sub(3).max(1), b'-', byte.saturating_add(2), b']'])
                }
                4 => {
                    let bracket = self.one(&[
                        "[!x]",
                        "[^a-m]",
                        "[[:alpha:]]",
                        "[[:upper:]_]",
                        "[![:digit:]]",
                        "[]a]",
                        "[a-c.-z]",
                        "[[=a=]]",
                        "[[.a.]-z]",
                        "[[:nosuch:]]",
                        "[\\]a]",
                        "[",
                        "[a",
                        "[!",
                        "\\",
                        "[[:punct:]b]",
                    ]);
                    pattern.extend(bracket);
                }
                5 => pattern.extend([b'\\', byte]),
                6 => pattern.push(byte ^ 0x20),
                _ => pattern.push(byte),
            }
        }
        match self.random.u8(..6) {
            0 => pattern.push(b'*'),
            1 => pattern.insert(0, b'*'),
            _ => {}
        }
        pattern.retain(|byte| *byte != 0);
        pattern
    }

    /// A regular expression that may match a path.
    pub(super) fn regex(&mut self) -> Vec<u8> {
        let text = self.tail();
        let mut expression = self.one(&[".*", ".*/", "", "\\(.\\|\n\\)*", "[^x]*", "(.|\n)*"]);
        for &byte in text.iter().take(12) {
            match self.random.u8(..12) {
                0 | 1 => {
                    let piece = self.one(&PIECES);
                    expression.extend(piece);
                }
                2 => expression.push(b'.'),
                _ if b".[*\\^$+?{}()|".contains(&byte) => expression.extend([b'\\', byte]),
                _ => expression.push(byte),
            }
        }
        if self.random.bool() {
            expression.extend(b".*");
        }
        expression
    }

    /// An argument of `-perm`.
    pub(super) fn permission(&mut self) -> Vec<u8> {
        let mut argument = self.one(&["", "-", "/"]);
        if self.random.bool() {
            let mode = self.entry().mode.unwrap_or(0) & [0o7777, 0o777, 0o4111, 0o22][self.random.usize(..4)];
            argument.extend(format!("{mode:o}").bytes());
            return argument;
        }
        for clause in 0..self.random.usize(1..4) {
            if clause > 0 {
                argument.push(b',');
            }
            let who = self.one(&["", "u", "g", "o", "a", "ug", "go", "uo"]);
            argument.extend(who);
            for _ in 0..self.random.usize(1..3) {
                let change = self.one(&["=", "+", "-"]);
                let what = self
                    .one(&["r", "w", "x", "rw", "rx", "rwx", "X", "s", "t", "xs", "", "u", "g", "o", "rwxt"]);
                argument.extend(change.into_iter().chain(what));
            }
        }
        if self.mistakes && self.random.u8(..10) == 0 {
            argument.extend(self.one(&["8", "q", ",", "=", "0", "+7"]));
        }
        argument
    }

    /// A format of `-printf`.
    pub(super) fn format(&mut self) -> Vec<u8> {
        let mut format = Vec::new();
        for _ in 0..self.random.usize(1..6) {
            match self.random.u8(..8) {
                0 => format.extend(self.one(&[
                    "text",
                    " ",
                    "\\n",
                    "\\t",
                    "\\0",
                    "\\101",
                    "\\\\",
                    "%%",
                    "\\a\\b\\f\\r\\v",
                ])),
                1 if self.mistakes => format.extend(self.one(&["%q", "\\q", "%5%", "\\c", "%["])),
                _ => {
                    format.push(b'%');
                    if self.random.u8(..3) == 0 {
                        let layout = self.one(&[
                            "5", "-20", "30", ".3", "10.4", "+", " ", "#", "07", "-+ #12", ".", "08.3",
                        ]);
                        format.extend(layout);
                    }
                    let letter = b"abcdDfgGhHiklmMnpPsStuUyYACT"[self.random.usize(..28)];
                    format.push(letter);
                    if b"ACT".contains(&letter) {
                        let part = b"@HIklMprST+XZaAbBcdDFgGhjmUwWxyYuVCesnRtzPNQ%"[self.random.usize(..45)];
                        format.push(part);
                    }
                }
            }
        }
        let ends: &[&str] =
            if self.mistakes { &["\\n", "\\0", "\n", "", "%", "%5", "%A", "\\"] } else { &["\\n"] };
        format.extend(self.one(ends));
        format
    }
}

/// The names of all dialects.
pub(super) const DIALECTS: [&str; 13] = [
    "findutils-default",
    "ed",
    "emacs",
    "gnu-awk",
    "grep",
    "posix-awk",
    "awk",
    "posix-basic",
    "posix-egrep",
    "egrep",
    "posix-extended",
    "posix-minimal-basic",
    "sed",
];

/// Pieces of regular expressions, of any dialect.
pub(super) const PIECES: [&str; 58] = [
    "*",
    "+",
    "?",
    "\\+",
    "\\?",
    "|",
    "\\|",
    "(",
    ")",
    "\\(",
    "\\)",
    "a*",
    "[a-z]",
    "[^/]*",
    "[[:alpha:]]",
    "[[:digit:]]+",
    "[]x]",
    "[^]x]",
    "[a-]",
    "[-a]",
    "[z-a]",
    "^",
    "$",
    "\\<",
    "\\>",
    "\\b",
    "\\B",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\`",
    "\\'",
    "{1,2}",
    "\\{1,2\\}",
    "{2}",
    "\\{,3\\}",
    "{,3}",
    "{1,}",
    "{x}",
    "\\{",
    "{",
    "}",
    "(a|b)",
    "\\(a\\|b\\)",
    "(x|)",
    ".",
    "..",
    "\n",
    "[\\]]",
    "[\\n]",
    "[[.a.]-c]",
    "[[=a=]]",
    "[[:nosuch:]]",
    "\\.",
    "\\/",
    "a**",
    "(^a)",
];
