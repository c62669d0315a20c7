//! A dump of metadata that find wrote, without anything prepared for scanns, compared with DuckDB over the
//! same dump and with find over the tree.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{any, duckdb};
use crate::{Place, run, scanns};

/// Names that shells, CSV and query languages trip over.
const NAMES: [&str; 16] = [
    "plain",
    "with space",
    "quo\"te",
    "apo's",
    "comma,",
    "back\\slash",
    "größe",
    "日本",
    "-dash",
    "#hash",
    "a\"b\"c",
    "%41",
    "{x}",
    "$HOME",
    "semi;colon",
    "\"quoted\"",
];

/// How DuckDB reads the dump: quotes are ordinary characters.
const TABLE: &str = "read_csv('dump.tsv', delim='\t', quote='', escape='', header=false,
    columns={'path': 'VARCHAR', 'size': 'UBIGINT', 'mtime': 'DECIMAL(20,10)', 'owner': 'VARCHAR'})";

/// A tree of empty space: sizes differ, so that orders have no ties.
fn tree(seed: u64) -> Place {
    let place = Place::new();
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..3000 {
        let directory = any(&mut random, &["anna", "ben", "anna/deep dir", "carl's \"own\"", "anna2"]);
        let extension = any(&mut random, &[".h5", ".txt", ".tar.gz", ".H5", "", ".csv", ".größe"]);
        let name = format!("{directory}/{}{number}{extension}", any(&mut random, &NAMES));
        let file = File::options().write(true).open(place.write(name, b"")).unwrap();
        file.set_len(random.u64(..1 << 28) / 3000 * 3000 + number).unwrap();
        let since = Duration::new(random.u64(1_500_000_000..1_750_000_000), random.u32(..1_000_000_000));
        file.set_modified(UNIX_EPOCH + since).unwrap();
    }
    let dump = File::create(place.dir.path().join("dump.tsv")).unwrap();
    let printed = find(&place, &["files"], &["-printf", "%p\\t%s\\t%T@\\t%u\\n"]).stdout(dump).status();
    assert!(printed.unwrap().success());
    place
}

fn find(place: &Place, paths: &[&str], tests: &[&str]) -> Command {
    let mut command = Command::new("find");
    command.current_dir(place.dir.path()).args(paths).args(["-type", "f"]).args(tests).env("TZ", "UTC");
    command
}

/// Imports the dump, of which nothing may be lost.
fn import(place: &Place) {
    let header = ["--records", "tsv", "--csv-header", "path,size,mtime,owner"];
    let built =
        run(scanns(&["index", "-o", "a.scanns"]).args(header).arg("dump.tsv").current_dir(place.dir.path()));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    assert!(built.text().starts_with("3,000 documents"), "{}", built.text());
    assert_eq!(built.stderr, "");
}

/// The fields of hits, in order, as DuckDB gives them.
fn rows(place: &Place, args: &[&str], fields: &[&str]) -> Vec<Value> {
    let list = fields.join(",");
    let hits = place.search(&[args, &["--json", "--fields", &list]].concat()).lines();
    let row = |hit: &Value| fields.iter().map(|name| hit["fields"][*name][0].clone()).collect();
    hits.iter().filter(|hit| hit.get("rank").is_some()).map(row).collect()
}

#[test]
fn the_largest_old_files_of_a_directory_are_those_of_duckdb_and_find() {
    let seed = fastrand::u64(..);
    let place = tree(seed);
    import(&place);
    // A directory is a path, and everything below it: not anna2.
    let largest = format!(
        "SELECT path, size FROM {TABLE} WHERE path LIKE 'files/anna/%'
         AND mtime < epoch(TIMESTAMP '2023-06-01') ORDER BY size DESC"
    );
    let test = "the_largest_old_files_of_a_directory";
    let query = "path:files/anna mtime:<2023-06-01";
    let found = rows(&place, &["--sort", "size:desc", "-k", "3000", query], &["path", "size"]);
    let listed = find(&place, &["files/anna"], &["!", "-newermt", "2023-06-01"]).output().unwrap().stdout;
    let mut listed: Vec<&str> = std::str::from_utf8(&listed).unwrap().lines().collect();
    let mut paths: Vec<&str> = found.iter().map(|row| row[0].as_str().unwrap()).collect();
    let few = rows(&place, &["--sort", "size:desc", "-k", "20", query], &["path", "size"]);
    assert_eq!(few, found[..20], "seed {seed:x}");
    listed.sort_unstable();
    paths.sort_unstable();
    assert!(paths.len() > 500, "seed {seed:x}: {}", paths.len());
    assert_eq!(paths, listed, "seed {seed:x}");
    if let Some(expected) = duckdb(&place, test, &[&largest]) {
        assert_eq!(found, expected[0], "seed {seed:x}");
    }
}

/// Count and sum of sizes.
fn sum(place: &Place, query: &str) -> (u64, u64) {
    let lines = place.search(&["--count", "--json", "--stats", "size", query]).lines();
    let sum = lines.iter().find_map(|line| line["sum"].as_u64());
    (lines[0]["count"].as_u64().unwrap(), sum.unwrap_or_else(|| panic!("{lines:?}")))
}

