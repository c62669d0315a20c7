//! The values of all columns, and of those with others in them: lists as arrays, structs and maps as objects,
//! and the values of dictionaries, runs and unions as they are.
//!
//! In an array, what has no JSON is `null`; in an object, its member is left out. A list in a list can repeat
//! its values again and again, so a line that has become too long ends the loop.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, MapArray, OffsetSizeTrait, StructArray, UnionArray};
use arrow_schema::{DataType, Field, Fields};

use super::cells::{WriteCell, flat};
use super::json_text::push_string;
use super::line::LineBuffer;

/// The deepest nesting of columns. The engine refuses records that are nested deeper than 128.
const MOST_DEPTH: usize = 100;

/// The members of an object: what stands in front of the value of each, and the value.
pub(super) struct Members<'a> {
    members: Vec<(Vec<u8>, WriteCell<'a>)>,
}

impl<'a> Members<'a> {
    /// One member for each column, of its name.
    pub(super) fn of(array: &'a StructArray, depth: usize) -> Result<Self, String> {
        let columns = array.fields().iter().zip(array.columns());
        let member = |(field, column): (&'a arrow_schema::FieldRef, &'a arrow_array::ArrayRef)| {
            let mut start = Vec::new();
            push_string(&mut start, field.name());
            start.push(b':');
            Ok((start, cells(column.as_ref(), field, depth)?))
        };
        Ok(Self { members: columns.map(member).collect::<Result<_, String>>()? })
    }

    /// Writes the object of a row.
    pub(super) fn write(&self, row: usize, out: &mut LineBuffer) {
        out.bytes.push(b'{');
        let start = out.bytes.len();
        for (name, write) in &self.members {
            let before = out.bytes.len();
            if before > start {
                out.bytes.push(b',');
            }
            out.bytes.extend_from_slice(name);
            if !write(row, out) {
                out.bytes.truncate(before);
            }
            if out.is_too_long() {
                return;
            }
        }
        out.bytes.push(b'}');
    }
}

/// The values of an array of a column or of a part of one, `depth` levels deep.
///
/// # Errors
/// A type that has no JSON, or one that is nested too deep.
fn cells<'a>(array: &'a dyn Array, field: &Field, depth: usize) -> Result<WriteCell<'a>, String> {
    if depth > MOST_DEPTH {
        return Err(format!("columns are nested deeper than {MOST_DEPTH}"));
    }
    let write = match array.data_type() {
        DataType::Null => Box::new(|_, _: &mut LineBuffer| false),
        kind if kind.is_nested()
            || matches!(kind, DataType::Dictionary(..) | DataType::RunEndEncoded(..)) =>
        {
            nested(array, field, depth)?
        }
        _ => flat(array, is_uuid(field))?,
    };
    let len = array.len();
    // Offsets of damaged files may lead beyond the array.
    Ok(match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => Box::new(move |row, out| row < len && nulls.is_valid(row) && write(row, out)),
        None => Box::new(move |row, out| row < len && write(row, out)),
    })
}

fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
}

/// The values of an array with others in it.
fn nested<'a>(array: &'a dyn Array, field: &Field, depth: usize) -> Result<WriteCell<'a>, String> {
    Ok(match array.data_type() {
        DataType::Struct(_) => {
            let members = Members::of(array.as_struct(), depth + 1)?;
            Box::new(move |row, out| {
                members.write(row, out);
                true
            })
        }
        DataType::List(item) => list::<i32>(array, item, depth)?,
        DataType::LargeList(item) => list::<i64>(array, item, depth)?,
        DataType::ListView(item) => list_view::<i32>(array, item, depth)?,
        DataType::LargeListView(item) => list_view::<i64>(array, item, depth)?,
        DataType::FixedSizeList(item, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            let items = cells(array.as_fixed_size_list().values().as_ref(), item, depth + 1)?;
            // A list of nothing but nulls can be longer than any file.
            Box::new(move |row, out| push_list(&items, row.saturating_mul(size), size, out))
        }
        DataType::Map(entries, _) => map(array.as_map(), entries, depth)?,
        DataType::Union(..) => union(array.as_union(), depth)?,
        DataType::Dictionary(_, kind) => dictionary(array, &with_type(field, kind), depth)?,
        DataType::RunEndEncoded(ends, values) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(array, values, depth)?,
            DataType::Int32 => runs::<Int32Type>(array, values, depth)?,
            DataType::Int64 => runs::<Int64Type>(array, values, depth)?,
            kind => return Err(format!("a column has runs that end at numbers of the type {kind}")),
        },
        kind => return Err(format!("a column has the type {kind}, which has no form in JSON")),
    })
}

/// A field like another of a different type.
fn with_type(field: &Field, kind: &DataType) -> Field {
    field.clone().with_data_type(kind.clone())
}

