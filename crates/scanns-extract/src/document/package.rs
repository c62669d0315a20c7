//! A zip file of parts, the container of OOXML, ODF and EPUB.
//!
//! Names are compared without case, as OOXML demands, and `\` counts as `/`, as some writers put it. What a
//! part may expand to is bounded, and so is the number of parts that are opened.

use std::collections::HashMap;
use std::io::{self, Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::ExtractError;

/// A part may always expand to this many bytes.
const PART_BASE: u64 = 64 << 20;
/// And to this many for each byte of text that is still wanted: XML is mostly markup.
const PART_PER_BYTE: u64 = 20;
/// The most parts that are opened in one package.
const MOST_PARTS: usize = 20_000;

/// An open zip file.
pub(super) struct Package<S> {
    archive: ZipArchive<S>,
    places: HashMap<String, usize>,
    format: &'static str,
    opened: usize,
}

impl<S: Read + Seek> Package<S> {
    /// Reads the list of parts.
    pub(super) fn open(source: S, format: &'static str) -> Result<Self, ExtractError> {
        let archive = ZipArchive::new(source).map_err(|error| from_zip(format, error))?;
        let names = archive.file_names_raw().map(|name| plain_name(&String::from_utf8_lossy(name)));
        let places = names.enumerate().map(|(place, name)| (name, place)).collect();
        Ok(Self { archive, places, format, opened: 0 })
    }

    /// The name of the format that this package holds.
    pub(super) fn format(&self) -> &'static str {
        self.format
    }

    /// Whether a part exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(&plain_name(name))
    }

    /// Opens a part; `None` if there is none of this name. `room` is how many bytes of text are still wanted.
    pub(super) fn part(
        &mut self,
        name: &str,
        room: usize,
    ) -> Result<Option<impl Read + use<'_, S>>, ExtractError> {
        let Some(&place) = self.places.get(&plain_name(name)) else { return Ok(None) };
        self.opened += 1;
        if self.opened > MOST_PARTS {
            return Err(ExtractError::damaged(self.format, format!("more than {MOST_PARTS} parts")));
        }
        let format = self.format;
        let file = self.archive.by_index(place).map_err(|error| from_zip(format, error))?;
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        let left = PART_BASE.saturating_add(room.saturating_mul(PART_PER_BYTE));
        Ok(Some(Bounded { inner: file, left }))
    }

    /// The bytes of a small part, at most `most` of them.
    pub(super) fn small_part(&mut self, name: &str, most: u64) -> Result<Option<Vec<u8>>, ExtractError> {
        let format = self.format;
        let Some(part) = self.part(name, 0)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match part.take(most).read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(ExtractError::damaged(format, format!("{name}: {error}"))),
        }
    }
}

/// The form of a part's name that is compared.
fn plain_name(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_lowercase()
}

/// The name of the part that `target`, found in a part in `folder`, stands for.
pub(super) fn resolve(folder: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let mut steps: Vec<&str> = Vec::new();
    let base = if target.starts_with('/') { "" } else { folder };
    for step in base.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            _ => steps.push(step),
        }
    }
    steps.join("/")
}

/// The folder of a part.
pub(super) fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// What an error of the zip reader means.
fn from_zip(format: &'static str, error: ZipError) -> ExtractError {
    match error {
        ZipError::UnsupportedArchive(reason) if reason == ZipError::PASSWORD_REQUIRED => {
            ExtractError::Encrypted { format }
        }
        ZipError::UnsupportedArchive(reason) => {
            ExtractError::Unsupported { format, reason: reason.to_string() }
        }
        other => ExtractError::damaged(format, other),
    }
}

/// A reader that fails after a number of bytes, so that a part is never cut silently.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(u64::try_from(count).unwrap_or(u64::MAX))
            .ok_or_else(|| io::Error::other("the part expands to more than its limit"))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_relative_to_the_folder_of_their_part() {
        assert_eq!(resolve("ppt/slides", "../notes/n1.xml"), "ppt/notes/n1.xml");
        assert_eq!(resolve("ppt", "/xl/a.xml#top"), "xl/a.xml");
        assert_eq!(resolve("", "../../a.xml"), "a.xml");
    }

    #[test]
    fn a_part_over_its_limit_is_an_error() {
        let mut part = Bounded { inner: &[0_u8; 9][..], left: 8 };
        assert!(part.read_to_end(&mut Vec::new()).is_err());
        let mut part = Bounded { inner: &[0_u8; 9][..], left: 9 };
        assert!(part.read_to_end(&mut Vec::new()).is_ok());
    }
}
