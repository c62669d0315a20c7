//! What is printed stays what it is: names that look like lines, columns or commands of a terminal come back
//! byte for byte from every form of output, and people see more than programs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Place, Ran, run, scanns, skipped};

const HOSTILE: [&[u8]; 14] = [
    b"a\n99\t9.9\tfake",
    b"tab\there",
    b"'single' and \"double\"",
    b"\"double\"",
    b"it's",
    b"\x1b[31mred\x1b[0m",
    "txt.\u{202e}gpj.exe".as_bytes(),
    b"\xff\xfe broken",
    b"-rf",
    b"two  spaces ",
    b"$(touch x); `y` & *?",
    b"back\\slash\\n",
    "line\u{2028}separator\u{85}".as_bytes(),
    "grün 日本".as_bytes(),
];

fn hostile() -> (Place, BTreeSet<Vec<u8>>) {
    let place = Place::new();
    let written = HOSTILE.map(|name| place.write(OsStr::from_bytes(name), b"word"));
    place.indexed(&["--store", "content"]);
    (place, written.into_iter().map(|path| path.into_os_string().into_encoded_bytes()).collect())
}

/// The lines of a text, each cut at its tabs.
fn cells(ran: &Ran) -> Vec<Vec<&str>> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.text().lines().map(|line| line.split('\t').collect()).collect()
}

/// What a shell makes of quoted names.
fn unquoted(names: &[&str]) -> Option<BTreeSet<Vec<u8>>> {
    let is_quoted = |name: &&str| name.starts_with(['\'', '"']);
    let plain = names.iter().filter(|name| !is_quoted(name)).map(|name| name.as_bytes().to_vec());
    let words: Vec<&str> = names.iter().copied().filter(is_quoted).collect();
    let script = format!("printf '%s\\0' {}", words.join(" "));
    let out = Command::new("bash").args(["-c", &script]).env("LC_ALL", "C.UTF-8").output().ok()?;
    assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
    let quoted = out.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec);
    Some(quoted.chain(plain).collect())
}

#[test]
fn hostile_names_forge_no_line_and_come_back_from_a_shell() {
    let (place, expected) = hostile();
    for more in
        [&["-k", "99"][..], &["--all"], &["-k", "99", "--fields", "name"], &["-k", "99", "--sort", "key"]]
    {
        let ran = place.search(&[more, &["word"]].concat());
        let cells = cells(&ran);
        assert_eq!(cells.len(), expected.len(), "{more:?}: {}", ran.text());
        assert!(cells.iter().enumerate().all(|(at, line)| line[0] == (at + 1).to_string()), "{}", ran.text());
        assert!(!ran.text().contains(['\x1b', '\u{202e}', '\u{85}']), "{}", ran.text());
        let keys: Vec<&str> = cells.iter().map(|line| line[2]).collect();
        match unquoted(&keys) {
            Some(names) => assert_eq!(names, expected, "{more:?}"),
            None => return skipped("hostile_names_forge_no_line", "there is no bash"),
        }
    }
    let facet = place.search(&["--count", "--facet", "name:all", "word"]);
    assert_eq!(facet.text().lines().count(), 1 + 1 + 1 + expected.len(), "{}", facet.text());
    let grouped = place.search(&["--group", "name", "-k", "99", "word"]);
    assert_eq!(grouped.text().lines().count(), 2 * expected.len(), "{}", grouped.text());
}

