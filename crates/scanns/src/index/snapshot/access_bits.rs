//! The documents of a segment that a user may see.
//!
//! Each class of the dictionary is evaluated once; then the column is read block by block, and the rights of
//! its values become bits. This takes about a nanosecond for a document, and less where many documents in a
//! row have one class, as the files of a directory do.

use crate::column::{Column, Scan, Values};
use crate::error::Result;
use crate::schema::Field;
use crate::segment::{DocBits, Segment, VisibleDocs};
use crate::source::access::{AccessClass, AccessUser};

/// Half of a word has the bits of entries of 32 documents, the other half those of their contents.
const HALF: u32 = 32;
const ENTRIES: u64 = (1 << HALF) - 1;

/// The rights of a class. Those of 10,000 classes fit the first cache of a processor.
const ENTRY: u8 = 1;
const CONTENT: u8 = 2;

/// The documents of a segment that a user may see: a bit for each, lowest first. Deleted documents may be
/// among them.
struct AccessBits {
    /// Documents whose names and metadata he may see.
    entries: Vec<u64>,
    /// Documents among them whose content he may see, too.
    contents: Vec<u64>,
}

/// The number of live documents of a segment without a class, which nobody sees.
///
/// # Errors
/// [`Error::Corrupt`](crate::Error::Corrupt) if the column cannot be read.
pub(super) fn without_class(segment: &Segment, field: Option<Field>) -> Result<u64> {
    let column = field.and_then(|field| segment.column(field));
    let (mut count, mut scan, mut next) = (0, Scan::new(), 0);
    if column.is_some_and(|column| column.present() == u64::from(segment.stats().max_doc)) {
        return Ok(0);
    }
    for block in 0..column.map_or(0, Column::blocks) {
        let Some(column) = column else { break };
        for (doc, _) in scan.read(column, block)?.documents() {
            count += (next..doc).filter(|&doc| segment.is_live(doc)).count() as u64;
            next = doc + 1;
        }
    }
    let rest = (next..segment.stats().max_doc).filter(|&doc| segment.is_live(doc));
    Ok(count + rest.count() as u64)
}

/// The rights of a user in each class of a column. A class that cannot be read gives none.
fn rights_of_classes(column: &Column, user: &AccessUser) -> Result<Vec<u8>> {
    let mut rights = Vec::new();
    let Some(classes) = column.terms().filter(|classes| !classes.is_empty()) else { return Ok(rights) };
    let mut cursor = classes.cursor_from(0);
    while let Some((_, class)) = cursor.next()? {
        let found = AccessClass::parse(class).map(|class| class.evaluate(user)).unwrap_or_default();
        // A document is known by its name, so its content is shown only together with it.
        let content = found.entry && found.content;
        rights.push(if found.entry { ENTRY } else { 0 } | if content { CONTENT } else { 0 });
    }
    Ok(rights)
}

/// The rights of a class by its number, each in its half of a word; none for a number that is damaged.
#[inline]
fn of_class(rights: &[u8], class: u64) -> u64 {
    let rights = usize::try_from(class).ok().and_then(|at| rights.get(at)).copied().unwrap_or(0);
    spread(rights)
}

#[inline]
fn spread(rights: u8) -> u64 {
    let rights = u64::from(rights);
    (rights | rights << (HALF - 1)) & (1 | 1 << HALF)
}

/// What a user may see of a segment whose access classes are in the column of a field.
///
/// # Errors
/// [`Error::Corrupt`](crate::Error::Corrupt) if the column cannot be read.
pub(super) fn visible_to(segment: &Segment, field: Option<Field>, user: &AccessUser) -> Result<VisibleDocs> {
    let documents = segment.stats().max_doc;
    let mut bits = AccessBits::new(documents);
    if let Some(column) = field.and_then(|field| segment.column(field)) {
        bits.read(column, &rights_of_classes(column, user)?)?;
    }
    let of_words = |words| DocBits::of_words(documents, words);
    Ok(VisibleDocs { entries: of_words(bits.entries), contents: of_words(bits.contents) })
}

