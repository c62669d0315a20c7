//! Lists as a whole: nothing is lost in silence, whatever the bytes are.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{CHANGE_FORMATS, ChangeFormat, ChangeReader, ChangesTally, ListFault};

/// Reads a list in parts of about `most` bytes.
fn read(list: &[u8], format: ChangeFormat, most: usize) -> (BTreeSet<(Vec<u8>, bool)>, ChangesTally) {
    let (paths, tally, fault) = read_after(list, format, most, None);
    assert!(fault.is_none(), "{fault:?}");
    (paths, tally)
}

type Read3 = (BTreeSet<(Vec<u8>, bool)>, ChangesTally, Option<String>);

fn read_after(list: &[u8], format: ChangeFormat, most: usize, number: Option<u64>) -> Read3 {
    let mut reader =
        ChangeReader::new(Box::new(BufReader::with_capacity(7, list)), format, Path::new("/lus"), number);
    let mut paths = BTreeSet::new();
    loop {
        match reader.part(most) {
            Ok(part) => paths.extend(part.iter().map(|(path, tree)| (path.to_vec(), tree))),
            Err(ListFault::Gap(reason)) => return (paths, reader.tally(), Some(reason)),
            Err(fault) => return (paths, reader.tally(), Some(format!("{fault:?}"))),
        }
        if reader.is_at_end() {
            return (paths, reader.tally(), None);
        }
    }
}

/// A path of random bytes, in its only spelling.
fn random_path(random: &mut fastrand::Rng, end: u8) -> Vec<u8> {
    let mut path = Vec::new();
    for _ in 0..random.usize(1..5) {
        path.push(b'/');
        let bytes =
            (0..random.usize(1..9)).map(|_| random.u8(1..)).filter(|&byte| byte != b'/' && byte != end);
        let start = path.len();
        path.extend(bytes);
        if matches!(&path[start..], b"" | b"." | b"..") {
            path.truncate(start);
            path.push(b'x');
        }
    }
    path
}

fn escaped(path: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| match byte {
        b'!'..=b'~' if *byte != b'\\' => vec![*byte],
        _ => format!("\\{byte:04o}").into_bytes(),
    };
    path.iter().flat_map(escape).collect()
}

/// A row of a format about a path.
fn row(format: ChangeFormat, path: &[u8]) -> Vec<u8> {
    match format {
        ChangeFormat::Paths => [path, b"\n"].concat(),
        ChangeFormat::NulPaths => [path, b"\0"].concat(),
        ChangeFormat::ZfsDiff => [b"1.5\tM\tF\t", &escaped(path)[..], b"\n"].concat(),
        ChangeFormat::WatchJson => {
            let text = serde_json::Value::from(String::from_utf8_lossy(path));
            format!("{{\"event\":\"IN_MODIFY\",\"path\":{text}}}\n").into_bytes()
        }
        ChangeFormat::Lustre => unreachable!("its paths come from lfs"),
    }
}

const OWN_PATHS: [ChangeFormat; 4] =
    [ChangeFormat::Paths, ChangeFormat::NulPaths, ChangeFormat::ZfsDiff, ChangeFormat::WatchJson];

#[test]
fn random_paths_come_back_from_every_format_however_small_the_parts_are() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for format in OWN_PATHS {
        for _ in 0..100 {
            let mut path = |_| random_path(&mut random, format.end());
            let mut paths: BTreeSet<Vec<u8>> = (0..30).map(&mut path).collect();
            if format == ChangeFormat::WatchJson {
                paths = paths
                    .iter()
                    .map(|path| String::from_utf8_lossy(path).into_owned().into_bytes())
                    .collect();
            }
            let list: Vec<u8> = paths.iter().flat_map(|path| row(format, path)).collect();
            let expected: BTreeSet<_> = paths.iter().map(|path| (path.clone(), false)).collect();
            for most in [1, 100, usize::MAX] {
                let (found, tally) = read(&list, format, most);
                assert_eq!(found, expected, "{format:?}");
                assert_eq!(tally, ChangesTally { rows: paths.len() as u64, ..ChangesTally::default() });
            }
        }
    }
}

