//! Finds the documents with a value that a pattern matches.
//!
//! Keywords are matched in the dictionary of their column, each once. Then the column is unpacked, and its
//! numbers are looked up in a bit set. Texts, and names of paths (`path_pattern.rs`), are not in a
//! dictionary, and are matched document by document. Where every match contains certain bytes, these are
//! found in many strings at once, and only strings that contain them are matched.

use std::sync::Arc;

use crate::codec::StringBatch;
use crate::column::{Column, ColumnKind, DictionaryReader, Scan, StringScan};
use crate::error::{Error, Result};
use crate::search::budget::Clock;
use crate::search::doc_set::{DocSet, DocSetBuilder};
use crate::search::exec::number_set::NumberSet;
use crate::search::exec::path_pattern::PathMatcher;
use crate::search::exec::view::View;
use crate::search::plan::QueryPlan;
use crate::search::plan::found::LeafTerms;
use crate::search::terms::patterns::PatternMatcher;

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
                let numbers = matching_numbers(terms, matcher, self.clock)?;
                self.add_keywords(column, &numbers)
            }
            (ColumnKind::Path, Some(terms), Some(names)) => {
                let mut paths = PathMatcher::new(column, terms, matcher, self.clock)?;
                self.add_strings(names, |batch, docs, add| paths.each_match(batch, docs, add))
            }
            (ColumnKind::Text, ..) => {
                let mut texts = StringMatcher::new(matcher);
                self.add_strings(column, |batch, docs, add| {
                    texts.each_match(batch, |i| add(docs.get(i).copied().unwrap_or(0)));
                    Ok(())
                })
            }
            _ => Err(Error::Unsupported {
                what: "a pattern of values that are not keywords, paths or texts".into(),
                remedy: "use a range of values".into(),
            }),
        }
    }

    /// Adds the documents with one of these keywords.
    fn add_keywords(&mut self, column: &Column, numbers: &NumberSet) -> Result<()> {
        let Some((least, most)) = numbers.bounds() else { return Ok(()) };
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

    /// Adds the documents that `each_match` finds in the strings of a column.
    fn add_strings(
        &mut self,
        column: &Column,
        mut each_match: impl FnMut(&StringBatch, &[u32], &mut dyn FnMut(u32)) -> Result<()>,
    ) -> Result<()> {
        let mut scan = StringScan::new();
        for number in 0..column.blocks() {
            if self.clock.is_up() {
                break;
            }
            scan.batches(column, number, |docs, batch| {
                each_match(batch, docs, &mut |doc| self.docs.add(&[doc]))
            })?;
        }
        Ok(())
    }
}

/// Matches many strings; its memory is reused.
struct StringMatcher<'m> {
    matcher: &'m PatternMatcher<'m>,
    found: Vec<usize>,
}

impl<'m> StringMatcher<'m> {
    fn new(matcher: &'m PatternMatcher<'m>) -> Self {
        StringMatcher { matcher, found: Vec::new() }
    }

    /// Calls `add` with the number of each string of a batch that matches, in order.
    fn each_match(&mut self, batch: &StringBatch, mut add: impl FnMut(usize)) {
        match self.matcher.literal() {
            Some(literal) => {
                literal.find(batch, &mut self.found);
                self.found.iter().filter(|&&i| self.matcher.matches(batch.get(i))).for_each(|&i| add(i));
            }
            None => (0..batch.len()).filter(|&i| self.matcher.matches(batch.get(i))).for_each(add),
        }
    }
}

/// The numbers of the terms of a dictionary that match.
fn matching_numbers(terms: &DictionaryReader, matcher: &PatternMatcher, clock: Clock) -> Result<NumberSet> {
    let mut numbers = NumberSet::below(terms.len());
    if matcher.reads_all_terms() {
        let (mut batches, mut strings) = (terms.batches(), StringMatcher::new(matcher));
        while !clock.is_up()
            && let Some((first, batch)) = batches.next()?
        {
            strings.each_match(batch, |i| numbers.insert(u64::from(first) + i as u64));
        }
        return Ok(numbers);
    }
    let mut matching = matcher.matching(terms.into(), clock)?;
    while matching.next()? {
        let [number, _] = matching.found()?.handle;
        numbers.insert(number);
    }
    Ok(numbers)
}
