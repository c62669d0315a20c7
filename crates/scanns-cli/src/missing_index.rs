//! What to say if there is no index at a path: which snapshots there are, if it is the place of one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use scanns::Index;

use crate::quoting::quoted;

/// The directory of the snapshots in an index.
const SNAPSHOTS: &str = "snapshots";

/// The most names of snapshots to list.
const LISTED: usize = 10;

/// What a user can do if there is no index at a path, to be appended to a message.
pub fn advice(path: &Path) -> String {
    let snapshots = index_around(path).and_then(|index| of_index(&index, path));
    format!(" ({})", snapshots.unwrap_or_else(|| of_files(path)))
}

/// How to get an index of a directory that is none.
fn of_files(path: &Path) -> String {
    let has_files = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    let (Some(name), true) = (path.file_name(), has_files) else {
        return "scanns index builds an index".into();
    };
    let mut index = name.to_owned();
    index.push(".scanns");
    format!("scanns index -o {} {} builds an index of its files", text(&index), text(path.as_os_str()))
}

/// What a path may stand for that does not exist, and is compared with `other`: a snapshot that an index does
/// not have, or the mere name of one that it has.
pub fn advice_beside(path: &Path, other: &Path) -> Option<String> {
    if let Some(index) = index_around(path) {
        return of_index(&index, path);
    }
    let name = path.file_name().filter(|name| *name == path.as_os_str())?;
    let other = index_around(other).unwrap_or_else(|| other.to_path_buf());
    let place = other.join(SNAPSHOTS).join(name);
    let [index, found] = [&other, &place].map(|path| text(path.as_os_str()));
    place.is_dir().then(|| format!("{index} has a snapshot of this name: {found}"))
}

/// The index in which a path is the place of a snapshot, or of all snapshots.
fn index_around(path: &Path) -> Option<PathBuf> {
    let snapshots = path.ancestors().take(2).find(|place| place.ends_with(SNAPSHOTS))?;
    let index = snapshots.parent()?;
    Some(if index.as_os_str().is_empty() { ".".into() } else { index.to_path_buf() })
}

/// Which snapshots an index has; `None` if it is no index.
fn of_index(index: &Path, path: &Path) -> Option<String> {
    let open = Index::open(index).ok()?;
    open.snapshot().ok()?;
    let named = open.named_snapshots().ok()?;
    let index = text(index.as_os_str());
    let names: Vec<String> = named.iter().take(LISTED).map(|(name, _)| text(name)).collect();
    let more = match named.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let name = path.file_name().filter(|_| !path.ends_with(SNAPSHOTS)).map_or("NAME".into(), text);
    Some(match names.as_slice() {
        [] => format!("{index} has no snapshots: scanns index -o {index} --snapshot {name} makes one"),
        [only] => format!("{index} has one snapshot: {only}"),
        names => format!("{index} has these snapshots: {}{more}", names.join(", ")),
    })
}

fn text(name: &OsStr) -> String {
    quoted(name.as_encoded_bytes()).into_owned()
}
