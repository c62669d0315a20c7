//! The readers of archives and of files of compress, to the end of every member.

use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;

use crate::content::{ArchiveFormat, ArchiveLimits, ArchiveMember, Uncompress, walk, walk_zip};

/// The bytes that are expanded, so that a target ends soon.
const MOST: u64 = 16 << 20;

/// Archives of every format.
pub(super) fn archive(data: &[u8]) {
    let limits = ArchiveLimits { bytes: MOST, members: 10_000, ..ArchiveLimits::default() };
    let mut read = |_: &ArchiveMember, content: &mut (dyn Read + Send)| {
        // A member that cannot be read is an error of its own.
        let _ = io::copy(content, &mut io::sink());
        Ok(ControlFlow::Continue(()))
    };
    for format in [ArchiveFormat::Tar, ArchiveFormat::Cpio, ArchiveFormat::Ar] {
        let mut source = data;
        let report = walk(format, &mut source, &limits, &mut read);
        assert!(report.bytes <= MOST && report.members <= 10_000);
    }
    let report = walk_zip(&mut Cursor::new(data), &limits, &mut read);
    assert!(report.bytes <= MOST && report.members <= 10_000);
}

/// Files of compress.
pub(super) fn compress(data: &[u8]) {
    let _ = io::copy(&mut Uncompress::new(data).take(MOST), &mut io::sink());
}
