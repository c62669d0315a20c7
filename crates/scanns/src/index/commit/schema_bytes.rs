//! A schema as bytes, for messages between processes.
//!
//! ```text
//! schema = varint(number of fields) | field …      see `manifest.rs` for fields
//! ```

use super::manifest_field::{FieldSource, put_field, read_field};
use crate::codec::{ByteReader, put_varint};
use crate::record::Sources;
use crate::schema::Schema;

/// Encodes a schema.
pub(crate) fn put_schema(schema: &Schema) -> Vec<u8> {
    let (mut out, sources) = (Vec::new(), Sources::of(schema));
    put_varint(&mut out, schema.fields().count() as u64);
    for (field, entry) in schema.fields() {
        put_field(&mut out, entry, &FieldSource::of(&sources, field, entry));
    }
    out
}

/// Decodes a schema; `None` if the bytes are not one.
pub(crate) fn read_schema(bytes: &[u8]) -> Option<Schema> {
    let (mut reader, mut schema) = (ByteReader::new(bytes), Schema::new());
    for _ in 0..reader.varint()? {
        schema.add(read_field(&mut reader)?.0).ok()?;
    }
    reader.remaining().is_empty().then_some(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Analyzer, FieldEntry, FieldKind, Postings};

    #[test]
    fn schemas_read_back_and_any_bytes_do_no_harm() {
        let mut schema = Schema::of_files(Analyzer::English, Postings::Offsets);
        schema.add(FieldEntry::text("title").stored().searched_by_default()).unwrap();
        schema.add(FieldEntry::new("size", FieldKind::Unsigned).column()).unwrap();
        let bytes = put_schema(&schema);
        assert_eq!(read_schema(&bytes), Some(schema));
        assert_eq!(read_schema(&put_schema(&Schema::new())), Some(Schema::new()));
        for at in 0..bytes.len() {
            assert_eq!(read_schema(&bytes[..at]), None, "cut at {at}");
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                let _ = read_schema(&other);
            }
        }
    }
}
