//! Makes an entry of the values of a row.
//!
//! Cost: texts are copied once, so that it does not matter whether they stand in the row or were decoded.

use super::field::MapField;
use super::table_map::{MapSlot, TableMap};
use super::value::{self, TableValue};
use crate::record::dump::number::marks_acl;
use crate::record::dump::{DumpTally, posix};
use crate::source::{Entry, EntryKind};

/// The texts of an entry beside its path.
const TEXTS: [MapField; 4] = [MapField::Target, MapField::Owner, MapField::Group, MapField::Pool];

/// A row of a table that becomes an entry.
///
/// First comes `start`, then `put` for each slot of the map, then `finish`.
#[derive(Debug)]
pub struct MappedRow<'m> {
    map: &'m TableMap,
    /// The place of the row in the dump.
    offset: u64,
    /// The values that are not texts.
    values: Entry<'static>,
    /// The path, and behind it the other texts.
    bytes: Vec<u8>,
    path_end: usize,
    /// Where the other texts begin and end.
    texts: [Option<(usize, usize)>; TEXTS.len()],
    /// A part of a path, before it is joined.
    part: Vec<u8>,
    /// Why the row is not an entry.
    fault: Option<String>,
    /// True if the row stands for no entry, for example for an older version.
    is_passed: bool,
}

impl<'m> MappedRow<'m> {
    /// A row of a table with this map.
    pub fn new(map: &'m TableMap) -> Self {
        MappedRow {
            map,
            offset: 0,
            values: Entry::default(),
            bytes: Vec::new(),
            path_end: 0,
            texts: [None; TEXTS.len()],
            part: Vec::new(),
            fault: None,
            is_passed: false,
        }
    }

    /// Starts a row at this place of the dump.
    #[inline]
    pub fn start(&mut self, offset: u64) {
        self.offset = offset;
        self.values = Entry::default();
        self.bytes.clear();
        self.path_end = 0;
        self.texts = [None; TEXTS.len()];
        self.fault = None;
        self.is_passed = false;
    }

    /// Takes the value of the slot with this number. A value of another field than the path that cannot be
    /// read is counted, and the entry lacks it.
    #[inline]
    pub fn put(&mut self, slot: usize, value: TableValue<'_>, tally: &mut DumpTally) {
        let map = self.map;
        let Some(slot) = map.slots.get(slot) else { return };
        if let Err(expected) = self.take(slot, value) {
            self.refuse(slot, expected, value, tally);
        }
    }

