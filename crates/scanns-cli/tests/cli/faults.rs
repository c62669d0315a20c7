//! Failing runs: they report the error, keep existing data, and have the right exit code.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::{Place, Ran, humble, run, scanns, skipped};

#[test]
fn usage_errors_exit_with_2_and_say_what_to_do() {
    for (args, hint) in [
        (&["index", "-o", "x.scanns"][..], "<PATH>"),
        (&["index", "."], "--output"),
        (&["index", "-o", "x.scanns", ".", "--memory", "much"], "512MiB"),
        (&["index", "-o", "x.scanns", ".", "--records", "pages"], "lines"),
        (&["index", "-o", "x.scanns", ".", "--analyzer", "paths", "--delimiters", ","], "--delimiters"),
        (&["index", "-o", "x.scanns", ".", "--delimiters", "\\"], "\\xHH"),
        (&["index", "-o", "x.scanns", ".", "--read-threads", "2", "--index-threads", "3"], "give 2 or 4"),
        (&["index", "-o", "x.scanns", ".", "-0"], "--files-from"),
        (&["index", "-o", "x.scanns", ".", "--frobnicate"], "--frobnicate"),
        (&["search", "x.scanns"], "<QUERY>"),
        (&["search", "x.scanns", "word", "-k", "0"], "at least 1"),
        (&["search", "x.scanns", "word", "--limit", "-1"], "a whole number of at least 1"),
        (&["search", "x.scanns", "word", "--k1", "-1"], "between 0 and 1000000"),
        (&["search", "x.scanns", "word", "--model", "bm26"], "bm25"),
        (&["search", "x.scanns", "word", "--p", "2"], "p-norm"),
        (&["search", "x.scanns", "word", "--model", "bm25", "--b", "2"], "between 0 and 1"),
        (&["search", "x.scanns", "word", "--count", "--all"], "--all"),
        (&["search", "/nonexistent/x.scanns", "word"], "/nonexistent/x.scanns"),
        (&["info", "/nonexistent/x.scanns"], "/nonexistent/x.scanns"),
        (&["index", "-o", "x.scanns", ".", "--profile", "/nonexistent/p.toml"], "scanns tune"),
        (&["tune"], "<PATH>"),
        (&["tune", ".", "--budget", "long"], "30s"),
        (&["tune", ".", "--out", "/nonexistent/p.toml"], "/nonexistent"),
        (&["tune", "/nonexistent/data"], "files that can be read and are not empty"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let ran = run(scanns(args).current_dir(std::env::temp_dir()));
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("scanns: ") && ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["help", "index"],
        &["search", "-h"],
        &["info", "--help"],
        &["tune", "--help"],
    ] {
        let ran = run(&mut scanns(args));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ran.text().contains("scanns"), "{args:?}");
    }
    assert_eq!(run(&mut scanns(&[])).code, Some(2), "no verb is an error that shows the help");
}

#[test]
fn inputs_that_fail_are_listed_and_the_rest_is_indexed() {
    let place = Place::with(&[("good", "word")]);
    let missing = place.dir.path().join("missing");
    let with_missing = |more: &[&str]| {
        run(scanns(&["index"]).arg("-o").arg(place.index()).args(more).arg(place.files()).arg(&missing))
    };
    let ran = with_missing(&["--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["failed"], &report["documents"]), (Some(1), &json!(1), &json!(1)));
    assert_eq!(report["failures"][0]["path"], missing.to_str().unwrap());
    assert!(!report["failures"][0]["reason"].as_str().unwrap().is_empty());
    assert_eq!(place.found(&["word"]), ["good"]);

    let ran = with_missing(&["--quiet"]);
    assert_eq!((ran.code, ran.text()), (Some(1), ""));
    assert!(ran.stderr.contains("/missing: ") && ran.stderr.contains("1 input failed"), "{}", ran.stderr);
}

#[test]
fn a_long_list_of_failures_is_cut_for_people_and_whole_for_programs() {
    let place = Place::with(&[("good", "word")]);
    let missing: Vec<_> = (0..33).map(|n| place.dir.path().join(format!("missing{n}"))).collect();
    let with_missing = |more: &[&str]| {
        run(scanns(&["index"]).arg("-o").arg(place.index()).args(more).arg(place.files()).args(&missing))
    };
    let ran = with_missing(&[]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(1), 21), "{}", ran.stderr);
    assert!(ran.stderr.contains("33 inputs failed, 13 of them not shown"), "{}", ran.stderr);
    assert_eq!(with_missing(&["--json"]).json()["failures"].as_array().unwrap().len(), 33);
}

#[test]
fn an_unreadable_file_is_a_failure() {
    let place = Place::with(&[("good", "word")]);
    let secret = place.write("secret", b"word");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o000)).unwrap();
    let Some(mut humble) = humble() else {
        return skipped("an_unreadable_file_is_a_failure", "this user may read everything");
    };
    let ran = run(humble.args(["index", "--json", "-o"]).arg(place.index()).arg(place.files()));
    let report = ran.json();
    assert_eq!((ran.code, &report["failed"]), (Some(1), &json!(1)));
    assert_eq!(report["failures"][0]["path"], secret.to_str().unwrap());
    assert_eq!(place.found(&["word"]), ["good"]);
}

