//! Keys whose paths are in a column, compared with keys that have paths of their own.

use super::*;
use crate::schema::{FieldEntry, FieldKind, Schema, ValueRef};

fn schema() -> Schema {
    let mut schema = Schema::new();
    for (name, kind) in [("other", FieldKind::Unsigned), ("path", FieldKind::Path)] {
        schema.add(FieldEntry::new(name, kind).column().not_searched()).unwrap();
    }
    schema
}

/// Paths in few or many directories, with names that are packed in different ways.
fn random_paths(random: &mut Rng, count: u32) -> Vec<Vec<u8>> {
    let (directories, names) = (random.u32(1..300), random.u8(..4));
    let path = |number: u32, random: &mut Rng| {
        let directory = random.u32(..directories);
        let mut path = match random.u8(..40) {
            0 => Vec::new(),
            1 => b"/".to_vec(),
            _ => format!("/data/{}/run{directory}/", directory % 7).into_bytes(),
        };
        match names {
            0 => path.extend(format!("measurement-{number:09}.h5").bytes()),
            1 => path.extend((0..random.usize(..30)).map(|_| random.u8(b'a'..=b'z'))),
            2 => path.extend(format!("part{}", random.u32(..9)).bytes()),
            _ => path.extend((0..random.usize(..6)).map(|_| random.u8(1..))),
        }
        path
    };
    (0..count).map(|number| path(number, random)).collect()
}

/// Writes a segment of files with these paths.
fn write_files(directory: &RamDirectory, id: u128, paths: &[Vec<u8>], in_column: bool) -> Segment {
    let schema = schema();
    let field = schema.field("path").unwrap();
    let mut inverter = Inverter::new(&InvertOptions::default()).unwrap();
    let mut columns = ColumnSet::new(&schema);
    let stamp = |path: &Vec<u8>| Stamp { bytes: path.len() as u64, modified: 7 };
    for path in paths {
        columns.push(field, ValueRef::Text(path));
        columns.end_document().unwrap();
        inverter.end_document();
    }
    let hashes = || paths.iter().map(|path| PathHash::of(path)).collect();
    let keys = Keys {
        paths: if in_column { Vec::new() } else { paths.to_vec() },
        stamps: paths.iter().map(stamp).collect(),
        runs: None,
        column: in_column.then(|| PathsInColumn { field, hashes: hashes() }),
    };
    let (fields, mut stored) = (vec![(Field::default(), &mut inverter)], StoredCollector::none());
    let contents = SegmentContents { fields, keys: &keys, stored: &mut stored, columns: &mut columns };
    write_contents(directory, id, contents, &FlushBuffers::default());
    Segment::open(directory, id, 0).unwrap()
}

/// Compares all that is known of the keys of a segment with its paths.
fn check(segment: &Segment, paths: &[Vec<u8>], random: &mut Rng, label: &str) {
    segment.check(CheckLevel::Cross, &mut |_| Ok(())).unwrap();
    let mut named = Vec::new();
    segment.each_document_named(&mut |path, doc| named.push((doc, path.to_vec()))).unwrap();
    assert!(named.iter().map(|(_, path)| path).eq(paths), "{label}");
    assert!(named.iter().map(|(doc, _)| *doc).eq(0..u32::try_from(paths.len()).unwrap()), "{label}");
    let known = KnownPaths::of(segment).unwrap();
    for _ in 0..300.min(paths.len()) {
        let doc = random.usize(..paths.len());
        let path = &paths[doc];
        assert_eq!(&segment.key(u32::try_from(doc).unwrap()).unwrap(), path, "{label} document {doc}");
        let same: Vec<u32> =
            (0..).zip(paths).filter(|(_, other)| *other == path).map(|(doc, _)| doc).collect();
        let found: Vec<u32> =
            segment.documents_of([path.as_slice()]).unwrap().into_iter().flatten().collect();
        assert_eq!(found, same, "{label} {path:?}");
        let first = known.find(path).unwrap().unwrap();
        assert_eq!((first.number, first.stamp.bytes), (same[0], path.len() as u64), "{label}");
        let other = [path, b"\xff".as_slice()].concat();
        assert_eq!(known.find(&other).unwrap().is_some(), paths.contains(&other), "{label}");
    }
    assert!(segment.key(u32::try_from(paths.len()).unwrap()).is_err(), "{label}");
}

#[test]
fn paths_in_a_column_are_keys_as_those_in_a_section_are() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..12 {
        let directory = RamDirectory::new();
        let most = if round < 9 { 700 } else { 10_000 };
        let mut sources = Vec::new();
        let mut expected = Vec::new();
        let (always, mut all_in_column) = (random.bool(), true);
        for id in 1..=random.u128(1..4) {
            let count = random.u32(..most);
            let paths = random_paths(&mut random, count);
            let in_column = always || random.bool();
            all_in_column &= in_column;
            let mut segment = write_files(&directory, id, &paths, in_column);
            check(&segment, &paths, &mut random, &format!("round {round} segment {id}"));
            let deleted = [0, 0, 5, 100][random.usize(..4)];
            for (doc, path) in (0..).zip(paths) {
                if random.u32(..100) < deleted {
                    assert!(segment.delete(doc));
                } else {
                    expected.push(path);
                }
            }
            sources.push(segment);
        }
        let field = schema().field("path").unwrap();
        let order = match random.bool() {
            true => path_order(&sources, field, 1 << 20, &|_, _| Ok(())).unwrap(),
            false => None,
        };
        if order.is_some() {
            expected.sort_by(|a, b| crate::column::split_path(a).0.cmp(crate::column::split_path(b).0));
        }
        let (_, unsynced) =
            merge(&directory, 99, &sources, order, &MergeWork::default(), &mut |_| Ok(())).unwrap();
        unsynced.sync().unwrap();
        let merged = Segment::open(&directory, 99, 0).unwrap();
        check(&merged, &expected, &mut random, &format!("round {round} merged"));
        let has_section = merged.envelope().section(layout::PATHS).is_ok();
        assert_eq!(has_section, !all_in_column, "round {round}");
    }
}

#[test]
fn keys_without_their_column_are_damage() {
    let directory = RamDirectory::new();
    let schema = schema();
    for name in ["other", "path"] {
        let field = schema.field(name).unwrap();
        let mut inverter = Inverter::new(&InvertOptions::default()).unwrap();
        let mut columns = ColumnSet::new(&schema);
        for doc in 0..10u64 {
            columns.push(field, ValueRef::Unsigned(doc));
            // The last document has no path.
            if doc < 9 {
                columns.push(field, ValueRef::Text(b"/a"));
            }
            columns.end_document().unwrap();
            inverter.end_document();
        }
        let column = Some(PathsInColumn { field, hashes: vec![PathHash::of(b"/a"); 10] });
        let keys = Keys { column, ..Keys::default() };
        let (fields, mut stored) = (vec![(Field::default(), &mut inverter)], StoredCollector::none());
        let contents = SegmentContents { fields, keys: &keys, stored: &mut stored, columns: &mut columns };
        write_contents(&directory, 5, contents, &FlushBuffers::default());
        let error = Segment::open(&directory, 5, 0).unwrap_err().to_string();
        assert!(error.contains("there is no column of its paths"), "{error}");
    }
}
