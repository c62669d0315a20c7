//! Files mapped into memory.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Maps a complete file of this many bytes, which must have been written by this program and never be changed
/// or shortened.
pub fn map_file(file: &File, len: usize) -> io::Result<Mmap> {
    // SAFETY: the files of an index are immutable, which is the contract of a mapping; what another program
    // might do to them shows in their checksums, which are verified before the content is used.
    unsafe { MmapOptions::new().len(len).map(file) }
}
