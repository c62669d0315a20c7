//! What an index keeps of its documents: chosen with its first build, read back by hits.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Snapshot;
use super::manifest::Manifest;
use crate::error::{Error, Result};
use crate::schema::{Compression, Field, Schema, Store, Stored, Value, decode_stored};
use crate::search::Hit;
use crate::segment::{Reference, Segment, StoredFigures, TermInDocument};
use crate::source::Stamp;

/// What to keep of documents beside what searching needs. An index has it from its first build on, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredOptions {
    /// What is kept of their text; `None` for what the index has, or nothing for a new one.
    pub store: Option<Store>,
    /// How what is kept is compressed from now on; `None` for what was said last, or [`Compression::Lz4`].
    pub compression: Option<Compression>,
    /// Whether the terms of each document are kept in order; `None` for what the index has, or not for a new one.
    pub vectors: Option<bool>,
}

/// What the index keeps of documents, which what is added must share.
pub(super) fn choose_stored(current: Option<&Manifest>, wanted: &StoredOptions) -> Result<Stored> {
    let refuse = |had: String| {
        Err(Error::Options(format!(
            "the index was built {had}, and what is added needs the same: leave the option out or build another index"
        )))
    };
    let Some(Stored { store, compression, vectors }) = current.map(|current| current.stored) else {
        return Ok(Stored {
            store: wanted.store.unwrap_or_default(),
            compression: wanted.compression.unwrap_or_default(),
            vectors: wanted.vectors.unwrap_or_default(),
        });
    };
    if wanted.store.is_some_and(|wanted| wanted != store) {
        return refuse(format!("with --store {}", store.name()));
    }
    match (vectors, wanted.vectors) {
        (true, Some(false)) => refuse("with vectors".into()),
        (false, Some(true)) => refuse("without vectors".into()),
        _ => Ok(Stored { store, compression: wanted.compression.unwrap_or(compression), vectors }),
    }
}

/// Refuses what cannot be kept of documents with such fields.
pub(super) fn check_stored(schema: &Schema, stored: &Stored) -> Result<()> {
    let refuse = |why: &str| Err(Error::Options(why.into()));
    if schema.stores() && stored.store != Store::Content {
        return refuse(
            "the schema stores fields, and the options say otherwise: leave the store to the schema",
        );
    }
    let one_text = schema.searched().count() == 1
        && schema.default_field().and_then(|field| schema.analyzer(field)).is_some();
    if stored.vectors && !one_text {
        return refuse(
            "vectors need a schema with one searched field, a text: leave the vectors out, or the other fields",
        );
    }
    Ok(())
}

/// Sizes of what is stored in all segments.
pub(super) fn figures(segments: &[Segment]) -> Result<StoredFigures> {
    let mut sum = StoredFigures::default();
    for segment in segments {
        let one = segment.stored_figures()?;
        sum.documents += one.documents;
        sum.document_text += one.document_text;
        sum.vectors += one.vectors;
        sum.vector_text += one.vector_text;
    }
    Ok(sum)
}

impl Snapshot {
    /// The text of the document of a hit, as it was read: a file, or a line without its line feed; `None` if the index
    /// keeps none. Where a schema stores fields, it is that of the field that is searched where none is named.
    ///
    /// An index that keeps references reads the file again. Its path is as it was given to the build: a relative one
    /// is looked for from the current directory.
    ///
    /// # Errors
    /// [`Error::SourceChanged`] if a file that is referred to is gone or has changed, [`Error::Corrupt`] if what is
    /// stored cannot be read.
    pub fn document(&self, hit: &Hit) -> Result<Option<Vec<u8>>> {
        self.front(hit, u64::MAX)
    }

    /// The same, of what is read from a file no more than so many bytes.
    pub(super) fn front(&self, hit: &Hit, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(segment) = self.leaf(hit) else { return Ok(None) };
        match segment.store() {
            Store::None => Ok(None),
            Store::Content if self.schema().stores() => {
                let Some(values) = self.values(hit)? else { return Ok(None) };
                let default = self.schema().default_field();
                let texts = values.into_iter().filter_map(|(field, value)| match value {
                    Value::Text(text) if Some(field) == default => Some(text),
                    _ => None,
                });
                Ok(texts.reduce(|all, next| [all, next].concat()))
            }
            Store::Content => segment.content(hit.doc),
            Store::Reference => {
                segment.reference(hit.doc)?.map(|reference| read_reference(&reference, most)).transpose()
            }
        }
    }

