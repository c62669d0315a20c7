//! The envelope of every data file: its identity, its version, its sections, and their checksums.
//!
//! ```text
//! header    4096 bytes: magic 8 | format u32 | feature u32 | id 16 | zeros | xxh3-64 of the first 4088
//! section   at a multiple of 4096, padded with zeros
//! …
//! table     count u32 | zero u32 | per section: kind u32 | zero u32 | offset u64 | length u64,
//!           then, section after section, xxh3-64 of each 16 KiB of it (the last may be shorter)
//! trailer   32 bytes: table offset u64 | table length u64 | xxh3-64 of the table u64 | magic "SCANNEND"
//! ```
//!
//! All integers are little-endian. The header, the table and the trailer are verified when the file is
//! opened. A block of a section is verified at its first access, also by queries. The zeros between sections,
//! which nothing reads, are verified with the whole file.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::section::{BLOCK, Section};
use super::{Bytes, Directory, Output};
use crate::codec::ByteReader;
use crate::error::{Error, Result};

/// Alignment of sections, and size of the header.
const PAGE: usize = 4096;
/// Bytes of the header under its checksum.
const HEADER: usize = PAGE - 8;
const TRAILER: usize = 32;
const END: &[u8; 8] = b"SCANNEND";
/// The maximum number of sections of a file.
const MAX_SECTIONS: u32 = 1024;
/// The default size of the write buffer, in bytes.
pub const WRITE_BUFFER: usize = 1 << 20;

/// The kind of the file in an envelope, and the newest version that this program knows.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// The first eight bytes of the file.
    pub magic: [u8; 8],
    /// The format version to write; greater versions are refused.
    pub format: u32,
    /// The oldest version that can be read.
    pub oldest: u32,
}

/// Writes one file, section after section.
pub struct EnvelopeWriter {
    output: Box<dyn Output>,
    name: String,
    place: String,
    buffer: Vec<u8>,
    /// The buffer size at which the buffer is written.
    most: usize,
    at: u64,
    sections: Vec<(u32, u64, u64)>,
    checksums: Vec<u64>,
    hash: Xxh3,
    hashed: usize,
}

impl EnvelopeWriter {
    /// Creates the file `name` with the given kind and identity.
    pub fn create(directory: &dyn Directory, name: &str, kind: FileKind, id: u128) -> Result<Self> {
        let mut writer = EnvelopeWriter {
            output: directory.create(name)?,
            name: name.into(),
            place: directory.describe(),
            buffer: Vec::with_capacity(WRITE_BUFFER + PAGE),
            most: WRITE_BUFFER,
            at: 0,
            sections: Vec::new(),
            checksums: Vec::new(),
            hash: Xxh3::new(),
            hashed: 0,
        };
        let mut header = Vec::with_capacity(PAGE);
        header.extend_from_slice(&kind.magic);
        header.extend_from_slice(&kind.format.to_le_bytes());
        header.extend_from_slice(&0u32.to_le_bytes());
        header.extend_from_slice(&id.to_le_bytes());
        header.resize(HEADER, 0);
        let check = xxh3_64(&header);
        header.extend_from_slice(&check.to_le_bytes());
        writer.put(&header)?;
        Ok(writer)
    }

    /// Sets the size of the write buffer to `bytes`.
    #[must_use]
    pub fn with_buffer(mut self, bytes: usize) -> Self {
        self.most = bytes;
        // The buffer exceeds its size by at most one block.
        self.buffer.reserve_exact((bytes + BLOCK).saturating_sub(self.buffer.len()));
        self
    }

    /// Begins a section, to which the following writes belong.
    pub fn begin(&mut self, kind: u32) -> Result<()> {
        self.end_section();
        let gap = self.at.next_multiple_of(PAGE as u64) - self.at;
        self.put([0; PAGE].get(..usize::try_from(gap).unwrap_or(0)).unwrap_or_default())?;
        self.sections.push((kind, self.at, 0));
        Ok(())
    }

