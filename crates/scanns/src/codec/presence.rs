//! Encodes which of up to 65,536 consecutive documents have a value, and how many documents with a value are
//! before each of them.
//!
//! ```text
//! every   = nothing: all have one
//! list    = document u16 …             of few
//! split   = ends u16 … | low u8 …      documents / 256, rounded up; one for each that has one
//! bits    = ranks u16 … | word u64 …   documents / 512, and / 64, rounded up
//! ```
//!
//! Documents are numbered from the first one of the block. In a `split`, documents are grouped by their upper
//! byte: `ends` has for each upper byte the number of documents up to the last one of its group, and `low`
//! has the lower bytes. In `bits`, bit `i % 64` of word `i / 64` is set if document `i` has a value; `ranks`
//! has, for every 512 documents, the number of documents with a value before them. The writer chooses the
//! shortest encoding.

/// Maximum number of documents in a block.
pub const MOST_DOCUMENTS: usize = 1 << 16;

/// The code of blocks in which every document has a value.
pub const EVERY: u8 = 0;
const LIST: u8 = 1;
const SPLIT: u8 = 2;
const BITS: u8 = 3;

/// Encodes which of `documents` documents have a value, where `present` lists them in ascending order.
/// Appends the bytes and returns the code of the encoding.
pub fn put_presence(present: &[u16], documents: usize, out: &mut Vec<u8>) -> u8 {
    let list = 2 * present.len();
    let split = 2 * documents.div_ceil(256) + present.len();
    let bits = 2 * documents.div_ceil(512) + 8 * documents.div_ceil(64);
    if present.len() == documents {
        return EVERY;
    }
    if list <= split.min(bits) {
        present.iter().for_each(|doc| out.extend_from_slice(&doc.to_le_bytes()));
        return LIST;
    }
    if split < bits {
        let mut at = 0;
        for upper in 0..documents.div_ceil(256) {
            let more = present.get(at..).unwrap_or_default();
            at += more.partition_point(|doc| usize::from(doc >> 8) <= upper);
            out.extend_from_slice(&short(at).to_le_bytes());
        }
        out.extend(present.iter().map(|doc| doc.to_le_bytes()[0]));
        return SPLIT;
    }
    let mut words = vec![0u64; documents.div_ceil(64)];
    for doc in present {
        if let Some(word) = words.get_mut(usize::from(doc / 64)) {
            *word |= 1 << (doc % 64);
        }
    }
    let mut before = 0;
    for group in words.chunks(8) {
        out.extend_from_slice(&short(before).to_le_bytes());
        before += group.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    }
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    BITS
}

/// Converts a count that is less than the number of all documents.
fn short(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// The documents of a block that have a value.
#[derive(Clone, Copy, Debug)]
pub struct Presence<'a> {
    documents: usize,
    present: usize,
    how: How<'a>,
}

#[derive(Clone, Copy, Debug)]
enum How<'a> {
    Every,
    List(&'a [[u8; 2]]),
    Split { ends: &'a [[u8; 2]], low: &'a [u8] },
    Bits { ranks: &'a [[u8; 2]], words: &'a [[u8; 8]] },
}

fn number(bytes: &[u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(*bytes))
}

impl<'a> Presence<'a> {
    /// Reads an encoding that [`put_presence`] wrote to the front of `bytes`, for `documents` documents of
    /// which `present` have a value. Returns it and its length in bytes; `None` if the bytes are invalid.
    pub fn read(bytes: &'a [u8], code: u8, documents: usize, present: usize) -> Option<(Self, usize)> {
        if documents > MOST_DOCUMENTS || present > documents {
            return None;
        }
        let shorts = |count: usize| bytes.get(..2 * count).map(|bytes| bytes.as_chunks().0);
        let (how, len) = match code {
            EVERY if present == documents => (How::Every, 0),
            LIST => (How::List(shorts(present)?), 2 * present),
            SPLIT => {
                let ends = shorts(documents.div_ceil(256))?;
                let at = 2 * ends.len();
                (How::Split { ends, low: bytes.get(at..at + present)? }, at + present)
            }
            BITS => {
                let ranks = shorts(documents.div_ceil(512))?;
                let at = 2 * ranks.len();
                let len = 8 * documents.div_ceil(64);
                (How::Bits { ranks, words: bytes.get(at..at + len)?.as_chunks().0 }, at + len)
            }
            _ => return None,
        };
        Some((Presence { documents, present, how }, len))
    }

    /// Returns the number of documents that have a value.
    pub fn count(&self) -> usize {
        self.present
    }

    /// Returns true if all documents have a value.
    pub fn is_every(&self) -> bool {
        matches!(self.how, How::Every)
    }

