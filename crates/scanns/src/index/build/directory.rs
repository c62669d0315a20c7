//! The directory of an index on a file system: it is created before a build, and removed if nothing was
//! committed.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::segment::is_of_segment;
use crate::store::{Directory, FsDirectory, SNAPSHOTS};

/// Makes sure that `path` is an index or an empty directory. Returns true if the directory was created.
pub(crate) fn prepare_directory(path: &Path) -> Result<bool> {
    FsDirectory::new(path).must_not_be_snapshot()?;
    let refuse = |why| Err(Error::NotAnIndex { path: path.to_path_buf(), why });
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let absolute = std::path::absolute(path).map_err(|source| Error::io("create", path, source))?;
            let missing: Vec<&Path> = absolute.ancestors().take_while(|parent| !parent.exists()).collect();
            fs::create_dir_all(path).map_err(|source| Error::io("create", path, source))?;
            // A commit is only as durable as the directory entries that lead to it.
            missing
                .iter()
                .filter_map(|created| created.parent())
                .try_for_each(|parent| FsDirectory::new(parent).sync())?;
            Ok(true)
        }
        Err(source) => Err(Error::io("look at", path, source)),
        Ok(found) if !found.is_dir() => refuse("a file of that name exists; give another output"),
        Ok(_) => {
            let is_ours = |name: &String| {
                let is_known = ["lock", "readers", SNAPSHOTS].contains(&name.as_str());
                is_known || name.starts_with("manifest") || is_of_segment(name)
            };
            if FsDirectory::new(path).list()?.iter().all(is_ours) {
                Ok(false)
            } else {
                refuse("the directory holds other files; give another output")
            }
        }
    }
}

/// Closes the directory of a new index to others than its owner: it tells what they may not see.
pub(super) fn make_private(path: &Path) -> Result<()> {
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(path, private).map_err(|source| Error::io("set the permissions of", path, source))
}

/// Removes a directory that was created for an index to which nothing was committed. Failures do no harm.
pub(crate) fn remove_empty_index(directory: &FsDirectory, path: &Path) {
    if let Ok(_lock) = directory.lock() {
        let _ = directory.remove("lock");
        let _ = directory.remove("readers");
        let _ = fs::remove_dir(path);
    }
}
