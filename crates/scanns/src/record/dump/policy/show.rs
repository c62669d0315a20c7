//! The values of a SHOW clause, such as `SHOW(varchar(USER_ID) || ':' || varchar(FILE_SIZE))`.
//!
//! They are told by the names of their columns, `uid:size`, with the separator that the clause writes: the
//! first mark such as `:`, `,` or `|` in the names, or white space if there is none.

use crate::record::dump::number::{calendar, marks_acl, permissions};
use crate::record::dump::rows::{Cell, Reason};
use crate::source::{Entry, EntryKind, nanoseconds};

/// The columns of a SHOW clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShowColumns {
    /// The byte between the values; white space if it is `None`.
    separator: Option<u8>,
    columns: Vec<ShowColumn>,
}

/// What a value of a SHOW clause tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShowColumn {
    Uid,
    Gid,
    Mode,
    Size,
    Kilobytes,
    Blocks,
    Links,
    Mtime,
    Atime,
    Ctime,
    Btime,
    Pool,
    Owner,
    Group,
    Project,
    Device,
    Ignored,
}

impl ShowColumns {
    /// The columns by their names, for example `uid:gid:mode:size`; a value whose name is unknown is ignored.
    ///
    /// Known are `uid`, `gid`, `mode` (octal, or as `ls` writes it), `size`, `kb`, `blocks` (of 512 bytes),
    /// `links`, `mtime`, `atime`, `ctime`, `btime` (seconds, or `yyyy-mm-dd hh:mm:ss` in UTC), `pool`,
    /// `owner`, `group`, `project`, `device`, and the attributes of the policy language with such values,
    /// for example `FILE_SIZE` and `KB_ALLOCATED`.
    pub fn new(names: &str) -> Self {
        let is_mark = |byte: &u8| byte.is_ascii_punctuation() && *byte != b'_';
        let separator = names.bytes().find(|byte| is_mark(byte));
        let columns = match separator {
            Some(separator) => names.split(char::from(separator)).map(ShowColumn::named).collect(),
            None => names.split_whitespace().map(ShowColumn::named).collect(),
        };
        ShowColumns { separator, columns }
    }

    /// Puts the values in `text` into `entry`; false if there are more or fewer values than columns.
    pub(super) fn read<'a>(&self, text: &'a [u8], entry: &mut Entry<'a>) -> Result<bool, Reason> {
        let mut rest = Some(text.trim_ascii());
        for (index, column) in self.columns.iter().enumerate() {
            let Some(values) = rest.filter(|rest| self.separator.is_some() || !rest.is_empty()) else {
                return Ok(false);
            };
            let (value, after) = self.split(*column, values);
            rest = after;
            column.set(Cell { text: value, number: index + 1, name: column.name() }, entry)?;
        }
        Ok(rest.is_none_or(|rest| rest.is_empty() && self.separator.is_none()))
    }

    /// The first value of `values` and what follows its separator. A time may contain separators.
    fn split<'a>(&self, column: ShowColumn, values: &'a [u8]) -> (&'a [u8], Option<&'a [u8]>) {
        let is_separator = |byte: &u8| match self.separator {
            Some(separator) => *byte == separator,
            None => byte.is_ascii_whitespace(),
        };
        let time = if column.is_time() { calendar(values).map(|(_, _, length)| length) } else { None };
        let time = time.filter(|length| values.get(*length).is_none_or(is_separator));
        let end = time.or_else(|| values.iter().position(is_separator)).unwrap_or(values.len());
        let (value, after) = values.split_at_checked(end).unwrap_or((values, &[]));
        match self.separator {
            Some(_) => (value.trim_ascii(), after.get(1..)),
            None => (value, Some(after.trim_ascii_start())),
        }
    }
}

