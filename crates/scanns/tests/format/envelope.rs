//! The envelope of every file, read as `docs/FORMAT.md` describes it and without the library.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a section under one checksum.
const CHECKED: usize = 16 << 10;

/// A file whose checksums have been verified.
pub struct Envelope {
    pub magic: String,
    pub format: u32,
    /// Kind and bytes of each section, in the order of the file.
    pub sections: Vec<(u32, Vec<u8>)>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

impl Envelope {
    pub fn read(file: &[u8]) -> Self {
        assert_eq!(xxh3_64(&file[..4088]).to_le_bytes(), file[4088..4096], "checksum of the header");
        let trailer = &file[file.len() - 32..];
        assert_eq!(&trailer[24..], b"SCANNEND");
        let table = &file[u64_at(trailer, 0)..][..u64_at(trailer, 8)];
        assert_eq!(xxh3_64(table).to_le_bytes(), trailer[16..24], "checksum of the table");
        assert_eq!(u64_at(trailer, 0) + table.len() + 32, file.len(), "the table ends at the trailer");
        let count = u32_at(table, 0) as usize;
        let mut checks = 8 + 24 * count;
        let mut sections = Vec::new();
        for entry in 0..count {
            let entry = &table[8 + 24 * entry..][..24];
            let section = &file[u64_at(entry, 8)..][..u64_at(entry, 16)];
            assert!(u64_at(entry, 8).is_multiple_of(4096), "a section begins at a multiple of 4096");
            for block in section.chunks(CHECKED) {
                assert_eq!(xxh3_64(block).to_le_bytes(), table[checks..checks + 8], "checksum of a block");
                checks += 8;
            }
            sections.push((u32_at(entry, 0), section.to_vec()));
        }
        assert_eq!(checks, table.len(), "nothing follows the checksums");
        let magic = String::from_utf8(file[..8].to_vec()).unwrap();
        Envelope { magic, format: u32_at(file, 8), sections }
    }

    /// The first section of a kind.
    pub fn section(&self, kind: u32) -> &[u8] {
        &self.sections.iter().find(|(own, _)| *own == kind).unwrap().1
    }
}
