//! Random trees, changed by random operations of the file system, against a slow comparison of two maps.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::super::order::walk_order;
use super::super::unread::UnreadPlaces;
use super::compare::{DiffReport, DifferenceKind, compare_sorted};
use super::fields::{EntryField, EntryFieldSet, FieldRules};
use super::tree::{DiffOptions, SortedTree, TreeCollector};
use crate::source::{Entry, EntryKind, nanoseconds};

/// An entry with its own texts.
#[derive(Clone, Debug, Default, PartialEq)]
struct OwnEntry {
    path: Vec<u8>,
    target: Option<Vec<u8>>,
    values: Entry<'static>,
}

impl OwnEntry {
    fn entry(&self) -> Entry<'_> {
        Entry { path: &self.path, target: self.target.as_deref(), ..self.values }
    }
}

/// The entries of a tree, with what a dump may lack.
fn scan(root: &Path, with_birth: bool, with_device: bool) -> Vec<OwnEntry> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let birth = meta.created().ok().filter(|_| with_birth);
        let birth = birth.map(|time| time.duration_since(UNIX_EPOCH).unwrap());
        let values = Entry {
            kind: EntryKind::of_mode(meta.mode()),
            size: Some(meta.size()),
            mtime: Some(nanoseconds(meta.mtime(), meta.mtime_nsec())),
            ctime: Some(nanoseconds(meta.ctime(), meta.ctime_nsec())),
            btime: birth.map(|time| i64::try_from(time.as_nanos()).unwrap()),
            mode: Some(meta.mode()),
            inode: Some(meta.ino()),
            links: Some(meta.nlink()),
            device: Some(meta.dev()).filter(|_| with_device),
            ..Entry::default()
        };
        let target = fs::read_link(&path).ok().map(|target| target.as_os_str().as_bytes().to_vec());
        found.push(OwnEntry { path: path.as_os_str().as_bytes().to_vec(), target, values });
    }
    found
}

/// One random change; some of them fail, which changes nothing.
fn change(root: &Path, random: &mut fastrand::Rng) {
    let paths: Vec<PathBuf> = scan(root, false, false)
        .into_iter()
        .map(|entry| PathBuf::from(std::ffi::OsStr::from_bytes(&entry.path)))
        .collect();
    let one = random.choice(&paths).unwrap().clone();
    let is_root = one == root;
    let directory = if one.is_dir() { one.clone() } else { one.parent().unwrap().to_path_buf() };
    let new = random.choice(&paths).unwrap();
    let new = if new.is_dir() { new.clone() } else { new.parent().unwrap().to_path_buf() };
    let name = ["a", "b", "c-", "c", "d.x", "\n"].map(str::to_owned)[random.usize(..6)].clone();
    let new = new.join(format!("{name}{}", random.u8(..9)));
    let _ = match random.u8(..12) {
        0 | 1 => fs::write(directory.join(name), vec![b'x'; random.usize(..200)]),
        2 | 3 => fs::create_dir(directory.join(name)),
        4 if !is_root && one.is_file() => fs::remove_file(&one),
        5 if !is_root && random.u8(..4) == 0 => fs::remove_dir_all(&one),
        6 | 7 if !is_root && !new.exists() && !new.starts_with(&one) => fs::rename(&one, &new),
        8 if one.is_file() => fs::set_permissions(&one, Permissions::from_mode(0o600 | random.u32(..0o100))),
        9 if one.is_file() && !one.is_symlink() => {
            File::options().write(true).open(&one).and_then(|file| file.set_len(random.u64(..300)))
        }
        10 if !one.is_symlink() => File::open(&one)
            .and_then(|file| file.set_modified(UNIX_EPOCH + Duration::from_millis(random.u64(..1_000_000)))),
        11 if random.bool() => symlink(&name, &new),
        _ => fs::hard_link(&one, &new),
    };
}

/// A difference as it is compared: kind, old path, new path, fields.
type FoundDifference = (DifferenceKind, Option<Vec<u8>>, Option<Vec<u8>>, EntryFieldSet);

fn sorted(entries: &[OwnEntry], options: &DiffOptions) -> SortedTree {
    let mut tree = TreeCollector::new(None, options);
    entries.iter().for_each(|entry| tree.add(&entry.entry()).unwrap());
    tree.finish(UnreadPlaces::default()).unwrap()
}

