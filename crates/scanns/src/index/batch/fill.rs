//! Reads the values of documents of a leaf into the columns of a batch.

use super::column::{BatchColumn, Strings};
use super::{BatchField, Snapshot};
use crate::column::{DictionaryReader, Gather, Gathered, StringCursor};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::search::{Hit, Searcher};

/// Where the values of a field of a leaf come from.
enum Source<'s> {
    /// No document of the leaf has one.
    Nowhere,
    Key,
    /// What is stored of a document has all fields at once.
    Stored(Field),
    Numbers(Gather<'s>),
    Terms(Gather<'s>, &'s DictionaryReader),
    /// A directory and a name each.
    Paths(Gather<'s>, &'s DictionaryReader, Option<StringCursor<'s>>),
    Strings(StringCursor<'s>),
}

/// The fields of a leaf.
pub(super) struct Filler<'s> {
    snapshot: &'s Snapshot,
    searcher: &'s Searcher<'s>,
    leaf: usize,
    sources: Vec<Source<'s>>,
    terms: Terms,
}

impl<'s> Filler<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot,
        searcher: &'s Searcher<'s>,
        leaf: usize,
        fields: &[BatchField],
    ) -> Self {
        let source = |&field: &BatchField| {
            let BatchField::Values(field) = field else { return Source::Key };
            if !snapshot.schema().entry(field).is_some_and(|entry| entry.column) {
                return Source::Stored(field);
            }
            let Some(column) = snapshot.leaves().get(leaf).and_then(|segment| segment.column(field)) else {
                return Source::Nowhere;
            };
            match (column.terms(), column.names()) {
                (Some(terms), None) => Source::Terms(Gather::new(column), terms),
                (Some(terms), Some(names)) => {
                    Source::Paths(Gather::new(column), terms, Some(StringCursor::new(names)))
                }
                _ if column.kind().is_strings() => Source::Strings(StringCursor::new(column)),
                _ => Source::Numbers(Gather::new(column)),
            }
        };
        let sources = fields.iter().map(source).collect();
        Filler { snapshot, searcher, leaf, sources, terms: Terms::default() }
    }

    /// Makes `columns` those of these documents. False if their values take more than so many bytes, which is noticed
    /// about when it happens: what there is then is not all.
    pub(super) fn fill(&mut self, docs: &[u32], bytes: usize, columns: &mut [BatchColumn]) -> Result<bool> {
        columns.iter_mut().for_each(BatchColumn::clear);
        let mut left = Left(bytes, docs.len() == 1);
        // What may be long comes first, so that little is read in vain.
        for numbers in [false, true] {
            for (source, column) in self.sources.iter_mut().zip(&mut *columns) {
                if matches!(source, Source::Numbers(_)) != numbers {
                    continue;
                }
                let hits = docs.iter().map(|&doc| Hit { leaf: self.leaf, doc, score: 0.0 });
                let fits = match source {
                    Source::Stored(_) => true,
                    Source::Nowhere => {
                        hits.for_each(|_| column.push_row([]));
                        true
                    }
                    Source::Key => keys(self.searcher, hits, column, &mut left)?,
                    Source::Numbers(gather) => {
                        gather.read(docs, &mut column.numbers)?;
                        left.take(8 * column.len())
                    }
                    Source::Terms(gather, terms) => {
                        gather.read(docs, &mut column.numbers)?;
                        self.terms.fetch(terms, &mut column.numbers, &mut column.strings, &mut left)?
                    }
                    Source::Paths(gather, terms, names) => {
                        self.terms.directories.clear();
                        gather.read(docs, &mut self.terms.directories)?;
                        self.terms.paths(terms, names.as_mut(), docs, column, &mut left)?
                    }
                    Source::Strings(cursor) => strings(cursor, docs, column, &mut left)?,
                };
                if !fits {
                    return Ok(false);
                }
            }
        }
        self.stored(docs, columns, &mut left)
    }

    /// The fields that are only stored, document by document.
    fn stored(&self, docs: &[u32], columns: &mut [BatchColumn], left: &mut Left) -> Result<bool> {
        if !self.sources.iter().any(|source| matches!(source, Source::Stored(_))) {
            return Ok(true);
        }
        for &doc in docs {
            let hit = Hit { leaf: self.leaf, doc, score: 0.0 };
            let values = self.snapshot.values(&hit)?.unwrap_or_default();
            for (source, column) in self.sources.iter().zip(&mut *columns) {
                let Source::Stored(field) = source else { continue };
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

/// Bytes that are left, and whether they count: a single row is taken however long it is.
struct Left(usize, bool);

impl Left {
    /// False if there are not so many.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some() || self.1
    }
}

fn keys(
    searcher: &Searcher<'_>,
    hits: impl Iterator<Item = Hit>,
    column: &mut BatchColumn,
    left: &mut Left,
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
    left: &mut Left,
) -> Result<bool> {
    for &doc in docs {
        let Strings { bytes, ends } = &mut column.strings;
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

/// Puts terms in the place of their numbers.
#[derive(Default)]
struct Terms {
    /// The number of a term above the place of a value.
    wanted: Vec<u64>,
    numbers: Vec<u32>,
    directories: Gathered,
    names: Strings,
}

impl Terms {
    /// Reads each term once, in the order of the dictionary, and makes the values the numbers of their strings.
    fn fetch(
        &mut self,
        terms: &DictionaryReader,
        values: &mut Gathered,
        strings: &mut Strings,
        left: &mut Left,
    ) -> Result<bool> {
        let values = values.values_mut();
        if terms.len() as usize <= values.len() {
            return self.fetch_of_few(terms, values, strings, left);
        }
        let Terms { wanted, numbers, .. } = self;
        wanted.clear();
        // What is beyond all dictionaries is an error there.
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

    /// The same for a dictionary that is no larger than the values are many: a table spares sorting them.
    fn fetch_of_few(
        &mut self,
        terms: &DictionaryReader,
        values: &mut [u64],
        strings: &mut Strings,
        left: &mut Left,
    ) -> Result<bool> {
        let Terms { wanted: table, numbers, .. } = self;
        let number = |term: u64| usize::try_from(term).unwrap_or(usize::MAX);
        // How often each is wanted, and then which string it is.
        table.clear();
        table.resize(terms.len() as usize, 0);
        numbers.clear();
        for &term in &*values {
            match table.get_mut(number(term)) {
                Some(count) => *count += 1,
                // The dictionary says what is wrong with it.
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

    /// Of directories and the names in them.
    fn paths(
        &mut self,
        terms: &DictionaryReader,
        names: Option<&mut StringCursor<'_>>,
        docs: &[u32],
        column: &mut BatchColumn,
        left: &mut Left,
    ) -> Result<bool> {
        let mut directories = std::mem::take(&mut self.directories);
        let mut strings = Strings::default();
        let mut fits = self.fetch(terms, &mut directories, &mut strings, left)?;
        if let Some(cursor) = names.filter(|_| fits) {
            for (row, &doc) in docs.iter().enumerate() {
                self.names.clear();
                let Strings { bytes, ends } = &mut self.names;
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

/// Reads terms until `visit` says no; false if it did.
fn read(
    terms: &DictionaryReader,
    numbers: &[u32],
    mut visit: impl FnMut(u32, &[u8]) -> bool,
) -> Result<bool> {
    let mut fits = true;
    let read = terms.terms_of(numbers, |number, term| {
        fits = visit(number, term);
        // Whatever ends it will do.
        if fits { Ok(()) } else { Err(Error::Options(String::new())) }
    });
    if fits { read.map(|()| true) } else { Ok(false) }
}

fn high(wanted: u64) -> u32 {
    u32::try_from(wanted >> 32).unwrap_or(u32::MAX)
}
