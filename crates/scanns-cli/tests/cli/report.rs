//! `scanns report` and `scanns du --by`, compared with find, awk and du on the same tree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Place, Ran, run, scanns};

/// Names that could break a page, a row or a terminal.
const HOSTILE: [&[u8]; 9] = [
    b"</script><script>alert(1)</script>",
    b"<!--<script>",
    b"a\"b'c&d,e",
    b"two\nlines",
    b"bad\xff\xfe.utf",
    b"=1+2",
    b"tab\tand\x1b[31mred",
    "\u{202e}txt.exe".as_bytes(),
    "\u{2028}line".as_bytes(),
];

/// A random tree with many sizes, extensions and ages, sparse files and links; `with_links` for hard links.
fn make_tree(root: &Path, seed: u64, with_links: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut directories = vec![root.to_path_buf()];
    for at in 0..200_usize {
        let around = random.choice(&directories).unwrap().clone();
        let extension = random.choice(&["", ".txt", ".TXT", ".tar.gz", ".h5", "."]).unwrap();
        let path = around.join(format!("n{at}{extension}"));
        match random.u8(..10) {
            0 | 1 => {
                fs::create_dir(&path).unwrap();
                directories.push(path);
            }
            2 => symlink("somewhere", &path).unwrap(),
            3 => File::create(&path).unwrap().set_len(random.u64(..1 << 30)).unwrap(),
            _ => {
                fs::write(&path, vec![b'x'; random.usize(..40_000) * usize::from(random.bool())]).unwrap();
                let days = random.u64(..3000);
                let touched =
                    Command::new("touch").arg("-d").arg(format!("{days} days ago")).arg(&path).status();
                assert!(touched.unwrap().success());
                if with_links && random.u8(..8) == 0 {
                    fs::hard_link(&path, random.choice(&directories).unwrap().join(format!("z{at}")))
                        .unwrap();
                }
                let mode = *random.choice(&[0o644, 0o666, 0o4755, 0o2755, 0o600]).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

fn report(place: &Place, more: &[&str]) -> Ran {
    run(scanns(&["report"]).arg(place.index()).args(more))
}

fn shell(script: &str, root: &Path) -> String {
    let out =
        Command::new("bash").args(["-c", script, "bash"]).arg(root).env("LC_ALL", "C").output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Lines `KEY NUMBER…` as a map.
fn numbers(text: &str) -> BTreeMap<String, Vec<u64>> {
    let line = |line: &str| {
        let mut words = line.split('\t');
        let key = words.next().unwrap().to_owned();
        (key, words.map(|word| word.parse().unwrap()).collect())
    };
    text.lines().map(line).collect()
}

fn sums(all: &Value) -> BTreeMap<String, Vec<u64>> {
    let one = |one: &Value| {
        let name = one["name"].as_str().unwrap_or("(none)").to_owned();
        (name, ["entries", "size", "space"].map(|key| one[key].as_u64().unwrap()).to_vec())
    };
    all.as_array().unwrap().iter().map(one).collect()
}

/// A row for each entry with a value from find, then sums by value; names of one file count once, first in
/// the order of a walk.
fn sums_by(format: &str, key: &str, root: &Path) -> BTreeMap<String, Vec<u64>> {
    let script = format!(
        "find \"$1\" {format} -printf '%D:%i\\t%n\\t%y\\t%s\\t%b\\t%u\\t%f\\t%p\\n' |
           sort -t $'\\t' -k 8 | awk -F'\\t' '
           $3 != \"d\" && $2 > 1 && seen[$1]++ {{ next }}
           {{ key = {key}; n[key]++; s[key] += $4; b[key] += $5 * 512 }}
           END {{ for (key in n) printf \"%s\\t%.0f\\t%.0f\\t%.0f\\n\", key, n[key], s[key], b[key] }}'"
    );
    numbers(&shell(&script, root))
}

#[test]
fn sums_are_those_of_find_and_awk() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let place = Place::new();
    make_tree(&place.files(), seed, true);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    let ran = report(&place, &["--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = ran.json();
    let all = sums_by("", "\"all\"", &root);
    let totals = ["entries", "size", "space"].map(|key| found["totals"]["all"][key].as_u64().unwrap());
    assert_eq!(totals.to_vec(), all["all"]);
    assert_eq!(sums(&found["owners"]), sums_by("", "$6", &root));
    let extension = "((m = split($7, p, \".\")) > 1 && p[m] != \"\" && !(m == 2 && p[1] == \"\")) ? \
                     tolower(p[m]) : \"(none)\"";
    assert_eq!(sums(&found["extensions"]), sums_by("-type f", extension, &root));
    let cold = sums_by("-type f -mtime +364 -atime +364", "$6", &root);
    assert_eq!(sums(&found["cold"]), cold);
    let counts = [
        ("empty_files", "find \"$1\" -type f -empty -printf '%D:%i\\n' | sort -u | wc -l"),
        ("empty_directories", "find \"$1\" -type d -empty | wc -l"),
        ("set_user_id", "find \"$1\" -type f -perm -4000 -printf '%D:%i\\n' | sort -u | wc -l"),
        ("set_group_id", "find \"$1\" -type f -perm -2000 -printf '%D:%i\\n' | sort -u | wc -l"),
        ("world_writable_files", "find \"$1\" -type f -perm -002 -printf '%D:%i\\n' | sort -u | wc -l"),
    ];
    for (key, script) in counts {
        assert_eq!(found[key]["count"].to_string(), shell(script, &root).trim(), "{key}");
    }
}

#[test]
fn lists_are_those_of_find_du_and_sort() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let place = Place::new();
    // GNU du counts a file with several names where it finds it first, in no order.
    make_tree(&place.files(), seed, false);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    let found = report(&place, &["--format", "json", "--top", "15"]).json();
    let pairs = |list: &str, key: &str| {
        let pair = |one: &Value| format!("{}\t{}", one[key], one["path"].as_str().unwrap());
        found[list].as_array().unwrap().iter().map(pair).collect::<Vec<_>>()
    };
    let values = |pairs: &[String]| {
        pairs.iter().map(|pair| pair.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let lists = [
        ("directories_by_space", "space", "du -B1 \"$1\" | sort -rn | head -15"),
        ("directories_by_entries", "entries", "du --inodes \"$1\" | sort -rn | head -15"),
        (
            "files_by_size",
            "size",
            "find \"$1\" -type f -printf '%D:%i\\t%n\\t%s\\t%p\\n' | sort -t $'\\t' -k 4 | \
          awk -F'\\t' '!($2 > 1 && seen[$1]++) { print $3 \"\\t\" $4 }' | sort -rn | head -15",
        ),
        (
            "directories_by_names",
            "names",
            "find \"$1\" -type d -exec bash -c \
          'for d; do printf \"%d\\t%s\\n\" $(ls -A \"$d\" | wc -l) \"$d\"; done' bash {} + | \
             sort -rn | head -15",
        ),
        (
            "longest_paths",
            "value",
            "find \"$1\" -printf '%p\\n' | awk '{ print length($0) \"\\t\" $0 }' | sort -rn | head -15",
        ),
    ];
    for (list, key, script) in lists {
        let text = shell(script, &root);
        let theirs: Vec<String> = text.lines().map(str::to_owned).collect();
        let ours = pairs(list, key);
        assert_eq!(values(&ours), values(&theirs), "{list}");
        // Of equal values at the end, other tools may show others.
        let last = values(&ours).last().cloned().unwrap();
        let inner = |all: &[String]| {
            let mut all: Vec<_> =
                all.iter().filter(|pair| !pair.starts_with(&format!("{last}\t"))).cloned().collect();
            all.sort();
            all
        };
        assert_eq!(inner(&ours), inner(&theirs), "{list}");
    }
    // The tree has the sums of du, and each node those of the nodes in it.
    let tree = found["tree"].as_array().unwrap();
    let mut below = BTreeMap::<u64, u64>::new();
    for node in tree.iter().skip(1) {
        *below.entry(node["parent"].as_u64().unwrap()).or_default() += node["space"].as_u64().unwrap();
    }
    assert_eq!(tree[0]["space"].to_string(), shell("du -sB1 \"$1\" | cut -f 1", &root).trim());
    for (node, space) in below {
        assert_eq!(tree[usize::try_from(node).unwrap()]["space"].as_u64(), Some(space));
    }
}

#[test]
fn a_report_may_be_about_some_directories() {
    let place = Place::with(&[("a/x.txt", "one"), ("a/b/y", "four"), ("c/z", "three"), ("d", "2")]);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    let paths = ["a", "a/b", "c/", "d", "none"].map(|name| format!("{}/{name}", root.display()));
    let ran = run(scanns(&["report", "--format", "json"]).arg(place.index()).args(&paths));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("none: not in the index"), "{}", ran.stderr);
    let found = ran.json();
    assert_eq!(
        (&found["totals"]["all"]["entries"], &found["totals"]["files"]["size"]),
        (&7.into(), &13.into())
    );
    let inner = run(scanns(&["report", "--format", "json"]).arg(place.index()).arg(root.join("a"))).json();
    assert_eq!(inner["top"].as_str(), root.join("a").to_str());
    assert_eq!(inner["directories_by_space"].as_array().unwrap().len(), 2);
    let nothing = run(scanns(&["report"]).arg(place.index()).arg(root.join("none")));
    assert_eq!(nothing.code, Some(1));
    assert_eq!(nothing.text(), "", "a report of nothing is not one of everything");
}

#[test]
fn ages_count_from_a_date() {
    let place = Place::with(&[("a", "one"), ("b", "four")]);
    for (name, date) in [("a", "2024-01-01"), ("b", "2024-03-01")] {
        let touched = Command::new("touch").args(["-d", date]).arg(place.files().join(name)).status();
        assert!(touched.unwrap().success());
    }
    place.indexed(&["--content", "none"]);
    let found = report(&place, &["--format", "json", "--now", "2024-03-02", "--cold", "30"]).json();
    let entries = |age: usize| {
        found["modified"][age]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["entries"].as_u64().unwrap())
            .sum::<u64>()
    };
    let ages: Vec<u64> = (0..10).map(entries).collect();
    assert_eq!(ages, [0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(found["totals"]["cold"]["size"], 3);
    assert_eq!(report(&place, &["--now", "yesterday"]).code, Some(2));
}

#[test]
fn hostile_names_stay_names_in_every_format() {
    let place = Place::new();
    for (at, name) in HOSTILE.iter().enumerate() {
        // The names of files have no slash, so the element has to end in the name of a directory.
        let parts: Vec<&[u8]> = name.split(|&byte| byte == b'/').collect();
        let path = parts.iter().fold(place.files(), |path, part| path.join(OsStr::from_bytes(part)));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(OsStr::from_bytes(parts.last().unwrap())), vec![b'x'; 5000 + at]).unwrap();
    }
    place.indexed(&["--content", "none"]);
    let page = place.files().parent().unwrap().join("page.html");
    let ran = report(&place, &["-o", page.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.len()), (Some(0), 0), "{}", ran.stderr);
    let html = fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<script").count(), 2, "the data and the script of the page");
    assert_eq!(html.matches("</script").count(), 2);
    let foreign = html.replace("http://www.w3.org/2000/svg", "");
    for part in ["<!--", "src=", "href=", "url(", "http:", "https:", "\x1b"] {
        assert!(!foreign.contains(part), "{part:?}");
    }
    assert!(!html.contains('\u{202e}') && !html.contains('\u{2028}'));
    let data = html.split("id=\"tree\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let names = data["names"].as_array().unwrap();
    for name in
        ["script><script>alert(1)<", "<!--<script>", "a\"b'c&d,e", "two\\nlines", "bad\u{fffd}\u{fffd}.utf"]
    {
        assert!(names.iter().any(|known| known == name), "{name} {names:?}");
    }
    let json = report(&place, &["--format", "json"]).json();
    let files = json["files_by_size"].as_array().unwrap();
    assert_eq!(files.len(), HOSTILE.len());
    assert!(
        files.iter().any(|file| file["path_bytes"].as_str().is_some_and(|hex| hex.ends_with("fffe2e757466")))
    );
    let csv = report(&place, &["--format", "csv"]).stdout;
    let has = |part: &[u8]| csv.windows(part.len()).any(|window| window == part);
    assert!(
        has(b"/=1+2,") && has(b"/a\"\"b'c&d,e\",") && has(b"/two\nlines\",") && has(b"/bad\xff\xfe.utf,")
    );
    let table = report(&place, &[]);
    assert!(table.text().lines().all(|line| !line.contains(['\x1b', '\t', '\u{202e}', '\u{2028}'])));
}

#[test]
fn rows_of_csv_have_seven_cells_and_the_format_follows_the_name() {
    let place = Place::with(&[("a/x.txt", "one"), ("a/b/y", "four")]);
    place.indexed(&["--content", "none"]);
    let file = place.files().parent().unwrap().join("report.CSV");
    report(&place, &["-o", file.to_str().unwrap()]);
    let csv = fs::read_to_string(&file).unwrap();
    assert!(csv.starts_with("section,name,class,entries,size,space,value\n"), "{csv}");
    assert!(csv.lines().all(|line| line.matches(',').count() == 6), "{csv}");
    let row = csv.lines().find(|line| line.starts_with("totals,files,")).unwrap();
    assert!(row.starts_with("totals,files,,2,7,"), "{row}");
    let missing = report(&place, &["-o", "/nowhere/at/all.html"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("cannot write /nowhere/at/all.html"), "{}", missing.stderr);
}

#[test]
fn an_index_of_text_alone_has_no_report() {
    let place = Place::new();
    let dump = place.write("lines.txt", b"one\ntwo\n");
    let index = ["index", "--records", "lines", "-o"];
    let built = run(scanns(&index).arg(place.index()).arg(dump));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let ran = report(&place, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("index files with their metadata"), "{}", ran.stderr);
}

#[test]
fn du_sums_up_by_values_as_find_and_awk_do() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let place = Place::new();
    make_tree(&place.files(), seed, true);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    let by = |by: &str, more: &[&str]| {
        let ran = run(scanns(&["du", "--by", by]).args(more).arg(place.index()).arg(&root));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let kinds = sums_by("", "$3 == \"d\" ? \"directory\" : $3 == \"l\" ? \"link\" : \"file\"", &root);
    for (at, more) in [(0, "--inodes"), (1, "-b"), (2, "-B1")] {
        let mut theirs: Vec<(u64, &str)> =
            kinds.iter().map(|(name, sums)| (sums[at], name.as_str())).collect();
        theirs.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        let total: u64 = theirs.iter().map(|one| one.0).sum();
        theirs.push((total, "total"));
        let theirs: Vec<String> = theirs.iter().map(|(sum, name)| format!("{sum}\t{name}")).collect();
        assert_eq!(by("type", &[more, "-c"]), theirs);
    }
    let du = shell("du -s \"$1\" | cut -f 1", &root);
    for value in ["owner", "group", "ext", "age", "type"] {
        let bytes = by(value, &["-c", "-B1"]);
        let total: u64 = bytes.last().unwrap().split('\t').next().unwrap().parse().unwrap();
        assert_eq!(total.div_ceil(1024), du.trim().parse::<u64>().unwrap(), "{value}");
        let sum = |line: &String| line.split('\t').next().unwrap().parse::<u64>().unwrap();
        let (_, values) = bytes.split_last().unwrap();
        assert!(values.iter().map(sum).is_sorted_by(|one, other| one >= other), "{bytes:?}");
        assert_eq!(values.iter().map(sum).sum::<u64>(), total);
    }
    // `-mtime -90` of find also holds in the first second after 90 days.
    let dates = "! -newermt '2160 hours ago' -o -newermt '720 hours ago'";
    let year = format!("find \"$1\" ! \\( {dates} \\) -printf '%D:%i\\n' | sort -u | wc -l");
    let year = shell(&year, &root);
    let ours = by("age", &["--inodes"]);
    let ours = ours.iter().find_map(|line| line.strip_suffix("\t< 90 days")).unwrap_or("0");
    assert_eq!(ours, year.trim());
    let refused = run(scanns(&["du", "--by", "owner", "-s"]).arg(place.index()).arg(&root));
    assert_eq!(refused.code, Some(2));
}
