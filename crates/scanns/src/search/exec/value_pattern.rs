//! Finds the documents with a value that a pattern matches.
//!
//! Keywords are matched in the dictionary of their column, each once. Then the column is unpacked, and its
//! numbers are looked up in a bit set. Names of paths and texts are not in a dictionary, and are matched
//! document by document; the machine reads a directory once for all names beside each other.

use std::sync::Arc;

use crate::column::{Column, ColumnCursor, ColumnKind, DictionaryReader, Scan};
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::doc_set::{DocSet, DocSetBuilder};
use crate::search::exec::view::View;
use crate::search::plan::QueryPlan;
use crate::search::plan::found::LeafTerms;
use crate::search::terms::patterns::{MachineState, PatternMatcher};

/// The documents of the leaf that pattern of values `number` of a plan matches. They are found on first use.
pub(crate) fn docs(view: &View, plan: &QueryPlan, found: &LeafTerms, number: usize) -> Result<Arc<DocSet>> {
    let (field, matcher) = &plan.value_patterns[number];
    found.value_patterns[number].get_or_find(|| {
        let mut matches = ValueMatches { docs: DocSetBuilder::new(view.max_doc), clock: view.clock };
        if let Some(column) = view.leaf.column(*field) {
            matches.add(column, matcher)?;
        }
        Ok(matches.docs.finish())
    })
}

/// The documents that were found so far.
struct ValueMatches<'c> {
    docs: DocSetBuilder,
    clock: Clock<'c>,
}

impl ValueMatches<'_> {
    /// Adds the documents of a column with a value that matches.
    fn add(&mut self, column: &Column, matcher: &PatternMatcher) -> Result<()> {
        match (column.kind(), column.terms(), column.names()) {
            (ColumnKind::Keyword, Some(terms), _) => {
                let numbers = MatchingNumbers::of(terms, matcher, self.clock)?;
                self.add_keywords(column, &numbers)
            }
            (ColumnKind::Path, Some(terms), Some(names)) => {
                let mut paths = PathMatcher::new(column, terms, matcher);
                self.add_strings(names, |doc, name| paths.matches(doc, name))
            }
            (ColumnKind::Text, ..) => self.add_strings(column, |_, text| Ok(matcher.matches(text))),
            _ => Err(Error::Unsupported {
                what: "a pattern of values that are not keywords, paths or texts".into(),
                remedy: "use a range of values".into(),
            }),
        }
    }

    /// Adds the documents with one of these keywords.
    fn add_keywords(&mut self, column: &Column, numbers: &MatchingNumbers) -> Result<()> {
        let Some((least, most)) = numbers.bounds else { return Ok(()) };
        let mut scan = Scan::new();
        for number in 0..column.blocks() {
            if self.clock.is_up() {
                break;
            }
            let entry = column.entry(number)?;
            if entry.values == 0 || entry.most < least || entry.least > most {
                continue;
            }
            for (doc, values) in scan.read(column, number)?.documents() {
                if values.iter().any(|&value| numbers.has(value)) {
                    self.docs.add(&[doc]);
                }
            }
        }
        Ok(())
    }

    /// Adds the documents with a string that matches.
    fn add_strings(
        &mut self,
        column: &Column,
        mut matches: impl FnMut(u32, &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let mut scan = Scan::new();
        for number in 0..column.blocks() {
            if self.clock.is_up() {
                break;
            }
            scan.strings(column, number, |doc, string| {
                if matches(doc, string)? {
                    self.docs.add(&[doc]);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The numbers of the terms of a dictionary that match.
struct MatchingNumbers {
    /// A bit for each term.
    words: Vec<u64>,
    /// The least and the greatest number; `None` if no term matches.
    bounds: Option<(u64, u64)>,
}

impl MatchingNumbers {
    /// Matches the terms of a dictionary.
    fn of(terms: &DictionaryReader, matcher: &PatternMatcher, clock: Clock) -> Result<Self> {
        let mut numbers = MatchingNumbers { words: vec![0; terms.len().div_ceil(64) as usize], bounds: None };
        let mut matching = matcher.matching(terms.into(), clock)?;
        while matching.next()? {
            let [number, _] = matching.found()?.handle;
            let word = usize::try_from(number / 64).ok().and_then(|at| numbers.words.get_mut(at));
            if let Some(word) = word {
                *word |= 1 << (number % 64);
            }
            // The terms of a set are not in order.
            let (least, most) = numbers.bounds.unwrap_or((number, number));
            numbers.bounds = Some((least.min(number), most.max(number)));
        }
        Ok(numbers)
    }

    #[inline]
    fn has(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Matches paths, whose directories are terms.
struct PathMatcher<'p> {
    directories: ColumnCursor<'p>,
    terms: &'p DictionaryReader,
    matcher: &'p PatternMatcher<'p>,
    /// The document of the last path, its directories, and the number of its paths so far.
    doc: Option<u32>,
    numbers: Vec<u64>,
    paths: usize,
    /// The number of the last directory, its bytes, and the state of the machine after them.
    directory: Option<u64>,
    path: Vec<u8>,
    state: Option<MachineState>,
}

impl<'p> PathMatcher<'p> {
    fn new(column: &'p Column, terms: &'p DictionaryReader, matcher: &'p PatternMatcher<'p>) -> Self {
        PathMatcher {
            directories: ColumnCursor::new(column),
            terms,
            matcher,
            doc: None,
            numbers: Vec::new(),
            paths: 0,
            directory: None,
            path: Vec::new(),
            state: None,
        }
    }

    /// Whether the next path of a document matches, whose name in its directory is `name`.
    fn matches(&mut self, doc: u32, name: &[u8]) -> Result<bool> {
        if self.doc != Some(doc) {
            self.doc = Some(doc);
            self.paths = 0;
            self.numbers.clear();
            self.directories.get(doc, &mut self.numbers)?;
        }
        let number = self.numbers.get(self.paths).copied();
        self.paths += 1;
        if number.is_none() || self.directory != number {
            self.enter(number)?;
        }
        Ok(match self.matcher {
            PatternMatcher::Machine(machine) => {
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
        })
    }

    /// Reads a directory.
    fn enter(&mut self, number: Option<u64>) -> Result<()> {
        self.directory = number;
        self.path.clear();
        let number = number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
        self.terms.term(number, &mut self.path)?;
        if let PatternMatcher::Machine(machine) = self.matcher {
            self.state = machine.run(machine.start(), &self.path);
        }
        Ok(())
    }
}
