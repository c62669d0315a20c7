//! Scans compared with a slow and plain recursion.

mod look;
mod plain;
mod roots;
mod system;
mod trees;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::*;
use plain::Row;

/// The entries of a scan, by path.
fn rows(options: &ScanOptions) -> (Vec<Row>, ScanReport) {
    rows_with(options, most_descriptors())
}

fn rows_with(options: &ScanOptions, descriptors: usize) -> (Vec<Row>, ScanReport) {
    let found = Mutex::new(Vec::new());
    let send = |batch: EntryBatch| {
        assert!(batch.len() <= 2048 && !batch.is_empty());
        found.lock().unwrap().extend(batch.iter().map(|entry| Row::of_entry(&entry)));
        true
    };
    let report = scan_with(options, None, &AtomicBool::new(false), &send, descriptors).unwrap();
    assert!(report.complete);
    let mut rows = found.into_inner().unwrap();
    rows.sort();
    let twice = rows.windows(2).find(|pair| pair[0].path == pair[1].path);
    assert!(twice.is_none(), "{twice:?}");
    let counted: u64 = report.roots.iter().map(|root| root.entries).sum();
    assert_eq!(counted, rows.len() as u64);
    (rows, report)
}

fn options(paths: &[&Path], threads: usize) -> ScanOptions {
    let paths = paths.iter().map(|path| path.to_path_buf()).collect();
    ScanOptions { paths, threads, ..ScanOptions::default() }
}

/// The paths of rows relative to a directory.
fn names(rows: &[Row], root: &Path) -> Vec<String> {
    let relative = |row: &Row| {
        let path = Path::new(std::ffi::OsStr::from_bytes(&row.path));
        path.strip_prefix(root).unwrap().to_string_lossy().into_owned()
    };
    rows.iter().map(relative).collect()
}

/// A directory for a test, by its path without links.
struct Place {
    _directory: tempfile::TempDir,
    path: std::path::PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    Place { _directory: directory, path }
}

impl Place {
    fn at(&self, name: &str) -> std::path::PathBuf {
        self.path.join(name)
    }

    fn add(&self, files: &[&str]) {
        for file in files {
            std::fs::create_dir_all(self.at(file).parent().unwrap()).unwrap();
            std::fs::write(self.at(file), file).unwrap();
        }
    }
}
