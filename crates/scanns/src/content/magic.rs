//! Files that are not text, by their first bytes.
//!
//! A file is binary if it begins as a known binary format does, if it has a NUL byte in its first 8 KiB (the
//! rule of git and of grep), or if many of its first bytes are control characters.

use super::charset::is_utf8;

/// The number of bytes that are searched for NUL bytes and control characters.
const SEARCHED: usize = 8 << 10;

/// The first bytes of formats, at offset 0. Formats whose files always have a NUL byte near their start need
/// no entry, except for the name in reports.
const MAGIC: [(&[u8], &str); 41] = [
    (b"\x7fELF", "ELF"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"PK\x05\x06", "ZIP"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x1f\x9d", "compress"),
    (b"BZh1", "bzip2"),
    (b"BZh9", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\x5d\x2a\x4d\x18", "Zstandard"),
    (b"\x04\x22\x4d\x18", "LZ4"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "RAR"),
    (b"!<arch>\n", "ar"),
    (b"\xed\xab\xee\xdb", "RPM"),
    (b"SQLite format 3\0", "SQLite"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"CDF\x01", "netCDF"),
    (b"CDF\x02", "netCDF"),
    (b"PAR1", "Parquet"),
    (b"ARROW1\0\0", "Arrow"),
    (b"Obj\x01", "Avro"),
    (b"SIMPLE  =", "FITS"),
    (b"\x93NUMPY", "NumPy"),
    (b"OggS\0", "Ogg"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"OTTO\0", "font"),
    (b"\0asm", "WebAssembly"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O"),
    (b"\xcf\xfa\xed\xfe", "Mach-O"),
    (b"\xde\x12\x04\x95", "message catalog"),
];

/// The kind of a binary file; `None` for text.
pub(super) fn binary_kind(head: &[u8]) -> Option<&'static str> {
    // The first byte decides for nearly all texts.
    let begins = |magic: &[u8]| magic.first() == head.first() && head.starts_with(magic);
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| begins(magic)) {
        return Some(name);
    }
    // A text may have the letters there, too.
    if head.get(257..263) == Some(b"ustar\0") || head.get(257..265) == Some(b"ustar  \0") {
        return Some("tar");
    }
    if head.starts_with(b"RIFF") && matches!(head.get(8..12), Some(b"WAVE" | b"AVI " | b"WEBP")) {
        return Some("RIFF");
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some("MP4");
    }
    let searched = head.get(..SEARCHED).unwrap_or(head);
    if memchr::memchr(0, searched).is_some() {
        return Some("other, with NUL bytes");
    }
    has_many_controls(searched).then_some("other, with control characters")
}

/// True if more than a tenth of the bytes are control characters that texts do not use; if the bytes are not
/// UTF-8, more than a fiftieth. Random bytes have 9 %.
fn has_many_controls(bytes: &[u8]) -> bool {
    // Backspaces and escapes print bold letters and colours.
    let is_control = |&&byte: &&u8| matches!(byte, 0..=7 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let sample = bytes.get(..1 << 10).unwrap_or(bytes);
    let controls = sample.iter().filter(is_control).count();
    controls > sample.len() / 10 || controls > sample.len() / 50 && !is_utf8(sample, false)
}
