//! What follows the end that the header of a record claims.

use super::MAX_DECODED;
use super::arc::begins_with_arc_line;
use super::lines::{Begins, begins_with_version, count_line_ends};

/// The most line ends that belong to the record before them.
const MAX_LINE_ENDS: usize = 256;

/// The most bytes of a record without a valid length; it is cut there.
pub(super) const MAX_SEARCHED: usize = MAX_DECODED;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WebArchiveFormat {
    Warc,
    Arc,
}

/// What follows the claimed end of a record.
pub(super) enum ClaimLook {
    /// Line ends, this number of bytes, and the next record: the claim is right.
    Ends(usize),
    /// Something else.
    Wrong,
    /// More bytes are needed.
    NeedsMore,
}

/// Looks at the bytes behind a claimed end.
pub(super) fn look_behind_claim(after: &[u8], format: WebArchiveFormat, is_end: bool) -> ClaimLook {
    let len = count_line_ends(after.get(..MAX_LINE_ENDS).unwrap_or(after));
    let rest = after.get(len..).unwrap_or_default();
    if len == MAX_LINE_ENDS {
        return ClaimLook::Ends(len);
    }
    if rest.is_empty() {
        return ClaimLook::NeedsMore;
    }
    let begins = match format {
        WebArchiveFormat::Arc => begins_with_arc_line(rest, is_end),
        WebArchiveFormat::Warc => begins_with_version(rest, is_end),
    };
    match begins {
        Begins::Unknown => ClaimLook::NeedsMore,
        Begins::Yes => ClaimLook::Ends(len),
        Begins::No if format == WebArchiveFormat::Warc && after.starts_with(b"\r\n\r\n") => {
            ClaimLook::Ends(len)
        }
        Begins::No => ClaimLook::Wrong,
    }
}
