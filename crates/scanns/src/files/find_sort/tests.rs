use super::*;

/// The paths of entries with these sizes, sorted in some memory.
fn sorted(entries: &[(String, Option<u64>)], order: &str, limit: Option<u64>, memory: usize) -> Vec<Vec<u8>> {
    let space = SortSpace { memory, directory: std::env::temp_dir() };
    let mut found = FoundEntries::new(FindSort::parse(order).unwrap(), limit, &space);
    for (path, size) in entries {
        let entry = Entry { path: path.as_bytes(), size: *size, ..Entry::default() };
        found.push(&FoundEntry { entry: &entry, depth: 0, point: 7 }).unwrap();
    }
    let (sorted, _) = found.finish().unwrap();
    let (mut cursor, mut paths) = (sorted.read().unwrap(), Vec::new());
    while let Some((entry, point)) = cursor.record().and_then(found_of) {
        assert_eq!(point, 7);
        paths.push(entry.path.to_vec());
        cursor.advance().unwrap();
    }
    paths
}

#[test]
fn the_best_entries_are_the_first_of_all_in_any_memory() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..8 {
        let entry = |random: &mut fastrand::Rng| {
            let size = Some(random.u64(..20)).filter(|&size| size < 18);
            (format!("/{}", random.u32(..500)), size)
        };
        let entries: Vec<_> = (0..random.usize(..400)).map(|_| entry(&mut random)).collect();
        for order in ["size", "size:desc", "path:desc", "name"] {
            let mut expected = entries.clone();
            expected.sort_by(|one, other| {
                let last = one.1.is_none().cmp(&other.1.is_none());
                match order {
                    "size" => last.then(one.1.cmp(&other.1)).then(one.0.cmp(&other.0)),
                    "size:desc" => last.then(other.1.cmp(&one.1)).then(one.0.cmp(&other.0)),
                    "name" => one.0.cmp(&other.0),
                    _ => other.0.cmp(&one.0),
                }
            });
            let expected: Vec<Vec<u8>> = expected.into_iter().map(|(path, _)| path.into_bytes()).collect();
            let limit = random.usize(..entries.len() + 3);
            for memory in [1, 2_000, 1 << 30] {
                assert_eq!(sorted(&entries, order, None, memory), expected, "{order} {memory}");
                let best = sorted(&entries, order, Some(limit as u64), memory);
                let wanted = limit.min(expected.len());
                assert_eq!(best[..wanted], expected[..wanted], "{order} {limit} {memory}");
            }
        }
    }
}

#[test]
fn a_limit_bounds_the_memory() {
    let space = SortSpace { memory: 1 << 30, directory: "/nonexistent".into() };
    let mut found = FoundEntries::new(FindSort::parse("size:desc").unwrap(), Some(10), &space);
    for size in 0..10_000 {
        let path = format!("/{size}");
        let entry = Entry { path: path.as_bytes(), size: Some(size), ..Entry::default() };
        found.push(&FoundEntry { entry: &entry, depth: 0, point: 0 }).unwrap();
        assert!(found.best.len() <= 10 && found.bytes < 2_000, "{}", found.bytes);
    }
}

#[test]
fn dates_before_1970_come_before_later_ones() {
    let mut keys = Vec::new();
    for mtime in [i64::MIN, -1, 0, 1, i64::MAX] {
        let entry = Entry { mtime: Some(mtime), ..Entry::default() };
        let mut key = Vec::new();
        let found = FoundEntry { entry: &entry, depth: 0, point: 0 };
        assert!(FindSort::parse("mtime").unwrap().put_key(&found, &mut key));
        keys.push(key);
    }
    assert!(keys.is_sorted());
}

#[test]
fn every_value_has_a_name_and_unknown_names_are_refused_with_the_known_ones() {
    for (name, key) in KEYS {
        assert_eq!(FindSort::parse(name).unwrap(), FindSort { key, descending: false });
        let falling = FindSort::parse(&format!("{name}:desc")).unwrap();
        assert_eq!((falling, falling.name()), (FindSort { key, descending: true }, name));
    }
    for wrong in ["", "sizes", "size:", "size:up", ":desc", "size:desc:"] {
        assert!(FindSort::parse(wrong).is_err(), "{wrong}");
    }
}