#[test]
fn keys_with_nul_are_what_xargs_reads() {
    let (place, expected) = hostile();
    for more in
        [&["--all"][..], &["-k", "99"], &["-k", "99", "--sort", "size"], &["-k", "99", "--sort", "-key"]]
    {
        let ran = place.search(&[more, &["-0", "word"]].concat());
        let keys: Vec<&[u8]> = ran.stdout.split(|byte| *byte == 0).collect();
        assert_eq!(keys.last(), Some(&&b""[..]), "every key ends with NUL");
        let keys: BTreeSet<_> = keys[..keys.len() - 1].iter().map(|key| key.to_vec()).collect();
        assert_eq!(keys, expected, "{more:?}");
    }
    let mut child = Command::new("xargs").args(["-0", "rm"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&place.search(&["--all", "-0", "word"]).stdout).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(place.files()).unwrap().count(), 0, "all names were understood");
    for refused in
        [&["--json"][..], &["--count"], &["--snippets"], &["--fields", "size"], &["--facet", "ext"]]
    {
        assert_eq!(place.search(&[refused, &["-0", "word"]].concat()).code, Some(2), "{refused:?}");
    }
}

/// The bytes of a string that may have its exact bytes beside it.
fn exact(object: &Value, name: &str) -> Vec<u8> {
    match object.get(format!("{name}_bytes")) {
        Some(hex) => {
            let hex = hex.as_str().unwrap();
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(byte).collect()
        }
        None => object[name].as_str().unwrap().as_bytes().to_vec(),
    }
}

