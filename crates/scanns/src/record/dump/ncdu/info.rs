//! The object that describes one entry in an export of ncdu or gdu.

use super::json::{JsonBytes, JsonFault};
use crate::record::dump::input::Halt;
use crate::source::{Entry, EntryKind};

/// Why the writer left an entry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NcduExcluded {
    Pattern,
    OtherFileSystem,
    KernelFileSystem,
    Firmlink,
    Unknown,
}

impl NcduExcluded {
    /// The reason as it is shown.
    pub fn reason(self) -> &'static str {
        match self {
            NcduExcluded::Pattern => "it matched an exclude pattern of the scan",
            NcduExcluded::OtherFileSystem => "it is on another file system than the scan",
            NcduExcluded::KernelFileSystem => "it is a file system of the kernel, for example /proc",
            NcduExcluded::Firmlink => "it is a firmlink of macOS",
            NcduExcluded::Unknown => "the scan excluded it",
        }
    }

    /// The meaning of a value of the key `excluded`.
    fn parse(value: &[u8]) -> Self {
        match value {
            b"pattern" => NcduExcluded::Pattern,
            b"othfs" | b"otherfs" => NcduExcluded::OtherFileSystem,
            b"kernfs" => NcduExcluded::KernelFileSystem,
            b"frmlnk" => NcduExcluded::Firmlink,
            _ => NcduExcluded::Unknown,
        }
    }
}

/// What an export says about one entry, besides its name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NcduInfo {
    asize: Option<u64>,
    dsize: Option<u64>,
    /// The device, if it differs from the device of the directory.
    pub device: Option<u64>,
    inode: Option<u64>,
    links: Option<u64>,
    uid: Option<u32>,
    gid: Option<u32>,
    mode: Option<u32>,
    mtime: Option<i64>,
    not_regular: bool,
    /// True if the writer could not read the entry.
    pub read_error: bool,
    /// Why the writer left the entry out, if it did.
    pub excluded: Option<NcduExcluded>,
    /// Why the name cannot be used.
    pub name_fault: Option<JsonFault>,
    /// Why another value cannot be used.
    pub value_fault: Option<JsonFault>,
}

/// Room for the strings of an object.
#[derive(Default)]
pub(super) struct NcduTexts {
    pub name: Vec<u8>,
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

impl NcduInfo {
    /// Reads the object that is next, and its name into `texts.name`.
    pub fn read(json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<Self, Halt> {
        json.expect(b'{', "an object that describes an entry")?;
        texts.name.clear();
        let mut info = NcduInfo::default();
        if json.accept(b'}')? {
            return Ok(info);
        }
        loop {
            // A key that is damaged is an unknown key.
            let _ = json.string(&mut texts.key)?;
            json.expect(b':', "a colon after a key")?;
            info.value(json, texts)?;
            if !json.accept(b',')? {
                break;
            }
        }
        json.expect(b'}', "a comma or the end of the object")?;
        Ok(info)
    }

    /// Reads the value of `texts.key`.
    fn value(&mut self, json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<(), Halt> {
        match texts.key.as_slice() {
            b"name" => return self.name(json, texts),
            b"excluded" => return self.excluded(json, texts),
            b"asize" => self.asize = self.number(json, texts, "asize is not a size in bytes")?,
            b"dsize" => self.dsize = self.number(json, texts, "dsize is not a size in bytes")?,
            b"dev" => self.device = self.number(json, texts, "dev is not a device number")?,
            b"ino" => self.inode = self.number(json, texts, "ino is not an inode number")?,
            b"nlink" => self.links = self.number(json, texts, "nlink is not a number of links")?,
            b"uid" => self.uid = self.number(json, texts, "uid is not a user id of 32 bits")?,
            b"gid" => self.gid = self.number(json, texts, "gid is not a group id of 32 bits")?,
            b"mode" => self.mode = self.number(json, texts, "mode is not a file mode of 32 bits")?,
            b"mtime" => self.mtime(json, texts)?,
            b"notreg" => self.not_regular = flag(json, texts)?,
            b"read_error" => self.read_error = flag(json, texts)?,
            _ => json.skip_value(&mut texts.value)?,
        }
        Ok(())
    }

    /// Reads the name.
    fn name(&mut self, json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<(), Halt> {
        if json.peek()? != b'"' {
            self.name_fault = Some("the name is not a text");
            return json.skip_value(&mut texts.value);
        }
        self.name_fault = json.string(&mut texts.name)?.err();
        Ok(())
    }

    /// Reads why the entry was left out.
    fn excluded(&mut self, json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<(), Halt> {
        if json.peek()? != b'"' {
            self.excluded = flag(json, texts)?.then_some(NcduExcluded::Unknown);
            return Ok(());
        }
        let _ = json.string(&mut texts.value)?;
        self.excluded = Some(NcduExcluded::parse(&texts.value));
        Ok(())
    }

    /// Reads the time of the last modification.
    fn mtime(&mut self, json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<(), Halt> {
        if !begins_number(json.peek()?) {
            self.value_fault = Some("mtime is not a time in seconds");
            return json.skip_value(&mut texts.value);
        }
        self.mtime = json.number()?.seconds();
        if self.mtime.is_none() {
            self.value_fault = Some("mtime is not a time in seconds of 64 bits");
        }
        Ok(())
    }

    /// Reads a number from 0 that fits `T`.
    fn number<T: TryFrom<u64>>(
        &mut self,
        json: &mut JsonBytes<'_>,
        texts: &mut NcduTexts,
        fault: JsonFault,
    ) -> Result<Option<T>, Halt> {
        let value = if begins_number(json.peek()?) {
            json.number()?.unsigned().and_then(|value| T::try_from(value).ok())
        } else {
            json.skip_value(&mut texts.value)?;
            None
        };
        if value.is_none() {
            self.value_fault = Some(fault);
        }
        Ok(value)
    }

    /// What the entry is, if that is known. `directory` says that it has its own array.
    pub fn kind(&self, directory: bool) -> Option<EntryKind> {
        if directory {
            return Some(EntryKind::Directory);
        }
        let plain = !self.not_regular && !self.read_error && self.excluded.is_none();
        self.mode.and_then(EntryKind::of_mode).or(plain.then_some(EntryKind::File))
    }

    /// The entry at `path` on `device`. `by_gdu` says that gdu wrote the export: its directories have no
    /// sizes, and as their mtime the latest one of all entries below.
    pub fn entry<'p>(
        &self,
        path: &'p [u8],
        kind: Option<EntryKind>,
        device: Option<u64>,
        by_gdu: bool,
    ) -> Entry<'p> {
        let by_gdu = by_gdu && kind == Some(EntryKind::Directory);
        let sized = !by_gdu && !self.read_error && self.excluded.is_none();
        let size = self.asize.or(sized.then_some(0));
        let space = self.dsize.or(sized.then_some(0));
        Entry {
            path,
            kind,
            mtime: self.mtime.filter(|_| !by_gdu),
            size,
            blocks: space.map(|bytes| bytes.div_ceil(512)),
            uid: self.uid,
            gid: self.gid,
            mode: self.mode,
            inode: self.inode,
            links: self.links,
            device,
            ..Entry::default()
        }
    }
}

/// True if a number can begin with `byte`.
fn begins_number(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_digit()
}

/// Reads a value that should be `true` or `false`; anything else is false.
fn flag(json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<bool, Halt> {
    if matches!(json.peek()?, b't' | b'f' | b'n') {
        return json.boolean();
    }
    json.skip_value(&mut texts.value)?;
    Ok(false)
}
