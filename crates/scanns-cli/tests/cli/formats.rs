//! Web pages, archives and documents: what is found in files, and with which of them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Place, run, scanns};

/// A file of netCDF-3 with a variable `sst` over `lat`, and a title.
fn netcdf() -> Vec<u8> {
    let mut file = b"CDF\x01\0\0\0\0".to_vec();
    let name = |file: &mut Vec<u8>, text: &str| {
        file.extend_from_slice(&u32::try_from(text.len()).unwrap().to_be_bytes());
        file.extend_from_slice(text.as_bytes());
        file.resize(file.len().next_multiple_of(4), 0);
    };
    let numbers = |file: &mut Vec<u8>, numbers: &[u32]| {
        numbers.iter().for_each(|number| file.extend_from_slice(&number.to_be_bytes()));
    };
    // One dimension, one attribute of the file, one variable with one attribute.
    numbers(&mut file, &[10, 1]);
    name(&mut file, "lat");
    numbers(&mut file, &[3, 12, 1]);
    name(&mut file, "title");
    numbers(&mut file, &[2]);
    name(&mut file, "Voyage of the Beagle");
    numbers(&mut file, &[11, 1]);
    name(&mut file, "sst");
    numbers(&mut file, &[1, 0, 12, 1]);
    name(&mut file, "units");
    numbers(&mut file, &[2]);
    name(&mut file, "kelvin");
    let begin = u32::try_from(file.len() + 12).unwrap();
    numbers(&mut file, &[5, 12, begin, 0, 0, 0]);
    file
}

/// A directory with documents, an archive of them, and compressed ones.
fn documents(place: &Place) {
    let input = place.dir.path().join("in");
    std::fs::create_dir_all(&input).unwrap();
    std::fs::write(input.join("ocean.nc"), netcdf()).unwrap();
    std::fs::write(input.join("memo.rtf"), r"{\rtf1{\info{\title Budget}}Approved \b unanimously\b0 .}")
        .unwrap();
    let zip = |name: &str, paths: &[&str]| {
        let ran = Command::new("tar").current_dir(&input).arg("czf").arg(name).args(paths).status().unwrap();
        assert!(ran.success());
    };
    zip("all.tgz", &["ocean.nc", "memo.rtf"]);
    let ran = Command::new("gzip").arg("-k").arg(input.join("memo.rtf")).status().unwrap();
    assert!(ran.success());
}

/// The names behind the last slash of the hits of a query, sorted.
fn found(place: &Place, query: &str) -> Vec<String> {
    let ran = run(scanns(&["search", "--json", "-k", "100"]).arg(place.index()).arg(query));
    let mut names: Vec<String> = ran.lines().iter().map(|hit| name(&hit["key"])).collect();
    names.sort();
    names
}

fn name(key: &Value) -> String {
    let path = key.as_str().unwrap().rsplit_once("/in/").unwrap().1;
    path.to_owned()
}

fn index(place: &Place, extract: &str) -> Value {
    let input = place.dir.path().join("in");
    let ran = run(scanns(&["index", "--json", "--extract", extract]).arg("-o").arg(place.index()).arg(input));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json()
}

#[test]
fn documents_are_found_by_text_and_fields_also_in_archives_and_compressed() {
    let place = Place::new();
    documents(&place);
    let report = index(&place, "all");
    assert_eq!(report["documents"], 6, "{report}");
    let all = ["all.tgz!/memo.rtf", "memo.rtf", "memo.rtf.gz"];
    assert_eq!(found(&place, "unanimously"), all);
    assert_eq!(found(&place, "title:Budget"), all);
    assert_eq!(found(&place, "beagle var:sst units:kelvin"), ["all.tgz!/ocean.nc", "ocean.nc"]);
    assert_eq!(found(&place, "format:netCDF type:member"), ["all.tgz!/ocean.nc"]);
    assert_eq!(found(&place, "dim:lat=3 size:<1MB"), ["all.tgz!/ocean.nc", "ocean.nc"]);
}

#[test]
fn less_is_extracted_if_that_is_wanted_and_later_builds_do_the_same() {
    for (extract, names) in [
        ("safe", vec!["all.tgz!/memo.rtf", "memo.rtf", "memo.rtf.gz"]),
        ("none", vec!["memo.rtf", "memo.rtf.gz"]),
    ] {
        let place = Place::new();
        documents(&place);
        index(&place, extract);
        assert_eq!(found(&place, "rtf1"), names, "{extract}");
        assert!(found(&place, "beagle").is_empty(), "{extract}");
        let input = place.dir.path().join("in");
        let ran = run(scanns(&["index", "--json"]).arg("-o").arg(place.index()).arg(&input));
        assert_eq!(ran.json()["unchanged"], 4, "{extract}");
    }
}

