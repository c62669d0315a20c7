//! The parts of an S3 Inventory, whose manifest is given as a dump.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::record::dump::{CsvTable, DUMP_HEAD, DumpFormat, S3Manifest, TableDump, is_s3_manifest};

/// The largest manifest that is read; it has about 200 bytes for a part.
const LARGEST: u64 = 64 << 20;

/// The dumps that a file stands for: itself, or the parts of the inventory whose manifest it is.
///
/// # Errors
/// What is wrong with the manifest.
pub(super) fn with_parts(path: &Path, format: &DumpFormat) -> Result<Vec<(PathBuf, DumpFormat)>, String> {
    let itself = || Ok(vec![(path.to_path_buf(), format.clone())]);
    let table = match format {
        DumpFormat::Detect => TableDump::default(),
        DumpFormat::Table(table) if matches!(table.format, None | Some("s3-inventory")) => table.clone(),
        _ => return itself(),
    };
    // Other faults of the file are told where it is read.
    let Some(bytes) = manifest(path) else { return itself() };
    let directory = path.parent().unwrap_or(Path::new(""));
    let checksum = std::fs::read(directory.join("manifest.checksum")).ok();
    let S3Manifest { format, columns, parts } = S3Manifest::read(&bytes, checksum.as_deref())?;
    let part = TableDump {
        format: Some(if format == "CSV" { "s3-inventory" } else { "parquet" }),
        csv: CsvTable { delimiter: Some(b','), names: Some(columns), objects: true, ..table.csv },
        ..table
    };
    let place = |key: &String| {
        let found = places(directory, key).find(|place| place.is_file());
        let found = found.ok_or_else(|| {
            format!("its part {key} is neither next to it nor in data/ next to it or above it: copy it there")
        })?;
        Ok((found, DumpFormat::Table(part.clone())))
    };
    parts.iter().map(place).collect()
}

/// The bytes of a file, if it is a manifest.
fn manifest(path: &Path) -> Option<Vec<u8>> {
    if path == Path::new("-") || !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path).ok()?.take(LARGEST);
    (&mut file).take(DUMP_HEAD as u64).read_to_end(&mut bytes).ok()?;
    if !is_s3_manifest(&bytes) {
        return None;
    }
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Where a part may lie: next to the manifest, in `data/` next to it or next to its directory, as in the
/// bucket.
fn places<'a>(directory: &'a Path, key: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    let name = key.rsplit('/').next().unwrap_or(key);
    let above = directory.join("..");
    [directory.join(name), directory.join("data").join(name), above.join("data").join(name)].into_iter()
}
