//! Tables as dumps: CSV, TSV, JSON lines, Parquet and Arrow with a map of columns, and S3 Inventories.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use crate::{Place, Ran, run, scanns};

const TABLE: &str = "fullname;bytes;mod_epoch;perm;note\n\
                     /data/a;31457280;1556668800000;420;x\n\
                     /data/\"b;12;1706745600000;493;\n\
                     /data/c;many;1706745600000;493;y\n";

const MAP: &str = "mtime=mod_epoch:epoch-ms,mode=perm:decimal,size=bytes:bytes";

fn index(place: &Place, args: &[&str]) -> Ran {
    run(scanns(&["index"]).args(args).current_dir(place.dir.path()))
}

fn put(place: &Place, name: &str, text: &[u8]) {
    fs::write(place.dir.path().join(name), text).unwrap();
}

/// Path, size, time and mode of all entries, by path.
fn rows(place: &Place, index: &str) -> String {
    let fields = ["--all", "--fields", "size,mtime,mode", "*"];
    let ran = run(scanns(&["search", index]).args(fields).current_dir(place.dir.path()));
    // Rank and score stand before the path.
    let mut lines: Vec<_> = ran.text().lines().filter_map(|line| line.splitn(3, '\t').nth(2)).collect();
    lines.sort_unstable();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_map_is_shown_and_used_and_bad_values_are_counted() {
    let place = Place::new();
    put(&place, "t.csv", TABLE.as_bytes());
    let ran = index(&place, &["-o", "a.scanns", "--dump=csv", "--map", MAP, "t.csv"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for expected in [
        "scanns: t.csv: this is how its columns are read (--map changes it):\n",
        "  field  column     conversion  first value\n",
        "  path   fullname   text        /data/a\n",
        "  mtime  mod_epoch  epoch-ms    2019-05-01T00:00:00Z\n",
        "  mode   perm       decimal     0644\n",
        "  not used: note\n",
        "1 value of the column bytes (size) could not be read, and their entries lack it",
    ] {
        assert!(ran.stderr.contains(expected), "{expected} in {}", ran.stderr);
    }
    let found = rows(&place, "a.scanns");
    assert!(found.contains("/data/a\t31457280\t2019-05-01T00:00:00Z\t420\n"), "{found}");
    assert!(found.contains("/data/\"b\t12\t2024-02-01T00:00:00Z\t493\n"), "{found}");
    let quiet = index(&place, &["-q", "-o", "b.scanns", "--dump=csv", "t.csv"]);
    assert_eq!(quiet.code, Some(0), "nothing but the path and a time is certain");
    let note = "t.csv: columns are not used (--map changes it):\n  not used: bytes, perm, note\n";
    assert!(quiet.stderr.contains(note) && !quiet.stderr.contains("this is how"), "{}", quiet.stderr);
}

#[test]
fn a_preview_writes_nothing() {
    let place = Place::new();
    put(&place, "t.csv", TABLE.as_bytes());
    let ran = index(&place, &["--dump", "--map", MAP, "--dump-preview", "1", "t.csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.text(),
        "{\"path\":\"/data/a\",\"size\":31457280,\"mtime\":\"2019-05-01T00:00:00Z\",\"mode\":\"0644\"}\n"
    );
    assert!(ran.stderr.contains("this is how its columns are read"));
    assert_eq!(
        fs::read_dir(place.dir.path())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().path().extension().is_some_and(|name| name == "scanns")
            })
            .count(),
        0
    );
}

#[test]
fn mistakes_name_the_columns() {
    let place = Place::new();
    put(&place, "t.csv", TABLE.as_bytes());
    put(&place, "n.csv", b"a,b\n1,2\n");
    for (args, expected) in [
        (&["--dump=csv", "--map", "path=none", "t.csv"][..], "the columns are fullname, bytes, mod_epoch"),
        (&["--dump=csv", "n.csv"], "no column is certainly the path: name it, such as --map path=a"),
        (&["--dump=csv", "--map", "length=bytes", "t.csv"], "'length' is not a field: the fields are path"),
        (&["--dump=csv", "--map", "mode=perm", "t.csv"], "--map mode=perm:octal"),
        (&["--dump=pwalk", "--map", "mode=perm", "t.csv"], "--map and --dump-no-header are for tables"),
        (&["--dump", "n.csv"], "its format is not certain"),
        (&["--map", "mode=perm", "t.csv"], "--dump"),
    ] {
        let ran = index(&place, &[&["-o", "a.scanns"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_entries_of_all_formats_of_tables_are_the_same() {
    let place = Place::new();
    put(&place, "t.csv", TABLE.replace("many", "7").as_bytes());
    let ran = index(&place, &["-o", "a.scanns", "--dump=csv", "--map", MAP, "t.csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected = rows(&place, "a.scanns");
    assert_eq!(expected.lines().count(), 3);
    let mut files = vec!["e.csv", "e.tsv", "e.jsonl"];
    if cfg!(feature = "arrow") {
        files.extend(["e.parquet", "e.arrow"]);
    }
    for file in files {
        if file == "e.tsv" {
            let text = fs::read_to_string(place.dir.path().join("e.csv")).unwrap();
            put(&place, file, text.replace(',', "\t").as_bytes());
        } else {
            let fields = ["--fields", "path,size,mtime,mode", "-o", file];
            let mut export = scanns(&["export", "a.scanns", "*"]);
            let exported = run(export.args(fields).current_dir(place.dir.path()));
            assert_eq!(exported.code, Some(0), "{file}: {}", exported.stderr);
        }
        let name = format!("{file}.scanns");
        // Three digits may be octal, so that the mode is not certain.
        let ran = index(&place, &["-o", &name, "--dump", "--map", "mode=mode:decimal", file]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        assert_eq!(rows(&place, &name), expected, "{file}");
        let format = format!("--dump={}", Path::new(file).extension().unwrap().to_str().unwrap());
        let name = format!("{file}.stdin.scanns");
        let mut command = scanns(&["index", "-o", &name, &format, "--map", "mode=mode:decimal", "-"]);
        let input = File::open(place.dir.path().join(file)).unwrap();
        let ran = run(command.current_dir(place.dir.path()).stdin(Stdio::from(input)));
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        assert_eq!(rows(&place, &name), expected, "{file}");
        assert_eq!(
            ran.stderr.contains("copied to a temporary file"),
            file.ends_with("t") || file.ends_with("w")
        );
    }
}

#[test]
fn a_damaged_table_is_an_error_or_told() {
    if cfg!(not(feature = "arrow")) {
        return;
    }
    let place = Place::new();
    for (name, bytes) in [
        ("a.parquet", &b"PAR1"[..]),
        ("b.parquet", b"PAR1 and more PAR1"),
        ("c.arrow", b"ARROW1\0\0"),
        ("d.arrow", b"no table"),
    ] {
        put(&place, name, bytes);
        let format = if name.ends_with('t') { "--dump=parquet" } else { "--dump=arrow" };
        let ran = index(&place, &["-o", "a.scanns", format, name]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("cannot import the dump {name}")), "{}", ran.stderr);
    }
}

#[test]
fn an_inventory_of_s3_is_read_by_its_manifest() {
    let place = Place::new();
    fs::create_dir(place.dir.path().join("data")).unwrap();
    let manifest = r#"{"sourceBucket":"b","destinationBucket":"d","version":"2016-11-30","fileFormat":"CSV",
        "fileSchema":"Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, StorageClass",
        "files":[{"key":"x/b/c/data/1.csv"},{"key":"x/b/c/data/2.csv"}]}"#;
    put(&place, "manifest.json", manifest.as_bytes());
    put(
        &place,
        "data/1.csv",
        b"\"b\",\"dir/a+b%2Bc\",\"v2\",\"true\",\"false\",\"12\",\"2026-08-10T22:55:27.000Z\",\"STANDARD\"\n\
          \"b\",\"dir/a+b%2Bc\",\"v1\",\"false\",\"false\",\"9\",\"2026-08-09T22:55:27.000Z\",\"STANDARD\"\n",
    );
    put(
        &place,
        "data/2.csv",
        b"\"b\",\"dir/\",\"\",\"true\",\"false\",\"0\",\"2026-08-10T22:55:27.000Z\",\"GLACIER\"\n",
    );
    let ran = index(&place, &["-o", "a.scanns", "--dump", "manifest.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 row left out: older versions"), "{}", ran.stderr);
    let fields = ["--all", "--fields", "type,size,mtime,pool", "*"];
    let found =
        run(scanns(&["search", "a.scanns"]).args(fields).current_dir(place.dir.path())).text().to_owned();
    assert!(found.contains("dir/a b+c\tfile\t12\t2026-08-10T22:55:27Z\tSTANDARD\n"), "{found}");
    assert!(found.contains("dir\tdirectory\t0\t2026-08-10T22:55:27Z\tGLACIER\n"), "{found}");

    put(&place, "manifest.checksum", b"0123456789abcdef0123456789abcdef");
    let ran = index(&place, &["-o", "b.scanns", "--dump", "manifest.json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("not the one in manifest.checksum"), "{}", ran.stderr);
    fs::remove_file(place.dir.path().join("manifest.checksum")).unwrap();
    put(&place, "manifest.json", manifest.replace("\"CSV\"", "\"ORC\"").as_bytes());
    let ran = index(&place, &["-o", "b.scanns", "--dump=s3-inventory", "manifest.json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("let S3 write the inventory as CSV or Parquet"), "{}", ran.stderr);
    fs::remove_file(place.dir.path().join("data/2.csv")).unwrap();
    put(&place, "manifest.json", manifest.as_bytes());
    let ran = index(&place, &["-o", "b.scanns", "--dump", "manifest.json"]);
    assert!(ran.stderr.contains("its part x/b/c/data/2.csv is neither next to it"), "{}", ran.stderr);
}