#[test]
fn hostile_names_come_back_from_json_and_csv() {
    let (place, expected) = hostile();
    let hits = place.search(&["--all", "--json", "word"]).lines();
    assert_eq!(hits.iter().map(|hit| exact(hit, "key")).collect::<BTreeSet<_>>(), expected);
    let export = |format: &str| {
        let ran = run(scanns(&["export", "--format", format, "--fields", "_key,size"]).arg(place.index()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    };
    let (csv, jsonl) = (export("csv").stdout, export("jsonl"));
    let keys: BTreeSet<_> = jsonl.lines().iter().map(|row| exact(row, "_key")).collect();
    assert_eq!(keys, expected);

    // A second reader of both.
    let program = "import csv, io, json, sys
rows = csv.reader(io.TextIOWrapper(sys.stdin.buffer, 'utf-8', 'surrogateescape', newline=''))
keys = [row[0] for row in rows][1:]
sys.stdout.buffer.write(b'\\0'.join(key.encode('utf-8', 'surrogateescape') for key in keys))";
    let python =
        Command::new("python3").args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = python else {
        return skipped("hostile_names_come_back_from_json_and_csv", "there is no python3");
    };
    child.stdin.take().unwrap().write_all(&csv).unwrap();
    let out = child.wait_with_output().unwrap();
    let keys: BTreeSet<_> = out.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    assert_eq!(keys, expected);
}

#[test]
fn messages_do_not_control_the_terminal_either() {
    let place = Place::with(&[("good", "word")]);
    place.indexed(&[]);
    let index = place.dir.path().join("no\x1b[31m.scanns");
    let missing = place.files().join("mis\n\x1b[2Jsing");
    for ran in [
        run(scanns(&["search"]).arg(&index).arg("word")),
        run(scanns(&["index", "-o"]).arg(place.index()).arg(place.files()).arg(&missing)),
        place.search(&["\x1b[31mred"]),
        place.search(&["--like", "\x1b[31mred"]),
        place.search(&["--sort", "\x1b[31m", "word"]),
    ] {
        assert!(ran.code != Some(0) && !ran.stderr.contains('\x1b'), "{:?}", ran.stderr);
    }
}

/// Runs a search on a terminal of its own; `None` where there is no script(1).
fn on_a_terminal(place: &Place, env: &[(&str, &str)], args: &[&str]) -> Option<String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut line = format!("stty cols 100 rows 20; {}", quoted(env!("CARGO_BIN_EXE_scanns")));
    line.push_str(&format!(" search {}", quoted(place.index().to_str().unwrap())));
    args.iter().for_each(|arg| line.push_str(&format!(" {}", quoted(arg))));
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm");
    let out = script.env("PAGER", "").envs(env.iter().copied()).output().ok()?;
    Some(String::from_utf8_lossy(&out.stdout).replace("\r\n", "\n"))
}

/// Text without the sequences for colours and links.
fn uncoloured(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        let end = if after.starts_with(']') { "\x1b\\" } else { "m" };
        rest = after.split_once(end).map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[test]
fn people_see_the_text_of_lines_and_the_fields_of_records() {
    let place = Place::new();
    place.write("log", b"one two\nthree red\x1b[31m apples and four\n");
    place.indexed(&["--records", "lines", "--store", "content"]);
    let Some(shown) = on_a_terminal(&place, &[], &["apples"]) else {
        return skipped("people_see_the_text_of_lines", "there is no script(1)");
    };
    let key = place.files().join("log").display().to_string();
    assert!(shown.contains("\x1b[1;31mapples\x1b[0m and four"), "{shown:?}");
    assert!(shown.contains(&format!("{key}\x1b\\\x1b[1m{key}:2")), "a link to the file: {shown:?}");
    assert!(uncoloured(&shown).contains("'three red'$'\\033''[31m apples and four'"), "{shown:?}");
    let plain = on_a_terminal(&place, &[("NO_COLOR", "1")], &["--hyperlink", "never", "apples"]).unwrap();
    assert!(!plain.contains('\x1b') && plain.contains("apples and four"), "{plain:?}");
    let piped = place.search(&["apples"]).text().to_owned();
    assert!(piped.ends_with(&format!("\t{key}:2\n")) && piped.matches('\t').count() == 2, "{piped}");
    let forced = place.search(&["--color", "always", "apples"]);
    assert!(forced.text().contains(&format!("\x1b[1m{key}:2\x1b[0m\n")), "{}", forced.text());

    let place = Place::new();
    place.write(
        "r.jsonl",
        b"{\"name\":\"Ann\",\"size\":2097152,\"city\":\"Rome\"}\n{\"name\":\"Bob\",\"size\":5}\n",
    );
    place.indexed(&["--records", "jsonl"]);
    let shown = uncoloured(&on_a_terminal(&place, &[], &["size:>1"]).unwrap());
    assert!(shown.contains("size=2.00 MiB  ") && shown.contains("city=Rome"), "{shown}");
    let sorted = uncoloured(&on_a_terminal(&place, &[], &["*", "--sort", "size"]).unwrap());
    assert!(sorted.contains("2.00 MiB") && !sorted.contains("size="), "{sorted}");
}

#[test]
fn files_show_the_columns_that_were_asked_about() {
    let place = Place::with(&[("a.txt", "word")]);
    place.indexed(&[]);
    let Some(shown) = on_a_terminal(&place, &[], &["size:<1MiB mode:>0 mtime:>2000 name:a.txt"]) else {
        return skipped("files_show_the_columns_that_were_asked_about", "there is no script(1)");
    };
    let shown = uncoloured(&shown);
    assert!(shown.contains("size=4 B") && shown.contains("mode=rw"), "{shown}");
    assert!(shown.contains("mtime=20") && !shown.contains("name="), "{shown}");
}

#[test]
fn long_output_goes_through_the_pager_and_short_output_does_not() {
    let place = Place::new();
    for n in 0..60 {
        place.write(n.to_string(), b"word");
    }
    place.indexed(&[]);
    let pager = [("PAGER", "sed 's/^/PAGED /'")];
    let Some(long) = on_a_terminal(&place, &pager, &["-k", "50", "word"]) else {
        return skipped("long_output_goes_through_the_pager", "there is no script(1)");
    };
    assert_eq!(long.matches("PAGED ").count(), 50, "{long}");
    for short in [&["-k", "5", "word"][..], &["--no-pager", "-k", "50", "word"]] {
        let shown = on_a_terminal(&place, &pager, short).unwrap();
        assert!(!shown.contains("PAGED") && shown.lines().count() >= 5, "{shown}");
    }
    let quit = on_a_terminal(&place, &[("PAGER", "head -1")], &["--all", "word"]).unwrap();
    assert_eq!(quit.lines().count(), 1, "{quit}");
}
