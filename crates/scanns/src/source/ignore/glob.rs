//! One pattern of a `.gitignore`, matched byte by byte as git's `wildmatch` does.
//!
//! | in the pattern | matches |
//! |---|---|
//! | `*`, `?`, `[a-z]`, `[!a-z]`, `[[:digit:]]` | bytes other than the slash |
//! | `**/` after a slash or at the start | nothing, or any directories |
//! | `**` at the end, after a slash or at the start | everything |
//! | `\x` | `x` |
//!
//! The pattern becomes a list of steps, and a match keeps the set of steps that the text so far can have
//! reached. So a match takes at most the time of the steps times the bytes of the text, whatever the pattern.
//! Both ends are compared first, where each move matches one byte; this decides most patterns. Source of the
//! rules: gitignore(5), and `wildmatch.c` of git, to which a test compares them.

use crate::source::ignore::byte_set::BracketBytes;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct IgnoreGlob {
    /// Moves of one byte each at the start.
    start: Box<[GlobMove]>,
    /// From the first move of any number of bytes to the last.
    steps: Box<[GlobMove]>,
    /// Moves of one byte each at the end.
    end: Box<[GlobMove]>,
    /// Bytes that stand together in what the steps match.
    needle: Box<[u8]>,
    /// The length of the shortest text that matches.
    shortest: usize,
}

/// What a pattern consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobMove {
    Byte(u8),
    /// `?`: any byte but a slash.
    AnyByte,
    OneOf(BracketBytes),
    /// `*`: any bytes but slashes.
    Name,
    /// `**`: any bytes.
    Everything,
    /// `**/`: nothing, or any bytes that end with a slash.
    Directories,
}

/// Why a pattern can match nothing.
pub(super) type GlobDamage = &'static str;

impl GlobMove {
    /// True if it matches any number of bytes.
    fn is_wide(&self) -> bool {
        matches!(self, GlobMove::Name | GlobMove::Everything | GlobMove::Directories)
    }

    /// Whether it matches this byte, if it matches one.
    fn takes(&self, byte: u8) -> bool {
        match self {
            GlobMove::Byte(plain) => *plain == byte,
            GlobMove::AnyByte => byte != b'/',
            GlobMove::OneOf(bytes) => bytes.has(byte),
            _ => false,
        }
    }
}

impl IgnoreGlob {
    pub(super) fn new(moves: &[GlobMove]) -> IgnoreGlob {
        let first = moves.iter().position(GlobMove::is_wide).unwrap_or(moves.len());
        let last = moves.iter().rposition(GlobMove::is_wide).map_or(moves.len(), |last| last + 1);
        let part = |range: std::ops::Range<usize>| moves.get(range).unwrap_or_default();
        let steps = part(first..last);
        let runs = steps.split(|step| !matches!(step, GlobMove::Byte(_)));
        let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
        let plain = |step: &GlobMove| if let GlobMove::Byte(byte) = step { Some(*byte) } else { None };
        IgnoreGlob {
            start: part(0..first).into(),
            steps: steps.into(),
            end: part(last..moves.len()).into(),
            needle: longest.iter().filter_map(plain).collect(),
            shortest: moves.iter().filter(|step| !step.is_wide()).count(),
        }
    }

