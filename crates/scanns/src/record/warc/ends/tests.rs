//! Tests of the ends of records.

use super::*;
use crate::record::made_record::MadeRecord;
use crate::record::test_ends::{ends_in_pieces, records_of_any_pieces, seed};
use crate::record::warc::LongClaimLook;
use crate::record::warc::WarcReader;
use crate::record::warc::tests::{all_files, cut};

/// The records of a text.
fn cut_text(text: &str) -> Vec<&str> {
    cut(text.as_bytes()).into_iter().map(|record| std::str::from_utf8(record).unwrap()).collect()
}

/// A record of a block.
fn record(block: &str, len: impl std::fmt::Display) -> String {
    format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {len}\r\n\r\n{block}")
}

/// Joins records.
fn assert_cut(records: &[&str]) {
    assert_eq!(cut_text(&records.concat()), records);
}

/// A random file: records with right and wrong lengths, bytes between them, and either format.
fn random_file(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut file = Vec::new();
    let is_arc = random.u8(..4) == 0;
    let parts = ["\n", "\r\n", "WARC/", "WARC/1.0\r\n", "a", "\r\n\r\n", "Content-Length: 3", "http://a/ "];
    for _ in 0..random.usize(..12) {
        let block: String = (0..random.usize(..20)).map(|_| parts[random.usize(..parts.len())]).collect();
        let len = match random.u8(..6) {
            0 => random.usize(..200).to_string(),
            1 => "-1".to_owned(),
            _ => block.len().to_string(),
        };
        let text = match is_arc {
            true => format!("http://a/b c 1.2.3.4 20140216050221 text/html {len}\n{block}\n"),
            false => record(&block, len) + ["\r\n\r\n", "\n\n", "", "\r\n", "garbage\r\n"][random.usize(..5)],
        };
        file.extend_from_slice(text.as_bytes());
    }
    file
}

/// Changes some bytes of a file.
fn mutate(file: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..6) {
        if file.is_empty() {
            return;
        }
        let at = random.usize(..file.len());
        match random.u8(..5) {
            0 => file[at] = random.u8(..),
            1 => drop(file.remove(at)),
            2 => file.insert(at, b"\r\n0W:-"[random.usize(..6)]),
            3 => file.truncate(at),
            _ => {
                let part = file[at..(at + random.usize(..50)).min(file.len())].to_vec();
                file.splice(at..at, part);
            }
        }
    }
}

#[test]
fn records_end_after_their_length_and_line_ends() {
    let one = record("a\nWARC/1.0\nb", 12) + "\r\n\r\n";
    assert_cut(&[&one, &one, &one]);
    assert_cut(&[&record("a", 1), &one]);
    assert_cut(&[&(record("a", 1) + "\n"), &one]);
    assert_cut(&[&(one.clone() + "\r\n\r\n\r\n"), &one]);
    assert_cut(&[&("\n\n".to_owned() + &one), &one]);
}

#[test]
fn a_record_of_wrong_length_ends_at_the_next_version_line() {
    let right = record("abc", 3) + "\r\n\r\n";
    for len in ["1", "2", "20", "100", "999999", "-1", "x", "99999999999999999999", "18446744073709551615"] {
        let wrong = record("abc", len) + "\r\n";
        assert_cut(&[&wrong, &right, &right]);
        assert_cut(&[&right, &wrong]);
    }
    assert_cut(&["WARC/1.0\r\nno blank line\r\n", &right]);
}

#[test]
fn bytes_between_records_are_a_record() {
    let right = record("abc", 3) + "\r\n\r\n";
    assert_cut(&[&right, "garbage\nmore\n", &right]);
    assert_cut(&["garbage\n", &right, "garbage"]);
    let arc = "http://a/ 1.2.3.4 20140216050221 text/html 3\nabc\n";
    assert_cut(&[arc, "http://a/ 1.2.3.4 20140216050221 text/html 9\nabc\n", arc]);
    assert_cut(&["filedesc://a 0.0.0.0 20140216050221 text/plain -1\n1 0 A\n\n", arc, arc]);
}

