//! Signals, limits of the system, outputs that cannot be written, and the time that commands report.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Place, Ran, run, scanns, skipped};

/// Runs a line of `sh`, in which `$0` is the command, `$1` the index, and `$2` the directory of the files.
fn sh(place: &Place, line: &str) -> Ran {
    let mut sh = Command::new("sh");
    sh.args(["-c", line, env!("CARGO_BIN_EXE_scanns")]).arg(place.index()).arg(place.files());
    run(sh.stdin(Stdio::null()))
}

/// The mask of signals that a process catches (`SigCgt`) or ignores (`SigIgn`).
fn signals(child: &Child, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':'));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Starts a build that waits for its list of files, and waits until it catches Ctrl-C.
fn waiting(place: &Place, trap: &str) -> Child {
    let line = format!("{trap} exec \"$0\" index -o \"$1\" --files-from -");
    let mut sh = Command::new("sh");
    sh.args(["-c", &line, env!("CARGO_BIN_EXE_scanns")]).arg(place.index());
    let child = sh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    // SIGHUP is the last of the signals to be caught.
    let done = |child: &Child| (signals(child, "SigCgt") & 0x4002) == 0x4002;
    let hangs_up = |child: &Child| (signals(child, "SigCgt") | signals(child, "SigIgn")) & 1 == 1;
    while !(done(&child) && hangs_up(&child)) {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_build_that_waits_for_its_list_stops_at_the_first_signal() {
    let place = Place::with(&[("a", "word")]);
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut child = waiting(&place, "");
        let open = child.stdin.take();
        if signal == "-HUP" && signals(&child, "SigIgn") & 1 == 1 {
            skipped("a_build_that_waits_for_its_list_stops_at_the_first_signal", "SIGHUP is ignored here");
            // The build ends with its list, and with it its lock of the index.
            drop(open);
            child.wait().unwrap();
            continue;
        }
        send(&child, signal);
        let ran = Ran::from(child.wait_with_output().unwrap());
        drop(open);
        assert_eq!(ran.code, Some(130), "{signal}: {}", ran.stderr);
    }
    let mut child = waiting(&place, "trap '' HUP;");
    assert!(signals(&child, "SigIgn") & 1 == 1 && signals(&child, "SigCgt") & 1 == 0, "as nohup wants it");
    send(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    let file = place.files().join("a");
    child.stdin.take().unwrap().write_all(file.as_os_str().as_encoded_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(ran.code == Some(0) && ran.text().starts_with("1 document"), "{}{}", ran.text(), ran.stderr);
}

#[test]
fn output_that_cannot_be_written_is_an_error_that_says_what_is_committed() {
    let place = Place::with(&[("a", "word"), ("b", "word")]);
    for (line, hint) in [
        (
            "exec \"$0\" index -o \"$1\" \"$2\" >/dev/full",
            "is complete and committed: cannot write to standard",
        ),
        ("exec \"$0\" index -o \"$1\" --json \"$2\" >&-", "standard output: it is closed"),
        ("exec \"$0\" export \"$1\" >&-", "standard output: it is closed"),
        ("exec \"$0\" export \"$1\" >/dev/full", "No space left"),
        ("exec \"$0\" search \"$1\" word >&-", "standard output: it is closed"),
        ("exec \"$0\" search \"$1\" word >/dev/full", "cannot write to standard output: No space left"),
        ("exec \"$0\" merge \"$1\" >/dev/full", "the merge is complete and committed"),
        ("exec \"$0\" delete \"$1\" --query zebra >/dev/full", "the deletion is committed"),
    ] {
        let ran = sh(&place, line);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{line}: {:?} {}", ran.code, ran.stderr);
    }
    assert_eq!(place.count("word"), 2);
    for line in [
        "exec \"$0\" index --quiet -o \"$1\" \"$2\" >&-",
        "exec \"$0\" export \"$1\" -o \"$1\".csv >&-",
        "\"$0\" export \"$1\" --format csv | head -1",
        "\"$0\" search \"$1\" --all word | true",
        "exec \"$0\" search \"$1\" word >/dev/null",
    ] {
        let ran = sh(&place, line);
        assert!(ran.code == Some(0) && !ran.stderr.contains("panicked"), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("cannot"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_that_names_it() {
    let place = Place::new();
    for n in 0..300u64 {
        let words: Vec<String> =
            (0..300).map(|m| format!("w{:x}", (n * 300 + m).wrapping_mul(0x9e37_79b9))).collect();
        place.write(n.to_string(), words.join(" ").as_bytes());
    }
    place.indexed(&[]);
    let index = "trap '' HUP; ulimit -f 64; exec \"$0\" index --reindex -o \"$1\" \"$2\"";
    let export = "ulimit -f 8; exec \"$0\" export \"$1\" -o \"$1\".csv";
    for line in [index, export] {
        let ran = sh(&place, line);
        assert!(
            ran.code == Some(2) && ran.stderr.contains("ulimit -f"),
            "{line}: {:?} {}",
            ran.code,
            ran.stderr
        );
    }
    assert_eq!(place.info(&["--json"]).json()["documents"], 300, "the earlier commit is intact");
}

#[test]
fn few_threads_are_enough_or_are_asked_for() {
    let place = Place::with(&[("a", "word one"), ("b", "word two")]);
    place.indexed(&[]);
    place.write("c", b"word three");
    place.indexed(&[]);
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    [place.dir.path(), &place.files(), &place.index()].into_iter().for_each(open);
    for entry in std::fs::read_dir(place.index()).unwrap() {
        open(&entry.unwrap().path());
    }
    let binary = place.dir.path().join("scanns");
    std::fs::copy(env!("CARGO_BIN_EXE_scanns"), &binary).unwrap();
    open(&binary);
    let queries = place.dir.path().join("queries");
    std::fs::write(&queries, "word\none\ntwo\nthree\n").unwrap();
    let index = place.index().display().to_string();
    let limited = |most: usize, args: &[&str]| {
        let most = format!("--nproc={most}");
        // The limit does not hold for the superuser.
        let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "prlimit", &most];
        Command::new("setpriv")
            .args(user)
            .arg(&binary)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .map(Ran::from)
    };
    let search = ["search", &index, "--count", "word"];
    match limited(64, &search) {
        Ok(ran) if ran.code == Some(0) => {}
        _ => return skipped("few_threads_are_enough_or_are_asked_for", "there is no setpriv or prlimit"),
    }
    let files = place.files().display().to_string();
    let (out, listed) = (place.dir.path().join("b.scanns"), queries.display().to_string());
    let out = out.display().to_string();
    for most in 1..=6 {
        for args in [
            &search[..],
            &["search", &index, "--queries", &listed, "--threads", "4"],
            &["search", &index, "word", "--threads", "4"],
            &["info", &index, "--unique"],
            &["export", &index],
            &["check", &index],
            &["merge", &index],
        ] {
            let ran = limited(most, args).unwrap();
            assert!(ran.code == Some(0), "{most} {args:?}: {:?} {}", ran.code, ran.stderr);
        }
        let ran = limited(most, &["index", "--threads", "4", "-o", &out, &files]).unwrap();
        let asks =
            ran.code == Some(2) && ran.stderr.contains("ulimit -u") && !ran.stderr.contains("panicked");
        assert!(ran.code == Some(0) || asks, "{most}: {:?} {}", ran.code, ran.stderr);
    }
}

#[test]
fn reported_seconds_are_those_of_the_whole_command() {
    let place = Place::new();
    for n in 0..200 {
        place.write(n.to_string(), "some words to index ".repeat(500).as_bytes());
    }
    let index = place.index();
    let index = index.to_str().unwrap();
    let files = place.files();
    for args in [
        &["index", "--json", "--reindex", "-o", index, files.to_str().unwrap()][..],
        &["merge", index, "--json"],
        &["check", index, "--json"],
    ] {
        // A busy machine takes long to start and to end a process, so that is measured beside each run, and
        // one of several runs must agree.
        let mut differences = Vec::new();
        let agrees = (0..40).any(|_| {
            let began = Instant::now();
            run(&mut scanns(&["--version"]));
            let start = began.elapsed().as_secs_f64();
            let began = Instant::now();
            let ran = run(&mut scanns(args));
            let wall = began.elapsed().as_secs_f64();
            let reported = ran.json()["seconds"].as_f64().unwrap();
            differences.push((start, wall, reported));
            assert!(reported <= wall, "{args:?}: {differences:?}");
            wall - reported <= start + 0.005 + 0.02 * wall || reported >= 0.6 * wall
        });
        assert!(agrees, "{args:?}: {differences:?}");
    }
}
