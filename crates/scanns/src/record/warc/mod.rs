//! Records of web archives: WARC (ISO 28500; 0.17 to 1.1, with WET) and ARC, its forerunner.
//!
//! The bytes of a file come in decompressed: the members of a gzip file one after the other.
//! [`WarcEnds`] cuts them into records, and [`WarcReader`] makes the values of one record.
//! Read `ends.rs` first, then `reader.rs`.
//!
//! ```text
//! file    = *record
//! record  = version *named blank block CRLF CRLF
//! version = "WARC/" digits "." digits CRLF
//! named   = name ":" value CRLF *( ( SP | HT ) value CRLF )    names in any case
//! blank   = CRLF
//! block   = Content-Length bytes; of application/http: status line, named values, blank, body
//!
//! ARC     = *( url-line block LF )                             length bytes
//! url-line, version 1 = URL SP IP SP date SP mime SP length LF
//! url-line, version 2 = URL SP IP SP date SP mime SP status SP checksum SP location SP offset
//!                       SP file SP length LF
//! ```
//!
//! Source: the WARC 1.1 specification of the IIPC, and the Internet Archive's description of the
//! ARC format. Files in use deviate: ClueWeb09 ends lines with LF and has wrong lengths, wget
//! wrote URLs in angle brackets, Common Crawl cuts payloads at 1 MiB. Each leniency is told as a
//! deviation of the record.

mod arc;
mod chunks;
mod claim;
mod date;
mod deviations;
mod encoding;
mod ends;
mod headers;
mod http;
mod lines;
mod long_claim;
mod payload;
mod reader;
mod skip;
mod sniff;
mod url;

pub use deviations::WRONG_LENGTH;
pub use ends::WarcEnds;
pub use long_claim::{LongClaim, LongClaimLook};
pub use reader::{WarcContent, WarcReader};
pub use skip::{SkipLook, WarcSkip};
pub use url::host_of;

/// The most bytes of a header; a longer one is not understood.
const MAX_HEADER: usize = 64 << 10;

/// The greatest Content-Length that is believed.
const MAX_LENGTH: u64 = 1 << 40;

/// The most bytes of a decoded payload; the rest is left out.
const MAX_DECODED: usize = 64 << 20;

#[cfg(test)]
mod tests;
