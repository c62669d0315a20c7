//! Finds the documents with a value that a pattern matches.
//!
//! Keywords are matched in the dictionary of their column, each once (`value_terms.rs`). Then the column is
//! unpacked, and its numbers are looked up in a bit set. Texts, and names of paths (`path_pattern.rs`), are
//! not in a dictionary, and are matched document by document. Where every match contains certain bytes, these
//! are found in many strings at once, and only strings that contain them are matched.
//!
//! Dictionaries are divided into their chapters, and columns into ranges of blocks: all threads that need the
//! documents find them together.

use std::sync::Arc;

use super::column_part::{ColumnPart, parts};
use crate::codec::StringBatch;
use crate::column::{ColumnKind, Scan, StringScan};
use crate::error::{Error, Result};
use crate::search::doc_set::DocSet;
use crate::search::exec::path_pattern::PathMatcher;
use crate::search::exec::value_terms::{StringMatcher, directories_with, matching_numbers};
use crate::search::exec::view::View;
use crate::search::number_set::NumberSet;
use crate::search::plan::QueryPlan;
use crate::search::plan::found::LeafTerms;

/// The documents of the leaf that pattern of values `number` of a plan matches. They are found on first use.
pub(crate) fn docs(view: &View, plan: &QueryPlan, found: &LeafTerms, number: usize) -> Result<Arc<DocSet>> {
    let (field, matcher) = &plan.value_patterns[number];
    let matches = &found.value_patterns[number];
    let (max_doc, clock) = (view.max_doc, view.clock);
    let join = |parts| DocSet::joined(max_doc, parts);
    let Some(column) = view.leaf.column(*field) else {
        return matches.docs.get_or_find(0, |_| Ok(DocSet::joined(0, Vec::new())), join);
    };
    match (column.kind(), column.terms(), column.names()) {
        (ColumnKind::Keyword, Some(terms), _) => {
            let numbers = matching_numbers(matches, terms, matcher, clock)?;
            let find = |part| ColumnPart::of(column, part, clock).keywords(&numbers);
            matches.docs.get_or_find(parts(column), find, join)
        }
        (ColumnKind::Path, Some(terms), Some(names)) => {
            let directories = directories_with(matches, terms, matcher, clock)?;
            let find = |part| {
                let mut paths = PathMatcher::new(column, terms, matcher, directories.as_deref());
                let part = ColumnPart::of(names, part, clock);
                part.strings(|batch, docs, add| paths.each_match(batch, docs, add))
            };
            matches.docs.get_or_find(parts(names), find, join)
        }
        (ColumnKind::Text, ..) => {
            let find = |part| {
                let mut texts = StringMatcher::new(matcher);
                ColumnPart::of(column, part, clock).strings(|batch, docs, add| {
                    texts.each_match(batch, |i| add(docs.get(i).copied().unwrap_or(0)));
                    Ok(())
                })
            };
            matches.docs.get_or_find(parts(column), find, join)
        }
        _ => Err(Error::Unsupported {
            what: "a pattern of values that are not keywords, paths or texts".into(),
            remedy: "use a range of values".into(),
        }),
    }
}

impl ColumnPart<'_> {
    /// The documents with one of these keywords.
    fn keywords(self, numbers: &NumberSet) -> Result<DocSet> {
        let mut docs = self.nothing()?;
        let Some((least, most)) = numbers.bounds() else { return Ok(docs.finish()) };
        let mut scan = Scan::new();
        for number in self.blocks {
            if self.clock.is_up() {
                break;
            }
            let entry = self.column.entry(number)?;
            if entry.values == 0 || entry.most < least || entry.least > most {
                continue;
            }
            for (doc, values) in scan.read(self.column, number)?.documents() {
                if values.iter().any(|&value| numbers.has(value)) {
                    docs.add(&[doc]);
                }
            }
        }
        Ok(docs.finish())
    }

    /// The documents that `each_match` finds in strings.
    fn strings(
        self,
        mut each_match: impl FnMut(&StringBatch, &[u32], &mut dyn FnMut(u32)) -> Result<()>,
    ) -> Result<DocSet> {
        let (mut docs, mut scan) = (self.nothing()?, StringScan::new());
        for number in self.blocks {
            if self.clock.is_up() {
                break;
            }
            scan.batches(self.column, number, |of, batch| {
                each_match(batch, of, &mut |doc| docs.add(&[doc]))
            })?;
        }
        Ok(docs.finish())
    }
}
