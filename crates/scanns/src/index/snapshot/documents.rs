//! Reads the stored data of documents for hits: text, values, term vectors.

use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::open::Snapshot;
use super::part::IndexPart;
use crate::error::{Error, Result};
use crate::index::commit::indexed_files::archive_of;
use crate::read::{TextReading, text_of_file, text_of_member};
use crate::record::{COLLECTIONS, contents_of_records};
use crate::schema::{Field, Store, Value, decode_stored};
use crate::search::Hit;
use crate::segment::{Reference, StoredFigures, TermInDocument};
use crate::source::Stamp;
use crate::sys::{PERMISSIONS, ReadIdentity, open_regular};

impl Snapshot {
    /// Returns the original text of the document of a hit: a file, or a line without its line feed. Returns
    /// `None` if the index stores no text. If the schema stores fields, this is the text of the default
    /// field.
    ///
    /// An index that stores references reads the file again.
    ///
    /// # Errors
    /// [`Error::SourceChanged`] if a referenced file is missing or has changed; [`Error::Corrupt`] if the
    /// stored text cannot be read.
    pub fn document(&self, hit: &Hit) -> Result<Option<Vec<u8>>> {
        self.document_start(hit, u64::MAX)
    }

    /// Like [`Snapshot::document`], but reads at most `most` bytes of a referenced file.
    pub(crate) fn document_start(&self, hit: &Hit, most: u64) -> Result<Option<Vec<u8>>> {
        let Some(segment) = self.leaf(hit) else { return Ok(None) };
        match segment.store() {
            Store::None => Ok(None),
            Store::Content if self.stores(hit) => {
                let texts = self.texts(hit, self.default_field_of(hit))?;
                Ok(texts.map(|texts| texts.concat()))
            }
            _ if !segment.has_content(hit.doc) => Ok(None),
            Store::Content => segment.with_content(hit.doc, &self.stored_cache, <[u8]>::to_vec),
            Store::Reference => {
                let Some(part) = self.part(hit.leaf) else { return Ok(None) };
                let Some(reference) = segment.reference(hit.doc)? else { return Ok(None) };
                let expected = self.expected(&reference)?;
                part.read_reference(&reference, expected, most).map(Some)
            }
        }
    }

    /// The first value of the field with a name.
    pub(crate) fn first_value(&self, hit: &Hit, name: &str) -> Result<Option<Value>> {
        let Some(field) = self.schema().field(name) else { return Ok(None) };
        Ok(self.field_values(hit, &[field])?.into_iter().flatten().next())
    }

    /// The file that a view expects where a reference leads; `None` without a view.
    ///
    /// This process may read more than the user of a view, who may have put a link in the place of the file.
    fn expected(&self, reference: &Reference) -> Result<Option<ReadIdentity>> {
        if !self.is_view() {
            return Ok(None);
        }
        let path = Path::new(OsStr::from_bytes(&reference.path));
        let file = archive_of(path).map_or(path, |(outer, _)| outer);
        let number = |hit: &Hit, name| -> Result<Option<u64>> {
            Ok(match self.first_value(hit, name)? {
                Some(Value::Unsigned(number)) => Some(number),
                Some(Value::Date(moment)) => u64::try_from(moment).ok(),
                _ => None,
            })
        };
        let narrow = |number: u64| u32::try_from(number).ok();
        let identity = |hit: Hit| -> Result<Option<ReadIdentity>> {
            let (device, inode) = (number(&hit, "device")?, number(&hit, "inode")?);
            let changed = number(&hit, "ctime")?.and_then(|moment| i64::try_from(moment).ok());
            let [uid, gid, mode] = [number(&hit, "uid")?, number(&hit, "gid")?, number(&hit, "mode")?]
                .map(|of| of.and_then(narrow));
            Ok((|| {
                let (device, inode, changed) = (device?, inode?, changed?);
                Some(ReadIdentity { device, inode, changed, uid: uid?, gid: gid?, mode: mode? & PERMISSIONS })
            })())
        };
        let found = self.hit(file.as_os_str().as_bytes())?.map(identity).transpose()?.flatten();
        found
            .map(Some)
            .ok_or(Error::NotInView { what: "the text of files that the index does not know well" })
    }

