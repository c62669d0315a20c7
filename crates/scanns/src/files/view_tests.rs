//! Questions about file systems answered by a view, as by an index of the visible entries.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::index::build::options::DumpOptions;
use crate::index::handle::Index;
use crate::index::snapshot::Snapshot;
use crate::index::{IndexOptions, Progress};
use crate::record::dump::DumpFormat;
use crate::segment::{DocBits, Segment, VisibleDocs};

struct Printed<'p>(&'p mut Vec<u8>);

impl FindSink for Printed<'_> {
    fn write(&mut self, _: usize, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

fn build(index: &Path, dump: &Path, rows: &[&String]) {
    let rows: String = rows.iter().map(|row| row.as_str()).collect();
    std::fs::write(dump, rows).unwrap();
    let details = Some("%p\\t%y\\t%s\\t%b\\t%i\\t%n\\t%U\\t%T@\\n".to_owned());
    let format = DumpFormat::Named { name: "find", details };
    let dump = DumpOptions { files: vec![dump.to_path_buf()], format, ..DumpOptions::default() };
    let options = IndexOptions { dump: Some(dump), keep_removed: true, ..IndexOptions::default() };
    Index::at(index).build(&options, &Progress::new(), &Arc::default()).unwrap();
}

/// Paths and their rows.
fn tree(random: &mut fastrand::Rng) -> BTreeMap<String, String> {
    let (names, mut rows) = (["a", "a-", "b", "ab.txt", "c.h5", ".x"], BTreeMap::new());
    let mut directories = vec!["/r".to_owned()];
    let row = |random: &mut fastrand::Rng, path: &str, kind: char| {
        let size = random.u32(..30) * 700;
        let linked = kind == 'f' && random.u8(..4) == 0;
        let inode = if linked { random.u32(..4) } else { random.u32(100..) };
        let (links, blocks) = (if linked { 2 } else { 1 }, size / 512);
        let (user, time) = (random.u32(..3), 1_700_000_000 + random.u32(..9_000_000));
        format!("{path}\t{kind}\t{size}\t{blocks}\t{inode}\t{links}\t{user}\t{time}.0\n")
    };
    rows.insert("/r".to_owned(), row(random, "/r", 'd'));
    for number in 0..random.usize(1..120) {
        let above = random.choice(&directories).unwrap().clone();
        let path = format!("{above}/{}{}", random.choice(names).unwrap(), number % 7);
        let kind = if random.u8(..3) == 0 { 'd' } else { 'f' };
        if !rows.contains_key(&path) {
            rows.insert(path.clone(), row(random, &path, kind));
            directories.extend((kind == 'd').then_some(path));
        }
    }
    rows
}

fn view(whole: &Snapshot, is_visible: &dyn Fn(&str) -> bool) -> Snapshot {
    let of_segment = |segment: &Segment| {
        let mut docs = DocBits::none(segment.stats().max_doc);
        for doc in 0..segment.stats().max_doc {
            if is_visible(&String::from_utf8(segment.key(doc).unwrap()).unwrap()) {
                docs.insert(doc);
            }
        }
        VisibleDocs::whole(docs)
    };
    whole.seen_by(&whole.leaves().iter().map(of_segment).collect::<Vec<_>>()).unwrap()
}

/// The answers to random questions.
fn answers(snapshot: &Snapshot, paths: &[String], random: &mut fastrand::Rng) -> Vec<String> {
    let start: Vec<u8> = random.choice(paths).unwrap().clone().into_bytes();
    let expressions = [
        "-name a*",
        "-type d -empty",
        "-size +3k -printf %p\\t%s\\n",
        "-name *.h5* -o -name .x*",
        "-user 1 -newermt 2023-12-01",
        "-links 2",
        "-maxdepth 2",
        "-path */a*/b*",
        "-not -name b* -prune",
    ];
    let mut said = Vec::new();
    for _ in 0..3 {
        let words = random.choice(expressions).unwrap();
        let mut command = vec![start.clone()];
        command.extend(words.split(' ').map(|word| word.replace("\\t", "\t").into_bytes()));
        let mut printed = Vec::new();
        let found =
            find_entries(snapshot, &command, FindOptions::default(), |_| Ok(Printed(&mut printed))).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        said.push(format!("{words}: {printed} {} {:?} {:?}", found.printed, found.missing, found.unknown));
    }
    let options = UsageOptions {
        measure: *random
            .choice(&[UsageMeasure::Space, UsageMeasure::ApparentSize, UsageMeasure::Entries])
            .unwrap(),
        all: random.bool(),
        max_depth: random.choice([None, Some(0), Some(1), Some(2)]).unwrap(),
        separate: random.u8(..4) == 0,
        count_links: random.bool(),
        time: random.choice([None, Some(UsageTime::Modified)]).unwrap(),
        ..UsageOptions::default()
    };
    let mut lines = Vec::new();
    let report = disk_usage(snapshot, std::slice::from_ref(&start), options.clone(), |line| {
        lines.push(line.clone());
        Ok(())
    });
    said.push(format!("{options:?} {lines:?} {:?}", report.unwrap()));
    let key = *random.choice(&[UsageKey::Owner, UsageKey::Extension, UsageKey::Type]).unwrap();
    said.push(format!("{:?}", usage_by(snapshot, &[start], options, key).unwrap()));
    said
}

#[test]
fn find_and_du_of_a_view_know_only_visible_entries() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let rounds = if std::env::var_os("SCANNS_LONG").is_some() { 200 } else { 12 };
    for round in 0..rounds {
        let place = tempfile::tempdir().unwrap();
        let rows = tree(&mut random);
        let share = random.f64();
        let hidden: Vec<String> = rows.keys().filter(|_| random.f64() > share).cloned().collect();
        let is_visible = |path: &str| !hidden.iter().any(|one| one == path);
        let at = |name: &str| place.path().join(name);
        let all: Vec<&String> = rows.values().collect();
        for half in all.chunks(all.len().div_ceil(2)) {
            build(&at("whole"), &at("dump"), half);
        }
        let visible: Vec<&String> =
            rows.iter().filter(|(path, _)| is_visible(path)).map(|(_, row)| row).collect();
        if visible.is_empty() {
            continue;
        }
        build(&at("alone"), &at("dump"), &visible);
        // A view reads entries where sums of ranges would answer. These have no lines for directories without
        // an entry of their own.
        let alone = view(&Snapshot::open(&at("alone")).unwrap(), &|_| true);
        let paths: Vec<String> = rows.keys().cloned().collect();
        let seen = view(&Snapshot::open(&at("whole")).unwrap(), &is_visible);
        for _ in 0..20 {
            let question = random.u64(..);
            let asked =
                |snapshot: &Snapshot| answers(snapshot, &paths, &mut fastrand::Rng::with_seed(question));
            let (expected, found) = (asked(&alone), asked(&seen));
            assert_eq!(found, expected, "seed {seed} round {round} question {question}");
        }
    }
}