#[test]
fn a_fifo_in_the_tree_neither_blocks_nor_fails() {
    let place = Place::with(&[("good", "word")]);
    assert!(Command::new("mkfifo").arg(place.files().join("fifo")).status().unwrap().success());
    let report = place.indexed(&["--json"]).json();
    assert_eq!((&report["documents"], &report["failed"]), (&json!(1), &json!(0)));
    assert!(report["skipped"].as_u64().unwrap() >= 1, "{report}");
}

#[test]
fn a_loop_of_links_ends() {
    let place = Place::with(&[("sub/good", "word")]);
    std::os::unix::fs::symlink(place.files(), place.files().join("sub/up")).unwrap();
    assert_eq!(place.indexed(&["--json"]).json()["documents"], 1, "without --follow, links are not followed");
    std::fs::remove_dir_all(place.index()).unwrap();
    let ran = place.index_with(&["--json", "--follow"]);
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
    assert!(place.count("word") >= 1);
}

#[test]
fn a_directory_that_is_no_index_is_left_alone() {
    let place = Place::with(&[("good", "word")]);
    let letters = place.index();
    std::fs::create_dir(&letters).unwrap();
    std::fs::write(letters.join("letter.txt"), "dear").unwrap();
    for ran in [place.index_with(&[]), place.search(&["word"]), place.info(&[])] {
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("a.scanns"), "{}", ran.stderr);
    }
    let names: Vec<_> =
        std::fs::read_dir(&letters).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["letter.txt"]);
}

#[test]
fn a_file_is_no_index() {
    let place = Place::with(&[("good", "word")]);
    std::fs::write(place.index(), "precious").unwrap();
    for ran in [place.index_with(&[]), place.search(&["word"])] {
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(place.index()).unwrap(), "precious");
}

#[test]
fn a_damaged_manifest_is_an_error_and_never_an_older_answer() {
    let place = Place::with(&[("good", "word")]);
    place.indexed(&[]);
    place.indexed(&["--reindex"]);
    let manifest = newest_manifest(&place.index());
    let whole = std::fs::read(&manifest).unwrap();
    let (answer, facts) = (place.search(&["word"]).stdout, place.info(&["--json"]).stdout);
    for step in 0..60 {
        let mut bytes = whole.clone();
        // The content is at the end; most of the bytes before it may be padding.
        let at = whole.len() - 1 - step * step * (whole.len() - 1) / (59 * 59);
        bytes[at] ^= 0x10;
        std::fs::write(&manifest, &bytes).unwrap();
        for (ran, expected) in [(place.search(&["word"]), &answer), (place.info(&["--json"]), &facts)] {
            match ran.code {
                Some(0) => assert_eq!(&ran.stdout, expected, "byte {at} changes the answer unnoticed"),
                _ => refused(&ran, &format!("byte {at}")),
            }
        }
    }
    for len in [0, 7, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&manifest, &whole[..len]).unwrap();
        for ran in [place.search(&["word"]), place.info(&[]), place.index_with(&[])] {
            refused(&ran, &format!("{len} bytes"));
        }
    }
    std::fs::write(&manifest, &whole).unwrap();
    assert_eq!(place.count("word"), 1);
}

/// Asserts that the run ended with a message and nothing else.
fn refused(ran: &Ran, what: &str) {
    assert_eq!((ran.code, ran.text()), (Some(2), ""), "{what}: {}", ran.stderr);
    assert!(ran.stderr.starts_with("scanns: ") && !ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
}

/// The manifest with the highest generation.
fn newest_manifest(index: &Path) -> std::path::PathBuf {
    let mut found: Vec<_> = std::fs::read_dir(index)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("manifest-"))
        .collect();
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    found.pop().unwrap()
}

