use super::oracle::{slow_3164, slow_5424};
use super::*;
use crate::record::log::test_support::{rounds, values};
use crate::record::test_ends::seed;
use std::process::Command;

/// 2024-05-01T10:00:00Z
const NOW: i64 = 1_714_557_600;
const YEAR: &str = "date without a year and a zone: the latest possible year and UTC are assumed";
const UTC: &str = "date without a zone: read as UTC";
const NO_DATE: &str = "line without a date: all of it is the message";

fn read(line: &[u8]) -> (Vec<String>, Vec<&'static str>) {
    let (mut reader, mut made) = (SyslogReader::new(NOW), MadeRecord::default());
    assert_eq!(reader.read(line, &mut made), Ok(true));
    (values(&SyslogReader::NAMES, &made), reader.deviations().to_vec())
}

#[track_caller]
fn assert_read(line: &str, expected: &[&str], deviations: &[&str]) {
    let (found, odd) = read(line.as_bytes());
    assert_eq!(found, expected, "{line}");
    assert_eq!(odd, deviations, "{line}");
}

#[test]
fn lines_of_rfc_3164_have_a_date_a_host_and_a_program() {
    let date = "date=2023-10-11T22:14:15Z";
    let mail = ["facility=auth", "severity=crit"];
    for (line, expected) in [
        (
            "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8\n",
            &[
                date,
                "host=mymachine",
                "app=su",
                mail[0],
                mail[1],
                "message='su root' failed for lonvick on /dev/pts/8",
            ][..],
        ),
        (
            "Oct 11 22:14:15 web1 sshd[2891]: Accepted\r\n",
            &[date, "host=web1", "app=sshd", "pid=2891", "message=Accepted"],
        ),
        (
            "Oct 11 22:14:15 web1 kernel: [   12.345678] usb 1-1: new device",
            &[date, "host=web1", "app=kernel", "message=[   12.345678] usb 1-1: new device"],
        ),
        (
            "Oct 11 22:14:15 web1 kernel:[   12.3] x",
            &[date, "host=web1", "app=kernel", "message=[   12.3] x"],
        ),
        (
            "Oct 11 22:14:15 web1 postfix/smtpd[7]: connect from x[192.0.2.1]",
            &[date, "host=web1", "app=postfix/smtpd", "pid=7", "message=connect from x[192.0.2.1]"],
        ),
        (
            "Oct 11 22:14:15 web1 sshd(pam_unix)[7]: x",
            &[date, "host=web1", "app=sshd(pam_unix)", "pid=7", "message=x"],
        ),
        (
            "Oct 11 22:14:15 mac com.apple.xpc.launchd[1] (com.apple.x[9]): exited",
            &[date, "host=mac", "app=com.apple.xpc.launchd", "pid=1", "message=(com.apple.x[9]): exited"],
        ),
        (
            "Oct 11 22:14:15 web1 last message repeated 3 times",
            &[date, "host=web1", "message=last message repeated 3 times"],
        ),
        ("Oct 11 22:14:15 sshd[5]: x", &[date, "app=sshd", "pid=5", "message=x"]),
        ("Oct 11 22:14:15 fe80::1 app: x", &[date, "host=fe80::1", "app=app", "message=x"]),
        ("Oct 11 22:14:15 web1 {\"a\": 1}", &[date, "host=web1", "message={\"a\": 1}"]),
        ("Oct 11 22:14:15 web1 app[x y]: z", &[date, "host=web1", "message=app[x y]: z"]),
        ("Oct 11 22:14:15 web1 app:", &[date, "host=web1", "app=app"]),
        ("Oct 11 22:14:15 web1", &[date, "host=web1"]),
        ("Oct 11 22:14:15", &[date]),
    ] {
        assert_read(line, expected, &[YEAR]);
    }
}

