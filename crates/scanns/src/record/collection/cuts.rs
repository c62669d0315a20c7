//! Where a file of a collection can be cut, so that several threads can read it.

use std::sync::Arc;

use super::ends::CollectionEnds;
use super::format::CollectionFormat;
use crate::read::{Cut, FindCuts, PieceStart};
use crate::record::warc::{SkipLook, WarcSkip};

/// The maximum size of a record that is kept to find its end. Longer ones are skipped if their end can be
/// found without their bytes, and otherwise the rest of the file is not cut.
const MOST_KEPT: usize = 4 << 20;

/// Finds cuts between the records of one file.
#[derive(Clone, Debug)]
pub struct CollectionCuts {
    ends: CollectionEnds,
    /// The bytes from the current record on.
    carry: Vec<u8>,
    /// The current record, if it is skipped.
    long: Option<LongRecord>,
    /// True if these cuts are doubtful themselves; they skip no record.
    is_doubtful: bool,
    /// The numbers of the records before the current one.
    records: u64,
    /// True if the rest of the file is not cut.
    is_whole: bool,
}

/// A record that is skipped.
#[derive(Clone, Debug)]
struct LongRecord {
    skip: WarcSkip,
    /// The cuts from the first place on where the record may have ended.
    doubtful: Option<Box<CollectionCuts>>,
}

impl CollectionCuts {
    /// Starts a file.
    pub fn new(format: CollectionFormat) -> Self {
        CollectionCuts::of(CollectionEnds::new(format))
    }

    fn of(ends: CollectionEnds) -> Self {
        CollectionCuts {
            ends,
            carry: Vec::new(),
            long: None,
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
        match self.ends.skip(rest).filter(|_| !self.is_doubtful) {
            Some(skip) => {
                self.long = Some(LongRecord { skip, doubtful: None });
                self.ends.start_record();
            }
            None => self.is_whole = true,
        }
    }

    /// Stops to cut the file.
    fn stop<T>(&mut self) -> Option<T> {
        self.is_whole = true;
        None
    }

    /// Skips bytes of a long record. Returns the bytes behind it if it ends.
    fn skip(&mut self, mut long: LongRecord, bytes: &[u8]) -> Option<Vec<u8>> {
        match long.skip.take(bytes) {
            SkipLook::Ends(rest) => {
                self.records += 1;
                return Some(rest.to_vec());
            }
            SkipLook::Ended => {
                let Some(mut cuts) = long.doubtful else { return self.stop() };
                cuts.take(bytes);
                let (records, is_doubtful) = (self.records + 1 + cuts.records, self.is_doubtful);
                *self = CollectionCuts { records, is_doubtful, ..*cuts };
                return None;
            }
            SkipLook::Lost => return self.stop(),
            SkipLook::MayEnd(rest) => {
                let cuts = CollectionCuts { is_doubtful: true, ..CollectionCuts::of(self.ends.restarted()) };
                long.doubtful.insert(Box::new(cuts)).take(rest);
            }
            SkipLook::Continues => {
                if let Some(cuts) = &mut long.doubtful {
                    cuts.take(bytes);
                }
            }
        }
        self.long = Some(long);
        None
    }
}

impl FindCuts for CollectionCuts {
    fn of_next_text(&self) -> Box<dyn FindCuts> {
        Box::new(CollectionCuts::of(self.ends.restarted()))
    }

    fn of_rest(&self, start: &PieceStart) -> Box<dyn FindCuts> {
        Box::new(CollectionCuts { records: start.records, ..CollectionCuts::of(self.ends.restarted()) })
    }

