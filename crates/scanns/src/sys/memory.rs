//! The peak memory of this process, its limits, and the error for memory that the system refuses.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use crate::error::Error;

/// Peak resident memory of this process in bytes; `None` if `/proc` does not report it.
pub fn peak_resident_bytes() -> Option<u64> {
    field_in_kib(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The address space that this process may have in all (`ulimit -v`), in bytes; `None` without a limit.
pub fn address_space_limit() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// The address space that this process may still reserve; `None` without a limit.
pub fn address_space_left() -> Option<u64> {
    let limit = address_space_limit()?;
    let used = fs::read_to_string("/proc/self/status").ok().and_then(|text| field_in_kib(&text, "VmSize:"));
    Some(limit.saturating_sub(used.unwrap_or(0)))
}

/// The error for `bytes` of memory that the system refused.
///
/// `action` says what the memory was for, as in `map the segment`.
pub fn out_of_memory(action: impl Into<String>, bytes: u64) -> Error {
    let limit = match address_space_limit() {
        Some(limit) => {
            format!("this process may have at most {} MiB of address space (ulimit -v)", limit >> 20)
        }
        None => "the system has no more".to_owned(),
    };
    Error::OutOfMemory { action: action.into(), needed: bytes, limit }
}

/// Makes room for exactly `len` more elements.
///
/// # Errors
/// [`Error::OutOfMemory`], which says what the memory was for.
pub fn try_reserve<T>(list: &mut Vec<T>, len: usize, action: &str) -> Result<(), Error> {
    list.try_reserve_exact(len).map_err(|_| out_of_memory(action, len.saturating_mul(size_of::<T>()) as u64))
}

/// A list of `len` elements of the value `fill`.
///
/// # Errors
/// As [`try_reserve`].
pub fn try_filled<T: Clone>(fill: T, len: usize, action: &str) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    try_reserve(&mut list, len, action)?;
    list.resize(len, fill);
    Ok(list)
}

/// The memory that this process may use: the smallest limit of the machine, of all enclosing cgroups, and of
/// the address space.
pub fn memory_limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| field_in_kib(&text, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = cgroup_limit(Path::new("/sys/fs/cgroup"), &groups);
    [machine, group, address_space_limit()].into_iter().flatten().min()
}

fn field_in_kib(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The smallest limit of each of the process's groups and their ancestors, for both versions of cgroups.
///
/// Inside a container, the listed path may not exist below the mount. The walk up ends at the root of the
/// mount, which is then the container's own group.
fn cgroup_limit(mount: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or("/"));
        let (root, file) = if controllers.is_empty() {
            (mount.to_path_buf(), "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            (mount.join("memory"), "memory.limit_in_bytes")
        } else {
            return Vec::new();
        };
        let group = root.join(path.trim_start_matches('/'));
        let to_root = group.ancestors().take_while(|dir| dir.starts_with(&root));
        to_root.map(|dir| dir.join(file)).collect::<Vec<PathBuf>>()
    });
    limits.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_memory_and_less_than_it_may() {
        let peak = peak_resident_bytes().unwrap();
        assert!(peak > 100 << 10 && peak < memory_limit_bytes().unwrap());
    }

    #[test]
    fn memory_that_is_refused_is_an_error_that_says_what_it_was_for() {
        let error = try_filled(0u64, usize::MAX / 16, "count values").unwrap_err().to_string();
        assert!(error.starts_with("cannot count values: ") && error.contains("MiB"), "{error}");
        assert_eq!(try_filled(7u8, 3, "count values").unwrap(), [7, 7, 7]);
    }

    #[test]
    fn the_smallest_limit_on_the_way_to_the_root_counts() {
        let mount = tempfile::tempdir().unwrap();
        let group = mount.path().join("a/b");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("memory.max"), "max\n").unwrap();
        fs::write(mount.path().join("a/memory.max"), "5000\n").unwrap();
        assert_eq!(cgroup_limit(mount.path(), "0::/a/b\n"), Some(5000));
        assert_eq!(cgroup_limit(mount.path(), "0::/\n"), None);
    }

    #[test]
    fn version_one_limits_and_containers_without_their_path_are_understood() {
        let mount = tempfile::tempdir().unwrap();
        fs::create_dir(mount.path().join("memory")).unwrap();
        fs::write(mount.path().join("memory/memory.limit_in_bytes"), "7000\n").unwrap();
        let groups = "9:name=systemd:/\n4:cpu,memory:/docker/0f3\n0::/\n";
        assert_eq!(cgroup_limit(mount.path(), groups), Some(7000));
    }
}