    /// The stored texts of a field of the document of a hit, in the order in which they were given; `None` if
    /// the document has none.
    pub(super) fn texts(&self, hit: &Hit, field: Field) -> Result<Option<Vec<Vec<u8>>>> {
        let values = self.values_in(hit, Some(&[field]))?.into_iter().flatten();
        let texts: Vec<Vec<u8>> = values
            .filter_map(|(of, value)| match value {
                Value::Text(text) if of == field => Some(text),
                _ => None,
            })
            .collect();
        Ok(Some(texts).filter(|texts| !texts.is_empty()))
    }

    /// Returns the stored values of the document of a hit, in their original order; `None` if the schema
    /// stores no fields.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored values cannot be read.
    pub fn values(&self, hit: &Hit) -> Result<Option<Vec<(Field, Value)>>> {
        self.values_in(hit, None)
    }

    /// Does the same for the values of some fields; `None` for all.
    fn values_in(&self, hit: &Hit, fields: Option<&[Field]>) -> Result<Option<Vec<(Field, Value)>>> {
        let Some(segment) = self.leaf(hit).filter(|_| self.stores(hit)) else { return Ok(None) };
        let Some(part) = self.part(hit.leaf) else { return Ok(None) };
        let is_wanted = |field: Field| {
            fields.is_none_or(|fields| part.joined(field).is_none_or(|joined| fields.contains(&joined)))
        };
        let decode = |bytes: &[u8]| decode_stored(&part.schema, bytes, is_wanted);
        let Some(values) = segment.with_content(hit.doc, &self.stored_cache, decode)? else {
            return Ok(None);
        };
        let damaged = || segment.damaged_values(hit.doc);
        let mut values = values.ok_or_else(damaged)?;
        if let Some(view) = segment.view().filter(|_| !segment.has_content(hit.doc)) {
            values.retain(|(field, _)| !view.is_content(*field));
        }
        for (field, _) in &mut values {
            *field = part.joined(*field).ok_or_else(damaged)?;
        }
        Ok(Some(values))
    }

    /// True if the index of a hit stores values of fields.
    pub(super) fn stores(&self, hit: &Hit) -> bool {
        self.part(hit.leaf).is_some_and(|part| part.schema.stores())
    }

    /// A field, or the default field of the index of a hit if that index lacks the field.
    pub(super) fn field_of(&self, hit: &Hit, field: Field) -> Field {
        let lacks = |part: &IndexPart| part.numbers.as_ref().is_some_and(|all| all.own(field).is_none());
        if self.part(hit.leaf).is_some_and(lacks) { self.default_field_of(hit) } else { field }
    }

    /// The default field of the index of a hit.
    pub(super) fn default_field_of(&self, hit: &Hit) -> Field {
        self.part(hit.leaf).map_or(self.default_field(), IndexPart::default_field)
    }

