//! Joins the columns of several segments: blocks that lost no document are copied as they are.

use std::collections::BTreeSet;

use super::terms::merge_terms;
use crate::column::{
    BLOCKS, Column, ColumnKind, ColumnWriter, INDEX, NAMES, NAMES_INDEX, Scan, StringCursor, TERMS,
    TERMS_INDEX,
};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::segment::merge::{GoOn, Order, Renumbering};
use crate::segment::{Segment, file_name, of_field};
use crate::store::EnvelopeWriter;

/// Documents between two calls of `go_on`.
const LOOK_EVERY: u32 = 1 << 14;

/// What becomes of documents: their new numbers, and perhaps another order after that.
#[derive(Clone, Copy)]
pub(super) struct Survivors<'a> {
    pub(super) documents: &'a [Renumbering],
    order: Option<&'a Order>,
}

/// One column of all sources; `None` where a source has none.
type Columns<'a> = [Option<&'a Column>];

/// By source, what its integers become; `None` if they stay.
type Numbers = [Option<Vec<u32>>];

/// Writes the columns of the documents that survive a merge.
pub(in crate::segment) fn merge(
    sources: &[Segment],
    documents: &[Renumbering],
    order: Option<&Order>,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let survivors = Survivors { documents, order };
    let fields: BTreeSet<Field> =
        sources.iter().flat_map(|source| source.columns().iter().map(|(field, _)| *field)).collect();
    for field in fields {
        let columns: Vec<Option<&Column>> = sources.iter().map(|source| source.column(field)).collect();
        let kind = kind_in_common(sources, field)?;
        let sections = |[blocks, index]: [u32; 2]| [of_field(blocks, field), of_field(index, field)];
        let mut numbers = Vec::new();
        if kind.has_terms() {
            numbers = merge_terms(&columns, documents, sections([TERMS, TERMS_INDEX]), out, go_on)?;
        }
        merge_one(kind, &columns, &numbers, survivors, sections([BLOCKS, INDEX]), out, go_on)?;
        if kind == ColumnKind::Path {
            let names: Vec<_> = columns.iter().map(|column| column.and_then(Column::names)).collect();
            let sections = sections([NAMES, NAMES_INDEX]);
            merge_one(ColumnKind::Bytes, &names, &[], survivors, sections, out, go_on)?;
        }
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

/// Writes both sections of a column.
fn merge_one(
    kind: ColumnKind,
    columns: &Columns<'_>,
    numbers: &Numbers,
    survivors: Survivors<'_>,
    [blocks, index]: [u32; 2],
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    out.begin(blocks)?;
    let mut writer = ColumnWriter::new(kind);
    match survivors.order {
        Some(order) => in_order(&mut writer, columns, numbers, (survivors.documents, order), out, go_on)?,
        None => {
            for (source, (column, documents)) in columns.iter().zip(survivors.documents).enumerate() {
                let numbers = numbers.get(source).and_then(Option::as_deref);
                match column {
                    Some(column) => append(&mut writer, column, numbers, documents, out, go_on)?,
                    None => writer.skip(documents.survivors(), out)?,
                }
            }
        }
    }
    let entries = writer.finish(out)?;
    out.begin(index)?;
    out.write(&entries)
}

/// Adds the survivors of a source in their order; blocks that lost nothing are copied.
fn append(
    writer: &mut ColumnWriter,
    column: &Column,
    numbers: Option<&[u32]>,
    documents: &Renumbering,
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let mut scan = Scan::new();
    for block in 0..column.blocks() {
        go_on(out.len())?;
        let entry = column.entry(block)?;
        let (first, end) = (documents.before(entry.first), documents.before(entry.first + entry.documents));
        let whole = numbers.is_none() && end - first == entry.documents;
        if whole && writer.carry(&entry, column.block_bytes(block, &entry)?, out)? {
            continue;
        }
        let begun = writer.documents();
        let place = |doc: u32| documents.get(doc).map(|new| begun + (new - first));
        if column.kind().is_strings() {
            append_strings(writer, column, block, &mut scan, place, out)?;
        } else {
            append_numbers(writer, column, block, numbers, &mut scan, place, out)?;
        }
        writer.skip(begun + (end - first) - writer.documents(), out)?;
    }
    Ok(())
}

/// Adds the numbers of the documents of a block that have a place.
fn append_numbers(
    writer: &mut ColumnWriter,
    column: &Column,
    block: u32,
    numbers: Option<&[u32]>,
    scan: &mut Scan,
    place: impl Fn(u32) -> Option<u32>,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut outcome = Ok(());
    scan.read(column, block)?.each(|doc, values| {
        if let (Ok(()), Some(new)) = (&outcome, place(doc)) {
            outcome = writer.skip(new - writer.documents(), out).and_then(|()| {
                values.iter().for_each(|&value| writer.push(renumbered(numbers, value)));
                writer.end_document(out)
            });
        }
    });
    outcome
}

/// Adds the strings of the documents of a block that have a place.
fn append_strings(
    writer: &mut ColumnWriter,
    column: &Column,
    block: u32,
    scan: &mut Scan,
    place: impl Fn(u32) -> Option<u32>,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut open = None;
    scan.strings(column, block, |doc, string| {
        let Some(new) = place(doc) else { return Ok(()) };
        if open != Some(new) {
            if open.is_some() {
                writer.end_document(out)?;
            }
            writer.skip(new - writer.documents(), out)?;
            open = Some(new);
        }
        writer.push_string(string);
        Ok(())
    })?;
    if open.is_some() { writer.end_document(out) } else { Ok(()) }
}

/// What an integer becomes.
fn renumbered(numbers: Option<&[u32]>, value: u64) -> u64 {
    let Some(numbers) = numbers else { return value };
    let new = usize::try_from(value).ok().and_then(|value| numbers.get(value));
    new.copied().unwrap_or(u32::MAX).into()
}

/// Adds all survivors in another order, which the jump tables make possible one by one.
fn in_order(
    writer: &mut ColumnWriter,
    columns: &Columns<'_>,
    numbers: &Numbers,
    (documents, order): (&[Renumbering], &Order),
    out: &mut EnvelopeWriter,
    go_on: GoOn<'_>,
) -> Result<()> {
    let (mut values, mut seen) = (Vec::new(), 0u32);
    let mut strings: Vec<_> = columns.iter().map(|column| column.map(StringCursor::new)).collect();
    order.each(documents, |source, doc| {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(LOOK_EVERY) {
            go_on(out.len())?;
        }
        if let Some(Some(column)) = columns.get(source) {
            if column.kind().is_strings() {
                if let Some(Some(strings)) = strings.get_mut(source) {
                    strings.each(doc, |string| writer.push_string(&string))?;
                }
            } else {
                values.clear();
                column.get(doc, &mut values)?;
                let numbers = numbers.get(source).and_then(Option::as_deref);
                values.iter().for_each(|&value| writer.push(renumbered(numbers, value)));
            }
        }
        writer.end_document(out)
    })
}
