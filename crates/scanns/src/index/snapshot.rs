//! A committed state of an index, opened for reading; later commits do not change it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::manifest::Manifest;
use super::unique::count_distinct;
use super::words::QueryWords;
use crate::error::{Error, Result};
use crate::schema::{Analyzer, Field, Postings, Records, Schema, Stored};
use crate::search::{Hit, Leaf, Operator, Query, Searcher, parse, parse_json};
use crate::segment::{SEGMENT, Segment, Updates};
use crate::store::{Directory, FsDirectory, Lease, generations, read_generation};

/// What is known of one segment.
#[derive(Clone, Debug)]
pub struct SegmentInfo {
    /// Its identity, 32 hexadecimal digits.
    pub id: String,
    /// Documents in it, deleted ones not counted.
    pub documents: u64,
    /// Documents in it that are deleted, and will go when it is merged.
    pub deleted: u64,
    /// Distinct terms in it.
    pub terms: u64,
    /// Tokens of its documents.
    pub tokens: u64,
    /// Bytes of its file, and of that of changed values.
    pub bytes: u64,
}

/// What is known of a whole index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Counts commits from 1.
    pub generation: u64,
    /// Documents, deleted ones not counted.
    pub documents: u64,
    /// Documents that are deleted and still take space.
    pub deleted: u64,
    /// Tokens of all documents.
    pub tokens: u64,
    /// The fields of documents.
    pub schema: Schema,
    /// How terms are found in the field that is searched where none is named.
    pub analyzer: Analyzer,
    /// What a document was in the latest build.
    pub records: Records,
    /// What is kept of a term in a document, in that field.
    pub postings: Postings,
    /// What is kept of documents; of the compression, what was said last.
    pub stored: Stored,
    /// Bytes of all segments.
    pub index_bytes: u64,
    /// Bytes of them that are positions, with their offsets.
    pub position_bytes: u64,
    /// Version of the format of segments.
    pub format_version: u32,
}

/// See the module.
#[derive(Debug)]
pub struct Snapshot {
    generation: u64,
    schema: Schema,
    records: Records,
    stored: Stored,
    notes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Each seen through the field that is searched where none is named.
    segments: Vec<Segment>,
    /// By field, the segments seen through it.
    views: Vec<Vec<Segment>>,
    infos: Vec<SegmentInfo>,
    _lease: Lease,
}

