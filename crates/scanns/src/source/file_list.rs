//! Lists of paths, from a file or standard input.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::source::options::{FileList, ListFrom, Separator};

/// Reads the paths of `list`. Empty paths are skipped; all other bytes are kept unchanged.
pub(super) fn read_list(list: &FileList) -> Result<Vec<PathBuf>> {
    let bytes = match &list.from {
        ListFrom::Path(path) => std::fs::read(path).map_err(|e| Error::io("read the file list", path, e))?,
        ListFrom::Stdin => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|e| Error::io("read the file list from", Path::new("standard input"), e))?;
            bytes
        }
    };
    Ok(split(&bytes, list.separator))
}

fn split(bytes: &[u8], separator: Separator) -> Vec<PathBuf> {
    let separator = match separator {
        Separator::Nul => 0,
        Separator::Newline => b'\n',
        Separator::Auto if memchr::memchr(0, bytes).is_some() => 0,
        Separator::Auto => b'\n',
    };
    let paths = bytes.split(|&byte| byte == separator).filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_separated_lists_are_recognised_and_keep_newlines_in_names() {
        let paths = |separator, bytes: &[u8]| {
            let text = |path: PathBuf| path.into_os_string().into_vec();
            split(bytes, separator).into_iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(paths(Separator::Auto, b"a\nb\n\nc"), [b"a", b"b", b"c"]);
        assert_eq!(paths(Separator::Auto, b"a\nb\0\xff c\0"), [b"a\nb".to_vec(), b"\xff c".to_vec()]);
        assert_eq!(paths(Separator::Newline, b"a\0b\nc"), [b"a\0b".to_vec(), b"c".to_vec()]);
        assert_eq!(paths(Separator::Nul, b"a\n"), [b"a\n"]);
        assert!(paths(Separator::Auto, b"").is_empty());
    }

    #[test]
    fn a_list_that_cannot_be_read_is_an_error_that_names_it() {
        let from = ListFrom::Path("/nonexistent/list".into());
        let error = read_list(&FileList { from, separator: Separator::Auto }).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/list"), "{error}");
    }
}