    /// True if the pattern matches the whole text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        if text.len() < self.shortest {
            return false;
        }
        let Some((start, rest)) = text.split_at_checked(self.start.len()) else { return false };
        let Some(middle) = rest.len().checked_sub(self.end.len()) else { return false };
        let Some((middle, end)) = rest.split_at_checked(middle) else { return false };
        let all =
            |moves: &[GlobMove], bytes: &[u8]| moves.iter().zip(bytes).all(|(step, &byte)| step.takes(byte));
        if !all(&self.end, end) || !all(&self.start, start) {
            return false;
        }
        match *self.steps {
            [] => middle.is_empty(),
            [GlobMove::Name] => memchr::memchr(b'/', middle).is_none(),
            [GlobMove::Everything] | [GlobMove::Directories, GlobMove::Name] => true,
            [GlobMove::Directories] => middle.last().is_none_or(|&last| last == b'/'),
            _ => has(middle, &self.needle) && self.walks(middle),
        }
    }

    /// Whether the steps match the text between the plain bytes.
    fn walks(&self, text: &[u8]) -> bool {
        let mut here = vec![false; self.steps.len() + 1];
        let mut next = vec![false; self.steps.len() + 1];
        self.reach(&mut here, 0);
        for &byte in text {
            next.fill(false);
            let mut goes_on = false;
            for (at, (&step, _)) in self.steps.iter().zip(&here).enumerate().filter(|(_, (_, on))| **on) {
                let (stays, moves) = match step {
                    GlobMove::Name => (byte != b'/', byte != b'/'),
                    GlobMove::Everything => (true, true),
                    GlobMove::Directories => (true, byte == b'/'),
                    of_one => (false, of_one.takes(byte)),
                };
                goes_on |= stays || moves;
                if let Some(on) = next.get_mut(at) {
                    *on |= stays;
                }
                if moves {
                    self.reach(&mut next, at + 1);
                }
            }
            if !goes_on {
                return false;
            }
            std::mem::swap(&mut here, &mut next);
        }
        here.last() == Some(&true)
    }

    /// Marks a step, and those after it if it can match nothing.
    fn reach(&self, marks: &mut [bool], mut at: usize) {
        while let Some(mark @ false) = marks.get_mut(at) {
            *mark = true;
            if !self.steps.get(at).is_some_and(GlobMove::is_wide) {
                return;
            }
            at += 1;
        }
    }
}

/// True if the text contains these bytes, which are few.
fn has(text: &[u8], needle: &[u8]) -> bool {
    let Some(&first) = needle.first() else { return true };
    memchr::memchr_iter(first, text).any(|at| text.get(at..).is_some_and(|rest| rest.starts_with(needle)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ignore::pattern::moves;

    #[test]
    fn patterns_match_as_git_says() {
        for (pattern, text, expected) in [
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "a/xb", false),
            ("**/b", "b", true),
            ("**/b", "x/b", true),
            ("**/b", "xb", false),
            ("a/**", "a/x/y", true),
            ("a/*", "a/x/y", false),
            ("a/*/c", "a/b/c", true),
            ("a**c", "axyc", true),
            ("x/a**c", "x/ab/c", false),
            ("a?c", "a/c", false),
            ("a[!b]c", "a/c", false),
            ("[]-]x", "-x", true),
            ("[]-]x", "]x", true),
            ("[^a-c]", "d", true),
            ("[a-\\]]", "b", false),
            ("[[:digit:]_]*.o", "7a.o", true),
            ("[[:]", ":", true),
            ("\\*.o", "*.o", true),
            ("\\*.o", "a.o", false),
            ("*a*b*c", "xxaxbxc", true),
            ("*a*b*c", "xxaxcxb", false),
            ("?", "\u{e9}", false),
        ] {
            let glob = IgnoreGlob::new(&moves(pattern.as_bytes(), Some(0)).unwrap());
            assert_eq!(glob.matches(text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn hostile_patterns_take_no_more_than_steps_times_bytes() {
        let pattern = "**/*a".repeat(400) + "b";
        let text = "a/".repeat(2000);
        let glob = IgnoreGlob::new(&moves(pattern.as_bytes(), Some(0)).unwrap());
        let stars = IgnoreGlob::new(&moves("*a".repeat(120).as_bytes(), None).unwrap());
        assert!(
            !glob.matches(text.as_bytes()) && !stars.matches("a".repeat(4000).as_bytes().get(..119).unwrap())
        );
        assert!(!glob.matches((text + "b").as_bytes()));
    }
}