#[test]
fn dates_of_every_form_are_read() {
    for (date, expected, deviations) in [
        ("May  2 09:59:59", "2024-05-02T09:59:59Z", &[YEAR][..]),
        ("May 02 10:00:01", "2023-05-02T10:00:01Z", &[YEAR]),
        ("May 2 10:00:01.5", "2023-05-02T10:00:01.500Z", &[YEAR]),
        ("Feb 29 00:00:00.000001", "2024-02-29T00:00:00.000001Z", &[YEAR]),
        ("Dec 31 23:59:60", "2024-01-01T00:00:00Z", &[YEAR]),
        ("May  1 2019 10:00:00", "2019-05-01T10:00:00Z", &[UTC]),
        ("2024-05-01T10:00:00.123456+02:00", "2024-05-01T08:00:00.123456Z", &[]),
        ("2024-05-01T10:00:00+0200", "2024-05-01T08:00:00Z", &[]),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z", &[]),
        ("2024-05-01T10:00:00", "2024-05-01T10:00:00Z", &[UTC]),
        ("Wed 2024-05-01 10:00:00 UTC", "2024-05-01T10:00:00Z", &[]),
        ("Wed 2024-05-01 10:00:00.25 EST", "2024-05-01T15:00:00.250Z", &[]),
        ("Wed 2024-05-01 10:00:00 -03", "2024-05-01T13:00:00Z", &[]),
        ("Wed 2024-05-01 10:00:00 CEST", "2024-05-01T10:00:00Z", &["date in an unknown zone: read as UTC"]),
        ("Wed 2024-05-01 10:00:00", "2024-05-01T10:00:00Z", &[UTC]),
        ("1714557600.000001", "2024-05-01T10:00:00.000001Z", &[]),
        ("Feb 30 10:00:00", "Feb 30 10:00:00", &["date that cannot be read"]),
        ("May  1 24:00:00", "May  1 24:00:00", &["date that cannot be read"]),
    ] {
        let expected = [&format!("date={expected}"), "host=web1", "app=a", "pid=1", "message=x y"];
        assert_read(&format!("{date} web1 a[1]: x y\n"), &expected, deviations);
    }
    assert_read(
        "May  1 2019 10:00:00: %ASA-6-1: x",
        &["date=2019-05-01T10:00:00Z", "app=%ASA-6-1", "message=x"],
        &[UTC],
    );
}

#[test]
fn lines_of_rfc_5424_have_all_values() {
    for (line, expected) in [
        (
            "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{feff}'su root' failed",
            &[
                "date=2003-10-11T22:14:15.003Z",
                "host=mymachine.example.com",
                "app=su",
                "facility=auth",
                "severity=crit",
                "msgid=ID47",
                "message='su root' failed",
            ][..],
        ),
        (
            "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.",
            &[
                "date=2003-08-24T12:14:15.000003Z",
                "host=192.0.2.1",
                "app=myproc",
                "pid=8710",
                "facility=local4",
                "severity=notice",
                "message=%% It's time.",
            ],
        ),
        (
            "<0>1 2003-10-11T22:14:15Z h e - I [a@1 b=\"c] \\\" d\"][e f=\"\\]\"] [m] n",
            &[
                "date=2003-10-11T22:14:15Z",
                "host=h",
                "app=e",
                "facility=kern",
                "severity=emerg",
                "msgid=I",
                "data=[a@1 b=\"c] \\\" d\"][e f=\"\\]\"]",
                "message=[m] n",
            ],
        ),
        (
            "<0>1 2003-10-11T22:14:15Z h - - - [a]",
            &["date=2003-10-11T22:14:15Z", "host=h", "facility=kern", "severity=emerg", "data=[a]"],
        ),
    ] {
        assert_read(line, expected, &[]);
    }
}

#[test]
fn damaged_headers_lose_nothing() {
    let base =
        ["date=2003-10-11T22:14:15Z", "host=h", "app=a", "pid=web.3", "facility=kern", "severity=emerg"];
    let start = "<0>1 2003-10-11T22:14:15Z h a web.3 -";
    let no_data = "header of RFC 5424 without structured data";
    assert_read(
        &format!("{start} State changed"),
        &[&base[..], &["message=State changed"]].concat(),
        &[no_data],
    );
    assert_read(start, &base, &[no_data]);
    let open = "structured data that is not closed: part of the message";
    assert_read(&format!("{start} [a b=\"] c"), &[&base[..], &["message=[a b=\"] c"]].concat(), &[open]);
    let priority = ["facility=kern", "severity=emerg"];
    assert_read(
        "<0>1 - h a - - - x",
        &["host=h", "app=a", priority[0], priority[1], "message=x"],
        &["header without a date"],
    );
    assert_read(
        "<0>1 soon h a - - - x",
        &[priority[0], priority[1], "message=1 soon h a - - - x"],
        &[NO_DATE],
    );
    assert_read(
        "<6>[    1.2] usb: x",
        &["facility=kern", "severity=info", "message=[    1.2] usb: x"],
        &[NO_DATE],
    );
}

#[test]
fn other_lines_are_their_message() {
    for line in [
        "\tat java.lang.Thread.run(Thread.java:1)",
        "  continued",
        "<999>x",
        "-- Boot 1234 --",
        "[    0.000000] Linux version 6.1",
        "2024-05-01 10:00:00 status installed x",
        "May be 10:00:00",
        "1714557600 x",
        "Wed 2024",
        "Wed 2024-05-01",
        "Öß 1 10:00:00 x",
    ] {
        assert_read(line, &[&format!("message={line}")], &[NO_DATE]);
    }
    let (found, odd) = read(b"May  1 10:00:00 h a: caf\xe9\n");
    assert_eq!(found[3], "message=caf\u{fffd}");
    assert_eq!(odd, ["invalid UTF-8 is replaced", YEAR]);
    assert_eq!(SyslogReader::new(NOW).read(b"\n", &mut MadeRecord::default()), Ok(false));
}

