//! Entries that are not what was written.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Instant;

use super::super::entry::{ENTRY_HEADER, decode, encode, most_entry};
use super::*;

const LIMITS: ExtractLimits = ExtractLimits { memory: 1, seconds: 1, text: 1 << 20, fields: 10 };
const KEY: ContentKey = ContentKey { hash: [7; 16], length: 1234 };

#[test]
fn an_entry_with_any_bit_changed_is_a_miss() {
    for answer in [extracted("some text"), Err(ExtractFailure::NotADocument)] {
        let whole = encode(&KEY, &answer).unwrap().unwrap();
        assert!(is_same(&decode(&whole, &KEY, &LIMITS).unwrap(), &answer));
        for at in 0..whole.len() {
            assert!(decode(&whole[..at], &KEY, &LIMITS).is_none());
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                assert!(decode(&changed, &KEY, &LIMITS).is_none(), "bit {bit} of byte {at}");
            }
        }
        assert!(decode(&[whole.as_slice(), &[0]].concat(), &KEY, &LIMITS).is_none());
        let other = ContentKey { length: 1235, ..KEY };
        assert!(decode(&whole, &other, &LIMITS).is_none());
        let other = ContentKey { hash: [8; 16], ..KEY };
        assert!(decode(&whole, &other, &LIMITS).is_none());
    }
}

#[test]
fn a_changed_byte_at_every_position_of_a_file_is_a_miss_and_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let (key, answer) = (key(&cache, 1), extracted("some text"));
    cache.put(&key, &answer);
    let path = place(directory.path(), &key);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] = changed[at].wrapping_add(1);
        fs::write(&path, changed).unwrap();
        assert!(get(&cache, &key).is_none());
        cache.put(&key, &answer);
        assert!(is_same(&get(&cache, &key).unwrap(), &answer));
    }
    let notes = cache.notes();
    assert_eq!((notes.damaged, notes.misses), (whole.len() as u64, whole.len() as u64));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Writes the right checksum into an entry that was changed.
fn seal(entry: &mut [u8]) {
    use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
    let packed = (entry.len() - ENTRY_HEADER) as u64;
    entry[40..48].copy_from_slice(&packed.to_le_bytes());
    let check = xxh3_64_with_seed(&entry[..56], xxh3_64(&entry[ENTRY_HEADER..]));
    entry[56..64].copy_from_slice(&check.to_le_bytes());
}

#[test]
fn changed_entries_with_right_checksums_never_panic_and_stay_within_the_limits() {
    let mut random = random();
    let start = Instant::now();
    let whole = encode(&KEY, &extracted(&"text ".repeat(50))).unwrap().unwrap();
    for _ in 0..100_000 {
        let mut entry = whole.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(48..entry.len());
            entry[at] = random.u8(..);
        }
        if random.u8(..4) == 0 {
            entry.truncate(random.usize(ENTRY_HEADER..=entry.len()));
        }
        seal(&mut entry);
        if let Some(Ok(found)) = decode(&entry, &KEY, &LIMITS) {
            assert!(found.text.len() as u64 <= LIMITS.text && found.fields.len() as u64 <= LIMITS.fields);
        }
        if cfg!(debug_assertions) && start.elapsed() > Duration::from_secs(2) {
            return;
        }
    }
}

#[test]
fn an_answer_beyond_the_limits_is_a_miss() {
    let entry = encode(&KEY, &extracted(&"x".repeat(3 << 20))).unwrap().unwrap();
    assert!(decode(&entry, &KEY, &LIMITS).is_none());
    assert!(decode(&entry, &KEY, &ExtractLimits { text: 3 << 20, ..LIMITS }).is_some());
    assert!(decode(&entry, &KEY, &ExtractLimits { text: 3 << 20, fields: 1, ..LIMITS }).is_none());
    let mut random = random();
    let noise: String =
        std::iter::repeat_with(|| random.char('\u{80}'..='\u{10ffff}')).take(200_000).collect();
    let entry = encode(&KEY, &extracted(&noise)).unwrap().unwrap();
    let exact = ExtractLimits { text: noise.len() as u64, ..LIMITS };
    assert!(entry.len() as u64 <= most_entry(&exact));
    assert!(is_same(&decode(&entry, &KEY, &exact).unwrap(), &extracted(&noise)));
}

#[test]
fn links_and_other_kinds_of_files_are_misses_and_what_they_lead_to_stays() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("cache");
    let cache = cache(&directory, LARGE);
    let (key, answer) = (key(&cache, 1), extracted("some text"));
    cache.put(&key, &answer);
    let (path, other) = (place(&directory, &key), parent.path().join("other"));
    // The link leads to a sound entry of the same key.
    fs::rename(&path, &other).unwrap();
    symlink(&other, &path).unwrap();
    assert!(get(&cache, &key).is_none());
    cache.put(&key, &extracted("newer"));
    assert!(is_same(&get(&cache, &key).unwrap(), &extracted("newer")));
    assert!(fs::symlink_metadata(&path).unwrap().is_file() && other.exists());
    // A pipe does not make a build wait.
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert!(get(&cache, &key).is_none());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(get(&cache, &key).is_none());
    assert_eq!(cache.notes().errors, 0);
    cache.put(&key, &answer);
    assert_eq!(cache.notes().errors, 1, "a directory cannot be replaced");
    assert!(cache.notes().first_error.unwrap().starts_with("cannot write an entry: "));
}

#[test]
fn a_linked_sub_directory_is_an_error_and_nothing_is_written_to_it() {
    let parent = tempfile::tempdir().unwrap();
    let (directory, other) = (parent.path().join("cache"), parent.path().join("other"));
    let cache = cache(&directory, LARGE);
    let key = key(&cache, 1);
    fs::create_dir(&other).unwrap();
    symlink(&other, place(&directory, &key).parent().unwrap()).unwrap();
    cache.put(&key, &extracted("text"));
    assert!(get(&cache, &key).is_none());
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    // Counting and reading.
    assert_eq!(cache.notes().errors, 2, "{:?}", cache.notes());
    for number in 2..9 {
        cache.put(&super::key(&cache, number), &extracted("text"));
    }
    assert_eq!(files(&directory).len(), 1, "only the link: without a count there is no limit");
    assert_eq!(cache.notes().errors, 2);
}
