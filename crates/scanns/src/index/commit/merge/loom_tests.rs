//! Models of concurrent commits, merges and edits, with the real writer and small segments.
//!
//! For each model there is a canary: the same model with a known wrong order of steps, which must fail.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

use loom::sync::Arc;
use loom::thread;

use super::tests::{committed_keys, merge_claimed, three_segments};
use super::*;
use crate::segment::FlushBuffers;
use crate::store::{Directory, RamDirectory};

/// The stack of a thread of a model, in words: the code of a merge needs more than loom gives.
const STACK: usize = 1 << 17;

type SharedWriter = Arc<Writer<'static>>;

/// A step of a model; it returns a description of an error, if there was one.
type ModelStep = fn(&Writer<'_>) -> Option<String>;

/// A fresh copy of an index of three segments. It is written once, outside of all models.
fn index() -> RamDirectory {
    static INDEX: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let files = INDEX.get_or_init(|| {
        let directory = RamDirectory::new();
        three_segments(&directory);
        let read = |name: String| (name.clone(), directory.open(&name).unwrap().to_vec());
        directory.list().unwrap().into_iter().map(read).collect()
    });
    let directory = RamDirectory::new();
    for (name, bytes) in files {
        let mut output = directory.create(name).unwrap();
        output.write_all(bytes).unwrap();
        output.finish().unwrap();
    }
    directory
}

/// Runs two steps at the same time in all interleavings, commits, and returns all different outcomes: the
/// keys of the live documents, or the error.
fn outcomes(one: ModelStep, other: ModelStep) -> BTreeSet<String> {
    index();
    let found = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let seen = found.clone();
    loom::model(move || {
        let seen = seen.clone();
        let run = move || {
            let directory = index();
            let writer = Arc::new(Writer::open_shared(std::sync::Arc::new(directory.clone())).unwrap());
            let start = |step: ModelStep, writer: SharedWriter| {
                thread::Builder::new().stack_size(STACK).spawn(move || step(&writer)).unwrap()
            };
            let threads = [start(one, writer.clone()), start(other, writer.clone())];
            let failed: Vec<String> =
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
            let outcome = failed.into_iter().next().unwrap_or_else(|| {
                writer.commit().unwrap();
                committed_keys(&directory).join(" ")
            });
            seen.lock().unwrap().insert(outcome);
        };
        thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap();
    });
    let found = found.lock().unwrap().clone();
    println!("{found:?}");
    found
}

/// Deletes every document of the first segment, wherever a merge has put them, and commits.
fn replace_the_first(writer: &Writer<'_>) -> Option<String> {
    {
        let _no_merge_between = writer.hold_merges();
        for id in writer.segment_ids() {
            let segment = writer.segment(id).unwrap().unwrap();
            writer.delete(id, segment.documents_named([b"1-0".as_slice(), b"1-1"]).unwrap()).unwrap();
        }
    }
    writer.commit().unwrap();
    None
}

fn failed(merged: Result<u64>) -> Option<String> {
    merged.err().map(|_| "a merge failed".to_owned())
}

/// Merges the first two existing segments.
fn merge_two(writer: &Writer<'_>) -> Option<String> {
    let choose = |segments: &[SegmentEntry], _: &HashSet<u128>| {
        Some(segments.iter().take(2).map(|entry| entry.id).collect())
    };
    failed(merge_claimed(MergeClaim::take(writer, choose)?))
}

/// The old way of merging: segments are chosen on a copy of the manifest, marked later, and opened although
/// they may no longer exist.
fn merge_two_chosen_on_a_copy(writer: &Writer<'_>) -> Option<String> {
    let chosen: Vec<u128> = writer.segment_ids().into_iter().take(2).collect();
    writer.state().merging.extend(&chosen);
    let open = |&id: &u128| match writer.segment(id).transpose() {
        Some(opened) => opened,
        None => Segment::open(writer.directory(), id, 0),
    };
    let sources = match chosen.iter().map(open).collect::<Result<Vec<Segment>>>() {
        Ok(sources) => sources,
        Err(error) => return failed(Err(error)),
    };
    let work = MergeWork { buffers: FlushBuffers { write: 4096, lists: 4096 }, ..MergeWork::default() };
    let id = writer.new_id();
    let (merged, unsynced) = merge(writer.directory(), id, &sources, None, &work, &mut |_| Ok(())).unwrap();
    unsynced.sync().unwrap();
    let segment = Segment::open(writer.directory(), id, 0).unwrap();
    MergeClaim { writer, ids: chosen }.take_in(&sources, segment, &merged).unwrap();
    None
}

#[test]
fn loom_a_merge_and_a_commit_that_drops_a_source_do_not_meet() {
    let found = outcomes(replace_the_first, merge_two);
    assert_eq!(found, BTreeSet::from(["2-0 2-1 3-0 3-1".to_owned()]));
}

#[test]
fn loom_canary_a_choice_on_a_copy_of_the_manifest_is_found_wrong() {
    let found = outcomes(replace_the_first, merge_two_chosen_on_a_copy);
    assert!(found.contains("a merge failed"), "{found:?}");
}

/// Deletes the first live document of a segment.
fn delete_the_first(writer: &Writer<'_>, id: u128) {
    let Some(segment) = writer.segment(id).unwrap() else { return };
    let first = (0..segment.stats().max_doc).find(|&document| segment.is_live(document));
    if let Some(first) = first {
        writer.delete(id, [first..first + 1]).unwrap();
    }
}

/// An edit whose result depends on the segments that exist, like the result of a query by values: it deletes
/// the first live document of each segment.
fn edit_each(writer: &Writer<'_>) -> Option<String> {
    let _no_merge_between = writer.hold_merges();
    writer.segment_ids().into_iter().for_each(|id| delete_the_first(writer, id));
    None
}

/// The old way of editing: a segment that was merged in the meantime is also edited, although its sources
/// were edited.
fn edit_each_and_what_they_become(writer: &Writer<'_>) -> Option<String> {
    let mut seen = HashSet::new();
    while let Some(id) = writer.segment_ids().into_iter().find(|id| !seen.contains(id)) {
        delete_the_first(writer, id);
        seen.insert(id);
    }
    None
}

/// Each of three segments loses a document before the merge, and each of two after it.
fn edited_once() -> BTreeSet<String> {
    BTreeSet::from(["1-1 2-0 2-1 3-1".to_owned(), "1-1 2-1 3-1".to_owned()])
}

#[test]
fn loom_edits_see_each_document_once_whatever_is_merged() {
    let found = outcomes(edit_each, merge_two);
    assert_eq!(found, edited_once());
}

#[test]
fn loom_canary_edits_of_a_merged_segment_and_its_sources_are_found_wrong() {
    let found = outcomes(edit_each_and_what_they_become, merge_two);
    assert!(!found.is_subset(&edited_once()), "{found:?}");
}
