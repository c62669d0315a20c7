//! Entries that are sorted in bounded memory, see `store/sorted_records.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::entry_record::{by_path, put_entry};
use super::order::walk_order;
use crate::source::Entry;
use crate::store::RecordSorter;

/// Paths with their sizes as a sorter with a limit returns them, and the number of doubles.
fn sorted(entries: &[(Vec<u8>, u64)], limit: usize) -> (Vec<(Vec<u8>, u64)>, u64) {
    let place = tempfile::tempdir().unwrap();
    let mut sorter = RecordSorter::new(by_path, limit, place.path());
    for (path, size) in entries {
        let mut record = Vec::new();
        put_entry(&mut record, &Entry { path, size: Some(*size), ..Entry::default() });
        sorter.push(&record).unwrap();
    }
    let sorted = sorter.finish().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    let read = || {
        let (mut found, mut cursor) = (Vec::new(), sorted.read().unwrap());
        while let Some(entry) = cursor.entry() {
            found.push((entry.path.to_vec(), entry.size.unwrap()));
            cursor.advance().unwrap();
        }
        (found, sorted.doubled.count + cursor.doubled.count)
    };
    assert_eq!(read(), read());
    read()
}

#[test]
fn records_are_sorted_with_any_memory_and_the_last_of_a_path_counts() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..10 {
        let count = random.usize(..600);
        let entries: Vec<(Vec<u8>, u64)> = (0..count as u64)
            .map(|at| {
                let names = (0..random.usize(1..4)).map(|_| random.choice(["a", "b-", "c", "dd"]).unwrap());
                let path: Vec<&str> = names.collect();
                (format!("/{}{}", path.join("/"), random.u32(..900)).into_bytes(), at)
            })
            .collect();
        let last: BTreeMap<_, _> = entries.iter().cloned().collect();
        let mut expected: Vec<_> = last.into_iter().collect();
        expected.sort_by(|one, other| walk_order(&one.0, &other.0));
        let doubled = (entries.len() - expected.len()) as u64;
        for limit in [1, 120, 3000, 1 << 20] {
            let (found, doubles) = sorted(&entries, limit);
            assert!(found == expected && doubles == doubled, "round {round} limit {limit}");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let mut sorter = RecordSorter::new(by_path, 0, Path::new("/nonexistent"));
    let error = sorter.push(b"x").unwrap_err().to_string();
    assert!(error.contains("create a temporary file in /nonexistent"), "{error}");
}
