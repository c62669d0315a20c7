//! Which container a file is, by its first bytes.

use super::{ar, cpio, tar};

/// The containers that can be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchiveFormat {
    /// Tar: v7, ustar, pax and GNU.
    Tar,
    /// Zip, which includes jar, docx, odt, epub and apk.
    Zip,
    /// Cpio: newc, crc, odc and the old binary form.
    Cpio,
    /// Ar, which includes static libraries and Debian packages.
    Ar,
}

impl ArchiveFormat {
    /// The format that the first bytes of a file show. 512 bytes are enough, and a tar needs them all.
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            Some(Self::Zip)
        } else if head.starts_with(ar::MAGIC) {
            Some(Self::Ar)
        } else if cpio::is_cpio(head) {
            Some(Self::Cpio)
        } else if tar::is_tar(head) {
            Some(Self::Tar)
        } else {
            None
        }
    }

    /// The usual name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tar => "tar",
            Self::Zip => "zip",
            Self::Cpio => "cpio",
            Self::Ar => "ar",
        }
    }
}
