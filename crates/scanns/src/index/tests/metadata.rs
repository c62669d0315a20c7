use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;
use crate::index::{FieldOptions, check_in};
use crate::query::Query;
use crate::schema::Value;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

pub(super) fn build_all(directory: &RamDirectory, options: &IndexOptions) -> IndexReport {
    let report = build_in(directory, options, &Progress::new(), &Arc::default()).unwrap();
    let never = AtomicBool::new(false);
    let checked = check_in(directory, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole(), "{checked:?}");
    report
}

/// The values of a field of every document, by key.
pub(super) fn values(directory: &RamDirectory, field: &str) -> BTreeMap<Vec<u8>, Vec<Value>> {
    let snapshot = Snapshot::open_in(directory).unwrap().unwrap();
    let field = snapshot.schema().field(field).unwrap();
    let mut found = BTreeMap::new();
    let visit = |hit: crate::search::Hit| {
        let mut values = Vec::new();
        snapshot.leaves()[hit.leaf].column(field).unwrap().values_of(hit.doc, &mut values).unwrap();
        found.insert(snapshot.key(&hit).unwrap(), values);
        ControlFlow::Continue(())
    };
    snapshot.searcher().for_each(&Query::All, Model::Bm25 { k1: 1.0, b: 0.0 }, visit).unwrap();
    found
}

fn text(text: impl AsRef<[u8]>) -> Value {
    Value::Text(text.as_ref().to_vec())
}

#[test]
fn what_the_file_system_says_of_files_comes_back_by_document() {
    let seed = 0x5eed_0730;
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    random_files(&mut random, &root);
    fs::write(root.join("a.tar.gz"), "packed").unwrap();
    fs::write(root.join(".hidden"), "dots").unwrap();
    for lanes in [1, 3] {
        let directory = RamDirectory::new();
        let fields = FieldOptions { metadata: Some(true), ..FieldOptions::default() };
        let mut options = IndexOptions { fields, ..options(&root, Records::File, lanes) };
        let more = root.join("more.txt");
        for round in 0..2 {
            if round == 1 {
                // An index that has the fields fills them without the option.
                options.fields.metadata = None;
                fs::write(&more, "more").unwrap();
                fs::set_permissions(&more, fs::Permissions::from_mode(0o640)).unwrap();
            }
            let report = build_all(&directory, &options);
            assert!(report.failed.is_empty() && (round == 0 || report.documents == 1), "seed {seed:x}");
            for (path, found) in values(&directory, "path") {
                assert_eq!(found, [text(path)], "seed {seed:x}");
            }
        }
        let key = |name: &str| root.join(name).into_os_string().into_encoded_bytes();
        let meta = fs::metadata(&more).unwrap();
        let of = |field: &str, name: &str| values(&directory, field).remove(&key(name)).unwrap();
        assert_eq!(of("name", "a.tar.gz"), [text("a.tar.gz")]);
        assert_eq!((of("ext", "a.tar.gz"), of("ext", ".hidden")), (vec![text("gz")], vec![]));
        for (field, value) in [
            ("size", meta.len()),
            ("mode", meta.mode().into()),
            ("inode", meta.ino()),
            ("links", meta.nlink()),
            ("device", meta.dev()),
            ("uid", meta.uid().into()),
            ("gid", meta.gid().into()),
        ] {
            assert_eq!(of(field, "more.txt"), [Value::Unsigned(value)], "{field}");
        }
        let changed = meta.ctime() * 1_000_000_000 + meta.ctime_nsec();
        assert_eq!(of("ctime", "more.txt"), [Value::Date(changed)]);
        assert_eq!((of("mtime", "more.txt").len(), of("atime", "more.txt").len()), (1, 1));
        assert_eq!((of("owner", "more.txt").len(), of("group", "more.txt").len()), (1, 1));
        fs::remove_file(&more).unwrap();
    }
}

#[test]
fn an_index_has_them_from_its_first_build_on_or_never() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a"), "x").unwrap();
    let directory = RamDirectory::new();
    let mut options = options(place.path(), Records::File, 1);
    build_all(&directory, &options);
    options.fields.metadata = Some(true);
    let build = |options: &IndexOptions| build_in(&directory, options, &Progress::new(), &Arc::default());
    assert!(matches!(build(&options), Err(Error::Conflict { .. })));
    options.records = Records::Lines;
    assert!(matches!(build(&options), Err(Error::Unsupported { .. })));
}
