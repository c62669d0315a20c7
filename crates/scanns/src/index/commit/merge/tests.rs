use std::iter;
use std::sync::{Arc, Mutex};

use super::*;
use crate::column::ColumnSet;
use crate::index::commit::manifest::Manifest;
use crate::invert::{InvertOptions, Inverter};
use crate::schema::{FieldEntry, FieldKind, Records, Schema, Stored};
use crate::segment::{FlushBuffers, Keys, SegmentContents, StoredCollector, file_name, flush};
use crate::store::{Bytes, Directory, FsDirectory, Output, RamDirectory, WriterLock, publish};
use crate::sys::PageSize;
use crate::tokenize::TokenSink;

/// The content of each document of an index of [`write_index`].
pub(super) enum Kind {
    Live,
    Void,
}

/// Commits an index with one segment for each list: segment 1 has the documents `1-0`, `1-1` and so on.
pub(super) fn write_index(directory: &dyn Directory, segments: &[&[Kind]]) {
    let mut schema = Schema::new();
    let field = schema.add(FieldEntry::new("tag", FieldKind::Keyword)).unwrap();
    let mut manifest = Manifest::new(schema, Records::File, Stored::default());
    for (id, documents) in (1..).zip(segments) {
        let options = InvertOptions { budget: 1 << 24, pages: PageSize::Base, ..InvertOptions::default() };
        let mut inverter = Inverter::new(&options).unwrap();
        for document in *documents {
            inverter.token(b"all", 0..3);
            match document {
                Kind::Live => inverter.end_document(),
                Kind::Void => inverter.void_document(),
            }
        }
        let paths = (0..documents.len()).map(|number| format!("{id}-{number}").into_bytes()).collect();
        let keys = Keys { paths, ..Keys::default() };
        let fields = vec![(field, &mut inverter)];
        let (stored, columns) = (&mut StoredCollector::none(), &mut ColumnSet::default());
        let contents = SegmentContents { fields, keys: &keys, stored, columns };
        let buffers = FlushBuffers { write: 4096, lists: 4096 };
        let (flushed, unsynced) = flush(directory, id, contents, &buffers).unwrap();
        unsynced.sync().unwrap();
        manifest.segments.push(SegmentEntry::from(&flushed));
    }
    publish(directory, 1, &manifest.encode()).unwrap();
}

/// Three segments of two documents each.
pub(super) fn three_segments(directory: &dyn Directory) {
    write_index(
        directory,
        &[&[Kind::Live, Kind::Live], &[Kind::Live, Kind::Live], &[Kind::Live, Kind::Live]],
    );
}

/// The keys of the live documents of the newest commit.
pub(super) fn committed_keys(directory: &dyn Directory) -> Vec<String> {
    let newest = crate::store::read_newest(directory).unwrap().unwrap();
    let mut keys = Vec::new();
    for entry in Manifest::decode(&newest.content).unwrap().segments {
        let segment = entry.open(directory).unwrap();
        let live = (0..segment.stats().max_doc).filter(|&document| segment.is_live(document));
        keys.extend(live.map(|document| String::from_utf8(segment.key(document).unwrap()).unwrap()));
    }
    keys.sort();
    keys
}

pub(super) fn claim<'w>(writer: &'w Writer<'w>, ids: &[u128]) -> Option<MergeClaim<'w>> {
    MergeClaim::take(writer, |_, _| Some(ids.to_vec()))
}

pub(super) fn merge_claimed(claim: MergeClaim<'_>) -> Result<u64> {
    let work = MergeWork { buffers: FlushBuffers { write: 4096, lists: 4096 }, ..MergeWork::default() };
    claim.merge(&|_| Ok(MergePlan::KeepOrder), &work, &mut |_| Ok(()))
}

const SECOND_AND_THIRD: [&str; 4] = ["2-0", "2-1", "3-0", "3-1"];

#[test]
fn a_source_that_a_commit_drops_after_the_claim_is_merged_as_empty() {
    let directory = RamDirectory::new();
    three_segments(&directory);
    let writer = Writer::open(&directory).unwrap();
    let claimed = claim(&writer, &[1, 2]).unwrap();
    assert_eq!(writer.delete(1, iter::once(0..2)).unwrap(), 2);
    writer.commit().unwrap();
    assert!(!directory.list().unwrap().contains(&file_name(1)), "the commit has dropped it");
    merge_claimed(claimed).unwrap();
    writer.commit().unwrap();
    assert_eq!(writer.segment_ids().len(), 2);
    assert_eq!(committed_keys(&directory), SECOND_AND_THIRD);
}