impl ShowColumn {
    /// The column of a name, in any case.
    fn named(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "uid" | "user_id" => ShowColumn::Uid,
            "gid" | "group_id" => ShowColumn::Gid,
            "mode" => ShowColumn::Mode,
            "size" | "file_size" => ShowColumn::Size,
            "kb" | "kb_allocated" => ShowColumn::Kilobytes,
            "blocks" => ShowColumn::Blocks,
            "links" | "nlink" => ShowColumn::Links,
            "mtime" | "modification_time" => ShowColumn::Mtime,
            "atime" | "access_time" => ShowColumn::Atime,
            "ctime" | "change_time" => ShowColumn::Ctime,
            "btime" | "creation_time" => ShowColumn::Btime,
            "pool" | "pool_name" => ShowColumn::Pool,
            "owner" | "user" | "user_name" => ShowColumn::Owner,
            "group" | "group_name" => ShowColumn::Group,
            "project" | "filesetid" | "fileset_id" => ShowColumn::Project,
            "device" | "device_id" => ShowColumn::Device,
            _ => ShowColumn::Ignored,
        }
    }

    /// Its name in messages.
    fn name(self) -> &'static str {
        match self {
            ShowColumn::Uid => "uid in SHOW",
            ShowColumn::Gid => "gid in SHOW",
            ShowColumn::Mode => "mode in SHOW",
            ShowColumn::Size => "size in SHOW",
            ShowColumn::Kilobytes => "kb in SHOW",
            ShowColumn::Blocks => "blocks in SHOW",
            ShowColumn::Links => "links in SHOW",
            ShowColumn::Mtime => "mtime in SHOW",
            ShowColumn::Atime => "atime in SHOW",
            ShowColumn::Ctime => "ctime in SHOW",
            ShowColumn::Btime => "btime in SHOW",
            ShowColumn::Pool => "pool in SHOW",
            ShowColumn::Owner => "owner in SHOW",
            ShowColumn::Group => "group in SHOW",
            ShowColumn::Project => "project in SHOW",
            ShowColumn::Device => "device in SHOW",
            ShowColumn::Ignored => "ignored in SHOW",
        }
    }

    fn is_time(self) -> bool {
        matches!(self, ShowColumn::Mtime | ShowColumn::Atime | ShowColumn::Ctime | ShowColumn::Btime)
    }

    /// Puts its value into `entry`. The value is not known if it is empty or `_NULL_`.
    fn set<'a>(self, value: Cell<'a>, entry: &mut Entry<'a>) -> Result<(), Reason> {
        if matches!(value.text, b"" | b"_NULL_" | b"NULL") {
            return Ok(());
        }
        match self {
            ShowColumn::Uid => entry.uid = Some(value.decimal32()?),
            ShowColumn::Gid => entry.gid = Some(value.decimal32()?),
            ShowColumn::Mode => set_mode(value, entry)?,
            ShowColumn::Size => entry.size = Some(value.decimal()?),
            ShowColumn::Kilobytes => {
                let blocks = value.decimal()?.checked_mul(2);
                entry.blocks = Some(blocks.ok_or_else(|| value.is_not("a size in kilobytes"))?);
            }
            ShowColumn::Blocks => entry.blocks = Some(value.decimal()?),
            ShowColumn::Links => entry.links = Some(value.decimal()?),
            ShowColumn::Mtime => entry.mtime = Some(time(value)?),
            ShowColumn::Atime => entry.atime = Some(time(value)?),
            ShowColumn::Ctime => entry.ctime = Some(time(value)?),
            ShowColumn::Btime => entry.btime = Some(time(value)?),
            ShowColumn::Pool => entry.pool = Some(value.text),
            ShowColumn::Owner => entry.owner = Some(value.text),
            ShowColumn::Group => entry.group = Some(value.text),
            ShowColumn::Project => entry.project = Some(value.decimal()?),
            ShowColumn::Device => entry.device = Some(value.decimal()?),
            ShowColumn::Ignored => {}
        }
        Ok(())
    }
}

/// The mode, and the kind if the mode tells it.
fn set_mode(value: Cell<'_>, entry: &mut Entry<'_>) -> Result<(), Reason> {
    let (kind, mode) = match permissions(value.text) {
        Some(permissions) => permissions,
        None => {
            let mode = value.octal().map_err(|_| value.is_not("a mode in octal digits or letters"))?;
            (EntryKind::of_mode(mode), mode)
        }
    };
    entry.kind = kind;
    entry.mode = Some(mode);
    entry.has_acl = marks_acl(value.text);
    Ok(())
}

/// A time in seconds or as a date, in nanoseconds.
fn time(value: Cell<'_>) -> Result<i64, Reason> {
    match calendar(value.text) {
        Some((seconds, fraction, length)) if length == value.text.len() => Ok(nanoseconds(seconds, fraction)),
        _ => value.seconds(),
    }
}
