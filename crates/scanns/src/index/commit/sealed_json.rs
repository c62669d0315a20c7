//! JSON objects in files, with a format, a version and a checksum.
//!
//! ```text
//! file = "{\n" | members of the object, one a line, `format` and `version` first | ",\n"
//!        "  \"checksum\": \"" | 16 hexadecimal digits | "\"\n}\n"
//! checksum = xxh3-64 of all bytes before ",\n  \"checksum\""
//! ```
//!
//! People and other programs can read such a file. It is written under a temporary name, synced and renamed.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::store::{Directory, FsDirectory};

/// What stands before the checksum.
const SEAL: &str = ",\n  \"checksum\": \"";

/// What a file must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SealedKind {
    pub(crate) format: &'static str,
    /// The newest version that this program reads, and writes.
    pub(crate) version: u32,
}

/// The text of a file with these members.
fn seal(kind: SealedKind, members: Map<String, Value>) -> String {
    let mut object = Map::new();
    object.insert("format".into(), kind.format.into());
    object.insert("version".into(), kind.version.into());
    object.extend(members);
    let text = format!("{:#}", Value::Object(object));
    let body = text.trim_end_matches('}').trim_end();
    format!("{body}{SEAL}{:016x}\"\n}}\n", xxh3_64(body.as_bytes()))
}

/// The members of a file, after its checksum and its version were verified. `name` is for messages.
///
/// # Errors
/// [`Error::NewerFormat`] for a newer version, [`Error::DamagedPlan`] for damage.
fn unseal(kind: SealedKind, name: &str, bytes: &[u8]) -> Result<Map<String, Value>> {
    let damaged = |what: String| Error::DamagedPlan { file: name.to_owned(), what };
    let object = match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(damaged("it is not a JSON object".into())),
        Err(error) => return Err(damaged(format!("it is not valid JSON ({error})"))),
    };
    if object.get("format").and_then(Value::as_str) != Some(kind.format) {
        return Err(damaged(format!("it does not say that its format is '{}'", kind.format)));
    }
    // Later versions may have other checksums.
    match object.get("version").and_then(Value::as_u64).map(u32::try_from) {
        Some(Ok(version)) if version > kind.version => {
            let (file, supported) = (name.to_owned(), kind.version);
            return Err(Error::NewerFormat { file, found: version, supported });
        }
        Some(Ok(1..)) => {}
        _ => return Err(damaged("it has no version".into())),
    }
    let at = memchr::memmem::rfind(bytes, SEAL.as_bytes());
    let body = at.and_then(|at| bytes.get(..at)).unwrap_or_default();
    let expected = format!("{:016x}", xxh3_64(body));
    if object.get("checksum").and_then(Value::as_str) != Some(&expected) {
        return Err(damaged("its checksum is wrong".into()));
    }
    Ok(object)
}

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// Those of [`unseal`], and an error if the file cannot be read.
pub(crate) fn read_sealed(kind: SealedKind, path: &Path) -> Result<Option<Map<String, Value>>> {
    match fs::read(path) {
        Ok(bytes) => unseal(kind, &path.display().to_string(), &bytes).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

/// Writes a file durably, under the temporary name `temporary` first; a file with its name is replaced.
///
/// # Errors
/// The file cannot be written; the one with its name is as before then.
pub(crate) fn write_sealed(
    kind: SealedKind,
    members: Map<String, Value>,
    path: &Path,
    temporary: &Path,
) -> Result<()> {
    let written = File::create(temporary).and_then(|mut file| {
        file.write_all(seal(kind, members).as_bytes())?;
        file.sync_all()
    });
    let renamed = written
        .map_err(|error| Error::io("write", temporary, error))
        .and_then(|()| fs::rename(temporary, path).map_err(|error| Error::io("rename", temporary, error)));
    if renamed.is_err() {
        let _ = fs::remove_file(temporary);
    }
    renamed?;
    FsDirectory::new(directory_of(path)).sync()
}

/// The directory in which a file is.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// True for a name that leads to no other directory.
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && ![".", ".."].contains(&name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KIND: SealedKind = SealedKind { format: "a test", version: 3 };

    #[test]
    fn sealed_objects_read_back_and_changed_ones_do_not() {
        let members = json!({ "a": [1, { "b": "},\n  \"checksum\": \"0\"" }], "z": {} });
        let Value::Object(members) = members else { unreachable!("it is an object") };
        let text = seal(KIND, members.clone());
        let read = unseal(KIND, "x", text.as_bytes()).unwrap();
        assert_eq!((&read["a"], &read["z"], &read["version"]), (&members["a"], &members["z"], &json!(3)));
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            // Only white space after the checksum may differ.
            assert!(unseal(KIND, "x", &changed).is_err() || at >= text.len() - 3, "byte {at}");
        }
        assert!((0..text.len() - 1).all(|len| unseal(KIND, "x", &text.as_bytes()[..len]).is_err()));
        let empty = seal(KIND, Map::new());
        assert!(unseal(KIND, "x", empty.as_bytes()).is_ok(), "{empty}");
    }

    #[test]
    fn other_formats_and_newer_versions_are_told_apart() {
        let newer = seal(SealedKind { version: 4, ..KIND }, Map::new());
        let found = unseal(KIND, "x", newer.as_bytes());
        assert!(matches!(found, Err(Error::NewerFormat { found: 4, supported: 3, .. })), "{found:?}");
        let other = seal(SealedKind { format: "another", ..KIND }, Map::new());
        assert!(matches!(unseal(KIND, "x", other.as_bytes()), Err(Error::DamagedPlan { .. })));
        assert!(matches!(unseal(KIND, "x", b"[]"), Err(Error::DamagedPlan { .. })));
    }
}
