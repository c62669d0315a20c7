//! What the tests of the pool share: pools, and a look at the processes of the system.
#![expect(clippy::unwrap_used, reason = "a failure here fails a test")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use scanns::extraction::{ExtractFailure, ExtractLimits, Extracted, ExtractorCommand, Extractors};

/// The child program, an example of this crate, which `cargo test` builds beside the tests.
fn child() -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    let child = test.parent().and_then(std::path::Path::parent).unwrap().join("examples/child");
    assert!(child.exists(), "run cargo build -p scanns-extract --example child first");
    child
}

/// Tests count processes and descriptors, so they run one at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn pool(arguments: &[&str]) -> Extractors {
    pool_with(arguments, ExtractLimits::default(), 2)
}

pub fn pool_with(arguments: &[&str], limits: ExtractLimits, processes: usize) -> Extractors {
    let arguments = arguments.iter().map(Into::into).collect();
    Extractors::new(ExtractorCommand { program: child(), arguments }, limits, processes)
}

pub fn ask(extractors: &Extractors, content: &str) -> Result<Extracted, ExtractFailure> {
    extractors.extract_bytes(content.as_bytes(), b"name", &AtomicBool::new(false))
}

/// An engine in a process of its own, whose child hangs.
pub fn start_parent(marker: &str) -> Child {
    Command::new(child()).args(["parent", marker]).stderr(Stdio::null()).spawn().unwrap()
}

/// The numbers of the processes that have `argument` and are no zombies.
pub fn processes_with(argument: &str) -> Vec<u32> {
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    };
    let mut found: Vec<u32> = all_processes().filter(has).collect();
    found.sort_unstable();
    found
}

fn all_processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Waits until no process has `argument`.
pub fn until_gone(argument: &str, most: Duration) {
    let start = Instant::now();
    while !processes_with(argument).is_empty() {
        assert!(start.elapsed() < most, "{:?} still there", processes_with(argument));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has both arguments.
pub fn until_there(program: &str, argument: &str) {
    let start = Instant::now();
    let there = || processes_with(argument).iter().any(|pid| processes_with(program).contains(pid));
    while !there() {
        assert!(start.elapsed() < Duration::from_secs(10), "{program} {argument} does not start");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Children of this process that ended and were not collected.
pub fn zombies() -> usize {
    let own = std::process::id().to_string();
    let is_own = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit(") ").next().unwrap_or_default();
        let mut words = after.split(' ');
        words.next() == Some("Z") && words.next() == Some(own.as_str())
    };
    all_processes().filter(is_own).count()
}

pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