    fn take(&mut self, bytes: &[u8]) -> Option<Cut> {
        if self.is_whole {
            return None;
        }
        let text = match self.long.take() {
            Some(long) => self.skip(long, bytes)?,
            None => {
                let mut text = std::mem::take(&mut self.carry);
                text.extend_from_slice(bytes);
                text
            }
        };
        let (earlier, skipped) =
            (text.len().saturating_sub(bytes.len()), bytes.len().saturating_sub(text.len()));
        let (mut start, mut cut) = (0, None);
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            let Some(end) = self.ends.next_end(rest, false) else { break };
            start += end;
            self.records += self.ends.numbers();
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
                CollectionFormat::Access | CollectionFormat::Syslog | CollectionFormat::Journal => {
                    words.replace('\n', " ") + "\n"
                }
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
    fn a_long_record_is_skipped_even_if_its_length_is_wrong() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let long = "x\n".repeat(MOST_KEPT);
        let inner = long.clone() + "WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n" + &long;
        let small = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 1\r\n\r\nx\r\n\r\n".to_owned();
        let with_tail = long.clone() + &small.repeat(5);
        for (block, claimed, is_cut) in [
            (&long, long.len(), true),
            // Too short.
            (&long, long.len() - 9, true),
            (&long, 7, true),
            // Too long: up to a place in the third record, the end of the second one, and the file's end.
            (&long, long.len() + 4 + 2 * small.len() + 5, true),
            (&long, long.len() + small.len(), true),
            (&long, long.len() * 10, false),
            // With records inside: if its length is wrong, it ends before them.
            (&with_tail, with_tail.len(), true),
            (&with_tail, with_tail.len() - 5, true),
            (&inner, inner.len(), true),
            (&inner, inner.len() - 9, false),
        ] {
            let head = format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {claimed}\r\n\r\n");
            let text = [&head, block, "\r\n\r\n", &small.repeat(9_000)].concat();
            // Several pieces follow the one in which the end of the long record is found, which has no cut.
            let most = [1_000, 10_000, 100_000][random.usize(..3)];
            let cuts = cuts_of(&mut random, CollectionFormat::Warc, text.as_bytes(), most);
            let ends = all_ends(CollectionFormat::Warc, text.as_bytes());
            let what = format!("{claimed} claimed of {}, {} cuts", block.len(), cuts.len());
            for (at, records) in &cuts {
                assert_eq!(ends.binary_search(at).map(|place| place as u64 + 1), Ok(*records), "{what}");
            }
            assert_eq!(!cuts.is_empty(), is_cut, "{what}");
            assert!(cuts.last().is_none_or(|(at, _)| text.len() - at < most), "{what}");
        }
    }

    #[test]
    fn a_wrong_length_of_a_long_record_is_a_remark() {
        use crate::record::collection::{CollectionReader, RecordNote};
        use crate::record::made_record::MadeRecord;

        let block = "x".repeat(MOST_KEPT * 2);
        for (claimed, is_wrong) in [(0, false), (-9, true), (9, true)] {
            let claimed = i64::try_from(block.len()).unwrap() + claimed;
            let text = format!(
                "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {claimed}\r\n\r\n{block}\r\n\r\n\
                 WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
            );
            let end = all_ends(CollectionFormat::Warc, text.as_bytes())[0];
            let (mut made, mut notes) = (MadeRecord::default(), Vec::new());
            let mut reader = CollectionReader::new(CollectionFormat::Warc, 0);
            assert_eq!(reader.read(&text.as_bytes()[..end], &mut made, &mut notes), Ok(true));
            assert_eq!(notes.contains(&RecordNote::Remark("wrong Content-Length")), is_wrong, "{claimed}");
        }
    }

    #[test]
    fn a_log_is_cut_between_entries_and_its_lines_keep_their_numbers() {
        let mut random = Rng::with_seed(7);
        let entry = |random: &mut Rng| "entry\n".to_owned() + &"\tat a\n".repeat(random.usize(..9) / 4 * 3);
        let text: String = (0..9_000).map(|_| entry(&mut random)).collect();
        let cuts = cuts_of(&mut random, CollectionFormat::Syslog, text.as_bytes(), 3_000);
        assert!(cuts.len() > 20, "{} cuts", cuts.len());
        for (at, records) in cuts {
            assert!(text[at..].is_empty() || text[at..].starts_with("entry"), "{at}");
            assert_eq!(text[..at].lines().count() as u64, records, "{at}");
        }
    }

    #[test]
    fn a_long_record_of_another_format_ends_the_cuts() {
        let long = "x".repeat(MOST_KEPT * 2);
        let text = format!("<DOC><DOCNO>1</DOCNO></DOC><DOC><DOCNO>2</DOCNO>{long}</DOC>\n<DOC></DOC>\n");
        let cuts = cuts_of(&mut Rng::with_seed(1), CollectionFormat::Trec, text.as_bytes(), 1 << 20);
        assert_eq!(cuts.last().map(|(_, records)| *records), Some(1), "{cuts:?}");
    }
}
