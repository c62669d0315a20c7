//! The patterns of one file.
//!
//! Grammar: lines that end with a line feed, perhaps with a carriage return before it. Empty lines and lines
//! that begin with `#` are comments; spaces at the end do not count, unless a backslash stands before them.
//! `!` at the start takes back what earlier patterns ignore, and `/` at the end stands for directories alone.
//! A pattern without any other slash matches names, and one with a slash paths below the file's directory.
//!
//! The last pattern that matches decides. Patterns without special bytes are found by their name in a sorted
//! list, so that only the others are matched one by one.

use crate::source::ignore::glob::{GlobDamage, GlobMove, IgnoreGlob};
use crate::source::ignore::pattern::{moves, plain_start};

/// A damaged line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DamagedLine {
    /// Its number, from 1.
    pub(super) number: u64,
    pub(super) text: Vec<u8>,
    pub(super) reason: GlobDamage,
}

/// The patterns of one file, and its damaged lines.
#[derive(Debug, Default)]
pub(super) struct IgnoreList {
    /// Sorted by their names, and those of one name from the last line to the first.
    plain: Vec<PlainPattern>,
    /// From the last line to the first.
    globs: Vec<GlobPattern>,
    pub(super) damaged: u64,
    pub(super) first_damaged: Option<DamagedLine>,
}

/// What a pattern does if it matches.
#[derive(Clone, Copy, Debug)]
struct PatternEffect {
    line: u64,
    ignores: bool,
    directories_only: bool,
}

/// A pattern without special bytes.
#[derive(Debug)]
struct PlainPattern {
    name: Box<[u8]>,
    /// The directory in which the name must be; `None` for any.
    below: Option<Box<[u8]>>,
    effect: PatternEffect,
}

#[derive(Debug)]
struct GlobPattern {
    glob: IgnoreGlob,
    /// Whether it matches paths instead of names.
    of_paths: bool,
    effect: PatternEffect,
}

impl IgnoreList {
    pub(super) fn new(text: &[u8]) -> IgnoreList {
        let mut list = IgnoreList::default();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
            list.add_line(line, number);
        }
        list.plain
            .sort_by(|one, other| one.name.cmp(&other.name).then(other.effect.line.cmp(&one.effect.line)));
        list.globs.reverse();
        list
    }

    /// True if there are no patterns.
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.globs.is_empty()
    }

    fn add_line(&mut self, line: &[u8], number: u64) {
        if line.first() == Some(&b'#') {
            return;
        }
        let line = without_spaces(until_nul(line.strip_suffix(b"\r").unwrap_or(line)));
        let (ignores, pattern) = line.strip_prefix(b"!").map_or((true, line), |pattern| (false, pattern));
        let (directories_only, pattern) =
            pattern.strip_suffix(b"/").map_or((false, pattern), |pattern| (true, pattern));
        if pattern.is_empty() {
            return;
        }
        let effect = PatternEffect { line: number, ignores, directories_only };
        let of_paths = memchr::memchr(b'/', pattern).is_some();
        let pattern = pattern.strip_prefix(b"/").unwrap_or(pattern);
        // Git compares the plain bytes by themselves, so for it the pattern starts behind them.
        let moves = moves(pattern, of_paths.then(|| plain_start(pattern)));
        match moves {
            Ok(moves) => self.add(&moves, of_paths, effect),
            Err(reason) => {
                self.damaged += 1;
                let damaged =
                    || DamagedLine { number, text: line.iter().take(200).copied().collect(), reason };
                self.first_damaged.get_or_insert_with(damaged);
            }
        }
    }

    fn add(&mut self, moves: &[GlobMove], of_paths: bool, effect: PatternEffect) {
        let (in_any, rest) = match moves {
            [GlobMove::Directories, rest @ ..] => (true, rest),
            _ => (!of_paths, moves),
        };
        let plain = |step: &GlobMove| if let GlobMove::Byte(byte) = step { Some(*byte) } else { None };
        let text: Option<Vec<u8>> = rest.iter().map(plain).collect();
        let slash = text.as_ref().and_then(|text| memchr::memrchr(b'/', text));
        match (text, slash) {
            (Some(text), None) => {
                let below = (!in_any).then(Box::default);
                self.plain.push(PlainPattern { name: text.into(), below, effect });
            }
            // No path below a directory begins with a slash.
            (Some(_), Some(0)) if !in_any => {}
            (Some(text), Some(slash)) if !in_any => {
                let (below, name) = text.split_at(slash);
                let (below, name) = (Some(below.into()), name.get(1..).unwrap_or_default().into());
                self.plain.push(PlainPattern { name, below, effect });
            }
            _ => self.globs.push(GlobPattern { glob: IgnoreGlob::new(moves), of_paths, effect }),
        }
    }

    /// Whether the patterns ignore an entry; `None` if they say nothing about it. The path is relative to
    /// the directory of the file.
    pub(super) fn ignores(&self, path: &[u8], is_dir: bool) -> Option<bool> {
        let slash = memchr::memrchr(b'/', path);
        let name = path.get(slash.map_or(0, |slash| slash + 1)..).unwrap_or_default();
        let directory = path.get(..slash.unwrap_or(0)).unwrap_or_default();
        let first = self.plain.partition_point(|plain| *plain.name < *name);
        let same =
            self.plain.get(first..).unwrap_or_default().iter().take_while(|plain| *plain.name == *name);
        let is_here = |below: &[u8]| below == directory;
        let plain = same
            .filter(|plain| plain.below.as_deref().is_none_or(is_here))
            .map(|plain| plain.effect)
            .find(|effect| is_dir || !effect.directories_only);
        let before = plain.map_or(0, |effect| effect.line);
        let later = self.globs.iter().take_while(|glob| glob.effect.line > before);
        let glob = later
            .filter(|glob| is_dir || !glob.effect.directories_only)
            .find(|glob| glob.glob.matches(if glob.of_paths { path } else { name }));
        glob.map(|glob| glob.effect).or(plain).map(|effect| effect.ignores)
    }
}

