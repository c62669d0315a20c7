//! Databases of plocate (`/var/lib/plocate/plocate.db`).
//!
//! ```text
//! database = "\0plocate" version:u32 hashtable_size:u32 extra_slots:u32 blocks:u32
//!            hash_table_offset:u64 filename_index_offset:u64           (version 0 ends here)
//!            max_version:u32 dictionary_length:u32 dictionary_offset:u64  (max_version 1 ends here)
//!            directory_data_length:u64 directory_data_offset:u64 next_dictionary_length:u64
//!            next_dictionary_offset:u64 conf_length:u64 conf_offset:u64 check_visibility:u8 pad[7]
//!            [dictionary] block... filename_index hash_table posting_lists
//!            [directory_data] [next_dictionary] [conf]
//! block    = a zstd frame of paths with NUL bytes between them, 32 by default
//! filename_index = offset:u64 of each block, and of the end of the last
//! ```
//!
//! From plocate's db.h and database-builder.cpp. Numbers are little-endian. The writer sets the version last,
//! so a database with a version is complete if all its blocks are there. The trigram index is not needed.
//!
//! updatedb writes the blocks right behind the header and the dictionary, so [`ReadDump`] reads a stream of
//! any length: zstd frames say where they end. Which paths are directories stands at the end of the file, so
//! only [`ReadDump::read_slice`], which has the whole file, tells it. What the others are is not known.

mod frame;
mod header;
mod names;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead};

use self::header::{FilePart, PlocateHeader, is_plocate, u64_at};
use self::names::{PlocateKinds, PlocateNames};
use super::input::{DumpInput, Halt, settle};
use super::{DumpTally, ReadDump, Visit};

/// Reads databases of plocate: paths, and which of them are directories if the whole file is in memory.
/// There are no options.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlocateDump;

impl PlocateDump {
    /// A reader.
    pub fn new() -> Self {
        PlocateDump
    }

    /// True if a dump that begins with `start` is certainly a database of plocate.
    pub fn detect(start: &[u8]) -> bool {
        is_plocate(start)
    }
}

impl ReadDump for PlocateDump {
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        tally.complete = Some(false);
        let result = stream(&mut DumpInput::new(input), tally, visit);
        end(result, tally)
    }

    /// True, since a whole database tells directories, and its dictionary and blocks may be at any place.
    fn prefers_slice(&self) -> bool {
        true
    }

    fn read_slice(&mut self, bytes: &[u8], tally: &mut DumpTally, visit: &mut Visit<'_>) -> io::Result<()> {
        tally.complete = Some(false);
        let result = whole(bytes, tally, visit);
        end(result, tally)
    }
}

/// Ends a reading, of which it is not known whether it would have been complete if the visitor stopped it.
fn end(result: Result<(), Halt>, tally: &mut DumpTally) -> io::Result<()> {
    if matches!(result, Err(Halt::Stopped)) {
        tally.complete = None;
    }
    settle(result, tally)
}

/// Reads the blocks one after the other.
fn stream(input: &mut DumpInput<'_>, tally: &mut DumpTally, visit: &mut Visit<'_>) -> Result<(), Halt> {
    let header = PlocateHeader::read(input)?;
    let mut dictionary = Vec::new();
    if header.dictionary.length > 0 {
        let before = header.dictionary.offset.checked_sub(input.offset());
        let Some(before) = before.filter(|_| header.dictionary.offset <= header.index) else {
            return Err(Halt::invalid(48, "the dictionary does not stand before the blocks of names"));
        };
        input.skip(before)?;
        input.exact(header.dictionary.length, &mut dictionary)?;
    }
    let mut names = PlocateNames::new(&dictionary, tally, visit)?;
    let mut frame = Vec::new();
    for _ in 0..header.blocks {
        let offset = input.offset();
        frame::read(input, &mut frame)?;
        names.block(&frame, offset)?;
    }
    let end = input.offset();
    if header.blocks > 0 && end != header.index {
        let reason = format!("the last block ends at byte {end}, but the header says byte {}", header.index);
        names.tally.bad(end, reason, &[]);
    } else {
        names.tally.complete = Some(true);
    }
    Ok(())
}

/// Reads the blocks to which the index points. A file that ends before its index is read as a stream.
fn whole(bytes: &[u8], tally: &mut DumpTally, visit: &mut Visit<'_>) -> Result<(), Halt> {
    let mut input = bytes;
    let header = PlocateHeader::read(&mut DumpInput::new(&mut input))?;
    let index = FilePart { offset: header.index, length: (u64::from(header.blocks) + 1) * 8 };
    let (Some(index), Some(dictionary)) = (index.of(bytes), header.dictionary.of(bytes)) else {
        let mut input = bytes;
        return stream(&mut DumpInput::new(&mut input), tally, visit);
    };
    let mut names = PlocateNames::new(dictionary, tally, visit)?;
    names.kinds = kinds(header, bytes, names.tally);
    let offsets = index.chunks_exact(8).map(|offset| u64_at(offset, 0));
    let mut last = 0;
    for (start, end) in offsets.clone().zip(offsets.skip(1)) {
        let block = FilePart { offset: start, length: end.saturating_sub(start) };
        match block.of(bytes) {
            // Blocks stand in their order, so none is read twice.
            Some(frame) if start >= last && end > start => names.block(frame, start)?,
            _ => {
                names.unreadable(start, "the index names a place that is not in the file or was read before")
            }
        }
        last = last.max(end);
    }
    names.finish(header.directories.offset);
    names.tally.complete = Some(true);
    Ok(())
}

/// Which names are directories, if the database knows it.
fn kinds<'f>(header: PlocateHeader, bytes: &'f [u8], tally: &mut DumpTally) -> Option<PlocateKinds<'f>> {
    if header.directories.length == 0 {
        return None;
    }
    let kinds = header.directories.of(bytes).and_then(|data| PlocateKinds::new(data).ok());
    if kinds.is_none() {
        let reason = "the times of directories are not in the file, so no path is known as a directory";
        tally.guessed(header.directories.offset, reason, &[]);
    }
    kinds
}
