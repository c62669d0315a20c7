//! Specifications of mtree(5), as mtree of the BSDs and `bsdtar --format=mtree` write them.
//!
//! ```text
//! line     = [comment | command | parent | entry | last] "\n"
//! comment  = "#" ...
//! command  = "/set" keyword... | "/unset" key...
//! parent   = ".."                     (back to the directory above)
//! entry    = name keyword...          (in the current directory; a directory becomes the current one)
//!          | path keyword...          (from the root, known by a slash in it)
//! last     = keyword... "./" path     (as `mtree -D` prints it)
//! keyword  = key "=" value | key
//! ```
//!
//! From mtree(5) of libarchive and NetBSD. A backslash at the end of a line joins the next line. Names and
//! values are escaped as by vis(3). The nanoseconds of `time` are a number: `1.5` is 5 ns after 1 s. Paths of
//! the entries that are made begin with `./`, however the specification writes them, and the root is `.`.
//! `device` is the number of a device file, which entries do not have; `resdevice` is the device of the file
//! system. mtree and bsdtar write a comment with the path of a directory, not escaped, before the directory
//! and its end; a path with the end of a line makes lines that are no entries, and they are recognized.
//! Nothing in the format proves that a specification is complete.

mod comment;
mod keywords;
mod lines;
#[cfg(test)]
mod tests;
mod vis;

use std::io::{self, BufRead};

use self::comment::MtreeComment;
use self::keywords::{MtreeFault, MtreeKeywords, UNKNOWN_ESCAPE, is_known};
use self::lines::{MtreeLines, last_word, without_comment, words};
use self::vis::unescape;
use super::input::{DumpInput, Halt, settle};
use super::posix::{fault_in_directory, fault_of_name, join};
use super::{DumpTally, ReadDump, Visit};
use crate::source::EntryKind;

/// The start of what mtree of NetBSD writes.
const HEADER: &[u8] = b"#\t   user: ";

/// Reads specifications of mtree. They describe themselves, so there are no options.
#[derive(Clone, Copy, Debug, Default)]
pub struct MtreeDump;

impl MtreeDump {
    /// A reader.
    pub fn new() -> Self {
        MtreeDump
    }

    /// True if a dump that begins with `start` is certainly a specification of mtree: its first line is
    /// `#mtree`, or begins the header of mtree of NetBSD, or the first line that is not a comment is `/set`
    /// with keywords.
    pub fn detect(start: &[u8]) -> bool {
        let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.clone().next().unwrap_or_default();
        if first == b"#mtree" || first.starts_with(b"#mtree v") {
            return true;
        }
        if start.starts_with(HEADER)
            && lines.clone().nth(1).is_some_and(|line| line.starts_with(b"#\tmachine: "))
        {
            return true;
        }
        // The last line may be cut.
        let whole = start.iter().filter(|byte| **byte == b'\n').count();
        let command = lines.by_ref().take(whole).find(|line| !line.is_empty() && !line.starts_with(b"#"));
        let Some(keywords) = command.and_then(|line| line.strip_prefix(b"/set ")) else { return false };
        let mut words = words(keywords).filter(|word| *word != b"\\").peekable();
        words.peek().is_some() && words.all(is_known)
    }
}

impl ReadDump for MtreeDump {
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let mut lines = MtreeLines::new(DumpInput::new(input));
        let mut spec = MtreeSpecification {
            defaults: MtreeKeywords::default(),
            keywords: MtreeKeywords::default(),
            path: b".".to_vec(),
            full: Vec::new(),
            name: Vec::new(),
            open: Vec::new(),
            comment: MtreeComment::default(),
            tally,
            visit,
        };
        let result = spec.read(&mut lines);
        settle(result, tally)
    }
}

/// A directory that is open.
struct MtreeOpen {
    /// The length of its path.
    path: usize,
    /// False if its name cannot be used, so that the paths of its entries are not known.
    named: bool,
}

/// A specification while it is read. Its memory is two paths, a line, and 16 bytes for each open directory.
struct MtreeSpecification<'r, 'v> {
    defaults: MtreeKeywords,
    keywords: MtreeKeywords,
    /// The path of the last relative entry; it begins with the path of the current directory.
    path: Vec<u8>,
    /// The path of the last entry with a full path.
    full: Vec<u8>,
    name: Vec<u8>,
    open: Vec<MtreeOpen>,
    comment: MtreeComment,
    tally: &'r mut DumpTally,
    visit: &'r mut Visit<'v>,
}

impl MtreeSpecification<'_, '_> {
    /// Reads the specification from its first byte.
    fn read(&mut self, lines: &mut MtreeLines<'_>) -> Result<(), Halt> {
        while !lines.input.is_at_end()? {
            let offset = lines.input.offset();
            if !lines.next()? {
                self.tally.bad(offset, "the line is longer than 1 MiB", &lines.line);
            } else if !self.is_comment(&lines.line, offset) {
                self.line(without_comment(&lines.line), offset)?;
            }
        }
        // The tools close every directory, mtree all but the first. A person need not.
        self.tally.truncated |= self.comment.by_tool && self.open.len() > 1;
        Ok(())
    }

