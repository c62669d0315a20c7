//! Paths in JSON: text if they are valid UTF-8, else the hexadecimal digits of their bytes.
//!
//! ```text
//! path = "text" of valid UTF-8, or { "hex": "two digits for each byte" }
//! ```

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Writes a path.
pub(crate) fn put_path(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => text.into(),
        None => {
            let hex: String = path.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "hex": hex })
        }
    }
}

/// Reads a path; `None` if the value is none.
pub(crate) fn read_path(value: &Value) -> Option<PathBuf> {
    if let Some(text) = value.as_str() {
        return Some(text.into());
    }
    let hex = value.get("hex")?.as_str()?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = hex.chunks(2).map(byte).collect();
    Some(PathBuf::from(OsString::from_vec(bytes.filter(|_| hex.len().is_multiple_of(2))?)))
}
