//! The schema of Arrow IPC files (Feather 2) and streams, by the crate `arrow-ipc`.
//!
//! ```text
//! file   = "ARROW1" padding stream footer length:4 "ARROW1"   padding: zeros to byte 8, or 64 by arrow-rs
//! stream = message*              message = ffffffff length:4 flatbuffer body; the first one is the schema
//! ```

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_ipc::convert::try_fb_to_schema;
use arrow_schema::{DataType, Field, Schema};

use super::bytes::{Bytes, MOST_READ, Order, Source};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "Arrow";
/// The deepest nest of columns that is written.
const MOST_DEPTH: usize = 64;

/// Writes the schema.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let head = source.read_at(0, 68)?;
    let start = first_message(&head);
    let prefix = source.read_at(start, 8)?;
    let mut bytes = Bytes::new(&prefix, Order::Little);
    let first = bytes.u32();
    // Writers before version 0.15 leave out the mark.
    let (at, len) = if first == Some(u32::MAX) { (start + 8, bytes.u32()) } else { (start + 4, first) };
    let len = len.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= MOST_READ);
    let message = source.read_at(at, len.unwrap_or(0))?;
    let schema = catch_unwind(AssertUnwindSafe(|| schema_of(&message)));
    let schema = schema.unwrap_or_else(|_| Err("the reader of the schema failed".into()));
    write(&schema.map_err(|reason| ExtractError::damaged(FORMAT, reason))?, out);
    Ok(())
}

/// Where the first message of a file with these first bytes is.
fn first_message(head: &[u8]) -> u64 {
    if !head.starts_with(b"ARROW1") {
        return 0;
    }
    let is_there = |at: &usize| head.get(*at..at + 4).is_some_and(|word| word != [0; 4]);
    (8..=64).step_by(8).find(is_there).unwrap_or(8) as u64
}

fn schema_of(message: &[u8]) -> Result<Schema, String> {
    let message = arrow_ipc::root_as_message(message).map_err(|error| error.to_string())?;
    let schema = message.header_as_schema().ok_or("the first message is not a schema")?;
    try_fb_to_schema(schema).map_err(|error| error.to_string())
}

fn write(schema: &Schema, out: &mut Output) {
    let mut group = Group::default();
    for field in schema.fields() {
        add(field, "", &mut group.variables, 0);
    }
    for (name, value) in &schema.metadata {
        group.attributes.push(Attribute::text(name, value));
    }
    group.attributes.sort_by(|a, b| a.name.cmp(&b.name));
    cdl::write(FORMAT, &group, out);
}

/// Adds a column and those in it, by their path.
fn add(field: &Field, path: &str, variables: &mut Vec<Variable>, depth: usize) {
    let name = if path.is_empty() { field.name().clone() } else { format!("{path}.{}", field.name()) };
    let mut attributes: Vec<Attribute> =
        field.metadata().iter().map(|(name, value)| Attribute::text(name, value)).collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    let kind = field.data_type().to_string();
    let dtype = kind.split(['(', ' ']).next().unwrap_or(&kind).to_ascii_lowercase();
    if dtype.len() < kind.len() {
        attributes.push(Attribute::text("type", kind));
    }
    variables.push(Variable { name: name.clone(), dtype, attributes, ..Variable::default() });
    if depth >= MOST_DEPTH {
        return;
    }
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|child| add(child, &name, variables, depth + 1)),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => {
            add(child, &name, variables, depth + 1);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

    use super::*;
    use crate::science::ScienceFormat;

    #[test]
    fn the_first_message_is_found_however_far_its_writer_aligns_it() {
        let schema = Schema::new(vec![Field::new("depth", DataType::Float64, true)]);
        for alignment in [8, 16, 32, 64] {
            let options = IpcWriteOptions::try_new(alignment, false, arrow_ipc::MetadataVersion::V5).unwrap();
            let mut file = Vec::new();
            FileWriter::try_new_with_options(&mut file, &schema, options).unwrap().finish().unwrap();
            let mut out = Output::new(1 << 20, 100);
            let size = file.len() as u64;
            ScienceFormat::Arrow.extract(&mut Cursor::new(file), size, &mut out).unwrap();
            let (text, fields, _) = out.into_parts();
            assert!(fields.contains(&("var", "depth".to_owned())), "{alignment}: {text}");
        }
    }
}
