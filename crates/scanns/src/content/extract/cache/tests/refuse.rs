//! Directories that are refused, and errors that come later.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;

fn refusal(directory: &Path) -> String {
    ExtractCache::open(options(directory, LARGE)).unwrap_err().to_string()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_directory_is_private() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("new");
    let cache = cache(&directory, LARGE);
    cache.put(&key(&cache, 1), &extracted("text"));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(mode(&directory.join(names::MARKER)), 0o600);
    let entry = files(&directory).pop().unwrap();
    assert_eq!((mode(&entry), mode(entry.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_directory_that_others_can_write_to_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    for mode in [0o777, 0o770, 0o702] {
        set_mode(parent.path(), mode);
        assert!(refusal(parent.path()).contains("run: chmod 700 "), "{}", refusal(parent.path()));
    }
    set_mode(parent.path(), 0o755);
    assert!(ExtractCache::open(options(parent.path(), LARGE)).is_ok());
}

#[test]
fn the_directory_of_another_user_is_refused() {
    if fs::metadata("/proc/1").is_ok_and(|meta| meta.uid() != rustix::process::geteuid().as_raw()) {
        assert!(refusal(Path::new("/usr")).contains(" belongs to user 0, "));
    } else {
        let parent = tempfile::tempdir().unwrap();
        if std::os::unix::fs::chown(parent.path(), Some(12_345), None).is_err() {
            println!("SKIPPED: no directory of another user");
            return;
        }
        assert!(refusal(parent.path()).contains(" belongs to user 12345, but this is user 0; "));
    }
}

#[test]
fn a_directory_with_other_files_is_refused_and_stays_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("thesis.pdf"), "x").unwrap();
    assert!(refusal(parent.path()).contains(" holds other files, such as thesis.pdf, "));
    assert_eq!(files(parent.path()).len(), 1);
    assert!(refusal(&parent.path().join("thesis.pdf")).contains("Not a directory"));
    assert!(refusal(&parent.path().join("no/where")).contains("No such file"));
}

#[test]
fn a_cache_stays_a_cache_with_other_files_in_it_and_with_a_damaged_marker() {
    let parent = tempfile::tempdir().unwrap();
    let first = cache(parent.path(), LARGE);
    let (key, marker) = (key(&first, 1), parent.path().join(names::MARKER));
    first.put(&key, &extracted("text"));
    fs::write(parent.path().join("notes.txt"), "x").unwrap();
    assert!(get(&cache(parent.path(), LARGE), &key).is_some());
    for bytes in [Vec::new(), vec![0; 32], vec![1; 1000]] {
        fs::write(&marker, bytes).unwrap();
        let other = cache(parent.path(), LARGE);
        assert_ne!(other.secret, first.secret);
        assert_eq!(cache(parent.path(), LARGE).secret, other.secret);
    }
}

#[test]
fn errors_after_the_opening_are_counted_and_the_first_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("cache");
    let cache = cache(&directory, LARGE);
    let (one, two) = (key(&cache, 1), key(&cache, 2));
    cache.put(&one, &extracted("text"));
    assert_eq!(cache.notes().errors, 0);
    let group = place(&directory, &one).parent().unwrap().to_owned();
    set_mode(&group, 0o777);
    assert!(get(&cache, &one).is_none());
    let notes = cache.notes();
    assert_eq!((notes.hits, notes.misses, notes.errors), (0, 1, 1));
    assert!(notes.first_error.unwrap().starts_with("cannot read an entry: other users can write to "));
    set_mode(&group, 0o700);
    assert!(get(&cache, &one).is_some());
    // The directory vanishes: nothing is found or written, and nothing fails.
    fs::remove_dir_all(&directory).unwrap();
    assert!(get(&cache, &one).is_none());
    cache.put(&two, &extracted("text"));
    let notes = cache.notes();
    assert_eq!((notes.hits, notes.misses, notes.errors), (1, 2, 2));
    assert!(!directory.exists());
}

#[test]
fn a_full_disk_is_an_error_that_is_counted() {
    let Some(full) = small_disk() else {
        println!("SKIPPED: no right to mount a small file system");
        return;
    };
    let cache = cache(&full.0, LARGE);
    let mut random = random();
    for number in 0..200 {
        let text: String = std::iter::repeat_with(|| random.alphanumeric()).take(50_000).collect();
        cache.put(&key(&cache, number), &extracted(&text));
    }
    let notes = cache.notes();
    assert!(notes.errors > 0 && notes.first_error.unwrap().contains("No space left"));
    assert!(files(&full.0).iter().all(|path| !path.to_string_lossy().contains("tmp-")));
    assert!(get(&cache, &key(&cache, 0)).is_some());
}

/// A file system of 1 MiB, unmounted when dropped.
struct SmallDisk(PathBuf, #[expect(dead_code, reason = "removes the directory")] tempfile::TempDir);

fn small_disk() -> Option<SmallDisk> {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("disk");
    fs::create_dir(&path).unwrap();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m,mode=700", "none"])
        .arg(&path)
        .stderr(std::process::Stdio::null())
        .status();
    mount.is_ok_and(|status| status.success()).then_some(SmallDisk(path, parent))
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}
