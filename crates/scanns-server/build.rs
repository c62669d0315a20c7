//! Embeds the files of the page, which are built in `web/dist`: their bytes, compressed, with a tag for each.
//!
//! Without that directory, as in a package of the crate alone, the server has no page and says so.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = root.join("../../web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    if dist.is_dir() {
        list(&dist, &mut files)?;
    }
    files.sort();
    let mut table = String::from("[\n");
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&dist).map_err(io::Error::other)?.to_string_lossy();
        if name.ends_with(".br") || name.ends_with(".gz") {
            continue;
        }
        let bytes = fs::read(file)?;
        let tag = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let brotli = built(file, "br");
        let gzip = match built(file, "gz") {
            Some(gzip) => Some(gzip),
            None => gzipped(&bytes, &out.join(format!("{number}.gz")))?,
        };
        let include = |path: &Path| format!("include_bytes!({:?})", path.display().to_string());
        let optional = |path: Option<PathBuf>| match path {
            Some(path) => format!("Some({})", include(&path)),
            None => "None".into(),
        };
        let _ = writeln!(
            table,
            "    EmbeddedFile {{ path: {name:?}, tag: \"{tag:016x}\", plain: {}, brotli: {}, gzip: {} }},",
            include(file),
            optional(brotli),
            optional(gzip),
        );
    }
    table.push_str("]\n");
    fs::write(out.join("page_files.rs"), table)
}

/// The files below a directory.
fn list(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            list(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// The compressed file beside a file, if it was built.
fn built(file: &Path, extension: &str) -> Option<PathBuf> {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    Some(PathBuf::from(name)).filter(|path| path.is_file())
}

/// Compresses bytes into a file, if they become shorter by a tenth.
fn gzipped(bytes: &[u8], to: &Path) -> io::Result<Option<PathBuf>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    let compressed = encoder.finish()?;
    if compressed.len() > bytes.len() / 10 * 9 {
        return Ok(None);
    }
    fs::write(to, compressed)?;
    Ok(Some(to.to_owned()))
}
