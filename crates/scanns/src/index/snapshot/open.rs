//! Opens a commit, and holds its segments for readers.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::info::{IndexInfo, SegmentInfo};
use super::part::IndexPart;
use crate::error::{Error, Result};
use crate::index::commit::manifest::{Manifest, SegmentEntry};
use crate::index::commit::shard_list::{AssembledShard, listed_shards};
use crate::index::coverage::Coverage;
use crate::index::field_views::FieldViews;
use crate::schema::{Analyzer, Field, Records, Schema, Store};
use crate::search::{FilterCache, Hit, Searcher};
use crate::segment::{SEGMENT, Segment, StoredCache, Updates};
use crate::store::{Directory, FsDirectory, Lease, generations, read_generation};

/// A commit of an index, opened for reading. Later commits do not change it.
///
/// ```
/// use scanns::Index;
/// use scanns::query::Operator;
/// use scanns::schema::{Document, FieldEntry, Schema};
/// use scanns::search::Model;
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("mail.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text").stored())?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// writer.add(&Document::new("mail-1").with(text, "The index is ready."))?;
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let hits = snapshot.searcher().top_k(&snapshot.parse("ready", Operator::And)?, Model::Classic, 10)?;
/// let values = snapshot.field_values(&hits[0], &[text])?;
/// assert_eq!(values[0], ["The index is ready.".into()]);
/// writer.delete("mail-1")?;
/// writer.commit()?;
/// assert_eq!(snapshot.info().documents, 1, "a snapshot does not change");
/// # Ok(())
/// # }
/// ```
///
/// A clone is of the same commit, and shares its segments. [`Index::refresh`](crate::Index::refresh) opens a
/// newer commit and shares the segments that both have.
/// [`IndexWriter::snapshot`](crate::writer::IndexWriter::snapshot) makes a snapshot of what is not committed
/// yet.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The fields of all indexes.
    pub(super) schema: Schema,
    /// The indexes, at least one, in document order.
    pub(super) parts: Vec<IndexPart>,
    /// By segment, the place of its index among the parts.
    pub(super) part_of: Vec<usize>,
    /// The segments, seen through the default field.
    pub(super) segments: Vec<Segment>,
    /// The segments, seen through each searched field.
    pub(super) views: FieldViews,
    pub(super) infos: Vec<SegmentInfo>,
    /// What was decompressed of stored documents.
    pub(super) stored_cache: Arc<StoredCache>,
    /// The documents of filters that repeat.
    pub(super) filters: Arc<FilterCache>,
}

/// The state of an index that a snapshot shows, besides its documents.
pub(super) struct OpenState {
    /// The index, for messages.
    pub(super) name: String,
    pub(super) generation: u64,
    pub(super) revision: Option<u64>,
    pub(super) lease: Lease,
}

