//! Finds the paths that a pattern matches. Directories are in a dictionary, names are not.
//!
//! The machine reads a directory once for all names beside each other. Where every match contains certain
//! bytes, only paths are matched whose directory or name contains them, or whose directory ends with the
//! front of them.

use crate::codec::StringBatch;
use crate::column::{Column, DictionaryReader, Scan};
use crate::error::{Error, Result};
use crate::search::number_set::NumberSet;
use crate::search::terms::patterns::{Literal, MachineState, PatternMatcher};

/// Matches the paths of a column in order.
pub(super) struct PathMatcher<'p> {
    directories: DirectoryNumbers<'p>,
    terms: &'p DictionaryReader,
    matcher: &'p PatternMatcher<'p>,
    /// The literal of the pattern, and the directories in which it is or may begin.
    literal: Option<(&'p Literal, &'p NumberSet)>,
    /// The names of a batch that contain the literal.
    found: Vec<usize>,
    /// The number of the last directory, its bytes, and the state of the machine after them.
    directory: Option<u64>,
    path: Vec<u8>,
    state: Option<MachineState>,
}

impl<'p> PathMatcher<'p> {
    /// Begins anywhere in a column; `with_literal` has the directories with the literal of
    /// the pattern.
    pub(super) fn new(
        column: &'p Column,
        terms: &'p DictionaryReader,
        matcher: &'p PatternMatcher<'p>,
        with_literal: Option<&'p NumberSet>,
    ) -> Self {
        PathMatcher {
            directories: DirectoryNumbers::new(column),
            terms,
            matcher,
            literal: matcher.literal().zip(with_literal),
            found: Vec::new(),
            directory: None,
            path: Vec::new(),
            state: None,
        }
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
            PatternMatcher::Machine(machine, ..) => {
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
        if let PatternMatcher::Machine(machine, ..) = self.matcher {
            self.state = machine.run(machine.start(), &self.path);
        }
        Ok(())
    }
}

/// The numbers of directories in the order of their documents.
struct DirectoryNumbers<'c> {
    column: &'c Column,
    scan: Scan,
    /// The block after the current one; `None` before the first.
    block: Option<u32>,
    docs: Vec<u32>,
    /// The next value of the current block.
    next: usize,
}

impl<'c> DirectoryNumbers<'c> {
    fn new(column: &'c Column) -> Self {
        DirectoryNumbers { column, scan: Scan::new(), block: None, docs: Vec::new(), next: 0 }
    }

    /// The next number, which must belong to this document. The first call may ask for any document, and gets
    /// the number of its first value.
    #[inline]
    fn next(&mut self, doc: u32) -> Result<u64> {
        while self.next == self.docs.len() {
            self.read(doc)?;
        }
        let at = self.next;
        self.next += 1;
        match (self.docs.get(at), self.scan.last().values.get(at)) {
            (Some(&of), Some(&number)) if of == doc => Ok(number),
            _ => Err(self.unequal(doc)),
        }
    }

    /// Reads the block after the current one, or the first, to continue with the values of a document.
    fn read(&mut self, doc: u32) -> Result<()> {
        let block = self.block.map_or_else(|| self.column.block_of(doc), Ok)?;
        if block >= self.column.blocks() {
            return Err(self.unequal(doc));
        }
        self.scan.read(self.column, block)?.docs_of_values(&mut self.docs);
        self.next = if self.block.is_none() { self.docs.partition_point(|&before| before < doc) } else { 0 };
        self.block = Some(block + 1);
        Ok(())
    }

    #[cold]
    fn unequal(&self, doc: u32) -> Error {
        let message = format!("document {doc} has another number of directories than of names");
        Error::corrupt("paths", message)
    }
}
