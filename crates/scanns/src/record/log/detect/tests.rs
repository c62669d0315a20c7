use super::*;

const ACCESS: &str = "192.0.2.1 - - [01/May/2024:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"curl\"\n";
const TLS: &str = "192.0.2.1 - - [01/May/2024:10:00:00 +0000] \"\\x16\\x03\" 400 5\n";
const SSHD: &str = "May  1 10:00:00 web1 sshd[12]: Accepted publickey for ada\n";
const SUDO: &str = "May  1 10:00:00 web1 sudo: ada : TTY=pts/0\n";
const JOURNAL: &str = r#"{"__CURSOR":"s=1","__REALTIME_TIMESTAMP" : "1714557600000000","MESSAGE":"x"}"#;

fn detect(head: &str) -> Option<LogKind> {
    LogKind::detect(head.as_bytes())
}

#[test]
fn logs_are_detected() {
    for (head, kind) in [
        (ACCESS.into(), LogKind::Access),
        (format!("\u{feff}{ACCESS}"), LogKind::Access),
        (ACCESS.replace('\n', "\r\n"), LogKind::Access),
        (format!("example.org:443 {ACCESS}"), LogKind::Access),
        (TLS.into(), LogKind::Access),
        (format!("{}garbage\n", ACCESS.repeat(5)), LogKind::Access),
        (format!("{ACCESS}192.0.2.1 - - [01/"), LogKind::Access),
        (SSHD.into(), LogKind::Syslog),
        (SUDO.repeat(3), LogKind::Syslog),
        (format!("{SSHD}\tat java.lang.Thread.run\n\tat x\n{SUDO}"), LogKind::Syslog),
        (format!("-- Logs begin at Wed --\n{SSHD}"), LogKind::Syslog),
        (format!("<34>{SUDO}"), LogKind::Syslog),
        ("<34>1 2003-10-11T22:14:15.003Z host su - ID47 - 'su root' failed\n".into(), LogKind::Syslog),
        ("2024-05-01T10:00:00.123456+02:00 web1 systemd[1]: Started x.\n".into(), LogKind::Syslog),
        ("2024-05-01T10:00:00.123456+02:00 web1 kernel: [ 1.2] x\n".into(), LogKind::Syslog),
        ("Wed 2024-05-01 10:00:00 CEST web1 systemd[1]: Started x.\n".into(), LogKind::Syslog),
        (format!("May  1 10:00:00 web1 nginx[5]: {ACCESS}"), LogKind::Syslog),
        (format!("{JOURNAL}\n"), LogKind::Journal),
        (format!("\u{1e}{JOURNAL}\n{JOURNAL}\n{{\"__CUR"), LogKind::Journal),
        (format!("{}{}", JOURNAL.replace("\"x\"}", "\""), "x".repeat(5000)), LogKind::Journal),
    ] {
        assert_eq!(detect(&head), Some(kind), "{head}");
    }
}

#[test]
fn other_texts_are_no_logs() {
    for head in [
        "".into(),
        "\n\n".into(),
        ACCESS.trim_end().into(),
        format!("{ACCESS}{SSHD}"),
        format!("{ACCESS}x\n"),
        "This is prose. On May  1 10:00:00 it was noon.\nMay the first 10:00:00 be: good\n".into(),
        "May  1 10:00:00 was the time: late.\n".into(),
        "a,b,c\n192.0.2.1,\"[01/May/2024:10:00:00 +0000]\",\"GET / HTTP/1.1\",200,5\n".into(),
        format!("line\n\"{}\"\n", ACCESS.trim_end().replace('"', "\"\"")),
        format!("\"{}\"\n", ACCESS.trim_end().replace('"', "\"\"")),
        format!("{{\"log\":{:?}}}\n", ACCESS),
        format!("{{\"log\":{:?},\"a\":{:?}}}\n", SSHD, JOURNAL),
        "{\"message\":\"x\",\"time\":1}\n{\"message\":\"y\",\"time\":2}\n".into(),
        format!("[{JOURNAL}]\n"),
        format!("{JOURNAL}\n{{\"a\":1}}\n"),
        "{\n\t\"__REALTIME_TIMESTAMP\" : \"1\"\n}\n".into(),
        "2024-05-01T10:00:00.123456Z  INFO crate::module: started\n".repeat(5),
        "2024-05-01T10:00:00.123456Z INFO module: started\n".repeat(5),
        "2024-05-01T10:00:00.123456Z stdout F module: started\n".repeat(5),
        "2024-05-01T10:00:00Z [info] module[12]: started\n".repeat(5),
        "2024-05-01T10:00:00Z main worker: started\n".repeat(5),
        "2024-05-01 10:00:00 status installed x:amd64 1.2\n".repeat(5),
        "May  1 10:00:00 INFO worker: started\n".repeat(5),
        "May  1 10:00:00 one a: x\nMay  1 10:00:00 two b: x\nMay  1 10:00:00 one c: x\n".into(),
        "[Wed Oct 11 14:32:52 2000] [error] [client 127.0.0.1] client denied\n".into(),
        "<6>[    1.2] usb: x\n".into(),
        "<html>\n<head><title>x[1]: y</title>\n".into(),
        "fn main() {\n    let x = [1]; // \"GET / HTTP/1.1\" 200 5\n}\n".into(),
        "# 127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326\n".into(),
        "$ tail access.log\n".to_owned() + ACCESS,
    ] {
        assert_eq!(detect(&head), None, "{head}");
    }
}
