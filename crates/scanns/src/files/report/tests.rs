//! Reports on random entries, compared with slow sums over all of them.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

use super::answer::FilesReport;
use super::classes::{DAY, age_class, size_class};
use super::collector::ReportCollector;
use super::columns::{ReportColumns, SplitPath};
use super::facts::{linked_key, space_of};
use super::options::ReportOptions;
use super::sums::EntrySums;
use crate::column::ColumnKind;
use crate::files::order::walk_order;
use crate::files::unread_directories::UnreadDirectories;
use crate::index::snapshot::batch::BatchColumn;
use crate::schema::ValueRef;
use crate::source::{Entry, EntryBatch, EntryKind, is_at_or_below, is_below};

const OPTIONS: ReportOptions = ReportOptions { now: 20_000 * DAY, cold_days: 100, top: 7 };

/// A random tree of entries, some of them with unknown values, some with several names.
fn random_entries(random: &mut Rng, count: usize) -> EntryBatch {
    let root = *random.choice(&["", "/", "/data", "data/x"]).unwrap();
    let mut directories = vec![root.to_owned()];
    let mut batch = EntryBatch::default();
    let mut paths = BTreeSet::new();
    if !root.is_empty() && random.bool() {
        let kind = Some(EntryKind::Directory);
        batch.push(&Entry { path: root.as_bytes(), kind, size: Some(4096), ..Entry::default() });
    }
    for at in 0..count {
        let around = random.choice(&directories).unwrap().clone();
        let name = ["a", "b.TXT", "c.txt", "d.tar.gz", ".e", "f.", "ü\u{1f4a9}", "<g>"];
        let name = format!("{}{}", random.u8(..9), random.choice(&name).unwrap());
        let path = match around.as_str() {
            "" => name,
            "/" => format!("/{name}"),
            around => format!("{around}/{name}"),
        };
        if !paths.insert(path.clone()) {
            continue;
        }
        let kind = [EntryKind::File, EntryKind::Link, EntryKind::Directory, EntryKind::Fifo];
        let kind = if at < 4 { EntryKind::Directory } else { *random.choice(&kind).unwrap() };
        if kind == EntryKind::Directory {
            directories.push(path.clone());
        }
        let time = |random: &mut Rng| random.u8(..9).checked_sub(1).map(|_| random.i64(17_000..20_010) * DAY);
        let owner = ["root", "anna", "ben"];
        let links = if kind == EntryKind::Directory { 2 } else { random.u64(1..3) };
        // What belongs to the inode follows from its number.
        let inode = random.u64(1..60);
        let mut random = Rng::with_seed(if links > 1 { inode } else { random.u64(..) });
        let (mtime, atime) = (time(&mut random), time(&mut random));
        let bits = random.u8(..40);
        let size = random.u8(..9).checked_sub(1).map(|_| random.u64(..1 << bits));
        batch.push(&Entry {
            path: path.as_bytes(),
            kind: random
                .u8(..9)
                .checked_sub(1)
                .map(|_| kind)
                .or((kind == EntryKind::Directory).then_some(kind)),
            owner: random.choice(&owner).map(|owner| owner.as_bytes()).filter(|_| random.bool()),
            uid: random.bool().then(|| random.u32(..3)),
            mtime,
            atime,
            size,
            blocks: random.bool().then(|| random.u64(..100)),
            mode: random.bool().then(|| random.u32(..0o10000)),
            inode: Some(inode),
            links: Some(links),
            ..Entry::default()
        });
    }
    batch
}

fn collected<'e>(entries: impl IntoIterator<Item = &'e Entry<'e>>) -> ReportCollector {
    let mut collector = ReportCollector::new(OPTIONS);
    let entries: Vec<_> = entries.into_iter().collect();
    // A batch may have rows beyond the part that is asked for.
    for rows in entries.chunks(50) {
        let columns = columns(rows.iter().copied().chain(entries.first().copied()));
        collector.push(&ReportColumns::new(&columns).unwrap(), rows.len());
    }
    collector
}

