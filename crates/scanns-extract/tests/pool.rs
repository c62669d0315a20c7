//! Both ends of the pool with real child processes: right answers, and every way in which a child can fail.

mod support;

use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use scanns::extraction::{ExtractFailure, ExtractLimits, Extracted};
use support::{alone, ask, descriptors, pool, pool_with, processes_with, until_gone, zombies};

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn a_file_of_the_disk_and_bytes_of_memory_have_the_same_answer() {
    let _one = alone();
    let extractors = pool(&["confined"]);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all("echo größe".as_bytes()).unwrap();
    let expected = Extracted { format: "test".into(), text: "größe".into(), fields: vec![], cut: false };
    // The position is at the end of the file, and the child reads from the start all the same.
    assert_eq!(extractors.extract(file.as_fd(), b"a", &NEVER).unwrap(), expected);
    assert_eq!(ask(&extractors, "echo größe").unwrap(), expected);
    assert_eq!(extractors.extract_bytes(b"name", b"x.pdf", &NEVER).unwrap().text, b"x.pdf");
    assert!(matches!(ask(&extractors, "unknown"), Err(ExtractFailure::NotADocument)));
    assert!(
        matches!(ask(&extractors, "fail bad table"), Err(ExtractFailure::Failed(why)) if why == "bad table")
    );
}

#[test]
fn text_and_fields_are_cut_at_their_limits() {
    let _one = alone();
    let limits = ExtractLimits { text: 1000, fields: 3, ..Default::default() };
    let extractors = pool_with(&["open"], limits, 1);
    let endless = ask(&extractors, "endless").unwrap();
    assert_eq!((endless.text.len(), endless.cut), (1000, true));
    let fields = ask(&extractors, "fields 4").unwrap();
    assert_eq!((fields.fields.len(), fields.cut), (3, true));
    assert_eq!(fields.fields[2], ("n".into(), "2".into()));
    assert!(!ask(&extractors, "fields 3").unwrap().cut);
    let large = ExtractLimits { text: 64 << 20, ..Default::default() };
    let whole = ask(&pool_with(&["open"], large, 1), "endless").unwrap();
    assert_eq!(whole.text.len(), 64 << 20);
    assert!(whole.text.chunks(16).all(|chunk| chunk == b"0123456789abcdef"));
}

#[test]
fn a_child_that_dies_is_reported_and_replaced() {
    let _one = alone();
    for mode in ["open", "confined"] {
        let extractors = pool(&[mode]);
        let aborted = ask(&extractors, "abort").unwrap_err().to_string();
        assert!(aborted.contains("SIGABRT") && aborted.ends_with(": about to abort"), "{aborted}");
        let fault = ask(&extractors, "segv").unwrap_err().to_string();
        assert!(fault.contains("SIGSEGV"), "{fault}");
        let panic = ask(&extractors, "panic page 7").unwrap_err().to_string();
        assert!(panic.contains("on page 7"), "{panic}");
        assert_eq!(ask(&extractors, "echo still").unwrap().text, b"still");
    }
    let missing = pool_with(&["exit"], ExtractLimits::default(), 1);
    assert!(
        matches!(ask(&missing, "echo"), Err(ExtractFailure::Died { status, .. }) if status.code() == Some(3))
    );
}

#[test]
fn a_program_that_is_absent_cannot_start() {
    let _one = alone();
    let command = scanns::extraction::ExtractorCommand { program: "/absent".into(), arguments: vec![] };
    let extractors = scanns::extraction::Extractors::new(command, ExtractLimits::default(), 1);
    for _ in 0..2 {
        assert!(matches!(ask(&extractors, "echo"), Err(ExtractFailure::Start(_))));
    }
}

#[test]
fn a_child_without_memory_is_told_from_a_crash() {
    let _one = alone();
    let limits = ExtractLimits { memory: 512 << 20, ..Default::default() };
    let extractors = pool_with(&["confined"], limits, 1);
    let failure = ask(&extractors, "allocate").unwrap_err();
    assert!(matches!(failure, ExtractFailure::TooMuchMemory { limit } if limit == 512 << 20), "{failure}");
    assert!(failure.to_string().contains("512 MiB"));
    assert_eq!(ask(&extractors, "echo more").unwrap().text, b"more");
}

