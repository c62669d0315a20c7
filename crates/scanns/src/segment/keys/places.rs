//! The places of documents that are not in the order of the runs.

use std::ops::Range;

use super::format::width_of;
use crate::error::{Error, Result};
use crate::store::Section;

/// The section of places.
#[derive(Clone, Copy)]
pub(in crate::segment) struct DocumentPlaces<'a> {
    section: &'a Section,
    documents: u32,
    /// Bytes of a place.
    width: usize,
}

impl<'a> DocumentPlaces<'a> {
    /// The places of `documents` documents.
    pub(super) fn open(section: &'a Section, documents: u32) -> Result<Self> {
        let width = width_of(documents as usize);
        if section.len() == documents as usize * width {
            Ok(DocumentPlaces { section, documents, width })
        } else {
            Err(section.corrupt(format!("its size does not fit {documents} documents")))
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
        self.section.corrupt(format!("the place of document {doc} does not exist or is taken"))
    }

    /// The documents at the ascending ranges `places`, in document order.
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

    /// The document at each place.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if two documents have the same place.
    pub(super) fn documents(&self) -> Result<Vec<u32>> {
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