#[test]
fn a_segment_that_was_dropped_before_the_claim_is_not_claimed() {
    let directory = RamDirectory::new();
    three_segments(&directory);
    let writer = Writer::open(&directory).unwrap();
    // Chosen on a copy of the manifest, as merges once were.
    let chosen = writer.segment_ids();
    writer.delete(1, iter::once(0..2)).unwrap();
    writer.commit().unwrap();
    assert!(claim(&writer, &chosen[..1]).is_none());
    merge_claimed(claim(&writer, &chosen[..2]).unwrap()).unwrap();
    writer.commit().unwrap();
    assert_eq!(committed_keys(&directory), SECOND_AND_THIRD);
}

/// The file of a dropped segment stays as long as a reader uses it. Opened again, all documents would be
/// live.
#[test]
fn a_dropped_segment_does_not_come_back_while_a_reader_keeps_its_file() {
    let place = tempfile::tempdir().unwrap();
    let directory = FsDirectory::new(place.path()).with_leases(true);
    three_segments(&directory);
    let writer = Writer::open(&directory).unwrap();
    let reader = FsDirectory::new(place.path()).with_leases(true);
    let lease = reader.lease(1).unwrap();
    let chosen = writer.segment_ids();
    writer.delete(1, iter::once(0..2)).unwrap();
    writer.commit().unwrap();
    assert!(directory.list().unwrap().contains(&file_name(1)), "the reader keeps it");
    assert!(writer.segment(1).unwrap().is_none());
    merge_claimed(claim(&writer, &chosen).unwrap()).unwrap();
    writer.commit().unwrap();
    assert_eq!(committed_keys(&directory), SECOND_AND_THIRD);
    drop(lease);
}

#[test]
fn two_merges_never_have_a_source_in_common() {
    let directory = RamDirectory::new();
    three_segments(&directory);
    let writer = Writer::open(&directory).unwrap();
    let first = claim(&writer, &[1, 2]).unwrap();
    assert!(claim(&writer, &[2]).is_none());
    let mut seen = Vec::new();
    let second = MergeClaim::take(&writer, |segments, claimed| {
        seen = segments.iter().map(|entry| (entry.id, claimed.contains(&entry.id))).collect();
        None
    });
    assert!(second.is_none());
    assert_eq!(seen, [(1, true), (2, true), (3, false)]);
    drop(first);
    assert_eq!(claim(&writer, &[2]).unwrap().ids, [2]);
}

/// A file, and a function that is called before it is opened.
type BeforeOpen = (String, Box<dyn FnOnce() + Send>);

/// Calls a function before a file is opened, once.
struct Hooked {
    directory: RamDirectory,
    before_open: Mutex<Option<BeforeOpen>>,
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hooked").finish_non_exhaustive()
    }
}

impl Directory for Hooked {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        self.directory.create(name)
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        let hook = self.before_open.lock().unwrap().take_if(|(of, _)| of == name);
        hook.into_iter().for_each(|(_, call)| call());
        self.directory.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.directory.remove(name)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.directory.list()
    }

    fn sync(&self) -> Result<()> {
        self.directory.sync()
    }

    fn lock(&self) -> Result<WriterLock> {
        self.directory.lock()
    }

    fn describe(&self) -> String {
        self.directory.describe()
    }
}

#[test]
fn a_commit_may_drop_a_source_while_the_merge_opens_it() {
    let directory = RamDirectory::new();
    // A segment without a valid document is dropped by the next commit, though it was never opened.
    write_index(&directory, &[&[Kind::Void], &[Kind::Live, Kind::Live], &[Kind::Live, Kind::Live]]);
    let hooked = Arc::new(Hooked { directory, before_open: Mutex::default() });
    let writer = Arc::new(Writer::open_shared(hooked.clone()).unwrap());
    let committer = writer.clone();
    let commit = Box::new(move || committer.commit().unwrap());
    *hooked.before_open.lock().unwrap() = Some((file_name(1), commit));
    merge_claimed(claim(&writer, &[1, 2, 3]).unwrap()).unwrap();
    assert!(hooked.before_open.lock().unwrap().is_none(), "the commit came in between");
    writer.commit().unwrap();
    assert_eq!(writer.segment_ids().len(), 1);
    assert_eq!(committed_keys(&*hooked), SECOND_AND_THIRD);
}