#[test]
fn a_child_that_has_grown_is_replaced_after_its_answer() {
    let _one = alone();
    let limits = ExtractLimits { text: 400 << 20, memory: 4 << 30, ..Default::default() };
    let extractors = pool_with(&["open", "grown-77"], limits, 1);
    ask(&extractors, "echo one").unwrap();
    let first = processes_with("grown-77");
    assert_eq!(ask(&extractors, "grow").unwrap().text.len(), 300 << 20);
    assert_eq!(ask(&extractors, "echo two").unwrap().text, b"two");
    let second = processes_with("grown-77");
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
}

#[test]
fn a_child_is_replaced_after_a_thousand_files() {
    let _one = alone();
    let extractors = pool_with(&["open", "thousand-77"], ExtractLimits::default(), 1);
    ask(&extractors, "echo").unwrap();
    let first = processes_with("thousand-77");
    (0..998).for_each(|_| drop(ask(&extractors, "echo").unwrap()));
    assert_eq!(processes_with("thousand-77"), first);
    ask(&extractors, "echo").unwrap();
    assert_eq!(processes_with("thousand-77"), Vec::<u32>::new());
    assert_eq!(ask(&extractors, "echo next").unwrap().text, b"next");
}

#[test]
fn a_child_that_hangs_ends_at_the_time_limit_with_its_programs() {
    let _one = alone();
    let limits = ExtractLimits { seconds: 1, ..Default::default() };
    let extractors = pool_with(&["confined"], limits, 1);
    for order in ["sleep", "spin", "fork 40041"] {
        let start = Instant::now();
        let failure = ask(&extractors, order).unwrap_err();
        assert!(matches!(failure, ExtractFailure::TimedOut { seconds: 1 }), "{failure}");
        assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    }
    until_gone("40041", Duration::from_secs(1));
    let slow = pool_with(&["raw", "slow"], limits, 1);
    assert!(matches!(ask(&slow, "echo"), Err(ExtractFailure::TimedOut { .. })));
}

#[test]
fn programs_end_with_the_child_that_left_them() {
    let _one = alone();
    let extractors = pool(&["confined"]);
    let failure = ask(&extractors, "leave 40042").unwrap_err();
    assert!(matches!(&failure, ExtractFailure::Died { status, .. } if status.code() == Some(7)), "{failure}");
    until_gone("40042", Duration::from_secs(1));
}

#[test]
fn many_warnings_do_not_stop_a_child() {
    let _one = alone();
    let extractors = pool(&["confined"]);
    assert_eq!(ask(&extractors, "noise").unwrap().text, b"heard");
    // The warnings of one file are not given as the reason of another's end.
    let failure = ask(&extractors, "leave 0").unwrap_err().to_string();
    assert!(!failure.contains("warning"), "{failure}");
}

#[test]
fn an_answer_may_come_in_any_pieces() {
    let _one = alone();
    for kind in ["split", "trickle"] {
        let extractors = pool(&["raw", kind]);
        for _ in 0..60 {
            let found = ask(&extractors, "echo").unwrap();
            assert_eq!(found.text, "größe".as_bytes());
            assert_eq!(found.fields, [("name".into(), "value".into())]);
        }
    }
}

#[test]
fn an_answer_against_the_protocol_ends_the_child() {
    let _one = alone();
    for kind in ["flood", "large", "request", "latin", "meta", "version", "close"] {
        let extractors = pool(&["raw", kind, "broken-77"]);
        let failure = ask(&extractors, "echo").unwrap_err();
        assert!(matches!(failure, ExtractFailure::Protocol(_)), "{kind}: {failure}");
        until_gone("broken-77", Duration::from_secs(1));
    }
    let half = pool(&["raw", "half"]);
    assert!(matches!(ask(&half, "echo"), Err(ExtractFailure::Died { .. })));
}