#[test]
fn a_damaged_segment_never_gives_an_answer() {
    let place = Place::new();
    for n in 0..200 {
        place.write(n.to_string(), format!("word{n} common").as_bytes());
    }
    place.indexed(&[]);
    let expected = place.search(&["--all", "common"]).stdout;
    let segment = std::fs::read_dir(place.index())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "seg"));
    let Some(segment) = segment else {
        return skipped("a_damaged_segment_never_gives_an_answer", "the index has no file named .seg");
    };
    let whole = std::fs::read(&segment).unwrap();
    for step in 0..40 {
        let mut bytes = whole.clone();
        let at = step * (whole.len() - 1) / 39;
        bytes[at] ^= 0x04;
        std::fs::write(&segment, &bytes).unwrap();
        let ran = place.search(&["--all", "common"]);
        match ran.code {
            Some(0) => assert_eq!(ran.stdout, expected, "byte {at} changes the answer unnoticed"),
            code => assert_eq!(code, Some(2), "byte {at}: {}", ran.stderr),
        }
        assert!(!ran.stderr.contains("panicked"), "byte {at}: {}", ran.stderr);
    }
}

#[test]
fn a_query_that_does_not_parse_is_shown_with_its_fault() {
    let place = Place::with(&[("good", "word")]);
    place.indexed(&[]);
    let ran = place.search(&["(word"]);
    assert_eq!((ran.code, ran.text()), (Some(2), ""));
    assert!(ran.stderr.contains("(word"), "{}", ran.stderr);
}

/// True if a process handles SIGINT and has used 0.3 s of processor time: its build has then begun, however
/// busy the machine is.
fn is_at_work(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let handles_interrupts =
        caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name in parentheses come the state and ten other fields, then the time in ticks of 10 ms.
    let ticks = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(11)?.parse::<u64>().ok());
    handles_interrupts && ticks.is_some_and(|ticks| ticks >= 30)
}

#[test]
fn control_c_stops_a_build_which_goes_on_when_it_is_run_again() {
    let place = Place::with(&[("good", "word")]);
    place.indexed(&[]);
    let text = "some words to count again and again\n".repeat(250_000);
    let large = place.write("large", text.as_bytes());
    for n in 0..1000 {
        std::fs::hard_link(&large, place.files().join(format!("large{n}"))).unwrap();
    }
    let mut child = scanns(&["index", "--threads", "1", "-o"])
        .arg(place.index())
        .arg(place.files())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !is_at_work(child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("the same command resumes from there"), "{stderr}");
    assert_eq!(place.found(&["word"]), ["good"]);
    let begun = place.count("again");
    assert!(begun < 1000, "it was stopped before the end");
    let include = ["--include", "large1?", "--include", "good"];
    let again = place.index_with(&[&["--json", "--keep-removed"][..], &include].concat());
    assert_eq!(again.code, Some(0), "no lock is left behind: {}", again.stderr);
    let report = again.json();
    let added = report["documents"].as_u64().unwrap();
    assert_eq!(report["replaced"], 0);
    assert_eq!(report["unchanged"].as_u64().unwrap() + added, 11, "{report}");
    assert_eq!(place.count("again"), begun + added, "no document is there twice");
}

#[test]
fn a_full_disk_is_reported_and_leaves_the_previous_commit() {
    let place = Place::with(&[("good", "word")]);
    let disk = place.dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let large = place.dir.path().join("large");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&large).unwrap());
    for n in 0..600_000u64 {
        write!(file, "term{:x} ", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).unwrap();
    }
    file.flush().unwrap();
    // A private mount, which disappears with this script.
    let script = r#"
        mount -t tmpfs -o size=2m none "$1" || exit 99
        "$2" index --quiet -o "$1/a.scanns" "$3" || exit 98
        "$2" index --quiet -o "$1/a.scanns" "$4"; echo "rc=$?"
        "$2" search "$1/a.scanns" --count word"#;
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let ran = run(Command::new("unshare")
        .arg(if root { "-m" } else { "-rm" })
        .args(["sh", "-c", script, "sh"])
        .arg(&disk)
        .arg(env!("CARGO_BIN_EXE_scanns"))
        .arg(place.files())
        .arg(&large));
    if !matches!(ran.code, Some(0 | 98)) {
        return skipped(
            "a_full_disk_is_reported_and_leaves_the_previous_commit",
            "no file system can be mounted here",
        );
    }
    full_disk_was_reported(&ran);
}

fn full_disk_was_reported(ran: &Ran) {
    assert_eq!(ran.text(), "rc=2\n1\n", "{}", ran.stderr);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
}
