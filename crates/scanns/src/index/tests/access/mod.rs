//! Who may see what, compared with what the kernel lets users do.

mod answers;
mod changes;
mod kernel;
mod tree;

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::content::ContentOptions;
use crate::index::build::options::DumpOptions;
use crate::source::access::{AccessRights, AccessUser};
use kernel::seen_by;

/// True with `SCANNS_LONG`, for larger trees and more users.
fn is_long() -> bool {
    std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0")
}

fn seed() -> u64 {
    let given = std::env::var("SCANNS_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    seed
}

/// False where only root can run a test.
fn can_run(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("SKIPPED {test}: only root can take on the identity of other users");
    }
    is_root
}

/// A directory that everybody may enter.
fn open_place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

fn with_access(root: &Path, names_only: bool) -> IndexOptions {
    IndexOptions {
        contents: Some(ContentOptions { names_only, ..ContentOptions::default() }),
        fields: FieldOptions { access: true, ..FieldOptions::default() },
        analyzer: None,
        ..options(root, Records::File, 2)
    }
}

fn random_user(random: &mut Rng) -> AccessUser {
    let groups: Vec<u32> = (0..random.usize(..4)).map(|_| tree::number(random)).collect();
    // Some users own nothing, and some are in no group of the tree.
    let uid = tree::FIRST + random.u32(..10);
    AccessUser::new(uid, if random.bool() { tree::number(random) } else { 51_000 }, &groups)
}

/// The rights of a user in all documents of an index, by path.
fn rights(index: &Path, user: &AccessUser) -> HashMap<PathBuf, AccessRights> {
    let snapshot = Snapshot::open(index).unwrap();
    assert_eq!(snapshot.access_figures().unwrap().unwrap().unclassed, 0);
    let mut rights = HashMap::new();
    for (leaf, docs) in snapshot.visible_to(user).unwrap().iter().enumerate() {
        let segment = &snapshot.leaves()[leaf];
        for doc in (0..segment.stats().max_doc).filter(|&doc| segment.is_live(doc)) {
            let found =
                AccessRights { entry: docs.entries.contains(doc), content: docs.contents.contains(doc) };
            let class =
                snapshot.access_class(&crate::search::Hit { score: 0.0, leaf, doc }).unwrap().unwrap();
            let expected = class.evaluate(user);
            // What is found in an index is found by its entry.
            let both = expected.entry && expected.content;
            assert_eq!(found, AccessRights { entry: expected.entry, content: both });
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(&segment.key(doc).unwrap()));
            rights.insert(path, expected);
        }
    }
    let entries = rights.values().filter(|rights| rights.entry).count();
    assert_eq!(snapshot.seen_as(user).unwrap().info().documents, entries as u64);
    rights
}

/// Compares the rights in an index with the kernel, for several users. Returns the number of compared rights.
fn compare(index: &Path, root: &Path, users: usize, random: &mut Rng) -> usize {
    let root_user = AccessUser::new(0, 0, &[]);
    let mut all: Vec<PathBuf> = rights(index, &root_user).into_keys().collect();
    all.sort();
    let mut compared = 0;
    for number in 0..users {
        let user = if number == 0 { root_user.clone() } else { random_user(random) };
        let found = rights(index, &user);
        let seen = seen_by(&user, root, &all);
        let of = |right: fn(&AccessRights) -> bool| -> HashSet<&PathBuf> {
            found.iter().filter(|(_, rights)| right(rights)).map(|(path, _)| path).collect()
        };
        let known: HashSet<&PathBuf> = all.iter().collect();
        let entries: HashSet<&PathBuf> = seen.entries.iter().filter(|path| known.contains(path)).collect();
        let differ: Vec<_> = of(|rights| rights.entry).symmetric_difference(&entries).copied().collect();
        assert!(differ.is_empty(), "{user:?} entries {differ:?}");
        let contents: HashSet<&PathBuf> = seen.contents.iter().collect();
        let differ: Vec<_> = of(|rights| rights.content).symmetric_difference(&contents).copied().collect();
        assert!(differ.is_empty(), "{user:?} contents {differ:?}");
        compared += 2 * all.len();
    }
    compared
}

#[test]
fn users_see_in_an_index_what_the_kernel_lets_them_see() {
    if !can_run("users_see_in_an_index_what_the_kernel_lets_them_see") {
        return;
    }
    let mut random = Rng::with_seed(seed());
    let (entries, users) = if is_long() { (12_000, 40) } else { (1_500, 12) };
    let place = open_place();
    let (root, index) = (place.path().join("root"), place.path().join("x.scanns"));
    fs::create_dir(&root).unwrap();
    if !tree::make(&root, entries, &mut random) {
        println!("SKIPPED ACLs: this file system has none");
    }
    run(&index, &with_access(&root, true)).unwrap();
    let compared = compare(&index, &root, users, &mut random);
    // Permissions of directories change, and nothing below them.
    for round in 0..3 {
        let changed: Vec<PathBuf> = fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.symlink_metadata().unwrap().is_dir())
            .collect();
        for path in changed {
            let mode = random.u32(..0o1000);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        run(&index, &with_access(&root, true)).unwrap();
        let more = compare(&index, &root, users / 3, &mut random);
        println!("{compared} rights, and {more} in round {round}");
    }
    let figures = Snapshot::open(&index).unwrap().access_figures().unwrap().unwrap();
    println!("{figures:?}");
    assert_eq!((figures.undecided, figures.unclassed), (0, 0));
}

