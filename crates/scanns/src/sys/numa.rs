//! NUMA nodes and their processors, from `/sys`; pinning of threads to them.
//!
//! Memory is placed by first touch: a thread that is pinned to a node touches it first. On a machine with one
//! node, or if `/sys` does not report nodes, there is one node with every processor that this process may
//! use.

use std::fs;
use std::path::Path;

use rustix::thread::CpuSet;

/// The processors of one node that this process may run on, ascending.
pub type Cpus = Vec<usize>;

/// Nodes with at least one processor that this process may run on; never empty.
pub fn nodes() -> Vec<Cpus> {
    nodes_under(Path::new("/sys/devices/system/node"), &allowed_cpus())
}

/// Pins the calling thread to `cpus`; a failure is ignored, because it only costs speed.
pub fn pin_current_thread(cpus: &[usize]) {
    let mut set = CpuSet::new();
    for &cpu in cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    if set.count() > 0 {
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
}

/// Processors that this process may run on.
pub fn allowed_cpus() -> Cpus {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
        Err(_) => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    }
}

fn nodes_under(root: &Path, allowed: &[usize]) -> Vec<Cpus> {
    let mut nodes: Vec<(usize, Cpus)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            let mut cpus = parse_cpu_list(&fs::read_to_string(entry.path().join("cpulist")).ok()?);
            cpus.retain(|cpu| allowed.binary_search(cpu).is_ok());
            (!cpus.is_empty()).then_some((number, cpus))
        })
        .collect();
    nodes.sort();
    if nodes.is_empty() {
        return vec![allowed.to_vec()];
    }
    nodes.into_iter().map(|(_, cpus)| cpus).collect()
}

/// Parses the kernel's notation, such as `0-3,8,10-11`; invalid parts are skipped.
fn parse_cpu_list(text: &str) -> Cpus {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        (last < CpuSet::MAX_CPU).then_some(first..=last)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_hold_only_allowed_processors_and_memoryless_ones_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (node, cpus) in [("node0", "0-2,8\n"), ("node10", "4-5\n"), ("node2", "\n"), ("node3", "99\n")] {
            fs::create_dir(root.path().join(node)).unwrap();
            fs::write(root.path().join(node).join("cpulist"), cpus).unwrap();
        }
        fs::write(root.path().join("online"), "0-1").unwrap();
        assert_eq!(nodes_under(root.path(), &[1, 2, 4, 8]), [vec![1, 2, 8], vec![4]]);
    }

    #[test]
    fn without_sys_there_is_one_node_with_all_allowed_processors() {
        assert_eq!(nodes_under(Path::new("/nonexistent"), &[3, 5]), [vec![3, 5]]);
        assert!(!nodes()[0].is_empty());
    }

    #[test]
    fn damaged_lists_yield_what_can_be_read() {
        assert_eq!(parse_cpu_list("0, x, 2-1, 3-4, 0-99999999999"), [0, 3, 4]);
    }

    #[test]
    fn a_pinned_thread_runs_where_it_was_put() {
        std::thread::spawn(|| {
            let last = *allowed_cpus().last().unwrap();
            pin_current_thread(&[last]);
            assert_eq!(allowed_cpus(), [last]);
        })
        .join()
        .unwrap();
    }
}
