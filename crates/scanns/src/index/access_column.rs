//! The column of access classes, which say who may see a document: `source/access/class.rs`.

use crate::error::Result;
use crate::schema::{Field, FieldEntry, FieldKind, Records, Schema};

/// The name of the column. No other field of a file has a name that begins like this.
const ACCESS: &str = "_access";

/// Adds the column to the schema of a new index.
pub(super) fn add_access(schema: &mut Schema) -> Result<()> {
    schema.add(FieldEntry::new(ACCESS, FieldKind::Keyword).column().not_searched())?;
    Ok(())
}

/// The column in a schema of files. Records may have a field of the same name, which is not it.
pub(crate) fn access_field(schema: &Schema, records: Records) -> Option<Field> {
    let path = schema.entry(schema.field("path")?)?;
    let field = schema.field(ACCESS).filter(|_| records == Records::File)?;
    let entry = schema.entry(field)?;
    let is_it = entry.kind == FieldKind::Keyword && entry.column && !entry.searched;
    (is_it && path.kind == FieldKind::Path).then_some(field)
}