fn options(memory: usize) -> DiffOptions {
    DiffOptions {
        ignored: EntryFieldSet::default().with(EntryField::Atime),
        old_root: None,
        new_root: None,
        below: None,
        memory,
        temporary: std::env::temp_dir(),
    }
}

/// The differences of two trees, read with these limits of the memory.
fn differences(old: &[OwnEntry], new: &[OwnEntry], memory: usize) -> (Vec<FoundDifference>, DiffReport) {
    let (small, large) = (options(memory), options(64 << 20));
    let (old, new) = (sorted(old, &small), sorted(new, &small));
    let mut found = Vec::new();
    let report = compare_sorted(&old, &new, &large, &mut |difference| {
        let path = |entry: &Option<Entry<'_>>| entry.map(|entry| entry.path.to_vec());
        found.push((difference.kind, path(&difference.old), path(&difference.new), difference.fields));
        Ok(())
    });
    (found, report.unwrap())
}

fn parts(path: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let slash = path.iter().rposition(|byte| *byte == b'/').unwrap();
    (path[..slash].to_vec(), path[slash + 1..].to_vec())
}

/// The slow comparison.
struct SlowPairing<'a> {
    removed: Vec<Entry<'a>>,
    added: Vec<Entry<'a>>,
    pairs: Vec<(usize, usize)>,
}

impl SlowPairing<'_> {
    fn is_free(&self, old: usize, new: usize) -> bool {
        !self.pairs.iter().any(|pair| pair.0 == old || pair.1 == new)
    }

    fn pair_where(&mut self, fits: impl Fn(&Self, &Entry<'_>, &Entry<'_>) -> bool) -> bool {
        let before = self.pairs.len();
        for old in 0..self.removed.len() {
            let fit =
                |new: &usize| self.is_free(old, *new) && fits(self, &self.removed[old], &self.added[*new]);
            if let Some(new) = (0..self.added.len()).find(fit) {
                self.pairs.push((old, new));
            }
        }
        self.pairs.len() > before
    }

    fn has_pair(&self, fits: impl Fn(&Entry<'_>, &Entry<'_>) -> bool) -> bool {
        self.pairs.iter().any(|pair| fits(&self.removed[pair.0], &self.added[pair.1]))
    }

    fn find(&mut self) {
        let is_one = |old: &Entry<'_>, new: &Entry<'_>| {
            let device = old.device.is_none() || new.device.is_none() || old.device == new.device;
            device && old.inode == new.inode && old.kind == new.kind
        };
        let is_unchanged = |old: &Entry<'_>, new: &Entry<'_>| match (old.btime, new.btime) {
            (Some(old), Some(new)) => old == new,
            _ => old.mtime == new.mtime && (old.kind == Some(EntryKind::Directory) || old.size == new.size),
        };
        self.pair_where(|_, old, new| {
            is_one(old, new) && is_unchanged(old, new) && parts(old.path).1 == parts(new.path).1
        });
        self.pair_where(|_, old, new| is_one(old, new) && is_unchanged(old, new));
        while self.pair_where(|slow, old, new| {
            let is_directory = old.kind == Some(EntryKind::Directory);
            let is_parent = |old_in: &Entry<'_>, new_in: &Entry<'_>| {
                let (old_in, new_in) = (parts(old_in.path), parts(new_in.path));
                old_in.0 == old.path && new_in.0 == new.path && old_in.1 == new_in.1
            };
            let birth = old.btime.is_some() && new.btime.is_some();
            is_directory && !birth && is_one(old, new) && slow.has_pair(is_parent)
        }) {}
        while self.pair_where(|slow, old, new| {
            let (old, new) = (parts(old.path), parts(new.path));
            let is_in = |old_in: &Entry<'_>, new_in: &Entry<'_>| {
                let is_directory = [old_in, new_in].map(|entry| entry.kind == Some(EntryKind::Directory));
                is_directory == [true; 2] && old_in.path == old.0 && new_in.path == new.0
            };
            old.1 == new.1 && slow.has_pair(is_in)
        }) {}
    }
}

