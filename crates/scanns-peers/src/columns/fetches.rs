//! The file of fetches that all adapters read. It is simple, so that no engine spends time on parsing.
//!
//! ```text
//! file    = fetch*
//! fetch   = bytes: u32 (of the rest), string × 7 (STRINGS), u64 × 4 (NUMBERS), tags: u16, string × tags
//! string  = length: u16, bytes
//! ```
//! All numbers are little-endian.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use scanns_bench::archive::{Archive, Fetch};

/// The maximum size of a fetch in bytes.
const LONGEST: usize = 1 << 20;

/// Writes the fetches of a generated archive.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, count: u32, seed: u64) -> Result<()> {
    let part = path.with_extension("part");
    let file = File::create(&part).with_context(|| format!("cannot write {}", part.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let mut bytes = Vec::new();
    for fetch in Archive::new(count, seed) {
        bytes.clear();
        put(&fetch, &mut bytes)?;
        out.write_all(&u32::try_from(bytes.len())?.to_le_bytes())?;
        out.write_all(&bytes)?;
    }
    out.into_inner()?.sync_all()?;
    Ok(std::fs::rename(&part, path)?)
}

fn put(fetch: &Fetch, out: &mut Vec<u8>) -> Result<()> {
    fn string(out: &mut Vec<u8>, text: &str) -> Result<()> {
        out.extend(u16::try_from(text.len())?.to_le_bytes());
        out.extend(text.as_bytes());
        Ok(())
    }
    let strings = [
        fetch.id.as_str(),
        &fetch.url_norm,
        &fetch.host,
        &fetch.domain,
        fetch.public_suffix,
        fetch.content_type_norm,
        fetch.language,
    ];
    strings.into_iter().try_for_each(|text| string(out, text))?;
    let date = u64::try_from(fetch.crawl_date)?;
    for number in [fetch.crawl_year, date, fetch.status_code, fetch.content_length] {
        out.extend(number.to_le_bytes());
    }
    out.extend(u16::try_from(fetch.tags.len())?.to_le_bytes());
    fetch.tags.iter().try_for_each(|tag| string(out, tag))
}

/// A fetch of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// The values of [`crate::columns::STRINGS`].
    pub strings: [&'a str; 7],
    /// The values of [`crate::columns::NUMBERS`].
    pub numbers: [u64; 4],
    /// The tags.
    pub tags: Tags<'a>,
}

/// An iterator over the tags of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags<'a>(u16, &'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0 = self.0.checked_sub(1)?;
        string(&mut self.1)
    }
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(taken)
}

fn string<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = u16::from_le_bytes(*take(bytes)?);
    let (text, rest) = bytes.split_at_checked(length.into())?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn parse(mut bytes: &[u8]) -> Option<Stored<'_>> {
    let mut strings = [""; 7];
    for text in &mut strings {
        *text = string(&mut bytes)?;
    }
    let mut numbers = [0; 4];
    for number in &mut numbers {
        *number = u64::from_le_bytes(*take(&mut bytes)?);
    }
    let tags = u16::from_le_bytes(*take(&mut bytes)?);
    Some(Stored { strings, numbers, tags: Tags(tags, bytes) })
}

/// Calls `visit` with each fetch of a file, and returns the number of fetches.
///
/// # Errors
/// If the file cannot be read or is truncated, or `visit` fails.
pub fn each(path: &Path, mut visit: impl FnMut(Stored<'_>) -> Result<()>) -> Result<u64> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let (mut bytes, mut count) = (Vec::new(), 0);
    loop {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(count),
            read => read?,
        }
        let length = u32::from_le_bytes(length) as usize;
        ensure!(length <= LONGEST, "fetch {count} of {} has {length} bytes, too many", path.display());
        bytes.resize(length, 0);
        input.read_exact(&mut bytes)?;
        visit(parse(&bytes).with_context(|| format!("fetch {count} of {} is damaged", path.display()))?)?;
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetches_are_read_as_they_were_written_and_cut_files_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fetches");
        write(&path, 500, 5).unwrap();
        let mut expected = Archive::new(500, 5);
        let count = each(&path, |read| {
            let fetch = expected.next().unwrap();
            assert_eq!((read.strings[0], read.strings[6]), (fetch.id.as_str(), fetch.language));
            assert_eq!((read.numbers[0], read.numbers[3]), (fetch.crawl_year, fetch.content_length));
            assert!(read.tags.eq(fetch.tags.iter().map(String::as_str)));
            Ok(())
        });
        assert_eq!((count.unwrap(), expected.next()), (500, None));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        assert!(each(&path, |_| Ok(())).is_err());
    }
}
