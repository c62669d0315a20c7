//! Describes where figures were taken: processor, memory, kernel, and how the directories in use are mounted.
//!
//! Lin et al. ("The Performance Envelope of Inverted Indexing on Modern Hardware") show that medium and mount
//! matter as much as the program, so a figure without them says little.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The properties of a machine that figures depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the processor, as it reports it.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Release of the Linux kernel.
    pub kernel: String,
    /// Setting of transparent huge pages.
    pub huge_pages: String,
    /// The directories in use.
    pub mounts: Vec<Mount>,
}

/// How a directory is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// The directory that is used.
    pub directory: PathBuf,
    /// Where its file system begins.
    pub mounted_at: PathBuf,
    /// Kind of file system, such as `ext4`.
    pub file_system: String,
    /// The device, or what the file system reports instead.
    pub device: String,
    /// Mount options.
    pub options: String,
}

/// The rest of the first line of `text` that begins with `name`.
fn field(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|found| found.trim() == name));
    line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string()).unwrap_or_default()
}

/// Decodes the escapes of `/proc/self/mounts`: a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount that holds `directory`: the last of the longest ones in `mounts`, which has the format of
/// `/proc/self/mounts`.
fn mount_of(directory: &Path, mounts: &str) -> Option<Mount> {
    let lines = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (device, at, kind, options) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let mounted_at = PathBuf::from(unescape(at));
        directory.starts_with(&mounted_at).then(|| Mount {
            directory: directory.into(),
            mounted_at,
            file_system: kind.into(),
            device: unescape(device),
            options: options.into(),
        })
    });
    lines.max_by_key(|mount| mount.mounted_at.components().count())
}

impl Machine {
    /// Describes this machine, and the mounts of `directories`. The nearest existing parent stands for a
    /// directory that does not exist.
    pub fn look(directories: &[&Path]) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib: u64 = memory.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        let mounts = read("/proc/self/mounts");
        let place = |directory: &&Path| {
            let whole = std::path::absolute(directory).ok()?;
            whole.ancestors().find_map(|known| known.canonicalize().ok())
        };
        Machine {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kib << 10,
            kernel: read("/proc/sys/kernel/osrelease").trim().into(),
            huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled").trim().into(),
            mounts: directories
                .iter()
                .filter_map(place)
                .filter_map(|path| mount_of(&path, &mounts))
                .collect(),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "{} cores {}, memory {} GiB, Linux {}, huge pages {}",
            self.cores,
            self.processor,
            self.memory_bytes >> 30,
            self.kernel,
            self.huge_pages
        )?;
        for mount in &self.mounts {
            let Mount { directory, file_system, device, options, .. } = mount;
            write!(out, "\n{}: {file_system} on {device} ({options})", directory.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_on_the_longest_mount_that_holds_it() {
        let mounts = "/dev/a / ext4 rw 0 0\n/dev/b /data\\040x ext4 rw,noatime 0 0\ntmpfs /data tmpfs rw 0 \
            0\nodd line\n";
        let of = |path: &str| mount_of(Path::new(path), mounts).unwrap();
        assert_eq!(of("/data x/y").device, "/dev/b");
        assert_eq!(of("/data x/y").options, "rw,noatime");
        assert_eq!(of("/data/z").file_system, "tmpfs");
        assert_eq!(of("/database").device, "/dev/a");
        assert_eq!(mount_of(Path::new("/x"), ""), None);
        assert_eq!(unescape("a\\"), "a\\");
    }

    #[test]
    fn this_machine_has_cores_memory_and_a_root() {
        let machine = Machine::look(&[Path::new("/"), Path::new("/no/such/directory")]);
        assert!(machine.cores > 0 && machine.memory_bytes > 0 && machine.mounts.len() == 2, "{machine:?}");
    }
}