#[test]
fn a_changed_or_cut_answer_never_misleads_the_engine() {
    let _one = alone();
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let limits = ExtractLimits { text: 1 << 20, ..Default::default() };
    let extractors = pool_with(&["raw", "changed"], limits, 1);
    let whole = 12 + 7 + 25;
    let mut answers = 0;
    for _ in 0..300 {
        let end = if random.bool() { whole } else { random.usize(..whole) };
        let name = format!("{} {} {end}", random.usize(..whole), random.u8(..));
        match extractors.extract_bytes(b"", name.as_bytes(), &NEVER) {
            Ok(found) => {
                assert_eq!(end, whole, "{name}");
                assert!(found.text.len() + found.fields.len() <= 8, "{name}: {found:?}");
                answers += 1;
            }
            Err(ExtractFailure::Protocol(_) | ExtractFailure::Died { .. }) => {}
            Err(ExtractFailure::NotADocument | ExtractFailure::Failed(_)) => assert_eq!(end, whole, "{name}"),
            Err(other) => panic!("{name}: {other}"),
        }
    }
    // About 25 are expected: where the changed byte is another letter of the text, a name or a value.
    println!("{answers} answers");
    assert!(answers > 5, "{answers}");
}

#[test]
fn an_idle_child_that_ended_or_sent_more_is_not_used() {
    let _one = alone();
    for kind in ["dead", "late", "trailing"] {
        let extractors = pool_with(&["raw", kind], ExtractLimits::default(), 1);
        for _ in 0..3 {
            assert_eq!(ask(&extractors, "echo").unwrap().text, "größe".as_bytes(), "{kind}");
            thread::sleep(Duration::from_millis(150));
        }
    }
}

#[test]
fn four_threads_share_two_processes() {
    let _one = alone();
    let extractors = pool_with(&["confined", "shared-77"], ExtractLimits::default(), 2);
    let most = AtomicBool::new(false);
    thread::scope(|scope| {
        for worker in 0..4 {
            let extractors = &extractors;
            scope.spawn(move || {
                for file in 0..250 {
                    let text = format!("{worker}/{file}");
                    let found = ask(extractors, &format!("echo {text}")).unwrap();
                    assert_eq!(found.text, text.as_bytes());
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20 {
                most.fetch_or(processes_with("shared-77").len() > 2, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
        });
    });
    assert!(!most.load(Ordering::Relaxed), "more than two processes");
}

#[test]
fn cancel_stops_a_file_and_a_wait_for_a_turn() {
    let _one = alone();
    let extractors = pool_with(&["confined", "cancel-77"], ExtractLimits::default(), 1);
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| extractors.extract_bytes(b"fork 40043", b"", &cancel)));
        thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        cancel.store(true, Ordering::Relaxed);
        for one in both {
            assert!(matches!(one.join().unwrap(), Err(ExtractFailure::Cancelled)));
        }
        assert!(start.elapsed() < Duration::from_millis(200), "{:?}", start.elapsed());
    });
    until_gone("40043", Duration::from_secs(1));
    until_gone("cancel-77", Duration::from_millis(200));
}

#[test]
fn children_end_when_the_engine_is_killed_or_lets_go() {
    let _one = alone();
    let mut parent = support::start_parent("40044");
    support::until_there("sleep", "40044");
    parent.kill().unwrap();
    parent.wait().unwrap();
    until_gone("40044", Duration::from_secs(1));

    let extractors = pool(&["confined", "dropped-77"]);
    ask(&extractors, "echo").unwrap();
    assert_eq!(processes_with("dropped-77").len(), 1);
    drop(extractors);
    assert_eq!(processes_with("dropped-77"), Vec::<u32>::new());
}

