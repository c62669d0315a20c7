use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::index::{Index, IndexOptions, MergeOptions, Progress, Selection};
use crate::schema::{Document, FieldEntry, FieldKind, Schema};
use crate::store::RamDirectory;

/// An index with the documents of `names`.
fn index_of(path: &Path, names: &[&str]) -> Index {
    let mut schema = Schema::new();
    schema.add(FieldEntry::new("name", FieldKind::Keyword)).unwrap();
    let index = Index::create(path, &schema).unwrap();
    add(&index, names);
    index
}

fn add(index: &Index, names: &[&str]) {
    let writer = index.writer().unwrap();
    for name in names {
        writer.add(&Document::new(*name)).unwrap();
    }
    writer.commit().unwrap();
}

/// The files of a directory and their bytes.
fn files(path: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn a_snapshot_keeps_its_files_through_every_change_of_the_index() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.scanns");
    let index = index_of(&path, &["a", "b", "c"]);
    let delete = |key: &[u8]| index.delete(&Selection::Keys(vec![key.to_vec()])).unwrap();
    delete(b"b");
    let kept = index.keep_snapshot("one").unwrap();
    assert_eq!((kept.documents, kept.own_bytes), (2, 0));
    let before = files(&kept.path);
    assert_eq!(before.len(), 3, "the manifest, a segment and its deletes: {:?}", before.keys());
    for round in 0..3 {
        add(&index, &["d", "e"]);
        delete(b"a");
        let stop = std::sync::atomic::AtomicBool::new(false);
        index.merge(&MergeOptions::default(), &Progress::new(), &stop).unwrap();
        assert_eq!(files(&kept.path), before, "round {round}");
    }
    assert_eq!(Index::open(&kept.path).unwrap().snapshot().unwrap().info().documents, 2);
    let listed = index.named_snapshots().unwrap();
    assert_eq!(listed.len(), 1);
    let now = listed[0].1.as_ref().unwrap();
    assert_eq!((now.generation, now.documents, now.bytes), (kept.generation, 2, kept.bytes));
    assert_eq!(now.own_bytes, now.bytes, "the index needs none of the files any more");
    assert_eq!(now.committed, kept.committed);
}

#[test]
fn a_snapshot_does_not_change_but_a_copy_of_it_does() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.scanns");
    let index = index_of(&path, &["a", "b"]);
    let kept = index.keep_snapshot("one").unwrap().path;
    let before = files(&kept);
    let link = place.path().join("link");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for spelling in [&kept, &link, &path.join("snapshots/../snapshots/one"), &path.join("snapshots/two")] {
        let kept = Index::at(spelling);
        let refusals = [
            kept.writer().map(drop),
            kept.delete(&Selection::Keys(vec![b"a".to_vec()])).map(drop),
            kept.merge(&MergeOptions::default(), &Progress::new(), &stop).map(drop),
            kept.build(&IndexOptions::default(), &Progress::new(), &stop).map(drop),
        ];
        for refusal in refusals {
            let error = refusal.unwrap_err().to_string();
            assert!(error.contains("a snapshot does not change: write to "), "{error}");
        }
    }
    let within = Index::at(&kept).keep_snapshot("within").unwrap_err();
    assert!(matches!(within, Error::Unsupported { .. }), "{within}");
    assert_eq!(files(&kept), before);
    assert!(!path.join("snapshots/two").exists(), "a refused build left its directory");
    let copy = place.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for (name, bytes) in before {
        fs::write(copy.join(name), bytes).unwrap();
    }
    add(&Index::open(&copy).unwrap(), &["c"]);
    assert_eq!(Index::open(&copy).unwrap().snapshot().unwrap().info().documents, 3);
}

#[test]
fn names_that_are_no_file_names_and_names_in_use_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let index = index_of(&place.path().join("a.scanns"), &["a"]);
    for name in ["", ".", "..", ".hidden", "a/b", "/", "a\0b", &"x".repeat(256)] {
        let error = index.keep_snapshot(name).unwrap_err();
        assert!(matches!(error, Error::InvalidValue { .. }), "{name}: {error}");
    }
    index.keep_snapshot("a b").unwrap();
    let error = index.keep_snapshot("a b").unwrap_err();
    assert!(
        error.to_string().ends_with("remove that directory with rm -r, or choose another name"),
        "{error}"
    );
    let memory = Index::in_directory(Arc::new(RamDirectory::new()));
    assert!(matches!(memory.keep_snapshot("a"), Err(Error::Unsupported { .. })));
    assert!(memory.named_snapshots().unwrap().is_empty());
    let options = IndexOptions { snapshot: Some("a".into()), ..IndexOptions::default() };
    let built = memory.build(&options, &Progress::new(), &Arc::default());
    assert!(matches!(built, Err(Error::Unsupported { .. })));
    let none = Index::at(place.path()).keep_snapshot("a");
    assert!(matches!(none, Err(Error::NotAnIndex { .. })));
    assert!(!place.path().join("lock").exists(), "a directory that is no index was changed");
}

#[test]
fn what_a_killed_process_left_is_no_snapshot_and_is_removed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.scanns");
    let index = index_of(&path, &["a"]);
    let left = path.join(SNAPSHOTS).join(UNFINISHED);
    fs::create_dir_all(&left).unwrap();
    for name in files(&path).keys().take(1) {
        fs::hard_link(path.join(name), left.join(name)).unwrap();
    }
    assert!(index.named_snapshots().unwrap().is_empty());
    add(&index, &["b"]);
    let kept = index.keep_snapshot("one").unwrap();
    assert!(!left.exists());
    assert_eq!(Index::open(kept.path).unwrap().snapshot().unwrap().info().documents, 2);
}

#[test]
fn a_damaged_snapshot_is_listed_with_its_error() {
    let place = tempfile::tempdir().unwrap();
    let index = index_of(&place.path().join("a.scanns"), &["a"]);
    let kept = index.keep_snapshot("one").unwrap();
    index.keep_snapshot("two").unwrap();
    for name in files(&kept.path).keys() {
        fs::remove_file(kept.path.join(name)).unwrap();
    }
    let listed = index.named_snapshots().unwrap();
    assert!(matches!(listed[0].1, Err(Error::NotAnIndex { .. })));
    assert_eq!(listed[1].1.as_ref().unwrap().documents, 1);
}
