//! Who may see the documents of an index: figures, classes of documents, and what a user may see.

use std::collections::BTreeSet;

use super::access_bits::{visible_to, without_class};
use super::open::Snapshot;
use super::part::IndexPart;
use crate::error::{Error, Result};
use crate::index::access_column::access_field;
use crate::schema::Field;
use crate::search::Hit;
use crate::segment::{Segment, VisibleDocs};
use crate::source::access::{AccessClass, AccessUser};

/// What is known of who may see the documents of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessFigures {
    /// The number of different classes.
    pub classes: u64,
    /// The number of classes that cannot be decided, whose documents only root sees.
    pub undecided: u64,
    /// The number of documents without a class, which nobody sees.
    pub unclassed: u64,
}

impl IndexPart {
    /// The column of access classes.
    pub(super) fn access(&self) -> Option<Field> {
        access_field(&self.schema, self.records)
    }
}

impl Snapshot {
    /// True if it is known of the documents of all indexes who may see them.
    pub fn has_access(&self) -> bool {
        self.parts.iter().all(|part| part.access().is_some())
    }

    /// True for a column that means nothing to people: sketches of texts, and access classes.
    pub fn is_internal(&self, field: Field) -> bool {
        let is_access = |part: &IndexPart| part.access().and_then(|own| part.joined(own)) == Some(field);
        self.sketch_field() == Some(field) || self.parts.iter().any(is_access)
    }

    /// What is known of who may see the documents; `None` if nothing is.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if classes cannot be read.
    pub fn access_figures(&self) -> Result<Option<AccessFigures>> {
        if !self.parts.iter().any(|part| part.access().is_some()) {
            return Ok(None);
        }
        let (mut classes, mut unclassed) = (BTreeSet::new(), 0);
        for (segment, field) in self.classed_segments() {
            unclassed += without_class(segment, field)?;
            let Some(terms) = field.and_then(|field| segment.column(field)).and_then(|column| column.terms())
            else {
                continue;
            };
            if !terms.is_empty() {
                let mut cursor = terms.cursor_from(0);
                while let Some((_, class)) = cursor.next()? {
                    classes.insert(class.to_vec());
                }
            }
        }
        let is_undecided =
            |class: &&Vec<u8>| AccessClass::parse(class).is_none_or(|class| class.is_undecided());
        let undecided = classes.iter().filter(is_undecided).count() as u64;
        Ok(Some(AccessFigures { classes: classes.len() as u64, undecided, unclassed }))
    }

    /// The access class of a document; `None` if it has none, or one that cannot be read.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the column cannot be read.
    pub fn access_class(&self, hit: &Hit) -> Result<Option<AccessClass>> {
        let Some((segment, Some(field))) = self.classed_segments().nth(hit.leaf) else { return Ok(None) };
        let Some(column) = segment.column(field) else { return Ok(None) };
        let (Some(number), Some(terms)) = (column.first(hit.doc)?, column.terms()) else { return Ok(None) };
        let mut text = Vec::new();
        terms.term(u32::try_from(number).unwrap_or(u32::MAX), &mut text)?;
        Ok(AccessClass::parse(&text))
    }

    /// The documents of each segment that a user may see, for [`Snapshot::seen_by`]. Nobody sees documents
    /// without a class.
    ///
    /// # Errors
    /// [`Error::NotInView`] for a view, which does not show classes; [`Error::Corrupt`] if they cannot be
    /// read.
    pub fn visible_to(&self, user: &AccessUser) -> Result<Vec<VisibleDocs>> {
        self.visible_to_until(user, &|| false)
    }

    fn visible_to_until(&self, user: &AccessUser, stop: &dyn Fn() -> bool) -> Result<Vec<VisibleDocs>> {
        self.refuse_in_view("who may see documents")?;
        let of_segment = |(segment, field): (&Segment, Option<Field>)| {
            if stop() { Err(Error::Cancelled) } else { visible_to(segment, field, user) }
        };
        self.classed_segments().map(of_segment).collect()
    }

    /// Returns the same commit as a user sees it: as an index would be of what he could list and read when
    /// the index was built. Root sees everything. See [`Snapshot::seen_by`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an index was built without access classes, [`Error::NotInView`] for a view,
    /// [`Error::Corrupt`] if classes cannot be read.
    pub fn seen_as(&self, user: &AccessUser) -> Result<Snapshot> {
        self.seen_as_until(user, &|| false)
    }

    /// Does the same until `stop` returns true, which is asked before each segment.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was stopped, and the errors of [`Snapshot::seen_as`].
    pub fn seen_as_until(&self, user: &AccessUser, stop: &dyn Fn() -> bool) -> Result<Snapshot> {
        if !self.has_access() {
            return Err(Error::Unsupported {
                what: "an index without access classes, as a user sees it".into(),
                remedy: "build an index with scanns index --access".into(),
            });
        }
        self.refuse_in_view("who may see documents")?;
        if user.is_root() {
            return Ok(self.clone());
        }
        self.seen_by(&self.visible_to_until(user, stop)?)
    }

    /// The segments in the order of leaves, each with the number that its index gives to the column.
    fn classed_segments(&self) -> impl Iterator<Item = (&Segment, Option<Field>)> {
        self.parts.iter().flat_map(|part| part.segments.iter().map(|segment| (segment, part.access())))
    }
}
