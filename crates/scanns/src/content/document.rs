//! Files whose text only an extractor finds, by their first bytes.
//!
//! The extractor looks closer, see the crate `scanns-extract`. Here it is decided to which files it is worth
//! showing: those that begin as one of its formats does.

use super::notebook_head::is_notebook;

/// The first bytes of formats, with their names.
const MAGIC: [(&[u8], &str); 29] = [
    (b"%PDF-", "PDF"),
    (b"{\\rtf", "RTF"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office 97"),
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"CDF\x01", "netCDF"),
    (b"CDF\x02", "netCDF"),
    (b"CDF\x05", "netCDF"),
    (b"SIMPLE  =", "FITS"),
    (b"GRIB", "GRIB"),
    (b"PAR1", "Parquet"),
    (b"ARROW1\0\0", "Arrow"),
    (b"\x93NUMPY", "NumPy"),
    (b"MATLAB 5.0 MAT-file", "MATLAB"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
    (b"\x5c\x01\0\0", "NIfTI"),
    (b"\0\0\x01\x5c", "NIfTI"),
    (b"\x1c\x02\0\0n+2\0", "NIfTI"),
    (b"\0\0\x02\x1cn+2\0", "NIfTI"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
    (b"OggS\0", "Ogg"),
    // A document in a zip file begins with one of these members.
    (b"PK\x03\x04", ZIPPED),
    (b"PK\x05\x06", ZIPPED),
    (b"PK\x07\x08PK", ZIPPED),
];

/// What stands for all documents in zip files, which their members tell apart.
const ZIPPED: &str = "";

/// The kind of document that a file with these first bytes may be.
pub(super) fn document_kind(head: &[u8]) -> Option<&'static str> {
    match MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, name)) if *name == ZIPPED => zipped_kind(head),
        Some((_, name)) => Some(name),
        None => kind_by_later_bytes(head),
    }
}

/// The kind of document of which the first bytes are something else.
fn kind_by_later_bytes(head: &[u8]) -> Option<&'static str> {
    let at = |offset: usize, magic: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    let hdf5 = b"\x89HDF\r\n\x1a\n";
    Some(match () {
        () if at(128, b"DICM") => "DICOM",
        () if [512, 1024, 2048].iter().any(|&offset| at(offset, hdf5)) => "HDF5",
        () if at(4, b"ftyp") => "MP4",
        () if is_notebook(head) => "Jupyter notebook",
        () if at(0, b"RIFF") && at(8, b"WEBP") => "WebP",
        () => return None,
    })
}

/// The kind of document in a zip file: what its first members are called. Other zip files are archives.
fn zipped_kind(head: &[u8]) -> Option<&'static str> {
    const MIME_TYPES: [(&[u8], &str); 3] = [
        (b"mimetypeapplication/epub+zip", "EPUB"),
        (b"mimetypeapplication/vnd.oasis.opendocument", "OpenDocument"),
        (b"mimetypeapplication/vnd.sun.xml", "OpenDocument"),
    ];
    // The name of the first member begins after 30 bytes; its content, which is stored, follows.
    let first = head.get(30..).unwrap_or_default();
    if let Some((_, name)) = MIME_TYPES.iter().find(|(start, _)| first.starts_with(start)) {
        return Some(name);
    }
    let parts: [&[u8]; 4] = [b"[Content_Types].xml", b"word/", b"xl/", b"ppt/"];
    let office: [&[u8]; 5] = [b"[Content_Types].xml", b"_rels/", b"word/", b"xl/", b"ppt/"];
    let is_office = office.iter().any(|part| first.starts_with(part))
        && parts.iter().any(|part| memchr::memmem::find(head, part).is_some());
    is_office.then_some("Office")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip_head(name: &str, content: &str) -> Vec<u8> {
        let mut head = b"PK\x03\x04".to_vec();
        head.resize(26, 0);
        head.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        head.extend_from_slice(&[0, 0]);
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(content.as_bytes());
        head
    }

    #[test]
    fn documents_in_zip_files_are_told_from_other_archives() {
        for (name, content, kind) in [
            ("mimetype", "application/epub+zip", Some("EPUB")),
            ("mimetype", "application/vnd.oasis.opendocument.text", Some("OpenDocument")),
            ("[Content_Types].xml", "", Some("Office")),
            ("_rels/.rels", "…word/document.xml", Some("Office")),
            ("_rels/.rels", "", None),
            ("META-INF/MANIFEST.MF", "", None),
            ("mimetype", "text/plain", None),
        ] {
            assert_eq!(document_kind(&zip_head(name, content)), kind, "{name} {content}");
        }
    }

    #[test]
    fn other_documents_are_known_by_their_first_bytes_and_text_is_none() {
        assert_eq!(document_kind(b"%PDF-1.7\n"), Some("PDF"));
        let mut image = vec![0; 128];
        image.extend_from_slice(b"DICM");
        assert_eq!(document_kind(&image), Some("DICOM"));
        assert_eq!(document_kind(br#"{"cells":[{"cell_type":"code""#), Some("Jupyter notebook"));
        for text in ["", "{}", "plain text", "GRI", "{\\rt", "SIMPLE = yes"] {
            assert_eq!(document_kind(text.as_bytes()), None, "{text}");
        }
    }
}
