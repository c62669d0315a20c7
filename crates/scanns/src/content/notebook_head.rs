//! Tells Jupyter notebooks from other JSON files by their first bytes.
//!
//! A notebook is an object with `nbformat` and `cells`, or, before nbformat 4, `worksheets` with cells. The
//! writers differ in the order of the keys: the library of Jupyter sorts them, so that `nbformat` comes after
//! all cells, and others begin with it. The test therefore takes either: the key `nbformat` with a number, or
//! a first cell with a known `cell_type`. It reads the keys of the object in order and stops at the first
//! that notebooks do not have, which for most JSON files is the first. More bytes never turn a yes into a no.

use super::charset::BYTE_ORDER_MARK;

/// The values of `cell_type`.
const CELL_TYPES: [&[u8]; 4] = [b"code", b"markdown", b"raw", b"heading"];
/// Other keys of a notebook that may come before the one that decides.
const ROOT_KEYS: [&[u8]; 4] = [b"metadata", b"nbformat_minor", b"orig_nbformat", b"signature"];
/// True if a file with these first bytes is a Jupyter notebook. A file whose first 64 KiB are metadata is
/// not recognized. Takes time linear in the length of `head`.
pub fn is_notebook(head: &[u8]) -> bool {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    HeadScan { rest: head }.is_root_of_notebook().unwrap_or(false)
}

/// The bytes that are not read yet. Functions return `None` where the bytes end or are not JSON.
struct HeadScan<'h> {
    rest: &'h [u8],
}

impl<'h> HeadScan<'h> {
    fn is_root_of_notebook(&mut self) -> Option<bool> {
        self.take(b'{')?;
        loop {
            match self.key()? {
                b"nbformat" => return Some(self.peek()?.is_ascii_digit()),
                b"cells" => {
                    if let Some(answer) = self.are_cells()? {
                        return Some(answer);
                    }
                }
                b"worksheets" => {
                    self.take(b'[')?;
                    if self.peek()? != b']' {
                        return self.is_worksheet();
                    }
                    self.take(b']')?;
                }
                key if ROOT_KEYS.contains(&key) => self.skip_value()?,
                _ => return Some(false),
            }
            self.take(b',')?;
        }
    }

    fn is_worksheet(&mut self) -> Option<bool> {
        self.take(b'{')?;
        loop {
            match self.key()? {
                b"cells" => {
                    if let Some(answer) = self.are_cells()? {
                        return Some(answer);
                    }
                }
                b"metadata" => self.skip_value()?,
                _ => return Some(false),
            }
            self.take(b',')?;
        }
    }

    /// Whether an array holds cells; the inner value is `None` if the array is empty.
    fn are_cells(&mut self) -> Option<Option<bool>> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            self.take(b']')?;
            return Some(None);
        }
        self.take(b'{')?;
        loop {
            match self.key()? {
                b"cell_type" => {
                    let kind = self.string()?;
                    return Some(Some(CELL_TYPES.contains(&kind)));
                }
                // Images are attached to a cell: they come before its type, and may fill all of the head.
                b"attachments" if self.peek()? == b'{' => return Some(Some(true)),
                _ => self.skip_value()?,
            }
            self.take(b',')?;
        }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let blank = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.rest = self.rest.get(blank..)?;
        self.rest.first().copied()
    }

    fn take(&mut self, expected: u8) -> Option<()> {
        let is_next = self.peek()? == expected;
        self.rest = self.rest.get(1..)?;
        is_next.then_some(())
    }

    /// A key and its colon.
    fn key(&mut self) -> Option<&'h [u8]> {
        let key = self.string()?;
        self.take(b':')?;
        Some(key)
    }

    /// The bytes between two quotes, escapes as they are.
    fn string(&mut self) -> Option<&'h [u8]> {
        self.take(b'"')?;
        let mut end = 0;
        loop {
            match self.rest.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let text = self.rest.get(..end)?;
        self.rest = self.rest.get(end + 1..)?;
        Some(text)
    }

    /// Passes over a value. Of what it holds, only strings and brackets are looked at.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.rest = self.rest.get(1..)?;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.rest = self.rest.get(1..)?;
                }
                b',' | b':' if depth == 0 => return None,
                b',' | b':' => self.rest = self.rest.get(1..)?,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Passes over a number, `true`, `false` or `null`.
    fn skip_word(&mut self) {
        let is_end = |byte: &&u8| b" \t\r\n\",:[]{}".contains(byte);
        let len = self.rest.iter().take_while(|byte| !is_end(byte)).count();
        self.rest = self.rest.get(len..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notebooks_are_known_by_their_first_cell_or_by_their_version() {
        for head in [
            r#"{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["#,
            "\u{feff}\n{\n \"cells\": [\n  {\n   \"metadata\": {\"a\": [1, \"}\"]}, \"cell_type\":\"code\"",
            r#"{"cells":[{"attachments":{"image.png":{"image/png":"iVBOR"#,
            r#"{"cells":[],"metadata":{},"nbformat":4"#,
            r#"{"nbformat":4,"#,
            r#"{"metadata": {"name": "\"x\\"}, "nbformat": 3, "worksheets""#,
            r#"{"worksheets": [{"metadata": {}, "cells": [{"cell_type": "heading""#,
            r#"{"metadata": {"n": -1.5e3, "t": true, "z": [[], {}]}, "nbformat_minor": 2, "nbformat": 4}"#,
        ] {
            assert!(is_notebook(head.as_bytes()), "{head}");
        }
    }

    #[test]
    fn other_json_is_no_notebook() {
        for head in [
            "",
            "{",
            "{}",
            "[]",
            r#"{"name": "x", "nbformat": 4}"#,
            r#"{"cells": 4, "nbformat": 4}"#,
            r#"{"cells": [1, 2], "nbformat": 4}"#,
            r#"{"cells": [{"cell_type": "battery""#,
            r#"{"cells": [{"x": 1, "y": 2}]}"#,
            r#"{"cells": [{"id": 1}]}"#,
            r#"{"metadata": {}, "kind": "Pod"}"#,
            r#"{"metadata": {"nbformat": 4}}"#,
            r#"{"metadata": ]], "nbformat": 4}"#,
            r#"{"nbformat": "4"}"#,
            "nbformat: 4",
        ] {
            assert!(!is_notebook(head.as_bytes()), "{head}");
        }
    }

    #[test]
    fn a_yes_stays_a_yes_when_more_bytes_follow() {
        let whole = br#"{"metadata": {"a": "b"}, "cells": [{"metadata": {}, "cell_type": "raw"}]}"#;
        let first = (0..whole.len()).find(|&end| is_notebook(&whole[..end])).unwrap();
        assert!((first..=whole.len()).all(|end| is_notebook(&whole[..end])));
        assert!(!is_notebook(&whole[..first - 1]) && first < whole.len());
    }

    #[test]
    fn deep_and_random_heads_end() {
        let deep = [&b"{\"metadata\":"[..], &b"[{\"".repeat(20_000)].concat();
        assert!(!is_notebook(&deep));
        for seed in 0..2_000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let alphabet = br#"{}[]",:\ 1acelsntyp_"#;
            let tail = (0..random.usize(..300)).map(|_| alphabet[random.usize(..alphabet.len())]);
            let head: Vec<u8> = br#"{"cells":[{"id":"#.iter().copied().chain(tail).collect();
            is_notebook(&head);
        }
    }
}