#[test]
fn every_row_of_a_mutated_list_is_read_or_counted() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for format in OWN_PATHS {
        for _ in 0..300 {
            let mut list: Vec<u8> =
                (0..20).flat_map(|_| row(format, &random_path(&mut random, format.end()))).collect();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..list.len());
                match random.u8(..3) {
                    0 => list[at] = random.u8(..),
                    1 => drop(list.remove(at)),
                    _ => list.insert(at, random.u8(..)),
                }
            }
            let ends = list.iter().filter(|&&byte| byte == format.end()).count() as u64;
            let (found, tally) = read(&list, format, usize::MAX);
            assert_eq!(tally.rows, ends);
            assert_eq!(tally.truncated, list.last() != Some(&format.end()));
            assert!(found.len() as u64 <= ends);
            assert!(tally.bad == 0 || tally.first_bad.is_some());
            assert!(found.iter().all(|(path, _)| path.starts_with(b"/") && !path.contains(&0)));
        }
    }
}

#[test]
fn random_bytes_are_rows_or_bad_rows_in_every_format() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for (_, format) in CHANGE_FORMATS {
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..random.usize(..300)).map(|_| random.u8(..)).collect();
            let (_, tally, fault) = read_after(&bytes, format, 50, None);
            assert!(fault.is_none(), "{fault:?}");
            assert_eq!(tally.rows, bytes.iter().filter(|&&byte| byte == format.end()).count() as u64);
            ChangeFormat::detect(&bytes);
        }
    }
}

#[test]
fn a_row_without_an_end_takes_bounded_memory() {
    let endless = std::io::repeat(b'a').take(50 << 20);
    let mut reader =
        ChangeReader::new(Box::new(BufReader::new(endless)), ChangeFormat::Paths, Path::new("/"), None);
    assert!(reader.part(usize::MAX).unwrap().is_empty());
    assert!(reader.is_at_end() && reader.tally().truncated);
    let long = [vec![b'/'; 2 << 20], b"\n/a\n".to_vec()].concat();
    let (found, tally) = read(&long, ChangeFormat::Paths, usize::MAX);
    assert_eq!((found.len(), tally.bad), (1, 1));
    assert_eq!(tally.first_bad.unwrap().reason, "the row is too long");
}

/// Records of Lustre that name nothing.
fn records(numbers: &[u64]) -> Vec<u8> {
    let row = |number: &u64| {
        format!("{number} 00MARK  08:14:59.250441873 2026.11.26 0x0 t=[0x20001:0x0:0x0] p=[0x0:0x5:0xb] m\n")
    };
    numbers.iter().map(row).collect::<String>().into_bytes()
}

#[test]
fn missing_records_of_lustre_are_an_error_that_asks_for_a_scan() {
    for (before, numbers, expected) in [
        (None, &[7, 8, 9][..], None),
        (Some(6), &[7, 8], None),
        (Some(8), &[7, 8, 9], None),
        (Some(9), &[7, 8], None),
        (Some(9), &[], None),
        (Some(5), &[7, 8], Some("records 6 to 6 are missing after the last list")),
        (None, &[7, 9], Some("records 8 to 8 are missing: scan again")),
        (Some(7), &[8, 9, 12], Some("records 10 to 11 are missing: scan again")),
        (None, &[7, 7], Some("record 7 follows record 7")),
        (None, &[7, 3], Some("several MDTs")),
        (None, &[u64::MAX - 1, u64::MAX], None),
        (Some(u64::MAX), &[u64::MAX], None),
    ] {
        let (_, _, fault) = read_after(&records(numbers), ChangeFormat::Lustre, usize::MAX, before);
        let is_expected = match (&fault, expected) {
            (Some(fault), Some(expected)) => fault.contains(expected),
            (fault, expected) => fault.is_none() && expected.is_none(),
        };
        assert!(is_expected, "{before:?} {numbers:?}: {fault:?}");
        let list = records(numbers);
        let mut reader = ChangeReader::new(Box::new(&*list), ChangeFormat::Lustre, Path::new("/"), before);
        if reader.part(usize::MAX).is_ok() {
            assert_eq!(reader.number(), numbers.last().copied().max(before));
        }
    }
    // A row that cannot be read still counts.
    let list = [records(&[7]), b"8 oops\n".to_vec(), records(&[9])].concat();
    let (_, tally, fault) = read_after(&list, ChangeFormat::Lustre, usize::MAX, None);
    assert_eq!((tally.bad, tally.rows, tally.passed, fault), (1, 3, 2, None));
}
