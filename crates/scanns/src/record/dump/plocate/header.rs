//! The header of a plocate database.

use crate::record::dump::input::{DumpInput, Halt};

const MAGIC: &[u8; 8] = b"\0plocate";

/// The greatest length of a dictionary; updatedb writes 1 KiB and accepts 1 MiB.
const LONGEST_DICTIONARY: u64 = 16 << 20;

/// A part of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FilePart {
    pub offset: u64,
    pub length: u64,
}

impl FilePart {
    /// Its bytes in the file, if the file contains them.
    pub fn of(self, file: &[u8]) -> Option<&[u8]> {
        let start = usize::try_from(self.offset).ok()?;
        file.get(start..)?.get(..usize::try_from(self.length).ok()?)
    }
}

/// What a reader needs of the header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlocateHeader {
    /// The number of blocks of names.
    pub blocks: u32,
    /// Where the offsets of the blocks stand.
    pub index: u64,
    /// The dictionary of the blocks, of length 0 if there is none.
    pub dictionary: FilePart,
    /// The times of directories, of length 0 if there are none.
    pub directories: FilePart,
}

/// True if a file that begins with `start` is a plocate database of any version.
pub(super) fn is_plocate(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

impl PlocateHeader {
    /// Reads the header, whose length depends on its version.
    pub fn read(input: &mut DumpInput<'_>) -> Result<Self, Halt> {
        let mut bytes = Vec::new();
        input.exact(MAGIC.len() as u64, &mut bytes)?;
        if bytes != MAGIC {
            return Err(Halt::invalid(0, "a database of plocate begins with a NUL byte and 'plocate'"));
        }
        input.append(32, &mut bytes)?;
        let mut header = PlocateHeader {
            blocks: u32_at(&bytes, 20),
            index: u64_at(&bytes, 32),
            ..PlocateHeader::default()
        };
        match u32_at(&bytes, 8) {
            0 => return Ok(header),
            1 => {}
            u32::MAX => return Err(Halt::invalid(8, "updatedb did not finish this database")),
            version => {
                let problem = format!("version {version} of plocate's format is not known, only 0 and 1 are");
                return Err(Halt::invalid(8, problem));
            }
        }
        input.append(16, &mut bytes)?;
        header.dictionary = FilePart { offset: u64_at(&bytes, 48), length: u32_at(&bytes, 44).into() };
        if header.dictionary.length > LONGEST_DICTIONARY {
            return Err(Halt::invalid(44, "the dictionary is longer than 16 MiB"));
        }
        if u32_at(&bytes, 40) >= 2 {
            input.append(56, &mut bytes)?;
            header.directories = FilePart { offset: u64_at(&bytes, 64), length: u64_at(&bytes, 56) };
        }
        Ok(header)
    }
}

/// The number of 32 bits at `at`; 0 behind the end.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map(u32::from_le_bytes).unwrap_or_default()
}

/// The number of 64 bits at `at`; 0 behind the end.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map(u64::from_le_bytes).unwrap_or_default()
}
