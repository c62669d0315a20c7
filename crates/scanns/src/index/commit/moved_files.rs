//! Finds files that were moved: their text is in the index under a path at which they are not any more.
//!
//! A file is the same if its device, inode, size, times of modification and of the last change of its status
//! and, where it is known, its birth are the same. Moving a directory leaves the status of the files in it
//! alone. A file that itself got another name has another time, as if it had been written to with an older
//! time of modification: it is read.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt;

use super::indexed_files::{IndexedFiles, RemovedFiles, date_field, number_field, value_of};
use super::manifest::Manifest;
use crate::error::Result;
use crate::schema::{Field, Value};
use crate::segment::Segment;
use crate::source::{Input, Inputs, fitting_date};

/// To copy documents out of a segment takes as long as the segment is large. This is worth it for a small
/// segment, and if the text of the files has at least half of its bytes. Otherwise reading them is faster.
const SMALL: u64 = 1 << 20;

/// A file whose document moves with it.
pub(crate) struct MovedFile {
    pub(crate) input: Input,
    /// Where its document is.
    pub(crate) place: FormerPlace,
    /// Whether the index also has another document under its new path.
    pub(crate) replaces: bool,
}

/// The place of a document in the index.
#[derive(Clone, Debug)]
pub(crate) struct FormerPlace {
    pub(crate) segment: u128,
    pub(crate) document: u32,
    /// The path of its file.
    pub(crate) path: Vec<u8>,
    /// Whether the file is gone from this path; otherwise another one is there now.
    pub(crate) is_gone: bool,
}

/// The fields that tell whether a file is the same.
struct IdentityFields {
    device: Field,
    inode: Field,
    size: Field,
    mtime: Field,
    ctime: Field,
    btime: Field,
}

/// What tells whether a file is the same, apart from its device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    size: u64,
    modified: i64,
    changed: i64,
    born: Option<i64>,
}

impl FileState {
    fn is_same(self, other: FileState) -> bool {
        let same_birth = self.born.is_none() || other.born.is_none() || self.born == other.born;
        let known = |state: FileState| (state.size, state.modified, state.changed);
        known(self) == known(other) && same_birth
    }
}

/// Documents by the device and the inode of their files.
type ByIdentity = HashMap<(u64, u64), Vec<(FormerPlace, FileState)>>;

/// The inputs that were moved, by number. `is_changed` says whether an input must be read otherwise.
pub(super) fn find_moved(
    segments: &[Segment],
    index: &IndexedFiles<'_>,
    found: &Inputs,
    removed: &RemovedFiles,
    manifest: Option<&Manifest>,
    is_changed: &dyn Fn(usize, &Input) -> bool,
) -> Result<BTreeMap<usize, FormerPlace>> {
    let Some(fields) = IdentityFields::of(manifest) else { return Ok(BTreeMap::new()) };
    let changed: Vec<(usize, &Input)> =
        found.inputs.iter().enumerate().filter(|&(number, input)| is_changed(number, input)).collect();
    let replaced = changed.iter().map(|(_, input)| (input.path.as_os_str().as_bytes(), false));
    let gone = removed.paths.iter().map(|path| (path.as_slice(), true));
    let mut known = ByIdentity::new();
    for (path, is_gone) in gone.chain(replaced) {
        let Some((segment, document)) = index.place(path)? else { continue };
        let Some(segment) = segments.iter().rev().nth(segment) else { continue };
        if let Some((identity, state)) = fields.read(segment, document)? {
            let place = FormerPlace { segment: segment.id(), document, path: path.to_vec(), is_gone };
            known.entry(identity).or_default().push((place, state));
        }
    }
    let mut moved = BTreeMap::new();
    let mut bytes: HashMap<u128, u64> = HashMap::new();
    for (number, input) in changed {
        let Some((identity, state)) = state_of(input) else { continue };
        let Some(places) = known.get_mut(&identity) else { continue };
        // A file at its place whose access class has changed gets its document again, with the new class.
        let other_access = index.known.get(number).copied().flatten().is_some_and(|known| !known.same_access);
        let is_it = |(place, known): &(FormerPlace, FileState)| {
            known.is_same(state) && (other_access || place.path != input.path.as_os_str().as_bytes())
        };
        if let Some(at) = places.iter().position(is_it) {
            let (place, _) = places.swap_remove(at);
            *bytes.entry(place.segment).or_default() += input.bytes;
            moved.insert(number, place);
        }
    }
    let size = |id: u128| segments.iter().find(|segment| segment.id() == id).map_or(0, Segment::bytes);
    let is_worth_it = |place: &FormerPlace| {
        2 * bytes.get(&place.segment).copied().unwrap_or(0) + SMALL >= size(place.segment)
    };
    moved.retain(|_, place| is_worth_it(place));
    Ok(moved)
}

/// What tells whether an input is the same as another file.
fn state_of(input: &Input) -> Option<((u64, u64), FileState)> {
    let status = input.status.as_ref()?;
    let (modified, changed) = (fitting_date(input.modified)?, fitting_date(status.changed)?);
    let born = status.created.and_then(fitting_date);
    Some(((status.device, status.inode), FileState { size: status.size, modified, changed, born }))
}

impl IdentityFields {
    fn of(manifest: Option<&Manifest>) -> Option<Self> {
        let number = |name: &str| number_field(manifest, name);
        Some(IdentityFields {
            device: number("device")?,
            inode: number("inode")?,
            size: number("size")?,
            mtime: date_field(manifest, "mtime")?,
            ctime: date_field(manifest, "ctime")?,
            btime: date_field(manifest, "btime")?,
        })
    }

    /// The values of a document; `None` if it lacks any but the birth.
    fn read(&self, segment: &Segment, document: u32) -> Result<Option<((u64, u64), FileState)>> {
        let value = |field: Field| value_of(segment.column(field), document);
        let number =
            |field| Ok(if let Some(Value::Unsigned(number)) = value(field)? { Some(number) } else { None });
        let date = |field| Ok(if let Some(Value::Date(date)) = value(field)? { Some(date) } else { None });
        let (device, inode, size) = (number(self.device)?, number(self.inode)?, number(self.size)?);
        let (Some(device), Some(inode), Some(size)) = (device, inode, size) else { return Ok(None) };
        let (modified, changed) = (date(self.mtime)?, date(self.ctime)?);
        let (Some(modified), Some(changed)) = (modified, changed) else { return Ok(None) };
        Ok(Some(((device, inode), FileState { size, modified, changed, born: date(self.btime)? })))
    }
}
