//! Documents that are not in the order of the runs: which place each has, and which document each place.

use std::ops::Range;

use super::read::KeyReader;
use super::write::place_width;
use super::{KeyRun, WHOLE_FILE};
use crate::error::{Error, Result};
use crate::store::Section;

/// The section of places.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    section: &'a Section,
    documents: u32,
    /// Bytes of a place.
    width: usize,
}

impl<'a> Places<'a> {
    /// Those of so many documents.
    pub(super) fn open(section: &'a Section, documents: u32) -> Result<Self> {
        let width = place_width(documents as usize);
        match section.len() == documents as usize * width {
            true => Ok(Places { section, documents, width }),
            false => Err(section.corrupt(format!("it has not one place for each of {documents} documents"))),
        }
    }

    /// The place of a document.
    pub(super) fn get(&self, doc: u32) -> Result<u32> {
        let at = doc as usize * self.width;
        let bytes = self.section.get(at..at + self.width)?;
        let place = bytes.iter().rev().fold(0u32, |place, &byte| place << 8 | u32::from(byte));
        if place < self.documents { Ok(place) } else { Err(self.wrong(doc)) }
    }

    fn wrong(&self, doc: u32) -> Error {
        self.section.corrupt(format!("document {doc} has a place that is not there or is another's"))
    }

    /// The documents at these places, which ascend, in the order of the documents. Nothing is read where there are none.
    pub(super) fn documents_at(&self, places: &[Range<u32>]) -> Result<Vec<Range<u32>>> {
        let mut found = Vec::new();
        let documents = if places.is_empty() { 0 } else { self.documents };
        for doc in 0..documents {
            let place = self.get(doc)?;
            let range = places.partition_point(|range| range.end <= place);
            if places.get(range).is_some_and(|range| range.start <= place) {
                found.push(doc..doc + 1);
            }
        }
        Ok(found)
    }

    /// The document of each place.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if two have the same.
    fn documents(&self) -> Result<Vec<u32>> {
        let mut documents = vec![u32::MAX; self.documents as usize];
        for doc in 0..self.documents {
            match documents.get_mut(self.get(doc)? as usize) {
                Some(free) if *free == u32::MAX => *free = doc,
                _ => return Err(self.wrong(doc)),
            }
        }
        Ok(documents)
    }
}

impl KeyReader<'_> {
    /// Calls `visit` with a run for every document, in order.
    pub(super) fn each_in_order(
        &self,
        order: Places<'_>,
        mut visit: impl FnMut(KeyRun, Range<u32>) -> Result<()>,
    ) -> Result<()> {
        let mut runs = Vec::new();
        self.each_by_run(|run, _| {
            runs.push(run);
            Ok(())
        })?;
        for doc in 0..self.max_doc {
            let place = order.get(doc)?;
            let index = runs.partition_point(|run| run.first_doc <= place).checked_sub(1);
            let Some(run) = index.and_then(|index| runs.get(index)) else {
                return Err(self.damaged(format_args!("key for document {doc}")));
            };
            let first_line = match run.first_line {
                WHOLE_FILE => WHOLE_FILE,
                first => first + u64::from(place - run.first_doc),
            };
            visit(KeyRun { first_doc: doc, path: run.path, first_line }, doc..doc + 1)?;
        }
        Ok(())
    }

    /// Calls `visit` with path, line ([`WHOLE_FILE`] for a file) and number of every document, in the order of the runs.
    pub(super) fn each_by_place(&self, mut visit: impl FnMut(u32, u64, u32) -> Result<()>) -> Result<()> {
        let mut each = |run: KeyRun, line: u64, doc: u32| {
            visit(run.path, if run.first_line == WHOLE_FILE { WHOLE_FILE } else { line }, doc)
        };
        let Some(order) = self.order else {
            return self.each_run(|run, docs| {
                (run.first_line..).zip(docs).try_for_each(|(line, doc)| each(run, line, doc))
            });
        };
        let documents = order.documents()?;
        self.each_by_run(|run, places| {
            let documents = documents.get(places.start as usize..places.end as usize).unwrap_or_default();
            (run.first_line..).zip(documents).try_for_each(|(line, &doc)| each(run, line, doc))
        })
    }

    /// Proves that every document has a place of its own.
    pub(in crate::segment) fn check_order(&self) -> Result<()> {
        self.order.map_or(Ok(()), |order| order.documents().map(drop))
    }
}
