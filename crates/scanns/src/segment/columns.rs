//! The columns of a segment: written with it, opened, carried over when segments are merged, and checked.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::merge::{GoOn, Order, Renumbering};
use super::reader::Segment;
use super::{COLUMN, COLUMN_INDEX, file_name, of_field};
use crate::column::{Column, ColumnKind, ColumnSet, ColumnWriter, Range, Scan};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::store::{Envelope, EnvelopeWriter};

/// Documents between two calls of `go_on`.
const LOOK_EVERY: u32 = 1 << 14;

/// Writes the columns of an index thread, which are empty after that.
pub(super) fn write(columns: &mut ColumnSet, out: &mut EnvelopeWriter) -> Result<()> {
    columns.drain(|field, blocks, index| {
        out.begin(of_field(COLUMN, field))?;
        out.write(blocks)?;
        out.begin(of_field(COLUMN_INDEX, field))?;
        out.write(index)
    })
}

/// The columns of a file, ascending.
pub(super) fn open(file: &Envelope, documents: u32) -> Result<Vec<(Field, Column)>> {
    let of_column = |kind: u32| (kind & 0xff == COLUMN).then(|| u16::try_from(kind >> 8).ok());
    let fields: BTreeSet<Field> =
        file.kinds().filter_map(of_column).flatten().filter_map(Field::new).collect();
    let open = |field| {
        let section = |kind| file.shared_section(of_field(kind, field)).map(Arc::clone);
        Ok((field, Column::open(section(COLUMN)?, section(COLUMN_INDEX)?, documents)?))
    };
    fields.into_iter().map(open).collect()
}

/// Writes the columns of the documents that survive a merge.
pub(super) fn merge(
    sources: &[Segment],
    documents: &[Renumbering],
    order: Option<&Order>,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let fields: BTreeSet<Field> =
        sources.iter().flat_map(|source| source.columns().iter().map(|(field, _)| *field)).collect();
    for field in fields {
        let columns: Vec<Option<&Column>> = sources.iter().map(|source| source.column(field)).collect();
        let kind = kind_in_common(sources, field)?;
        out.begin(of_field(COLUMN, field))?;
        let mut writer = ColumnWriter::new(kind);
        match order {
            None => {
                for (column, numbers) in columns.iter().zip(documents) {
                    append(&mut writer, *column, numbers, out, go_on)?;
                }
            }
            Some(order) => in_order(&mut writer, &columns, documents, order, out, go_on)?,
        }
        let index = writer.finish(out)?;
        out.begin(of_field(COLUMN_INDEX, field))?;
        out.write(&index)?;
    }
    Ok(())
}

/// What the values of a field are in all segments.
fn kind_in_common(sources: &[Segment], field: Field) -> Result<ColumnKind> {
    let kinds = || sources.iter().filter_map(|source| Some((source.id(), source.column(field)?.kind())));
    let first = kinds().next().map_or(ColumnKind::Unsigned, |(_, kind)| kind);
    match kinds().find(|(_, kind)| *kind != first) {
        Some((id, _)) => {
            let what = "a column has another kind than in other segments of its index";
            Err(Error::corrupt(file_name(id), what))
        }
        None => Ok(first),
    }
}

/// Adds the survivors of a source in their order; blocks that lost nothing are copied.
fn append(
    writer: &mut ColumnWriter,
    column: Option<&Column>,
    numbers: &Renumbering,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let Some(column) = column else {
        return writer.skip(numbers.survivors(), out);
    };
    let mut scan = Scan::new();
    for number in 0..column.blocks() {
        go_on(out.len())?;
        let entry = column.entry(number)?;
        let last = entry.first + entry.documents - 1;
        let kept = numbers.before(last + 1) - numbers.before(entry.first);
        if kept == entry.documents && writer.carry(&entry, column.block_bytes(number, &entry)?, out)? {
            continue;
        }
        let mut next = numbers.before(entry.first);
        let end = next + kept;
        let mut outcome = Ok(());
        scan.read(column, number)?.each(|doc, values| {
            if let (Ok(()), Some(new)) = (&outcome, numbers.get(doc)) {
                outcome = writer.skip(new - next, out).and_then(|()| {
                    values.iter().for_each(|&value| writer.push(value));
                    writer.end_document(out)
                });
                next = new + 1;
            }
        });
        outcome?;
        writer.skip(end - next, out)?;
    }
    Ok(())
}

/// Adds all survivors in another order, which the jump tables make possible one by one.
fn in_order(
    writer: &mut ColumnWriter,
    columns: &[Option<&Column>],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let (mut values, mut seen) = (Vec::new(), 0u32);
    order.each(documents, |source, doc| {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(LOOK_EVERY) {
            go_on(out.len())?;
        }
        values.clear();
        if let Some(Some(column)) = columns.get(source) {
            column.get(doc, &mut values)?;
        }
        values.iter().for_each(|&value| writer.push(value));
        writer.end_document(out)
    })
}

impl Segment {
    /// Reads all columns, and compares what their indexes say with what is there.
    ///
    /// # Errors
    /// The first thing that is wrong, as [`Error::Corrupt`], and whatever `go_on` says.
    pub(super) fn check_columns(&self, go_on: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        for (field, column) in self.columns() {
            let wrong = |what: String| {
                let what = format!("the column of field {}: {what}", field.number());
                Error::corrupt(file_name(self.id()), what)
            };
            let mut scan = Scan::new();
            let (mut next, mut all) = (0, Range::NONE);
            for number in 0..column.ranges() {
                let (range, blocks) = column.range(number)?;
                let mut found = Range::NONE;
                for block in blocks {
                    go_on(self.bytes())?;
                    let entry = column.entry(block)?;
                    let first_found = column.block_of(entry.first)? == block;
                    if entry.first != next || !first_found {
                        return Err(wrong(format!(
                            "block {block} is not where its documents are looked for"
                        )));
                    }
                    next += entry.documents;
                    let read = found_in(&mut scan, column, block)?;
                    let said = (entry.least, entry.most, u64::from(entry.values), entry.present);
                    let is = if read.values == 0 { (0, 0, 0, 0) } else { figures(&read) };
                    if said != is {
                        return Err(wrong(format!("block {block} has other values than its entry says")));
                    }
                    found.take(&Range { documents: entry.documents, ..read });
                }
                if found != range {
                    return Err(wrong(format!("range {number} says something else than its blocks")));
                }
                all.take(&found);
            }
            let bounds = (all.values > 0).then_some((all.least, all.most));
            let figures = (column.documents(), column.present(), column.values(), column.bounds());
            if figures != (all.documents, all.present.into(), all.values, bounds) {
                return Err(wrong("its figures are not those of its blocks".into()));
            }
        }
        Ok(())
    }
}

fn figures(range: &Range) -> (u64, u64, u64, u32) {
    (range.least, range.most, range.values, range.present)
}

/// What is in a block.
fn found_in(scan: &mut Scan, column: &Column, block: u32) -> Result<Range> {
    let mut found = Range::NONE;
    let mut sorted = true;
    scan.read(column, block)?.each(|_, values| {
        found.present += 1;
        found.values += values.len() as u64;
        sorted &= values.is_sorted();
        for &value in values {
            (found.least, found.most) = (found.least.min(value), found.most.max(value));
        }
    });
    if sorted { Ok(found) } else { Err(column.damaged(block)) }
}
