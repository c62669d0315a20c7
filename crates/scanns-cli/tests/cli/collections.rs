//! Collections: web archives, TREC, SMART, mail and dumps of MediaWiki.

use std::process::Command;

use serde_json::{Value, json};

use crate::{Place, run, scanns};

/// A record of a web archive.
fn record(number: usize, kind: &str, body: &str) -> String {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{number}>\r\nWARC-Target-URI: \
         http://example.org/{number}\r\nWARC-Date: 2024-05-01T10:00:00Z\r\nContent-Type: \
         application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

/// A web archive of this many pages, each after a request; every page has a word of its own.
fn archive(pages: usize) -> String {
    let page = |number| {
        let words = "filler <b>text</b> of a page ".repeat(number % 50);
        let body = format!("<title>Page {number}</title><p>word{number} {words}");
        [record(number, "request", ""), record(number, "response", &body)].concat()
    };
    (0..pages).map(page).collect()
}

/// Compressed bytes, made by `gzip`, which every system has.
fn gzip(place: &Place, bytes: &[u8]) -> Vec<u8> {
    let plain = place.dir.path().join("to be compressed");
    std::fs::write(&plain, bytes).unwrap();
    Command::new("gzip").arg("-c").arg(plain).output().unwrap().stdout
}

/// The values of a field of all documents, sorted.
fn values(place: &Place, field: &str) -> Vec<String> {
    let ran = run(scanns(&["export"]).arg(place.index()).args(["--fields", field, "--format", "jsonl"]));
    let mut values: Vec<String> = ran.lines().iter().map(|line| line[field].to_string()).collect();
    values.sort();
    values
}

#[test]
fn a_large_archive_is_divided_among_threads_and_nothing_is_lost_or_double() {
    let place = Place::new();
    let pages = 6_000;
    let text = archive(pages);
    assert!(text.len() > 4 << 20, "several blocks");
    place.write("plain.warc", text.as_bytes());
    for (threads, name) in [("1", "plain.warc"), ("4", "plain.warc"), ("4", "members.warc.gz")] {
        if name == "members.warc.gz" {
            std::fs::remove_file(place.files().join("plain.warc")).unwrap();
            let (one, other) = text.split_at(text.len() / 2);
            place.write(name, &[gzip(&place, one.as_bytes()), gzip(&place, other.as_bytes())].concat());
        }
        let _ = std::fs::remove_dir_all(place.index());
        let ran = place.index_with(&["--records", "warc", "--threads", threads, "--json"]);
        let report = ran.json();
        assert_eq!((ran.code, &report["documents"]), (Some(0), &pages.into()), "{} {report}", ran.stderr);
        let notes = report["records"]["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!((&notes[0]["left_out"], &notes[0]["records"]), (&"request".into(), &pages.into()));
        assert!(notes[0]["path"].as_str().unwrap().ends_with(name) && notes[0]["record"] == 1, "{notes:?}");
        let expected: Vec<u64> = [0, 1, 1234, 5999].map(|_| 1).to_vec();
        let found = [0, 1, 1234, 5999].map(|number| place.count(&format!("word{number}")));
        assert_eq!(found.to_vec(), expected);
        let ids = values(&place, "id");
        let mut all: Vec<String> = (0..pages).map(|number| format!("\"urn:x:{number}\"")).collect();
        all.sort();
        assert!(ids == all, "{} ids", ids.len());
    }
}

#[test]
fn titles_and_texts_are_those_of_the_pages_and_can_be_left_out_of_the_store() {
    let columns = "url,status,mime,date,host";
    for (more, wanted, title) in [
        (&[][..], format!("title,{columns}"), json!(["Page 7"])),
        (&["--store", "none"], columns.to_owned(), Value::Null),
    ] {
        let place = Place::new();
        place.write("a.warc", archive(9).as_bytes());
        place.indexed(&[&["--records", "warc"], more].concat());
        let ran = place.search(&["--json", "word7", "--fields", &wanted]);
        let fields = &ran.lines()[0]["fields"];
        assert_eq!(fields["title"], title, "{fields}");
        assert_eq!((&fields["url"], &fields["status"]), (&json!(["http://example.org/7"]), &json!([200])));
        assert_eq!((&fields["mime"], &fields["host"]), (&json!(["text/html"]), &json!(["example.org"])));
        assert_eq!(fields["date"], json!(["2024-05-01T10:00:00Z"]));
    }
}

#[test]
fn the_beginning_of_a_record_that_does_not_fit_into_memory_is_indexed() {
    let place = Place::new();
    let long = format!("<title>Long</title>beginning {}", "filler ".repeat(6 << 20));
    let text =
        [record(1, "response", "before"), record(2, "response", &long), record(3, "response", "after")];
    place.write("a.warc", text.concat().as_bytes());
    let ran = place.index_with(&["--records", "warc", "--threads", "1", "--memory", "120MiB", "--json"]);
    let report = ran.json();
    assert_eq!((ran.code, &report["documents"]), (Some(0), &3.into()), "{} {report}", ran.stderr);
    let notes = report["records"]["notes"].to_string();
    assert!(notes.contains("too long for memory") && notes.contains("\"record\":2"), "{notes}");
    assert!(!notes.contains("wrong Content-Length"), "{notes}");
    assert_eq!(["before", "beginning", "after"].map(|word| place.count(word)), [1, 1, 1]);
}

#[test]
fn files_of_one_format_need_no_option_and_a_mixture_does() {
    let place = Place::new();
    let mail = "From ada@example.org Sat Jan  3 01:05:34 1996\nSubject: Hello\n\nalgebra\n";
    let files = [
        place.write("a.warc", archive(2).as_bytes()),
        place.write("b.warc.gz", &gzip(&place, archive(3).as_bytes())),
        place.write("c.mbox", mail.as_bytes()),
    ];
    let index = |files: &[std::path::PathBuf]| {
        let _ = std::fs::remove_dir_all(place.index());
        run(scanns(&["index", "--json", "-o"]).arg(place.index()).args(files))
    };
    for (chosen, told, documents) in
        [(&files[..2], "2 web archives: every page", 3), (&files[2..], "a mailbox: every message", 1)]
    {
        let ran = index(chosen);
        assert_eq!((ran.code, &ran.json()["documents"]), (Some(0), &documents.into()), "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    // In a mixture, the two files are documents without text, beside two pages and a message.
    let mixed = index(&files[1..]);
    assert_eq!((&mixed.json()["documents"], mixed.stderr.as_str()), (&6.into(), ""));
    let table = place.write("t.csv", b"a,b\n1,2\n");
    let log = place.write("z.log", b"192.0.2.1 - - [01/May/2024:10:00:00 +0200] \"GET / HTTP/1.1\" 200 5\n");
    let mixed = index(&[table, log]);
    assert_eq!(mixed.json()["documents"], 2, "{}", mixed.stderr);
    assert!(mixed.stderr.contains("1 of the 2 files that were looked at are "), "{}", mixed.stderr);
    // The kind of documents stays, and is told if another one is asked for.
    index(&files[..1]);
    let again = run(scanns(&["index", "--json", "-o"]).arg(place.index()).arg(&files[1]));
    assert_eq!(again.json()["documents"], 3, "{}", again.stderr);
    let other = run(scanns(&["index", "--records", "mbox", "-o"]).arg(place.index()).arg(&files[2]));
    assert!(other.code == Some(2) && other.stderr.contains("records of web archives"), "{}", other.stderr);
    assert!(place.info(&[]).text().contains("(one per page of a web archive)"));
}

#[test]
fn a_directory_is_looked_into_and_what_is_taken_for_what_is_told() {
    let place = Place::new();
    for number in 0..70 {
        let mail = "From ada@example.org Sat Jan  3 01:05:34 1996\nSubject: Hello\n\nalgebra\n";
        place.write(format!("year{}/{number}.mbox", number % 7), mail.as_bytes());
    }
    let index = |options: &[&str]| {
        let _ = std::fs::remove_dir_all(place.index());
        run(scanns(&["index", "--json", "-o"]).arg(place.index()).args(options).arg(place.files()))
    };
    let ran = index(&[]);
    assert_eq!(ran.json()["documents"], 70);
    let told = "these are mailboxes, by the 64 of them that were looked at: every message is a document";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(place.count("subject:hello"), 70);
    assert!(!index(&["--records", "file"]).stderr.contains("mailbox"));
    // What has no language field is not asked for it in vain.
    for options in [["--detect-language", "--records", "mbox"], ["--detect-language", "--extract", "none"]] {
        let ran = index(&options);
        assert!(ran.code == Some(2) && ran.stderr.contains("--detect-language"), "{}", ran.stderr);
    }
    // Records of JSON say so by themselves; rows of CSV in a directory are a suggestion.
    std::fs::remove_dir_all(place.files()).unwrap();
    place.write("a.log", b"{\"a\": \"x\"}\n{\"a\": \"y\"}\n");
    let ran = index(&["--records", "auto"]);
    assert_eq!(ran.json()["documents"], 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("this is a file of JSON Lines: every line"), "{}", ran.stderr);
    std::fs::remove_dir_all(place.files()).unwrap();
    let table = place.write("t.csv", b"name,size\nalpha,1\nbeta,2\n");
    let ran = index(&[]);
    assert_eq!(ran.json()["documents"], 1);
    assert!(
        ran.stderr.contains("t.csv is a table of CSV: it is one document here; --records csv makes"),
        "{}",
        ran.stderr
    );
    let _ = std::fs::remove_dir_all(place.index());
    let ran = run(scanns(&["index", "--json", "-o"]).arg(place.index()).arg(&table));
    assert_eq!(ran.json()["documents"], 2, "{}", ran.stderr);
}

#[test]
fn a_collection_follows_its_files_and_a_schema_of_ones_own_is_used() {
    let place = Place::new();
    let trec = |numbers: std::ops::Range<usize>| -> String {
        let doc = |number| {
            format!(
                "<DOC>\n<DOCNO> D-{number} </DOCNO>\n<HEADLINE>Head {number}</HEADLINE>\n\
                 <TEXT>steel</TEXT>\n</DOC>\n"
            )
        };
        numbers.map(doc).collect()
    };
    place.write("a.sgml", trec(0..5).as_bytes());
    place.indexed(&["--records", "trec"]);
    assert!(place.indexed(&[]).text().contains("unchanged: 1 file skipped"));
    place.write("a.sgml", trec(2..9).as_bytes());
    place.indexed(&[]);
    let expected: Vec<String> = (2..9).map(|number| format!("\"D-{number}\"")).collect();
    assert_eq!(values(&place, "docno"), expected);
    let schema = place.dir.path().join("schema.toml");
    let ran = run(scanns(&["index", "--records", "trec", "--infer-schema"]).arg(&schema).arg(place.files()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(&schema).unwrap();
    assert!(text.contains("name = \"headline\"") || text.contains("\"headline\""), "{text}");
    std::fs::remove_dir_all(place.index()).unwrap();
    let ran = place.index_with(&["--records", "trec", "--schema", schema.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!((place.count("steel"), place.count("head")), (7, 7));
}

#[test]
fn malformed_documents_are_listed_and_the_rest_is_indexed() {
    let place = Place::new();
    let text = "<DOC>\n<TEXT>no name</TEXT>\n</DOC>\n<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>steel</TEXT>\n</DOC>\n";
    place.write("a.sgml", text.as_bytes());
    let ran = place.index_with(&["--records", "trec"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("a.sgml:1: the record has no <DOCNO>, and no id"), "{}", ran.stderr);
    assert_eq!(place.count("steel"), 1);
}
