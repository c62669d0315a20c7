//! Finds the end of a record that is too long to be kept.
//!
//! The rule is that of [`WarcEnds`](super::WarcEnds): the record ends where it claims to end if the next
//! record follows there, and otherwise before the first version line in its block. Its bytes are seen only
//! once, though. So the first version line is reported when it comes, as a place where the record may have
//! ended; whether it did is known once the claimed end is reached.

use super::claim::{ClaimLook, MAX_SEARCHED, WebArchiveFormat, look_behind_claim};
use super::lines::find_version;

/// The record that is skipped: a part of its bytes, and what is known of its end.
#[derive(Clone, Debug)]
pub struct WarcSkip {
    /// The bytes that are kept.
    window: Vec<u8>,
    /// The number of bytes of the record before them.
    before: usize,
    /// The place in the window from which a version line is searched.
    searched: usize,
    /// True if a version line was found.
    has_found: bool,
    /// The length that the record claims, without line ends after it; `None` if it is wrong.
    claimed: Option<usize>,
}

/// What is known of the end of a record.
#[derive(Debug, PartialEq, Eq)]
pub enum SkipLook<'a> {
    /// The record continues.
    Continues,
    /// The record may have ended before these bytes.
    MayEnd(&'a [u8]),
    /// The record ended before these bytes.
    Ends(&'a [u8]),
    /// The record ended before the bytes with [`SkipLook::MayEnd`].
    Ended,
    /// The end is not found.
    Lost,
}

impl WarcSkip {
    /// Skips a record that begins with `start`, whose block begins before `searched`.
    pub(super) fn new(start: &[u8], searched: usize, claimed: Option<usize>) -> Self {
        WarcSkip { window: start.to_vec(), before: 0, searched, has_found: false, claimed }
    }

    /// Takes the next bytes of the file.
    pub fn take(&mut self, bytes: &[u8]) -> SkipLook<'_> {
        self.forget();
        self.window.extend_from_slice(bytes);
        let found = self.search();
        match self.look_behind_claim() {
            ClaimLook::NeedsMore => match found {
                Some(place) => SkipLook::MayEnd(self.from(place)),
                None => SkipLook::Continues,
            },
            ClaimLook::Ends(place) => SkipLook::Ends(self.from(place)),
            ClaimLook::Wrong => {
                self.claimed = None;
                match found {
                    Some(place) => SkipLook::Ends(self.from(place)),
                    None if self.has_found => SkipLook::Ended,
                    None if self.before + self.searched >= MAX_SEARCHED => SkipLook::Lost,
                    None => SkipLook::Continues,
                }
            }
        }
    }

    fn from(&self, place: usize) -> &[u8] {
        self.window.get(place..).unwrap_or_default()
    }

    /// Drops the bytes that are not needed any more.
    fn forget(&mut self) {
        // Whether a line begins at a place follows from the byte before it.
        let searched = if self.has_found { self.window.len() } else { self.searched.saturating_sub(1) };
        let claimed = self.claimed.map_or(usize::MAX, |claimed| claimed.saturating_sub(self.before));
        let len = searched.min(claimed).min(self.window.len());
        self.window.drain(..len);
        self.before += len;
        self.searched = self.searched.saturating_sub(len);
    }

    /// Searches the first version line, and returns its place when it is found.
    fn search(&mut self) -> Option<usize> {
        if self.has_found || self.before + self.searched >= MAX_SEARCHED {
            self.searched = self.window.len();
            return None;
        }
        match find_version(&self.window, self.searched, false) {
            Ok(place) if self.before + place < MAX_SEARCHED => {
                self.has_found = true;
                Some(place)
            }
            Ok(place) | Err(place) => {
                self.searched = place;
                None
            }
        }
    }

    /// Looks at what follows the claimed end. The place of an end is one in the window.
    fn look_behind_claim(&self) -> ClaimLook {
        let Some(claimed) = self.claimed else { return ClaimLook::Wrong };
        let place = claimed.saturating_sub(self.before);
        let Some(after) = self.window.get(place..) else { return ClaimLook::NeedsMore };
        match look_behind_claim(after, WebArchiveFormat::Warc, false) {
            ClaimLook::Ends(len) => ClaimLook::Ends(place + len),
            other => other,
        }
    }
}
