//! Tests of all containers: against the tools of the system, and with damaged and dishonest archives.

mod compress;
mod damage;
mod lies;
mod made;
mod tools;
mod tree;

use std::io::{Cursor, Read};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use super::walker::ArchiveReport;
use super::{ArchiveFormat, ArchiveLimits, ArchiveMember, walk, walk_zip};

/// A member and its content, or the error of its reader.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    member: ArchiveMember,
    content: Result<Vec<u8>, String>,
}

impl Found {
    fn path(&self) -> String {
        self.member.path.escape_ascii().to_string()
    }

    fn error(&self) -> &str {
        self.content.as_ref().expect_err("an error")
    }
}

/// All members of an archive.
fn read_all(format: ArchiveFormat, bytes: &[u8], limits: &ArchiveLimits) -> (Vec<Found>, ArchiveReport) {
    let mut found = Vec::new();
    let mut visit = |member: &ArchiveMember, reader: &mut (dyn Read + Send)| {
        let mut content = Vec::new();
        let result = reader.read_to_end(&mut content);
        found.push(Found {
            member: member.clone(),
            content: result.map(|_| content).map_err(|error| error.to_string()),
        });
        Ok(ControlFlow::Continue(()))
    };
    let report = if format == ArchiveFormat::Zip {
        walk_zip(&mut Cursor::new(bytes), limits, &mut visit)
    } else {
        walk(format, &mut &*bytes, limits, &mut visit)
    };
    assert_eq!(found.len() as u64, report.members);
    assert_eq!(found.iter().filter(|found| found.content.is_err()).count() as u64, report.unreadable);
    (found, report)
}

/// All members of an archive that must not be damaged.
fn read_intact(format: ArchiveFormat, bytes: &[u8]) -> Vec<Found> {
    assert_eq!(ArchiveFormat::of(&bytes[..bytes.len().min(512)]), Some(format));
    let (found, report) = read_all(format, bytes, &ArchiveLimits::default());
    if let Some(error) = &report.error {
        panic!("{error}");
    }
    assert_eq!((report.malformed, report.unreadable, report.end_mark), (0, 0, true), "{report:?}");
    found
}

/// Whether a tool is there; prints a line if not.
fn has_tool(name: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        println!("SKIPPED a comparison: {name} is not installed");
    }
    found
}

/// Whether zip can write links to a pipe, which some versions refuse; prints a line if not.
fn has_zip_for_pipes() -> bool {
    if !has_tool("zip") {
        return false;
    }
    let root = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink("target", root.path().join("link")).expect("a link");
    let archive = shell(root.path(), "zip -qry - link 2>&1 | cat");
    let can = memchr::memmem::find(&archive, b"PK\x05\x06").is_some();
    if !can {
        println!("SKIPPED a comparison: this zip writes no links to pipes");
    }
    can
}

/// The output of a shell command in a directory.
fn shell(directory: &std::path::Path, command: &str) -> Vec<u8> {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// A seed that a failing test prints.
fn random(test: &str) -> fastrand::Rng {
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("{test}: SCANNS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}
