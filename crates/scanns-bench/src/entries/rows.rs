//! Entries as rows of a list.

use super::walk::{FIRST_GROUP, Listed};

/// A format of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// What find -printf prints with the format string that scanns help dumps recommends
    Find,
    /// Paths, each ended by a line feed; a line feed in a name becomes '?'
    Paths,
    /// Paths, each ended by a NUL byte
    Paths0,
}

/// Bytes of a date: ten digits, a dot, ten digits and a tab.
const DATE: usize = 22;

/// The device that all entries are on.
const DEVICE: u64 = 64_768;

impl Format {
    /// Appends the row of an entry.
    pub fn append(self, entry: &Listed<'_>, out: &mut Vec<u8>) {
        match self {
            Format::Find => find(entry, out),
            Format::Paths => {
                out.extend(entry.path.iter().map(|&byte| if byte == b'\n' { b'?' } else { byte }));
                out.push(b'\n');
            }
            Format::Paths0 => {
                out.extend(entry.path);
                out.push(0);
            }
        }
    }
}

/// Appends `%y\t%s\t%b\t%m\t%U\t%u\t%G\t%g\t%T@\t%A@\t%C@\t%i\t%n\t%D\t%l\0%p\0\n`.
fn find(entry: &Listed<'_>, out: &mut Vec<u8>) {
    let facts = entry.facts;
    let mut row = Backwards::default();
    row.number(DEVICE);
    row.number(u64::from(facts.links));
    row.number(facts.inode);
    row.date(facts.ctime);
    let ctime = row.start;
    for time in [facts.atime, facts.mtime] {
        match time == facts.ctime {
            true => row.again(ctime, DATE),
            false => row.date(time),
        }
    }
    row.text(b"\t");
    // A group has the name of its project.
    row.digits(u64::from(facts.gid - FIRST_GROUP), 4);
    row.text(b"m");
    row.number(u64::from(facts.gid));
    row.text(b"\t");
    row.text(entry.user);
    row.number(u64::from(facts.uid));
    row.text(b"\t");
    for shift in [0, 3, 6, 9].into_iter().take_while(|shift| facts.mode >> shift > 0) {
        row.digits(u64::from(facts.mode >> shift) & 7, 1);
    }
    row.number(facts.blocks);
    row.number(facts.size);
    row.text(b"\t");
    row.text(&[facts.letter]);
    out.extend(row.written());
    out.extend(entry.target);
    out.push(0);
    out.extend(entry.path);
    out.extend(b"\0\n");
}

/// The beginning of a row, written from its end to its start, as digits of a number are found. This is
/// three times as fast as appending number by number.
struct Backwards {
    bytes: [u8; 320],
    start: usize,
}

/// The digits of the numbers below 100.
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut at) = ([[b'0'; 2]; 100], 0);
    while at < 100 {
        pairs[at] = [b"0123456789"[at / 10], b"0123456789"[at % 10]];
        at += 1;
    }
    pairs
};

impl Default for Backwards {
    fn default() -> Self {
        Backwards { bytes: [0; 320], start: 320 }
    }
}

impl Backwards {
    /// Puts a text before what is written. What would not fit is left out; rows have up to 250 bytes.
    fn text(&mut self, text: &[u8]) {
        for byte in text.iter().rev() {
            self.start = self.start.saturating_sub(1);
            self.bytes[self.start] = *byte;
        }
    }

    /// Puts a date and a tab before what is written.
    fn date(&mut self, nanoseconds: u64) {
        self.text(b"0\t");
        self.digits(nanoseconds % 1_000_000_000, 9);
        self.text(b".");
        self.digits(nanoseconds / 1_000_000_000, 10);
    }

    /// Puts bytes that are written already before what is written.
    fn again(&mut self, at: usize, count: usize) {
        self.start = self.start.saturating_sub(count);
        self.bytes.copy_within(at..at + count, self.start);
    }

    /// Puts a number and a tab before what is written.
    fn number(&mut self, number: u64) {
        self.text(b"\t");
        self.digits(number, 1);
    }

    /// Puts at least `width` digits before what is written.
    fn digits(&mut self, number: u64, width: usize) {
        let end = self.start;
        let mut rest = number;
        while rest >= 10 {
            self.start = self.start.saturating_sub(2);
            let place = self.bytes.get_mut(self.start..).and_then(<[u8]>::first_chunk_mut);
            if let (Some(place), Some(pair)) = (place, PAIRS.get((rest % 100) as usize)) {
                *place = *pair;
            }
            rest /= 100;
        }
        if rest > 0 || self.start == end {
            self.text(&[b"0123456789"[(rest % 10) as usize]]);
        }
        while end - self.start < width {
            self.text(b"0");
        }
    }

    fn written(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}
