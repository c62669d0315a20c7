//! Fields of entries of file systems that few entries have. An index has extended attributes and ACLs only if
//! the scan that made it was to store them, and then every later scan stores them, too. Indexes of earlier
//! versions have none of the fields.
//!
//! | field | kind | |
//! |---|---|---|
//! | `rdev` | unsigned | the device that a device file stands for |
//! | `xattrs` | text | extended attributes, a value for each: `user.project=climate`; found by their words |
//! | `acl` | keyword | the ACLs: `user::rw-,user:1000:r--,…` |

use super::options::ScanSettings;
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::schema::{Analyzer, Field, FieldEntry, FieldKind, Schema, ValueRef};
use crate::source::{Entry, ScanOptions};

const RDEV: &str = "rdev";
const XATTRS: &str = "xattrs";
const ACL: &str = "acl";

/// The fields, as far as the schema has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareFields {
    rdev: Option<Field>,
    /// Extended attributes.
    pub(crate) xattrs: Option<Field>,
    /// ACLs.
    pub(crate) acl: Option<Field>,
}

/// The fields of a schema that everybody may see who may see an entry.
pub(super) fn rare_properties(schema: &Schema) -> impl Iterator<Item = Field> {
    let RareFields { rdev, acl, .. } = RareFields::of(schema);
    rdev.into_iter().chain(acl)
}

impl RareFields {
    /// Adds the fields to a schema: those of attributes only if `settings` ask for them.
    pub(super) fn add(schema: &mut Schema, settings: ScanSettings) -> Result<()> {
        schema.add(FieldEntry::new(RDEV, FieldKind::Unsigned).column().not_searched())?;
        if settings.xattrs {
            schema.add(FieldEntry::text(XATTRS).analyzer(Analyzer::Code).positions().column())?;
        }
        if settings.acl {
            schema.add(FieldEntry::new(ACL, FieldKind::Keyword).column().not_searched())?;
        }
        Ok(())
    }

    /// The fields of a schema.
    pub(crate) fn of(schema: &Schema) -> Self {
        let column = |name: &str, is_kind: fn(&FieldKind) -> bool| {
            let is_it = |entry: &FieldEntry| is_kind(&entry.kind) && entry.column;
            schema.field(name).filter(|&field| schema.entry(field).is_some_and(is_it))
        };
        RareFields {
            rdev: column(RDEV, |kind| *kind == FieldKind::Unsigned),
            xattrs: column(XATTRS, |kind| matches!(kind, FieldKind::Text { .. })),
            acl: column(ACL, |kind| *kind == FieldKind::Keyword),
        }
    }

    /// The options of a scan that finds the attributes of these fields.
    pub(super) fn scanned(self, options: ScanOptions) -> ScanOptions {
        ScanOptions { xattrs: self.xattrs.is_some(), acl: self.acl.is_some(), ..options }
    }

    /// True if entries have extended attributes or ACLs.
    pub(crate) fn have_attributes(self) -> bool {
        self.xattrs.is_some() || self.acl.is_some()
    }

    /// Refuses settings that ask for attributes which the index does not store: entries that have not changed
    /// would lack them.
    pub(super) fn check(self, settings: ScanSettings) -> Result<()> {
        for (wanted, field, what) in [
            (settings.xattrs, self.xattrs, "storing extended attributes (--xattrs)"),
            (settings.acl, self.acl, "storing ACLs (--acl)"),
        ] {
            if wanted && field.is_none() {
                return Err(Error::Conflict {
                    what: what.into(),
                    with: "the index, which was made without them".into(),
                    remedy: "make another index with this option, or leave it out".into(),
                });
            }
        }
        Ok(())
    }

    /// Adds the numbers of an entry to the current document.
    pub(super) fn push_numbers(self, entry: &Entry<'_>, columns: &mut ColumnSet) {
        if let (Some(field), Some(device)) = (self.rdev, entry.rdev) {
            columns.push(field, ValueRef::Unsigned(device));
        }
    }

    /// Adds the texts of an entry to the current document.
    pub(super) fn push_texts(self, entry: &Entry<'_>, columns: &mut ColumnSet) {
        if let (Some(field), Some(xattrs)) = (self.xattrs, entry.xattrs) {
            xattrs.split(|&byte| byte == b'\n').for_each(|line| columns.push(field, ValueRef::Text(line)));
        }
        if let (Some(field), Some(acl)) = (self.acl, entry.acl) {
            columns.push(field, ValueRef::Text(acl));
        }
    }

    /// Adds the numbers of many entries as documents.
    pub(super) fn extend_numbers<'e, 'b: 'e>(
        self,
        entries: impl Iterator<Item = &'e Entry<'b>>,
        columns: &mut ColumnSet,
    ) -> Result<()> {
        match self.rdev {
            Some(field) => columns.extend(field, entries.map(|entry| entry.rdev.map(ValueRef::Unsigned))),
            None => Ok(()),
        }
    }
}
