//! Which documents have the same key, and which have none.

use std::collections::HashSet;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsFd;

use super::*;

static GO: AtomicBool = AtomicBool::new(false);

#[test]
fn a_file_has_the_key_of_its_bytes_wherever_its_position_is() {
    let mut random = random();
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let limits = ExtractLimits::default();
    for length in [5, 6, 1000, 65_536, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_001] {
        let mut bytes = b"%PDF-".to_vec();
        bytes.resize_with(length, || random.u8(..));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.seek(SeekFrom::Start(3)).unwrap();
        let (of_file, stamp) = cache.key_of_file(file.as_fd(), b"x/A.PDF", &limits, &GO).unwrap();
        assert_eq!(Some(of_file), cache.key_of_bytes(&bytes, b"b.pdf", &limits));
        assert_eq!(of_file.length, length as u64);
        assert!(stamp.is_of(file.as_fd()));
        assert_eq!(file.stream_position().unwrap(), 3);
    }
}

#[test]
fn everything_that_may_change_an_answer_changes_the_key() {
    let directory = tempfile::tempdir().unwrap();
    let mut cache = cache(directory.path(), LARGE);
    let plain = ExtractLimits::default();
    let mut keys = HashSet::new();
    let limits = [
        plain,
        ExtractLimits { memory: 1, ..plain },
        ExtractLimits { text: 1, ..plain },
        ExtractLimits { fields: 1, ..plain },
    ];
    for limits in limits {
        for name in ["a.pdf", "a.doc", "pdf", "a.", ""] {
            for bytes in [b"%PDF-1".as_slice(), b"%PDF-2", b"%PDF-1\0"] {
                keys.insert(cache.key_of_bytes(bytes, name.as_bytes(), &limits));
            }
        }
    }
    // Three of the names have no extension.
    assert_eq!(keys.len(), 4 * 3 * 3);
    let slower = ExtractLimits { seconds: 1, ..plain };
    assert!(keys.contains(&cache.key_of_bytes(b"%PDF-1", b"b.PDF", &slower)));
    "2".clone_into(&mut cache.versions);
    assert!(!keys.contains(&cache.key_of_bytes(b"%PDF-1", b"b.PDF", &plain)));
    "1".clone_into(&mut cache.versions);
    cache.secret[3] ^= 1;
    assert!(!keys.contains(&cache.key_of_bytes(b"%PDF-1", b"b.PDF", &plain)));
}

#[test]
fn headers_of_scientific_files_are_extracted_again_and_text_is_never_hashed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    for (bytes, expected) in [
        (b"%PDF-1.7".as_slice(), true),
        (b"{\\rtf1", true),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", true),
        (b"\x89HDF\r\n\x1a\n", false),
        (b"CDF\x01", false),
        (b"text", false),
        (b"", false),
    ] {
        let key = cache.key_of_bytes(bytes, b"", &ExtractLimits::default());
        assert_eq!(key.is_some(), expected, "{bytes:?}");
    }
    let mut large = b"{\\rtf1".to_vec();
    large.resize((64 << 20) + 1, b'x');
    assert!(cache.key_of_bytes(&large, b"", &ExtractLimits::default()).is_none());
}

#[test]
fn directories_cancelled_files_and_files_that_change_have_no_key_or_another_stamp() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let limits = ExtractLimits::default();
    let of = |file: &fs::File, cancel: bool| {
        cache.key_of_file(file.as_fd(), b"", &limits, &AtomicBool::new(cancel))
    };
    assert!(of(&fs::File::open(directory.path()).unwrap(), false).is_none());
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"%PDF-1.7").unwrap();
    assert!(of(&file, true).is_none());
    let (key, stamp) = of(&file, false).unwrap();
    assert!(!stamp.is_younger_than(Duration::ZERO) && stamp.is_younger_than(Duration::from_secs(60)));
    // Times of this length tell two changes apart on every local file system.
    std::thread::sleep(Duration::from_millis(20));
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(b"%PDF-1.6").unwrap();
    assert!(!stamp.is_of(file.as_fd()));
    cache.put_of_file(&key, &stamp, file.as_fd(), &extracted("text"));
    assert!(get(&cache, &key).is_none());
    assert_ne!(of(&file, false).unwrap().0, key);
}

#[test]
fn a_file_that_grows_while_it_is_read_has_no_key_or_the_key_of_a_moment() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), LARGE);
    let limits = ExtractLimits::default();
    let path = directory.path().join("growing.pdf");
    fs::write(&path, b"%PDF-").unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            for _ in 0..400 {
                file.write_all(&[b'x'; 5000]).unwrap();
            }
            stop.store(true, Ordering::Relaxed);
        });
        while !stop.load(Ordering::Relaxed) {
            let file = fs::File::open(&path).unwrap();
            if let Some((key, _)) = cache.key_of_file(file.as_fd(), b"", &limits, &GO) {
                let mut bytes = b"%PDF-".to_vec();
                bytes.resize(usize::try_from(key.length).unwrap(), b'x');
                assert_eq!(cache.key_of_bytes(&bytes, b"", &limits), Some(key));
            }
        }
    });
}