/// The columns of a batch with these entries.
fn columns<'e>(entries: impl Iterator<Item = &'e Entry<'e>> + Clone) -> Vec<BatchColumn> {
    let column = |kind: ColumnKind, value: &dyn Fn(&'e Entry<'e>) -> Option<ValueRef<'e>>| {
        let mut column = BatchColumn::new(kind);
        entries.clone().for_each(|entry| column.push_row(value(entry)));
        column
    };
    let text = |value: &dyn Fn(&'e Entry<'e>) -> Option<&'e [u8]>| {
        column(ColumnKind::Keyword, &|entry| value(entry).map(ValueRef::Text))
    };
    let number = |value: &dyn Fn(&'e Entry<'e>) -> Option<u64>| {
        column(ColumnKind::Unsigned, &|entry| value(entry).map(ValueRef::Unsigned))
    };
    let date = |value: &dyn Fn(&'e Entry<'e>) -> Option<i64>| {
        column(ColumnKind::Date, &|entry| value(entry).map(ValueRef::Date))
    };
    vec![
        text(&|entry| Some(SplitPath::of(entry.path).directory)),
        text(&|entry| Some(SplitPath::of(entry.path).name)),
        text(&|entry| entry.kind.map(|kind| kind.name().as_bytes())),
        text(&|entry| entry.owner),
        text(&|entry| entry.group),
        number(&|entry| entry.uid.map(u64::from)),
        number(&|entry| entry.gid.map(u64::from)),
        number(&|entry| entry.size),
        number(&|entry| entry.blocks),
        date(&|entry| entry.mtime),
        date(&|entry| entry.atime),
        number(&|entry| entry.mode.map(u64::from)),
        number(&|entry| entry.links),
        number(&|entry| entry.inode),
        number(&|entry| entry.device),
    ]
}

fn reported<'e>(entries: impl IntoIterator<Item = &'e Entry<'e>>) -> FilesReport {
    FilesReport::new(collected(entries), Vec::new(), &UnreadDirectories::default())
}

/// The entries without further names of the same file, in the order of a walk.
fn counted<'e>(entries: &[Entry<'e>]) -> Vec<Entry<'e>> {
    let mut sorted = entries.to_vec();
    sorted.sort_by(|one, other| walk_order(one.path, other.path));
    let mut seen = BTreeSet::new();
    sorted.retain(|entry| linked_key(entry).is_none_or(|key| seen.insert(key)));
    sorted
}

fn sum<'e>(entries: impl IntoIterator<Item = &'e Entry<'e>>) -> EntrySums {
    let mut sums = EntrySums::default();
    for entry in entries {
        sums += EntrySums {
            entries: 1,
            size: entry.size.unwrap_or(0),
            space: space_of(entry.size, entry.blocks),
        };
    }
    sums
}

fn owner(entry: &Entry<'_>) -> Option<Vec<u8>> {
    entry.owner.map(<[u8]>::to_vec).or(entry.uid.map(|uid| uid.to_string().into_bytes()))
}

fn is_file(entry: &Entry<'_>) -> bool {
    matches!(entry.kind, None | Some(EntryKind::File))
}

/// Runs a check on many random trees.
fn on_random_trees(check: impl Fn(&mut Rng, &[Entry<'_>])) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for _ in 0..60 {
        let count = random.usize(..400);
        let batch = random_entries(&mut random, count);
        let mut entries: Vec<Entry<'_>> = batch.iter().collect();
        if random.bool() {
            entries.sort_by(|one, other| walk_order(one.path, other.path));
        }
        check(&mut random, &entries);
    }
}

#[test]
fn parts_in_any_order_make_the_same_report() {
    on_random_trees(|random, entries| {
        let whole = reported(entries);
        let mut parts: Vec<Vec<Entry<'_>>> = vec![Vec::new(); random.usize(1..6)];
        for entry in entries {
            random.choice(&mut parts).unwrap().push(*entry);
        }
        parts.iter_mut().for_each(|part| random.shuffle(part));
        let mut all = ReportCollector::new(OPTIONS);
        parts.iter().for_each(|part| all.merge(collected(part)));
        assert_eq!(FilesReport::new(all, Vec::new(), &UnreadDirectories::default()), whole);
    });
}

#[test]
fn sums_by_value_are_those_of_all_entries_with_it() {
    on_random_trees(|_, entries| {
        let (report, once) = (reported(entries), counted(entries));
        assert_eq!(report.totals.all, sum(&once));
        assert_eq!(report.totals.further_names, (entries.len() - once.len()) as u64);
        assert_eq!(report.totals.files, sum(once.iter().filter(|entry| is_file(entry))));
        let by = |key: &dyn Fn(&Entry<'_>) -> Option<Vec<u8>>, only: &dyn Fn(&Entry<'_>) -> bool| {
            let mut groups: BTreeMap<Option<Vec<u8>>, Vec<&Entry<'_>>> = BTreeMap::new();
            once.iter()
                .filter(|entry| only(entry))
                .for_each(|entry| groups.entry(key(entry)).or_default().push(entry));
            let sums = groups.into_iter().map(|(name, entries)| (name, sum(entries)));
            sums.collect::<BTreeMap<_, _>>()
        };
        let map = |all: &[super::names::NamedSums]| {
            assert!(all.is_sorted_by_key(|named| std::cmp::Reverse(named.sums.space)));
            all.iter().map(|named| (named.name.clone(), named.sums)).collect::<BTreeMap<_, _>>()
        };
        let extension = |entry: &Entry<'_>| {
            let path = String::from_utf8(entry.path.to_vec()).unwrap();
            let name = path.rsplit('/').next().unwrap().to_owned();
            let (stem, extension) = name.rsplit_once('.')?;
            (!stem.is_empty() && !extension.is_empty()).then(|| extension.to_lowercase().into_bytes())
        };
        let kind = |entry: &Entry<'_>| entry.kind.map(|kind| kind.name().into());
        let before = OPTIONS.now - 100 * DAY;
        let old = |time: Option<i64>| time.is_some_and(|time| time < before);
        let is_cold = |entry: &Entry<'_>| is_file(entry) && old(entry.mtime) && old(entry.atime);
        assert_eq!(map(&report.owners), by(&owner, &|_| true));
        assert_eq!(map(&report.types), by(&kind, &|_| true));
        assert_eq!(map(&report.extensions), by(&extension, &is_file));
        assert_eq!(map(&report.cold), by(&owner, &is_cold));
        for (table, time) in [
            (&report.modified, &(|entry: &Entry<'_>| entry.mtime) as &dyn Fn(&Entry<'_>) -> _),
            (&report.accessed, &|entry: &Entry<'_>| entry.atime),
        ] {
            for (age, row) in table.cells.iter().enumerate() {
                for (size, cell) in row.iter().enumerate() {
                    let is_in = |entry: &&Entry<'_>| {
                        is_file(entry)
                            && age_class(time(entry), OPTIONS.now) == age
                            && size_class(entry.size) == size
                    };
                    assert_eq!(*cell, sum(once.iter().filter(is_in)));
                }
            }
        }
    });
}

