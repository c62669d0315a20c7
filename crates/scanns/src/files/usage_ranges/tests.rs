//! Sums by ranges, compared with sums over a list of all entries.

use std::collections::BTreeMap;
use std::fs::{self, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;
use crate::content::ContentOptions;
use crate::index::handle::Index;
use crate::index::snapshot::Snapshot;
use crate::index::{IndexOptions, Progress};
use crate::source::{SourceOptions, is_at_or_below};

/// An entry of the list.
#[derive(Debug)]
struct ListedEntry {
    path: Vec<u8>,
    is_directory: bool,
    file: Option<LinkedFile>,
    space: u64,
    size: u64,
    mtime: Option<i64>,
}

fn scan(index: &Path, root: &Path) {
    let source = SourceOptions { paths: vec![root.to_path_buf()], ..SourceOptions::default() };
    let contents = Some(ContentOptions { names_only: true, ..ContentOptions::default() });
    let options = IndexOptions { source, contents, ..IndexOptions::default() };
    Index::at(index).build(&options, &Progress::new(), &Arc::default()).unwrap();
}

fn directories_of(root: &Path) -> Vec<PathBuf> {
    let mut all = vec![root.to_path_buf()];
    let mut at = 0;
    while let Some(directory) = all.get(at) {
        let inside = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let inside: Vec<PathBuf> = inside.filter(|path| path.is_dir() && !path.is_symlink()).collect();
        all.extend(inside);
        at += 1;
    }
    all
}

/// Adds, changes and removes entries.
fn change(root: &Path, random: &mut fastrand::Rng, round: usize) {
    let (directories, names) = (directories_of(root), ["a", "a-b", "a!", "b", "\u{fe}"]);
    let mut files: Vec<PathBuf> = Vec::new();
    for number in 0..60 {
        let directory = &directories[random.usize(..directories.len())];
        let path = directory.join(format!("{}{}", random.choice(names).unwrap(), random.u8(..9)));
        // Names may be taken, and an earlier change may have removed the directory.
        let _ = match random.u8(..12) {
            0..3 => fs::create_dir(&path),
            3..5 if !files.is_empty() => fs::hard_link(random.choice(&files).unwrap(), &path),
            5 if round > 0 && number < 3 && directory != root => fs::remove_dir_all(directory),
            6 if round > 0 => fs::remove_file(&path),
            _ => fs::write(&path, vec![b'x'; random.usize(..20_000)]).map(|()| files.push(path)),
        };
    }
    for path in files.iter().filter(|path| path.exists()) {
        let time = SystemTime::now() - Duration::from_millis(random.u64(..1 << 38));
        fs::File::open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    }
}

fn list(reader: &EntryReader<'_>) -> Vec<ListedEntry> {
    let mut all = Vec::new();
    let columns = ["type", "size", "blocks", "inode", "links", "device", "mtime"];
    reader
        .for_each(&crate::query::Query::All, &columns, &mut |entry| {
            let is_directory = entry.kind == Some(EntryKind::Directory);
            let is_linked = !is_directory && entry.links.is_some_and(|links| links > 1);
            all.push(ListedEntry {
                path: entry.path.to_vec(),
                is_directory,
                file: entry.inode.filter(|_| is_linked).map(|inode| (entry.device, inode)),
                space: entry.blocks.unwrap() * 512,
                size: entry.size.unwrap(),
                mtime: entry.mtime,
            });
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    all.sort_by(|one, other| walk_order(&one.path, &other.path));
    all
}

/// The lines of a start point, computed from the list, which is in the order of a walk.
fn expected(
    all: &[ListedEntry],
    start: &[u8],
    options: &UsageOptions,
    seen: &mut HashSet<LinkedFile>,
) -> BTreeMap<Vec<u8>, (u64, Option<i64>)> {
    let depth_of = |path: &[u8]| path.iter().filter(|&&byte| byte == b'/').count();
    let most = depth_of(start) + options.max_depth.unwrap();
    let lines = all.iter().filter(|entry| entry.is_directory && depth_of(&entry.path) <= most);
    let lines = lines.filter(|entry| is_at_or_below(&entry.path, start));
    let mut sums: BTreeMap<Vec<u8>, (u64, Option<i64>)> =
        lines.map(|entry| (entry.path.clone(), (0, None))).collect();
    let counted = all
        .iter()
        .filter(|entry| is_at_or_below(&entry.path, start))
        .filter(|entry| options.count_links || entry.file.is_none_or(|file| seen.insert(file)));
    for entry in counted {
        let amount = match options.measure {
            UsageMeasure::Space => entry.space,
            UsageMeasure::ApparentSize => entry.size,
            UsageMeasure::Entries => 1,
        };
        for (path, sum) in &mut sums {
            if is_at_or_below(&entry.path, path) {
                sum.0 += amount;
                sum.1 = sum.1.max(entry.mtime.filter(|_| options.time.is_some()));
            }
        }
    }
    sums
}

#[test]
fn sums_of_ranges_are_those_of_their_entries() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let (root, index) = (place.path().join("tree"), place.path().join("index"));
    fs::create_dir(&root).unwrap();
    let (mut answered, mut declined) = (0, 0);
    for round in 0..6 {
        change(&root, &mut random, round);
        scan(&index, &root);
        let snapshot = Snapshot::open(&index).unwrap();
        let reader = EntryReader::new(&snapshot).unwrap();
        let (all, mut seen, mut listed_seen) = (list(&reader), HashSet::new(), HashSet::new());
        for directory in all.iter().filter(|entry| entry.is_directory) {
            let measures = [UsageMeasure::Space, UsageMeasure::ApparentSize, UsageMeasure::Entries];
            let options = UsageOptions {
                measure: random.choice(measures).unwrap(),
                max_depth: Some(random.usize(..4)),
                count_links: random.bool(),
                one_device: random.bool(),
                time: random.choice([None, Some(UsageTime::Modified)]).unwrap(),
                ..UsageOptions::default()
            };
            let context = format!("seed {seed} round {round} {options:?} {:?}", directory.path);
            let found = directory_sums(&reader, &directory.path, &options, &mut seen).unwrap();
            let Some(found) = found else {
                assert_eq!(seen, listed_seen, "{context}");
                assert!(options.time.is_some() && round > 0, "{context}");
                declined += 1;
                continue;
            };
            answered += 1;
            assert!(found.is_sorted_by(|one, other| walk_order(&one.0, &other.0).is_lt()), "{context}");
            let lines: BTreeMap<_, _> =
                found.into_iter().map(|(path, sum)| (path, (sum.sum, sum.time))).collect();
            assert_eq!(lines, expected(&all, &directory.path, &options, &mut listed_seen), "{context}");
            // Files that were counted for one start point are not counted for the next one.
            if random.bool() {
                seen.clear();
                listed_seen.clear();
            }
        }
    }
    assert!(answered > 50, "{answered} answered, {declined} declined");
}
