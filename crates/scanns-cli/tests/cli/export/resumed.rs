//! An interrupted export can be resumed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Fields, fields};
use crate::scanns;

const EAGER: [&str; 2] = ["--checkpoint-every", "1ms"];

fn started(fields: &Fields, out: &str, more: &[&str]) -> Child {
    let mut command = scanns(&["export"]);
    command.arg(fields.place.index()).args(more).args(EAGER).arg("-o").arg(fields.out(out));
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn what_is_killed_again_and_again_comes_to_the_same_bytes() {
    let seed = 0x5eed_0670;
    let fields = fields(9_000, seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all = (0, 0);
    for (out, more) in [
        ("a.csv", &["*"][..]),
        ("a.jsonl", &["a b"]),
        ("b.jsonl", &["*", "--sort", "keyword:desc,unsigned", "--sort-memory", "300KiB"]),
    ] {
        let begun = Instant::now();
        let expected = fields.exported(&format!("whole-{out}"), more);
        let usual = begun.elapsed();
        let (mut killed, mut resumed) = (0, 0);
        for round in 0..400 {
            let resume: &[&str] = if round == 0 { &[] } else { &["--resume"] };
            let mut child = started(&fields, out, &[more, resume].concat());
            let begun = Instant::now();
            // The delay grows with the rounds, so that the export finishes at last.
            let end = usual.mul_f64(random.f64() * (0.2 + f64::from(round) / 50.0));
            while begun.elapsed() < end && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            child.kill().unwrap();
            let done = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&done.stderr);
            resumed += u32::from(stderr.contains("resuming after"));
            match done.status.code() {
                Some(code) => {
                    assert_eq!(code, 0, "{stderr}");
                    break;
                }
                None => killed += 1,
            }
            if fields.out(out).exists() {
                // It was killed after renaming the complete file, so a useless state may be left.
                let _ = std::fs::remove_file(fields.out(&format!("{out}.part.state")));
                break;
            }
            assert!(round < 399);
        }
        println!("{out}: killed {killed} times, resumed {resumed} times");
        all = (all.0 + killed, all.1 + resumed);
        assert!(std::fs::read(fields.out(out)).unwrap() == expected, "seed {seed:x} {out}");
        assert!(!fields.out(&format!("{out}.part")).exists());
        assert!(!fields.out(&format!("{out}.part.state")).exists());
    }
    assert!(all.0 > 3 && all.1 > 0, "seed {seed:x}: nothing was killed");
}

/// Starts an export and interrupts it when it has a state; true if it was not complete by then.
fn interrupted(fields: &Fields, out: &str, more: &[&str]) -> bool {
    let mut child = started(fields, out, more);
    let state = fields.out(&format!("{out}.part.state"));
    while !state.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
    let done = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    if done.status.code() == Some(130) {
        assert!(
            stderr.contains("stopped after") && stderr.contains("the same command with --resume"),
            "{stderr}"
        );
    }
    state.exists()
}

#[test]
fn what_was_stopped_goes_on_only_if_everything_is_the_same() {
    let fields = fields(9_000, 0x5eed_0671);
    let expected = fields.exported("whole.csv", &["*"]);
    assert!((0..50).any(|_| interrupted(&fields, "a.csv", &["*"])), "it was always complete");
    let out = fields.out("a.csv");
    let with = |more: &[&str]| fields.export(&[&["-o", out.to_str().unwrap(), "--resume"], more].concat());
    for (more, hint) in [
        (&["a"][..], "the query has changed"),
        (&["*", "--fields", "_key"], "--fields has changed"),
        (&["*", "--format", "jsonl"], "--format has changed"),
        (&["*", "--sort", "unsigned"], "--sort has changed"),
        (&["*", "--format", "parquet"], "CSV and JSON lines"),
    ] {
        let ran = with(more);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{more:?}: {}", ran.stderr);
    }
    let (part, state) = (fields.out("a.csv.part"), fields.out("a.csv.part.state"));
    let (whole, of_whole) = (std::fs::read(&part).unwrap(), std::fs::read(&state).unwrap());
    for (damaged, hint) in [(&whole[..whole.len() / 9], "shorter"), (&[], "shorter")] {
        std::fs::write(&part, damaged).unwrap();
        let ran = with(&["*"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(hint), "{}", ran.stderr);
    }
    let mut other = whole.clone();
    other[100] ^= 1;
    std::fs::write(&part, &other).unwrap();
    assert!(with(&["*"]).stderr.contains("not what was written"));
    std::fs::write(&state, &of_whole[..of_whole.len() / 2]).unwrap();
    assert!(with(&["*"]).stderr.contains("not the state of an export"));
    // Bytes after those of the state are cut off.
    std::fs::write(&part, [&whole[..], b"torn"].concat()).unwrap();
    std::fs::write(&state, &of_whole).unwrap();
    let ran = with(&["*"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("resuming after"), "{}", ran.stderr);
    assert!(std::fs::read(&out).unwrap() == expected && !part.exists() && !state.exists());
    // Without a part, --resume starts an export.
    assert_eq!(with(&["*"]).code, Some(0));
    assert!(std::fs::read(&out).unwrap() == expected);
    assert_eq!(fields.export(&["--resume"]).code, Some(2));
}