fn slow_differences(old: &[OwnEntry], new: &[OwnEntry]) -> Vec<FoundDifference> {
    let map = |entries: &'_ [OwnEntry]| -> BTreeMap<Vec<u8>, OwnEntry> {
        entries.iter().map(|entry| (entry.path.clone(), entry.clone())).collect()
    };
    let (old, new) = (map(old), map(new));
    let rules = FieldRules { ignored: options(0).ignored, whole_seconds: false };
    let mut found: Vec<FoundDifference> = Vec::new();
    for (path, entry) in &old {
        if let Some(other) = new.get(path) {
            let fields = rules.compare(&entry.entry(), &other.entry()).0;
            if !fields.is_empty() {
                found.push((DifferenceKind::Changed, Some(path.clone()), Some(path.clone()), fields));
            }
        }
    }
    let only = |one: &'_ BTreeMap<Vec<u8>, OwnEntry>, other: &BTreeMap<Vec<u8>, OwnEntry>| {
        let mut paths: Vec<_> = one.keys().filter(|path| !other.contains_key(*path)).cloned().collect();
        paths.sort_by(|one, other| walk_order(one, other));
        paths
    };
    let (removed, added) = (only(&old, &new), only(&new, &old));
    let mut slow = SlowPairing {
        removed: removed.iter().map(|path| old[path].entry()).collect(),
        added: added.iter().map(|path| new[path].entry()).collect(),
        pairs: Vec::new(),
    };
    slow.find();
    for (at, entry) in slow.removed.iter().enumerate() {
        if !slow.pairs.iter().any(|pair| pair.0 == at) {
            found.push((DifferenceKind::Removed, Some(entry.path.to_vec()), None, EntryFieldSet::default()));
        }
    }
    for (at, entry) in slow.added.iter().enumerate() {
        let path = entry.path.to_vec();
        let Some(pair) = slow.pairs.iter().find(|pair| pair.1 == at) else {
            found.push((DifferenceKind::Added, None, Some(path), EntryFieldSet::default()));
            continue;
        };
        let old = &slow.removed[pair.0];
        let (old_parts, new_parts) = (parts(old.path), parts(&path));
        let along = old_parts.1 == new_parts.1
            && slow.has_pair(|old, new| {
                old.path == old_parts.0 && new.path == new_parts.0 && old.kind == Some(EntryKind::Directory)
            });
        let mut rules = rules;
        if !along {
            rules.ignored = rules.ignored.with(EntryField::Ctime);
        }
        let fields = rules.compare(old, entry).0;
        let kind = match (along, fields.is_empty()) {
            (false, _) => DifferenceKind::Moved,
            (true, true) => DifferenceKind::Along,
            (true, false) => DifferenceKind::Changed,
        };
        found.push((kind, Some(old.path.to_vec()), Some(path), fields));
    }
    found.sort_by(|one, other| walk_order(place(one), place(other)));
    found
}

fn place(found: &FoundDifference) -> &[u8] {
    found.2.as_deref().or(found.1.as_deref()).unwrap()
}

#[test]
fn random_changes_of_random_trees_are_found_with_any_memory() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kinds = BTreeMap::new();
    for round in 0..40 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("tree");
        fs::create_dir(&root).unwrap();
        (0..random.usize(..80)).for_each(|_| change(&root, &mut random));
        let (with_birth, with_device) = (random.bool(), random.bool());
        let old = scan(&root, with_birth, true);
        (0..random.usize(..30)).for_each(|_| change(&root, &mut random));
        let new = scan(&root, true, with_device);
        let slow = slow_differences(&old, &new);
        for memory in [2000, 64 << 20] {
            let (found, report) = differences(&old, &new, memory);
            assert_eq!(found, slow, "round {round}, memory {memory}, seed {seed}");
            let counts = report.counts;
            assert_eq!(counts.added + counts.moved + counts.along + counts.changed + counts.removed, {
                found.len() as u64
            });
            assert!(report.new.entries == new.len() as u64 && !report.moves_unknown);
        }
        for (kind, ..) in &slow {
            *kinds.entry(format!("{kind:?}")).or_insert(0) += 1;
        }
        // Whatever belongs together: the differences lead from the old tree to the new one.
        let mut paths: std::collections::BTreeSet<_> = old.iter().map(|entry| entry.path.clone()).collect();
        slow.iter().filter_map(|found| found.1.as_ref()).for_each(|path| assert!(paths.remove(path)));
        slow.iter().filter_map(|found| found.2.as_ref()).for_each(|path| assert!(paths.insert(path.clone())));
        assert_eq!(paths, new.iter().map(|entry| entry.path.clone()).collect());
    }
    println!("{kinds:?}");
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

