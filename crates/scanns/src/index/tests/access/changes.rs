//! What happens between the walk and a search: files that change, and files that cannot be read any more.

use std::os::unix::fs::{MetadataExt, symlink};

use super::answers::build_as;
use super::*;
use crate::error::Error;
use crate::index::stored_options::StoredOptions;
use crate::schema::Store;

const STRANGER: u32 = 52_100;

fn stranger() -> AccessUser {
    AccessUser::new(STRANGER, STRANGER, &[])
}

fn put(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn found(index: &Path, query: &str) -> u64 {
    let view = Snapshot::open(index).unwrap().seen_as(&stranger()).unwrap();
    let query = view.parse(query, crate::query::Operator::Or).unwrap();
    view.searcher().count(&query).unwrap()
}

#[test]
fn text_by_reference_is_that_of_the_indexed_file() {
    if !can_run("text_by_reference_is_that_of_the_indexed_file") {
        return;
    }
    let place = open_place();
    let (root, index) = (place.path().join("root"), place.path().join("x.scanns"));
    fs::create_dir(&root).unwrap();
    put(&root.join("a.txt"), "harmless text", 0o644);
    put(&place.path().join("secret"), "hidden secret", 0o600);
    let options = IndexOptions {
        stored: StoredOptions { store: Some(Store::Reference), ..StoredOptions::default() },
        ..with_access(&root, false)
    };
    run(&index, &options).unwrap();
    assert_eq!(index.metadata().unwrap().mode() & 0o777, 0o700, "nobody else can read the index");
    let whole = Snapshot::open(&index).unwrap();
    let view = whole.seen_as(&stranger()).unwrap();
    let text = |snapshot: &Snapshot| {
        let hit = snapshot.hit(root.join("a.txt").as_os_str().as_bytes()).unwrap().unwrap();
        snapshot.document(&hit)
    };
    assert_eq!(text(&view).unwrap().unwrap(), b"harmless text");
    // A link to a file of the same size and time, which the stranger cannot read.
    let modified = root.join("a.txt").metadata().unwrap().modified().unwrap();
    let secret = fs::File::options().write(true).open(place.path().join("secret")).unwrap();
    secret.set_modified(modified).unwrap();
    fs::remove_file(root.join("a.txt")).unwrap();
    symlink("../secret", root.join("a.txt")).unwrap();
    assert!(matches!(text(&view), Err(Error::SourceChanged { .. })), "{:?}", text(&view));
}

#[test]
fn what_cannot_be_read_any_more_is_forgotten() {
    if !can_run("what_cannot_be_read_any_more_is_forgotten") {
        return;
    }
    for names_only in [false, true] {
        let place = open_place();
        let root = place.path().join("root");
        let index = place.path().join("index/x.scanns");
        fs::create_dir_all(root.join("project")).unwrap();
        put(&root.join("one.txt"), "ocean", 0o644);
        put(&root.join("project/two.txt"), "ocean", 0o644);
        let builder = AccessUser::new(52_200, 52_200, &[]);
        let options = with_access(&root, names_only);
        assert!(build_as(&builder, &index, &options));
        assert_eq!(found(&index, "name:*.txt"), 2);
        // The builder is neither root nor the owner, as on a server that does not trust root.
        fs::set_permissions(root.join("project"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::set_permissions(root.join("one.txt"), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(build_as(&builder, &index, &options));
        assert_eq!(found(&index, "name:two.txt"), 0, "names only: {names_only}");
        if !names_only {
            assert_eq!(found(&index, "ocean"), 0);
        }
        fs::set_permissions(root.join("project"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(root.join("one.txt"), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(build_as(&builder, &index, &options));
        assert_eq!(found(&index, "name:*.txt"), 2, "they come back");
    }
}

#[test]
fn rows_of_a_dump_that_contradict_each_other_are_not_decided() {
    let place = tempfile::tempdir().unwrap();
    let (dump, index) = (place.path().join("fs.dump"), place.path().join("x.scanns"));
    let rows = "/\td\t755\n/d\td\t700\n/d/a\tf\t644\n/e\td\t755\n/e/b\tf\t644\n/d\td\t755\n";
    let rows = rows.lines().map(|row| format!("{row}\t0\t0\n")).collect::<String>();
    fs::write(&dump, rows).unwrap();
    let format = crate::record::dump::DumpFormat::Named {
        name: "find",
        details: Some("%p\\t%y\\t%m\\t%U\\t%G\\n".to_owned()),
    };
    let dump = DumpOptions { files: vec![dump], format, without_acls: true, ..DumpOptions::default() };
    let options = IndexOptions {
        dump: Some(dump),
        fields: FieldOptions { access: true, ..FieldOptions::default() },
        ..IndexOptions::default()
    };
    run(&index, &options).unwrap();
    assert_eq!((found(&index, "name:a"), found(&index, "name:b")), (0, 1));
    let kept = run(&index, &IndexOptions { keep_removed: true, ..options });
    assert!(matches!(kept, Err(Error::Unsupported { .. })), "rights that are gone would be kept");
}

#[test]
fn builds_that_would_keep_old_rights_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let (root, index) = (place.path().join("root"), place.path().join("x.scanns"));
    fs::create_dir_all(root.join("a")).unwrap();
    fs::create_dir_all(root.join("b")).unwrap();
    put(&root.join("a/one.txt"), "ocean", 0o644);
    put(&root.join("b/two.txt"), "ocean", 0o644);
    run(&index, &with_access(&root, true)).unwrap();
    let refused = |options: IndexOptions| {
        let error = run(&index, &options).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    };
    refused(with_access(&root.join("a"), true));
    refused(IndexOptions { keep_removed: true, ..with_access(&root, true) });
    let following = with_access(&root, true);
    let source = crate::source::SourceOptions { follow_symlinks: true, ..following.source.clone() };
    refused(IndexOptions { source, ..following });
    run(&index, &with_access(&root, true)).unwrap();
}
