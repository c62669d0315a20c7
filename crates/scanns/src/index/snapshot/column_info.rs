//! Statistics of the values of each column, over all segments.

use std::collections::BTreeMap;

use super::open::Snapshot;
use crate::column::{Column, ColumnKind};
use crate::error::Result;
use crate::schema::{Field, Value};

/// Statistics of a column. They include the values of deleted documents that still take space.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    /// The field.
    pub field: Field,
    /// The number of documents that have a value.
    pub documents: u64,
    /// The number of values in all these documents.
    pub values: u64,
    /// The least value of numbers, dates, booleans and keywords.
    pub least: Option<Value>,
    /// The greatest value of numbers, dates, booleans and keywords.
    pub greatest: Option<Value>,
    /// The number of distinct keywords; `None` for other kinds.
    pub distinct: Option<u64>,
    /// The size of the column in all segments, in bytes.
    pub bytes: u64,
    /// The number of blocks by encoding. The names of paths are not included.
    pub blocks: BTreeMap<&'static str, u64>,
}

impl Snapshot {
    /// Returns the statistics of each column, in field order. Reads the keywords of all segments to count
    /// them.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a column cannot be read;
    /// [`Error::Unsupported`](crate::Error::Unsupported) if the snapshot is
    /// [seen by a view](Snapshot::seen_by).
    pub fn columns(&self) -> Result<Vec<ColumnInfo>> {
        self.refuse_in_view("the statistics of columns")?;
        let of = |field: Field| self.leaves().iter().filter_map(move |segment| segment.column(field));
        self.schema().columns().map(|(field, _)| describe(field, &of(field).collect::<Vec<_>>())).collect()
    }
}

fn describe(field: Field, columns: &[&Column]) -> Result<ColumnInfo> {
    let mut info = ColumnInfo {
        field,
        documents: 0,
        values: 0,
        least: None,
        greatest: None,
        distinct: None,
        bytes: 0,
        blocks: BTreeMap::new(),
    };
    for column in columns {
        info.documents += column.present();
        info.values += column.values();
        info.bytes += column.bytes();
        for block in 0..column.blocks() {
            let entry = column.entry(block)?;
            let name = match entry.values {
                0 => "empty",
                _ if entry.strings => "strings",
                _ => entry.head.form.name(),
            };
            *info.blocks.entry(name).or_default() += 1;
        }
    }
    let Some(kind) = columns.first().map(|column| column.kind()) else { return Ok(info) };
    if kind == ColumnKind::Keyword {
        let (distinct, least, greatest) = keywords(columns)?;
        (info.distinct, info.least, info.greatest) = (Some(distinct), least, greatest);
    } else if kind.is_number() {
        let bounds = || columns.iter().filter_map(|column| column.bounds());
        info.least = bounds().map(|(least, _)| least).min().map(|order| kind.value_of(order));
        info.greatest = bounds().map(|(_, most)| most).max().map(|order| kind.value_of(order));
    }
    Ok(info)
}

/// The number of distinct terms of columns, and the first and the last of them.
fn keywords(columns: &[&Column]) -> Result<(u64, Option<Value>, Option<Value>)> {
    let mut cursors: Vec<_> =
        columns.iter().filter_map(|column| column.terms()).map(|terms| terms.cursor_from(0)).collect();
    let mut heads: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    let mut next = |at: usize, heads: &mut BTreeMap<Vec<u8>, Vec<usize>>| -> Result<()> {
        let Some(cursor) = cursors.get_mut(at) else { return Ok(()) };
        if let Some((_, term)) = cursor.next()? {
            match heads.get_mut(term) {
                Some(sources) => sources.push(at),
                None => drop(heads.insert(term.to_vec(), vec![at])),
            }
        }
        Ok(())
    };
    for at in 0..columns.len() {
        next(at, &mut heads)?;
    }
    let (mut distinct, mut first, mut last) = (0, None, None);
    while let Some((term, sources)) = heads.pop_first() {
        distinct += 1;
        first.get_or_insert_with(|| Value::Text(term.clone()));
        for at in sources {
            next(at, &mut heads)?;
        }
        if heads.is_empty() {
            last = Some(Value::Text(term));
        }
    }
    Ok((distinct, first, last))
}
