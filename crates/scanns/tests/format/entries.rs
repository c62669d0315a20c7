//! The entries of a file system in the second fixture. They never change, because the indexes of different
//! versions of the program are compared. Where and when they were indexed differs, and so do some bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use scanns::index::{CheckLevel, IndexOptions, MergeOptions, Progress};
use scanns::query::Operator;
use scanns::search::Model;
use scanns::sources::{DumpFormat, DumpOptions};
use scanns::{Index, Snapshot};

/// The entries by path: their types and sizes.
fn entries() -> BTreeMap<String, (char, u64)> {
    let mut entries = BTreeMap::from([("/".to_owned(), ('d', 4096)), ("/data".to_owned(), ('d', 4096))]);
    for directory in ["/data/run 1", "/data/run\t2", "/data/é"] {
        entries.insert(directory.to_owned(), ('d', 4096));
        for number in 0..40u64 {
            entries.insert(format!("{directory}/part-{number:03}.h5"), ('f', number * number * 1000));
        }
    }
    entries
}

/// Writes the index: two dumps, of which the second has a part of the first again, and a merge.
pub fn write(path: &Path) {
    let place = tempfile::tempdir().unwrap();
    for again in [false, true] {
        let rows: Vec<String> = entries()
            .into_iter()
            .filter(|(path, _)| !again || path.starts_with("/data/run"))
            .map(|(path, (kind, size))| format!("{path}\0{kind}\0{size}\0"))
            .collect();
        let dump = place.path().join(format!("{again}.dump"));
        std::fs::write(&dump, rows.concat()).unwrap();
        let format = DumpFormat::Named { name: "find", details: Some(r"%p\0%y\0%s\0".into()) };
        let dump = DumpOptions { files: vec![dump], format, ..DumpOptions::default() };
        let options = IndexOptions { dump: Some(dump), merge: None, ..IndexOptions::default() };
        let index = Index::at(path);
        index.build(&options, &Progress::default(), &Arc::default()).unwrap();
        if again {
            index.merge(&MergeOptions::default(), &Progress::default(), &Arc::default()).unwrap();
        }
    }
}

/// Checks the index against its checksums and itself, and compares its documents with the entries.
pub fn verify(path: &Path) {
    let report =
        Index::open(path).unwrap().check(CheckLevel::Cross, &Progress::default(), &Arc::default()).unwrap();
    assert!(report.is_whole(), "{report:?}");
    let snapshot = Snapshot::open(path).unwrap();
    let entries = entries();
    assert_eq!(snapshot.info().documents, entries.len() as u64);
    let all = |query: &str| {
        let query = snapshot.parse(query, Operator::And).unwrap();
        let hits = snapshot.searcher().top_k(&query, Model::Classic, 1_000).unwrap();
        let keys = hits.iter().map(|hit| String::from_utf8(snapshot.key(hit).unwrap()).unwrap());
        keys.collect::<BTreeSet<_>>()
    };
    let those = |wanted: &dyn Fn(&str, char, u64) -> bool| {
        let found = entries.iter().filter(|(path, (kind, size))| wanted(path, *kind, *size));
        found.map(|(path, _)| path.clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(all("size:>=0"), those(&|_, _, _| true));
    assert_eq!(all("size:>1000000"), those(&|_, _, size| size > 1_000_000));
    assert_eq!(all("type:directory"), those(&|_, kind, _| kind == 'd'));
    assert_eq!(all("ext:h5 size:<5000"), those(&|path, _, size| path.ends_with(".h5") && size < 5000));
}
