//! Files mapped into memory.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a complete file, which must have been written by this program and never be changed or shortened.
pub fn map_file(file: &File) -> io::Result<Mmap> {
    // SAFETY: the files of an index are immutable, which is the contract of a mapping; what another program
    // might do to them shows in their checksums, which are verified before the content is used.
    unsafe { Mmap::map(file) }
}
