//! Reads the values of documents of a leaf into the columns of a batch.

use std::ops::Range;

use super::column::{BatchColumn, StringList};
use super::options::BatchField;
use crate::column::{Column, DictionaryReader, Gather, Gathered, StringCursor};
use crate::error::{Error, Result};
use crate::index::snapshot::open::Snapshot;
use crate::schema::Field;
use crate::search::{Hit, Searcher};
use crate::sys::try_reserve;

/// The source of the values of a field of a leaf.
enum ValueSource<'s> {
    /// No document of the leaf has a value.
    Nothing,
    /// The key of the document.
    Key,
    /// The stored values of a document, which are read for all fields at once.
    Stored(Field),
    Numbers(Gather<'s>),
    Terms(Gather<'s>, &'s DictionaryReader),
    /// Paths, each a directory and a name.
    Paths(Gather<'s>, &'s DictionaryReader, Option<StringCursor<'s>>),
    Strings(StringCursor<'s>),
}

/// A part of whole paths that has to be cut out of them.
#[derive(Clone, Copy)]
enum PathPart {
    Directory,
    Name,
}

impl PathPart {
    fn of(self, path: &[u8]) -> Range<usize> {
        let name = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
        match self {
            PathPart::Directory => 0..name,
            PathPart::Name => name..path.len(),
        }
    }
}

/// Reads the values of documents of one leaf.
pub(crate) struct BatchFiller<'s> {
    snapshot: &'s Snapshot,
    searcher: &'s Searcher<'s>,
    leaf: usize,
    sources: Vec<ValueSource<'s>>,
    /// By source, what has to be cut out of its values.
    parts: Vec<Option<PathPart>>,
    terms: TermFetcher,
}

impl<'s> BatchFiller<'s> {
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        searcher: &'s Searcher<'s>,
        leaf: usize,
        fields: &[BatchField],
    ) -> Self {
        let source = |&field: &BatchField| {
            let Some(own) = field.field() else { return (ValueSource::Key, None) };
            let part = match field {
                BatchField::Directories(_) => Some(PathPart::Directory),
                BatchField::Names(_) => Some(PathPart::Name),
                BatchField::Key | BatchField::Values(_) => None,
            };
            if !snapshot.schema().entry(own).is_some_and(|entry| entry.column) {
                return (ValueSource::Stored(own), part);
            }
            let column = snapshot.leaves().get(leaf).and_then(|segment| segment.column(own));
            column.map_or((ValueSource::Nothing, None), |column| source_of(column, part))
        };
        let (sources, parts) = fields.iter().map(source).unzip();
        BatchFiller { snapshot, searcher, leaf, sources, parts, terms: TermFetcher::default() }
    }

    /// Fills `columns` with the values of these documents. Returns false, with incomplete columns, soon after
    /// the values exceed `bytes`.
    pub(crate) fn fill(&mut self, docs: &[u32], bytes: usize, columns: &mut [BatchColumn]) -> Result<bool> {
        columns.iter_mut().for_each(BatchColumn::clear);
        let mut left = BytesLeft { bytes, is_unlimited: docs.len() == 1 };
        // Values that may be long come first, to avoid reading other values if they do not fit.
        for numbers in [false, true] {
            for (source, column) in self.sources.iter_mut().zip(&mut *columns) {
                if matches!(source, ValueSource::Numbers(_)) != numbers {
                    continue;
                }
                let hits = docs.iter().map(|&doc| Hit { leaf: self.leaf, doc, score: 0.0 });
                let fits = match source {
                    ValueSource::Stored(_) => true,
                    ValueSource::Nothing => {
                        hits.for_each(|_| column.push_row([]));
                        true
                    }
                    ValueSource::Key => keys(self.searcher, hits, column, &mut left)?,
                    ValueSource::Numbers(gather) => {
                        gather.read(docs, &mut column.numbers)?;
                        left.take(8 * column.len())
                    }
                    ValueSource::Terms(gather, terms) => {
                        gather.read(docs, &mut column.numbers)?;
                        self.terms.fetch(terms, &mut column.numbers, &mut column.strings, &mut left)?
                    }
                    ValueSource::Paths(gather, terms, names) => {
                        self.terms.directories.clear();
                        gather.read(docs, &mut self.terms.directories)?;
                        self.terms.paths(terms, names.as_mut(), docs, column, &mut left)?
                    }
                    ValueSource::Strings(cursor) => strings(cursor, docs, column, &mut left)?,
                };
                if !fits {
                    return Ok(false);
                }
            }
        }
        let fits = self.stored(docs, columns, &mut left)?;
        for (column, part) in columns.iter_mut().zip(&self.parts) {
            if let Some(part) = part {
                column.strings.cut(|path| part.of(path));
            }
        }
        Ok(fits)
    }

    /// Reads the fields that are only stored, document by document.
    fn stored(&self, docs: &[u32], columns: &mut [BatchColumn], left: &mut BytesLeft) -> Result<bool> {
        if !self.sources.iter().any(|source| matches!(source, ValueSource::Stored(_))) {
            return Ok(true);
        }
        for &doc in docs {
            let hit = Hit { leaf: self.leaf, doc, score: 0.0 };
            let values = self.snapshot.values(&hit)?.unwrap_or_default();
            for (source, column) in self.sources.iter().zip(&mut *columns) {
                let ValueSource::Stored(field) = source else { continue };
                let own = values.iter().filter(|(of, _)| of == field);
                let before = column.bytes();
                column.push_row(own.map(|(_, value)| value.as_ref()));
                if !left.take(column.bytes() - before) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The source of the values of a column, and what has to be cut out of them to have a part of its paths.
fn source_of(column: &Column, part: Option<PathPart>) -> (ValueSource<'_>, Option<PathPart>) {
    let source = match (column.terms(), column.names(), part) {
        (Some(terms), None, _) => ValueSource::Terms(Gather::new(column), terms),
        (Some(terms), Some(_), Some(PathPart::Directory)) => {
            return (ValueSource::Terms(Gather::new(column), terms), None);
        }
        (Some(_), Some(names), Some(PathPart::Name)) => {
            return (ValueSource::Strings(StringCursor::new(names)), None);
        }
        (Some(terms), Some(names), None) => {
            ValueSource::Paths(Gather::new(column), terms, Some(StringCursor::new(names)))
        }
        _ if column.kind().is_strings() => ValueSource::Strings(StringCursor::new(column)),
        _ => ValueSource::Numbers(Gather::new(column)),
    };
    (source, part)
}

/// The bytes that a batch may still take.
struct BytesLeft {
    bytes: usize,
    /// True for a single row, which always fits, regardless of its length.
    is_unlimited: bool,
}

impl BytesLeft {
    /// Takes `bytes`. False if they do not fit.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(0);
        left.is_some() || self.is_unlimited
    }
}

fn keys(
    searcher: &Searcher<'_>,
    hits: impl Iterator<Item = Hit>,
    column: &mut BatchColumn,
    left: &mut BytesLeft,
) -> Result<bool> {
    for hit in hits {
        let key = searcher.key(&hit)?;
        let number = column.strings.push(&key);
        column.numbers.push([number]);
        if !left.take(8 + key.len()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn strings(
    cursor: &mut StringCursor<'_>,
    docs: &[u32],
    column: &mut BatchColumn,
    left: &mut BytesLeft,
) -> Result<bool> {
    for &doc in docs {
        let StringList { bytes, ends } = &mut column.strings;
        let (before, first) = (bytes.len(), ends.len());
        cursor.append(doc, bytes, |bytes| ends.push(bytes.len()))?;
        let (long, many) = (bytes.len() - before, ends.len() - first);
        column.numbers.push(first as u64..(first + many) as u64);
        if !left.take(8 * many + long) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Replaces the numbers of terms by the numbers of their strings.
#[derive(Default)]
struct TermFetcher {
    /// The number of a term in the upper half, the place of a value in the lower half.
    wanted: Vec<u64>,
    numbers: Vec<u32>,
    directories: Gathered,
    names: StringList,
}

impl TermFetcher {
    /// Reads each term once, in dictionary order, and replaces each value by the number of its string.
    fn fetch(
        &mut self,
        terms: &DictionaryReader,
        values: &mut Gathered,
        strings: &mut StringList,
        left: &mut BytesLeft,
    ) -> Result<bool> {
        let values = values.values_mut();
        if terms.len() as usize <= values.len() {
            return self.fetch_of_few(terms, values, strings, left);
        }
        let TermFetcher { wanted, numbers, .. } = self;
        wanted.clear();
        // The dictionary reports a number that is too large as damage.
        let above = |(&mut term, place): (&mut u64, u64)| term.min(u32::MAX.into()) << 32 | place;
        wanted.extend(values.iter_mut().zip(0u64..).map(above));
        wanted.sort_unstable();
        numbers.clear();
        numbers.extend(wanted.iter().map(|&wanted| high(wanted)));
        numbers.dedup();
        let mut wanted = wanted.iter().copied().peekable();
        read(terms, numbers, |number, term| {
            let string = strings.push(term);
            while let Some(next) = wanted.next_if(|&next| high(next) == number) {
                let place = usize::try_from(next & u64::from(u32::MAX)).unwrap_or(usize::MAX);
                if let Some(value) = values.get_mut(place) {
                    *value = string;
                }
                if !left.take(8 + term.len()) {
                    return false;
                }
            }
            true
        })
    }

    /// Like `fetch`, for a dictionary with at most as many terms as there are values. A table is faster than
    /// sorting.
    fn fetch_of_few(
        &mut self,
        terms: &DictionaryReader,
        values: &mut [u64],
        strings: &mut StringList,
        left: &mut BytesLeft,
    ) -> Result<bool> {
        let TermFetcher { wanted: table, numbers, .. } = self;
        let number = |term: u64| usize::try_from(term).unwrap_or(usize::MAX);
        // For each term, the number of requests for it, and later the number of its string.
        table.clear();
        try_reserve(table, terms.len() as usize, "read the keywords of a column")?;
        table.resize(terms.len() as usize, 0);
        numbers.clear();
        for &term in &*values {
            match table.get_mut(number(term)) {
                Some(count) => *count += 1,
                // The dictionary reports the damage.
                None => numbers.push(u32::try_from(term).unwrap_or(u32::MAX)),
            }
        }
        numbers.extend((0u32..).zip(&*table).filter(|(_, count)| **count > 0).map(|(term, _)| term));
        let fits = read(terms, numbers, |number, term| {
            let Some(entry) = table.get_mut(number as usize) else { return true };
            let count = usize::try_from(*entry).unwrap_or(usize::MAX);
            *entry = strings.push(term);
            left.take((8 + term.len()).saturating_mul(count))
        })?;
        for value in values {
            *value = table.get(number(*value)).copied().unwrap_or(0);
        }
        Ok(fits)
    }

    /// Reads paths, each from a directory and a name in it.
    fn paths(
        &mut self,
        terms: &DictionaryReader,
        names: Option<&mut StringCursor<'_>>,
        docs: &[u32],
        column: &mut BatchColumn,
        left: &mut BytesLeft,
    ) -> Result<bool> {
        let mut directories = std::mem::take(&mut self.directories);
        let mut strings = StringList::default();
        let mut fits = self.fetch(terms, &mut directories, &mut strings, left)?;
        if let Some(cursor) = names.filter(|_| fits) {
            for (row, &doc) in docs.iter().enumerate() {
                self.names.clear();
                let StringList { bytes, ends } = &mut self.names;
                cursor.append(doc, bytes, |bytes| ends.push(bytes.len()))?;
                fits = fits && left.take(self.names.bytes.len());
                if !fits {
                    break;
                }
                let numbers = directories.values().get(directories.of_row(row)).unwrap_or_default();
                column.numbers.push(numbers.iter().zip(0..).map(|(&directory, name)| {
                    column.strings.bytes.extend_from_slice(strings.get(directory));
                    column.strings.push(self.names.get(name))
                }));
            }
        }
        self.directories = directories;
        Ok(fits)
    }
}

/// Reads terms until `visit` returns false. Returns whether it read all.
fn read(
    terms: &DictionaryReader,
    numbers: &[u32],
    mut visit: impl FnMut(u32, &[u8]) -> bool,
) -> Result<bool> {
    let mut fits = true;
    let read = terms.terms_of(numbers, |number, term| {
        fits = visit(number, term);
        // The error only ends the loop.
        if fits { Ok(()) } else { Err(Error::Cancelled) }
    });
    if fits { read.map(|()| true) } else { Ok(false) }
}

fn high(wanted: u64) -> u32 {
    u32::try_from(wanted >> 32).unwrap_or(u32::MAX)
}
