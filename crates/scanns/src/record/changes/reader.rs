//! Reads a list of changes in parts of bounded size.
//!
//! A part ends when its paths take as much memory as allowed. Records of Lustre are checked for gaps in their
//! numbers, and their FIDs become paths at the end of each part: the paths of this moment, which is what a
//! scan looks for.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use super::change::{ChangeRow, Fid, ListedChange, ListedPlace};
use super::fid_paths::{FidPaths, paths_of};
use super::formats::ChangeFormat;
use super::tally::ChangesTally;
use super::zfs_diff::ZfsPaths;
use super::{lustre, watch_json, zfs_diff};
use crate::source::{ChangedPaths, absolute};

/// Longer rows are bad: no path is as long.
const LONGEST: usize = 1 << 20;

/// The memory that a FID in a part takes, as an estimate.
const FID_BYTES: usize = 64;

/// Why a list cannot be read any further.
#[derive(Debug)]
pub enum ListFault {
    /// The input failed.
    Input(io::Error),
    /// `lfs` cannot be run.
    Resolver(io::Error),
    /// The list does not continue what was read before.
    Gap(String),
}

/// A list of changes that is being read.
pub struct ChangeReader<'i> {
    input: Box<dyn BufRead + 'i>,
    format: ChangeFormat,
    /// A directory in the file system that the list is about.
    root: PathBuf,
    offset: u64,
    row: Vec<u8>,
    ended: bool,
    /// The number of the last row that was read before this list.
    before: Option<u64>,
    /// The number of the last row of this list.
    number: Option<u64>,
    /// Files and directories without a path.
    unresolved: BTreeSet<Fid>,
    /// Why the first of them has none.
    why: Option<String>,
    /// What this part and the part before it say was removed.
    removed: [HashSet<Fid>; 2],
    tally: ChangesTally,
}

/// Names in directories, and whole files, of Lustre that wait for their paths.
#[derive(Default)]
struct WaitingFids {
    names: Vec<(Fid, Vec<u8>, bool)>,
    files: Vec<Fid>,
    bytes: usize,
}

impl<'i> ChangeReader<'i> {
    /// A list in `input`. `root` is a directory in the file system of which the list tells, and `number` the
    /// number of the last record that was read before.
    pub fn new(input: Box<dyn BufRead + 'i>, format: ChangeFormat, root: &Path, number: Option<u64>) -> Self {
        ChangeReader {
            input,
            format,
            root: root.to_path_buf(),
            offset: 0,
            row: Vec::new(),
            ended: false,
            before: number,
            number: None,
            unresolved: BTreeSet::new(),
            why: None,
            removed: Default::default(),
            tally: ChangesTally::default(),
        }
    }

    /// The number of the last record of this list and earlier ones, if records have numbers.
    pub fn number(&self) -> Option<u64> {
        self.number.max(self.before)
    }

    /// True if the list was read to its end.
    pub fn is_at_end(&self) -> bool {
        self.ended
    }

    /// What was counted so far.
    pub fn tally(&self) -> ChangesTally {
        let first =
            self.unresolved.first().map(|fid| (fid.to_string(), self.why.clone().unwrap_or_default()));
        ChangesTally {
            unresolved: self.unresolved.len() as u64,
            first_unresolved: first,
            ..self.tally.clone()
        }
    }

    /// The next paths, in order, which take about `most` bytes.
    ///
    /// # Errors
    /// See [`ListFault`]. What earlier parts say is right nevertheless.
    pub fn part(&mut self, most: usize) -> Result<ChangedPaths, ListFault> {
        let (mut paths, mut waiting) = (ChangedPaths::default(), WaitingFids::default());
        while !self.ended && paths.bytes() + waiting.bytes < most {
            let offset = self.offset;
            if !self.next_row().map_err(ListFault::Input)? {
                break;
            }
            let row = std::mem::take(&mut self.row);
            let read = self.take(&row, &mut paths, &mut waiting);
            match read {
                Ok(()) => {}
                Err(RowFault::Bad(reason)) => self.tally.bad(offset, reason, &row),
                Err(RowFault::Gap(reason)) => return Err(ListFault::Gap(reason)),
            }
            self.row = row;
        }
        self.resolve(waiting, &mut paths).map_err(ListFault::Resolver)?;
        paths.sort();
        Ok(paths)
    }

