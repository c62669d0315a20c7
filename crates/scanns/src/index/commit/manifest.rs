//! The description of a commit: how to interpret the index, its segments, and the notes of its user.
//!
//! ```text
//! manifest = fields u32 | field … | records u32 (0 file, 1 lines, 2 lines of JSON, 3 rows of CSV) |
//!            dialect, of rows of CSV |
//!            store u32 (0 nothing, 1 references, 2 content) |
//!            compression u32 (0 none, 1 lz4, 2 zstd) | level u32 | vectors u32 (0 no, 1 yes) |
//!            contents u32 (1 binary files skipped + 2 decompressed + 4 converted to UTF-8 + 8 not read …) |
//!            segments u32 | segment … | notes u32 | note … |
//!            partial u32 | file …
//! field    = varint(length) | name | varint(length) | source | varint(length) | format |
//!            kind u32 (0 text, 1 keyword, 2 unsigned,
//!            3 signed, 4 float, 5 bytes, 6 boolean, 7 date, 8 path) |
//!            uses u32 (1 stored + 2 a column + 4 searched + 8 the key + 16 by default) | text, of that kind
//! text     = kept u32 (0 frequencies, 1 positions, 2 documents only) | analyzer u32 |
//!            parameters u64 × 4 | chain                              see `schema/analyzer.rs`
//! chain    = varint(length) | text, of analyzer 8                    see `schema/chain.rs`
//! dialect  = delimiter u32 | likely u32 (0 none, else 1 more than the byte) |
//!            quotes u32 (0 always, 1 never, 2 except with tabs) |
//!            names u32 (0 the first row, 1 numbered, 2 given) | count u32 | name …
//! segment  = id u128 | documents u64 | terms u64 | tokens u64 | file length u64 |
//!            deleted u64 | deletes u64 | updates u64
//! note     = varint(length) | name | varint(length) | value          ascending by name
//! file     = varint(length) | path | size u64 | modified i64 | varint(spans) | span …    ascending by path
//! span     = varint(gap) | varint(length) | varint(lines)            ascending; gap: from the end before
//! ```
//!
//! The source of a field is the name of its values in JSON or CSV records, and the format says how they are
//! written there (`schema/value_format.rs`). The values of the field that is the key are the keys of
//! documents. A file of lines or records that was being indexed at the commit is partial: the lines of its
//! spans are in the index. A file whose records were all replaced by records of other files with the same
//! keys is partial too, and its span ends at the greatest position. `deletes` is the generation of the commit
//! that wrote the segment's file of deletes, or 0 if there is no such file; `deleted` is the number of
//! documents in that file. `updates` is the generation of the commit that wrote changed column values.
//! `manifest_field.rs` encodes fields.

use std::collections::BTreeMap;

use super::manifest_dialect::{put_dialect, read_dialect};
use super::manifest_field::{FieldSource, put_field, read_field, read_text};
use crate::codec::{ByteReader, put_varint};
use crate::content::{ContentOptions, Extraction};
use crate::error::{Error, Result};
use crate::read::LineSpan;
use crate::record::{CsvDialect, Sources};
use crate::schema::{Compression, Records, Schema, Store, Stored};
use crate::segment::{FieldStats, Flushed, Segment, deletes_file_name, file_name, updates_file_name};
use crate::source::Stamp;
use crate::store::Directory;

/// The description of a segment in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) id: u128,
    /// The number of documents written, excluding void ones.
    pub(crate) documents: u64,
    pub(crate) terms: u64,
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
    /// The number of documents deleted since then.
    pub(crate) deleted: u64,
    /// The generation of the commit that wrote the deletes; 0 if there are none.
    pub(crate) deletes: u64,
    /// The generation of the commit that wrote changed column values; 0 if there are none.
    pub(crate) updates: u64,
}

impl From<&Flushed> for SegmentEntry {
    fn from(flushed: &Flushed) -> Self {
        SegmentEntry {
            id: flushed.id,
            documents: flushed.stats.documents,
            terms: flushed.stats.terms(),
            tokens: flushed.stats.tokens(),
            bytes: flushed.bytes,
            deleted: 0,
            deletes: 0,
            updates: 0,
        }
    }
}

