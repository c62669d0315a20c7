//! The description of a field in a manifest. `manifest.rs` has the grammar.

use crate::codec::{ByteReader, put_varint};
use crate::record::Sources;
use crate::schema::{Analyzer, CHAIN, Chain, Field, FieldEntry, FieldKind, Postings, ValueFormat};

/// How a field follows from records.
pub(super) struct FieldSource {
    pub(super) source: String,
    pub(super) format: ValueFormat,
    pub(super) is_key: bool,
}

impl FieldSource {
    pub(super) fn of(sources: &Sources, field: Field, entry: &FieldEntry) -> Self {
        let source = sources.source(field).unwrap_or(&entry.name).into();
        FieldSource { source, format: sources.format(field), is_key: sources.key() == Some(field) }
    }
}

/// Appends a field.
pub(super) fn put_field(out: &mut Vec<u8>, entry: &FieldEntry, source: &FieldSource) {
    for text in [entry.name.as_str(), &source.source, source.format.name()] {
        put_varint(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    }
    let kind = match entry.kind {
        FieldKind::Text { .. } => 0u32,
        FieldKind::Keyword => 1,
        FieldKind::Unsigned => 2,
        FieldKind::Signed => 3,
        FieldKind::Float => 4,
        FieldKind::Bytes => 5,
        FieldKind::Boolean => 6,
        FieldKind::Date => 7,
        FieldKind::Path => 8,
    };
    let uses = u32::from(entry.stored)
        | u32::from(entry.column) << 1
        | u32::from(entry.searched) << 2
        | u32::from(source.is_key) << 3
        | u32::from(entry.by_default) << 4;
    out.extend([kind, uses].map(u32::to_le_bytes).as_flattened());
    if let FieldKind::Text { analyzer, postings } = &entry.kind {
        let (code, parameters) = analyzer.code();
        out.extend([postings.code(), code].map(u32::to_le_bytes).as_flattened());
        out.extend(parameters.map(u64::to_le_bytes).as_flattened());
        if let Analyzer::Chain(chain) = analyzer {
            let text = chain.to_string();
            put_varint(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Reads a field; `None` if it is invalid.
pub(super) fn read_field(reader: &mut ByteReader<'_>) -> Option<(FieldEntry, FieldSource)> {
    let mut text = || String::from_utf8(read_text(reader)?).ok();
    let (name, source, format) = (text()?, text()?, ValueFormat::parse(&text()?).ok()?);
    let (kind, uses) = (reader.u32()?, reader.u32()?);
    let kind = match kind {
        0 => {
            let (postings, code) = (Postings::from_code(reader.u32()?)?, reader.u32()?);
            let parameters = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
            let analyzer = match (code, parameters) {
                (CHAIN, [0, 0, 0, 0]) => Analyzer::Chain(Chain::from_stored(&read_text(reader)?)?),
                _ => Analyzer::from_code(code, parameters)?,
            };
            FieldKind::Text { analyzer, postings }
        }
        1 => FieldKind::Keyword,
        2 => FieldKind::Unsigned,
        3 => FieldKind::Signed,
        4 => FieldKind::Float,
        5 => FieldKind::Bytes,
        6 => FieldKind::Boolean,
        7 => FieldKind::Date,
        8 => FieldKind::Path,
        _ => return None,
    };
    let uses_of = |bit: u32| uses & bit != 0;
    let (stored, column, searched, by_default) = (uses_of(1), uses_of(2), uses_of(4), uses_of(16));
    let source = FieldSource { source, format, is_key: uses_of(8) };
    (uses <= 31 && format.fits(&kind))
        .then_some((FieldEntry { name, kind, stored, column, searched, by_default }, source))
}

/// Reads a text behind its length.
pub(super) fn read_text(reader: &mut ByteReader<'_>) -> Option<Vec<u8>> {
    let len = usize::try_from(reader.varint()?).ok()?;
    reader.take(len).map(<[u8]>::to_vec)
}
