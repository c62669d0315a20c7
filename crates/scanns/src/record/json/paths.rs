//! The flattened names of members, each with a number.
//!
//! Who reads records knows what to do with a name by its number, so names have to become numbers fast. Records of one
//! source mostly have the same members in the same order. So each name remembers which came after it the last time;
//! that is compared with what stands in the record, quote and all, and the end of the name need not even be searched.
//! Where the guess is wrong, a hash table leads from the name around it and the bytes to the number.
//!
//! What is remembered is bounded: by the length of the record at hand, and between records by [`MOST_NAMES`] and
//! [`MOST_BYTES`], above which all is forgotten and learned anew.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::super::names::push_name;
use super::string;

/// The number of the record itself, which has no name.
pub(in crate::record) const ROOT: u32 = 0;

const MOST_NAMES: usize = 1 << 14;
const MOST_BYTES: usize = 4 << 20;

struct Name {
    /// The name around it.
    parent: u32,
    /// What came after it the last time.
    next: u32,
    /// What stands in the record, as it stands there, with the quote that ends it.
    raw: Box<[u8]>,
    /// The members' names with dots between them, as they are in the record; cut to what a name may have.
    source: Box<str>,
}

/// See the module's doc.
pub(in crate::record) struct Paths {
    names: Vec<Name>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// What was found last.
    last: u32,
    /// Of all names.
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

    /// How many numbers there are, that of the root included.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The name with a number, as it is in the record.
    pub fn source(&self, number: u32) -> &str {
        self.name(number).map_or("", |name| &name.source)
    }

    /// True if there are so many names that [`Paths::clear`] should be called, between records.
    pub fn is_full(&self) -> bool {
        self.names.len() > MOST_NAMES || self.bytes > MOST_BYTES
    }

    /// Forgets all names; numbers are given anew.
    pub fn clear(&mut self) {
        *self = Paths::new();
    }

    /// A record begins.
    pub fn restart(&mut self) {
        self.last = ROOT;
    }

    #[inline]
    fn name(&self, number: u32) -> Option<&Name> {
        self.names.get(number as usize)
    }

    /// The number of the member in `parent` whose name stands at the start of `rest`, and the length of that with its
    /// quote, if it is the one that came the last time.
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

    /// The number of the member in `parent` with a name; `raw` is what stands in the record, with the quote that ends it.
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
        // A record of less than 4 GiB has fewer names than that, and is the only one that adds to a full table.
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