impl SegmentEntry {
    /// Opens the segment in the state of the commit.
    pub(crate) fn open(&self, directory: &dyn Directory) -> Result<Segment> {
        Segment::open(directory, self.id, self.deletes)?.with_updates(directory, self.updates)
    }

    /// The files of the segment; some of them may not exist.
    pub(crate) fn files(&self) -> [String; 3] {
        [
            file_name(self.id),
            deletes_file_name(self.id, self.deletes),
            updates_file_name(self.id, self.updates),
        ]
    }

    /// The files of the segment that exist.
    pub(crate) fn existing_files(&self) -> impl Iterator<Item = String> {
        let [segment, deletes, updates] = self.files();
        let has = [true, self.deletes != 0, self.updates != 0];
        [segment, deletes, updates].into_iter().zip(has).filter_map(|(name, exists)| exists.then_some(name))
    }

    /// Returns an error if a segment is not the committed one, or has fields that the schema does not have.
    pub(crate) fn must_describe(&self, segment: &Segment, schema: &Schema) -> Result<()> {
        let fits = |stats: &FieldStats| {
            schema.entry(stats.field).is_some_and(|entry| entry.postings() == Some(stats.kept))
        };
        if !segment.stats().fields.iter().all(fits) {
            return Err(Error::corrupt(file_name(self.id), "its fields differ from the fields of its index"));
        }
        let stats = segment.stats();
        let (terms, tokens) = (stats.terms(), stats.tokens());
        let found = (segment.bytes(), stats.documents, terms, tokens, segment.deletes().count());
        if found == (self.bytes, self.documents, self.terms, self.tokens, self.deleted) {
            return Ok(());
        }
        Err(Error::corrupt(file_name(self.id), "it is not the segment that was committed"))
    }

    /// Documents that are not deleted.
    pub(crate) fn live(&self) -> u64 {
        self.documents.saturating_sub(self.deleted)
    }
}

/// The description of a commit. See the module documentation for its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) schema: Schema,
    /// The names of the fields' values in records.
    pub(crate) sources: Sources,
    pub(crate) records: Records,
    /// How rows of CSV are written, if records are such rows; else the default.
    pub(crate) csv: CsvDialect,
    pub(crate) stored: Stored,
    /// What becomes of files that are not plain text.
    pub(crate) contents: ContentOptions,
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) notes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The partially indexed files, by path.
    pub(crate) partial: BTreeMap<Vec<u8>, Partial>,
}

/// The part of a file that is in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partial {
    /// The stamp of the file when it was read.
    pub(crate) stamp: Stamp,
    /// Ascending, with gaps between them.
    pub(crate) spans: Vec<LineSpan>,
}

impl Partial {
    /// A file that was read, and whose records were all replaced by records of other files.
    pub(crate) fn replaced(stamp: Stamp) -> Self {
        Partial { stamp, spans: vec![LineSpan { start: 0, end: u64::MAX, lines: 0 }] }
    }

    /// True if nothing of the file remains to be read.
    pub(crate) fn is_replaced(&self) -> bool {
        matches!(self.spans[..], [LineSpan { start: 0, end: u64::MAX, .. }])
    }
}

impl Manifest {
    /// The manifest of an index without documents.
    pub(crate) fn new(schema: Schema, records: Records, stored: Stored) -> Self {
        let (notes, partial) = (BTreeMap::new(), BTreeMap::new());
        let sources = Sources::of(&schema);
        let contents = ContentOptions::default();
        let csv = CsvDialect::default();
        Manifest { schema, sources, records, csv, stored, contents, segments: Vec::new(), notes, partial }
    }

