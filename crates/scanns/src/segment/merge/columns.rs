//! Joins the columns of several segments. Blocks without dropped documents are copied.

use std::collections::BTreeSet;

use super::dictionaries::merge_dictionaries;
use crate::column::{
    BLOCKS, Column, ColumnCursor, ColumnKind, ColumnWriter, INDEX, NAMES, NAMES_INDEX, Scan, StringCursor,
    TERMS, TERMS_INDEX,
};
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::segment::layout::{file_name, of_field};
use crate::segment::order::{DocumentOrder, Origin};
use crate::segment::progress::MergeProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::store::EnvelopeWriter;

/// Documents between two calls of `progress`.
const LOOK_EVERY: usize = 1 << 14;

/// The merge of one column.
struct ColumnMerge<'a> {
    kind: ColumnKind,
    sources: Vec<ColumnSource<'a>>,
    /// The new numbers of the documents of each source.
    documents: &'a [Renumbering],
    /// The new order of the documents, if it is not the order of the sources.
    order: Option<&'a DocumentOrder>,
    /// The section of the blocks.
    blocks: u32,
    /// The section of the index.
    index: u32,
}

/// The column of one source.
struct ColumnSource<'a> {
    /// `None` if the source has no such column.
    column: Option<&'a Column>,
    /// The new number of each term of its dictionary; `None` if integers stay as they are.
    terms: Option<Vec<u32>>,
}

impl ColumnSource<'_> {
    /// The integer that replaces `value`.
    #[inline]
    fn renumbered(&self, value: u64) -> u64 {
        let Some(terms) = &self.terms else { return value };
        let new = usize::try_from(value).ok().and_then(|value| terms.get(value));
        new.copied().unwrap_or(u32::MAX).into()
    }
}

/// Writes the columns of the documents that survive a merge.
pub(super) fn merge_columns(
    sources: &[Segment],
    documents: &[Renumbering],
    order: Option<&DocumentOrder>,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let fields: BTreeSet<Field> =
        sources.iter().flat_map(|source| source.columns().iter().map(|(field, _)| *field)).collect();
    for field in fields {
        let columns: Vec<Option<&Column>> = sources.iter().map(|source| source.column(field)).collect();
        let kind = kind_in_common(sources, field)?;
        let mut terms = vec![None; columns.len()];
        if kind.has_terms() {
            out.begin(of_field(TERMS, field))?;
            let index = of_field(TERMS_INDEX, field);
            terms = merge_dictionaries(&columns, documents, index, out, progress)?;
        }
        let (blocks, index) = (of_field(BLOCKS, field), of_field(INDEX, field));
        let found = columns.iter().zip(terms).map(|(&column, terms)| ColumnSource { column, terms });
        ColumnMerge { kind, sources: found.collect(), documents, order, blocks, index }.write(
            ColumnWriter::new(kind),
            out,
            progress,
        )?;
        if kind == ColumnKind::Path {
            let names = columns.iter().map(|column| column.and_then(Column::names));
            let sources = names.map(|column| ColumnSource { column, terms: None }).collect();
            let (blocks, index) = (of_field(NAMES, field), of_field(NAMES_INDEX, field));
            let kind = ColumnKind::Bytes;
            let writer = ColumnWriter::of_names();
            ColumnMerge { kind, sources, documents, order, blocks, index }.write(writer, out, progress)?;
        }
    }
    Ok(())
}

/// The kind of a column, which must be the same in all segments.
fn kind_in_common(sources: &[Segment], field: Field) -> Result<ColumnKind> {
    let kinds = || sources.iter().filter_map(|source| Some((source.id(), source.column(field)?.kind())));
    let first = kinds().next().map_or(ColumnKind::Unsigned, |(_, kind)| kind);
    match kinds().find(|(_, kind)| *kind != first) {
        Some((id, _)) => {
            let what = "the kind of a column differs from the other segments of its index";
            Err(Error::corrupt(file_name(id), what))
        }
        None => Ok(first),
    }
}

impl ColumnMerge<'_> {
    /// Writes both sections of the column.
    fn write(
        &self,
        mut writer: ColumnWriter,
        out: &mut EnvelopeWriter,
        progress: MergeProgress<'_>,
    ) -> Result<()> {
        out.begin(self.blocks)?;
        match self.order {
            Some(order) => self.append_in_order(&mut writer, order, out, progress)?,
            None => {
                for (source, documents) in self.sources.iter().zip(self.documents) {
                    match source.column {
                        Some(column) => append(&mut writer, column, source, documents, out, progress)?,
                        None => writer.skip(documents.survivors(), out)?,
                    }
                }
            }
        }
        let entries = writer.finish(out)?;
        out.begin(self.index)?;
        out.write(&entries)
    }

    /// Adds all survivors in another order. Documents of a source that are near each other in both orders are
    /// read from one open block.
    fn append_in_order(
        &self,
        writer: &mut ColumnWriter,
        order: &DocumentOrder,
        out: &mut EnvelopeWriter,
        progress: MergeProgress<'_>,
    ) -> Result<()> {
        let mut values = Vec::new();
        let columns = || self.sources.iter().map(|source| source.column);
        let mut numbers: Vec<_> = columns().map(|column| column.map(ColumnCursor::new)).collect();
        let mut strings: Vec<_> = columns().map(|column| column.map(StringCursor::new)).collect();
        for (seen, Origin { source, doc }) in (1usize..).zip(order.origins(self.documents)) {
            if seen.is_multiple_of(LOOK_EVERY) {
                progress(out.len())?;
            }
            if self.kind.is_strings() {
                if let Some(Some(strings)) = strings.get_mut(source) {
                    strings.each(doc, |string| writer.push_string(&string))?;
                }
            } else if let (Some(of), Some(Some(numbers))) =
                (self.sources.get(source), numbers.get_mut(source))
            {
                values.clear();
                numbers.get(doc, &mut values)?;
                values.iter().for_each(|&value| writer.push(of.renumbered(value)));
            }
            writer.end_document(out)?;
        }
        Ok(())
    }
}

/// Adds the survivors of a source in their order. Blocks without dropped documents are copied.
fn append(
    writer: &mut ColumnWriter,
    column: &Column,
    source: &ColumnSource<'_>,
    documents: &Renumbering,
    out: &mut EnvelopeWriter,
    progress: MergeProgress<'_>,
) -> Result<()> {
    let mut scan = Scan::new();
    for block in 0..column.blocks() {
        progress(out.len())?;
        let entry = column.entry(block)?;
        let (first, end) = (documents.before(entry.first), documents.before(entry.first + entry.documents));
        let whole = source.terms.is_none() && end - first == entry.documents;
        if whole && writer.carry(column, block, out)? {
            continue;
        }
        let begun = writer.documents();
        let place = |doc: u32| documents.get(doc).map(|new| begun + (new - first));
        if column.kind().is_strings() {
            append_strings(writer, column, block, &mut scan, place, out)?;
        } else {
            for (doc, values) in scan.read(column, block)?.documents() {
                let Some(new) = place(doc) else { continue };
                writer.skip(new - writer.documents(), out)?;
                values.iter().for_each(|&value| writer.push(source.renumbered(value)));
                writer.end_document(out)?;
            }
        }
        writer.skip(begun + (end - first) - writer.documents(), out)?;
    }
    Ok(())
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