/// Writes `size` values from `start` on as an array.
fn push_list(items: &WriteCell<'_>, start: usize, size: usize, out: &mut LineBuffer) -> bool {
    out.bytes.push(b'[');
    for at in start..start.saturating_add(size) {
        if at > start {
            out.bytes.push(b',');
        }
        let before = out.bytes.len();
        if !items(at, out) {
            out.bytes.truncate(before);
            out.bytes.extend_from_slice(b"null");
        }
        if out.is_too_long() {
            return true;
        }
    }
    out.bytes.push(b']');
    true
}

fn place<O: OffsetSizeTrait>(offset: O) -> usize {
    offset.to_usize().unwrap_or(usize::MAX)
}

fn list<'a, O: OffsetSizeTrait>(
    array: &'a dyn Array,
    item: &Field,
    depth: usize,
) -> Result<WriteCell<'a>, String> {
    let list = array.as_list::<O>();
    let items = cells(list.values().as_ref(), item, depth + 1)?;
    let offsets = list.value_offsets();
    Ok(Box::new(move |row, out| {
        let (Some(start), Some(end)) = (offsets.get(row), offsets.get(row + 1)) else { return false };
        push_list(&items, place(*start), place(*end).saturating_sub(place(*start)), out)
    }))
}

fn list_view<'a, O: OffsetSizeTrait>(
    array: &'a dyn Array,
    item: &Field,
    depth: usize,
) -> Result<WriteCell<'a>, String> {
    let list = array.as_list_view::<O>();
    let items = cells(list.values().as_ref(), item, depth + 1)?;
    Ok(Box::new(move |row, out| {
        let (Some(start), Some(size)) = (list.value_offsets().get(row), list.value_sizes().get(row)) else {
            return false;
        };
        push_list(&items, place(*start), place(*size), out)
    }))
}

/// Maps become objects. Keys that are not texts become texts of their JSON.
fn map<'a>(array: &'a MapArray, entries: &Field, depth: usize) -> Result<WriteCell<'a>, String> {
    let no_fields = Fields::empty();
    let fields = if let DataType::Struct(fields) = entries.data_type() { fields } else { &no_fields };
    let [key, value] = fields.as_ref() else { return Err("a map has no keys and values".to_owned()) };
    let keys = cells(array.keys().as_ref(), key, depth + 1)?;
    let values = cells(array.values().as_ref(), value, depth + 1)?;
    let offsets = array.value_offsets();
    Ok(Box::new(move |row, out| {
        let (Some(start), Some(end)) = (offsets.get(row), offsets.get(row + 1)) else { return false };
        out.bytes.push(b'{');
        let first = out.bytes.len();
        for at in place(*start)..place(*end) {
            let before = out.bytes.len();
            if before > first {
                out.bytes.push(b',');
            }
            let is_written = push_key(&keys, at, out) && {
                out.bytes.push(b':');
                values(at, out)
            };
            if !is_written {
                out.bytes.truncate(before);
            }
            if out.is_too_long() {
                return true;
            }
        }
        out.bytes.push(b'}');
        true
    }))
}

fn push_key(keys: &WriteCell<'_>, at: usize, out: &mut LineBuffer) -> bool {
    let start = out.bytes.len();
    if !keys(at, out) {
        return false;
    }
    if out.bytes.get(start) != Some(&b'"') {
        let json = out.bytes.split_off(start);
        push_string(&mut out.bytes, &String::from_utf8_lossy(&json));
    }
    true
}

fn union(array: &UnionArray, depth: usize) -> Result<WriteCell<'_>, String> {
    let DataType::Union(fields, _) = array.data_type() else { return Err("no union".to_owned()) };
    let mut children = Vec::new();
    for (id, field) in fields.iter() {
        children.push((id, cells(array.child(id).as_ref(), field, depth + 1)?));
    }
    Ok(Box::new(move |row, out| {
        let id = array.type_id(row);
        let child = children.iter().find(|(of, _)| *of == id);
        child.is_some_and(|(_, write)| write(array.value_offset(row), out))
    }))
}

fn dictionary<'a>(array: &'a dyn Array, field: &Field, depth: usize) -> Result<WriteCell<'a>, String> {
    let dictionary = array.as_any_dictionary();
    let values = cells(dictionary.values().as_ref(), field, depth + 1)?;
    let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    Ok(Box::new(move |row, out| keys.get(row).is_some_and(|key| values(*key, out))))
}

fn runs<'a, R: RunEndIndexType>(
    array: &'a dyn Array,
    field: &Field,
    depth: usize,
) -> Result<WriteCell<'a>, String> {
    let Some(runs) = array.as_run_opt::<R>() else { return Err("no runs".to_owned()) };
    let values = cells(runs.values().as_ref(), field, depth + 1)?;
    Ok(Box::new(move |row, out| values(runs.get_physical_index(row), out)))
}
