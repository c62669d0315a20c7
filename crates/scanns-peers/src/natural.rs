//! Standard corpora of natural text: the documentation and sources in Debian packages, which are downloaded
//! and unpacked, but not installed. A corpus is made once below the directory of the driver.
//!
//! A corpus is a tree of text files: what is compressed is decompressed, and pages in HTML become text, both
//! by scanns, which stores the text in a temporary index (`written`). A record beside the tree,
//! NAME.packages, has the versions of the packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail, ensure};
use scanns::index::{IndexOptions, Progress};
use scanns::schema::{Records, Store};
use scanns::sources::{ContentOptions, Extraction, SourceOptions};
use scanns::writer::StoredOptions;
use scanns::{Hit, Snapshot};

/// The maximum size of a corpus in bytes.
const LARGEST: u64 = 250 << 20;

/// A kind of natural text.
#[derive(Debug)]
pub struct Natural {
    /// The name of the corpus.
    pub name: &'static str,
    /// The packages. Each has alternatives for several releases of Debian, of which the first that exists is
    /// used.
    packages: &'static [&'static [&'static str]],
    /// Where the text is in an unpacked package.
    below: &'static str,
}

/// All kinds.
pub const NATURAL: [Natural; 3] = [
    Natural {
        name: "manuals",
        packages: &[
            &["linux-doc-6.12", "linux-doc-6.1"],
            &["gcc-14-doc", "gcc-12-doc"],
            &["postgresql-doc-17", "postgresql-doc-15"],
            &["openjdk-21-doc", "openjdk-17-doc"],
            &["python3.13-doc", "python3.11-doc"],
            &["git-doc"],
        ],
        below: "usr/share",
    },
    Natural { name: "source", packages: &[&["linux-source-6.12", "linux-source-6.1"]], below: "usr/src" },
    Natural {
        name: "languages",
        packages: &[
            &["libreoffice-help-en-us"],
            &["libreoffice-help-de"],
            &["libreoffice-help-fr"],
            &["libreoffice-help-fi"],
            &["libreoffice-help-tr"],
            &["libreoffice-help-vi"],
            &["libreoffice-help-el"],
            &["libreoffice-help-ru"],
            &["libreoffice-help-hi"],
            &["libreoffice-help-ja"],
            &["libreoffice-help-ko"],
            &["libreoffice-help-zh-cn"],
            // In a dozen languages, one of them Arabic.
            &["debian-handbook"],
        ],
        below: "usr/share",
    },
];

/// The kind with a name.
pub fn named(name: &Path) -> Option<&'static Natural> {
    NATURAL.iter().find(|natural| name == Path::new(natural.name))
}

impl Natural {
    /// Returns the directory of the corpus below `work`. It is made if it does not exist yet, which needs the
    /// network.
    ///
    /// # Errors
    /// If no package can be had, with what to do, or files cannot be written.
    pub fn prepare(&self, work: &Path) -> Result<PathBuf> {
        let corpora = std::path::absolute(work)?.join("natural");
        let (tree, record) = (corpora.join(self.name), corpora.join(format!("{}.packages", self.name)));
        if record.exists() && tree.is_dir() {
            return Ok(tree);
        }
        let temporary = corpora.join(format!("{}.tmp", self.name));
        for old in [&temporary, &tree] {
            remove(old)?;
        }
        let unpacked = temporary.join("unpacked");
        fs::create_dir_all(&unpacked).with_context(|| format!("cannot create {}", unpacked.display()))?;
        let made_of = self.unpack(&temporary, &unpacked)?;
        let (files, bytes) = written(&unpacked.join(self.below), &temporary.join("index"), &tree)?;
        ensure!(files > 0, "the packages of {} have no text: {made_of}", self.name);
        eprintln!("peers: {}: {files} files, {} MiB", self.name, bytes >> 20);
        remove(&temporary)?;
        // This is written last, so that it shows that the corpus is complete.
        let text = format!("{made_of}{files} files, {bytes} bytes\n");
        fs::write(&record, text).with_context(|| format!("cannot write {}", record.display()))?;
        Ok(tree)
    }

    /// Downloads and unpacks the packages. Returns their names and versions, a line for each.
    fn unpack(&self, temporary: &Path, unpacked: &Path) -> Result<String> {
        let (mut made_of, mut failures) = (String::new(), Vec::new());
        for alternatives in self.packages {
            eprintln!("peers: {}: fetching {}", self.name, alternatives.join(" or "));
            match download(alternatives, temporary) {
                Ok(package) => {
                    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(unpacked))?;
                    let mut show = Command::new("dpkg-deb");
                    let format = "${Package} ${Version}\n";
                    made_of += &run(show.arg("-W").arg(format!("--showformat={format}")).arg(&package))?;
                    remove(&package)?;
                }
                Err(failure) => {
                    made_of += &format!("# left out, not available: {}\n", alternatives.join(" or "));
                    failures.push(format!("{failure:#}"));
                }
            }
        }
        if failures.len() == self.packages.len() {
            bail!(
                "the packages of the corpus {} cannot be downloaded: this needs Debian or Ubuntu and the \
                 network; run apt-get update as root, copy a finished corpus from another machine, or name \
                 another corpus with --corpus\n{}",
                self.name,
                failures.join("\n")
            );
        }
        if !failures.is_empty() {
            eprintln!("peers: {}: left out, not available: {}", self.name, failures.join("; "));
        }
        for archive in fs::read_dir(unpacked.join(self.below)).into_iter().flatten() {
            let archive = archive?.path();
            let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.contains(".tar.") && archive.is_file() {
                let directory = archive.parent().unwrap_or(unpacked);
                run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(directory))?;
                remove(&archive)?;
            }
        }
        Ok(made_of)
    }
}

