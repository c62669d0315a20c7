//! Where a file of a collection can be cut, so that several threads can read it.

use std::sync::Arc;

use super::ends::CollectionEnds;
use super::format::CollectionFormat;
use crate::read::{Cut, FindCuts, PieceStart};

/// The maximum size of a record that is kept to find its end. Longer ones are skipped if they say how long
/// they are, and otherwise the rest of the file is not cut.
const MOST_KEPT: usize = 4 << 20;

/// Finds cuts between the records of one file.
#[derive(Clone, Debug)]
pub struct CollectionCuts {
    ends: CollectionEnds,
    /// The bytes from the current record on.
    carry: Vec<u8>,
    /// Bytes of a long record that are still to come.
    skipped: u64,
    /// True for a record that comes after a skipped one, whose length may have been wrong.
    is_doubtful: bool,
    /// Records before the current one.
    records: u64,
    /// True if the rest of the file is not cut.
    is_whole: bool,
}

impl CollectionCuts {
    /// Starts a file.
    pub fn new(format: CollectionFormat) -> Self {
        CollectionCuts {
            ends: CollectionEnds::new(format),
            carry: Vec::new(),
            skipped: 0,
            is_doubtful: false,
            records: 0,
            is_whole: false,
        }
    }

    /// Keeps the bytes from the current record on, or skips the record.
    fn keep(&mut self, rest: &[u8]) {
        if rest.len() <= MOST_KEPT {
            self.carry.clear();
            self.carry.extend_from_slice(rest);
            return;
        }
        self.carry = Vec::new();
        match self.ends.known_len().and_then(|len| len.checked_sub(rest.len() as u64)) {
            Some(left) => {
                self.skipped = left;
                self.is_doubtful = true;
                self.records += 1;
                self.ends.start_record();
            }
            None => self.is_whole = true,
        }
    }
}

impl FindCuts for CollectionCuts {
    fn of_next_text(&self) -> Box<dyn FindCuts> {
        Box::new(CollectionCuts {
            ends: self.ends.restarted(),
            carry: Vec::new(),
            skipped: 0,
            is_doubtful: false,
            records: 0,
            is_whole: false,
        })
    }

    fn take(&mut self, bytes: &[u8]) -> Option<Cut> {
        if self.is_whole {
            return None;
        }
        let skipped = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(bytes.len());
        self.skipped -= skipped as u64;
        let new = bytes.get(skipped..).unwrap_or_default();
        let mut text = std::mem::take(&mut self.carry);
        let earlier = text.len();
        text.extend_from_slice(new);
        let (mut start, mut cut) = (0, None);
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            if self.is_doubtful {
                let Some(is_record) = CollectionEnds::is_begun(rest) else { break };
                self.is_doubtful = false;
                if !is_record {
                    self.is_whole = true;
                    return None;
                }
            }
            let Some(end) = self.ends.next_end(rest, false) else { break };
            start += end;
            self.records += 1;
            if let Some(at) = start.checked_sub(earlier).filter(|&at| at > 0) {
                let head = Arc::default();
                let start = PieceStart { head, records: self.records, lines: 0, credit: 0 };
                cut = Some(Cut { at: skipped + at, start });
            }
        }
        let rest = text.get(start..).unwrap_or_default();
        if start == 0 && rest.len() <= MOST_KEPT {
            self.carry = text;
        } else {
            self.keep(rest);
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::record::test_ends::ends_at_once;

    /// A text with records of odd sizes, some of them with flaws.
    fn random_text(random: &mut Rng, format: CollectionFormat, len: usize) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < len {
            let most = if random.u8(..) == 0 { 90_000 } else { 400 };
            let words = "word <b>\n".repeat(random.usize(..most) / 9);
            let flawed = random.u8(..20) == 0;
            let record = match format {
                CollectionFormat::Warc => {
                    let claimed = words.len() + if flawed { random.usize(..50) } else { 0 };
                    format!("WARC/1.0\r\nContent-Length: {claimed}\r\n\r\n{words}\r\n\r\n")
                }
                CollectionFormat::Trec if flawed => format!("<DOC><DOCNO>1</DOCNO>{words}"),
                CollectionFormat::Trec => format!("<DOC>\n<DOCNO>1</DOCNO>\n{words}</DOC>\n"),
                CollectionFormat::Smart => format!(".I 1\n.W\n{words}\n"),
                CollectionFormat::Mbox => {
                    format!("From ada Sat Jan  3 01:05:34 1996\nSubject: x\n\n{words}\n\n")
                }
                CollectionFormat::MediaWiki => format!("<page>\n<title>x</title>{words}</page>\n"),
            };
            text.extend_from_slice(record.as_bytes());
        }
        text
    }