impl Snapshot {
    /// Opens the newest commit of the index at `path`.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] if nothing was ever committed there, [`Error::Corrupt`] and
    /// [`Error::NewerFormat`] if what was cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let refuse = |why| Error::NotAnIndex { path: path.to_path_buf(), why };
        if !path.exists() {
            return Err(refuse("there is no such directory; build one with scanns index"));
        }
        if !path.is_dir() {
            return Err(refuse("it is a file, an index is a directory"));
        }
        let directory = FsDirectory::new(path);
        let why = "nothing was ever committed in it; build it with scanns index";
        Self::open_in(&directory)?.ok_or_else(|| refuse(why))
    }

    /// Opens the newest commit of a directory, if there is one.
    ///
    /// Commits may go on meanwhile: what a newer one has removed is looked for there.
    pub fn open_in(directory: &dyn Directory) -> Result<Option<Self>> {
        let mut tried = None;
        loop {
            let error = match Self::open_newest(directory) {
                Err(error @ Error::Io { .. }) => error,
                opened => return opened,
            };
            // A manifest may go between being listed and being opened.
            let newest = generations(directory)?.first().copied();
            if newest == tried {
                return Err(error);
            }
            tried = newest;
        }
    }

    fn open_newest(directory: &dyn Directory) -> Result<Option<Self>> {
        let Some(&generation) = generations(directory)?.first() else { return Ok(None) };
        // From here on its files stay, if they are still there.
        let gone = || Error::io("use", Path::new(&directory.describe()), std::io::ErrorKind::NotFound.into());
        let lease = directory.lease(generation).ok_or_else(gone)?;
        let manifest = Manifest::decode(&read_generation(directory, generation)?)?;
        let mut segments = Vec::with_capacity(manifest.segments.len());
        let mut infos = Vec::with_capacity(manifest.segments.len());
        for entry in &manifest.segments {
            let segment = entry.open(directory)?;
            entry.must_describe(&segment, &manifest.schema)?;
            infos.push(SegmentInfo {
                id: format!("{:032x}", entry.id),
                documents: entry.live(),
                deleted: entry.deleted,
                terms: entry.terms,
                tokens: entry.tokens,
                bytes: entry.bytes + segment.updates().map_or(0, Updates::bytes),
            });
            segments.push(segment);
        }
        let schema = manifest.schema;
        let through = |field| segments.iter().map(|segment: &Segment| segment.in_field(field)).collect();
        Ok(Some(Snapshot {
            generation,
            _lease: lease,
            views: schema.fields().map(|(field, _)| through(field)).collect(),
            segments: through(schema.default_field().unwrap_or_default()),
            schema,
            records: manifest.records,
            notes: manifest.notes,
            stored: manifest.stored,
            infos,
        }))
    }

    /// The fields of documents.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What the writer of the commit noted in it, by name.
    pub fn notes(&self) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        &self.notes
    }

    /// The segments, in the order of their documents.
    pub fn segments(&self) -> &[SegmentInfo] {
        &self.infos
    }

    /// What is known of the whole.
    pub fn info(&self) -> IndexInfo {
        let sum = |of: fn(&SegmentInfo) -> u64| self.infos.iter().map(of).sum();
        let default = self.schema.default_field();
        IndexInfo {
            generation: self.generation,
            documents: sum(|segment| segment.documents),
            deleted: sum(|segment| segment.deleted),
            tokens: sum(|segment| segment.tokens),
            schema: self.schema.clone(),
            analyzer: default
                .and_then(|field| self.schema.analyzer(field))
                .cloned()
                .unwrap_or(Analyzer::Standard),
            records: self.records,
            postings: default.and_then(|field| self.schema.entry(field)?.postings()).unwrap_or_default(),
            stored: self.stored,
            index_bytes: sum(|segment| segment.bytes),
            position_bytes: self
                .segments
                .iter()
                .flat_map(|segment| &segment.stats().fields)
                .map(|field| field.run_bytes)
                .sum(),
            format_version: SEGMENT.format,
        }
    }

    /// The open segments.
    pub(super) fn leaves(&self) -> &[Segment] {
        &self.segments
    }

    /// The segment of a hit.
    pub(super) fn leaf(&self, hit: &Hit) -> Option<&Segment> {
        self.segments.get(hit.leaf)
    }

    /// Answers queries over this state, in the field that is searched where none is named.
    pub fn searcher(&self) -> Searcher<'_> {
        self.searcher_in(self.schema.default_field().unwrap_or_default())
    }

    /// The same, with another field to be searched where none is named. Hits of one document are the same in all fields.
    pub fn searcher_in(&self, field: Field) -> Searcher<'_> {
        let views = |field: Field| self.views.get(usize::from(field.number())).into_iter().flatten();
        let leaves = |field| (field, views(field).map(|segment| segment as &dyn Leaf).collect());
        Searcher::over(self.schema.searched().map(|(field, _)| leaves(field)).collect(), field)
            .naming(|field| self.schema.entry(field).map_or(String::new(), |entry| entry.name.clone()))
    }

    /// The segments, seen through a field.
    pub(super) fn segments_in(&self, field: Field) -> &[Segment] {
        self.views.get(usize::from(field.number())).map_or(&[], Vec::as_slice)
    }

    /// Parses a query whose words are analyzed as those of documents were, in the field that is searched where none is
    /// named.
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query> {
        self.parse_in(self.schema.default_field().unwrap_or_default(), text, operator)
    }

    /// The same for a field of the schema.
    pub fn parse_in(&self, field: Field, text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &mut QueryWords::new(&self.schema, field))
    }

    /// Reads a query in JSON, see [`parse_json`]; what it says about text is meant for `field` where it names none.
    pub fn parse_json_in(&self, field: Field, text: &str, operator: Operator) -> Result<Query> {
        parse_json(text, operator, &mut QueryWords::new(&self.schema, field))
    }

    /// A query over this index as JSON, with the names of its fields.
    ///
    /// # Errors
    /// [`Error::Options`] if the query names a field that the index does not have.
    pub fn query_json(&self, query: &Query) -> Result<String> {
        query.to_json(&|field| self.schema.entry(field).map(|entry| entry.name.clone()))
    }

    /// What the document of a hit is called: its path, and its line where lines are documents.
    pub fn key(&self, hit: &Hit) -> Result<Vec<u8>> {
        self.searcher().key(hit)
    }

    /// Where a term stands in the document of a hit: the numbers, from 0, of the tokens that are the term.
    ///
    /// # Errors
    /// [`Error::Options`] if the index has no positions, [`Error::Corrupt`] if they cannot be read.
    pub fn positions(&self, hit: &Hit, term: &[u8]) -> Result<Vec<u32>> {
        self.segments.get(hit.leaf).map_or(Ok(Vec::new()), |segment| segment.positions(term, hit.doc))
    }

    /// Where in the text of the document of a hit each occurrence of `term` begins and ends, in the order of
    /// [`Snapshot::positions`]; see [`Postings::Offsets`] for what is counted. Of files, of lines, and of
    /// documents with one value of the field, the text is what [`Snapshot::document`] gives.
    ///
    /// # Errors
    /// [`Error::Options`] if the index has no offsets, [`Error::Corrupt`] if they cannot be read.
    pub fn offsets(&self, hit: &Hit, term: &[u8]) -> Result<Vec<Range<u32>>> {
        self.segments.get(hit.leaf).map_or(Ok(Vec::new()), |segment| segment.offsets(term, hit.doc))
    }

    /// Distinct terms over all segments, counted by reading them all.
    pub fn unique_terms(&self) -> Result<u64> {
        count_distinct(&self.segments)
    }

    /// The first `limit` terms that begin with `prefix`, with the number of documents that contain each.
    pub fn terms(&self, prefix: &[u8], limit: usize) -> Result<Vec<(Vec<u8>, u64)>> {
        let mut merged = std::collections::BTreeMap::<Vec<u8>, u64>::new();
        for segment in &self.segments {
            let mut terms = segment.terms_from(prefix)?;
            let mut taken = 0;
            while taken < limit && terms.step()? && terms.term().starts_with(prefix) {
                let term = terms.term().to_vec();
                *merged.entry(term).or_default() += u64::from(terms.info().doc_freq());
                taken += 1;
            }
        }
        // A term among the first of the union is among the first of each segment that has it.
        Ok(merged.into_iter().take(limit).collect())
    }
}
