//! Tools of others for tests.

use std::path::PathBuf;

/// The Python of the virtual environment of this project, or of the system.
pub(crate) fn python() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let own = program.ancestors().nth(3).map(|target| target.join("python/bin/python3"));
    own.filter(|path| path.exists()).unwrap_or_else(|| "python3".into())
}

/// A dictionary of Zstandard, which `zstd --train` made of 400 pages of a small crawl.
pub(crate) const PAGES_DICTIONARY: &[u8] = include_bytes!("samples/pages.dictionary");

/// The number that frames have which need it.
pub(crate) const PAGES_DICTIONARY_ID: u32 = 41_000;

/// The frame of a `.warc.zst` in which its dictionary is.
pub(crate) fn dictionary_frame(dictionary: &[u8]) -> Vec<u8> {
    let length = u32::try_from(dictionary.len()).unwrap().to_le_bytes();
    [&[0x5d, 0x2a, 0x4d, 0x18][..], &length, dictionary].concat()
}

/// `text` as one frame that needs a dictionary.
pub(crate) fn frame_with(dictionary: &[u8], text: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, dictionary).unwrap();
    compressor.include_checksum(true).unwrap();
    compressor.compress(text).unwrap()
}
