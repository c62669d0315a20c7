//! Which indexes there are, as the command line says it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum length of the name of an index, in bytes.
const LONGEST: usize = 100;

/// An index and the name that requests call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSource {
    /// The name: letters, digits, `.`, `-` and `_`.
    pub name: Arc<str>,
    /// The directory of the index.
    pub path: PathBuf,
}

/// Indexes that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is nothing to serve.
    #[error("no index to serve: name one or more")]
    None,
    /// The name cannot be part of an address.
    #[error(
        "'{name}' cannot be the name of an index: write NAME=PATH, where NAME has letters, digits, '.', '-' \
         and '_', does not begin with '.' or '_', and has at most 100 characters"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two indexes have the same name.
    #[error("{} and {} would both be called '{name}': write NAME=PATH for one of them", .paths[0], .paths[1])]
    SameName {
        /// The name.
        name: String,
        /// The paths of both.
        paths: [String; 2],
    },
    /// The index cannot be opened.
    #[error(transparent)]
    Open(#[from] scanns::Error),
}

impl IndexSource {
    /// Reads a path, whose last part without `.scanns` becomes the name, or `NAME=PATH`. What follows the
    /// first `=` is a path only if a name comes before it; `./a=b.scanns` is a path.
    ///
    /// # Errors
    /// [`SourceError::Name`] if the name cannot be part of an address.
    pub fn parse(text: &Path) -> Result<Self, SourceError> {
        let mut parts = text.as_os_str().as_bytes().splitn(2, |byte| *byte == b'=');
        if let (Some(name), Some(path)) = (parts.next(), parts.next())
            && let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_name(name))
        {
            return Ok(IndexSource { name: name.into(), path: OsStr::from_bytes(path).into() });
        }
        let name = text.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".scanns").unwrap_or(&name);
        if !is_name(name) {
            return Err(SourceError::Name { name: name.into() });
        }
        Ok(IndexSource { name: name.into(), path: text.into() })
    }
}

/// True for a name that can stand in an address and in a list with commas.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_plain) && !name.starts_with(['.', '_'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_from_the_path_or_stands_before_it() {
        let of = |text: &str| IndexSource::parse(Path::new(text)).map(|one| (one.name.to_string(), one.path));
        for (text, name, path) in [
            ("fs.scanns", "fs", "fs.scanns"),
            ("/data/fs.scanns/", "fs", "/data/fs.scanns/"),
            ("home=/data/fs.scanns", "home", "/data/fs.scanns"),
            ("/data/a=b/fs.scanns", "fs", "/data/a=b/fs.scanns"),
            ("a=b=c.scanns", "a", "b=c.scanns"),
            ("plain", "plain", "plain"),
        ] {
            assert_eq!(of(text).unwrap(), (name.to_owned(), PathBuf::from(path)), "{text}");
        }
        for wrong in ["/", "", "_search", ".scanns", "a b.scanns", "./a,b.scanns", "ä.scanns", ".."] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
