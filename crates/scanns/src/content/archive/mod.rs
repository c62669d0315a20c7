//! Readers of containers: tar, zip, cpio and ar archives, and files of Unix compress (`.Z`).
//!
//! [`walk`] and [`walk_zip`] call a visitor with each member of an archive, in order, and a reader of its
//! content. Nothing is ever written to disk, so names such as `../../etc/passwd` are harmless. Memory is
//! bounded whatever the headers claim; [`ArchiveLimits`] bounds the rest.
//!
//! A member that cannot be read fails alone, through its reader. Damage of the container ends the walk after
//! the members before it. Archives within archives are the visitor's work.
//!
//! Read `member.rs` first, then `walk.rs` and `walker.rs`, then one format: `ar.rs` is the shortest.

mod ar;
mod compress;
mod cpio;
mod error;
mod format;
mod input;
mod limits;
mod member;
mod tar;
mod walk;
mod walker;
mod zip;

#[cfg(test)]
mod tests;

pub use compress::Uncompress;
pub use format::ArchiveFormat;
pub use limits::ArchiveLimits;
pub use member::{ArchiveMember, MemberKind};
pub use walk::{walk, walk_zip};
