//! Sparse files in tar archives: a map of regions with data, and the data of the regions.
//!
//! ```text
//! old GNU   type S: regions in the header and in blocks after it, as octal pairs
//! pax 0.0   records GNU.sparse.offset and GNU.sparse.numbytes, repeated
//! pax 0.1   record GNU.sparse.map: OFFSET,LENGTH,OFFSET,LENGTH…
//! pax 1.0   before the data, padded to blocks: COUNT\n, then OFFSET\nLENGTH\n of each region
//! ```
//!
//! Source: the GNU tar manual, "Storing Sparse Files".

use std::io::{self, Read};

use super::number::{BLOCK, decimal, number, set_parsed};

/// The most regions of a map: 4 MiB of memory.
const REGIONS: usize = 1 << 18;
const TOO_MANY: &str = "the sparse file has too many regions";
const NOT_VALID: &str = "the map of the sparse file is not valid";

/// A region of data.
#[derive(Clone, Copy)]
struct SparseRegion {
    offset: u64,
    length: u64,
}

/// The pax records of a sparse file.
#[derive(Clone, Default)]
pub(super) struct SparseRecords {
    /// The path; the usual record has a made-up one for readers that do not know sparse files.
    pub(super) path: Option<Vec<u8>>,
    /// The size with the holes.
    pub(super) real_size: Option<u64>,
    major: Option<u64>,
    offset: Option<u64>,
    regions: Option<Vec<SparseRegion>>,
    not_valid: bool,
}

impl SparseRecords {
    /// Sets the value of a record `GNU.sparse.KEY`; returns whether it is valid.
    pub(super) fn set(&mut self, key: &[u8], value: &[u8]) -> bool {
        match key {
            b"name" => {
                self.path = Some(value.to_vec());
                true
            }
            b"major" => set_parsed(&mut self.major, value, decimal),
            b"size" | b"realsize" => set_parsed(&mut self.real_size, value, decimal),
            b"offset" => set_parsed(&mut self.offset, value, decimal),
            b"numbytes" => {
                let region = self.offset.take().zip(decimal(value));
                self.add(region.map(|(offset, length)| SparseRegion { offset, length }))
            }
            b"map" => {
                self.regions = Some(Vec::new());
                let mut numbers = value.split(|&byte| byte == b',');
                let mut valid = true;
                while let Some(offset) = numbers.next() {
                    let region = decimal(offset).zip(numbers.next().and_then(decimal));
                    valid &= self.add(region.map(|(offset, length)| SparseRegion { offset, length }));
                }
                valid
            }
            _ => true,
        }
    }

    fn add(&mut self, region: Option<SparseRegion>) -> bool {
        self.not_valid |= region.is_none();
        self.regions.get_or_insert_default().extend(region);
        region.is_some()
    }

    /// Whether the member is a sparse file.
    pub(super) fn is_sparse(&self) -> bool {
        self.map_is_in_content() || (self.real_size.is_some() && self.regions.is_some())
    }

    /// Whether the map is at the beginning of the content.
    pub(super) fn map_is_in_content(&self) -> bool {
        self.major == Some(1)
    }

    /// The map of the records.
    pub(super) fn map(&self) -> Result<SparseMap, &'static str> {
        let real_size = self.real_size.filter(|_| !self.not_valid).ok_or(NOT_VALID)?;
        Ok(SparseMap { real_size, regions: self.regions.clone().unwrap_or_default(), full: false })
    }
}

/// The regions of a sparse file that have data; the rest is zero.
pub(super) struct SparseMap {
    pub(super) real_size: u64,
    regions: Vec<SparseRegion>,
    full: bool,
}

impl SparseMap {
    /// The map in the header of an old sparse file; without a valid size it fails its check.
    pub(super) fn old(real_size: Option<u64>, regions: &[u8]) -> Self {
        let mut map = Self { real_size: real_size.unwrap_or(0), regions: Vec::new(), full: false };
        if real_size.is_none() {
            map.push(SparseRegion { offset: u64::MAX, length: u64::MAX });
        }
        map.add_old_regions(regions);
        map
    }

    fn push(&mut self, region: SparseRegion) {
        if self.regions.len() < REGIONS {
            self.regions.push(region);
        } else {
            self.full = true;
        }
    }

