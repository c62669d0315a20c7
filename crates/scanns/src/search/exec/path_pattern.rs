//! Finds the paths that a pattern matches. Directories are in a dictionary, names are not.
//!
//! The machine reads a directory once for all names beside each other. Where every match contains certain
//! bytes, only paths are matched whose directory or name contains them, or whose directory ends with the
//! front of them.

use crate::codec::StringBatch;
use crate::column::{Column, DictionaryReader, Scan};
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::exec::number_set::NumberSet;
use crate::search::terms::patterns::{Literal, MachineState, PatternMatcher};

/// Matches the paths of a column in order.
pub(super) struct PathMatcher<'p> {
    directories: DirectoryNumbers<'p>,
    terms: &'p DictionaryReader,
    matcher: &'p PatternMatcher<'p>,
    /// The literal of the pattern, and the directories in which it is or may begin.
    literal: Option<(&'p Literal, NumberSet)>,
    /// The names of a batch that contain the literal.
    found: Vec<usize>,
    /// The number of the last directory, its bytes, and the state of the machine after them.
    directory: Option<u64>,
    path: Vec<u8>,
    state: Option<MachineState>,
}

impl<'p> PathMatcher<'p> {
    /// Looks for the literal of a pattern in all directories.
    pub(super) fn new(
        column: &'p Column,
        terms: &'p DictionaryReader,
        matcher: &'p PatternMatcher<'p>,
        clock: Clock,
    ) -> Result<Self> {
        let literal = match matcher.literal() {
            Some(literal) => Some((literal, directories_with(literal, terms, clock)?)),
            None => None,
        };
        Ok(PathMatcher {
            directories: DirectoryNumbers::new(column),
            terms,
            matcher,
            literal,
            found: Vec::new(),
            directory: None,
            path: Vec::new(),
            state: None,
        })
    }

    /// Calls `add` with the document of each of the next paths that matches. Their names are in a batch, and
    /// `docs` are their documents.
    pub(super) fn each_match(
        &mut self,
        batch: &StringBatch,
        docs: &[u32],
        add: &mut dyn FnMut(u32),
    ) -> Result<()> {
        let mut found = std::mem::take(&mut self.found);
        if let Some((literal, _)) = &self.literal {
            literal.find(batch, &mut found);
        }
        let mut with_literal = found.iter().copied().peekable();
        for (i, &doc) in docs.iter().enumerate() {
            let number = self.directories.next(doc)?;
            if let Some((_, directories)) = &self.literal {
                let in_name = with_literal.next_if_eq(&i).is_some();
                if !in_name && !directories.has(number) {
                    continue;
                }
            }
            if self.directory != Some(number) {
                self.enter(number)?;
            }
            if self.matches(batch.get(i)) {
                add(doc);
            }
        }
        self.found = found;
        Ok(())
    }

    /// Whether the path of a name in the current directory matches.
    fn matches(&mut self, name: &[u8]) -> bool {
        match self.matcher {
            PatternMatcher::Machine(machine, _) => {
                let end = self.state.and_then(|state| machine.run(state, name));
                end.is_some_and(|state| machine.accepts(state))
            }
            matcher => {
                let directory = self.path.len();
                self.path.extend_from_slice(name);
                let found = matcher.matches(&self.path);
                self.path.truncate(directory);
                found
            }
        }
    }

    /// Reads a directory.
    fn enter(&mut self, number: u64) -> Result<()> {
        self.directory = Some(number);
        self.path.clear();
        self.terms.term(u32::try_from(number).unwrap_or(u32::MAX), &mut self.path)?;
        if let PatternMatcher::Machine(machine, _) = self.matcher {
            self.state = machine.run(machine.start(), &self.path);
        }
        Ok(())
    }
}

/// The directories that contain a literal, or end with the front of it up to a slash: a name has
/// no slash.
fn directories_with(literal: &Literal, terms: &DictionaryReader, clock: Clock) -> Result<NumberSet> {
    let mut directories = NumberSet::below(terms.len());
    let slash = literal.bytes().iter().rposition(|&byte| byte == b'/');
    let front = slash.and_then(|slash| literal.bytes().get(..=slash));
    let (mut batches, mut found) = (terms.batches(), Vec::new());
    while !clock.is_up()
        && let Some((first, batch)) = batches.next()?
    {
        literal.find(batch, &mut found);
        found.iter().for_each(|&i| directories.insert(u64::from(first) + i as u64));
        if let Some(front) = front {
            let ends = (0..batch.len()).filter(|&i| batch.get(i).ends_with(front));
            ends.for_each(|i| directories.insert(u64::from(first) + i as u64));
        }
    }
    Ok(directories)
}

/// The numbers of directories in the order of their documents.
struct DirectoryNumbers<'c> {
    column: &'c Column,
    scan: Scan,
    /// The block after the current one.
    block: u32,
    docs: Vec<u32>,
    /// The next value of the current block.
    next: usize,
}

impl<'c> DirectoryNumbers<'c> {
    fn new(column: &'c Column) -> Self {
        DirectoryNumbers { column, scan: Scan::new(), block: 0, docs: Vec::new(), next: 0 }
    }

    /// The next number, which must belong to this document.
    #[inline]
    fn next(&mut self, doc: u32) -> Result<u64> {
        while self.next == self.docs.len() {
            if self.block == self.column.blocks() {
                return Err(self.unequal(doc));
            }
            self.scan.read(self.column, self.block)?.docs_of_values(&mut self.docs);
            (self.block, self.next) = (self.block + 1, 0);
        }
        let at = self.next;
        self.next += 1;
        match (self.docs.get(at), self.scan.last().values.get(at)) {
            (Some(&of), Some(&number)) if of == doc => Ok(number),
            _ => Err(self.unequal(doc)),
        }
    }

    #[cold]
    fn unequal(&self, doc: u32) -> Error {
        let message = format!("document {doc} has another number of directories than of names");
        Error::corrupt("paths", message)
    }
}