impl Snapshot {
    /// Opens the newest commit of the index at `path`. If it was assembled of shards, all of them are opened
    /// as one; see [`Snapshot::open_all`].
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] if nothing was ever committed at `path`; [`Error::Corrupt`] or
    /// [`Error::NewerFormat`] if the commit cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_knowing(path, &[])
    }

    /// Opens the newest commit of the index at `path`. Segments that the parts `known` have open are not
    /// opened again.
    pub(super) fn open_knowing(path: &Path, known: &[IndexPart]) -> Result<Self> {
        let refuse = |why| Error::NotAnIndex { path: path.to_path_buf(), why };
        if !path.exists() {
            return Err(refuse("there is no such directory"));
        }
        if !path.is_dir() {
            return Err(refuse("it is a file, but an index is a directory"));
        }
        if let Some(shards) = listed_shards(path)? {
            shards.iter().try_for_each(AssembledShard::must_exist)?;
            let paths: Vec<_> = shards.iter().map(|shard| &shard.path).collect();
            let snapshot = Self::open_all_knowing(&paths, known)?;
            let mut parts = snapshot.parts.iter().zip(&shards);
            parts.try_for_each(|(part, shard)| shard.must_have(&part.notes))?;
            return Ok(snapshot);
        }
        let why = "nothing was ever committed in it";
        Self::open_in_knowing(&FsDirectory::new(path), known)?.ok_or_else(|| refuse(why))
    }

    /// Opens the newest commit in a directory. Returns `None` if there is none.
    ///
    /// Writers may commit at the same time. If a newer commit removes files of the one that is being opened,
    /// the newer one is opened instead.
    pub fn open_in(directory: &dyn Directory) -> Result<Option<Self>> {
        Self::open_in_knowing(directory, &[])
    }

    pub(super) fn open_in_knowing(directory: &dyn Directory, known: &[IndexPart]) -> Result<Option<Self>> {
        let mut tried = None;
        loop {
            let error = match Self::open_newest(directory, known) {
                Err(error @ Error::Io { .. }) => error,
                opened => return opened,
            };
            // A manifest may be removed between being listed and being opened.
            let newest = generations(directory)?.first().copied();
            if newest == tried {
                return Err(error);
            }
            tried = newest;
        }
    }

    fn open_newest(directory: &dyn Directory, known: &[IndexPart]) -> Result<Option<Self>> {
        let Some(&generation) = generations(directory)?.first() else { return Ok(None) };
        let name = directory.describe();
        let known = known.iter().find(|part| part.name == name);
        // The lease keeps the files of the commit, if they still exist.
        let gone = || Error::io("use", Path::new(&directory.describe()), std::io::ErrorKind::NotFound.into());
        let lease = directory.lease(generation).ok_or_else(gone)?;
        let manifest = Manifest::decode(&read_generation(directory, generation)?)?;
        let mut segments = Vec::with_capacity(manifest.segments.len());
        for entry in &manifest.segments {
            let segment = match known.and_then(|part| part.open_segment(entry, directory)) {
                Some(segment) => segment?.with_key_field(manifest.sources.key()),
                None => manifest.open(directory, entry)?,
            };
            entry.must_describe(&segment, &manifest.schema)?;
            segments.push(segment);
        }
        let state = OpenState { name, generation, revision: None, lease };
        Ok(Some(Snapshot::of_state(state, manifest, segments)))
    }

    /// The snapshot of an index whose manifest has these segments.
    pub(super) fn of_state(state: OpenState, manifest: Manifest, segments: Vec<Segment>) -> Self {
        let OpenState { name, generation, revision, lease } = state;
        let info = |(entry, segment): (&SegmentEntry, &Segment)| SegmentInfo {
            id: format!("{:032x}", entry.id),
            documents: entry.live(),
            deleted: entry.deleted,
            terms: entry.terms,
            tokens: entry.tokens,
            bytes: entry.bytes + segment.updates().map_or(0, Updates::bytes),
        };
        let infos = manifest.segments.iter().zip(&segments).map(info).collect();
        let part = IndexPart {
            name,
            generation,
            revision,
            _lease: Arc::new(lease),
            view: None,
            schema: manifest.schema.clone(),
            numbers: None,
            key: manifest.sources.key(),
            records: manifest.records,
            contents: manifest.contents,
            notes: manifest.notes,
            stored: manifest.stored,
            segments,
            entries: manifest.segments,
            infos,
        };
        Snapshot::of_parts(manifest.schema, vec![part])
    }

    /// The snapshot of indexes with this schema.
    pub(super) fn of_parts(schema: Schema, parts: Vec<IndexPart>) -> Self {
        let default = schema.default_field().unwrap_or_default();
        let renumbered = |part: &IndexPart| -> Vec<Segment> {
            let segments = part.segments.iter().cloned();
            match &part.numbers {
                None => segments.collect(),
                Some(numbers) => segments.map(|segment| segment.with_numbers(numbers)).collect(),
            }
        };
        let segments: Vec<Segment> = parts.iter().flat_map(renumbered).collect();
        let part_of = parts.iter().enumerate().flat_map(|(at, part)| part.segments.iter().map(move |_| at));
        Snapshot {
            views: FieldViews::of_schema(&schema, &segments),
            segments: segments.iter().map(|segment| segment.in_field(default)).collect(),
            part_of: part_of.collect(),
            infos: parts.iter().flat_map(|part| part.infos.iter().cloned()).collect(),
            stored_cache: Arc::default(),
            filters: Arc::default(),
            schema,
            parts,
        }
    }

    /// Returns the same snapshot with another limit for the memory that keeps what was decompressed last of
    /// stored documents, in bytes: 8 MiB unless chosen here, and 0 to keep nothing. Clones, views and
    /// refreshed snapshots share this memory; [`IndexInfo::stored_cache_bytes`] tells how much is in use.
    #[must_use]
    pub fn with_stored_cache(self, bytes: usize) -> Self {
        Snapshot { stored_cache: Arc::new(StoredCache::new(bytes)), ..self }
    }

    /// Returns the same snapshot with another limit for the memory that keeps which documents match the
    /// filters that repeat, in bytes: 32 MiB unless chosen here, and 0 to keep nothing. Each takes a bit for
    /// each document of a segment, and at most a quarter of the memory. Clones share this memory; a newer
    /// snapshot or a view begins anew. [`IndexInfo::filter_cache_bytes`] tells how much is in use.
    #[must_use]
    pub fn with_filter_cache(self, bytes: usize) -> Self {
        Snapshot { filters: Arc::new(FilterCache::new(bytes)), ..self }
    }

    /// The index of a leaf.
    pub(super) fn part(&self, leaf: usize) -> Option<&IndexPart> {
        self.part_of.get(leaf).and_then(|&part| self.parts.get(part))
    }

    /// The segments, seen through the default field.
    pub(crate) fn open_segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the fields of documents.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of indexes that were opened as one: see [`Snapshot::open_all`].
    pub fn indexes(&self) -> usize {
        self.parts.len()
    }

    /// Returns the field whose values are the keys of documents; `None` if the places of documents are their
    /// keys, at least in one of several indexes.
    pub fn key_field(&self) -> Option<Field> {
        let mut keys = self.parts.iter().map(|part| part.key.and_then(|field| part.joined(field)));
        let first = keys.next().flatten();
        if keys.all(|key| key == first) { first } else { None }
    }

    /// Returns what the index of a file system covers, and since when: a scan or a dump each.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the note about it cannot be read; [`Error::NotInView`] for a view.
    pub fn coverage(&self) -> Result<Vec<Coverage>> {
        self.refuse_in_view("what an index covers")?;
        let mut all = Vec::new();
        for part in &self.parts {
            all.extend(part.coverage()?);
        }
        Ok(all)
    }

    /// Returns the notes that the writer of the commit added to it, by name; none for several indexes, and
    /// none for a view.
    pub fn notes(&self) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        static NONE: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        match &self.parts[..] {
            [only] if !self.is_view() => &only.notes,
            _ => &NONE,
        }
    }

    /// Returns the statistics of the segments, in document order. Those of a view have the number of
    /// documents that it shows, and zeros for everything else.
    pub fn segments(&self) -> &[SegmentInfo] {
        &self.infos
    }

    /// Returns the statistics of the whole index. Those of a view have the number of documents that it shows,
    /// and zeros for deleted documents, tokens and sizes; [`Searcher::stats`] has the tokens of a field.
    pub fn info(&self) -> IndexInfo {
        let sum = |of: fn(&SegmentInfo) -> u64| self.infos.iter().map(of).sum();
        let default = self.schema.default_field();
        let analyzer = default.and_then(|field| self.schema.analyzer(field)).cloned();
        let fields = self.segments.iter().flat_map(|segment| &segment.stats().fields);
        let first = self.parts.first();
        let stored = self.parts.iter().map(|part| part.stored).find(|stored| stored.store != Store::None);
        IndexInfo {
            generation: self.parts.iter().map(|part| part.generation).max().unwrap_or(0),
            documents: sum(|segment| segment.documents),
            deleted: sum(|segment| segment.deleted),
            tokens: sum(|segment| segment.tokens),
            schema: self.schema.clone(),
            analyzer: analyzer.unwrap_or(Analyzer::Standard),
            records: first.map_or(Records::File, |part| part.records),
            postings: default.and_then(|field| self.schema.entry(field)?.postings()).unwrap_or_default(),
            stored: stored.or(first.map(|part| part.stored)).unwrap_or_default(),
            index_bytes: sum(|segment| segment.bytes),
            position_bytes: if self.is_view() { 0 } else { fields.map(|field| field.run_bytes).sum() },
            stored_cache_bytes: self.stored_cache.bytes() as u64,
            filter_cache_bytes: self.filters.bytes() as u64,
            format_version: SEGMENT.format,
        }
    }

    /// Returns true if documents come from files, and not only from programs.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the keys of documents cannot be read.
    pub fn has_files(&self) -> Result<bool> {
        for segment in &self.segments {
            if segment.has_files()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a searcher over this commit. Queries that name no field search the default field.
    pub fn searcher(&self) -> Searcher<'_> {
        self.views.searcher().keeping_filters(&self.filters)
    }

    /// Returns a searcher over this commit with another default field. The hits for a document are the same
    /// in all fields.
    pub fn searcher_in(&self, field: Field) -> Searcher<'_> {
        self.views.searcher_in(field).keeping_filters(&self.filters)
    }

    /// The default field of the schema, or field 0 if there is none.
    pub(crate) fn default_field(&self) -> Field {
        self.views.default_field()
    }

    /// The segments, seen through the default field.
    pub(crate) fn leaves(&self) -> &[Segment] {
        &self.segments
    }

    /// The segment of a hit; `None` for a document that a view does not show.
    pub(crate) fn leaf(&self, hit: &Hit) -> Option<&Segment> {
        let is_shown = |segment: &&Segment| segment.view().is_none() || segment.is_live(hit.doc);
        self.segments.get(hit.leaf).filter(is_shown)
    }

    /// The segment of a hit; `None` if the view does not show the default field of the document.
    pub(super) fn readable_leaf(&self, hit: &Hit) -> Option<&Segment> {
        self.leaf(hit).filter(|segment| segment.shows_field(hit.doc))
    }

    /// The segments, seen through a field.
    pub(crate) fn segments_in(&self, field: Field) -> &[Segment] {
        self.views.segments(field)
    }

    /// True if documents are the entries of file systems, among them directories, whose text was not read.
    pub fn has_entries(&self) -> bool {
        self.parts.iter().any(|part| part.contents.names_only)
    }

    /// Returns the column of the sketches of texts, by which near-duplicates are found; `None` if the index
    /// was built without [`near_duplicates`](crate::sources::ContentOptions::near_duplicates).
    pub fn sketch_field(&self) -> Option<Field> {
        let have_sketches = self.parts.iter().all(|part| part.contents.sketch_field(&part.schema).is_some());
        self.parts.first().filter(|_| have_sketches)?.contents.sketch_field(&self.schema)
    }

    /// Returns a number that differs between commits, between states of a writer, between sets of indexes
    /// that were opened as one, and between views that show different documents. What is kept between
    /// requests, such as the place of the next page, must be bound to it.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = Xxh3::new();
        for part in &self.parts {
            hasher.write(&part.generation.to_le_bytes());
            part.revision.iter().for_each(|revision| hasher.write(&revision.to_le_bytes()));
            for segment in &part.segments {
                hasher.write(&segment.id().to_le_bytes());
            }
            part.view.iter().for_each(|view| hasher.write(&view.to_le_bytes()));
        }
        hasher.finish()
    }
}