#[test]
fn sums_by_extension_are_those_of_duckdb_from_the_dump_and_from_the_tree() {
    let seed = fastrand::u64(..);
    let place = tree(seed);
    import(&place);
    let by_extension = format!(
        "SELECT coalesce(nullif(regexp_extract(path, '\\.([^./]+)$', 1), ''), '-') AS ext, count(*),
         sum(size)::UBIGINT FROM {TABLE} GROUP BY ext ORDER BY ext"
    );
    let Some(expected) = duckdb(&place, "sums_by_extension", &[&by_extension]) else { return };
    let expected: BTreeMap<String, (u64, u64)> = expected[0]
        .iter()
        .map(|row| (row[0].as_str().unwrap().into(), (row[1].as_u64().unwrap(), row[2].as_u64().unwrap())))
        .collect();
    assert_eq!(expected.len(), 7, "seed {seed:x} {expected:?}");
    for (extension, expected) in expected.iter().filter(|(extension, _)| *extension != "-") {
        assert_eq!(sum(&place, &format!("path:*.{extension}")), *expected, "seed {seed:x} {extension}");
    }
    // Files without an extension have no value for it, and are counted apart.
    std::fs::remove_dir_all(place.index()).unwrap();
    place.indexed(&[]);
    let lines = place.search(&["--count", "--json", "--facet", "ext:all:by=sum(size)", "*"]).lines();
    let facet = lines.iter().find(|line| line.get("facet").is_some()).unwrap();
    let buckets = facet["buckets"].as_array().unwrap().iter();
    let mut found: BTreeMap<String, (u64, u64)> = buckets
        .map(|bucket| {
            let sum = bucket["nested"][0]["sum"].as_u64().unwrap();
            (bucket["value"].as_str().unwrap().into(), (bucket["count"].as_u64().unwrap(), sum))
        })
        .collect();
    found.insert("-".into(), sum(&place, "NOT ext:*"));
    assert_eq!(facet["missing"], json!(found["-"].0), "seed {seed:x}");
    assert_eq!(found, expected, "seed {seed:x}");
}

#[test]
fn exported_csv_is_read_by_duckdb_as_the_dump_is() {
    let seed = fastrand::u64(..);
    let place = tree(seed);
    import(&place);
    let ran = run(scanns(&[
        "export",
        "a.scanns",
        "size:>100MB",
        "--fields",
        "path,size,mtime,owner",
        "-o",
        "out.csv",
    ])
    .current_dir(place.dir.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let exported = "(SELECT path, size, epoch_ns(mtime) AS mtime, owner FROM read_csv('out.csv', header=true,
        columns={'path': 'VARCHAR', 'size': 'UBIGINT', 'mtime': 'TIMESTAMP_NS', 'owner': 'VARCHAR'}))";
    let dumped = format!(
        "(SELECT path, size, (mtime * 1000000000)::BIGINT AS mtime, owner FROM {TABLE}
         WHERE size > 100000000)"
    );
    let count = format!("SELECT count(*), count(DISTINCT path) FROM {dumped}");
    let lost = format!("{dumped} EXCEPT ALL {exported} ORDER BY path LIMIT 3");
    let added = format!("{exported} EXCEPT ALL {dumped} ORDER BY path LIMIT 3");
    let Some(answers) = duckdb(&place, "exported_csv_is_read_by_duckdb", &[&count, &lost, &added]) else {
        return;
    };
    assert!(answers[0][0][0].as_u64().unwrap() > 1000, "seed {seed:x} {:?}", answers[0]);
    assert_eq!((&answers[1], &answers[2]), (&vec![], &vec![]), "seed {seed:x}");
}

#[test]
fn names_that_break_the_lines_of_a_dump_are_reported_and_the_rest_is_found() {
    let place = Place::new();
    for name in ["plain", "tab\there", "line\nhere"] {
        place.write(name, b"12345");
    }
    let dump = File::create(place.dir.path().join("dump.tsv")).unwrap();
    assert!(
        find(&place, &["files"], &["-printf", "%p\\t%s\\t%T@\\t%u\\n"])
            .stdout(dump)
            .status()
            .unwrap()
            .success()
    );
    let args =
        ["index", "-o", "a.scanns", "--records", "tsv", "--csv-header", "path,size,mtime,owner", "dump.tsv"];
    let built = run(scanns(&args).current_dir(place.dir.path()));
    // The tab makes a row too long. The line break makes two: one with only a path, and one whose path is not
    // whole; no reader of the dump can tell.
    assert_eq!(built.code, Some(1), "{}", built.stderr);
    assert!(built.stderr.contains("1 record is malformed"), "{}", built.stderr);
    assert!(built.text().contains("1 row with fewer values than columns"), "{}", built.text());
    let found = rows(&place, &["--all", "size:5"], &["path"]);
    assert!(found.contains(&json!(["files/plain"])) && found.len() == 2, "{found:?}");
}