#[test]
fn nothing_is_left_after_use() {
    let _one = alone();
    let before = descriptors();
    for _ in 0..3 {
        let limits = ExtractLimits { seconds: 1, ..Default::default() };
        let extractors = pool_with(&["confined"], limits, 2);
        for order in ["echo a", "abort", "sleep", "unknown", "panic", "leave 40045"] {
            drop(ask(&extractors, order));
        }
        let inside = |_| String::from_utf8(ask(&extractors, "fds").unwrap().text).unwrap().lines().count();
        let counts: Vec<usize> = (0..50).map(inside).collect();
        assert_eq!(counts, [counts[0]; 50]);
    }
    assert_eq!(descriptors(), before);
    assert_eq!(zombies(), 0);
    until_gone("40045", Duration::from_secs(1));
}

#[test]
fn a_confined_child_reaches_nothing_else() {
    let _one = alone();
    let extractors = pool(&["confined"]);
    let parts = ask(&extractors, "confinement").unwrap().fields;
    println!("{parts:?}");
    let on = |part: &str| parts.iter().any(|(name, on)| name.starts_with(part) && on == "true");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secret"), "x").unwrap();
    let found = ask(&extractors, &format!("try {}", dir.path().display())).unwrap().fields;
    println!("{found:?}");
    let outcome = |what: &str| found.iter().find(|(name, _)| name == what).unwrap().1.as_str();
    assert_eq!((outcome("read program"), outcome("write device")), ("done", "done"));
    if on("system calls") {
        for what in [
            "tcp",
            "udp",
            "unix",
            "datagram pair",
            "own group",
            "change mode",
            "change mode of the file",
            "limit parent",
        ] {
            assert_eq!(outcome(what), "PermissionDenied", "{what}");
        }
    } else {
        println!("SKIPPED system calls: this kernel has no seccomp filters");
    }
    if on("files") {
        for what in ["write", "remove", "read", "list root", "list home", "read passwords"] {
            assert_eq!(outcome(what), "PermissionDenied", "{what}");
        }
        assert!(dir.path().join("secret").exists());
    } else {
        println!("SKIPPED files: this kernel has no Landlock");
    }
    if on("signals") {
        assert_eq!(outcome("signal parent"), "PermissionDenied");
    } else {
        println!("SKIPPED signals: Landlock of this kernel does not cover them");
    }
    // The same attempts succeed without the confinement, so the test can fail.
    let free = ask(&pool(&["open"]), &format!("try {}", dir.path().display())).unwrap().fields;
    for what in [
        "udp",
        "datagram pair",
        "own group",
        "change mode",
        "change mode of the file",
        "limit parent",
        "write",
        "read",
        "remove",
        "signal parent",
    ] {
        assert!(free.iter().any(|(name, outcome)| name == what && outcome == "done"), "{what} {free:?}");
    }
}

#[test]
fn a_confined_child_can_run_programs() {
    let _one = alone();
    let extractors = pool(&["confined"]);
    assert_eq!(ask(&extractors, "run sed -n 2p\nsecond").unwrap().text, b"second");
    let pdf = "run pdftotext - -\n%PDF-1.1\n\
        1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R\
        /Resources<</Font<</F 5 0 R>>>>>>endobj\n\
        4 0 obj<</Length 40>>stream\nBT /F 12 Tf 20 200 Td (confined) Tj ET   \nendstream endobj\n\
        5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
    match ask(&extractors, pdf) {
        Ok(found) => assert_eq!(String::from_utf8_lossy(&found.text).trim(), "confined"),
        Err(ExtractFailure::Failed(why)) if why.contains("No such file") => {
            println!("SKIPPED pdftotext: absent")
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn one_child_serves_thousands_of_files_in_a_second() {
    let _one = alone();
    let extractors = pool_with(&["confined"], ExtractLimits::default(), 1);
    let file = tempfile::tempfile().unwrap();
    (&file).write_all(b"echo tiny").unwrap();
    let start = Instant::now();
    for _ in 0..5000 {
        assert_eq!(extractors.extract(file.as_fd(), b"a", &NEVER).unwrap().text, b"tiny");
    }
    let rate = 5000.0 / start.elapsed().as_secs_f64();
    println!("{rate:.0} files/s");
    // A slow and busy machine must pass; the figure is printed for a reader.
    assert!(rate > 500.0, "{rate:.0} files/s");
}