#[test]
fn indented_lines_belong_to_the_message() {
    let several = "indented lines behind an entry: part of its message";
    assert_read(
        "2024-05-01T10:00:00Z web1 app[7]: failed\r\n\tat b(c.java:1)\r\n\tat d",
        &[
            "date=2024-05-01T10:00:00Z",
            "host=web1",
            "app=app",
            "pid=7",
            "message=failed\r\n\tat b(c.java:1)\r\n\tat d",
        ],
        &[several],
    );
    assert_read(
        "2024-05-01T10:00:00Z web1 app:\n  first\n  second",
        &["date=2024-05-01T10:00:00Z", "host=web1", "app=app", "message=first\n  second"],
        &[several],
    );
    assert_read("Caused by: e\n\tat f", &["message=Caused by: e\n\tat f"], &[several, NO_DATE]);
}

#[test]
fn random_lines_have_the_values_that_splitting_them_gives() {
    fn pick<'t>(random: &mut fastrand::Rng, from: &[&'t str]) -> &'t str {
        from[random.usize(..from.len())]
    }
    let mut random = fastrand::Rng::with_seed(seed());
    let (mut reader, mut made) = (SyslogReader::new(NOW), MadeRecord::default());
    for _ in 0..rounds(20_000) {
        let host = pick(&mut random, &["web1", "db.example.org", "192.0.2.1", "fe80::1", "a-b_c"]);
        let app = pick(&mut random, &["sshd", "kernel", "postfix/smtpd", "(systemd)", "dbus-daemon", "a.b"]);
        let message = pick(&mut random, &["", "x", "a: b[3]: c", " two", "[ 1.2] ü", "- -", "\"q\" \\"]);
        let clock = format!("{:02}:{:02}:{:02}", random.u8(..24), random.u8(..60), random.u8(..60));
        let iso =
            format!("20{:02}-{:02}-{:02}T{clock}", random.u8(..100), random.u8(1..=12), random.u8(1..=28));
        let iso =
            format!("{iso}{}", pick(&mut random, &["Z", "+02:00", ".123Z", ".123456-0330", ".000001Z"]));
        let priority = random.u8(..192);
        let (line, expected) = if random.bool() {
            let data = pick(&mut random, &["-", "[a@1 b=\"c d\"]", "[a][b c=\"\" d=\"e\"]"]);
            let date = if random.u8(..9) == 0 { "-" } else { &iso };
            let pid = pick(&mut random, &["-", "12", "x.y"]);
            let bom = pick(&mut random, &["", "\u{feff}"]);
            let line = format!("<{priority}>1 {date} {host} {app} {pid} {} {data} {bom}{message}", "-");
            let expected = slow_5424(&line);
            (line, expected)
        } else {
            let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
            let day = format!("{} {:>2} {clock}", pick(&mut random, &months), random.u8(1..=28));
            let date = if random.bool() { &iso } else { &day };
            let priority = if random.bool() { format!("<{priority}>") } else { String::new() };
            let pid = pick(&mut random, &["", "[1]", "[31999]"]);
            let line = format!("{priority}{date} {host} {app}{pid}: {message}");
            let expected = slow_3164(&line, 2015..=2024, NOW + 86_400);
            (line, expected)
        };
        assert_eq!(reader.read(format!("{line}\n").as_bytes(), &mut made), Ok(true));
        assert_eq!(values(&SyslogReader::NAMES, &made), expected, "{line}");
    }
}

#[test]
fn what_logger_writes_is_read_back() {
    let message = "hello [x]: y";
    for form in ["--rfc5424", "--rfc3164"] {
        // Nothing listens there: only the copy on the standard error is of interest.
        let arguments =
            ["-n", "127.0.0.1", "-P", "9", "-d", "-s", form, "-i", "-t", "a/x", "-p", "local3.err", message];
        let output = Command::new("logger").args(arguments).output();
        let Ok(line) = output.map(|output| output.stderr) else {
            println!("SKIPPED: logger is not installed");
            return;
        };
        if !line.starts_with(b"<155>") {
            println!("SKIPPED: logger does not write its message: {}", line.escape_ascii());
            return;
        }
        let (found, _) = read(&line);
        let get = |name: &str| found.iter().find_map(|value| value.strip_prefix(name)).unwrap_or_default();
        assert!(get("date=").starts_with("20") && !get("host=").is_empty(), "{found:?}");
        assert!(get("pid=").parse::<u32>().is_ok(), "{found:?}");
        let values = [get("app="), get("facility="), get("severity="), get("message=")];
        assert_eq!(values, ["a/x", "local3", "err", message]);
    }
}