    /// The number of bytes of the file so far.
    pub fn len(&self) -> u64 {
        self.at
    }

    /// The number of bytes of the current section so far.
    pub fn section_len(&self) -> u64 {
        self.sections.last().map_or(0, |section| self.at - section.1)
    }

    /// Appends to the current section.
    #[inline]
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - self.hashed));
            self.hash.update(now);
            self.hashed += now.len();
            self.put(now)?;
            if self.hashed == BLOCK {
                self.end_block();
            }
            bytes = rest;
        }
        Ok(())
    }

    fn end_block(&mut self) {
        self.checksums.push(self.hash.digest());
        self.hash.reset();
        self.hashed = 0;
    }

    fn end_section(&mut self) {
        if self.hashed > 0 {
            self.end_block();
        }
        if let Some(section) = self.sections.last_mut() {
            section.2 = self.at - section.1;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
        if self.buffer.len() >= self.most { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        let sent = self.output.write_all(&self.buffer);
        sent.map_err(|source| {
            Error::io("write", &std::path::Path::new(&self.place).join(&self.name), source)
        })?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the table and the trailer. The result must be synced before anything relies on the file.
    pub fn finish(mut self) -> Result<Unsynced> {
        self.end_section();
        let count = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        let mut table = Vec::new();
        table.extend_from_slice(&u64::from(count).to_le_bytes());
        for &(kind, offset, len) in &self.sections {
            table.extend_from_slice(&u64::from(kind).to_le_bytes());
            table.extend_from_slice(&offset.to_le_bytes());
            table.extend_from_slice(&len.to_le_bytes());
        }
        self.checksums.iter().for_each(|check| table.extend_from_slice(&check.to_le_bytes()));
        let offset = self.at;
        self.put(&table)?;
        let mut trailer = Vec::with_capacity(TRAILER);
        trailer.extend_from_slice(&offset.to_le_bytes());
        trailer.extend_from_slice(&(table.len() as u64).to_le_bytes());
        trailer.extend_from_slice(&xxh3_64(&table).to_le_bytes());
        trailer.extend_from_slice(END);
        self.put(&trailer)?;
        self.send()?;
        // From here on, the medium works while the caller continues.
        let flushed = self.output.flush();
        flushed.map_err(|source| {
            Error::io("write", &std::path::Path::new(&self.place).join(&self.name), source)
        })?;
        Ok(Unsynced { output: self.output, len: self.at })
    }
}

/// A file that is written, but may not be durable yet.
#[must_use = "a file that is not synced may be lost"]
pub struct Unsynced {
    output: Box<dyn Output>,
    len: u64,
}

impl Unsynced {
    /// The length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Waits until the file is durable; returns its length.
    pub fn sync(self) -> Result<u64> {
        self.output.finish()?;
        Ok(self.len)
    }
}

/// An open file whose header and table have been verified.
#[derive(Debug)]
pub struct Envelope {
    name: Arc<str>,
    id: u128,
    len: u64,
    sections: Vec<(u32, Arc<Section>)>,
}

impl Envelope {
    /// Opens and verifies `name`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the file is not an intact file of this kind, [`Error::NewerFormat`] if its
    /// version is too new.
    pub fn open(directory: &dyn Directory, name: &str, kind: FileKind) -> Result<Self> {
        let bytes = directory.open(name)?;
        let file = std::path::Path::new(&directory.describe()).join(name).display().to_string();
        let id = read_header(&bytes, kind, &file)?;
        let name: Arc<str> = file.into();
        let sections = read_table(&bytes, &name)
            .ok_or_else(|| Error::corrupt(&*name, "its section table or trailer is cut off or altered"))?;
        Ok(Envelope { name, id, len: bytes.len() as u64, sections })
    }

    /// The identity that the file was written with.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Verifies every byte that has a checksum, and that there are only zeros between sections. `go_on` is
    /// called at intervals with the number of bytes verified so far.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first damaged block, and any error that `go_on` returns.
    pub fn verify(&self, go_on: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let (mut done, mut before) = (0, PAGE);
        for (_, section) in &self.sections {
            let Range { start, end } = section.range;
            if section.bytes.get(before..start).unwrap_or_default().iter().any(|&byte| byte != 0) {
                return Err(Error::corrupt(&*self.name, format!("bytes {before}..{start} are not zero")));
            }
            before = end;
            for start in (0..section.len()).step_by(64 * BLOCK) {
                let end = section.len().min(start + 64 * BLOCK);
                section.get(start..end)?;
                done += (end - start) as u64;
                go_on(done)?;
            }
        }
        Ok(())
    }

    /// The kinds of all sections, in file order.
    pub fn kinds(&self) -> impl Iterator<Item = u32> {
        self.sections.iter().map(|(kind, _)| *kind)
    }

    /// The section of this kind.
    pub fn section(&self, kind: u32) -> Result<&Section> {
        self.shared_section(kind).map(|section| &**section)
    }

    /// Like [`Envelope::section`], for callers that keep the section.
    pub fn shared_section(&self, kind: u32) -> Result<&Arc<Section>> {
        let found = self.sections.iter().find(|(found, _)| *found == kind);
        let missing = || Error::corrupt(&*self.name, format!("section {kind} is missing"));
        found.map(|(_, section)| section).ok_or_else(missing)
    }
}

fn read_header(bytes: &[u8], kind: FileKind, file: &str) -> Result<u128> {
    let short = || Error::corrupt(file, format!("it is {} bytes long, less than its header", bytes.len()));
    let mut reader = ByteReader::new(bytes.get(..PAGE).ok_or_else(short)?);
    let magic = reader.take(8).ok_or_else(short)?;
    if magic != kind.magic {
        return Err(Error::corrupt(file, "it does not begin with the magic number of its kind"));
    }
    let format = reader.u32().ok_or_else(short)?;
    let _feature = reader.u32().ok_or_else(short)?;
    let id = reader.take(16).and_then(|id| <[u8; 16]>::try_from(id).ok()).ok_or_else(short)?;
    let check = bytes.get(HEADER..PAGE).and_then(|check| ByteReader::new(check).u64());
    if bytes.get(..HEADER).map(xxh3_64) != check {
        return Err(Error::corrupt(file, "the checksum of its header is wrong"));
    }
    if format > kind.format {
        return Err(Error::NewerFormat { file: file.into(), found: format, supported: kind.format });
    }
    if format < kind.oldest {
        return Err(Error::OlderFormat { file: file.into(), found: format, oldest: kind.oldest });
    }
    Ok(u128::from_le_bytes(id))
}

fn read_table(bytes: &Bytes, name: &Arc<str>) -> Option<Vec<(u32, Arc<Section>)>> {
    let trailer_at = bytes.len().checked_sub(TRAILER)?;
    let mut trailer = ByteReader::new(bytes.get(trailer_at..)?);
    let offset = usize::try_from(trailer.u64()?).ok()?;
    let len = usize::try_from(trailer.u64()?).ok()?;
    let check = trailer.u64()?;
    if trailer.remaining() != END || offset.checked_add(len)? != trailer_at {
        return None;
    }
    let table = bytes.get(offset..trailer_at)?;
    if xxh3_64(table) != check {
        return None;
    }
    let mut reader = ByteReader::new(table);
    let count = u32::try_from(reader.u64()?).ok().filter(|&count| count <= MAX_SECTIONS)?;
    let mut ranges = Vec::new();
    let mut before = PAGE;
    for _ in 0..count {
        let kind = u32::try_from(reader.u64()?).ok()?;
        let start = usize::try_from(reader.u64()?).ok()?;
        let end = start.checked_add(usize::try_from(reader.u64()?).ok()?)?;
        if end > offset || start < before || end < start {
            return None;
        }
        before = end;
        ranges.push((kind, start..end));
    }
    if before != offset {
        return None;
    }
    let mut sections = Vec::new();
    for (kind, range) in ranges {
        let blocks = range.len().div_ceil(BLOCK);
        let at = trailer_at - reader.remaining().len();
        let checks = at..at + reader.take(blocks.checked_mul(8)?)?.len();
        let verified = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let section = Section { bytes: bytes.clone(), range, checks, verified, name: name.clone() };
        sections.push((kind, Arc::new(section)));
    }
    reader.remaining().is_empty().then_some(sections)
}

#[cfg(test)]
mod tests {
    use super::super::RamDirectory;
    use super::*;

    const KIND: FileKind = FileKind { magic: *b"SCANTEST", format: 3, oldest: 2 };

    fn sample(directory: &RamDirectory, format: u32) -> Vec<Vec<u8>> {
        let sections: Vec<Vec<u8>> = [0, 1, 4095, 4096, 50_000]
            .iter()
            .map(|&len: &usize| (0..len).map(|i| u8::try_from(i * 31 % 251).unwrap()).collect())
            .collect();
        let mut writer = EnvelopeWriter::create(directory, "file", FileKind { format, ..KIND }, 77).unwrap();
        for (kind, section) in sections.iter().enumerate() {
            writer.begin(u32::try_from(kind).unwrap()).unwrap();
            section.chunks(777).for_each(|part| writer.write(part).unwrap());
        }
        writer.finish().unwrap().sync().unwrap();
        sections
    }

    fn reads_as(directory: &RamDirectory, sections: &[Vec<u8>]) -> Result<bool> {
        let envelope = Envelope::open(directory, "file", KIND)?;
        envelope.verify(&mut |_| Ok(()))?;
        let mut equal = envelope.id() == 77;
        for (kind, section) in sections.iter().enumerate() {
            equal &= envelope.section(u32::try_from(kind).unwrap())?.all()? == section;
        }
        Ok(equal)
    }

    #[test]
    fn sections_read_back_and_unknown_ones_are_missing() {
        let directory = RamDirectory::new();
        let sections = sample(&directory, 3);
        assert!(reads_as(&directory, &sections).unwrap());
        let envelope = Envelope::open(&directory, "file", KIND).unwrap();
        assert!(envelope.section(9).is_err());
        let last = envelope.section(4).unwrap();
        assert_eq!(last.get(100..200).unwrap(), &sections[4][100..200]);
        assert!(last.get(0..50_001).is_err());
    }

    #[test]
    fn every_flipped_byte_is_an_error() {
        let directory = RamDirectory::new();
        let sections = sample(&directory, 3);
        let bytes = directory.open("file").unwrap().to_vec();
        for at in (0..bytes.len()).step_by(37).chain(bytes.len() - 200..bytes.len()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let mut output = directory.create("file").unwrap();
            output.write_all(&damaged).unwrap();
            output.finish().unwrap();
            assert!(reads_as(&directory, &sections).is_err(), "byte {at}");
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        let directory = RamDirectory::new();
        let sections = sample(&directory, 3);
        let bytes = directory.open("file").unwrap().to_vec();
        for len in (0..bytes.len()).step_by(113).chain(bytes.len() - 40..bytes.len()) {
            let mut output = directory.create("file").unwrap();
            output.write_all(&bytes[..len]).unwrap();
            output.finish().unwrap();
            assert!(reads_as(&directory, &sections).is_err(), "length {len}");
        }
    }

    #[test]
    fn newer_and_older_formats_are_named_as_such() {
        let read = |format| {
            let directory = RamDirectory::new();
            let sections = sample(&directory, format);
            reads_as(&directory, &sections)
        };
        let error = read(4).unwrap_err();
        assert!(matches!(error, Error::NewerFormat { found: 4, supported: 3, .. }), "{error}");
        let error = read(1).unwrap_err();
        assert!(matches!(error, Error::OlderFormat { found: 1, oldest: 2, .. }), "{error}");
        assert!(read(2).unwrap() && read(3).unwrap());
    }
}
