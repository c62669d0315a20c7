//! The letters of `-type`, `-xtype`, `%y` and `%Y`.

use super::error::{FindError, text};
use super::facts::FindType;
use crate::source::{Entry, EntryKind};

impl FindType {
    /// All kinds.
    const ALL: [FindType; 7] = [
        FindType::Block,
        FindType::Character,
        FindType::Directory,
        FindType::Regular,
        FindType::Link,
        FindType::Pipe,
        FindType::Socket,
    ];

    /// The kind of an entry. A device is a block device or a character device only where its mode says so.
    pub fn of(entry: &Entry) -> Option<FindType> {
        FindType::of_mode(entry.mode.unwrap_or(0)).or(match entry.kind? {
            EntryKind::File | EntryKind::Member => Some(FindType::Regular),
            EntryKind::Directory => Some(FindType::Directory),
            EntryKind::Link => Some(FindType::Link),
            EntryKind::Fifo => Some(FindType::Pipe),
            EntryKind::Socket => Some(FindType::Socket),
            EntryKind::Device => None,
        })
    }

    /// The kind that the bits of the type in a mode tell.
    pub fn of_mode(mode: u32) -> Option<FindType> {
        Some(match mode & 0o170_000 {
            0o060_000 => FindType::Block,
            0o020_000 => FindType::Character,
            0o040_000 => FindType::Directory,
            0o100_000 => FindType::Regular,
            0o120_000 => FindType::Link,
            0o010_000 => FindType::Pipe,
            0o140_000 => FindType::Socket,
            _ => return None,
        })
    }

    /// Its letter in `-type`.
    pub fn letter(self) -> u8 {
        match self {
            FindType::Block => b'b',
            FindType::Character => b'c',
            FindType::Directory => b'd',
            FindType::Regular => b'f',
            FindType::Link => b'l',
            FindType::Pipe => b'p',
            FindType::Socket => b's',
        }
    }

    fn bit(self) -> u8 {
        match self {
            FindType::Block => 1,
            FindType::Character => 2,
            FindType::Directory => 4,
            FindType::Regular => 8,
            FindType::Link => 16,
            FindType::Pipe => 32,
            FindType::Socket => 64,
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet {
    bits: u8,
}

impl KindSet {
    /// All kinds.
    pub(super) const ALL: KindSet = KindSet { bits: 127 };
    const DEVICES: KindSet = KindSet { bits: 3 };

    /// Reads letters separated by commas, the argument of the test `word`.
    pub(super) fn parse(word: &[u8], argument: &[u8]) -> Result<KindSet, FindError> {
        let refuse = |reason: &str| FindError::argument(word, argument, reason);
        let mut bits = 0;
        for letter in argument.split(|&byte| byte == b',') {
            let kind = FindType::ALL.into_iter().find(|kind| [kind.letter()] == letter);
            let Some(kind) = kind else {
                return Err(refuse(match letter {
                    [] => "write one of the letters b c d f l p s, or some of them separated by commas",
                    b"D" => "doors exist on Solaris only; write one of the letters b c d f l p s",
                    [_] => "write one of the letters b c d f l p s",
                    _ => "separate the letters by commas, f,d",
                }));
            };
            if bits & kind.bit() != 0 {
                return Err(refuse(&format!("'{}' is there twice; write it once", text(letter))));
            }
            bits |= kind.bit();
        }
        Ok(KindSet { bits })
    }

    /// The set of one kind.
    pub(super) fn only(kind: FindType) -> KindSet {
        KindSet { bits: kind.bit() }
    }

    /// Whether a kind is in the set.
    pub fn contains(self, kind: FindType) -> bool {
        self.bits & kind.bit() != 0
    }

    /// Whether the entry's kind is in the set; none where its kind is not known.
    pub(super) fn contains_entry(self, entry: &Entry) -> Option<bool> {
        match FindType::of(entry) {
            Some(kind) => Some(self.contains(kind)),
            None if entry.kind == Some(EntryKind::Device) => match self.bits & KindSet::DEVICES.bits {
                0 => Some(false),
                3 => Some(true),
                _ => None,
            },
            None => None,
        }
    }

    /// The kinds in both sets.
    pub(super) fn and(self, other: KindSet) -> KindSet {
        KindSet { bits: self.bits & other.bits }
    }

    /// The kinds in one of the sets.
    pub(super) fn or(self, other: KindSet) -> KindSet {
        KindSet { bits: self.bits | other.bits }
    }

    /// The kinds not in the set.
    pub(super) fn not(self) -> KindSet {
        KindSet { bits: !self.bits & KindSet::ALL.bits }
    }
}
