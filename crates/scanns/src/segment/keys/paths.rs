//! The paths of a segment: front-coded in a section of their own, or values of a column.
//!
//! Entries of file systems have their paths in a column, too. Then they are stored only there.

use super::format::BLOCK;
use crate::codec::ByteReader;
use crate::column::{Column, PathCursor};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::segment::columns::find;
use crate::segment::layout::{PATHS, PLACES};
use crate::store::{Envelope, Section};

/// Where the paths of a segment are.
#[derive(Clone, Copy)]
pub(in crate::segment) enum PathStore<'a> {
    /// In blocks of front-coded paths; `places` has the offsets of the blocks.
    Coded { paths: &'a Section, places: &'a Section },
    /// Path `d` is the value of document `d` in the column of `field`.
    Column { keys: &'a Section, field: Field, column: &'a Column },
}

impl<'a> PathStore<'a> {
    /// The `count` paths in the sections of a file.
    pub(super) fn coded(file: &'a Envelope, count: u32) -> Result<Self> {
        let (paths, places) = (file.section(PATHS)?, file.section(PLACES)?);
        if places.len() != (count as usize).div_ceil(BLOCK) * 8 {
            return Err(places.corrupt(format!("its size does not fit {count} paths")));
        }
        Ok(PathStore::Coded { paths, places })
    }

    /// The paths in the column with this number of a field, of which each document must have one value.
    pub(super) fn in_column(keys: &'a Section, columns: &'a [(Field, Column)], field: u64) -> Result<Self> {
        let field = u16::try_from(field).ok().and_then(Field::new);
        let found = field.and_then(|field| Some((field, find(columns, field)?)));
        match found.filter(|(_, column)| is_of_paths(column)) {
            Some((field, column)) => Ok(PathStore::Column { keys, field, column }),
            None => Err(keys.corrupt("there is no column of its paths")),
        }
    }

    /// The field of the column of the paths.
    pub(super) fn field(&self) -> Option<Field> {
        match self {
            PathStore::Coded { .. } => None,
            PathStore::Column { field, .. } => Some(*field),
        }
    }

    /// The error for a path that cannot be read.
    #[cold]
    pub(super) fn missing(&self, number: u32) -> Error {
        let (PathStore::Coded { paths: section, .. } | PathStore::Column { keys: section, .. }) = self;
        section.corrupt(format!("there is no path {number}"))
    }

    /// Reads path `number`.
    pub(super) fn get(&self, number: u32) -> Result<Vec<u8>> {
        match self {
            PathStore::Coded { .. } => {
                let path = nth_path(self.block(number as usize / BLOCK)?, number as usize % BLOCK);
                path.ok_or_else(|| self.missing(number))
            }
            PathStore::Column { column, .. } => {
                let mut path = Vec::new();
                if column.path(number, &mut path)? { Ok(path) } else { Err(self.missing(number)) }
            }
        }
    }

    /// The bytes of a block of front-coded paths.
    fn block(&self, block: usize) -> Result<ByteReader<'a>> {
        let PathStore::Coded { paths, places } = *self else { return Ok(ByteReader::new(&[])) };
        let place = |at: usize| -> Result<Option<usize>> {
            if at == places.len() {
                return Ok(Some(paths.len()));
            }
            let offset = ByteReader::new(places.get(at..at + 8)?).u64();
            Ok(offset.and_then(|offset| usize::try_from(offset).ok()))
        };
        match (place(block * 8)?, place(block * 8 + 8)?) {
            (Some(start), Some(end)) if start <= end => Ok(ByteReader::new(paths.get(start..end)?)),
            _ => Err(places.corrupt(format!("there is no block {block} of paths"))),
        }
    }

    /// A cursor before the first path.
    pub(super) fn cursor(self) -> StoredPathCursor<'a> {
        match self {
            PathStore::Coded { .. } => {
                let (block, next, path) = (ByteReader::new(&[]), 0, Vec::new());
                StoredPathCursor::Coded { paths: self, block, next, path }
            }
            PathStore::Column { column, .. } => {
                StoredPathCursor::Column { paths: self, cursor: Box::new(PathCursor::new(column)) }
            }
        }
    }
}

/// True if each document has one path in a column.
pub(super) fn is_of_paths(column: &Column) -> bool {
    let documents = u64::from(column.documents());
    column.names().is_some() && column.present() == documents && column.values() == documents
}

/// Reads paths whose numbers mostly ascend.
///
/// A front-coded path is a difference from the one before it, so reading one alone decodes up to 32 of them.
/// The cursor goes on from the last path instead, if the next one is in the same block.
pub(in crate::segment) enum StoredPathCursor<'a> {
    Coded {
        paths: PathStore<'a>,
        block: ByteReader<'a>,
        /// The number of the path that comes next in the block.
        next: u32,
        path: Vec<u8>,
    },
    Column {
        paths: PathStore<'a>,
        cursor: Box<PathCursor<'a>>,
    },
}

impl StoredPathCursor<'_> {
    /// Reads path `number`.
    pub(in crate::segment) fn path(&mut self, number: u32) -> Result<&[u8]> {
        match self {
            StoredPathCursor::Column { paths, cursor } => {
                cursor.path(number)?.ok_or_else(|| paths.missing(number))
            }
            StoredPathCursor::Coded { paths, block, next, path } => {
                let (wanted, at) = (number as usize / BLOCK, *next as usize);
                let is_in_block = at / BLOCK == wanted && !at.is_multiple_of(BLOCK);
                if !is_in_block || *next > number {
                    *block = paths.block(wanted)?;
                    *next = u32::try_from(wanted * BLOCK).unwrap_or(u32::MAX);
                    path.clear();
                }
                while *next <= number {
                    read_path(block, path).ok_or_else(|| paths.missing(*next))?;
                    *next += 1;
                }
                Ok(path)
            }
        }
    }
}

/// Reads path `n` of a block: from back to front, so that each byte is copied once.
pub(super) fn nth_path(mut block: ByteReader<'_>, n: usize) -> Option<Vec<u8>> {
    let mut parts = [(0, &b""[..]); BLOCK];
    let parts = parts.get_mut(..=n)?;
    let mut len = 0;
    for part in &mut *parts {
        let shared = usize::try_from(block.varint()?).ok().filter(|&shared| shared <= len)?;
        let own = usize::try_from(block.varint()?).ok()?;
        *part = (shared, block.take(own)?);
        len = shared + own;
    }
    let mut path = vec![0; len];
    for &(shared, own) in parts.iter().rev() {
        if shared < len {
            path.get_mut(shared..len)?.copy_from_slice(own.get(..len - shared)?);
            len = shared;
        }
    }
    Some(path)
}

/// Reads the path that follows `path` in a block.
pub(super) fn read_path(block: &mut ByteReader<'_>, path: &mut Vec<u8>) -> Option<()> {
    let shared = usize::try_from(block.varint()?).ok().filter(|&shared| shared <= path.len())?;
    let len = usize::try_from(block.varint()?).ok()?;
    path.truncate(shared);
    path.extend_from_slice(block.take(len)?);
    Some(())
}