impl AccessBits {
    fn new(max_doc: u32) -> Self {
        let words = (max_doc as usize).div_ceil(64);
        AccessBits { entries: vec![0; words], contents: vec![0; words] }
    }

    /// Sets the bits of the documents of a column whose classes have these rights.
    fn read(&mut self, column: &Column, rights: &[u8]) -> Result<()> {
        let mut scan = Scan::new();
        for block in 0..column.blocks() {
            let entry = column.entry(block)?;
            let is_full = entry.values == entry.documents && entry.present == entry.documents;
            if is_full && entry.least == entry.most {
                self.fill(entry.first, entry.documents, of_class(rights, entry.least));
                continue;
            }
            let values = scan.read(column, block)?;
            match values {
                Values { present: None, ends: None, first, values, .. } => {
                    self.set_all(first, values, rights);
                }
                _ => {
                    for (doc, classes) in values.documents() {
                        // A document has one class; no right follows from several.
                        let [class] = classes else { continue };
                        self.set(doc, of_class(rights, *class));
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets the bits of documents with these classes.
    fn set_all(&mut self, first: u32, classes: &[u64], rights: &[u8]) {
        let (mut doc, mut rest) = (first, classes);
        while !rest.is_empty() {
            // Up to the next multiple of 32, for bits of both rights fit in one number.
            let room = HALF - doc % HALF;
            let (part, after) = rest.split_at((room as usize).min(rest.len()));
            let mut bits = 0;
            for (bit, &class) in part.iter().enumerate() {
                bits |= of_class(rights, class) << bit;
            }
            self.add(doc, bits & ENTRIES, bits >> HALF);
            (doc, rest) = (doc.saturating_add(room), after);
        }
    }

    /// Sets the bits of documents that all have the same rights.
    fn fill(&mut self, first: u32, documents: u32, rights: u64) {
        let (mut doc, end) = (first, first.saturating_add(documents));
        while doc < end && rights != 0 {
            let count = (64 - doc % 64).min(end - doc);
            let bits = u64::MAX >> (64 - count);
            self.add(doc, bits * (rights & 1), bits * (rights >> HALF));
            doc += count;
        }
    }

    fn set(&mut self, doc: u32, rights: u64) {
        self.add(doc, rights & ENTRIES, rights >> HALF);
    }

    /// Sets bits from a document on, all of one word.
    #[inline]
    fn add(&mut self, doc: u32, entry: u64, content: u64) {
        let (word, bit) = ((doc / 64) as usize, doc % 64);
        if let (Some(entries), Some(contents)) = (self.entries.get_mut(word), self.contents.get_mut(word)) {
            *entries |= entry << bit;
            *contents |= content << bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_single_documents_set_the_same_bits() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..300 {
            let documents = random.u32(1..400);
            let rights: Vec<u8> =
                (0..5).map(|_| *random.choice(&[0, ENTRY, ENTRY | CONTENT]).unwrap()).collect();
            let classes: Vec<u64> = (0..documents).map(|_| random.u64(..6)).collect();
            let (mut slow, mut fast) = (AccessBits::new(documents), AccessBits::new(documents));
            let mut filled = AccessBits::new(documents);
            for (doc, &class) in (0..).zip(&classes) {
                slow.set(doc, of_class(&rights, class));
            }
            let cut = random.u32(..documents);
            let (before, after) = classes.split_at(cut as usize);
            fast.set_all(0, before, &rights);
            fast.set_all(cut, after, &rights);
            let mut first = 0;
            for run in classes.chunk_by(|one, other| one == other) {
                let length = u32::try_from(run.len()).unwrap();
                filled.fill(first, length, of_class(&rights, run[0]));
                first += length;
            }
            for bits in [fast, filled] {
                assert_eq!((&bits.entries, &bits.contents), (&slow.entries, &slow.contents));
            }
        }
    }
}
