//! The peak memory of this process, and its memory limit.

use std::fs;
use std::path::{Path, PathBuf};

/// Peak resident memory of this process in bytes; `None` if `/proc` does not report it.
pub fn peak_resident_bytes() -> Option<u64> {
    field_in_kib(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The memory that this process may use: the smallest limit of the machine and of all enclosing cgroups.
pub fn memory_limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| field_in_kib(&text, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = cgroup_limit(Path::new("/sys/fs/cgroup"), &groups);
    [machine, group].into_iter().flatten().min()
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