#[test]
fn lists_are_the_beginnings_of_sorted_lists() {
    on_random_trees(|_, entries| {
        let (report, once) = (reported(entries), counted(entries));
        let rank = |entries: &[Entry<'_>], value: &dyn Fn(&Entry<'_>) -> u64| {
            let mut all: Vec<(u64, Vec<u8>)> =
                entries.iter().map(|entry| (value(entry), entry.path.to_vec())).collect();
            all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| walk_order(&one.1, &other.1)));
            all.truncate(OPTIONS.top);
            all
        };
        let files: Vec<Entry<'_>> = once.iter().filter(|entry| is_file(entry)).copied().collect();
        let largest: Vec<_> =
            report.rankings.files.iter().map(|file| (file.size, file.path.clone())).collect();
        assert_eq!(largest, rank(&files, &|entry| entry.size.unwrap_or(0)));
        let pairs = |ranked: &[super::answer::RankedPath]| {
            ranked.iter().map(|one| (one.value, one.path.clone())).collect::<Vec<_>>()
        };
        let names =
            |path: &[u8]| path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count() as u64;
        let last =
            |path: &[u8]| path.split(|&byte| byte == b'/').next_back().unwrap_or_default().len() as u64;
        assert_eq!(pairs(&report.rankings.deepest), rank(entries, &|entry| names(entry.path)));
        assert_eq!(pairs(&report.rankings.longest_names), rank(entries, &|entry| last(entry.path)));
        assert_eq!(pairs(&report.rankings.longest_paths), rank(entries, &|entry| entry.path.len() as u64));
        let empty: Vec<_> = files.iter().filter(|entry| entry.size == Some(0)).collect();
        assert_eq!(report.notable.empty_files.count, empty.len() as u64);
        let first: Vec<_> = empty.iter().take(OPTIONS.top).map(|entry| entry.path.to_vec()).collect();
        assert_eq!(report.notable.empty_files.first, first);
        let mode = |bits: u32, wanted: u32, kind: &dyn Fn(&Entry<'_>) -> bool| {
            once.iter().filter(|entry| kind(entry) && entry.mode.unwrap_or(0) & bits == wanted).count() as u64
        };
        let is_directory = |entry: &Entry<'_>| entry.kind == Some(EntryKind::Directory);
        assert_eq!(report.notable.set_user.count, mode(0o4000, 0o4000, &is_file));
        assert_eq!(report.notable.writable_files.count, mode(2, 2, &is_file));
        assert_eq!(report.notable.writable_directories.count, mode(0o1002, 2, &is_directory));
    });
}

