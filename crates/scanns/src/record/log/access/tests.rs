use super::oracle::SlowAccess;
use super::*;
use crate::record::log::test_support::{rounds, values};
use crate::record::test_ends::seed;
use std::collections::BTreeMap;

const CUT: &str = "line that is cut or has a malformed status or number of bytes";
const NO_REQUEST: &str = "request without a method and a path";
const NOT_ACCESS: &str = "line that is not of an access log: only its text is read";

/// The values of a line but for its text, and the deviations.
fn read(line: &[u8]) -> (Vec<String>, Vec<&'static str>) {
    let (mut reader, mut made) = (AccessReader::default(), MadeRecord::default());
    assert_eq!(reader.read(line, &mut made), Ok(true));
    let mut found = values(&AccessReader::NAMES, &made);
    let text = String::from_utf8_lossy(line);
    assert_eq!(found.pop(), Some(format!("text={}", text.trim_end_matches(['\r', '\n']))));
    (found, reader.deviations().to_vec())
}

#[track_caller]
fn assert_read(line: &str, expected: &[&str], deviations: &[&str]) {
    let (found, odd) = read(line.as_bytes());
    assert_eq!(found, expected, "{line}");
    assert_eq!(odd, deviations, "{line}");
}

#[test]
fn the_example_of_the_manual_of_apache_has_all_values() {
    let line = concat!(
        r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "#,
        r#""http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#,
        "\r\n"
    );
    let expected = [
        "host=127.0.0.1",
        "user=frank",
        "date=2000-10-10T20:55:36Z",
        "method=GET",
        "path=/apache_pb.gif",
        "protocol=HTTP/1.0",
        "status=200",
        "bytes=2326",
        "referer=http://www.example.com/start.html",
        "agent=Mozilla/4.08 [en] (Win98; I ;Nav)",
    ];
    assert_read(line, &expected, &[]);
}

