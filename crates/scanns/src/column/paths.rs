//! Paths: a directory from the dictionary of a column of paths, and a name from its second column.

use super::dictionary::TermCursor;
use super::read::{Column, ColumnCursor, Damaged};
use super::values::StringCursor;
use crate::codec::OpenedStrings;
use crate::error::Result;

impl Column {
    /// Appends the first path of a document of a column of paths; returns false if it has none. What the
    /// blocks of the names need is kept for the next calls.
    pub fn path(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool> {
        let (Some(terms), Some(names)) = (self.terms(), self.names()) else { return Ok(false) };
        let Some(directory) = self.first(doc)? else { return Ok(false) };
        terms.term(u32::try_from(directory).unwrap_or(u32::MAX), out)?;
        names.first_string(doc, out)
    }

    /// Appends the first string of a document; returns false if it has none.
    fn first_string(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool> {
        let number = self.block_of(doc)?;
        let block = self.block(number)?;
        let Some(rank) = block.rank(doc) else { return Ok(false) };
        let damaged = || self.damaged(number);
        let place = block.values_of(rank).map_err(|Damaged| damaged())?.start;
        let opened = self
            .recent
            .get(number, || OpenedStrings::of(block.text(), block.entry.values).ok_or_else(damaged))?;
        opened.get(block.text(), place, out).ok_or_else(damaged)?;
        Ok(true)
    }
}

/// Reads the first paths of documents that are requested in about ascending order.
#[derive(Debug)]
pub struct PathCursor<'a> {
    directories: ColumnCursor<'a>,
    /// `None` in a column that does not hold paths.
    parts: Option<PathParts<'a>>,
    /// The directory of the last path, and its length in `path`.
    last: Option<(u64, usize)>,
    path: Vec<u8>,
}

#[derive(Debug)]
struct PathParts<'a> {
    terms: TermCursor<'a>,
    names: StringCursor<'a>,
}

impl<'a> PathCursor<'a> {
    /// A cursor over a column of paths.
    pub fn new(column: &'a Column) -> Self {
        let parts = column
            .terms()
            .zip(column.names())
            .map(|(terms, names)| PathParts { terms: terms.cursor_from(0), names: StringCursor::new(names) });
        PathCursor { directories: ColumnCursor::new(column), parts, last: None, path: Vec::new() }
    }

    /// The first path of a document; `None` if it has none.
    pub fn path(&mut self, doc: u32) -> Result<Option<&[u8]>> {
        let Some(PathParts { terms, names }) = &mut self.parts else { return Ok(None) };
        let Some(number) = self.directories.first(doc)? else { return Ok(None) };
        let len = match self.last {
            Some((last, len)) if last == number => len,
            _ => {
                let directory = terms.seek(u32::try_from(number).unwrap_or(u32::MAX))?;
                self.path.clear();
                self.path.extend_from_slice(directory);
                directory.len()
            }
        };
        self.last = Some((number, len));
        self.path.truncate(len);
        let mut first = None;
        names.append(doc, &mut self.path, |path| {
            first.get_or_insert(path.len());
        })?;
        Ok(first.and_then(|end| self.path.get(..end)))
    }
}
