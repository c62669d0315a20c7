//! Whether a record that does not fit into memory ends where it claims to end.
//!
//! Only its beginning is kept, and its other bytes are seen once. If the next record does not follow at the
//! claimed end, the length is wrong, as [`WarcEnds`](super::WarcEnds) decides it for other records. Then the
//! records in the beginning can still be read, and those behind it are counted: they are lost.

use super::claim::{ClaimLook, WebArchiveFormat, look_behind_claim};
use super::lines::find_version;

/// What is known of the claimed end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongClaimLook {
    /// It has not come yet, or more bytes behind it are needed.
    Continues,
    /// The record ends there.
    Right,
    /// The record ended earlier.
    Wrong,
}

/// The claimed end of a long record.
#[derive(Clone, Debug)]
pub struct LongClaim {
    format: WebArchiveFormat,
    /// Bytes before the claimed end.
    left: u64,
    /// The last bytes before it, which may begin a version line.
    recent: Vec<u8>,
    /// The version lines of WARC that have come before it.
    versions: u64,
    /// The bytes behind it.
    behind: Vec<u8>,
}

impl LongClaim {
    /// Waits for the end of a record, `left` bytes behind its beginning, which ends with `last`.
    pub(super) fn new(format: WebArchiveFormat, last: &[u8], left: u64) -> Self {
        let recent = last.get(last.len().saturating_sub(1)..).unwrap_or_default().to_vec();
        LongClaim { format, left, recent, versions: 0, behind: Vec::new() }
    }

    /// Takes the next bytes of the file. If `is_end`, nothing follows.
    pub fn take(&mut self, bytes: &[u8], is_end: bool) -> LongClaimLook {
        let inside = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let (inside, behind) = bytes.split_at_checked(inside).unwrap_or((bytes, b""));
        self.left -= inside.len() as u64;
        self.count_versions(inside);
        self.behind.extend_from_slice(behind);
        if self.left > 0 {
            return if is_end { LongClaimLook::Wrong } else { LongClaimLook::Continues };
        }
        let end = match look_behind_claim(&self.behind, self.format, is_end) {
            ClaimLook::Ends(end) => end,
            ClaimLook::Wrong => return LongClaimLook::Wrong,
            ClaimLook::NeedsMore if is_end => self.behind.len(),
            ClaimLook::NeedsMore => return LongClaimLook::Continues,
        };
        self.behind.drain(..end);
        LongClaimLook::Right
    }

    /// The bytes behind the record that were taken.
    pub fn behind(&self) -> &[u8] {
        &self.behind
    }

    /// The number of records that began before the claimed end, behind the beginning of the record.
    pub fn lost(&self) -> u64 {
        self.versions
    }

    /// Counts the version lines that begin in `bytes` or shortly before them.
    fn count_versions(&mut self, bytes: &[u8]) {
        if self.format != WebArchiveFormat::Warc {
            return;
        }
        self.recent.extend_from_slice(bytes);
        let mut from = 1;
        let place = loop {
            match find_version(&self.recent, from, false) {
                Ok(place) => {
                    self.versions += 1;
                    from = place + 1;
                }
                Err(place) => break place,
            }
        };
        // Whether a line begins at a place follows from the byte before it.
        self.recent.drain(..place.saturating_sub(1).min(self.recent.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "WARC/1.0\r\nContent-Length: 1\r\n\r\nx\r\n\r\n";

    /// The look at the end, the records that are lost, and the bytes behind, if the bytes come in pieces.
    fn look(bytes: &str, left: usize, piece: usize) -> (LongClaimLook, u64, String) {
        let mut claim = LongClaim::new(WebArchiveFormat::Warc, b"x", left as u64);
        let mut pieces = bytes.as_bytes().chunks(piece).peekable();
        while let Some(bytes) = pieces.next() {
            let look = claim.take(bytes, pieces.peek().is_none());
            if look != LongClaimLook::Continues {
                let mut behind = claim.behind().to_vec();
                behind.extend(pieces.flatten());
                return (look, claim.lost(), String::from_utf8(behind).unwrap());
            }
        }
        panic!("nothing is known at the end");
    }

    #[test]
    fn the_claim_is_right_if_a_record_or_the_end_follows() {
        let inner = format!("{}WARC/1.0 in a line\n\nWARC/x\n{SMALL}", "line\n".repeat(30));
        let (rest, len) = (SMALL.repeat(3), inner.len());
        for piece in [1, 7, 64, 1_000] {
            let text = format!("{inner}\r\n\r\n{rest}");
            assert_eq!(look(&text, len, piece), (LongClaimLook::Right, 1, rest.clone()), "{piece}");
            let text = format!("{inner}\r\n\r\n");
            assert_eq!(look(&text, len, piece), (LongClaimLook::Right, 1, String::new()), "{piece}");
            assert_eq!(look(&inner, len, piece), (LongClaimLook::Right, 1, String::new()), "{piece}");
        }
    }

    #[test]
    fn the_claim_is_wrong_otherwise_and_the_records_before_it_are_counted() {
        let text = format!("{}\r\n\r\n{}", "line\n".repeat(30), SMALL.repeat(5));
        let third = text.find("WARC/").unwrap() + 2 * SMALL.len() + 20;
        for piece in [1, 7, 64, 1_000] {
            let behind = text[third..].to_owned();
            assert_eq!(look(&text, third, piece), (LongClaimLook::Wrong, 3, behind), "{piece}");
            let beyond = (LongClaimLook::Wrong, 5, String::new());
            assert_eq!(look(&text, text.len() + 1, piece), beyond, "{piece}");
        }
    }
}
