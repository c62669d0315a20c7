//! The keys of documents: values of a field, or else the places of documents.
//!
//! A document without a value in the field that is the key has its place as its key.

use std::ops::Range;

use super::reader::Segment;
use super::terms::TermInfo;
use crate::codec::NO_MORE;
use crate::error::Result;
use crate::source::Stamp;

/// Where a document comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentOrigin {
    /// The path of its file.
    pub path: Vec<u8>,
    /// The number of its line or record, from 1; `None` if it is a whole file.
    pub line: Option<u64>,
}

impl Segment {
    /// Returns the key of a document.
    pub fn key(&self, doc: u32) -> Result<Vec<u8>> {
        self.key_value(doc)?.map_or_else(|| self.keys()?.key(doc), Ok)
    }

    /// Returns the value that is the key of a document; `None` if its place is its key.
    fn key_value(&self, doc: u32) -> Result<Option<Vec<u8>>> {
        let Some(column) = self.key_field().and_then(|field| self.column(field)) else { return Ok(None) };
        let (Some(number), Some(terms)) = (column.first(doc)?, column.terms()) else { return Ok(None) };
        let mut value = Vec::new();
        terms.term(u32::try_from(number).unwrap_or(u32::MAX), &mut value)?;
        Ok(Some(value))
    }

    /// Returns the place of a document.
    pub fn origin(&self, doc: u32) -> Result<DocumentOrigin> {
        let (path, line) = self.keys()?.line(doc)?;
        Ok(DocumentOrigin { path, line })
    }

    /// Returns the path of the file of a document, and the stamp of the file when it was indexed.
    pub fn file_of(&self, doc: u32) -> Result<(Vec<u8>, Stamp)> {
        self.keys()?.file_of(doc).map(|(path, stamp, _)| (path, stamp))
    }

    /// Returns the documents with these keys, including deleted ones. If no field is the key, the path of a
    /// file selects all its documents.
    pub fn documents_named<'k>(&self, keys: impl IntoIterator<Item = &'k [u8]>) -> Result<Vec<Range<u32>>> {
        let Some(field) = self.key_field() else { return self.documents_at(keys) };
        let values = self.in_field(field);
        let mut found = Vec::new();
        for key in keys {
            if let Some((info, _)) = values.find_all(key)? {
                found.extend(values.documents_of_term(key, info)?.into_iter().map(|doc| doc..doc + 1));
            }
            // The places of documents without a value, and the names that programs gave, are keys too.
            for documents in self.documents_at([key])?.into_iter().filter(|documents| documents.len() == 1) {
                if self.key_value(documents.start)?.is_none() && self.keys()?.key(documents.start)? == key {
                    found.push(documents);
                }
            }
        }
        Ok(found)
    }

    /// Returns the documents whose values of the key field are paths below a directory, including deleted
    /// ones; none if no field is the key.
    pub fn documents_with_keys_below(&self, directory: &[u8]) -> Result<Vec<Range<u32>>> {
        let Some(field) = self.key_field().filter(|_| directory.starts_with(b"/")) else {
            return Ok(Vec::new());
        };
        let values = self.in_field(field);
        let prefix = [directory.strip_suffix(b"/").unwrap_or(directory), b"/"].concat();
        let (mut walk, mut found) = (values.walk_terms(), Vec::new());
        let mut is_at_term = walk.seek(&prefix)?;
        while is_at_term && walk.term().starts_with(&prefix) {
            let (info, _) = walk.info()?;
            let documents = values.documents_of_term(walk.term(), info)?;
            found.extend(documents.into_iter().map(|doc| doc..doc + 1));
            is_at_term = walk.step()?;
        }
        Ok(found)
    }

    /// Returns the documents of a term of the field, including deleted ones.
    pub fn documents_of_term(&self, term: &[u8], info: TermInfo) -> Result<Vec<u32>> {
        let mut cursor = self.cursor(term, info)?;
        let mut documents = Vec::new();
        while cursor.doc() != NO_MORE {
            documents.push(cursor.doc());
            cursor.step();
        }
        if cursor.corrupt() { Err(self.damaged_list(term)) } else { Ok(documents) }
    }
}
