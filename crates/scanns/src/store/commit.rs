//! The newest manifest is the current state of an index; publishing a manifest is a commit.
//!
//! A manifest is written under a temporary name, synced, and renamed to `manifest-<generation>`; then the
//! directory is synced. After a crash before the rename, the old generation is still the newest. After a
//! crash after it, the new one is complete, because its bytes were synced first. The previous generation is
//! kept until the next commit. If the newest manifest does not verify, that is an error: an older one is
//! never used silently.

use super::{Directory, Envelope, EnvelopeWriter, FileKind, Lease};
use crate::error::{Error, Result};

const MANIFEST: FileKind = FileKind { magic: *b"SCANNMAN", format: 5, oldest: 1 };
const PREFIX: &str = "manifest-";
const TEMPORARY: &str = "manifest.tmp";
/// The kind of the only section of a manifest.
const CONTENT: u32 = 1;

/// A committed state.
#[derive(Debug)]
pub struct Committed {
    /// The number of the commit, counted from 1.
    pub generation: u64,
    /// The published content.
    pub content: Vec<u8>,
}

/// The name of the manifest of a commit.
pub fn manifest_name(generation: u64) -> String {
    format!("{PREFIX}{generation:010}")
}

fn generation(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Reads the newest committed state; returns `None` if nothing was ever committed.
pub fn read_newest(directory: &dyn Directory) -> Result<Option<Committed>> {
    let Some(&generation) = generations(directory)?.first() else { return Ok(None) };
    Ok(Some(Committed { generation, content: read_generation(directory, generation)? }))
}

/// The generations of all manifests in the directory, newest first.
pub fn generations(directory: &dyn Directory) -> Result<Vec<u64>> {
    let mut found: Vec<u64> = directory.list()?.iter().filter_map(|name| generation(name)).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Reads the content of the commit `generation`.
pub fn read_generation(directory: &dyn Directory, generation: u64) -> Result<Vec<u8>> {
    let envelope = Envelope::open(directory, &manifest_name(generation), MANIFEST)?;
    if envelope.id() != u128::from(generation) {
        return Err(Error::corrupt(
            manifest_name(generation),
            format!("its header has generation {}", envelope.id()),
        ));
    }
    Ok(envelope.section(CONTENT)?.all()?.to_vec())
}

/// Publishes `content` as the state of `generation`, durably. The files that it names must already be
/// durable.
///
/// Returns the number of bytes written.
pub fn publish(directory: &dyn Directory, generation: u64, content: &[u8]) -> Result<u64> {
    let written = prepare(directory, generation, content)?;
    publish_prepared(directory, generation)?;
    Ok(written)
}

/// Does everything that can fail for lack of space: writes `content` to the medium, so that
/// [`publish_prepared`] only has to give it its name. Returns the number of bytes written.
pub fn prepare(directory: &dyn Directory, generation: u64, content: &[u8]) -> Result<u64> {
    // The names of the files that the manifest names must be durable before the manifest is.
    directory.sync()?;
    let mut writer = EnvelopeWriter::create(directory, TEMPORARY, MANIFEST, u128::from(generation))?;
    writer.begin(CONTENT)?;
    writer.write(content)?;
    writer.finish()?.sync()
}

/// Publishes the prepared content as the newest state.
pub fn publish_prepared(directory: &dyn Directory, generation: u64) -> Result<()> {
    directory.rename(TEMPORARY, &manifest_name(generation))?;
    directory.sync()
}

/// The older commits that readers still use, and the right to remove the others while this value is held.
#[derive(Debug, Default)]
pub struct Leased {
    /// The commits in use.
    pub generations: Vec<u64>,
    _retired: Vec<Lease>,
}

/// Finds out which commits before `newest` are in use. The caller must hold the writer's lock.
pub fn leased(directory: &dyn Directory, newest: u64) -> Result<Leased> {
    let mut found = Leased::default();
    if directory.needs_leases() {
        for generation in generations(directory)?.into_iter().filter(|&generation| generation < newest) {
            match directory.retire(generation) {
                Some(retired) => found._retired.push(retired),
                None => found.generations.push(generation),
            }
        }
    }
    Ok(found)
}

/// Removes files that no commit needs: manifests older than the one before `generation`, temporary files, and
/// files for which `is_garbage` returns true. Manifests of commits in use are kept, and their files are not
/// garbage. The caller must hold the writer's lock.
pub fn sweep(
    directory: &dyn Directory,
    newest: u64,
    leased: &Leased,
    is_garbage: impl Fn(&str) -> bool,
) -> Result<()> {
    for file in directory.list()? {
        let old =
            generation(&file).is_some_and(|found| found + 1 < newest && !leased.generations.contains(&found));
        if old || file == TEMPORARY || is_garbage(&file) {
            directory.remove(&file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::RamDirectory;
    use super::*;

    #[test]
    fn the_newest_generation_wins_and_the_one_before_is_kept() {
        let directory = RamDirectory::new();
        assert!(read_newest(&directory).unwrap().is_none());
        for generation in 1..=12 {
            publish(&directory, generation, &[u8::try_from(generation).unwrap()]).unwrap();
            sweep(&directory, generation, &Leased::default(), |_| false).unwrap();
        }
        let newest = read_newest(&directory).unwrap().unwrap();
        assert_eq!((newest.generation, newest.content), (12, vec![12]));
        let mut names = directory.list().unwrap();
        names.sort();
        assert_eq!(names, ["manifest-0000000011", "manifest-0000000012"]);
    }

    #[test]
    fn a_damaged_newest_manifest_is_an_error_not_a_step_back() {
        let directory = RamDirectory::new();
        publish(&directory, 1, b"one").unwrap();
        publish(&directory, 2, b"two").unwrap();
        let mut bytes = directory.open(&manifest_name(2)).unwrap().to_vec();
        bytes[4096] ^= 1;
        let mut output = directory.create(&manifest_name(2)).unwrap();
        output.write_all(&bytes).unwrap();
        output.finish().unwrap();
        assert!(matches!(read_newest(&directory), Err(Error::Corrupt { .. })));
    }

    #[test]
    fn sweeping_removes_only_what_nobody_needs() {
        let directory = RamDirectory::new();
        for file in ["a.seg", "b.seg", "manifest.tmp", "lock"] {
            directory.create(file).unwrap().finish().unwrap();
        }
        publish(&directory, 1, b"").unwrap();
        sweep(&directory, 1, &Leased::default(), |name| name == "b.seg").unwrap();
        let mut names = directory.list().unwrap();
        names.sort();
        assert_eq!(names, ["a.seg", "lock", "manifest-0000000001"]);
    }
}
