//! Output of `zfs diff -H`, also with `-F` and `-t`.
//!
//! ```text
//! row   = [time TAB] change TAB [type TAB] path [TAB new path | TAB links] LF
//! time  = seconds . digits                              with -t
//! change = "-" | "+" | "M" | "R"                        removed, created, modified, renamed
//! type  = one byte, such as F for a file and / for a directory    with -F
//! links = "(" sign number ")"                           of M: how many more names the file has
//! path  = bytes; \0ooo stands for blanks, backslashes and bytes outside of ASCII
//! ```
//!
//! Source: zfs-diff(8). A modified directory is the directory alone; what changed in it has rows of its own.

use std::borrow::Cow;

use super::change::{ChangeRow, ListedChange, ListedPlace};

/// The letters of types.
const TYPES: &[u8] = b"BC/>|@P=F";

/// Paths of a row that are not borrowed from it.
#[derive(Debug, Default)]
pub struct ZfsPaths {
    one: Vec<u8>,
    other: Vec<u8>,
}

/// True for the beginning of a row, up to the path.
pub fn is_row(row: &[u8]) -> bool {
    let mut paths = ZfsPaths::default();
    read(row, &mut paths).is_ok()
}

/// Reads a row without its line feed.
pub fn read<'r>(row: &'r [u8], paths: &'r mut ZfsPaths) -> Result<ChangeRow<'r>, String> {
    let mut cells: Vec<&[u8]> = row.split(|&byte| byte == b'\t').collect();
    if cells.first().is_some_and(|cell| is_time(cell)) {
        cells.remove(0);
    }
    let change = match cells.first() {
        Some([change @ (b'-' | b'+' | b'M' | b'R')]) => *change,
        _ => return Err("a row of zfs diff -H begins with -, +, M or R, and a tab".into()),
    };
    cells.remove(0);
    if cells.len() > 1 && matches!(cells.first(), Some([kind]) if TYPES.contains(kind)) {
        cells.remove(0);
    }
    let (path, rest) = cells.split_first().ok_or("the path is missing")?;
    unescape(path, &mut paths.one)?;
    paths.other.clear();
    match (change, rest) {
        (b'R', [new]) => unescape(new, &mut paths.other)?,
        (b'R', _) => return Err("a renaming has two paths".into()),
        (b'M', [links]) if links.starts_with(b"(") && links.ends_with(b")") => {}
        (_, []) => {}
        _ => return Err("there are more cells than a path".into()),
    }
    let tree = change == b'+';
    let mut changes = vec![ListedChange { place: ListedPlace::Path(&paths.one), tree }];
    if change == b'R' {
        changes.push(ListedChange { place: ListedPlace::Path(&paths.other), tree: true });
    }
    Ok(ChangeRow { changes, ..ChangeRow::default() })
}

fn is_time(cell: &[u8]) -> bool {
    let mut parts = cell.trim_ascii_start().split(|&byte| byte == b'.');
    let is_number = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// Replaces the escapes of a path.
fn unescape(text: &[u8], path: &mut Vec<u8>) -> Result<(), Cow<'static, str>> {
    path.clear();
    if !text.starts_with(b"/") {
        return Err("the path does not begin with a slash".into());
    }
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at_checked(at).unwrap_or_default();
        path.extend_from_slice(plain);
        let digits =
            escape.get(1..5).filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        let value =
            digits.map(|digits| digits.iter().fold(0, |value, digit| 8 * value + u32::from(digit - b'0')));
        let byte = value.and_then(|value| u8::try_from(value).ok()).filter(|&byte| byte != 0);
        let byte = byte.ok_or("after a backslash, four octal digits were expected (leave -h out)")?;
        path.push(byte);
        rest = escape.get(5..).unwrap_or_default();
    }
    path.extend_from_slice(rest);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(row: &str) -> Result<Vec<(String, bool)>, String> {
        let mut paths = ZfsPaths::default();
        let row = read(row.as_bytes(), &mut paths)?;
        let text = |change: &ListedChange<'_>| match change.place {
            ListedPlace::Path(path) => (path.escape_ascii().to_string(), change.tree),
            _ => unreachable!(),
        };
        Ok(row.changes.iter().map(text).collect())
    }

    #[test]
    fn all_columns_are_read() {
        for (row, expected) in [
            ("M\t/tank/a", vec![("/tank/a", false)]),
            ("M\t/\t/tank/", vec![("/tank/", false)]),
            ("M\t/", vec![("/", false)]),
            ("1764160000.123456789\t+\tF\t/tank/new\\0040file", vec![("/tank/new file", true)]),
            ("      1764.5\t-\t@\t/tank/l\\0303\\0244", vec![("/tank/l\\xc3\\xa4", false)]),
            ("1.2\tM\tF\t/tank/f\t(+1)", vec![("/tank/f", false)]),
            ("1.2\tR\t/\t/tank/a\t/tank/b\\0134c", vec![("/tank/a", false), ("/tank/b\\\\c", true)]),
            ("R\t/tank/a\t/tank/b", vec![("/tank/a", false), ("/tank/b", true)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(path, tree)| (path.to_owned(), tree)).collect();
            assert_eq!(changes(row), Ok(expected), "{row}");
            assert!(is_row(row.as_bytes()));
        }
    }

    #[test]
    fn rows_that_cannot_be_read_say_why() {
        for (row, why) in [
            ("", "begins with"),
            ("X\t/a", "begins with"),
            ("M", "path is missing"),
            ("M\tF", "slash"),
            ("M\tF\ta", "slash"),
            ("R\tF\t/a", "two paths"),
            ("R\tF\t/a\t/b\t/c", "two paths"),
            ("+\tF\t/a\t/b", "more cells"),
            ("M\tF\t/a\t/b", "more cells"),
            ("+\tF\t/a\\b", "octal"),
            ("+\tF\t/a\\0400", "octal"),
            ("+\tF\t/a\\0777", "octal"),
            ("+\tF\t/a\\0000", "octal"),
            ("+\tF\t/a\\00", "octal"),
        ] {
            let error = changes(row).unwrap_err();
            assert!(error.contains(why), "{row}: {error}");
        }
    }
}
