//! What the tests of the cache share.

mod damage;
mod keys;
mod model;
mod pool;
mod refuse;
mod room_left;
mod share;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::content::extract::{ExtractFailure, Extracted};

const LARGE: u64 = 1 << 30;

fn options(directory: &Path, size: u64) -> ExtractCacheOptions {
    ExtractCacheOptions { directory: directory.to_owned(), size, versions: "1".to_owned() }
}

/// A cache that takes new files, too.
fn cache(directory: &Path, size: u64) -> ExtractCache {
    let mut cache = ExtractCache::open(options(directory, size)).unwrap();
    cache.unsettled = Duration::ZERO;
    cache
}

fn random() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

/// The key of a made-up document.
fn key(cache: &ExtractCache, number: u64) -> ContentKey {
    let bytes = format!("%PDF-{number}");
    cache.key_of_bytes(bytes.as_bytes(), b"a.pdf", &ExtractLimits::default()).unwrap()
}

fn extracted(text: &str) -> ExtractAnswer {
    let fields = vec![("title".to_owned(), "Größe".to_owned()), (String::new(), String::new())];
    Ok(Extracted { format: "PDF".to_owned(), text: text.into(), fields, cut: text.len() % 2 == 1 })
}

/// Any answer that is kept, with up to `most` bytes of text that cannot be compressed well.
fn some_answer(random: &mut fastrand::Rng, most: usize) -> ExtractAnswer {
    match random.u8(..8) {
        0 => Err(ExtractFailure::NotADocument),
        1 => Err(ExtractFailure::Failed(format!("damaged PDF: object {}", random.u64(..)))),
        _ => {
            let length = random.usize(..=most);
            extracted(&std::iter::repeat_with(|| random.alphanumeric()).take(length).collect::<String>())
        }
    }
}

fn get(cache: &ExtractCache, key: &ContentKey) -> Option<ExtractAnswer> {
    cache.get(key, &ExtractLimits::default())
}

fn is_same(one: &ExtractAnswer, other: &ExtractAnswer) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other,
        (Err(one), Err(other)) => one.to_string() == other.to_string(),
        _ => false,
    }
}

fn place(directory: &Path, key: &ContentKey) -> PathBuf {
    let name = EntryName::of(&key.hash);
    let rest = str::from_utf8(&name.rest).unwrap();
    directory.join(names::group_name(name.group)).join(rest)
}

/// The paths of all files below a directory, except the marker.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else if entry.file_name() != names::MARKER {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Bytes of disk of the entries.
fn taken(directory: &Path) -> u64 {
    let sizes = files(directory).into_iter().filter_map(|path| Some(fs::metadata(path).ok()?.len()));
    sizes.map(|size| size.next_multiple_of(4096)).sum()
}

/// Sets the time of the last use of a file, in seconds since 1970.
fn set_used(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}
