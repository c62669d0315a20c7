//! The stamps of files: a column of their sizes and one of the times of their last modification, by path.

use crate::column::{BLOCKS, Column, ColumnKind, ColumnWriter};
use crate::error::Result;
use crate::schema::{Value, ValueRef};
use crate::segment::layout::{STAMP_SIZES, STAMP_TIMES, StampSections};
use crate::source::Stamp;
use crate::store::{Envelope, EnvelopeWriter};

/// The stamps of the paths of a segment.
#[derive(Debug)]
pub(in crate::segment) struct Stamps {
    sizes: Column,
    times: Column,
}

impl Stamps {
    /// True if the paths have stamps; documents that programs added have none.
    pub(super) fn exist(file: &Envelope) -> Result<bool> {
        Ok(file.section(STAMP_SIZES.index)?.len() > 0)
    }

    /// The stamps of `paths` paths; `None` if they have none.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the columns cannot be read or have other kinds.
    pub(super) fn open(file: &Envelope, paths: u32) -> Result<Option<Self>> {
        if !Stamps::exist(file)? {
            return Ok(None);
        }
        let open = |sections: StampSections, kind: ColumnKind| {
            let number = |section| if section == BLOCKS { sections.blocks } else { sections.index };
            let column = Column::open(|section| file.shared_section(number(section)).cloned(), paths)?;
            if column.kind() == kind {
                Ok(column)
            } else {
                Err(file.section(sections.index)?.corrupt("stamps are of another kind"))
            }
        };
        let sizes = open(STAMP_SIZES, ColumnKind::Unsigned)?;
        Ok(Some(Stamps { sizes, times: open(STAMP_TIMES, ColumnKind::Date)? }))
    }

    /// The stamp of a path.
    pub(in crate::segment) fn get(&self, path: u32) -> Result<Stamp> {
        let value = |column: &Column| match column.first(path)? {
            Some(value) => Ok(value),
            None => Err(column.damaged(column.block_of(path)?)),
        };
        let (bytes, modified) = (value(&self.sizes)?, value(&self.times)?);
        match ColumnKind::Date.value_of(modified) {
            Value::Date(modified) => Ok(Stamp { bytes, modified }),
            _ => Err(self.times.damaged(self.times.block_of(path)?)),
        }
    }
}

/// Calls its argument with each stamp, in the order of the paths.
type EachStamp<'s> = dyn Fn(&mut dyn FnMut(Stamp) -> Result<()>) -> Result<()> + 's;

/// Writes the stamps that `each` passes to its argument, each time in the same order; none if all are zero.
pub(super) fn write_stamps(each: &EachStamp<'_>, out: &mut EnvelopeWriter) -> Result<()> {
    let mut exist = false;
    each(&mut |stamp| {
        exist |= stamp != Stamp::default();
        Ok(())
    })?;
    let none: &EachStamp<'_> = &|_: &mut dyn FnMut(Stamp) -> Result<()>| Ok(());
    let each = if exist { each } else { none };
    write_column(STAMP_SIZES, ColumnKind::Unsigned, each, |stamp| ValueRef::Unsigned(stamp.bytes), out)?;
    write_column(STAMP_TIMES, ColumnKind::Date, each, |stamp| ValueRef::Date(stamp.modified), out)
}

/// Writes one number of each stamp, or nothing without stamps.
fn write_column(
    sections: StampSections,
    kind: ColumnKind,
    each: &EachStamp<'_>,
    value: impl Fn(Stamp) -> ValueRef<'static>,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    out.begin(sections.blocks)?;
    let mut writer = ColumnWriter::new(kind);
    each(&mut |stamp| {
        if let Some(order) = kind.order_of(value(stamp)) {
            writer.push(order);
        }
        writer.end_document(out)
    })?;
    let exist = writer.documents() > 0;
    let index = writer.finish(out)?;
    out.begin(sections.index)?;
    if exist { out.write(&index) } else { Ok(()) }
}