#[test]
fn the_end_is_known_before_the_record_is_there() {
    let whole = record(&"a".repeat(1000), 1000) + "\r\n\r\n";
    let mut ends = WarcEnds::new();
    let (start, rest) = whole.as_bytes().split_at(100);
    assert_eq!(ends.next_end(&start[..20], false), None);
    assert!(ends.long_claim(&start[..20]).is_none());
    assert_eq!(ends.next_end(start, false), None);
    let mut claim = ends.long_claim(start).unwrap();
    assert_eq!(claim.take(&rest[..rest.len() - 5], false), LongClaimLook::Continues);
    assert_eq!(claim.take(&rest[rest.len() - 5..], true), LongClaimLook::Right);
    ends.start_record();
    assert!(ends.long_claim(start).is_none());
    let rest = "\r\n\r\n".to_owned() + &whole;
    assert_eq!(ends.next_end(rest.as_bytes(), true), Some(rest.len()));
}

#[test]
fn pieces_of_any_size_give_the_same_ends() {
    let mut random = fastrand::Rng::with_seed(seed());
    for (name, bytes) in all_files() {
        println!("{name}");
        for _ in 0..5 {
            records_of_any_pieces(&bytes, &mut random, WarcEnds::next_end);
        }
    }
    for round in 0..3000 {
        let mut file = random_file(&mut random);
        if round % 2 == 1 {
            mutate(&mut file, &mut random);
        }
        records_of_any_pieces(&file, &mut random, WarcEnds::next_end);
    }
}

#[test]
fn mutated_records_are_read_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(seed());
    let mut sources: Vec<Vec<u8>> = all_files().into_iter().map(|(_, bytes)| bytes).collect();
    sources.extend((0..20).map(|_| random_file(&mut random)));
    let (mut reader, mut made) = (WarcReader::default(), MadeRecord::default());
    let rounds = if cfg!(debug_assertions) { 3_000 } else { 100_000 };
    let mut count = 0;
    while count < rounds {
        let mut file = sources[random.usize(..sources.len())].clone();
        mutate(&mut file, &mut random);
        for record in cut(&file) {
            count += 1;
            let _ = reader.read(record, &mut made);
        }
        count += 1;
    }
}

#[test]
fn bytes_that_are_no_records_take_linear_time() {
    let header = "WARC/1.0\n".to_owned() + &"a: b\n".repeat(200_000);
    let claims = record("", 1 << 20).repeat(20_000);
    let line_ends = record("", 200).repeat(5_000) + &"\n".repeat(1 << 20);
    let files = ["WARC/".repeat(200_000), "\n".repeat(1 << 20), "\nWARC/1".repeat(150_000), header, claims];
    for file in files.iter().chain([&line_ends, &"http://a 1 2 ".repeat(80_000)]) {
        let start = std::time::Instant::now();
        let mut random = fastrand::Rng::with_seed(7);
        let mut ends = WarcEnds::new();
        let next_end = &mut |bytes: &[u8], is_end| ends.next_end(bytes, is_end);
        ends_in_pieces(file.as_bytes(), &mut || random.usize(1..=50), next_end);
        assert!(start.elapsed().as_secs() < 5, "{:?}: {}", start.elapsed(), &file[..20]);
        let start = std::time::Instant::now();
        let (mut reader, mut made) = (WarcReader::default(), MadeRecord::default());
        for record in cut(file.as_bytes()) {
            let _ = reader.read(record, &mut made);
        }
        assert!(start.elapsed().as_secs() < 5, "{:?}: {}", start.elapsed(), &file[..20]);
    }
}

#[test]
fn a_record_without_a_length_is_cut_after_64_mib() {
    let mut file = vec![b'a'; MAX_SEARCHED + 100];
    file[..9].copy_from_slice(b"WARC/1.0\n");
    file[9] = b'\n';
    let lens: Vec<usize> = cut(&file).into_iter().map(<[u8]>::len).collect();
    assert_eq!(lens, [MAX_SEARCHED, 100]);
}