#[test]
fn a_directory_takes_no_more_space_because_of_the_members_of_its_archives() {
    let place = Place::new();
    documents(&place);
    index(&place, "all");
    let input = place.dir.path().join("in");
    let size = |options: &[&str]| {
        let ran = run(scanns(&["du", "-s"]).args(options).arg(place.index()).arg(&input));
        let ours = ran.text().to_owned();
        let files = std::fs::read_dir(&input).unwrap().map(|entry| entry.unwrap().path());
        let sizes = files.map(|path| std::fs::metadata(path).unwrap().len());
        (ours.split('\t').next().unwrap().to_owned(), sizes.sum::<u64>().to_string())
    };
    let (ours, files) = size(&["-b"]);
    assert_eq!(ours, files);
}

#[test]
fn what_is_found_in_a_file_can_be_shown() {
    let place = Place::new();
    documents(&place);
    let path = place.dir.path().join("in/ocean.nc");
    let ran = run(scanns(&["extract", "--json"]).arg(&path));
    let shown = &ran.lines()[0];
    assert_eq!(shown["format"], "netCDF", "{shown}");
    assert_eq!(shown["fields"]["var"], json!(["sst"]));
    assert!(shown["text"].as_str().unwrap().contains("Voyage of the Beagle"));
    let ran = run(scanns(&["extract"]).arg(&path).arg(Path::new("missing.pdf")));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.text().contains("units: kelvin") && ran.stderr.contains("missing.pdf"), "{}", ran.stderr);
    assert_ne!(run(&mut scanns(&["extract", "--serve"])).code, Some(0), "no socket");
}

#[test]
fn what_was_found_in_documents_is_kept_in_a_cache_for_other_indexes() {
    let place = Place::new();
    documents(&place);
    let cache = place.dir.path().join("cache");
    // A file that has just been changed may change again within the same moment.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let index = || {
        let _ = std::fs::remove_dir_all(place.index());
        let input = place.dir.path().join("in");
        let ran = run(scanns(&["index", "--json", "--extract-cache"])
            .arg(&cache)
            .arg("-o")
            .arg(place.index())
            .arg(input));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()["extract_cache"].clone()
    };
    let first = index();
    // The memo is in a file, an archive and in compressed form.
    assert_eq!(first["hits"].as_u64().unwrap() + first["misses"].as_u64().unwrap(), 3, "{first}");
    assert_eq!(index(), json!({"hits": 3, "misses": 0, "damaged": 0, "errors": 0, "first_error": null}));
    assert_eq!(found(&place, "unanimously"), ["all.tgz!/memo.rtf", "memo.rtf", "memo.rtf.gz"]);
    let foreign = place.dir.path().join("in");
    let ran =
        run(scanns(&["index", "--extract-cache"]).arg(&foreign).arg("-o").arg(place.index()).arg(&foreign));
    assert!(ran.code == Some(2) && ran.stderr.contains("--extract-cache"), "{}", ran.stderr);
}

#[test]
fn collections_among_other_files_are_read_record_by_record_unless_files_are_asked_for() {
    let place = Place::new();
    let input = place.dir.path().join("in");
    std::fs::create_dir_all(&input).unwrap();
    let mail = |from: &str, text: &str| {
        format!("From: {from}\nDate: Thu, 1 Jan 1970 00:00:00 +0000\nTo: x\n\n{text}\n")
    };
    let boxed = |from: &str, text: &str| format!("From a Thu Jan  1 00:00:00 1970\n{}\n", mail(from, text));
    std::fs::write(input.join("box"), boxed("Ann", "ice") + &boxed("Bob", "snow")).unwrap();
    std::fs::write(
        input.join("one.eml"),
        mail("Cyd", "=46rost").replace("To: x", "Content-Transfer-Encoding: quoted-printable"),
    )
    .unwrap();
    std::fs::write(input.join("notes.txt"), "ice notes").unwrap();
    let http = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nword";
    let page = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    );
    let info = "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    std::fs::write(input.join("crawl"), format!("{info}{page}")).unwrap();
    let build = |options: &[&str], output: &Path| {
        let ran = run(scanns(&["index"]).args(options).arg("-o").arg(output).arg(&input));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.text().to_owned()
    };
    let summary = build(&[], &place.index());
    assert!(summary.contains("(1 mail, 1 mailbox, 1 web archive)"), "{summary}");
    assert!(summary.contains("left out: 1 record (warcinfo), the first is"), "{summary}");
    assert_eq!(found(&place, "ice"), ["box!/1", "notes.txt"]);
    assert_eq!(found(&place, "frost author:Cyd"), ["one.eml"]);
    assert_eq!(found(&place, "format:mail"), ["box!/1", "box!/2", "one.eml"]);
    assert_eq!(found(&place, "word attr:status=200"), ["crawl!/2"]);
    let again = build(&["--json", "--records", "file"], &place.index());
    assert!(again.contains("\"unchanged\":4"), "{again}");
    let whole = build(&["--json", "--records", "file"], &place.dir.path().join("whole"));
    assert!(whole.contains("\"documents\":4"), "{whole}");
}
