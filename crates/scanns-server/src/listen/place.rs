//! Places of Unix sockets: a directory that only its user can enter, and a path that no living server uses.
//!
//! The directory in `/tmp` has a name that others could take first, with a link to a place of theirs or with
//! a directory that they can enter. So it is looked at without following links, and must be a directory of
//! this user that nobody else can enter.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The longest path of a Unix socket, without the zero at its end.
const LONGEST: usize = 107;

/// Why a path cannot be the place of a socket.
#[derive(Debug)]
pub enum SocketPlaceError {
    /// The directory is not a directory of this user that nobody else can enter.
    NotOurs {
        /// The directory.
        directory: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// A server answers there.
    InUse(PathBuf),
    /// Something that is not a socket is there.
    NotASocket(PathBuf),
    /// The path is too long.
    TooLong(PathBuf),
    /// The system refuses it.
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// Its file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl std::fmt::Display for SocketPlaceError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SocketPlaceError::NotOurs { directory, what } => write!(
                out,
                "{} {what}, so that a socket in it would not be safe: remove it, or choose another place \
                 for the socket",
                directory.display()
            ),
            SocketPlaceError::InUse(path) => write!(
                out,
                "another server answers at {}: stop it, or choose another place for the socket",
                path.display()
            ),
            SocketPlaceError::NotASocket(path) => write!(
                out,
                "{} is there already and is not a socket: choose another place for the socket",
                path.display()
            ),
            SocketPlaceError::TooLong(path) => write!(
                out,
                "{} is too long for a socket, whose path may have {LONGEST} bytes: choose a shorter one",
                path.display()
            ),
            SocketPlaceError::Io { action, path, source } => {
                let place = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let place = place.unwrap_or(Path::new(".")).display();
                match source.kind() {
                    io::ErrorKind::NotFound => {
                        write!(out, "cannot {action} {}: make the directory {place} first", path.display())
                    }
                    io::ErrorKind::PermissionDenied => write!(
                        out,
                        "cannot {action} {}: you may not write to {place}; choose another place for it",
                        path.display()
                    ),
                    _ => write!(out, "cannot {action} {}: {source}", path.display()),
                }
            }
        }
    }
}

impl std::error::Error for SocketPlaceError {}

impl SocketPlaceError {
    /// True if another place would do.
    pub fn asks_for_another_place(&self) -> bool {
        match self {
            SocketPlaceError::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => true,
        }
    }
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SocketPlaceError {
    move |source| SocketPlaceError::Io { action, path: path.to_owned(), source }
}

/// The path of a socket that only this user can reach: `$XDG_RUNTIME_DIR/scanns/NAME.sock`, or in a directory
/// of this user in `/tmp`. Makes the directory.
///
/// # Errors
///
/// The directory cannot be made, or somebody else has a hand in it.
pub fn own_socket(name: &str) -> Result<PathBuf, SocketPlaceError> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|directory| directory.is_absolute() && directory.is_dir());
    let uid = rustix::process::geteuid().as_raw();
    let directory = match runtime {
        Some(runtime) => runtime.join("scanns"),
        None => PathBuf::from(format!("/tmp/scanns-{uid}")),
    };
    make_private(&directory, uid)?;
    Ok(directory.join(format!("{name}.sock")))
}

/// Makes a directory that only its user can enter, unless it is one.
fn make_private(directory: &Path, uid: u32) -> Result<(), SocketPlaceError> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(io_error("make", directory)(error));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(directory).map_err(io_error("examine", directory))?;
    let wrong = |what: String| SocketPlaceError::NotOurs { directory: directory.to_owned(), what };
    if found.file_type().is_symlink() {
        Err(wrong("is a symbolic link".into()))
    } else if !found.is_dir() {
        Err(wrong("is not a directory".into()))
    } else if found.uid() != uid {
        Err(wrong(format!("belongs to user {}", found.uid())))
    } else if found.mode() & 0o077 != 0 {
        Err(wrong(format!("can be entered by others (mode {:04o})", found.mode() & 0o7777)))
    } else {
        Ok(())
    }
}

/// Makes a path free for a socket: the socket of a server that has ended is removed.
pub(super) fn make_free(path: &Path) -> Result<(), SocketPlaceError> {
    if path.as_os_str().len() > LONGEST {
        return Err(SocketPlaceError::TooLong(path.to_owned()));
    }
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(io_error("examine", path))?,
    };
    if !found.file_type().is_socket() {
        return Err(SocketPlaceError::NotASocket(path.to_owned()));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(io_error("remove", path))
        }
        // A server that is so busy that it does not accept lives, too.
        Ok(_) => Err(SocketPlaceError::InUse(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(SocketPlaceError::InUse(path.to_owned()))
        }
        Err(error) => Err(io_error("connect to", path)(error)),
    }
}

/// Removes the socket of a server that ends, unless another has taken its place.
pub(super) fn remove(path: &Path, identity: (u64, u64)) {
    if identity_of(path) == Some(identity) {
        // If this fails, the next server finds that nobody answers there.
        let _ = fs::remove_file(path);
    }
}

/// The device and the number of a file.
pub(super) fn identity_of(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_directory_that_others_prepared_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let at = |name: &str| place.path().join(name);
        make_private(&at("new"), uid).unwrap();
        assert_eq!(fs::metadata(at("new")).unwrap().mode() & 0o7777, 0o700);
        make_private(&at("new"), uid).unwrap();
        fs::set_permissions(at("new"), Permissions::from_mode(0o710)).unwrap();
        symlink("/", at("link")).unwrap();
        symlink("/does/not/exist", at("dangling")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("foreign")).unwrap();
        for (name, uid, what) in [
            ("new", uid, "mode 0710"),
            ("link", uid, "link"),
            ("dangling", uid, "link"),
            ("file", uid, "not a directory"),
            ("foreign", uid + 1, "belongs to"),
        ] {
            let error = make_private(&at(name), uid).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("choose another place"), "{error}");
        }
    }

    #[test]
    fn only_the_socket_of_a_dead_server_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.sock");
        make_free(&path).unwrap();
        let server = UnixListener::bind(&path).unwrap();
        assert!(matches!(make_free(&path), Err(SocketPlaceError::InUse(_))));
        drop(server);
        make_free(&path).unwrap();
        assert!(!path.exists());
        fs::write(&path, "data").unwrap();
        assert!(matches!(make_free(&path), Err(SocketPlaceError::NotASocket(_))));
        let long = place.path().join("x".repeat(LONGEST));
        assert!(matches!(make_free(&long), Err(SocketPlaceError::TooLong(_))));
    }

    #[test]
    fn the_socket_of_another_server_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.sock");
        let first = UnixListener::bind(&path).unwrap();
        let identity = identity_of(&path).unwrap();
        fs::rename(&path, place.path().join("b.sock")).unwrap();
        let second = UnixListener::bind(&path).unwrap();
        remove(&path, identity);
        assert!(path.exists());
        remove(&path, identity_of(&path).unwrap());
        assert!(!path.exists());
        drop((first, second));
    }
}
