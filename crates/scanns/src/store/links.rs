//! Hard links to the files of a directory, in another directory that appears as a whole.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{Directory, FsDirectory};
use crate::error::{Error, Result};

/// Makes the directory `to` with hard links to the files `names` of `from`. It is complete and durable when
/// this returns; after an interruption it exists as a whole or not at all.
///
/// The links are made in `unfinished`, a directory beside `to` that must not exist. After a crash it may be
/// left behind.
pub(crate) fn link_directory(from: &Path, names: &[String], unfinished: &Path, to: &Path) -> Result<()> {
    fs::create_dir(unfinished).map_err(|source| Error::io("create", unfinished, source))?;
    let linked = link_all(from, names, unfinished).and_then(|()| {
        // The names in the directory are durable before its own name is.
        FsDirectory::new(unfinished).sync()?;
        fs::rename(unfinished, to).map_err(|source| Error::io("rename", unfinished, source))
    });
    linked.inspect_err(|_| {
        // The next snapshot removes what cannot be removed now.
        let _ = fs::remove_dir_all(unfinished);
    })?;
    to.parent().map_or(Ok(()), |parent| FsDirectory::new(parent).sync())
}

fn link_all(from: &Path, names: &[String], to: &Path) -> Result<()> {
    names.iter().try_for_each(|name| {
        let file = from.join(name);
        fs::hard_link(&file, to.join(name)).map_err(|source| refused(&file, source))
    })
}

/// The error of a link: file systems say in several ways that they have none.
fn refused(file: &Path, source: io::Error) -> Error {
    use ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    match source.kind() {
        PermissionDenied | Unsupported | CrossesDevices | TooManyLinks => Error::Unsupported {
            what: format!("a hard link to {} ({source})", file.display()),
            remedy: "named snapshots need a file system with hard links, and files that are yours".into(),
        },
        _ => Error::io("link", file, source),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_directory_of_links_shares_its_files_and_appears_as_a_whole() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("from")).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(at("from").join(name), name).unwrap();
        }
        let names = ["a", "c"].map(str::to_owned);
        link_directory(&at("from"), &names, &at("new"), &at("to")).unwrap();
        assert!(!at("new").exists());
        let mut found: Vec<_> = fs::read_dir(at("to")).unwrap().map(|name| name.unwrap().path()).collect();
        found.sort();
        assert_eq!(found, [at("to/a"), at("to/c")]);
        assert_eq!(fs::metadata(at("from/a")).unwrap().nlink(), 2);
        let error = link_directory(&at("from"), &["a".into(), "d".into()], &at("new"), &at("other"));
        assert!(error.unwrap_err().to_string().starts_with("cannot link "));
        assert!(!at("new").exists() && !at("other").exists());
        assert_eq!(fs::metadata(at("from/a")).unwrap().nlink(), 2, "a link is left");
    }

    #[test]
    fn a_file_system_without_hard_links_is_named() {
        for code in [1, 18, 31, 95] {
            let error = refused(Path::new("/data/x.seg"), io::Error::from_raw_os_error(code)).to_string();
            assert!(error.starts_with("a hard link to /data/x.seg ("), "{error}");
            assert!(error.contains("need a file system with hard links"), "{error}");
        }
        let error = refused(Path::new("/data/x.seg"), io::Error::from_raw_os_error(28)).to_string();
        assert!(error.starts_with("cannot link /data/x.seg: "), "{error}");
    }
}
