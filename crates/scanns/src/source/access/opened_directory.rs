//! A directory that is listed by its descriptor.
//!
//! Who may see what is in a directory follows from the directories that lead to it. So it must be the same
//! directory that is checked and listed, and no link may have taken the place of one of those above it in the
//! meantime.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// An open directory.
#[derive(Debug)]
pub(crate) struct OpenedDirectory {
    descriptor: OwnedFd,
}

impl OpenedDirectory {
    /// Opens a directory by an absolute path in which nothing is a link.
    ///
    /// # Errors
    /// Any error of the system; one of the names is a link, or no directory.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if !path.is_absolute() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut descriptor: Option<OwnedFd> = None;
        let mut names = path.components().peekable();
        while let Some(part) = names.next() {
            let name = match part {
                Component::RootDir => Path::new("/"),
                Component::Normal(name) => Path::new(name),
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            };
            let how = if names.peek().is_some() { OFlags::PATH } else { OFlags::RDONLY };
            let flags = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let above = descriptor.as_ref().map_or(CWD, AsFd::as_fd);
            descriptor = Some(openat(above, name, flags, Mode::empty())?);
        }
        let descriptor = descriptor.ok_or(io::ErrorKind::NotFound)?;
        Ok(OpenedDirectory { descriptor })
    }

    /// A path of the directory that leads to nothing else for as long as it is open.
    pub(crate) fn place(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_is_followed_and_a_renamed_directory_stays_the_same() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("b", root.join("a/last")).unwrap();
        let opened = OpenedDirectory::open(&root.join("a/b")).unwrap();
        fs::rename(root.join("a"), root.join("c")).unwrap();
        let names: Vec<_> =
            fs::read_dir(opened.place()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file"]);
        fs::rename(root.join("c"), root.join("a")).unwrap();
        for through_a_link in ["link/b", "a/last", "link"] {
            assert!(OpenedDirectory::open(&root.join(through_a_link)).is_err(), "{through_a_link}");
        }
        assert!(OpenedDirectory::open(&root.join("a/b/file")).is_err());
        assert!(OpenedDirectory::open(Path::new(".")).is_err());
        assert!(OpenedDirectory::open(Path::new("/")).is_ok());
    }
}
