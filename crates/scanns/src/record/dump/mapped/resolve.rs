//! Finds the map of a table: from what the user says, and for the other fields from the names of columns and
//! their first values, where these are certain.

use super::conversion::Conversion;
use super::field::{FieldClass, MapField};
use super::guess;
use super::names::{ColumnMeaning, named};
use super::row::MappedRow;
use super::spec::{ColumnMap, ColumnRef, MapEntry};
use super::table_map::{ColumnType, MapSlot, MapView, MappedField, TableColumn, TableMap};
use super::value::{TableValue, is_unknown};
use crate::record::dump::{DumpTally, number};
use crate::schema::format_date;
use crate::source::Entry;

/// The most columns that a message names.
const NAMED: usize = 30;

/// The map of a table with these columns, and how to show it.
///
/// # Errors
/// What is wrong with the map, or that no column is certainly the path.
pub fn resolve(spec: &ColumnMap, columns: &[TableColumn]) -> Result<(TableMap, MapView), String> {
    let mut map = TableMap {
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        ..TableMap::default()
    };
    let mut remarks = Vec::new();
    for entry in &spec.entries {
        map.slots.extend(given(entry, columns)?);
    }
    for (field, _) in MapField::ALL {
        if spec.entries.iter().any(|entry| entry.field == field) {
            continue;
        }
        match field {
            MapField::Path => map.slots.extend(guessed_path(columns)),
            field => map.slots.extend(guessed(field, columns, &map.slots, &mut remarks)),
        }
    }
    if !map.slots.iter().any(|slot| slot.field == MapField::Path) {
        return Err(no_path(columns));
    }
    let place = |slot: &MapSlot| MapField::ALL.iter().position(|(field, _)| *field == slot.field);
    map.slots.sort_by_key(place);
    let view = view(&map, columns, remarks);
    Ok((map, view))
}

/// The slots of an entry of the user.
fn given(entry: &MapEntry, columns: &[TableColumn]) -> Result<Vec<MapSlot>, String> {
    let slot = |column: &ColumnRef| {
        let number = find(column, columns)?;
        let Some(found) = columns.get(number) else { return Err(String::new()) };
        let conversion = match &entry.conversion {
            Some(conversion) => conversion.clone(),
            None => {
                let hint = hint(entry.field, &found.name);
                let by_values = guess::conversion(entry.field, found, hint.as_ref());
                by_values.map_err(|reason| {
                    let field = entry.field.name();
                    format!(
                        "{field}={}: {reason}, as in --map {field}={}:{}",
                        found.name,
                        found.name,
                        example(entry.field)
                    )
                })?
            }
        };
        Ok(MapSlot { field: entry.field, column: number, conversion })
    };
    entry.columns.iter().map(slot).collect()
}

/// What the name of a column says about the values of a field.
fn hint(field: MapField, name: &str) -> Option<Conversion> {
    match named(name) {
        Some(ColumnMeaning::Field(known, hint, _)) if known == field => hint,
        _ => None,
    }
}

/// A conversion of the field, as an example.
fn example(field: MapField) -> &'static str {
    match field.class() {
        FieldClass::Time => "epoch",
        FieldClass::Size => "bytes",
        FieldClass::Mode => "octal",
        FieldClass::Kind => "words",
        _ => "decimal",
    }
}

/// The number of a column, from 0.
fn find(column: &ColumnRef, columns: &[TableColumn]) -> Result<usize, String> {
    let unknown = |what: String| format!("{what}: {}", listed(columns));
    match column {
        ColumnRef::Number(number) => number
            .checked_sub(1)
            .filter(|at| *at < columns.len())
            .ok_or_else(|| unknown(format!("there is no column #{number}"))),
        ColumnRef::Name(name) => {
            let mut same = (0..).zip(columns).filter(|(_, column)| column.name == *name);
            let mut close = (0..).zip(columns).filter(|(_, column)| column.name.eq_ignore_ascii_case(name));
            match (same.next(), same.next()) {
                (Some((at, _)), None) => Ok(at),
                (Some(_), Some(_)) => {
                    Err(unknown(format!("several columns are called '{name}': write #NUMBER instead")))
                }
                (None, _) => match (close.next(), close.next()) {
                    (Some((at, _)), None) => Ok(at),
                    _ => Err(unknown(format!("there is no column '{name}'"))),
                },
            }
        }
    }
}

/// The names of the columns.
fn listed(columns: &[TableColumn]) -> String {
    let names: Vec<_> = columns.iter().take(NAMED).map(|column| column.name.as_str()).collect();
    let more = if columns.len() > NAMED { ", …" } else { "" };
    format!("the columns are {}{more}", names.join(", "))
}

fn no_path(columns: &[TableColumn]) -> String {
    let named = columns.first().map_or("NAME", |column| column.name.as_str());
    format!("no column is certainly the path: name it, such as --map path={named}; {}", listed(columns))
}

/// The columns of the path: one of it, or one of the directory and one of the name.
fn guessed_path(columns: &[TableColumn]) -> Vec<MapSlot> {
    let of = |wanted: &ColumnMeaning| {
        let mut found = (0..).zip(columns).filter(|(_, column)| named(&column.name).as_ref() == Some(wanted));
        match (found.next(), found.next()) {
            (Some((at, column)), None) => Some((at, column)),
            _ => None,
        }
    };
    let slot = |column| MapSlot { field: MapField::Path, column, conversion: Conversion::Plain };
    let slashes = |column: &TableColumn| {
        let with = column.samples.iter().filter(|sample| sample.contains(&b'/')).count();
        (with, column.samples.len())
    };
    match (of(&ColumnMeaning::Path), of(&ColumnMeaning::Directory), of(&ColumnMeaning::Name)) {
        (Some((path, _)), ..) => vec![slot(path)],
        (None, Some((directory, _)), Some((name, column))) if slashes(column).0 == 0 => {
            vec![slot(directory), slot(name)]
        }
        (None, None, Some((name, column)))
            if slashes(column).0 > 0 && slashes(column).0 == slashes(column).1 =>
        {
            vec![slot(name)]
        }
        _ => Vec::new(),
    }
}