    /// Reads the next row, without its end; false if there is none.
    fn next_row(&mut self) -> io::Result<bool> {
        self.row.clear();
        let (end, mut length) = (self.format.end(), 0u64);
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                self.ended = true;
                self.offset += length;
                self.tally.truncated = length > 0;
                return Ok(false);
            }
            let found = memchr::memchr(end, bytes);
            let text = bytes.get(..found.unwrap_or(bytes.len())).unwrap_or(bytes);
            let room = (LONGEST + 1).saturating_sub(self.row.len()).min(text.len());
            self.row.extend_from_slice(text.get(..room).unwrap_or_default());
            let read = text.len() + usize::from(found.is_some());
            length += read as u64;
            self.input.consume(read);
            if found.is_some() {
                self.offset += length;
                self.tally.rows += 1;
                return Ok(true);
            }
        }
    }

    fn take(
        &mut self,
        row: &[u8],
        paths: &mut ChangedPaths,
        waiting: &mut WaitingFids,
    ) -> Result<(), RowFault> {
        if self.format == ChangeFormat::Lustre {
            self.check_number(lustre::number(row))?;
        }
        if row.len() > LONGEST {
            return Err(RowFault::Bad("the row is too long".into()));
        }
        let (mut space, mut zfs) = (Vec::new(), ZfsPaths::default());
        let found = match self.format {
            ChangeFormat::Paths | ChangeFormat::NulPaths if row.is_empty() => Err("the path is empty".into()),
            ChangeFormat::Paths | ChangeFormat::NulPaths => Ok(ChangeRow::of_paths([(row, false)])),
            ChangeFormat::ZfsDiff => zfs_diff::read(row, &mut zfs),
            ChangeFormat::Lustre => lustre::read(row),
            ChangeFormat::WatchJson => watch_json::read(row, &mut space),
        };
        let ChangeRow { changes, removed, .. } = found.map_err(RowFault::Bad)?;
        self.tally.passed += u64::from(changes.is_empty());
        let [now, _] = &mut self.removed;
        now.extend(removed);
        for ListedChange { place, tree } in changes {
            match place {
                ListedPlace::Path(path) => add(path, tree, paths).map_err(RowFault::Bad)?,
                ListedPlace::Name(fid, name) => waiting.name(fid, name, tree),
                ListedPlace::Names(fid) => waiting.file(fid),
            }
        }
        Ok(())
    }

    /// Checks that a record follows the one before it.
    fn check_number(&mut self, number: Option<u64>) -> Result<(), RowFault> {
        let Some(number) = number else { return Ok(()) };
        let gap = |what: String| Err(RowFault::Gap(what));
        let missing = |last: u64| format!("records {} to {} are missing", last.saturating_add(1), number - 1);
        match (self.number, self.before) {
            (Some(last), _) if number <= last => {
                return gap(format!(
                    "record {number} follows record {last}: give the lists of several MDTs one by one, each \
                     with its --mdt"
                ));
            }
            (Some(last), _) if number - last > 1 => {
                return gap(format!("{}: scan again, without --changes", missing(last)));
            }
            // A list may begin with records that were read before.
            (None, Some(last)) if number > last.saturating_add(1) => {
                let missing = missing(last);
                return gap(format!(
                    "{missing} after the last list that was applied: scan again, without --changes"
                ));
            }
            _ => self.number = Some(number),
        }
        Ok(())
    }

    /// Adds the paths of what waits for them.
    fn resolve(&mut self, waiting: WaitingFids, paths: &mut ChangedPaths) -> io::Result<()> {
        let WaitingFids { names, files, .. } = waiting;
        let mut fids: Vec<Fid> = names.iter().map(|(fid, ..)| *fid).chain(files.iter().copied()).collect();
        fids.sort_unstable();
        fids.dedup();
        if !fids.is_empty() {
            let (found, error) = paths_of(&self.root, &fids)?;
            self.unresolved.extend(fids.iter().filter(|fid| !found.contains_key(fid)));
            self.why = self.why.take().or(error).or_else(|| Some("lfs fid2path names no path".into()));
            self.add_resolved(&found, &names, &files, paths);
        }
        // A file may be named shortly before and after it is removed.
        let [now, before] = &mut self.removed;
        self.unresolved.retain(|fid| !now.contains(fid) && !before.contains(fid));
        *before = std::mem::take(now);
        Ok(())
    }

    fn add_resolved(
        &mut self,
        found: &FidPaths,
        names: &[(Fid, Vec<u8>, bool)],
        files: &[Fid],
        paths: &mut ChangedPaths,
    ) {
        let mut add = |path: &[u8], tree| {
            if let Err(reason) = add(path, tree, paths) {
                self.tally.bad(self.offset, reason, path);
            }
        };
        for (fid, name, tree) in names {
            for parent in found.get(fid).into_iter().flatten() {
                add(&[parent, &b"/"[..], name].concat(), *tree);
            }
        }
        for path in files.iter().filter_map(|fid| found.get(fid)).flatten() {
            add(path, false);
        }
    }
}

/// Why a row cannot be used.
enum RowFault {
    Bad(String),
    Gap(String),
}

impl WaitingFids {
    fn name(&mut self, fid: Fid, name: &[u8], tree: bool) {
        self.bytes += FID_BYTES + name.len();
        self.names.push((fid, name.to_vec(), tree));
    }

    fn file(&mut self, fid: Fid) {
        self.bytes += FID_BYTES;
        self.files.push(fid);
    }
}

/// Adds a path in its only spelling.
fn add(path: &[u8], tree: bool, paths: &mut ChangedPaths) -> Result<(), String> {
    use std::os::unix::ffi::OsStrExt;
    if path.contains(&0) {
        return Err("the path contains a NUL byte".into());
    }
    if is_plain(path) {
        paths.push(path, tree);
        return Ok(());
    }
    let place = absolute(Path::new(std::ffi::OsStr::from_bytes(path))).map_err(|error| error.to_string())?;
    paths.push(place.as_os_str().as_bytes(), tree);
    Ok(())
}

/// True for an absolute path without empty names, `.` and `..`.
fn is_plain(path: &[u8]) -> bool {
    let Some(names) = path.strip_prefix(b"/") else { return false };
    names.split(|&byte| byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
}
