//! What to do with files that are not plain text.

use crate::schema::{Field, FieldKind, Schema};

/// The most bytes of a page or a document of which the text is found: of a page, the text of the first bytes,
/// of a document in an archive or in compressed form, none if it is longer.
pub const MAX_DOCUMENT: usize = 64 << 20;

/// What to do with files that are not plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentOptions {
    /// Whether to read no file at all. Documents then have only names and metadata, and directories, symbolic
    /// links and special files are documents too.
    pub names_only: bool,
    /// Whether to leave out the content of binary files. If false, it is indexed as if it were text.
    pub skip_binary: bool,
    /// Whether to decompress gzip, Zstandard, xz, bzip2, LZ4 and compress.
    pub decompress: bool,
    /// Whether to convert text in other encodings to UTF-8.
    pub transcode: bool,
    /// Of which formats to find the text, if documents are files.
    pub extract: Extraction,
    /// Whether the records of web archives, mailboxes and other collections are documents, and messages of
    /// mail are decoded, if documents are files and [`ContentOptions::extract`] is not
    /// [`Extraction::None`].
    pub collections: bool,
    /// Whether to find out in which language a document is that does not say so, if documents are files or
    /// pages of web archives.
    pub languages: bool,
    /// Whether to store a sketch of the text of each document, by which near-duplicates are found, in the
    /// column `sketch`. Documents must be files or records.
    pub near_duplicates: bool,
}

/// The column of the sketches of texts.
pub(crate) const SKETCH: &str = "sketch";

/// The formats of files whose text is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extraction {
    /// None: pages are indexed with their tags, and archives and documents are binary files.
    None,
    /// Those that this process reads by itself: web pages, and the members of archives.
    Safe,
    /// In addition those that need the parsers of others, which run in processes of their own: PDF, office
    /// documents, headers of scientific files.
    #[default]
    All,
}

impl Default for ContentOptions {
    fn default() -> Self {
        ContentOptions {
            names_only: false,
            skip_binary: true,
            decompress: true,
            transcode: true,
            extract: Extraction::default(),
            collections: true,
            languages: false,
            near_duplicates: false,
        }
    }
}

impl ContentOptions {
    /// Every byte of a file is its text.
    pub const RAW: ContentOptions = ContentOptions {
        names_only: false,
        skip_binary: false,
        decompress: false,
        transcode: false,
        extract: Extraction::None,
        collections: false,
        languages: false,
        near_duplicates: false,
    };

    /// The column of sketches in a schema, if the index has them.
    pub(crate) fn sketch_field(self, schema: &Schema) -> Option<Field> {
        let field = schema.field(SKETCH).filter(|_| self.near_duplicates)?;
        let entry = schema.entry(field)?;
        (entry.column && entry.kind == FieldKind::Unsigned).then_some(field)
    }
}