/// An entry with an inode.
fn with_inode(path: &str, inode: u64, kind: EntryKind) -> OwnEntry {
    let values = Entry {
        kind: Some(kind),
        inode: Some(inode),
        size: Some(inode),
        mtime: Some(5_000_000_001),
        ..Entry::default()
    };
    OwnEntry { path: path.into(), target: None, values }
}

#[test]
fn a_moved_directory_is_one_difference_even_if_something_in_it_changed() {
    let (file, directory) = (EntryKind::File, EntryKind::Directory);
    let old = [
        with_inode("/r/d", 1, directory),
        with_inode("/r/d/e", 2, directory),
        with_inode("/r/d/e/f", 3, file),
        with_inode("/r/d/g", 4, file),
        with_inode("/r/d/h", 5, file),
    ];
    let mut new = [
        with_inode("/r/x", 1, directory),
        with_inode("/r/x/e", 2, directory),
        with_inode("/r/x/e/f", 3, file),
        with_inode("/r/x/g", 9, file),
        with_inode("/r/i", 5, file),
    ];
    // The directory has lost a file, so that its time is another one.
    new[0].values.mtime = Some(7_000_000_001);
    let (found, report) = differences(&old, &new, 1 << 20);
    let shown: Vec<String> = found
        .iter()
        .map(|(kind, old, new, fields)| {
            let text = |path: &Option<Vec<u8>>| String::from_utf8(path.clone().unwrap_or_default()).unwrap();
            let fields: Vec<_> = fields.iter().map(EntryField::name).collect();
            format!("{kind:?} {} {} {}", text(old), text(new), fields.join(","))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "Moved /r/d/h /r/i ",
            "Moved /r/d /r/x mtime",
            "Along /r/d/e /r/x/e ",
            "Along /r/d/e/f /r/x/e/f ",
            "Changed /r/d/g /r/x/g size,inode",
        ]
    );
    assert!(!report.whole_seconds && !report.counts.is_same());
}

#[test]
fn without_memory_for_moves_entries_are_added_and_removed() {
    let old: Vec<_> = (0..50).map(|at| with_inode(&format!("/a{at:02}"), at, EntryKind::File)).collect();
    let new: Vec<_> = (0..50).map(|at| with_inode(&format!("/b{at:02}"), at, EntryKind::File)).collect();
    let little = options(6000);
    let report = compare_sorted(&sorted(&old, &little), &sorted(&new, &little), &little, &mut |_| Ok(()));
    let report = report.unwrap();
    assert!(report.moves_unknown);
    assert_eq!((report.counts.added, report.counts.removed, report.counts.moved), (50, 50, 0));
    assert_eq!(differences(&old, &new, 3000).1.counts.moved, 50);
}

#[test]
fn times_are_compared_in_seconds_if_one_tree_has_no_fractions() {
    let one = with_inode("/a", 1, EntryKind::File);
    let mut other = one.clone();
    other.values.mtime = Some(5_000_000_000);
    let (found, report) = differences(std::slice::from_ref(&one), &[other.clone()], 1 << 20);
    assert!(found.is_empty() && report.whole_seconds && report.counts.same == 1);
    other.values.mtime = Some(4_000_000_000);
    assert_eq!(differences(&[one], &[other], 1 << 20).1.counts.changed, 1);
}

#[test]
fn only_what_is_below_the_roots_is_compared() {
    let file = EntryKind::File;
    let old = [with_inode("/a/x", 1, file), with_inode("/a/y/z", 2, file), with_inode("/b/x", 3, file)];
    let new = [with_inode("/c/d/x", 1, file), with_inode("/c/d/w", 2, file)];
    let mut options = options(1 << 20);
    let compare = |options: &DiffOptions| {
        let collect = |entries: &[OwnEntry], root: &[u8]| {
            let mut tree = TreeCollector::new(Some(root), options);
            entries.iter().for_each(|entry| tree.add(&entry.entry()).unwrap());
            tree.finish(UnreadPlaces::default()).unwrap()
        };
        compare_sorted(&collect(&old, b"/a/"), &collect(&new, b"/c/d"), options, &mut |_| Ok(())).unwrap()
    };
    let report = compare(&options);
    assert_eq!((report.counts.same, report.counts.moved, report.old.elsewhere), (1, 1, 1));
    options.below = Some(b"y".into());
    let report = compare(&options);
    assert_eq!((report.counts.same, report.counts.removed, report.new.elsewhere), (0, 1, 2));
}
