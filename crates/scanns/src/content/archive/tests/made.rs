//! Archives that are made byte by byte, to tell lies that no tool tells.

/// A header of a tar with a valid checksum, after `change`.
pub(super) fn tar_header(name: &[u8], flag: u8, size: u64, change: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(b"0000644\0");
    header[108..116].copy_from_slice(b"0001750\0");
    header[116..124].copy_from_slice(b"0001750\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[136..148].copy_from_slice(b"00000000007\0");
    header[156] = flag;
    header[257..265].copy_from_slice(b"ustar\x0000");
    change(&mut header);
    seal(&mut header);
    header
}

/// Sets the checksum of a header.
pub(super) fn seal(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// A member of a tar.
pub(super) fn tar_member(name: &[u8], flag: u8, content: &[u8]) -> Vec<u8> {
    let mut member = tar_header(name, flag, content.len() as u64, |_| {});
    member.extend_from_slice(content);
    member.resize(member.len().next_multiple_of(512), 0);
    member
}

/// A record of pax.
pub(super) fn pax_record(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length.to_string().len() + rest.len() != length {
        length += 1;
    }
    format!("{length}{rest}").into_bytes()
}

/// The end of a tar.
pub(super) const TAR_END: [u8; 1024] = [0; 1024];

/// A member of a zip.
pub(super) struct ZipPart {
    name: Vec<u8>,
    method: u16,
    crc: u32,
    size: u32,
    stored: Vec<u8>,
}

impl ZipPart {
    pub(super) fn new(name: &[u8], method: u16, content: &[u8], stored: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = u32::try_from(content.len()).unwrap();
        Self { name: name.to_vec(), method, crc: crc.sum(), size, stored: stored.to_vec() }
    }

    /// The fields that the local header and the directory share.
    fn fields(&self) -> Vec<u8> {
        let mut bytes = vec![20, 0, 0, 0];
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0, 0, 0x21, 0]);
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend(u32::try_from(self.stored.len()).unwrap().to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }

    pub(super) fn local(&self) -> Vec<u8> {
        [b"PK\x03\x04", &self.fields()[..], &self.name, &self.stored].concat()
    }

    pub(super) fn entry(&self, offset: u32) -> Vec<u8> {
        let mut bytes = [b"PK\x01\x02\x14\x00", &self.fields()[..]].concat();
        bytes.extend([0; 10]);
        bytes.extend(offset.to_le_bytes());
        bytes.extend(&self.name);
        bytes
    }
}

/// A zip of members.
pub(super) fn zip_of(parts: &[ZipPart]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for part in parts {
        directory.extend(part.entry(u32::try_from(archive.len()).unwrap()));
        archive.extend(part.local());
    }
    zip_end(archive, &directory, parts.len())
}

/// Adds a directory and its end.
pub(super) fn zip_end(mut archive: Vec<u8>, directory: &[u8], count: usize) -> Vec<u8> {
    let offset = u32::try_from(archive.len()).unwrap();
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(count % 65_536).unwrap().to_le_bytes();
    archive.extend([count, count].concat());
    archive.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0, 0]);
    archive
}
