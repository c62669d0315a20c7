//! Numbers for the flattened names of members.
//!
//! A reader of records looks up a name by its number to decide what to do with its value, so names must be
//! turned into numbers fast. Records of one source mostly have the same members in the same order. Each name
//! therefore remembers the name that followed it the last time. This guess is compared with the bytes in the
//! record, including the closing quote, so that the end of the name need not be searched. If the guess is
//! wrong, a hash table maps the enclosing name and the bytes to the number.
//!
//! Memory is bounded: by the length of the record while it is read, and between records by [`MOST_NAMES`] and
//! [`MOST_BYTES`]. Above these limits, all names are forgotten and learned again.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::string;
use crate::record::names::push_name;

/// The number of the record itself, which has no name.
pub(in crate::record) const ROOT: u32 = 0;

const MOST_NAMES: usize = 1 << 14;
const MOST_BYTES: usize = 4 << 20;

struct Name {
    /// Number of the enclosing name.
    parent: u32,
    /// Number of the name that followed this one the last time.
    next: u32,
    /// The bytes in the record, with the closing quote.
    raw: Box<[u8]>,
    /// The names of the enclosing members and of this one with dots between them, cut to the longest name.
    source: Box<str>,
}

/// Names and their numbers.
pub(in crate::record) struct Paths {
    names: Vec<Name>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The number found last.
    last: u32,
    /// Bytes of all names.
    bytes: usize,
}

impl Paths {
    pub fn new() -> Self {
        let root = Name { parent: ROOT, next: ROOT, raw: [].into(), source: "".into() };
        Paths {
            names: vec![root],
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            last: ROOT,
            bytes: 0,
        }
    }

    /// The number of names, including the root.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The name with this number, as it is written in the record.
    pub fn source(&self, number: u32) -> &str {
        self.name(number).map_or("", |name| &name.source)
    }

    /// True if [`Paths::clear`] should be called before the next record.
    pub fn is_full(&self) -> bool {
        self.names.len() > MOST_NAMES || self.bytes > MOST_BYTES
    }

    /// Forgets all names; the numbers are assigned again from the start.
    pub fn clear(&mut self) {
        *self = Paths::new();
    }

    /// Starts a record.
    pub fn restart(&mut self) {
        self.last = ROOT;
    }

    #[inline]
    fn name(&self, number: u32) -> Option<&Name> {
        self.names.get(number as usize)
    }

    /// If `rest` starts with the name that followed the last time, in the object `parent`, returns the name's
    /// number and its length including the closing quote.
    #[inline]
    pub fn guess(&mut self, parent: u32, rest: &[u8]) -> Option<(u32, usize)> {
        let next = self.name(self.last)?.next;
        let guess = self.name(next)?;
        if guess.parent != parent || next == ROOT || !rest.starts_with(&guess.raw) {
            return None;
        }
        let len = guess.raw.len();
        self.last = next;
        Some((next, len))
    }

    /// The number of a member of `parent`; `raw` is its name in the record, with the closing quote.
    pub fn find(&mut self, parent: u32, raw: &[u8]) -> u32 {
        let hash = self.hasher.hash_one((parent, raw));
        let same =
            |&number: &u32| self.name(number).is_some_and(|name| name.parent == parent && *name.raw == *raw);
        let number = match self.numbers.find(hash, same) {
            Some(&number) => number,
            None => self.add(hash, parent, raw),
        };
        if let Some(last) = self.names.get_mut(self.last as usize) {
            last.next = number;
        }
        self.last = number;
        number
    }

    #[cold]
    fn add(&mut self, hash: u64, parent: u32, raw: &[u8]) -> u32 {
        let mut text = Vec::new();
        string::unescape(raw.strip_suffix(b"\"").unwrap_or(raw), &mut text);
        let mut source = self.source(parent).to_owned();
        push_name(&mut source, parent != ROOT, &String::from_utf8_lossy(&text));
        self.bytes += raw.len() + source.len();
        // A record of less than 4 GiB has fewer names, and only one record can add to a full table.
        let number = u32::try_from(self.names.len()).unwrap_or(ROOT);
        self.names.push(Name { parent, next: ROOT, raw: raw.into(), source: source.into() });
        let (names, hasher) = (&self.names, &self.hasher);
        let rehash = |&number: &u32| {
            let name = names.get(number as usize);
            hasher.hash_one(name.map_or((ROOT, [].as_slice()), |name| (name.parent, &*name.raw)))
        };
        self.numbers.insert_unique(hash, number, rehash);
        number
    }
}
