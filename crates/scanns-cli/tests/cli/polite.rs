//! Builds that leave the machine to others.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Place, run, scanns};

/// What a build says about its limits.
fn limits(place: &Place, more: &[&str]) -> String {
    let ran = place.index_with(&[&["--polite"], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut told = ran.stderr.lines().filter_map(|line| line.strip_prefix("scanns: polite: "));
    told.next().unwrap_or_else(|| panic!("{}", ran.stderr)).to_owned()
}

#[test]
fn a_polite_build_says_its_limits_and_options_override_them() {
    let place = Place::with(&[("a", "one")]);
    let threads = "nice 19, 1 thread that finds files, 1 index thread";
    let expected =
        format!("{threads}, at most 256.0 MiB of memory, at most 1,000 metadata operations per second");
    assert_eq!(limits(&place, &["--content", "none"]), expected);
    // The index has names and metadata alone.
    assert_eq!(limits(&place, &[]), expected);
    let more = ["--content", "none", "--max-ops", "77", "--memory", "300MiB", "--threads", "2"];
    let expected = "nice 19, 1 thread that finds files, 2 index threads, at most 300.0 MiB of memory, \
        at most 77 metadata operations per second";
    assert_eq!(limits(&place, &more), expected);
    let other = Place::with(&[("a", "one")]);
    assert_eq!(limits(&other, &[]), format!("{threads}, at most 256.0 MiB of memory"));
    let quiet = run(scanns(&["index", "-q", "--polite", "-o"]).arg(other.index()).arg(other.files()));
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
}

#[test]
fn every_thread_of_a_polite_build_has_the_lowest_priority() {
    let place = Place::new();
    (0..300).for_each(|number| drop(place.write(format!("{number}"), b"x")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_scanns"));
    command.args(["index", "-q", "--content", "none", "--polite", "--max-ops", "50", "-o"]);
    command.arg(place.index()).arg(place.files()).stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let tasks = format!("/proc/{}/task", child.id());
    let began = Instant::now();
    let nices = loop {
        let threads = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        let nices: Vec<String> = threads.filter_map(|thread| nice_of(&thread.path().join("stat"))).collect();
        if nices.len() >= 3 && nices.iter().all(|nice| nice == "19")
            || began.elapsed() > Duration::from_secs(5)
        {
            break nices;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(running && nices.len() >= 3 && nices.iter().all(|nice| nice == "19"), "{running} {nices:?}");
}

/// The nice value of a thread.
fn nice_of(stat: &std::path::Path) -> Option<String> {
    let text = std::fs::read_to_string(stat).ok()?;
    // The name of the thread, in parentheses, may have any characters; the nice value is the 19th value.
    let after = text.rsplit_once(')')?.1;
    after.split_whitespace().nth(16).map(str::to_owned)
}