    /// True if `line` is a comment of mtree, or the rest of one whose path contains the end of a line.
    fn is_comment(&mut self, line: &[u8], offset: u64) -> bool {
        if !self.comment.is_open {
            return self.comment.open(line, offset);
        }
        let first = words(line).next().unwrap_or_default();
        if first == b"/set" {
            // mtree writes new defaults between the comment and the directory.
            return false;
        }
        let (directory, named) = self.open.last().map_or((1, true), |open| (open.path, open.named));
        self.name.clear();
        unescape(first, &mut self.name);
        let path = self.path.get(..directory).unwrap_or_default();
        let ends = match first {
            b".." => self.comment.path == path,
            _ => {
                self.comment.path.strip_prefix(path).and_then(|rest| rest.strip_prefix(b"/"))
                    == Some(&self.name)
            }
        };
        if ends || !named {
            self.comment.is_open = false;
        } else if !self.comment.extend(line) {
            let reason = "the lines after this comment were taken for a part of its path, but are none";
            self.tally.bad(self.comment.offset, reason, &self.comment.path);
        }
        self.comment.is_open
    }

    /// Reads one line.
    fn line(&mut self, line: &[u8], offset: u64) -> Result<(), Halt> {
        let mut words = words(line);
        match words.next() {
            None => {}
            Some(b"/set") => {
                for word in words {
                    self.defaults.set(word).unwrap_or_else(|fault| self.count(fault, offset, line));
                }
            }
            Some(b"/unset") => words.for_each(|word| self.defaults.unset(word)),
            Some(b"..") if self.open.pop().is_some() => {}
            Some(b"..") => self.tally.bad(offset, "more directories are closed by .. than were opened", line),
            Some([b'/', ..]) => {
                self.tally.bad(offset, "the command after the slash is not /set or /unset", line)
            }
            Some(first) => return self.entry(first, line, offset),
        }
        Ok(())
    }

    /// Reads the line of an entry.
    fn entry(&mut self, first: &[u8], line: &[u8], offset: u64) -> Result<(), Halt> {
        let path_is_last = last_word(line).is_some_and(|last| last == b"." || last.starts_with(b"./"));
        let name = if path_is_last { last_word(line).unwrap_or(first) } else { first };
        let mut fault = self.keywords(words(line).skip(usize::from(!path_is_last)));
        self.name.clear();
        if !unescape(name, &mut self.name) {
            fault = fault.or(Some(UNKNOWN_ESCAPE));
        }
        let is_path = name == b"." || has_slash(name);
        let named = if is_path { self.full_path() } else { self.relative_path() };
        fault = named.err().map(MtreeFault::Bad).or(fault);
        if let Some(fault) = fault {
            self.count(fault, offset, line);
        }
        let path = if is_path { &self.full } else { &self.path };
        if !matches!(fault, Some(MtreeFault::Bad(_))) && (self.visit)(&self.keywords.entry(path)).is_break() {
            return Err(Halt::Stopped);
        }
        Ok(())
    }

    /// Reads the keywords of an entry; gives the worst fault.
    fn keywords<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Option<MtreeFault> {
        self.keywords.copy(&self.defaults);
        let mut worst = None;
        for word in words {
            if let Err(fault) = self.keywords.set(word)
                && !matches!(worst, Some(MtreeFault::Bad(_)))
            {
                worst = Some(fault);
            }
        }
        worst
    }

    /// Makes the full path from the name.
    fn full_path(&mut self) -> Result<(), &'static str> {
        self.full.clear();
        self.full.push(b'.');
        for part in self.name.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
            if let Some(fault) = fault_of_name(part) {
                return Err(fault);
            }
            let directory = self.full.len();
            join(&mut self.full, directory, part);
        }
        if self.full == b"." {
            self.path.truncate(1);
            self.open.clear();
            self.open.push(MtreeOpen { path: 1, named: true });
        }
        Ok(())
    }

    /// Makes the path of the name in the current directory; opens it if it is a directory.
    fn relative_path(&mut self) -> Result<(), &'static str> {
        let (directory, named) = self.open.last().map_or((1, true), |open| (open.path, open.named));
        let fault = match named {
            true => fault_in_directory(directory, &self.name),
            false => Some("its directory has no name that can be read"),
        };
        if fault.is_none() {
            join(&mut self.path, directory, &self.name);
        }
        if self.keywords.kind() == Some(EntryKind::Directory) {
            self.open.push(MtreeOpen { path: self.path.len(), named: fault.is_none() });
        }
        fault.map_or(Ok(()), Err)
    }

    /// Counts a fault.
    #[cold]
    fn count(&mut self, fault: MtreeFault, offset: u64, line: &[u8]) {
        match fault {
            MtreeFault::Bad(reason) => self.tally.bad(offset, reason, line),
            MtreeFault::Guessed(reason) => self.tally.guessed(offset, reason, line),
        }
    }
}

/// True if `name` contains a slash that is not the end of the escape `\M-/` for byte 175.
fn has_slash(name: &[u8]) -> bool {
    memchr::memchr_iter(b'/', name).any(|at| !name.get(..at).is_some_and(|before| before.ends_with(b"\\M-")))
}