    /// The stored values of the document of a hit, in the order in which they were given; `None` if the schema stores no
    /// field.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if what is stored cannot be read.
    pub fn values(&self, hit: &Hit) -> Result<Option<Vec<(Field, Value)>>> {
        let Some(segment) = self.leaf(hit).filter(|_| self.schema().stores()) else { return Ok(None) };
        let Some(bytes) = segment.content(hit.doc)? else { return Ok(None) };
        let damaged = || segment.damaged_values(hit.doc);
        decode_stored(self.schema(), &bytes).map(Some).ok_or_else(damaged)
    }

    /// The values of some fields of the document of a hit, in the order of the fields: those of its column where a field
    /// is one, numbers and keywords ascending, and otherwise what is stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they cannot be read.
    pub fn field_values(&self, hit: &Hit, fields: &[Field]) -> Result<Vec<Vec<Value>>> {
        let Some(segment) = self.leaf(hit) else { return Ok(vec![Vec::new(); fields.len()]) };
        let is_column = |field: Field| self.schema().entry(field).is_some_and(|entry| entry.column);
        let stored = match fields.iter().all(|&field| is_column(field)) {
            true => None,
            false => self.values(hit)?,
        };
        let values = |&field: &Field| {
            let mut values = Vec::new();
            if !is_column(field) {
                let own = stored.iter().flatten().filter(|(of, _)| *of == field);
                values.extend(own.map(|(_, value)| value.clone()));
            } else if let Some(column) = segment.column(field).filter(|column| hit.doc < column.documents()) {
                column.values_of(hit.doc, &mut values)?;
            }
            Ok(values)
        };
        fields.iter().map(values).collect()
    }

    /// The terms of the document of a hit, in the order of their bytes, and where in it each stands; `None` if the index
    /// has no vectors.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they cannot be read.
    pub fn vector(&self, hit: &Hit) -> Result<Option<Vec<TermInDocument>>> {
        self.leaf(hit).map_or(Ok(None), |segment| segment.vector(hit.doc))
    }

    /// Bytes of what is stored of documents, deleted ones included.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a segment does not say.
    pub fn stored_figures(&self) -> Result<StoredFigures> {
        figures(self.leaves())
    }
}

/// Reads what is referred to, at most so many bytes of it, if its file is what it was.
fn read_reference(reference: &Reference, most: u64) -> Result<Vec<u8>> {
    let path = Path::new(OsStr::from_bytes(&reference.path));
    let changed = |what: String| Error::SourceChanged { path: path.to_path_buf(), what };
    let failed = |action, source: std::io::Error| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory if path.is_relative() => {
            changed("it is not there, looked for from the current directory".into())
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => changed("it is gone".into()),
        _ => Error::Io { action, path: PathBuf::from(path), source },
    };
    let mut file = File::open(path).map_err(|source| failed("open", source))?;
    check_stamp(&file, reference, path)?;
    let (start, len) = reference.span.unwrap_or((0, reference.stamp.bytes));
    let len = len.min(most);
    if start > 0 {
        file.seek(SeekFrom::Start(start)).map_err(|source| failed("read", source))?;
    }
    let mut text = Vec::new();
    (&mut file).take(len).read_to_end(&mut text).map_err(|source| failed("read", source))?;
    // Whoever writes to it meanwhile moves its time of modification.
    check_stamp(&file, reference, path)?;
    if text.len() as u64 == len { Ok(text) } else { Err(changed("it is shorter than it was".into())) }
}

fn check_stamp(file: &File, reference: &Reference, path: &Path) -> Result<()> {
    let now = file.metadata().map_err(|source| Error::io("look at", path, source))?;
    let modified = now.mtime().saturating_mul(1_000_000_000).saturating_add(now.mtime_nsec());
    let now = Stamp { bytes: now.len(), modified };
    if now == reference.stamp {
        return Ok(());
    }
    let what = match now.bytes == reference.stamp.bytes {
        true => "it was modified since".into(),
        false => format!("it has {} bytes and had {}", now.bytes, reference.stamp.bytes),
    };
    Err(Error::SourceChanged { path: path.to_path_buf(), what })
}
