//! Documents: text and fields out of office formats, EPUB, RTF and PDF.
//!
//! A format follows from what the file holds, never from its name. Each format's `extract` writes to an
//! [`Output`]; what it found before an error stays there. Start with [`DocumentFormat`].

mod bytes;
mod charset;
pub mod epub;
mod flow;
mod json_tokens;
pub mod notebook;
mod number;
pub mod odf;
pub mod ole;
pub mod ooxml;
mod package;
pub mod pdf;
mod presentation_forms;
mod properties;
pub mod rtf;
mod xhtml;
mod xml;

use std::io::{Read, Seek, SeekFrom};

use self::package::Package;
use crate::error::ExtractError;
use crate::output::Output;
use scanns::extraction::is_notebook;

/// The first bytes of a zip file that is not empty.
const ZIP: &[u8] = b"PK\x03\x04";
/// How far into a file the mark of PDF may stand.
const PDF_HEAD: usize = 1_024;

/// A document format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// Portable Document Format.
    Pdf,
    /// Rich Text Format.
    Rtf,
    /// docx, and its templates and macro forms.
    Word,
    /// xlsx, and its templates and macro forms.
    Excel,
    /// pptx, and its templates and macro forms.
    PowerPoint,
    /// odt.
    OpenDocumentText,
    /// ods.
    OpenDocumentSheet,
    /// odp.
    OpenDocumentSlides,
    /// odg.
    OpenDocumentDrawing,
    /// An electronic book.
    Epub,
    /// doc.
    Word97,
    /// xls.
    Excel97,
    /// ppt.
    PowerPoint97,
    /// msg.
    OutlookMessage,
    /// Jupyter notebook.
    Notebook,
    /// An office document that needs a password.
    EncryptedOffice,
    /// A compound file that is too damaged to tell its format.
    DamagedOffice,
}

impl DocumentFormat {
    /// The format of a file with the first bytes `head`; `None` if it is no document.
    pub fn of(head: &[u8], source: &mut (impl Read + Seek)) -> Option<Self> {
        let start = head.get(..PDF_HEAD).unwrap_or(head);
        if start.windows(5).any(|mark| mark == b"%PDF-") {
            return Some(Self::Pdf);
        }
        if head.trim_ascii_start().starts_with(b"{\\rtf") {
            return Some(Self::Rtf);
        }
        source.seek(SeekFrom::Start(0)).ok()?;
        if head.starts_with(&ole::MAGIC) {
            return in_compound_file(source);
        }
        if head.starts_with(ZIP) {
            return in_zip(head, source);
        }
        if is_notebook(head) {
            return Some(Self::Notebook);
        }
        None
    }

    /// The name that users know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "PDF",
            Self::Rtf => "RTF",
            Self::Word => "Word",
            Self::Excel => "Excel",
            Self::PowerPoint => "PowerPoint",
            Self::OpenDocumentText => "OpenDocument text",
            Self::OpenDocumentSheet => "OpenDocument sheet",
            Self::OpenDocumentSlides => "OpenDocument slides",
            Self::OpenDocumentDrawing => "OpenDocument drawing",
            Self::Epub => "EPUB",
            Self::Word97 => "Word 97",
            Self::Excel97 => "Excel 97",
            Self::PowerPoint97 => "PowerPoint 97",
            Self::OutlookMessage => "Outlook message",
            Self::Notebook => "Jupyter notebook",
            Self::EncryptedOffice | Self::DamagedOffice => "Office",
        }
    }

    /// Takes the text and the fields of a file of this format.
    pub fn extract(self, source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
        source.seek(SeekFrom::Start(0))?;
        match self {
            Self::Pdf => pdf::extract(source, out),
            Self::Rtf => rtf::extract(source, out),
            Self::Word => ooxml::extract_word(source, out),
            Self::Excel => ooxml::extract_workbook(source, out),
            Self::PowerPoint => ooxml::extract_slides(source, out),
            Self::OpenDocumentText
            | Self::OpenDocumentSheet
            | Self::OpenDocumentSlides
            | Self::OpenDocumentDrawing => odf::extract(source, out),
            Self::Epub => epub::extract(source, out),
            Self::Word97 => ole::extract_word(source, out),
            Self::Excel97 => ole::extract_workbook(source, out),
            Self::PowerPoint97 => ole::extract_slides(source, out),
            Self::OutlookMessage => ole::extract_message(source, out),
            Self::Notebook => notebook::extract(source, out),
            Self::EncryptedOffice => Err(ExtractError::Encrypted { format: self.name() }),
            Self::DamagedOffice => ole::content(source).and(Ok(())),
        }
    }
}

/// The document in a compound file.
fn in_compound_file(source: &mut (impl Read + Seek)) -> Option<DocumentFormat> {
    match ole::content(source) {
        Ok(ole::Content::Word) => Some(DocumentFormat::Word97),
        Ok(ole::Content::Workbook) => Some(DocumentFormat::Excel97),
        Ok(ole::Content::Slides) => Some(DocumentFormat::PowerPoint97),
        Ok(ole::Content::Message) => Some(DocumentFormat::OutlookMessage),
        Ok(ole::Content::Encrypted) => Some(DocumentFormat::EncryptedOffice),
        Ok(ole::Content::Other) => None,
        Err(_) => Some(DocumentFormat::DamagedOffice),
    }
}

/// The document in a zip file. ODF and EPUB begin with a member `mimetype` that is not compressed.
fn in_zip(head: &[u8], source: &mut (impl Read + Seek)) -> Option<DocumentFormat> {
    let name_and_data = head.get(30..).unwrap_or_default();
    if let Some(data) = name_and_data.strip_prefix(b"mimetype")
        && let Some(format) = of_media_type(data)
    {
        return Some(format);
    }
    let mut package = Package::open(source, "zip").ok()?;
    if package.has("mimetype") {
        let data = package.small_part("mimetype", 100).ok().flatten()?;
        return of_media_type(&data);
    }
    if !package.has(ooxml::CONTENT_TYPES) {
        return None;
    }
    match ooxml::application(&mut package)? {
        "Word" => Some(DocumentFormat::Word),
        "Excel" => Some(DocumentFormat::Excel),
        _ => Some(DocumentFormat::PowerPoint),
    }
}

/// The format of a media type, which may have more behind it, such as `-template`.
fn of_media_type(data: &[u8]) -> Option<DocumentFormat> {
    if data.starts_with(b"application/epub+zip") {
        return Some(DocumentFormat::Epub);
    }
    let kind = data.strip_prefix(b"application/vnd.oasis.opendocument.")?;
    let kinds: [(&[u8], _); 4] = [
        (b"text", DocumentFormat::OpenDocumentText),
        (b"spreadsheet", DocumentFormat::OpenDocumentSheet),
        (b"presentation", DocumentFormat::OpenDocumentSlides),
        (b"graphics", DocumentFormat::OpenDocumentDrawing),
    ];
    kinds.iter().find(|(word, _)| kind.starts_with(word)).map(|(_, format)| *format)
}

#[cfg(test)]
mod tests;