/// The text before the first NUL, which ends a line for git.
fn until_nul(line: &[u8]) -> &[u8] {
    line.get(..memchr::memchr(0, line).unwrap_or(line.len())).unwrap_or_default()
}

/// A line without the spaces at its end that no backslash protects.
fn without_spaces(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte != b' ' {
            end = at;
        }
    }
    line.get(..end.min(line.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_git_reads_them() {
        let text = b"\xef\xbb\xbf*.o\r\n\n# *.c\n\\#x\n!keep.o   \ntrail\\ \nbuild/\n/top\nsub/deep\n\
            doc/**/*.html\n!\n/\n//twice\n\\/once\nnul\0x\n  \n**/any\n[bad\nlone\\";
        let list = IgnoreList::new(text);
        let damaged = list.first_damaged.as_ref().unwrap();
        assert_eq!((list.damaged, damaged.number, damaged.text.as_slice()), (2, 18, &b"[bad"[..]));
        for (path, is_dir, expected) in [
            ("a.o", false, Some(true)),
            ("x/a.o", false, Some(true)),
            ("x/keep.o", false, Some(false)),
            ("x.c", false, None),
            ("#x", false, Some(true)),
            ("trail ", false, Some(true)),
            ("trail", false, None),
            ("build", false, None),
            ("x/build", true, Some(true)),
            ("top", false, Some(true)),
            ("x/top", false, None),
            ("sub/deep", false, Some(true)),
            ("x/sub/deep", false, None),
            ("doc/a/b/c.html", false, Some(true)),
            ("doc/c.html", false, Some(true)),
            ("nul", false, Some(true)),
            ("twice", false, None),
            ("once", false, None),
            ("x/y/any", false, Some(true)),
            ("[bad", false, None),
        ] {
            assert_eq!(list.ignores(path.as_bytes(), is_dir), expected, "{path}");
        }
    }

    #[test]
    fn the_last_line_decides() {
        let list = IgnoreList::new(b"*\n!*/\n!a.c\n*.c\n!b.c\nb.c/\n");
        let says = |path: &str, is_dir| list.ignores(path.as_bytes(), is_dir);
        assert_eq!((says("x", false), says("x", true)), (Some(true), Some(false)));
        assert_eq!(
            (says("a.c", false), says("b.c", false), says("b.c", true)),
            (Some(true), Some(false), Some(true))
        );
        assert!(IgnoreList::new(b"# nothing\n\n").is_empty());
    }
}
