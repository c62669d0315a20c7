//! Lists of paths, from a file or standard input.

use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::source::options::{FileList, ListFrom, Separator};
use crate::sys::is_readable;

/// Reads the paths of `list`. Empty paths are skipped; all other bytes are kept unchanged.
///
/// # Errors
/// A list that cannot be read, and [`Error::Cancelled`] if `cancel` was set while more of standard input was
/// awaited.
pub(super) fn read_list(list: &FileList, cancel: &AtomicBool) -> Result<Vec<PathBuf>> {
    let bytes = match &list.from {
        ListFrom::Path(path) => std::fs::read(path).map_err(|e| Error::io("read the file list", path, e))?,
        ListFrom::Stdin => {
            let fault = |e| Error::io("read the file list from", Path::new("standard input"), e);
            read_standard_input(cancel).map_err(fault)?.ok_or(Error::Cancelled)?
        }
    };
    Ok(split(&bytes, list.separator))
}

/// Reads standard input to its end; `None` if `cancel` was set in the meantime.
fn read_standard_input(cancel: &AtomicBool) -> io::Result<Option<Vec<u8>>> {
    let (mut input, mut bytes) = (io::stdin().lock(), Vec::new());
    while !cancel.load(Ordering::Relaxed) {
        if !is_readable(&input)? {
            continue;
        }
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(Some(bytes));
        }
        bytes.extend_from_slice(chunk);
        let read = chunk.len();
        input.consume(read);
    }
    Ok(None)
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
        let list = FileList { from, separator: Separator::Auto };
        let error = read_list(&list, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/list"), "{error}");
    }
}
