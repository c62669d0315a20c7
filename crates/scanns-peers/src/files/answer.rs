//! Reads the answers of the tools, and compares them with the right ones.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The paths of an answer in order, without the tree, which plocate and fd leave out, and without the slashes
/// that fd writes behind directories.
pub fn paths<'a>(output: &'a [u8], tree: &[u8]) -> Vec<&'a [u8]> {
    let trimmed = output.split(|&byte| byte == 0).map(|path| path.strip_suffix(b"/").unwrap_or(path));
    let mut paths: Vec<&[u8]> = trimmed.filter(|path| !path.is_empty() && *path != tree).collect();
    paths.sort_unstable();
    paths
}

/// The sum of an answer: the number at the beginning of the last line. dua writes lines for what is in the
/// directory before it.
pub fn sum(output: &[u8]) -> Option<u64> {
    let last = output.trim_ascii_end().rsplit(|&byte| byte == b'\n').next()?;
    let first = last.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    std::str::from_utf8(first).ok()?.parse().ok()
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is right.
    Equal,
    /// Paths are missing, or there are more than there should be.
    Paths {
        /// The number of missing paths.
        missing: usize,
        /// The number of others.
        more: usize,
        /// The first of these paths.
        first: Vec<u8>,
    },
    /// The sum is another one.
    Sum {
        /// What the judge says.
        expected: u64,
        /// What the tool says.
        found: u64,
    },
    /// The sum is right but for the directory that was asked for.
    NotItself,
    /// There is no sum in the answer.
    Nothing,
}

impl Verdict {
    /// Compares lists of paths in order.
    pub fn of_paths(expected: &[&[u8]], found: &[&[u8]]) -> Self {
        let (mut missing, mut more, mut first) = (0, 0, None);
        let (mut expected, mut found) = (expected.iter().peekable(), found.iter().peekable());
        loop {
            let order = match (expected.peek(), found.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.cmp(other),
            };
            let (one, other) = (
                expected.next_if(|_| order != Ordering::Greater),
                found.next_if(|_| order != Ordering::Less),
            );
            missing += usize::from(other.is_none());
            more += usize::from(one.is_none());
            if order != Ordering::Equal {
                first = first.or(one.or(other));
            }
        }
        match first {
            Some(first) => Verdict::Paths { missing, more, first: first.to_vec() },
            None => Verdict::Equal,
        }
    }

    /// Compares sums; `own` is the space of the directory itself.
    pub fn of_sums(expected: u64, found: Option<u64>, own: u64) -> Self {
        match found {
            None => Verdict::Nothing,
            Some(found) if found == expected => Verdict::Equal,
            Some(found) if found + own == expected => Verdict::NotItself,
            Some(found) => Verdict::Sum { expected, found },
        }
    }

    /// What a cell of the table says.
    pub fn words(&self) -> String {
        match self {
            Verdict::Equal => "equal".into(),
            Verdict::Paths { missing, more, .. } => format!("{missing} missing, {more} more"),
            Verdict::Sum { expected, found } if found > expected => format!("+{} B", found - expected),
            Verdict::Sum { expected, found } => format!("-{} B", expected - found),
            Verdict::NotItself => "equal but for itself".into(),
            Verdict::Nothing => "no answer".into(),
        }
    }

    /// The first difference, if there is one.
    pub fn first(&self) -> Option<String> {
        match self {
            Verdict::Equal | Verdict::NotItself | Verdict::Nothing => None,
            Verdict::Paths { first, .. } => Some(format!("the first is {:?}", OsStr::from_bytes(first))),
            Verdict::Sum { expected, found } => Some(format!("{found} B, but du says {expected} B")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_without_the_tree_and_slashes() {
        let output = b"/t/b/\0/t\0/t/a\nc\0/t/\xff\0";
        assert_eq!(paths(output, b"/t"), [&b"/t/a\nc"[..], b"/t/b", b"/t/\xff"]);
        assert!(paths(b"", b"/t").is_empty());
        assert_eq!(sum(b"   36864 t\n"), Some(36864));
        assert_eq!(sum(b"36864\t/t/1 2\n"), Some(36864));
        assert_eq!(sum(b"  4096 b /t/a\n 12288 b total\n"), Some(12288));
        assert_eq!((sum(b"du: no"), sum(b"")), (None, None));
    }

    #[test]
    fn a_difference_is_counted_and_its_first_path_is_named() {
        let right: [&[u8]; 3] = [b"/t/a", b"/t/b", b"/t/d"];
        assert_eq!(Verdict::of_paths(&right, &right), Verdict::Equal);
        let verdict = Verdict::of_paths(&right, &[b"/t/a", b"/t/c"]);
        assert_eq!(verdict, Verdict::Paths { missing: 2, more: 1, first: b"/t/b".to_vec() });
        assert_eq!(verdict.words(), "2 missing, 1 more");
        assert_eq!(verdict.first().unwrap(), "the first is \"/t/b\"");
        let twice = Verdict::of_paths(&right[..1], &[b"/t/a", b"/t/a"]);
        assert_eq!(twice, Verdict::Paths { missing: 0, more: 1, first: b"/t/a".to_vec() });
        assert_eq!(Verdict::of_paths(&[], &[b"\xff\n"]).first().unwrap(), "the first is \"\\xFF\\n\"");
    }

    #[test]
    fn sums_are_equal_with_or_without_the_directory_itself() {
        assert_eq!(Verdict::of_sums(8192, Some(8192), 4096), Verdict::Equal);
        assert_eq!(Verdict::of_sums(8192, Some(4096), 4096), Verdict::NotItself);
        assert_eq!(Verdict::of_sums(8192, Some(9000), 4096).words(), "+808 B");
        let less = Verdict::of_sums(8192, Some(0), 4096);
        assert_eq!(
            (less.words(), less.first().unwrap()),
            ("-8192 B".into(), "0 B, but du says 8192 B".into())
        );
        assert_eq!(Verdict::of_sums(8192, None, 4096), Verdict::Nothing);
    }
}
