//! Exports of ncdu (`-o`) and gdu (`--output-file`) in JSON.
//!
//! ```text
//! export    = [1, MINOR, {metadata}, directory, ...]
//! directory = [info, (directory | info), ...]
//! info      = {"name":"...", "asize":N, "dsize":N, "dev":N, "ino":N, "nlink":N, "hlnkc":true,
//!              "uid":N, "gid":N, "mode":N, "mtime":N, "notreg":true, "read_error":true,
//!              "excluded":"pattern" | "othfs" | "otherfs" | "kernfs" | "frmlnk"}
//! ```
//!
//! From <https://dev.yorhel.nl/ncdu/jsonfmt> and gdu's pkg/analyze/encode.go. Only `name` is required. The
//! first name is a path, the others are names in their directory. ncdu leaves out sizes of 0 and devices that
//! equal the device of the directory; `uid`, `gid`, `mode` and `mtime` are only there if it ran with `-e`. It
//! writes names as bytes and escapes only control characters, `"` and `\`, so an export is not always UTF-8.
//!
//! gdu gives no sizes of directories, the latest mtime of the tree as the mtime of a directory, U+FFFD for
//! bytes that are not UTF-8, calls pipes and sockets files, and does not say which directories it could not
//! read.
//!
//! An export is complete if its first array is closed.

mod info;
mod json;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead};

use self::info::{NcduExcluded, NcduInfo, NcduTexts};
use self::json::JsonBytes;
use super::input::{DumpInput, Halt, settle};
use super::posix::{fault_in_directory, join, without_end_slashes};
use super::{DumpTally, ReadDump, UnreadPath, Visit};

/// U+FFFD in UTF-8.
const REPLACEMENT: &[u8] = b"\xef\xbf\xbd";

/// Why an entry with `read_error` could not be read.
const READ_ERROR: &str = "the scan could not read it (no permission, or an error)";

/// Reads exports of ncdu and gdu in JSON. They describe themselves, so there are no options.
#[derive(Clone, Copy, Debug, Default)]
pub struct NcduDump;

impl NcduDump {
    /// A reader.
    pub fn new() -> Self {
        NcduDump
    }

    /// True if a dump that begins with `start` is certainly an export of ncdu or gdu.
    pub fn detect(start: &[u8]) -> bool {
        let mut input = start;
        let mut json = JsonBytes { input: DumpInput::new(&mut input) };
        let mut texts = NcduTexts::default();
        let begins = header(&mut json, &mut texts)
            .and_then(|_| json.expect(b'[', "a directory"))
            .and_then(|()| NcduInfo::read(&mut json, &mut texts));
        begins.is_ok_and(|info| info.name_fault.is_none() && !texts.name.is_empty())
    }
}

impl ReadDump for NcduDump {
    fn read(
        &mut self,
        input: &mut dyn BufRead,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        tally.complete = Some(false);
        let json = JsonBytes { input: DumpInput::new(input) };
        let mut export = NcduExport {
            json,
            texts: NcduTexts::default(),
            path: Vec::new(),
            open: Vec::new(),
            gdu: false,
            tally,
            visit,
        };
        let result = export.read();
        if matches!(result, Err(Halt::Stopped)) {
            tally.complete = None;
        }
        settle(result, tally)
    }
}

/// A directory whose array is open.
struct NcduOpen {
    /// The length of its path.
    path: usize,
    device: Option<u64>,
    /// False if its name could not be read, so that the paths of its entries are not known.
    named: bool,
}

/// An export while it is read. Its memory is the path and 32 bytes for each directory above the entry.
struct NcduExport<'r, 'i, 'v> {
    json: JsonBytes<'i>,
    texts: NcduTexts,
    path: Vec<u8>,
    open: Vec<NcduOpen>,
    gdu: bool,
    tally: &'r mut DumpTally,
    visit: &'r mut Visit<'v>,
}

