//! Random repetitions of marks must take time as for a linear pass, in all readers.

use crate::record::corpus::mbox::{MboxEnds, MboxReader};
use crate::record::corpus::mediawiki::{MediaWikiEnds, MediaWikiReader};
use crate::record::corpus::smart::{SmartEnds, SmartReader};
use crate::record::corpus::trec::{TrecEnds, TrecReader};
use crate::record::made_record::MadeRecord;
use crate::record::test_ends::{ends_in_pieces, seed, split_at_ends};
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

fn read_with_all(bytes: &[u8], piece: usize) {
    let mut made = MadeRecord::default();
    let (mut trec, mut smart) = (TrecReader::default(), SmartReader::default());
    let (mut mbox, mut wiki) = (MboxReader::default(), MediaWikiReader::default());
    for record in cut(bytes, piece, TrecEnds::next_end) {
        let _ = trec.read(record, &mut made);
    }
    for record in cut(bytes, piece, SmartEnds::next_end) {
        let _ = smart.read(record, &mut made);
    }
    for record in cut(bytes, piece, MboxEnds::next_end) {
        let _ = mbox.read(record, &mut made);
    }
    for record in cut(bytes, piece, MediaWikiEnds::next_end) {
        let _ = wiki.read(record, &mut made);
    }
}

/// The records of bytes that come in pieces of one length.
fn cut<State: Default>(
    bytes: &[u8],
    piece: usize,
    next_end: fn(&mut State, &[u8], bool) -> Option<usize>,
) -> Vec<&[u8]> {
    let mut state = State::default();
    let ends = ends_in_pieces(bytes, &mut || piece, &mut |bytes, is_end| next_end(&mut state, bytes, is_end));
    split_at_ends(bytes, &ends)
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
