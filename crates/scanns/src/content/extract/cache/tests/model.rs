//! Random sequences of operations against a map.

use std::collections::HashMap;

use super::*;

/// Changes a file in one of the ways in which files are damaged.
fn damage(path: &Path, random: &mut fastrand::Rng) {
    let Ok(mut bytes) = fs::read(path) else { return };
    let at = random.usize(..bytes.len());
    match random.u8(..5) {
        0 => bytes.truncate(at),
        1 => bytes.push(random.u8(..)),
        2 => bytes.iter_mut().skip(at).for_each(|byte| *byte ^= 0x55),
        3 => bytes.clear(),
        _ => bytes[at] ^= 1 << random.u8(..8),
    }
    fs::write(path, bytes).unwrap();
}

/// `size` is the limit of the cache; without eviction, every entry that is whole must be found.
fn compare_with_a_map(size: u64, steps: usize, evicts: bool) {
    let mut random = random();
    let directory = tempfile::tempdir().unwrap();
    let mut cache = cache(directory.path(), size);
    // An answer, and whether its entry is damaged.
    let mut model: HashMap<u64, (ExtractAnswer, bool)> = HashMap::new();
    for step in 0..steps {
        let number = random.u64(..60);
        let key = key(&cache, number);
        match random.u8(..10) {
            0..4 => {
                let answer = some_answer(&mut random, 6000);
                cache.put(&key, &answer);
                model.insert(number, (answer, false));
                assert!(taken(directory.path()) <= size, "step {step}");
            }
            4..8 => match (get(&cache, &key), model.get(&number)) {
                (Some(found), Some((answer, is_damaged))) => {
                    assert!(is_same(&found, answer) && !is_damaged, "step {step}");
                }
                (None, Some((_, is_damaged))) => assert!(evicts || *is_damaged, "step {step}"),
                (found, None) => assert!(found.is_none(), "step {step}"),
            },
            8 => {
                // A second damage could undo the first one.
                if let Some((_, is_damaged @ false)) = model.get_mut(&number) {
                    damage(&place(directory.path(), &key), &mut random);
                    *is_damaged = true;
                }
            }
            _ if random.u8(..4) == 0 => cache = super::cache(directory.path(), size),
            _ => {
                let _ = fs::remove_file(place(directory.path(), &key));
                model.remove(&number);
            }
        }
    }
    assert_eq!(cache.notes().errors, 0, "{:?}", cache.notes());
}

#[test]
fn a_large_cache_does_what_a_map_does() {
    compare_with_a_map(LARGE, 3000, false);
}

#[test]
fn a_small_cache_forgets_but_is_never_wrong() {
    compare_with_a_map(100 << 10, 1500, true);
}

#[test]
fn answers_about_the_machine_are_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let key = key(&cache, 1);
    let failures = [
        ExtractFailure::TimedOut { seconds: 1 },
        ExtractFailure::TooMuchMemory { limit: 1 },
        ExtractFailure::Cancelled,
        ExtractFailure::Start(std::io::ErrorKind::NotFound.into()),
        ExtractFailure::Protocol(String::new()),
        ExtractFailure::Died { status: std::process::ExitStatus::default(), message: String::new() },
    ];
    for failure in failures {
        cache.put(&key, &Err(failure));
        assert!(get(&cache, &key).is_none());
    }
    assert_eq!(files(directory.path()).len(), 0);
    assert_eq!(cache.notes().misses, 6);
}
