//! Reads text into memory before anything is measured, and finds the documents in it.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use scanns::sources::SourceOptions;

/// Reads the files at `path`, or only their first `most` MiB.
pub fn load(path: &Path, most: Option<u64>) -> Result<Vec<Vec<u8>>> {
    let source = SourceOptions { paths: vec![path.to_path_buf()], ..SourceOptions::default() };
    let inputs = scanns::sources::collect(&source, &AtomicBool::new(false))?.inputs;
    let (mut texts, mut left) = (Vec::new(), most.map_or(Ok(usize::MAX), |mib| usize::try_from(mib << 20))?);
    for input in inputs {
        if left == 0 {
            break;
        }
        let mut text = std::fs::read(&input.path)?;
        text.truncate(left);
        left -= text.len();
        texts.push(text);
    }
    anyhow::ensure!(!texts.is_empty(), "there is no text at {}", path.display());
    Ok(texts)
}

/// The ranges of the documents in a text: its lines, or all of it.
pub fn documents(text: &[u8], lines: bool) -> Vec<Range<usize>> {
    if !lines {
        return std::iter::once(0..text.len()).collect();
    }
    let mut start = 0;
    let line = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end;
        range
    };
    text.split_inclusive(|&byte| byte == b'\n').map(line).collect()
}

/// Bytes of all texts.
pub fn bytes(texts: &[Vec<u8>]) -> u64 {
    texts.iter().map(|text| text.len() as u64).sum()
}

/// The last part of a path, which names a corpus.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
