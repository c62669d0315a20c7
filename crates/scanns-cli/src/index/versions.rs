//! The versions of all programs that extract text. If one of them changes, all documents are extracted again.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use xxhash_rust::xxh3::Xxh3;

/// The programs of poppler, which child processes start.
const PROGRAMS: [&str; 2] = ["pdftotext", "pdfinfo"];
/// Tables with which poppler reads Chinese, Japanese and Korean text.
const TABLES: &str = "/usr/share/poppler";
/// The longest line with a version.
const LINE: usize = 200;

/// The versions, a line each. This program counts with all of its bytes: two builds of a version may differ.
///
/// # Errors
/// This program cannot be read.
pub fn extractor_versions(own: &Path) -> io::Result<String> {
    let mut versions = format!("scanns {:032x}\n", hash_of(own)?);
    for program in PROGRAMS {
        versions.push_str(&version_of(program));
        versions.push('\n');
    }
    versions.push_str(if Path::new(TABLES).exists() { "with tables" } else { "without tables" });
    Ok(versions)
}

fn hash_of(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hash.digest128()),
            Ok(got) => hash.update(block.get(..got).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The first line that a program of poppler writes about itself, such as `pdftotext version 24.02.0`.
fn version_of(program: &str) -> String {
    let mut command = Command::new(program);
    command.arg("-v").env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
    let Ok(output) = command.output() else { return format!("{program} is not installed") };
    let text = String::from_utf8_lossy(&output.stderr);
    let line: String = text.lines().next().unwrap_or_default().chars().take(LINE).collect();
    format!("{program}: {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_line_and_other_bytes_are_another_version() {
        let one = extractor_versions(Path::new("/proc/self/exe")).unwrap();
        assert_eq!(one.lines().count(), 4, "{one}");
        assert_eq!(one, extractor_versions(&std::env::current_exe().unwrap()).unwrap());
        let other = tempfile::NamedTempFile::new().unwrap();
        assert_ne!(one, extractor_versions(other.path()).unwrap());
        assert!(extractor_versions(Path::new("/no/such/file")).is_err());
        assert_eq!(version_of("no-such-program"), "no-such-program is not installed");
        if !one.contains("pdftotext version") {
            println!("SKIPPED: pdftotext is not installed");
        }
    }
}
