//! The decoders of `codec` and of stored values. The first bytes of the data are the parameters of a decoder.

use crate::codec::{
    ByteReader, DeltaReader, Form, Head, ListCursor, NO_MORE, Numbers, OnlyPositions, Presence, StringBatch,
    StringBlock, SymbolTable, put_varint,
};
use crate::schema::{FieldEntry, FieldKind, Schema, decode_stored};

/// The maximum number of elements that a decoder is asked for, so that the time of a target does not grow
/// with a number in the data.
const MOST: usize = 4_096;

/// A number below `bound` from the data; 0 at its end.
fn below(reader: &mut ByteReader, bound: usize) -> usize {
    reader.u32().map_or(0, |number| number as usize % bound)
}

/// Reads integers to the end of the data, and checks that encoding them again takes as many bytes or fewer.
pub(super) fn varints(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    while let Some(value) = reader.varint() {
        let mut written = Vec::new();
        put_varint(&mut written, value);
        assert_eq!(ByteReader::new(&written).varint(), Some(value));
    }
}

/// Decodes a list of postings: an intact list gives rising documents below the limit, and seeking finds the
/// same documents as stepping. A list with a table does not contain its number of documents; the check of a
/// segment compares the number with the dictionary.
pub(super) fn postings(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let max_doc = u32::try_from(below(&mut reader, 1 << 20)).unwrap_or(0);
    let doc_freq = u32::try_from(below(&mut reader, MOST)).unwrap_or(0);
    let Some(mut cursor) = ListCursor::new(reader.remaining(), doc_freq, max_doc) else { return };
    let mut docs = Vec::new();
    while cursor.doc() != NO_MORE && docs.len() <= MOST {
        docs.push(cursor.doc());
        cursor.tf();
        cursor.step();
    }
    for block in 0..cursor.blocks() {
        cursor.block_last(block);
        cursor.block_impacts(block);
    }
    cursor.list_impacts();
    if cursor.corrupt() {
        return;
    }
    assert!(docs.is_sorted_by(|a, b| a < b) && docs.last().is_none_or(|&doc| doc < max_doc));
    for &doc in docs.iter().step_by(7) {
        if let Some(mut cursor) = ListCursor::new(reader.remaining(), doc_freq, max_doc) {
            cursor.advance(doc.saturating_sub(1));
            let found = cursor.seek(doc);
            assert!(found == doc || cursor.corrupt(), "{doc} is in the list, but seeking it ends at {found}");
        }
    }
}

/// Taking, skipping and seeking differences ends, for any bytes.
pub(super) fn positions(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let total = below(&mut reader, MOST) as u64;
    let doc_freq = u32::try_from(below(&mut reader, MOST)).unwrap_or(0);
    let offsets = reader.u8().is_some_and(|byte| byte & 1 == 1);
    let open = || DeltaReader::<OnlyPositions>::new(reader.remaining(), doc_freq, total, offsets);
    let Some(mut deltas) = open() else { return };
    let mut taken = 0;
    while taken < total && deltas.take(1, |_| ()).is_some() {
        taken += 1;
    }
    if let Some(mut deltas) = open() {
        let _ = deltas.skip(total / 2);
        let _ = deltas.seek(0);
        let _ = deltas.take(1, |_| ());
    }
}

/// Reading numbers one at a time gives the same result as unpacking them together.
pub(super) fn numbers(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let Some(form) = reader.u8().and_then(|code| Form::from_code(code % 8)) else { return };
    let width = u8::try_from(below(&mut reader, 70)).unwrap_or(0);
    let (base, step) = (reader.u64().unwrap_or(0), reader.u64().unwrap_or(0));
    let extra = u32::try_from(below(&mut reader, MOST)).unwrap_or(0);
    let count = below(&mut reader, MOST);
    let Some(numbers) = Numbers::read(reader.remaining(), Head { form, width, base, step, extra }, count)
    else {
        return;
    };
    let mut all = vec![0; count];
    let together = numbers.unpack(0, &mut all);
    let each: Option<Vec<u64>> = (0..count).map(|at| numbers.get(at)).collect();
    if let (Some(()), Some(each)) = (together, each) {
        assert_eq!(all, each);
    }
}

/// The listed documents are the documents that have a rank, in order.
pub(super) fn presence(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let code = reader.u8().unwrap_or(0) % 5;
    let documents = below(&mut reader, MOST + 1);
    let present = below(&mut reader, MOST + 1);
    let Some((presence, _)) = Presence::read(reader.remaining(), code, documents, present) else { return };
    let mut listed = Vec::new();
    if presence.list(&mut listed).is_none() {
        return;
    }
    for doc in 0..documents {
        presence.rank(doc);
    }
    assert!(listed.iter().all(|&doc| usize::from(doc) < documents.max(1) || documents == 0));
}

/// Every string of a block is read or refused.
pub(super) fn strings(data: &[u8]) {
    let Some(block) = StringBlock::open(data) else { return };
    let (mut text, mut out) = (Vec::new(), Vec::new());
    if block.unpack(&mut text).is_none() {
        return;
    }
    for at in 0..(block.len() as usize).min(MOST) {
        out.clear();
        let _ = block.get_from(&text, at, &mut out);
    }
    let mut batch = StringBatch::new();
    let _ = block.fill(&text, 0, &mut batch);
}

/// A table of symbols that is accepted is written with the same bytes, and decompression respects the allowed
/// size.
pub(super) fn symbols(data: &[u8]) {
    let mut reader = ByteReader::new(data);
    let Some(table) = SymbolTable::decode(&mut reader) else { return };
    let mut written = Vec::new();
    table.encode(&mut written);
    assert_eq!(written, &data[..data.len() - reader.remaining().len()]);
    let mut out = Vec::new();
    let _ = table.decompress(reader.remaining(), MOST, &mut out);
    assert!(out.len() <= MOST);
}

/// Stored values are read or refused; accepted values fit the schema.
pub(super) fn stored_values(data: &[u8]) {
    let mut schema = Schema::new();
    let kinds =
        [FieldKind::Keyword, FieldKind::Unsigned, FieldKind::Signed, FieldKind::Float, FieldKind::Bytes];
    let kinds = kinds.into_iter().chain([FieldKind::Boolean, FieldKind::Date, FieldKind::Path]);
    for (number, kind) in kinds.enumerate() {
        if schema.add(FieldEntry::new(&format!("field{number}"), kind).stored()).is_err() {
            return;
        }
    }
    for (field, value) in decode_stored(&schema, data, |_| true).into_iter().flatten() {
        assert!(schema.entry(field).is_some_and(|entry| value.as_ref().fits(&entry.kind)));
    }
}