#[test]
fn files_with_their_text_have_the_same_rights_and_are_not_read_again() {
    if !can_run("files_with_their_text_have_the_same_rights_and_are_not_read_again") {
        return;
    }
    let mut random = Rng::with_seed(seed());
    let place = open_place();
    let (root, index) = (place.path().join("root"), place.path().join("x.scanns"));
    fs::create_dir(&root).unwrap();
    tree::make(&root, if is_long() { 3_000 } else { 400 }, &mut random);
    let report = run(&index, &with_access(&root, false)).unwrap();
    assert!(report.documents > 100);
    compare(&index, &root, 8, &mut random);
    let again = run(&index, &with_access(&root, false)).unwrap();
    assert_eq!((again.documents, again.moved, again.unchanged), (0, 0, report.documents));
    fs::set_permissions(&root, fs::Permissions::from_mode(0o750)).unwrap();
    let changed = run(&index, &with_access(&root, false)).unwrap();
    assert!(changed.moved > 0 && changed.documents == 0 && changed.bytes == 0, "{changed:?}");
    compare(&index, &root, 8, &mut random);
}

/// A dump of all directories from the root on, and of a tree, with numbers of owners and modes.
fn dump_of(place: &Path, root: &Path, with_root: bool) -> IndexOptions {
    let format = r"%y\t%m\t%U\t%G\t%p\0\n";
    let dump = place.join("rows");
    super::dumps::find(root, format, &dump);
    let mut bytes = fs::read(&dump).unwrap();
    for above in root.ancestors().skip(1).filter(|_| with_root) {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::metadata(above).unwrap();
        let row = format!("d\t{:o}\t{}\t{}\t", meta.mode() & 0o7777, meta.uid(), meta.gid());
        bytes.extend([row.as_bytes(), above.as_os_str().as_bytes(), b"\0\n"].concat());
    }
    fs::write(&dump, bytes).unwrap();
    let options = super::dumps::of_dump(&dump, format, 2);
    let dump = options.dump.clone().map(|dump| DumpOptions { without_acls: true, ..dump });
    let fields = FieldOptions { access: true, ..FieldOptions::default() };
    IndexOptions { dump, fields, ..options }
}

#[test]
fn a_dump_with_all_directories_gives_the_rights_of_a_scan_and_another_one_gives_none() {
    let mut random = Rng::with_seed(seed());
    let place = open_place();
    let root = place.path().join("root");
    fs::create_dir(&root).unwrap();
    if rustix::process::geteuid().is_root() {
        tree::make(&root, 300, &mut random);
        remove_acls(&root);
    } else {
        super::dumps::make_tree(&root);
    }
    let at = |name: &str| place.path().join(name);
    run(&at("scan"), &with_access(&root, true)).unwrap();
    let report = run(&at("dump"), &dump_of(place.path(), &root, true)).unwrap();
    assert_eq!(report.undecided_access.count, 0);
    let mut seen = HashSet::new();
    for _ in 0..10 {
        let user = random_user(&mut random);
        let dumped = rights(&at("dump"), &user);
        for (path, expected) in rights(&at("scan"), &user) {
            // A walk begins at the root here, but those above the tree can all be listed, or its root is
            // hidden.
            assert!(dumped[&path] == expected || path == root, "{path:?} {user:?}");
            if expected.entry || expected.content {
                seen.insert(path);
            }
        }
    }
    let report = run(&at("parts"), &dump_of(place.path(), &root, false)).unwrap();
    // Only what is closed for everybody below the unknown directories is decided.
    seen.remove(&root);
    let undecided = report.undecided_access.count;
    assert!(undecided > 0 && undecided >= seen.len() as u64, "{undecided}, {} are seen", seen.len());
    let user = AccessUser::new(0, 0, &[]);
    assert!(rights(&at("parts"), &user).values().all(|rights| rights.entry));
    let user = random_user(&mut random);
    assert!(rights(&at("parts"), &user).values().all(|rights| !rights.entry && !rights.content));
}

/// Removes the ACLs of a tree; modes change with them, as their group bits are masks.
fn remove_acls(path: &Path) {
    let meta = path.symlink_metadata().unwrap();
    if !meta.is_symlink() {
        for name in ["system.posix_acl_access", "system.posix_acl_default"] {
            // Most have none.
            let _ = rustix::fs::removexattr(path, name);
        }
    }
    if meta.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| remove_acls(&entry.unwrap().path()));
    }
}

#[test]
fn access_classes_are_refused_where_they_would_be_wrong() {
    let place = open_place();
    let (root, index) = (place.path().join("root"), place.path().join("x.scanns"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a"), "text").unwrap();
    let refused = |options: &IndexOptions, at: &str| match run(&place.path().join(at), options) {
        Err(Error::Unsupported { what, .. } | Error::Conflict { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let good = with_access(&root, true);
    let lines = IndexOptions { records: Records::Lines, ..with_access(&root, false) };
    assert!(refused(&lines, "y").contains("lines"));
    let dump = DumpOptions::default();
    assert!(refused(&IndexOptions { dump: Some(dump), ..good.clone() }, "y").contains("ACLs"));
    run(&index, &good).unwrap();
    let changes = crate::index::build::options::ChangeOptions::default();
    assert!(
        refused(&IndexOptions { changes: Some(changes), ..good.clone() }, "x.scanns").contains("changes")
    );
    let without = IndexOptions { fields: FieldOptions::default(), ..good.clone() };
    assert!(run(&index, &without).is_ok(), "the index decides");
    let plain = place.path().join("plain.scanns");
    run(&plain, &without).unwrap();
    assert!(refused(&good, "plain.scanns").contains("--access"));
    assert!(Snapshot::open(&index).unwrap().has_access() && !Snapshot::open(&plain).unwrap().has_access());
}