    /// Returns the values of the document of a hit in each of `fields`. The values of a column come from the
    /// column, numbers and keywords in ascending order; other values come from the stored values.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the values cannot be read.
    pub fn field_values(&self, hit: &Hit, fields: &[Field]) -> Result<Vec<Vec<Value>>> {
        let Some(segment) = self.leaf(hit) else { return Ok(vec![Vec::new(); fields.len()]) };
        let is_column = |field: Field| self.schema().entry(field).is_some_and(|entry| entry.column);
        let all_columns = fields.iter().all(|&field| is_column(field));
        let stored = if all_columns { None } else { self.values_in(hit, Some(fields))? };
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

    /// Returns the terms of the document of a hit, in byte order, with their positions; `None` if the index
    /// has no vectors.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the vector cannot be read.
    pub fn vector(&self, hit: &Hit) -> Result<Option<Vec<TermInDocument>>> {
        let Some(segment) = self.leaf(hit) else { return Ok(None) };
        let vector = segment.vector(hit.doc)?;
        // A document without the field has an empty vector.
        Ok(vector.map(|terms| if segment.shows_field(hit.doc) { terms } else { Vec::new() }))
    }

    /// Returns the sizes of the stored data of documents, including deleted documents.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the sizes of a segment cannot be read; [`Error::NotInView`] if the snapshot is
    /// [seen by a view](Snapshot::seen_by).
    pub fn stored_figures(&self) -> Result<StoredFigures> {
        self.refuse_in_view("the sizes of stored documents")?;
        let mut sum = StoredFigures::default();
        for segment in self.leaves() {
            let one = segment.stored_figures()?;
            sum.documents += one.documents;
            sum.document_text += one.document_text;
            sum.vectors += one.vectors;
            sum.vector_text += one.vector_text;
        }
        Ok(sum)
    }
}

impl IndexPart {
    /// Reads at most `most` bytes of a referenced document, and checks that its file has not changed.
    fn read_reference(
        &self,
        reference: &Reference,
        expected: Option<ReadIdentity>,
        most: u64,
    ) -> Result<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(&reference.path));
        let changed = |what: &str| Error::SourceChanged { path: path.to_path_buf(), what: what.into() };
        let failed = |action, source: std::io::Error| match source.kind() {
            _ if expected.is_some() => changed("it cannot be read as it was"),
            ErrorKind::NotFound | ErrorKind::NotADirectory => changed("it no longer exists"),
            _ => Error::Io { action, path: PathBuf::from(path), source },
        };
        if let Some((outer, inner)) = archive_of(path) {
            return self.read_member(reference, expected, outer, inner, most);
        }
        let (file, _) = open_regular(path).map_err(|source| failed("open", source))?;
        let mut file = File::from(file);
        check_file(&file, expected, path)?;
        check_stamp(&file, reference, path)?;
        let (start, len) = reference.span.unwrap_or((0, u64::MAX));
        let text = text_of_file(&mut file, self.reading(), start, len.min(most));
        let text = text.map_err(|source| failed("read", source))?;
        // A write during the read has changed the time of modification.
        check_file(&file, expected, path)?;
        check_stamp(&file, reference, path)?;
        let is_short = reference.span.is_some() && (text.len() as u64) < len.min(most);
        if is_short { Err(changed("it became shorter")) } else { Ok(text) }
    }

    fn reading(&self) -> TextReading {
        let contents = contents_of_records(self.contents, self.records);
        TextReading { contents, collections: &COLLECTIONS }
    }

    /// Reads at most `most` bytes of a document that is the member `inner` of an archive.
    fn read_member(
        &self,
        reference: &Reference,
        expected: Option<ReadIdentity>,
        outer: &Path,
        inner: &[u8],
        most: u64,
    ) -> Result<Vec<u8>> {
        let (file, _) = open_regular(outer).map_err(|source| Error::io("open", outer, source))?;
        let file = File::from(file);
        let same = file.try_clone().map_err(|source| Error::io("open", outer, source))?;
        check_file(&same, expected, outer)?;
        check_stamp(&file, reference, outer)?;
        let (start, len) = reference.span.unwrap_or((0, u64::MAX));
        let text = text_of_member(file, inner, self.reading(), start.saturating_add(len));
        let mut text = text.map_err(|source| Error::io("read", outer, source))?;
        check_file(&same, expected, outer)?;
        text.drain(..usize::try_from(start).unwrap_or(usize::MAX).min(text.len()));
        text.truncate(usize::try_from(len.min(most)).unwrap_or(usize::MAX));
        Ok(text)
    }
}

/// Refuses a file that is not the expected one, or has changed, or may be read by others now.
fn check_file(file: &File, expected: Option<ReadIdentity>, path: &Path) -> Result<()> {
    let Some(expected) = expected else { return Ok(()) };
    match ReadIdentity::of(file) {
        Ok(found) if found == expected => Ok(()),
        // Nothing is told of another file.
        _ => {
            Err(Error::SourceChanged { path: path.to_path_buf(), what: "it cannot be read as it was".into() })
        }
    }
}

fn check_stamp(file: &File, reference: &Reference, path: &Path) -> Result<()> {
    let now = file.metadata().map_err(|source| Error::io("look at", path, source))?;
    let modified = now.mtime().saturating_mul(1_000_000_000).saturating_add(now.mtime_nsec());
    let now = Stamp { bytes: now.len(), modified };
    if now == reference.stamp {
        return Ok(());
    }
    let what = if now.bytes == reference.stamp.bytes {
        "it has been modified".into()
    } else {
        format!("it has {} bytes, but had {}", now.bytes, reference.stamp.bytes)
    };
    Err(Error::SourceChanged { path: path.to_path_buf(), what })
}
