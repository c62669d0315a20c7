//! Limits on the address space (`ulimit -v`): a right answer, or an error that names the limit.

use std::process::{Command, Stdio};

use crate::{Place, Ran, run, scanns};

/// Runs the command with at most `mib` MiB of address space.
fn limited(mib: u64, args: &[&str]) -> Ran {
    let line = format!("ulimit -v {} && exec \"$0\" \"$@\"", mib << 10);
    let mut sh = Command::new("sh");
    run(sh.args(["-c", &line, env!("CARGO_BIN_EXE_scanns")]).args(args).stdin(Stdio::null()))
}

/// The least limit, in MiB, under which the system starts the command: its code must fit.
fn least() -> u64 {
    (20..).step_by(4).find(|&mib| limited(mib, &["--version"]).code == Some(0)).unwrap()
}

/// Asserts that a run did all, or said what limits it.
fn done_or_refused(ran: &Ran, what: &str) -> bool {
    let refused = ran.code == Some(2) && ran.stderr.contains("ulimit -v");
    assert!(ran.code == Some(0) || refused, "{what}: {:?} {}", ran.code, ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
    !refused
}

/// An index of records whose columns have many different values.
fn records(place: &Place) -> String {
    let mut random = fastrand::Rng::with_seed(0x5eed_2511);
    let mut text = String::new();
    for n in 0..100_000 {
        let (id, number) = (random.u128(..), random.u32(..));
        let words = random.u32(..50_000);
        text += &format!(
            "{{\"id\":\"{id:032x}{id:032x}\",\"n\":{number},\"g\":\"g{}\",\"text\":\"w{words} common\"}}\n",
            n % 97
        );
    }
    let path = place.write("records.jsonl", text.as_bytes());
    let index = place.index().display().to_string();
    let ran = run(scanns(&["index", "--quiet", "--records", "jsonl", "-o", &index]).arg(path));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    index
}

#[test]
fn searches_in_a_small_address_space_are_right_or_refused() {
    let place = Place::new();
    let index = records(&place);
    let parquet = place.dir.path().join("a.parquet").display().to_string();
    let commands: [&[&str]; 8] = [
        &["search", &index, "common", "--count"],
        &["search", &index, "g:g5", "-k", "5"],
        &["search", &index, "*", "--count", "--facet", "id:3"],
        &["search", &index, "*", "--sort", "n", "-k", "5"],
        &["export", &index, "--fields", "id,n"],
        &["export", &index, "--sort", "n", "--fields", "id"],
        &["export", &index, "-o", &parquet],
        &["check", &index],
    ];
    let (mut answered, mut refused, least) = (0, 0, least());
    for command in commands {
        let expected = run(&mut scanns(command));
        assert_eq!(expected.code, Some(0), "{command:?}: {}", expected.stderr);
        for more in [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 60, 110, 160, 210, 260, 360] {
            let mib = least + more;
            let ran = limited(mib, command);
            if done_or_refused(&ran, &format!("{mib} {command:?}")) {
                assert_eq!(ran.stdout, expected.stdout, "{mib} {command:?}");
                answered += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(answered > 8 && refused > 2, "{answered} {refused}");
}

#[test]
fn builds_and_merges_in_a_small_address_space_are_right_or_refused() {
    let place = Place::new();
    for n in 0..300 {
        place.write(format!("{n}"), format!("common w{n} ").repeat(200).as_bytes());
    }
    let (files, index) = (place.files().display().to_string(), place.index().display().to_string());
    place.indexed(&[]);
    place.write("300", b"common w300");
    place.indexed(&[]);
    let (mut built, least) = (0, least());
    for more in [0, 20, 40, 60, 110, 160, 210, 260, 310, 360, 560] {
        let mib = least + more;
        for command in [&["index", "--reindex", "-o", &index, &files][..], &["merge", &index]] {
            let ran = limited(mib, command);
            built += u64::from(done_or_refused(&ran, &format!("{mib} {command:?}")));
        }
        assert_eq!((place.count("common"), place.count("w7")), (301, 1), "{mib}");
    }
    assert!(built > 4, "{built}");
    assert_eq!(run(&mut scanns(&["check", &index])).code, Some(0));
}