#[test]
fn directories_have_the_sums_of_what_is_below_them() {
    on_random_trees(|_, entries| {
        let (report, once) = (reported(entries), counted(entries));
        let is_in = |entry: &Entry<'_>, path: &[u8]| {
            let rest = entry.path.strip_prefix(path).filter(|_| is_below(entry.path, path));
            rest.is_some_and(|rest| !rest.iter().skip(1).any(|&byte| byte == b'/'))
        };
        let names = |path: &[u8]| entries.iter().filter(|entry| is_in(entry, path)).count() as u64;
        let all = |ranked: &[super::summed::RankedDirectory]| {
            for one in ranked {
                let below = once.iter().filter(|entry| is_at_or_below(entry.path, &one.path));
                assert_eq!(
                    (one.sums, one.names),
                    (sum(below), names(&one.path)),
                    "{:?}",
                    String::from_utf8_lossy(&one.path)
                );
            }
        };
        let rankings = &report.rankings;
        [&rankings.by_space, &rankings.by_entries, &rankings.by_names]
            .into_iter()
            .for_each(|ranked| all(ranked));
        let is_directory = |entry: &&Entry<'_>| entry.kind == Some(EntryKind::Directory);
        let mut values: Vec<u64> = once
            .iter()
            .filter(is_directory)
            .map(|one| sum(once.iter().filter(|entry| is_at_or_below(entry.path, one.path))).space)
            .collect();
        values.sort_unstable_by(|one, other| other.cmp(one));
        let ranked: Vec<u64> = rankings.by_space.iter().map(|one| one.sums.space).collect();
        if entries.iter().any(|entry| entry.path == report.top) {
            let values: Vec<u64> = values.into_iter().take(OPTIONS.top).collect();
            assert_eq!(ranked, values);
        }
        let empty = once.iter().filter(is_directory).filter(|one| names(one.path) == 0).count();
        assert_eq!(report.notable.empty_directories.count, empty as u64);
    });
}

#[test]
fn the_sums_of_the_nodes_in_a_node_are_its_own() {
    on_random_trees(|_, entries| {
        let report = reported(entries);
        let mut below = vec![None::<EntrySums>; report.tree.len()];
        for (at, node) in report.tree.iter().enumerate().skip(1) {
            let parent = node.parent.unwrap();
            assert!(parent < at);
            *below[parent].get_or_insert_default() += node.sums;
        }
        for (node, below) in report.tree.iter().zip(below) {
            assert!(below.is_none_or(|below| below == node.sums), "{node:?}");
        }
        assert_eq!(report.tree[0].sums, report.totals.all);
    });
}

#[test]
fn small_directories_are_a_rest_of_the_tree() {
    let mut batch = EntryBatch::default();
    for (path, blocks) in [("/d/a/x", 100_000), ("/d/a/b/y", 30_000), ("/d/a/c/z", 10), ("/d/w", 20)] {
        let kind = Some(EntryKind::File);
        batch.push(&Entry {
            path: path.as_bytes(),
            kind,
            blocks: Some(blocks),
            size: Some(1),
            ..Entry::default()
        });
    }
    let entries: Vec<_> = batch.iter().collect();
    let tree = reported(&entries).tree;
    let shown: Vec<_> = tree
        .iter()
        .map(|node| {
            let name = node.name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
            (node.parent, name, node.sums.space / 512)
        })
        .collect();
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(
        shown,
        [
            (None, named("/d"), 130_030),
            (Some(0), named("a"), 130_010),
            (Some(1), named("b"), 30_000),
            (Some(0), None, 20),
            (Some(1), None, 100_010),
        ]
    );
}

#[test]
fn unknown_values_are_counted_with_the_first_entry_in_the_order_of_a_walk() {
    let known = Entry {
        kind: Some(EntryKind::File),
        size: Some(1),
        blocks: Some(8),
        uid: Some(1),
        gid: Some(1),
        mode: Some(0o644),
        mtime: Some(0),
        atime: Some(0),
        ..Entry::default()
    };
    let entries = [
        Entry { path: b"/b", atime: None, ..known },
        Entry { path: b"/a/c", atime: None, ..known },
        Entry { path: b"/a-", uid: None, ..known },
        Entry { path: b"/d", ..known },
    ];
    let report = reported(&entries);
    let unknown: Vec<_> =
        report.unknown.iter().map(|one| (one.column, one.count, &one.example[..])).collect();
    assert_eq!(unknown, [("atime", 2, &b"/a/c"[..]), ("owner", 1, b"/a-")]);
    assert_eq!(report.totals.cold.entries, 2);
}