    /// Adds the regions of an old map: pairs of numbers of 12 bytes. An empty pair ends them.
    pub(super) fn add_old_regions(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(24).take_while(|pair| pair.first().is_some_and(|&byte| byte != 0)) {
            let (offset, length) = pair.split_at(12);
            let value = |field| number(field).and_then(|value| u64::try_from(value).ok());
            // A number that is not valid makes the map fail its check.
            self.push(SparseRegion {
                offset: value(offset).unwrap_or(u64::MAX),
                length: value(length).unwrap_or(u64::MAX),
            });
        }
    }

    /// Adds the regions of a block after the header; returns whether another block follows.
    pub(super) fn add_old_block(&mut self, block: &[u8; BLOCK]) -> bool {
        self.add_old_regions(block.get(..21 * 24).unwrap_or_default());
        block[504] != 0
    }

    /// Reads the regions at the beginning of the content.
    pub(super) fn read_regions(mut self, body: &mut (dyn Read + Send)) -> Result<Self, &'static str> {
        let mut numbers = MapNumbers { body, block: [0; BLOCK], at: BLOCK };
        let count = numbers.next().ok_or(NOT_VALID)?;
        if count > REGIONS as u64 {
            return Err(TOO_MANY);
        }
        for _ in 0..count {
            let offset = numbers.next().ok_or(NOT_VALID)?;
            let length = numbers.next().ok_or(NOT_VALID)?;
            self.push(SparseRegion { offset, length });
        }
        Ok(self)
    }

    /// Checks that the regions are in order, within the file, and have as much data as is stored.
    pub(super) fn check(self, stored: u64) -> Result<Self, &'static str> {
        let mut end = 0_u64;
        let mut total = 0_u64;
        for region in &self.regions {
            let region_end = region.offset.checked_add(region.length).ok_or(NOT_VALID)?;
            if region.offset < end || region_end > self.real_size {
                return Err(NOT_VALID);
            }
            end = region_end;
            total += region.length;
        }
        if self.full {
            Err(TOO_MANY)
        } else if total != stored {
            Err("the map of the sparse file does not fit its stored size")
        } else {
            Ok(self)
        }
    }
}

/// The numbers of a map in the content, each on a line.
struct MapNumbers<'b> {
    body: &'b mut (dyn Read + Send),
    block: [u8; BLOCK],
    at: usize,
}

impl MapNumbers<'_> {
    fn next(&mut self) -> Option<u64> {
        let mut digits = [0; 20];
        let mut length = 0;
        loop {
            if self.at == BLOCK {
                self.body.read_exact(&mut self.block).ok()?;
                self.at = 0;
            }
            let byte = *self.block.get(self.at)?;
            self.at += 1;
            if byte == b'\n' {
                return decimal(digits.get(..length)?);
            }
            *digits.get_mut(length)? = byte;
            length += 1;
        }
    }
}

/// The content of a sparse file with zeros in its holes.
pub(super) struct SparseReader<'b, 'm> {
    body: &'b mut (dyn Read + Send),
    regions: std::iter::Peekable<std::slice::Iter<'m, SparseRegion>>,
    at: u64,
    real_size: u64,
}

impl<'b, 'm> SparseReader<'b, 'm> {
    /// Expands `body`, which has the data of the regions of `map`.
    pub(super) fn new(body: &'b mut (dyn Read + Send), map: &'m SparseMap) -> Self {
        Self { body, regions: map.regions.iter().peekable(), at: 0, real_size: map.real_size }
    }
}

impl Read for SparseReader<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.regions.next_if(|region| region.offset + region.length <= self.at).is_some() {}
        let region = self.regions.peek();
        let data = region.is_some_and(|region| region.offset <= self.at);
        let end = match region {
            Some(region) if data => region.offset + region.length,
            Some(region) => region.offset,
            None => self.real_size,
        };
        let left = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = left.min(bytes.len());
        let part = bytes.get_mut(..most).unwrap_or_default();
        let read = if data {
            self.body.read(part)?
        } else {
            part.fill(0);
            part.len()
        };
        self.at += read as u64;
        Ok(read)
    }
}