/// The best column whose name says that it fills the field, if its values fit.
fn guessed(
    field: MapField,
    columns: &[TableColumn],
    taken: &[MapSlot],
    remarks: &mut Vec<String>,
) -> Option<MapSlot> {
    let mut candidates: Vec<_> = (0..)
        .zip(columns)
        .filter_map(|(at, column)| match named(&column.name)? {
            ColumnMeaning::Field(known, hint, place) => {
                let (known, place) =
                    if is_number_of(known, column) { (number_of(known), usize::MAX) } else { (known, place) };
                (known == field && !taken.iter().any(|slot| slot.column == at))
                    .then_some((place, at, column, hint))
            }
            _ => None,
        })
        .collect();
    candidates.sort_by_key(|(place, ..)| *place);
    for (_, at, column, hint) in candidates {
        match guess::conversion(field, column, hint.as_ref()) {
            Ok(conversion) => return Some(MapSlot { field, column: at, conversion }),
            Err(reason) => remarks.push(format!("{} is not used as {}: {reason}", column.name, field.name())),
        }
    }
    None
}

/// True for a column of owners or groups with numbers instead of names.
fn is_number_of(field: MapField, column: &TableColumn) -> bool {
    let mut known = column.samples.iter().filter(|sample| !is_unknown(sample)).peekable();
    matches!(field, MapField::Owner | MapField::Group)
        && known.peek().is_some()
        && known.all(|sample| number::decimal(sample).is_some())
}

fn number_of(field: MapField) -> MapField {
    if field == MapField::Owner { MapField::Uid } else { MapField::Gid }
}

/// The map for people.
fn view(map: &TableMap, columns: &[TableColumn], remarks: Vec<String>) -> MapView {
    let mut fields: Vec<MappedField> = Vec::new();
    for slot in &map.slots {
        let column = map.column(slot.column);
        match fields.last_mut() {
            Some(last) if last.field == slot.field.name() => {
                last.column.push('+');
                last.column.push_str(column);
            }
            _ => fields.push(MappedField {
                field: slot.field.name(),
                column: column.to_owned(),
                conversion: conversion_name(slot, columns),
                first: Vec::new(),
            }),
        }
    }
    let sample = |slot: &MapSlot| columns.get(slot.column).and_then(|column| column.samples.first());
    let mut row = MappedRow::new(map);
    row.start(0);
    let mut tally = DumpTally::default();
    for (number, slot) in map.slots.iter().enumerate() {
        let is_moment = columns.get(slot.column).is_some_and(|column| column.kind == ColumnType::Moment);
        let Some(sample) = sample(slot) else { continue };
        let value = match number::signed(sample) {
            Some(moment) if is_moment => TableValue::Moment(moment),
            _ => TableValue::Text(sample),
        };
        row.put(number, value, &mut tally);
    }
    if let Some(entry) = row.peek() {
        for field in &mut fields {
            field.first = shown(&entry, field.field);
        }
    }
    let unused = (0..).zip(columns).filter(|(at, _)| !map.used().any(|used| used == *at));
    MapView { fields, unused: unused.map(|(_, column)| column.name.clone()).collect(), remarks }
}

fn conversion_name(slot: &MapSlot, columns: &[TableColumn]) -> String {
    let is_moment = columns.get(slot.column).is_some_and(|column| column.kind == ColumnType::Moment);
    if is_moment && slot.field.class() == FieldClass::Time {
        return "timestamp".into();
    }
    slot.conversion.name(slot.field)
}

/// The value of a field, for people; empty if it is not known.
fn shown(entry: &Entry<'_>, field: &str) -> Vec<u8> {
    let number = |number: Option<u64>| number.map(|number| number.to_string().into_bytes());
    let moment = |moment: Option<i64>| moment.map(|moment| format_date(moment).into_bytes());
    let text = |text: Option<&[u8]>| text.map(<[u8]>::to_vec);
    let found = match MapField::named(field) {
        Some(MapField::Path) => text(Some(entry.path)),
        Some(MapField::Kind) => text(entry.kind.map(|kind| kind.name().as_bytes())),
        Some(MapField::Target) => text(entry.target),
        Some(MapField::Owner) => text(entry.owner),
        Some(MapField::Group) => text(entry.group),
        Some(MapField::Pool) => text(entry.pool),
        Some(MapField::Modified) => moment(entry.mtime),
        Some(MapField::Accessed) => moment(entry.atime),
        Some(MapField::Changed) => moment(entry.ctime),
        Some(MapField::Born) => moment(entry.btime),
        Some(MapField::Size) => number(entry.size),
        Some(MapField::Blocks) => number(entry.blocks),
        Some(MapField::Uid) => number(entry.uid.map(u64::from)),
        Some(MapField::Gid) => number(entry.gid.map(u64::from)),
        Some(MapField::Mode) => entry.mode.map(|mode| format!("{mode:04o}").into_bytes()),
        Some(MapField::Inode) => number(entry.inode),
        Some(MapField::Links) => number(entry.links),
        Some(MapField::Device) => number(entry.device),
        Some(MapField::Stripes) => number(entry.stripes),
        Some(MapField::Project) => number(entry.project),
        Some(MapField::Latest | MapField::Deleted) | None => None,
    };
    found.unwrap_or_default()
}
