//! The limit of a cache, and which entries go first.

use super::*;

/// Puts entries that take 8 KiB of disk each, the first one used least recently.
fn filled(directory: &Path, count: u64) -> Vec<ContentKey> {
    let mut random = random();
    let cache = cache(directory, LARGE);
    let mut keys = Vec::new();
    for number in 0..count {
        let key = key(&cache, number);
        let text: String = std::iter::repeat_with(|| random.alphanumeric()).take(8000).collect();
        cache.put(&key, &extracted(&text));
        set_used(&place(directory, &key), 1_000_000 + number);
        keys.push(key);
    }
    assert_eq!(taken(directory), count * 8192);
    keys
}

#[test]
fn the_entries_that_were_used_least_recently_go_until_nine_tenths_are_left() {
    let directory = tempfile::tempdir().unwrap();
    let keys = filled(directory.path(), 100);
    let cache = cache(directory.path(), 50 * 8192);
    // A hit makes the oldest entry the newest.
    assert!(get(&cache, &keys[0]).is_some());
    cache.put(&key(&cache, 1000), &extracted("text"));
    // 45 entries of 8 KiB fit into nine tenths of the limit, of which the new one takes 4 KiB.
    let left: Vec<usize> = (0..100).filter(|&at| place(directory.path(), &keys[at]).exists()).collect();
    let expected: Vec<usize> = [0].into_iter().chain(57..100).collect();
    assert_eq!(left, expected);
    assert!(get(&cache, &key(&cache, 1000)).is_some());
    assert_eq!(cache.notes().errors, 0);
}

#[test]
fn a_hit_is_noted_once_an_hour() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let key = key(&cache, 1);
    cache.put(&key, &extracted("text"));
    let path = place(directory.path(), &key);
    let used = || {
        i64::try_from(
            fs::metadata(&path).unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_secs(),
        )
    };
    for (ago, is_noted) in [(3000, false), (3700, true), (-5000, false)] {
        let before = now() - ago;
        set_used(&path, u64::try_from(before).unwrap());
        assert!(get(&cache, &key).is_some());
        assert_eq!(used().unwrap() != before, is_noted, "{ago}");
    }
}

#[test]
fn a_cache_of_no_bytes_keeps_nothing_and_a_large_entry_drives_out_no_others() {
    let directory = tempfile::tempdir().unwrap();
    let none = cache(directory.path(), 0);
    none.put(&key(&none, 1), &extracted("text"));
    assert_eq!(taken(directory.path()), 0);
    let keys = filled(directory.path(), 10);
    let small = cache(directory.path(), 100 << 10);
    let mut random = random();
    let text: String = std::iter::repeat_with(|| random.alphanumeric()).take(20_000).collect();
    small.put(&key(&small, 99), &extracted(&text));
    assert!(keys.iter().all(|key| get(&small, key).is_some()));
    assert!(get(&small, &key(&small, 99)).is_none());
}

#[test]
fn what_killed_processes_left_goes_after_a_day_and_what_is_being_written_stays() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let (old, new) =
        (directory.path().join("tmp-0123456789abcdef"), directory.path().join("tmp-0123456789abcdee"));
    let other = directory.path().join("tmp-other");
    for path in [&old, &new, &other] {
        fs::write(path, "half").unwrap();
    }
    set_used(&old, 1_000_000);
    set_used(&other, 1_000_000);
    cache.put(&key(&cache, 1), &extracted("text"));
    assert!(!old.exists() && new.exists() && other.exists());
}

#[test]
fn other_files_in_the_sub_directories_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let keys = filled(directory.path(), 60);
    let group = place(directory.path(), &keys[0]).parent().unwrap().to_owned();
    fs::write(group.join("README"), vec![0; 1 << 20]).unwrap();
    set_used(&group.join("README"), 1);
    let cache = cache(directory.path(), 30 * 8192);
    cache.put(&key(&cache, 1000), &extracted("text"));
    assert!(group.join("README").exists());
    assert!(!place(directory.path(), &keys[0]).exists());
}

#[test]
fn threads_that_remove_entries_at_the_same_time_do_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path(), 200);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            // Each has its own idea of what is in the directory, as processes do.
            let directory = directory.path();
            scope.spawn(move || {
                let cache = cache(directory, 100 * 8192);
                for number in 0..20 {
                    cache.put(&key(&cache, 1000 + thread * 100 + number), &extracted("text"));
                }
                assert_eq!(cache.notes().errors, 0, "{:?}", cache.notes());
            });
        }
    });
    let left = taken(directory.path());
    // Each of the four may write a 64th part of the limit, and one entry more, before it counts.
    assert!(left <= 100 * 8192 / 64 * 68 + 4 * 4096, "{left}");
    // Four times the removal of one would leave less than half.
    assert!(left >= 60 * 8192, "{left}");
}