/// Downloads the first package that exists into `directory`, and returns its path.
fn download(alternatives: &[&str], directory: &Path) -> Result<PathBuf> {
    let mut failure = None;
    for name in alternatives {
        let mut command = Command::new("apt-get");
        match run(command.args(["download", name]).current_dir(directory)) {
            Ok(_) => {
                let package = fs::read_dir(directory)?
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .find(|path| path.extension().is_some_and(|extension| extension == "deb"));
                return package.with_context(|| format!("apt-get download {name} wrote no package"));
            }
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| anyhow::anyhow!("no package is named")))
}

/// Runs a program and returns what it printed.
fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let arguments = || command.get_args().map(|one| one.to_string_lossy()).collect::<Vec<_>>().join(" ");
    ensure!(
        output.status.success(),
        "{program} {} failed: {}",
        arguments(),
        said.lines().last().unwrap_or_default()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

/// Writes the text of the files below `from` to files of the same names below `to`, with an index at `index`
/// that stores it. If it is more than a corpus may have, files are chosen by the checksums of their names,
/// which are the same everywhere. Returns the number of files and of bytes.
fn written(from: &Path, index: &Path, to: &Path) -> Result<(usize, u64)> {
    let options = IndexOptions {
        source: SourceOptions { paths: vec![from.into()], ..SourceOptions::default() },
        records: Records::File,
        contents: Some(ContentOptions { extract: Extraction::Safe, ..ContentOptions::default() }),
        stored: StoredOptions { store: Some(Store::Content), ..StoredOptions::default() },
        commit_every: None,
        ..IndexOptions::default()
    };
    let report =
        scanns::Index::at(index).build(&options, &Progress::new(), &Arc::new(AtomicBool::new(false)))?;
    if let Some(failure) = report.failed.first() {
        eprintln!("peers: {} files cannot be read and are left out, first {failure:?}", report.failed.len());
    }
    let snapshot = Snapshot::open(index)?;
    let mut texts = Vec::new();
    for (leaf, segment) in snapshot.segments().iter().enumerate() {
        for doc in 0..u32::try_from(segment.documents)? {
            let hit = Hit { score: 0.0, leaf, doc };
            let key = String::from_utf8_lossy(&snapshot.key(&hit)?).into_owned();
            let name = key.strip_prefix(&*from.to_string_lossy()).unwrap_or(&key);
            let name: String = name.trim_start_matches('/').to_owned();
            texts.push((crc32fast::hash(name.as_bytes()), name, leaf, doc));
        }
    }
    texts.sort_unstable();
    let (mut bytes, mut names) = (0, BTreeSet::new());
    for (_, name, leaf, doc) in texts {
        let text = snapshot.document(&Hit { score: 0.0, leaf, doc })?.unwrap_or_default();
        let size = text.len() as u64;
        let path = to.join(&name);
        // A member of an archive may have the name of a file, or a parent that is a file.
        let fits = bytes + size <= LARGEST && size > 0 && !path.exists();
        if !fits || path.ancestors().skip(1).any(Path::is_file) || name.contains("..") {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap_or(to))
            .and_then(|()| fs::write(&path, &text))
            .with_context(|| format!("cannot write {}", path.display()))?;
        bytes += size;
        names.insert(name);
    }
    Ok((names.len(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_text_and_compressed_files_are_decompressed() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("a")).unwrap();
        fs::write(from.join("a/page.html"), "<html><body><p>one &amp; two</p></body></html>").unwrap();
        fs::write(from.join("plain"), "three\n").unwrap();
        fs::write(from.join("image"), [0, 159, 146, 150, 0, 1, 2, 255]).unwrap();
        let to = dir.path().join("to");
        let (files, bytes) = written(&from, &dir.path().join("index"), &to).unwrap();
        let read = |name: &str| fs::read_to_string(to.join(name)).unwrap();
        assert!(read("a/page.html").trim() == "one & two" && read("plain") == "three\n");
        assert_eq!((files, to.join("image").exists()), (2, false));
        assert_eq!(bytes, (read("a/page.html").len() + 6) as u64);
    }

    #[test]
    fn a_finished_corpus_needs_no_network_and_a_missing_program_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let natural = named(Path::new("manuals")).unwrap();
        let tree = dir.path().join("natural/manuals");
        fs::create_dir_all(&tree).unwrap();
        fs::write(dir.path().join("natural/manuals.packages"), "x 1\n").unwrap();
        assert_eq!(natural.prepare(dir.path()).unwrap(), tree);
        let error = run(&mut Command::new("/no/such/apt-get")).unwrap_err().to_string();
        assert!(error.contains("/no/such/apt-get"), "{error}");
    }

    #[test]
    fn packages_that_cannot_be_had_are_told_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let natural =
            Natural { name: "none", packages: &[&["no-such-package-1", "no-such-package-2"]], below: "usr" };
        let error = natural.prepare(dir.path()).unwrap_err().to_string();
        assert!(error.contains("--corpus") && error.contains("apt-get"), "{error}");
    }
}