    /// Counts a value that cannot be read.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        slot: &MapSlot,
        expected: &str,
        value: TableValue<'_>,
        tally: &mut DumpTally,
    ) {
        let column = self.map.column(slot.column);
        if slot.field == MapField::Path {
            self.fault.get_or_insert_with(|| format!("column {column} (path) is not {expected}"));
        } else {
            let shown = shown(value);
            let reason = format!("it is not {expected}");
            tally.bad_value(slot.field.name(), column, (self.offset, reason, &shown));
        }
    }

    fn take(&mut self, slot: &MapSlot, value: TableValue<'_>) -> Result<(), &'static str> {
        let conversion = &slot.conversion;
        let short = |number: Option<u64>| match number.map(u32::try_from) {
            Some(Err(_)) => Err("a number of 32 bits"),
            number => Ok(number.and_then(Result::ok)),
        };
        let values = &mut self.values;
        match slot.field {
            MapField::Path => return self.path(slot, value),
            MapField::Target | MapField::Owner | MapField::Group | MapField::Pool => {
                return self.text(slot, value);
            }
            MapField::Kind => values.kind = value::kind(conversion, value)?,
            MapField::Modified => values.mtime = value::moment(conversion, value)?,
            MapField::Accessed => values.atime = value::moment(conversion, value)?,
            MapField::Changed => values.ctime = value::moment(conversion, value)?,
            MapField::Born => values.btime = value::moment(conversion, value)?,
            MapField::Size => values.size = value::size(conversion, value)?,
            MapField::Blocks => {
                values.blocks = value::size(conversion, value)?.map(|bytes| bytes.div_ceil(512));
            }
            MapField::Uid => values.uid = short(value::number(conversion, value)?)?,
            MapField::Gid => values.gid = short(value::number(conversion, value)?)?,
            MapField::Mode => {
                values.has_acl = matches!(value, TableValue::Text(text) if marks_acl(text));
                if let Some((mode, kind)) = value::mode(conversion, value)? {
                    values.mode = Some(mode);
                    values.kind = values.kind.or(kind);
                }
            }
            MapField::Inode => values.inode = value::number(conversion, value)?,
            MapField::Links => values.links = value::number(conversion, value)?,
            MapField::Device => values.device = value::number(conversion, value)?,
            MapField::Stripes => values.stripes = value::number(conversion, value)?,
            MapField::Project => values.project = value::number(conversion, value)?,
            MapField::Latest => self.is_passed |= value::flag(value)? == Some(false),
            MapField::Deleted => self.is_passed |= value::flag(value)? == Some(true),
        }
        Ok(())
    }

    /// Adds a part of the path.
    #[inline]
    fn path(&mut self, slot: &MapSlot, value: TableValue<'_>) -> Result<(), &'static str> {
        if self.path_end == 0 {
            value::text(&slot.conversion, value, &mut self.bytes)?;
        } else {
            self.part.clear();
            value::text(&slot.conversion, value, &mut self.part)?;
            match self.part.as_slice() {
                b"" => {}
                [b'/', ..] => {
                    self.bytes.clear();
                    self.bytes.extend_from_slice(&self.part);
                }
                part => posix::join(&mut self.bytes, self.path_end, part),
            }
        }
        self.path_end = self.bytes.len();
        Ok(())
    }

    fn text(&mut self, slot: &MapSlot, value: TableValue<'_>) -> Result<(), &'static str> {
        let start = self.bytes.len();
        let taken = value::text(&slot.conversion, value, &mut self.bytes);
        if taken != Ok(true) {
            self.bytes.truncate(start);
            return taken.map(|_| ());
        }
        let place = TEXTS.iter().position(|field| *field == slot.field);
        if let Some(text) = place.and_then(|place| self.texts.get_mut(place)) {
            *text = Some((start, self.bytes.len()));
        }
        Ok(())
    }

    /// The entry; `None` for a row that stands for no entry.
    ///
    /// # Errors
    /// Why the row is not an entry.
    #[inline]
    pub fn finish(&mut self) -> Result<Option<Entry<'_>>, String> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let path = self.bytes.get(..self.path_end).unwrap_or_default();
        if path.is_empty() {
            return Err("the path is empty".into());
        }
        if memchr::memchr(0, path).is_some() {
            return Err("the path contains a NUL byte, which no file system allows".into());
        }
        if self.is_passed {
            return Ok(None);
        }
        Ok(self.peek())
    }

    /// The entry as far as it is known, even if it has no path.
    pub(super) fn peek(&self) -> Option<Entry<'_>> {
        let path = self.bytes.get(..self.path_end)?;
        let mut kind = self.values.kind;
        if self.map.objects {
            let is_directory = path.ends_with(b"/");
            kind = Some(if is_directory { EntryKind::Directory } else { EntryKind::File });
        }
        let text = |place: usize| {
            let (start, end) = self.texts.get(place).copied().flatten()?;
            self.bytes.get(start..end)
        };
        Some(Entry {
            path: posix::without_end_slashes(path),
            kind,
            target: text(0),
            owner: text(1),
            group: text(2),
            pool: text(3),
            ..self.values
        })
    }
}

/// The value for a message.
fn shown(value: TableValue<'_>) -> Vec<u8> {
    match value {
        TableValue::Null => Vec::new(),
        TableValue::Text(text) => text.to_vec(),
        TableValue::Unsigned(number) => number.to_string().into_bytes(),
        TableValue::Signed(number) | TableValue::Moment(number) => number.to_string().into_bytes(),
        TableValue::Float(number) => number.to_string().into_bytes(),
        TableValue::Flag(flag) => flag.to_string().into_bytes(),
    }
}
