//! Whether an index has both absolute and relative paths. The same file may have one of each then, and counts
//! twice.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::column::{Column, DictionaryReader};
use crate::error::Result;
use crate::index::build::report::MixedPaths;
use crate::schema::{Schema, Value};
use crate::segment::Segment;

/// The most ranges of documents of a range of directories.
const MOST_RANGES: usize = 4_096;

/// What separates the scheme of an address from the rest, as in `s3://bucket`. Addresses are not relative.
const SCHEME: &[u8] = b"://";

/// An absolute and a relative path of the segments, if they have both.
pub(super) fn mixed_paths(segments: &[Segment], schema: &Schema) -> Result<Option<MixedPaths>> {
    let Some(field) = schema.field("path") else { return Ok(None) };
    let (mut absolute, mut relative) = (None, None);
    for segment in segments {
        let Some(paths) = segment.column(field) else { continue };
        let Some(directories) = paths.terms() else { continue };
        let slash = directories.prefix_range(b"/")?;
        let all = directories.len();
        for (found, ranges) in
            [(&mut absolute, vec![slash.clone()]), (&mut relative, vec![0..slash.start, slash.end..all])]
        {
            for range in ranges {
                if found.is_none() {
                    *found = path_in(segment, paths, without_addresses(directories, range)?)?;
                }
            }
        }
    }
    let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
    Ok(absolute.zip(relative).map(|(one, other)| MixedPaths { absolute: path(one), relative: path(other) }))
}

/// The range without the addresses at its start.
fn without_addresses(directories: &DictionaryReader, mut range: Range<u32>) -> Result<Range<u32>> {
    let mut directory = Vec::new();
    while range.start < range.end {
        directory.clear();
        directories.term(range.start, &mut directory)?;
        let Some(at) = memchr::memmem::find(&directory, SCHEME) else { break };
        let scheme = directories.prefix_range(directory.get(..at + SCHEME.len()).unwrap_or(&directory))?;
        range.start = scheme.end.max(range.start + 1);
    }
    Ok(range)
}

/// The path of a live document in a range of directories.
fn path_in(segment: &Segment, paths: &Column, range: Range<u32>) -> Result<Option<Vec<u8>>> {
    if range.is_empty() {
        return Ok(None);
    }
    let (low, high) = (range.start.into(), u64::from(range.end) - 1);
    let ranges = paths.ranges_within(low, high, MOST_RANGES)?;
    let ranges = ranges.unwrap_or_else(|| std::iter::once(0..paths.documents()).collect());
    let mut values = Vec::new();
    for document in ranges.into_iter().flatten().filter(|&document| segment.is_live(document)) {
        if paths.first(document)?.is_some_and(|directory| (low..=high).contains(&directory)) {
            paths.values_of(document, &mut values)?;
            break;
        }
    }
    Ok(values.into_iter().find_map(|value| match value {
        Value::Text(path) => Some(path),
        _ => None,
    }))
}
