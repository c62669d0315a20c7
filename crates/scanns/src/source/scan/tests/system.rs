//! Trees of the system, pseudo file systems, and mounts.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use super::plain::walk;
use super::*;

/// Values as `find` prints them.
const FORMAT: &str = "%p\\0%l\\0%y %T@ %A@ %C@ %s %b %U %G %m %i %n %D\\0";

/// What `find` prints of a row, apart from the path.
fn printed(row: &Row) -> (Vec<u8>, String) {
    let kind = match row.kind {
        Some("file") => "f",
        Some("directory") => "d",
        Some("link") => "l",
        Some("fifo") => "p",
        Some("socket") => "s",
        _ if row.mode & 0o170_000 == 0o020_000 => "c",
        _ => "b",
    };
    let [modified, accessed, changed] =
        row.times.map(|time| format!("{}.{:09}0", time / 1_000_000_000, time % 1_000_000_000));
    let Row { size, blocks, owner: [uid, gid], inode, links, device, .. } = row;
    let mode = row.mode & 0o7777;
    let values = format!(
        "{kind} {modified} {accessed} {changed} {size} {blocks} {uid} {gid} {mode:o} {inode} {links} {device}"
    );
    (row.target.clone().unwrap_or_default(), values)
}

/// Rows by path.
type Printed = BTreeMap<Vec<u8>, (Vec<u8>, String)>;

fn with_find(arguments: &[&OsStr]) -> Option<Printed> {
    let output = Command::new("find").args(arguments).args(["-printf", FORMAT]).output();
    let output = output.ok()?;
    let fields: Vec<_> = output.stdout.split(|&byte| byte == 0).collect();
    let text = |field: &[u8]| String::from_utf8(field.to_vec()).unwrap();
    let row = |row: &[&[u8]]| (row[0].to_vec(), (row[1].to_vec(), text(row[2])));
    Some(fields.chunks_exact(3).map(row).collect())
}

/// A printed row without the time of access.
fn without_access(row: &(Vec<u8>, String)) -> (Vec<u8>, Vec<&str>) {
    let values = row.1.split(' ').enumerate().filter(|(at, _)| *at != 2);
    (row.0.clone(), values.map(|(_, value)| value).collect())
}

#[test]
fn a_large_tree_of_the_system_has_the_values_that_find_prints() {
    let usr = Path::new("/usr");
    // Others may install, run and compile programs at the same time.
    for attempt in 1..=5 {
        let (rows, report) = rows(&options(&[usr], 3));
        let Some(expected) = with_find(&[usr.as_os_str()]) else {
            return println!("SKIPPED since find is missing");
        };
        let found: BTreeMap<_, _> = rows.iter().map(|row| (row.path.clone(), printed(row))).collect();
        assert!(report.unread.is_empty());
        let differs = |(path, row): &(&Vec<u8>, &(Vec<u8>, String))| {
            found.get(*path).map(without_access) != Some(without_access(row))
        };
        let first = expected.iter().find(differs);
        let read = expected.iter().filter(|(path, row)| found.get(*path) != Some(*row)).count();
        let unknown = found.keys().find(|path| !expected.contains_key(*path));
        if first.is_none() && unknown.is_none() && read < 1_000 + expected.len() / 10 {
            return println!("{} entries, of which {read} were read meanwhile", found.len());
        }
        println!("attempt {attempt}: {first:?} {unknown:?}, {read} with other times of access");
    }
    panic!("no attempt was without a difference");
}

#[test]
fn pseudo_file_systems_are_entered_only_if_they_are_named() {
    if !Path::new("/proc/self/fd").exists() {
        return println!("SKIPPED since /proc is missing");
    }
    let top =
        ScanOptions { exclude: vec!["/[!dp]*".into(), "/proc/*/**".into()], ..options(&["/".as_ref()], 2) };
    let (found, report) = rows(&top);
    let proc = |row: &&Row| row.path.starts_with(b"/proc");
    assert_eq!(found.iter().filter(proc).count(), 1, "only the entry itself");
    assert!(report.pseudo.count >= 1 && report.pseudo.first.is_some());
    for entered in [
        ScanOptions { pseudo: true, ..top.clone() },
        ScanOptions { paths: vec!["/".into(), "/proc".into()], ..top.clone() },
    ] {
        let (found, _) = rows(&entered);
        assert!(found.iter().filter(proc).count() > 10);
        assert!(found.iter().any(|row| row.path == b"/proc/version"));
    }
    let process = PathBuf::from(format!("/proc/{}", std::process::id()));
    let (found, report) = rows(&options(&[&process.join("ns"), &process.join("fd")], 2));
    assert!(found.len() > 5 && report.pseudo.count == 0);
}

#[test]
fn values_that_are_good_enough_may_come_from_a_cache() {
    let place = place();
    place.add(&["a", "b/c"]);
    let lazy = ScanOptions { lazy: true, ..options(&[&place.path], 1) };
    let expected = walk(&place.path, &|_| true);
    assert_eq!(rows(&lazy).0, expected);
}

/// The part of the next test that runs in its own mount namespace.
fn mounted(base: &Path) {
    let at = |name: &str| base.join(name);
    std::fs::write(at("other/in-tmpfs"), "").unwrap();
    let all = rows(&options(&[base], 2));
    assert_eq!(
        names(&all.0, base).join(" "),
        " bound bound/file real real/file other other/in-tmpfs proc"
            .split(' ')
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ")
    );
    assert_eq!((all.1.pseudo.count, all.1.pseudo.first), (1, Some(at("proc"))));
    let one = ScanOptions { one_file_system: true, ..options(&[base], 2) };
    let (found, report) = rows(&one);
    assert_eq!(names(&found, base).join(" "), " bound bound/file other proc real real/file");
    assert_eq!((report.other_file_systems.count, report.pseudo.count), (2, 0));
    let both = ScanOptions { paths: vec![base.into(), at("other")], ..one };
    assert_eq!(
        names(&rows(&both).0, base).join(" "),
        " bound bound/file other other/in-tmpfs proc real real/file"
    );
    println!("MOUNTED");
}

#[test]
fn bind_mounts_are_entered_and_other_file_systems_on_request_not() {
    const VARIABLE: &str = "SCANNS_TEST_MOUNTED";
    if let Some(base) = std::env::var_os(VARIABLE) {
        return mounted(Path::new(&base));
    }
    let place = place();
    place.add(&["real/file"]);
    ["bound", "other", "proc"].iter().for_each(|name| std::fs::create_dir(place.at(name)).unwrap());
    let script = "mount --bind \"$1/real\" \"$1/bound\" && mount -t tmpfs none \"$1/other\" && \
                  mount --rbind /proc \"$1/proc\" && exec \"$2\" --nocapture --exact \"$3\"";
    let test = concat!(module_path!(), "::bind_mounts_are_entered_and_other_file_systems_on_request_not");
    let test = test.split_once("::").unwrap().1;
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .args([place.path.as_os_str(), std::env::current_exe().unwrap().as_os_str(), test.as_ref()])
        .env(VARIABLE, &place.path)
        .output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(String::from_utf8_lossy(&output.stdout).contains("MOUNTED"));
        }
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains("running") => {
            println!("SKIPPED since nothing can be mounted: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => println!("SKIPPED since unshare is missing: {error}"),
    }
}