#[test]
fn names_in_front_of_the_date_may_be_of_every_form() {
    let rest = r#" [01/May/2024:10:00:00 +0000] "-" 408 -"#;
    for (names, expected) in [
        ("192.0.2.7 - -", &["host=192.0.2.7"][..]),
        ("2001:db8::7 - -", &["host=2001:db8::7"]),
        ("::1 - -", &["host=::1"]),
        ("192.0.2.7 - john smith", &["host=192.0.2.7", "user=john smith"]),
        ("192.0.2.7 - a [b] c", &["host=192.0.2.7", "user=a [b] c"]),
        (r#"192.0.2.7 - """#, &["host=192.0.2.7"]),
        (r"192.0.2.7 - j\x20s", &["host=192.0.2.7", "user=j s"]),
        ("192.0.2.7 ident john smith", &["host=192.0.2.7", "user=john smith"]),
        ("192.0.2.7:5123 - john smith", &["host=192.0.2.7:5123", "user=john smith"]),
        ("example.org:443 192.0.2.7 - -", &["vhost=example.org", "host=192.0.2.7"]),
        ("example.org 192.0.2.7 - ada l", &["vhost=example.org", "host=192.0.2.7", "user=ada l"]),
        ("[::1]:80 ::1 - -", &["vhost=[::1]", "host=::1"]),
        ("example.org:443 192.0.2.7 ident ada", &["vhost=example.org", "host=192.0.2.7", "user=ada"]),
        ("192.0.2.7", &["host=192.0.2.7"]),
        ("- - -", &[]),
    ] {
        let (mut found, odd) = read(format!("{names}{rest}\n").as_bytes());
        assert_eq!(found.split_off(expected.len()), ["date=2024-05-01T10:00:00Z", "status=408"], "{names}");
        assert_eq!(found, expected, "{names}");
        assert!(odd.is_empty());
    }
}

#[test]
fn requests_that_are_none_are_left_to_the_text() {
    let around = |request| format!("h - - [01/May/2024:10:00:00 +0000] \"{request}\" 400 226 \"-\" \"-\"");
    let base = ["host=h", "date=2024-05-01T10:00:00Z", "status=400", "bytes=226"];
    assert_read(&around(r"\x16\x03\x01\x02"), &base, &[NO_REQUEST]);
    assert_read(&around("-"), &base, &[]);
    assert_read(&around(""), &base, &[]);
    let (found, odd) = read(around(r#"GET /a\"b\\c?q=\xc3\xb6 HTTP/1.1"#).as_bytes());
    assert_eq!(found[2..5], ["method=GET", r#"path=/a"b\c?q=ö"#, "protocol=HTTP/1.1"]);
    assert!(odd.is_empty());
    let (found, odd) = read(around(r#"GET /a"b" c HTTP/1.1"#).as_bytes());
    assert_eq!(found[2..5], ["method=GET", r#"path=/a"b" c"#, "protocol=HTTP/1.1"]);
    assert!(odd.is_empty());
}

#[test]
fn fields_behind_the_format_stay_in_the_text() {
    let start = r#"h - - [01/May/2024:10:00:00 +0000] "GET / HTTP/2.0" 200 5"#;
    let base = ["host=h", "date=2024-05-01T10:00:00Z", "method=GET", "path=/", "protocol=HTTP/2.0"];
    for (rest, expected) in [
        (" 0.123", &["status=200", "bytes=5"][..]),
        (r#" "-" "a b" "10.0.0.1, 10.0.0.2" rt=0.1"#, &["status=200", "bytes=5", "agent=a b"]),
        (r#" "r" "" 12"#, &["status=200", "bytes=5", "referer=r"]),
        (r#" "r" x"#, &["status=200", "bytes=5", "referer=r"]),
    ] {
        assert_read(&format!("{start}{rest}\n"), &[&base[..], expected].concat(), &[]);
    }
}

#[test]
fn damaged_lines_keep_the_values_that_they_have() {
    let dated = ["host=h", "date=2024-05-01T10:00:00Z"];
    let all = [&dated[..], &["method=GET", "path=/", "protocol=HTTP/1.1"]].concat();
    let start = "h - - [01/May/2024:10:00:00 +0000] \"GET /";
    assert_read(start, &[&dated[..], &["method=GET", "path=/"]].concat(), &[CUT]);
    assert_read(&format!("{start} HTTP/1.1\" 20"), &all, &[CUT]);
    assert_read(&format!("{start} HTTP/1.1\""), &all, &[CUT]);
    assert_read(&format!("{start} HTTP/1.1\" 200"), &[&all[..], &["status=200"]].concat(), &[CUT]);
    let cut_agent = [&all[..], &["status=200", "bytes=5", "referer=r", "agent=Mozi"]].concat();
    assert_read(&format!("{start} HTTP/1.1\" 200 5 \"r\" \"Mozi"), &cut_agent, &[CUT]);
}

#[test]
fn dates_may_be_iso_without_a_zone_or_unreadable() {
    let line = |date: &str| format!("h - - [{date}] \"-\" 200 5");
    let read_date = |date: &str, deviations: &[&str]| {
        let (found, odd) = read(line(date).as_bytes());
        assert_eq!(odd, deviations, "{date}");
        found[1].strip_prefix("date=").unwrap().to_owned()
    };
    assert_eq!(read_date("2024-05-01T10:00:00+02:00", &[]), "2024-05-01T08:00:00Z");
    assert_eq!(
        read_date("01/May/2024:10:00:00", &["date without a zone: read as UTC"]),
        "2024-05-01T10:00:00Z"
    );
    assert_eq!(
        read_date("31/Feb/2024:10:00:00 +0000", &["date that cannot be read"]),
        "31/Feb/2024:10:00:00 +0000"
    );
}

#[test]
fn other_lines_are_their_text() {
    for line in
        ["\tat java.lang.Thread.run(Thread.java:1)", "x", "[a] \"b", "h - - [x] \"GET\"", "a [b] \"c\" d"]
    {
        assert_read(line, &[], &[NOT_ACCESS]);
    }
    let (mut reader, mut made) = (AccessReader::default(), MadeRecord::default());
    assert_eq!(reader.read(b" \r\n", &mut made), Ok(false));
    assert_eq!(reader.read(b"caf\xe9 \n", &mut made), Ok(true));
    assert_eq!(values(&AccessReader::NAMES, &made), ["text=caf\u{fffd} "]);
    assert_eq!(reader.deviations(), [NOT_ACCESS, "invalid UTF-8 is replaced"]);
}

/// A random line of one of the formats.
fn random_line(random: &mut fastrand::Rng) -> String {
    fn pick<'t>(random: &mut fastrand::Rng, from: &[&'t str]) -> &'t str {
        from[random.usize(..from.len())]
    }
    let host = pick(random, &["192.0.2.1", "2001:db8::1", "::1", "crawler.example.org", "localhost"]);
    let vhost = pick(random, &["", "", "example.org:80 ", "www.example.org ", "a-b.test:8443 "]);
    let user = pick(random, &["-", "-", "ada", "ada lovelace", "a.b@c", "[x]", r"a\x20b", "ö"]);
    let month = pick(random, &["Jan", "Feb", "Mar", "May", "Sep", "Dec"]);
    let zone = pick(random, &["+0000", "-0730", "+0200", "+1345"]);
    let path = pick(
        random,
        &["/", "/a/b?c=d&e=%20", "/a b", r#"/\"q\""#, r"/\xe2\x82\xac", "http://x/", "*", "/ä", "/["],
    );
    let protocol = pick(random, &[" HTTP/1.1", " HTTP/1.0", " HTTP/2.0", "", " RTSP/1.0"]);
    let broken = pick(random, &["-", "", r"\x16\x03\x01", "hello", "GET", r#"\"\""#, "SSH-2.0-x"]);
    let method = pick(random, &["GET", "POST", "M-SEARCH", "PROPFIND"]);
    let request = if random.u8(..5) == 0 { broken.into() } else { format!("{method} {path}{protocol}") };
    let status = pick(random, &["200", "404", "000", "-", "503"]);
    let bytes = pick(random, &["0", "-", "5123", "18446744073709551616"]);
    let text = |random: &mut fastrand::Rng| {
        let words = [
            "-",
            "",
            "Mozilla/5.0 (X11; Linux)",
            r#"a \"b\" c"#,
            r"\\",
            "[01/May/2024:10:00:00",
            r"\n\t\q",
            "é",
        ];
        format!("\"{}\"", pick(random, &words))
    };
    let rest = match random.u8(..5) {
        0 => String::new(),
        1 => " 0.003 -".into(),
        2 => format!(" {} {} \"x, y\" 7", text(random), text(random)),
        3 => format!(" {}", text(random)),
        _ => format!(" {} {}", text(random), text(random)),
    };
    let result = format!("\"{request}\" {status} {bytes}{rest}");
    format!(
        "{vhost}{host} - {user} [{:02}/{month}/{:04}:{:02}:{:02}:{:02} {zone}] {result}",
        random.u8(1..=32),
        random.u16(1700..2200),
        random.u8(..25),
        random.u8(..60),
        random.u8(..60),
    )
}

#[test]
fn random_lines_have_the_values_that_regular_expressions_find() {
    let mut random = fastrand::Rng::with_seed(seed());
    let slow = SlowAccess::new();
    let (mut reader, mut made) = (AccessReader::default(), MadeRecord::default());
    let mut compared = 0;
    for _ in 0..rounds(20_000) {
        let line = random_line(&mut random);
        assert_eq!(reader.read(format!("{line}\n").as_bytes(), &mut made), Ok(true));
        let Some(mut expected) = slow.parse(&line) else {
            assert_eq!(reader.deviations()[0], "date that cannot be read", "{line}");
            continue;
        };
        // A `-` that an escape makes, and blanks, are values.
        let found = values(&AccessReader::NAMES, &made);
        let found: BTreeMap<&str, String> = found
            .iter()
            .map(|value| value.split_once('=').unwrap())
            .map(|(name, value)| (name, if name == "path" { value.trim() } else { value }.to_owned()))
            .collect();
        if let Some(user) = expected.get_mut("user") {
            *user = user.replace(r"\x20", " ");
        }
        assert_eq!(found, expected, "{line}");
        compared += 1;
    }
    assert!(compared > rounds(20_000) / 2, "only {compared} lines were compared");
}