impl NcduExport<'_, '_, '_> {
    /// Reads the export from its first byte.
    fn read(&mut self) -> Result<(), Halt> {
        self.gdu = header(&mut self.json, &mut self.texts)?;
        self.directory()?;
        while !self.open.is_empty() {
            if self.json.accept(b']')? {
                self.open.pop();
                continue;
            }
            self.json.expect(b',', "a comma or the end of the directory")?;
            match self.json.peek()? {
                b'[' => self.directory()?,
                _ => {
                    self.entry(false)?;
                }
            }
        }
        while self.json.accept(b',')? {
            self.json.skip_value(&mut self.texts.value)?;
        }
        self.json.expect(b']', "the end of the export")?;
        self.tally.complete = Some(true);
        self.rest()
    }

    /// Nothing but white space may follow the export.
    fn rest(&mut self) -> Result<(), Halt> {
        match self.json.peek() {
            Err(Halt::End) => Ok(()),
            Err(halt) => Err(halt),
            Ok(byte) => {
                let offset = self.json.input.offset();
                self.tally.bad(
                    offset,
                    "there is more after the end of the export, which is not read",
                    &[byte],
                );
                Ok(())
            }
        }
    }

    /// Reads the start of a directory: the bracket and what describes the directory itself.
    fn directory(&mut self) -> Result<(), Halt> {
        self.json.expect(b'[', "a directory")?;
        let open = self.entry(true)?;
        self.open.push(open);
        Ok(())
    }

    /// Reads one entry; gives what its own entries need if it is a directory.
    fn entry(&mut self, directory: bool) -> Result<NcduOpen, Halt> {
        let offset = self.json.input.offset();
        let info = NcduInfo::read(&mut self.json, &mut self.texts)?;
        let parent = self.open.last();
        let device = match info.excluded {
            Some(_) => info.device.filter(|device| *device != 0),
            None => info.device.or(parent.and_then(|parent| parent.device)),
        };
        let name_fault = info.name_fault.or(match parent {
            Some(parent) if !parent.named => Some("its directory has no name that can be read"),
            Some(parent) => fault_in_directory(parent.path, &self.texts.name),
            None => self.texts.name.is_empty().then_some("the first directory has no path"),
        });
        if name_fault.is_none() {
            let name =
                if parent.is_some() { &self.texts.name } else { without_end_slashes(&self.texts.name) };
            join(&mut self.path, parent.map_or(0, |parent| parent.path), name);
        }
        match name_fault.or(info.value_fault) {
            Some(fault) => self.tally.bad(offset, fault, &self.texts.name),
            None => self.visit(&info, device, directory)?,
        }
        if self.gdu && memchr::memmem::find(&self.texts.name, REPLACEMENT).is_some() {
            let reason = "gdu replaces bytes that are not UTF-8 by U+FFFD, so the name may be another one";
            self.tally.guessed(offset, reason, &self.texts.name);
        }
        Ok(NcduOpen { path: self.path.len(), device, named: name_fault.is_none() })
    }

    /// Passes on an entry, and counts it if the writer could not read it.
    fn visit(&mut self, info: &NcduInfo, device: Option<u64>, directory: bool) -> Result<(), Halt> {
        let excluded = info.excluded.map(NcduExcluded::reason);
        if let Some(reason) = excluded.or_else(|| info.read_error.then_some(READ_ERROR)) {
            let (path, reason) = (self.path.clone(), reason.to_owned());
            self.tally.unread(UnreadPath { path, reason, excluded: excluded.is_some() });
        }
        let kind = info.kind(directory);
        if kind.is_none() && info.excluded.is_some() {
            return Ok(());
        }
        let entry = info.entry(&self.path, kind, device, self.gdu);
        if (self.visit)(&entry).is_break() {
            return Err(Halt::Stopped);
        }
        Ok(())
    }
}

/// Reads what precedes the first directory; says whether gdu wrote the export.
fn header(json: &mut JsonBytes<'_>, texts: &mut NcduTexts) -> Result<bool, Halt> {
    json.expect(b'[', "[ at the start of an export of ncdu")?;
    json.peek()?;
    let offset = json.input.offset();
    if json.number()?.unsigned() != Some(1) {
        return Err(Halt::invalid(offset, "the version of the export is not 1, which is the only known one"));
    }
    json.expect(b',', "a comma after the version")?;
    json.number()?;
    json.expect(b',', "a comma after the minor version")?;
    json.expect(b'{', "an object that describes the export")?;
    let mut gdu = false;
    while !json.accept(b'}')? {
        let _ = json.string(&mut texts.key)?;
        json.expect(b':', "a colon after a key")?;
        if texts.key == b"progname" && json.peek()? == b'"' {
            let _ = json.string(&mut texts.value)?;
            gdu = texts.value == b"gdu";
        } else {
            json.skip_value(&mut texts.value)?;
        }
        if !json.accept(b',')? {
            json.expect(b'}', "a comma or the end of the object")?;
            break;
        }
    }
    json.expect(b',', "a comma before the first directory")?;
    Ok(gdu)
}
