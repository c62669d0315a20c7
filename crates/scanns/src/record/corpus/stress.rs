//! Random repetitions of marks must take time as for a linear pass, in all readers.

use crate::record::made_record::MadeRecord;
use crate::record::corpus::mbox;
use crate::record::corpus::mediawiki;
use crate::record::corpus::smart;
use crate::record::corpus::test_support::seed;
use crate::record::corpus::trec;
use std::time::{Duration, Instant};

const SIZE: usize = 1 << 18;
const MARKS: [&str; 48] = [
    "<DOC>",
    "\n<DOC>",
    "</DOC>",
    "<TEXT>",
    "</TITLE>",
    "<TITLE>",
    "<!--",
    "&amp;",
    "&",
    "<",
    ">",
    "\n",
    " ",
    "a",
    "From ",
    "\n\nFrom ",
    ">From ",
    "=?",
    "=?a?q?b?=",
    "\n--a",
    "--a\n",
    "=",
    "=3D",
    "\n.I 1",
    "\n.T\n",
    "\n.A",
    "{{",
    "}}",
    "{{{",
    "[[",
    "]]",
    "[[File:",
    "|",
    "||",
    "\n|",
    "{|\n",
    "|}",
    "[http://",
    "]",
    "''",
    "<ref>",
    "</ref>",
    "<nowiki>",
    "&lt;ref>",
    "__",
    "\n=",
    "=\n",
    "</page>",
];
const STARTS: [&str; 7] = [
    "",
    "<DOC><DOCNO>1</DOCNO>",
    "<DOC><DOCNO>1</DOCNO><DOCHDR>",
    "From x\nSubject: ",
    "Content-Type: multipart/mixed; boundary=a\n\n",
    ".I 1\n.A\n",
    "<page><title>a</title><text>",
];

/// All ends, where the bytes come in pieces.
fn ends(bytes: &[u8], piece: usize, next_end: &mut dyn FnMut(&[u8], bool) -> Option<usize>) -> Vec<usize> {
    let (mut start, mut seen, mut found) = (0, piece.min(bytes.len()), Vec::new());
    while start < bytes.len() {
        match next_end(&bytes[start..seen], seen == bytes.len()) {
            Some(end) => {
                start += end;
                found.push(start);
            }
            None => seen = bytes.len().min(seen + piece),
        }
    }
    found
}

fn read_with_all(bytes: &[u8], piece: usize) {
    let mut made = MadeRecord::default();
    let mut enders = (
        trec::TrecEnds::new(),
        smart::SmartEnds::new(),
        mbox::MboxEnds::new(),
        mediawiki::MediaWikiEnds::new(),
    );
    let found = [
        ends(bytes, piece, &mut |bytes, is_end| enders.0.next_end(bytes, is_end)),
        ends(bytes, piece, &mut |bytes, is_end| enders.1.next_end(bytes, is_end)),
        ends(bytes, piece, &mut |bytes, is_end| enders.2.next_end(bytes, is_end)),
        ends(bytes, piece, &mut |bytes, is_end| enders.3.next_end(bytes, is_end)),
    ];
    let mut readers = (
        trec::TrecReader::default(),
        smart::SmartReader::default(),
        mbox::MboxReader::default(),
        mediawiki::MediaWikiReader::default(),
    );
    for (number, ends) in found.iter().enumerate() {
        let starts = [0].into_iter().chain(ends.iter().copied());
        for (start, &end) in starts.zip(ends) {
            let record = &bytes[start..end];
            let _ = match number {
                0 => readers.0.read(record, &mut made).is_ok(),
                1 => readers.1.read(record, &mut made).is_ok(),
                2 => readers.2.read(record, &mut made).is_ok(),
                _ => readers.3.read(record, &mut made).is_ok(),
            };
        }
    }
}

#[test]
fn random_repetitions_of_marks_take_linear_time() {
    let mut random = fastrand::Rng::with_seed(seed());
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(60);
    for _ in 0..rounds {
        let mut text = random.choice(STARTS).unwrap_or_default().to_owned();
        let marks: Vec<String> = (0..random.usize(1..3))
            .map(|_| (0..random.usize(1..4)).filter_map(|_| random.choice(MARKS)).collect())
            .collect();
        for mark in &marks {
            text.push_str(&mark.repeat(SIZE / marks.len() / mark.len()));
        }
        let start = Instant::now();
        read_with_all(text.as_bytes(), 4_096);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(2), "{took:?} for {:?} {marks:?}", &text[..40]);
    }
}