    /// The ends of all records.
    fn all_ends(format: CollectionFormat, text: &[u8]) -> Vec<usize> {
        let mut ends = CollectionEnds::new(format);
        ends_at_once(text, &mut |bytes, is_end| ends.next_end(bytes, is_end))
    }

    /// The cuts of a text that comes in pieces of random lengths.
    fn cuts_of(random: &mut Rng, format: CollectionFormat, text: &[u8], most: usize) -> Vec<(usize, u64)> {
        let mut finder = CollectionCuts::new(format).of_next_text();
        let (mut at, mut found) = (0, Vec::new());
        while at < text.len() {
            let len = random.usize(1..=most).min(text.len() - at);
            if let Some(cut) = finder.take(&text[at..at + len]) {
                assert!((1..=len).contains(&cut.at));
                found.push((at + cut.at, cut.start.records));
            }
            at += len;
        }
        found
    }

    #[test]
    fn parts_have_the_records_of_the_whole_text() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let formats = [
            CollectionFormat::Warc,
            CollectionFormat::Trec,
            CollectionFormat::Smart,
            CollectionFormat::Mbox,
            CollectionFormat::MediaWiki,
        ];
        let mut count = 0;
        for round in 0..60 {
            let format = formats[round % formats.len()];
            let len = random.usize(10..200_000);
            let text = random_text(&mut random, format, len);
            let most = [50, 3000, 100_000][random.usize(..3)].max(len / 300);
            let (ends, cuts) = (all_ends(format, &text), cuts_of(&mut random, format, &text, most));
            let mut from = 0;
            for &(at, records) in cuts.iter().chain([&(text.len(), ends.len() as u64)]) {
                let place = ends.partition_point(|&end| end < at);
                let what = format!("seed {seed} {format:?} round {round} at {at}");
                assert_eq!((ends.get(place), records), (Some(&at), place as u64 + 1), "{what}");
                let part: Vec<usize> =
                    all_ends(format, &text[from..at]).into_iter().map(|end| end + from).collect();
                let first = ends.partition_point(|&end| end <= from);
                assert_eq!(part, ends[first..=place], "{what}");
                from = at;
            }
            count += cuts.len();
        }
        assert!(count > 300, "seed {seed}: only {count} cuts");
    }

    #[test]
    fn a_record_that_says_its_length_is_skipped_and_any_other_long_one_ends_the_cuts() {
        let long = "x".repeat(MOST_KEPT * 2);
        let small = "WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";
        for (claimed, expected) in [(long.len(), 3), (long.len() - 9, 0)] {
            let text =
                format!("WARC/1.0\r\nContent-Length: {claimed}\r\n\r\n{long}\r\n\r\n{small}{small}{small}");
            let cuts = cuts_of(&mut Rng::with_seed(1), CollectionFormat::Warc, text.as_bytes(), 1 << 20);
            let ends = all_ends(CollectionFormat::Warc, text.as_bytes());
            assert_eq!(cuts.last().map_or(0, |(_, records)| *records), expected, "{cuts:?}");
            assert!(cuts.iter().all(|(at, _)| ends.contains(at)), "{cuts:?} {ends:?}");
        }
        let text = format!("<DOC><DOCNO>1</DOCNO></DOC><DOC><DOCNO>2</DOCNO>{long}</DOC>\n<DOC></DOC>\n");
        let cuts = cuts_of(&mut Rng::with_seed(1), CollectionFormat::Trec, text.as_bytes(), 1 << 20);
        assert_eq!(cuts.last().map(|(_, records)| *records), Some(1), "{cuts:?}");
    }
}