    /// Returns the number of documents before `doc` that have a value; `None` if `doc` has none.
    #[inline]
    pub fn rank(&self, doc: usize) -> Option<usize> {
        if doc >= self.documents {
            return None;
        }
        let rank = match self.how {
            How::Every => doc,
            How::List(list) => list.binary_search_by_key(&doc, number).ok()?,
            How::Split { ends, low } => {
                let upper = doc >> 8;
                let start = upper.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, number);
                let bucket = low.get(start..number(ends.get(upper)?))?;
                start + bucket.binary_search(&doc.to_le_bytes()[0]).ok()?
            }
            How::Bits { ranks, words } => {
                let word = doc / 64;
                let found = u64::from_le_bytes(*words.get(word)?);
                let bit = 1u64 << (doc % 64);
                if found & bit == 0 {
                    return None;
                }
                let before = words.get(word / 8 * 8..word)?;
                let before: u32 = before.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
                number(ranks.get(word / 8)?) + before as usize + (found & (bit - 1)).count_ones() as usize
            }
        };
        (rank < self.present).then_some(rank)
    }

    /// Fills `out` with the documents that have a value, in ascending order. Returns `None` if their number
    /// is wrong.
    pub fn list(&self, out: &mut Vec<u16>) -> Option<()> {
        out.clear();
        match self.how {
            How::Every => out.extend((0..self.documents).filter_map(|doc| u16::try_from(doc).ok())),
            How::List(list) => out.extend(list.iter().map(|doc| u16::from_le_bytes(*doc))),
            How::Split { ends, low } => {
                let mut at = 0;
                for (upper, end) in ends.iter().enumerate() {
                    let end = number(end);
                    let upper = u16::try_from(upper << 8).ok()?;
                    out.extend(low.get(at..end)?.iter().map(|&low| upper | u16::from(low)));
                    at = end;
                }
            }
            How::Bits { words, .. } => {
                for (first, word) in (0..).step_by(64).zip(words) {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        out.push(u16::try_from(first + word.trailing_zeros()).ok()?);
                        word &= word - 1;
                    }
                }
            }
        }
        let ascending = self.is_every() || out.is_sorted_by(|a, b| a < b);
        let inside = out.last().is_none_or(|&last| usize::from(last) < self.documents);
        (out.len() == self.present && ascending && inside).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(present: &[u16], documents: usize, label: &str) -> u8 {
        let mut bytes = Vec::new();
        let code = put_presence(present, documents, &mut bytes);
        let len = bytes.len();
        bytes.extend([0xa5; 9]);
        let (presence, read) = Presence::read(&bytes, code, documents, present.len()).unwrap();
        assert_eq!((read, presence.count()), (len, present.len()), "{label}");
        let mut found = Vec::new();
        presence.list(&mut found).unwrap();
        assert_eq!(found, present, "{label}");
        let mut rank = 0;
        for doc in 0..documents {
            let is_there = present.get(rank).is_some_and(|&next| usize::from(next) == doc);
            assert_eq!(presence.rank(doc), is_there.then_some(rank), "{label} {doc}");
            rank += usize::from(is_there);
        }
        assert_eq!(presence.rank(documents), None);
        code
    }

    #[test]
    fn documents_are_found_and_counted_however_they_are_written() {
        let seed = 0x5eed_0602;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut codes = [0; 4];
        for documents in [1, 2, 63, 64, 255, 256, 257, 512, 513, 4_096, 65_535, 65_536] {
            for share in [0, 1, 2, 10, 300, 3_000, 9_000, 9_990, 10_000] {
                let all = (0..documents).filter(|_| random.u32(..10_000) < share);
                let present: Vec<u16> = all.map(|doc| u16::try_from(doc).unwrap()).collect();
                let code = check(&present, documents, &format!("seed {seed:x} {documents} {share}"));
                codes[usize::from(code)] += 1;
            }
        }
        assert!(codes.iter().all(|&times| times > 0), "{codes:?}");
    }

    #[test]
    fn any_bytes_do_no_harm() {
        let seed = 0x5eed_0603;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..4_000 {
            let bytes: Vec<u8> = (0..random.usize(..2_000)).map(|_| random.u8(..)).collect();
            let documents = random.usize(..70_000);
            let present = random.usize(..=documents.min(600));
            if let Some((presence, len)) = Presence::read(&bytes, random.u8(..5), documents, present) {
                assert!(len <= bytes.len(), "seed {seed:x}");
                let mut found = Vec::new();
                if presence.list(&mut found).is_some() {
                    assert_eq!(found.len(), present, "seed {seed:x}");
                }
                for _ in 0..50 {
                    let rank = presence.rank(random.usize(..70_000));
                    assert!(rank.is_none_or(|rank| rank < present), "seed {seed:x}");
                }
            }
        }
    }
}