    /// Opens a segment in the state of the commit, with the keys that documents have in this index.
    pub(crate) fn open(&self, directory: &dyn Directory, entry: &SegmentEntry) -> Result<Segment> {
        Ok(entry.open(directory)?.with_key_field(self.sources.key()))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
        out.extend_from_slice(&count(self.schema.fields().count()));
        for (field, entry) in self.schema.fields() {
            put_field(&mut out, entry, &FieldSource::of(&self.sources, field, entry));
        }
        out.extend_from_slice(&self.records.code().to_le_bytes());
        if self.records == Records::Csv {
            put_dialect(&self.csv, &mut out);
        }
        put_stored(&self.stored, &mut out);
        let ContentOptions { names_only, skip_binary, decompress, transcode, extract, .. } = self.contents;
        let ContentOptions { languages, near_duplicates, collections, .. } = self.contents;
        let extracts = [extract > Extraction::None, extract > Extraction::Safe];
        let flags = [skip_binary, decompress, transcode, names_only, extracts[0], extracts[1]];
        let flags = flags.into_iter().chain([languages, near_duplicates, collections]);
        let contents = flags.rev().fold(0u32, |bits, flag| bits << 1 | u32::from(flag));
        out.extend_from_slice(&contents.to_le_bytes());
        out.extend_from_slice(&count(self.segments.len()));
        for segment in &self.segments {
            let SegmentEntry { id, documents, terms, tokens, bytes, deleted, deletes, updates } = segment;
            out.extend_from_slice(&id.to_le_bytes());
            for figure in [documents, terms, tokens, bytes, deleted, deletes, updates] {
                out.extend_from_slice(&figure.to_le_bytes());
            }
        }
        out.extend_from_slice(&count(self.notes.len()));
        for text in self.notes.iter().flat_map(|(name, value)| [name, value]) {
            put_varint(&mut out, text.len() as u64);
            out.extend_from_slice(text);
        }
        out.extend_from_slice(&count(self.partial.len()));
        for (path, file) in &self.partial {
            put_varint(&mut out, path.len() as u64);
            out.extend_from_slice(path);
            out.extend_from_slice(&file.stamp.bytes.to_le_bytes());
            out.extend_from_slice(&file.stamp.modified.to_le_bytes());
            put_varint(&mut out, file.spans.len() as u64);
            let mut before = 0;
            for span in &file.spans {
                put_varint(&mut out, span.start.saturating_sub(before));
                put_varint(&mut out, span.end.saturating_sub(span.start));
                put_varint(&mut out, span.lines);
                before = span.end;
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        Self::try_decode(bytes)
            .ok_or_else(|| Error::corrupt("the manifest", "its fields contradict each other"))
    }

    fn try_decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let (mut schema, mut sources) = (Schema::new(), Sources::default());
        for _ in 0..reader.u32()? {
            let (entry, FieldSource { source, format, is_key }) = read_field(&mut reader)?;
            let fits = !is_key || sources.key().is_none() && entry.can_be_key();
            let field = schema.add(entry).ok().filter(|_| fits)?;
            sources.set(field, &source);
            sources.set_format(field, format);
            if is_key {
                sources.set_key(field);
            }
        }
        let records = Records::from_code(reader.u32()?)?;
        let csv = if records == Records::Csv { read_dialect(&mut reader)? } else { CsvDialect::default() };
        let stored = read_stored(&mut reader)?;
        let contents = reader.u32().filter(|bits| *bits < 512)?;
        let [skip_binary, decompress, transcode, names_only, languages, near_duplicates, collections] =
            [1, 2, 4, 8, 64, 128, 256].map(|bit| contents & bit != 0);
        let extract = match contents >> 4 & 3 {
            0 => Extraction::None,
            1 => Extraction::Safe,
            3 => Extraction::All,
            _ => return None,
        };
        let contents = ContentOptions {
            names_only,
            skip_binary,
            decompress,
            transcode,
            extract,
            collections,
            languages,
            near_duplicates,
        };
        if near_duplicates && contents.sketch_field(&schema).is_none() {
            return None;
        }
        let mut segments = Vec::new();
        for _ in 0..reader.u32()? {
            segments.push(read_segment(&mut reader)?);
        }
        let mut notes = BTreeMap::new();
        for _ in 0..reader.u32()? {
            let (name, value) = (read_text(&mut reader)?, read_text(&mut reader)?);
            let rises = notes.last_key_value().is_none_or(|(last, _)| *last < name);
            rises.then(|| notes.insert(name, value))?;
        }
        let mut partial = BTreeMap::new();
        for _ in 0..reader.u32()? {
            let path = read_text(&mut reader)?;
            let rises = partial.last_key_value().is_none_or(|(last, _)| *last < path);
            let file = read_partial(&mut reader)?;
            rises.then(|| partial.insert(path, file))?;
        }
        let all = reader.remaining().is_empty();
        all.then_some(Manifest { schema, sources, records, csv, stored, contents, segments, notes, partial })
    }
}

fn put_stored(stored: &Stored, out: &mut Vec<u8>) {
    let store = match stored.store {
        Store::None => 0u32,
        Store::Reference => 1,
        Store::Content => 2,
    };
    let (compression, level) = match stored.compression {
        Compression::None => (0, 0),
        Compression::Lz4 => (1, 0),
        Compression::Zstd(level) => (2, level.into()),
    };
    for field in [store, compression, level, u32::from(stored.vectors)] {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

fn read_stored(reader: &mut ByteReader<'_>) -> Option<Stored> {
    let store = match reader.u32()? {
        0 => Store::None,
        1 => Store::Reference,
        2 => Store::Content,
        _ => return None,
    };
    let compression = match (reader.u32()?, reader.u32()?) {
        (0, 0) => Compression::None,
        (1, 0) => Compression::Lz4,
        (2, level @ 1..=19) => Compression::Zstd(u8::try_from(level).ok()?),
        _ => return None,
    };
    let vectors = match reader.u32()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(Stored { store, compression, vectors })
}

fn read_partial(reader: &mut ByteReader<'_>) -> Option<Partial> {
    let stamp = Stamp { bytes: reader.u64()?, modified: reader.u64()?.cast_signed() };
    let mut spans: Vec<LineSpan> = Vec::new();
    for _ in 0..reader.varint()? {
        let start = spans.last().map_or(0, |span| span.end).checked_add(reader.varint()?)?;
        let end = start.checked_add(reader.varint()?)?;
        // A line has at least one byte.
        let lines = reader.varint().filter(|&lines| lines <= end - start)?;
        spans.push(LineSpan { start, end, lines });
    }
    Some(Partial { stamp, spans })
}

fn read_segment(reader: &mut ByteReader<'_>) -> Option<SegmentEntry> {
    let id = u128::from_le_bytes(*reader.take(16)?.first_chunk()?);
    let mut figures = [0; 7];
    for figure in &mut figures {
        *figure = reader.u64()?;
    }
    let [documents, terms, tokens, bytes, deleted, deletes, updates] = figures;
    let agree = deleted <= documents && (deleted == 0) == (deletes == 0);
    agree.then_some(SegmentEntry { id, documents, terms, tokens, bytes, deleted, deletes, updates })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CsvDelimiter, CsvNames, CsvQuotes};
    use crate::schema::{Analyzer, FieldEntry, FieldKind, Postings, ValueFormat};

    fn sources_of(schema: &Schema) -> Sources {
        let mut sources = Sources::of(schema);
        let field = |name| schema.field(name).unwrap();
        sources.set(field("title"), "a title, {ü}");
        for (name, format) in [("t", "epoch-ms"), ("d.e", "1.234,56")] {
            sources.set_format(field(name), ValueFormat::parse(format).unwrap());
        }
        sources.set_key(field("id"));
        sources
    }

    fn dialect() -> CsvDialect {
        CsvDialect {
            delimiter: Some(CsvDelimiter::TAB),
            likely: None,
            quotes: CsvQuotes::ExceptWithTabs,
            names: CsvNames::Given(vec!["a".into(), "ü".into()]),
        }
    }

    #[test]
    fn manifests_read_back_and_cut_ones_do_not() {
        let segment = |id, deleted| SegmentEntry {
            id,
            documents: 2,
            terms: 3,
            tokens: 4,
            bytes: u64::MAX,
            deleted,
            deletes: deleted * 7,
            updates: deleted % 2,
        };
        let stored = Stored { store: Store::Content, compression: Compression::Zstd(3), vectors: true };
        for (analyzer, postings, stored) in [
            ("standard", Postings::Frequencies, Stored::default()),
            ("standard", Postings::Positions, Stored { store: Store::Reference, ..Stored::default() }),
            ("paths", Postings::Positions, stored),
            ("snowball:russian", Postings::Frequencies, Stored::default()),
            ("edge-ngram:2-9", Postings::Frequencies, Stored::default()),
            ("standard", Postings::Offsets, stored),
            ("paths | fold | stop:the,of,ü | edge-ngram:1-8", Postings::Offsets, stored),
        ] {
            let analyzer = Analyzer::parse(analyzer).unwrap();
            let note = |name: &str, value: &str| (name.into(), value.into());
            let mut schema = Schema::of_files(analyzer.clone(), postings);
            let title = FieldKind::Text { analyzer, postings: Postings::Documents };
            let others = [FieldKind::Keyword, FieldKind::Unsigned, FieldKind::Signed, FieldKind::Float];
            for (name, kind) in ["a", "ü", "-", "d.e"].into_iter().zip(others) {
                schema.add(FieldEntry::new(name, kind).stored()).unwrap();
            }
            schema.add(FieldEntry::new("title", title)).unwrap();
            schema.add(FieldEntry::new("rest", FieldKind::Bytes).stored()).unwrap();
            for (name, kind) in [("t", FieldKind::Date), ("b", FieldKind::Boolean), ("p", FieldKind::Path)] {
                schema.add(FieldEntry::new(name, kind).column()).unwrap();
            }
            let keyword = FieldEntry::new("k", FieldKind::Keyword).column().not_searched();
            schema.add(keyword).unwrap();
            schema.add(FieldEntry::new("id", FieldKind::Keyword).column()).unwrap();
            let manifest = Manifest {
                sources: sources_of(&schema),
                schema,
                records: Records::Csv,
                csv: dialect(),
                stored,
                contents: ContentOptions { decompress: false, ..ContentOptions::default() },
                segments: vec![segment(1, 0), segment(u128::MAX, 2)],
                notes: [note("", "x"), note("host", ""), note("hosts", "abc")].into(),
                partial: [
                    (b"a".to_vec(), Partial::default()),
                    (
                        b"b".to_vec(),
                        Partial {
                            stamp: Stamp { bytes: 1 << 40, modified: -5 },
                            spans: vec![
                                LineSpan { start: 0, end: 9, lines: 1 },
                                LineSpan { start: 1 << 33, end: 1 << 34, lines: 1 << 20 },
                            ],
                        },
                    ),
                ]
                .into(),
            };
            let bytes = manifest.encode();
            assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
            assert!((0..bytes.len()).all(|len| Manifest::decode(&bytes[..len]).is_err()));
        }
    }

    #[test]
    fn a_chain_that_is_damaged_or_unknown_is_refused() {
        let chain = "standard | stop:the,of | porter";
        let schema = Schema::of_files(Analyzer::parse(chain).unwrap(), Postings::Positions);
        let manifest = Manifest::new(schema, Records::File, Stored::default());
        let bytes = manifest.encode();
        let at = bytes.windows(chain.len()).position(|window| window == chain.as_bytes()).unwrap();
        let with = |text: &str| {
            let mut changed = bytes.clone();
            changed[at..at + chain.len()].copy_from_slice(text.as_bytes());
            Manifest::decode(&changed)
        };
        assert_eq!(with(chain).unwrap(), manifest);
        for odd in [
            "standard | stop:the,of | barter",
            "standard | stop:the,of |porter ",
            "standard & stop:the,of & porter",
        ] {
            assert!(matches!(with(odd), Err(Error::Corrupt { .. })), "{odd}");
        }
        // The stored length is not trusted, and a chain has no parameters.
        for (place, value) in [(at - 1, 0), (at - 1, 0x7f), (at - 2, 1)] {
            let mut changed = bytes.clone();
            changed[place] = value;
            assert!(Manifest::decode(&changed).is_err(), "{place}");
        }
    }
}
