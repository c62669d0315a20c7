//! Profiles: `scanns tune` writes them and nothing else, and `scanns index --profile` reads them.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use crate::{Place, run, scanns};

fn place() -> Place {
    let place = Place::new();
    for number in 0..60 {
        let words: String = (0..300).map(|word| format!("word{} ", word * number % 331)).collect();
        place.write(format!("{number}.txt"), words.as_bytes());
    }
    place
}

#[test]
fn a_profile_is_written_explained_and_taken() {
    let place = place();
    let out = place.dir.path().join("p.toml");
    let ran =
        run(scanns(&["tune", "--budget", "2s", "--threads", "2", "--out"]).arg(&out).arg(place.files()));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for word in
        ["sample: 60 files", "limits of the machine", "tried:", "best:", "roofs", "lowest roof", "--profile"]
    {
        assert!(ran.text().contains(word), "{word} is missing in\n{}", ran.text());
    }
    let written = std::fs::read_to_string(&out).unwrap();
    for word in ["format = 1", "[parameters]", "read-threads = ", "[machine]", "date = "] {
        assert!(written.contains(word), "{word} is missing in\n{written}");
    }
    let left: Vec<_> =
        std::fs::read_dir(place.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "files and profile: {left:?}");
    let indexed = place.indexed(&["--json", "--profile", out.to_str().unwrap()]);
    assert_eq!(indexed.json()["documents"], 60);
}

#[test]
fn the_report_as_json_has_the_parameters() {
    let place = place();
    let out = place.dir.path().join("p.toml");
    let ran =
        run(scanns(&["tune", "--json", "--records", "lines", "--budget", "1s", "--threads", "1", "--out"])
            .arg(&out)
            .arg(place.files()));
    let report = ran.json();
    assert_eq!(report["best"]["index_threads"], 1);
    assert_eq!(report["sample"]["files"], 60);
    assert!(report["limits"]["write_mib_per_s"].as_f64().unwrap() > 0.0);
    assert_eq!(report["roofs"].as_array().unwrap().len(), 4);
}

#[test]
fn a_profile_that_cannot_be_is_an_error_that_names_file_and_key() {
    let place = place();
    let out = place.dir.path().join("p.toml");
    for (text, hint) in [
        ("format = 1\n[parameters]\nlanes = 3", "lanes"),
        ("format = 9", "newer scanns"),
        ("format = 1\n[parameters]\narena-page = 'large'", "2MiB"),
    ] {
        std::fs::write(&out, text).unwrap();
        let ran = place.index_with(&["--profile", out.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}");
        assert!(ran.stderr.contains(hint) && ran.stderr.contains("p.toml"), "{text}: {}", ran.stderr);
        assert!(!place.index().exists());
    }
}

#[test]
fn stopped_on_request_it_writes_no_profile_and_leaves_nothing() {
    let place = place();
    let out = place.dir.path().join("p.toml");
    let mut command = scanns(&["tune", "--budget", "1h", "--out"]);
    let mut child =
        command.arg(&out).arg(place.files()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // When its directory exists, the signal handler is installed.
    while std::fs::read_dir(place.dir.path()).unwrap().count() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stderr.contains("no profile"), "{stderr}");
    assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 1, "only the files are left");
}
