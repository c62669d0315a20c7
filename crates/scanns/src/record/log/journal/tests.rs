use super::*;
use crate::record::log::test_support::{rounds, values};
use crate::record::test_ends::seed;
use serde_json::{Map, Value, json};

fn read(reader: &mut JournalReader, line: &str) -> (Vec<String>, Vec<&'static str>) {
    let mut made = MadeRecord::default();
    assert_eq!(reader.read(line.as_bytes(), &mut made), Ok(true), "{line}");
    (values(&JournalReader::NAMES, &made), reader.deviations().to_vec())
}

fn read_new(line: &str) -> (Vec<String>, Vec<&'static str>) {
    read(&mut JournalReader::default(), line)
}

#[test]
fn an_entry_has_all_values() {
    let line = concat!(
        r#"{"__CURSOR":"s=1;i=2","__REALTIME_TIMESTAMP":"1714550400123456","__MONOTONIC_TIMESTAMP":"7","#,
        r#""_BOOT_ID":"ab12","PRIORITY":"3","_UID":"0","_PID":"812","_COMM":"sshd-session","#,
        r#""SYSLOG_IDENTIFIER":"sshd","_SYSTEMD_UNIT":"ssh.service","_HOSTNAME":"web1","#,
        r#""_SOURCE_REALTIME_TIMESTAMP":"1714550400000000","MESSAGE":"error: \"a\"\nb"}"#,
        "\n"
    );
    let expected = [
        "cursor=s=1;i=2",
        "date=2024-05-01T08:00:00.123456Z",
        "boot=ab12",
        "severity=err",
        "uid=0",
        "pid=812",
        "app=sshd",
        "unit=ssh.service",
        "host=web1",
        "message=error: \"a\"\nb",
    ];
    assert_eq!(read_new(line), (expected.map(String::from).to_vec(), vec![]));
}

#[test]
fn spare_members_are_used_if_the_first_ones_are_missing() {
    let mut reader = JournalReader::default();
    let line = r#"{"_COMM":"cron","_SOURCE_REALTIME_TIMESTAMP":"1000000","MESSAGE":"x"}"#;
    let expected = ["message=x", "date=1970-01-01T00:00:01Z", "app=cron"].map(String::from).to_vec();
    assert_eq!(read(&mut reader, line), (expected.clone(), vec![]));
    let other = r#"{"_COMM":"a","SYSLOG_IDENTIFIER":"b","__REALTIME_TIMESTAMP":"0"}"#;
    assert_eq!(read(&mut reader, other).0, ["app=b", "date=1970-01-01T00:00:00Z"]);
    assert_eq!(read(&mut reader, line), (expected, vec![]));
    let no_date = r#"{"SYSLOG_IDENTIFIER":"b"}"#;
    assert_eq!(read(&mut reader, no_date), (vec!["app=b".into()], vec!["entry without a date"]));
}

#[test]
fn messages_may_be_bytes_several_texts_or_missing() {
    let entry = |message: &str| format!(r#"{{"__REALTIME_TIMESTAMP":"0","MESSAGE":{message}}}"#);
    let left_out = "value that journalctl left out: its option --all writes it";
    for (message, expected, deviations) in [
        (r#""plain""#, &["plain"][..], &[][..]),
        (r#"[ 104, 105,10 ]"#, &["hi\n"], &[]),
        (r#"[27,91,255]"#, &["\u{1b}[\u{fffd}"], &["invalid UTF-8 is replaced"]),
        (r#"["a","b"]"#, &["a", "b"], &[]),
        (r#"[[104,105],"b",[99]]"#, &["hi", "b", "c"], &[]),
        (r#"[[104],null]"#, &["h"], &[left_out]),
        ("null", &[], &[left_out]),
        ("42", &["42"], &[]),
        ("[256]", &["256"], &[]),
        ("[1e1,true]", &["1e1", "true"], &[]),
        (r#""""#, &[], &[]),
        ("[]", &[], &[]),
    ] {
        let (found, odd) = read_new(&entry(message));
        let messages: Vec<&str> = found.iter().filter_map(|value| value.strip_prefix("message=")).collect();
        assert_eq!(messages, expected, "{message}");
        assert_eq!(odd, deviations, "{message}");
    }
}

#[test]
fn an_array_of_many_bytes_is_one_message() {
    let bytes = b"word ".repeat(20_000);
    let line = json!({"__REALTIME_TIMESTAMP": "0", "MESSAGE": bytes, "_PID": "7"}).to_string();
    let (found, odd) = read_new(&line);
    assert_eq!(found[1], format!("message={}", "word ".repeat(20_000)));
    assert_eq!((found.len(), found[2].as_str(), odd.len()), (3, "pid=7", 0));
}

#[test]
fn other_lines_are_their_message() {
    let not_json = "line that is not an object of JSON: all of it is the message";
    let no_entry = "object without members of a journal: all of it is the message";
    for (line, deviation) in [
        (r#"{"__REALTIME_TIMESTAMP":"17","MESSA"#, not_json),
        ("-- Reboot --", not_json),
        ("[1]", not_json),
        (r#"{"message":"x"}"#, no_entry),
        (r#"{"a":{"MESSAGE":"x"}}"#, no_entry),
        ("{}", no_entry),
    ] {
        assert_eq!(read_new(line), (vec![format!("message={line}")], vec![deviation]), "{line}");
    }
    let sequence = "\u{1e}{\"MESSAGE\":\"x\",\"__REALTIME_TIMESTAMP\":\"0\"}";
    assert_eq!(read_new(sequence).0, ["message=x", "date=1970-01-01T00:00:00Z"]);
    let odd = r#"{"PRIORITY":"9","__REALTIME_TIMESTAMP":"soon"}"#;
    let deviations = vec!["priority that is not 0 to 7", "date that cannot be read"];
    assert_eq!(read_new(odd), (vec!["severity=9".into(), "date=soon".into()], deviations));
    assert_eq!(JournalReader::default().read(b"\n", &mut MadeRecord::default()), Ok(false));
}

/// A random value of a member, and the texts that it stands for.
fn random_value(random: &mut fastrand::Rng) -> (Value, Vec<String>) {
    let text = |random: &mut fastrand::Rng| -> String {
        (0..random.usize(1..12))
            .map(|_| ['a', ' ', '"', '\\', '\n', 'ö', '😀', '7', '\u{1}'][random.usize(..9)])
            .collect()
    };
    match random.u8(..4) {
        0 => {
            let bytes = text(random).into_bytes();
            let lossy = String::from_utf8_lossy(&bytes).into_owned();
            (json!(bytes), vec![lossy])
        }
        1 => {
            let texts: Vec<String> = (0..random.usize(1..4)).map(|_| text(random)).collect();
            (json!(texts), texts)
        }
        _ => {
            let text = text(random);
            (json!(text), vec![text])
        }
    }
}

#[test]
fn random_entries_have_the_values_that_serde_json_finds() {
    const PLAIN: [(&str, &str); 7] = [
        ("_HOSTNAME", "host"),
        ("SYSLOG_IDENTIFIER", "app"),
        ("_SYSTEMD_UNIT", "unit"),
        ("_PID", "pid"),
        ("MESSAGE", "message"),
        ("__CURSOR", "cursor"),
        ("_BOOT_ID", "boot"),
    ];
    let mut random = fastrand::Rng::with_seed(seed());
    let mut reader = JournalReader::default();
    for _ in 0..rounds(20_000) {
        let mut object = Map::new();
        let mut expected = vec!["date=1970-01-01T00:00:05Z".to_owned()];
        object.insert("__REALTIME_TIMESTAMP".into(), json!("5000000"));
        for _ in 0..random.usize(1..12) {
            let (value, texts) = random_value(&mut random);
            let (member, name) = PLAIN[random.usize(..PLAIN.len())];
            if random.u8(..3) == 0 {
                object.insert(format!("X_{}", random.u16(..)), value);
            } else if object.insert(member.into(), value).is_none() {
                expected.extend(texts.iter().map(|text| format!("{name}={text}")));
            } else {
                // Two values of a member are one in this map.
                expected.retain(|found| !found.starts_with(&format!("{name}=")));
                expected.extend(texts.iter().map(|text| format!("{name}={text}")));
            }
        }
        let (mut found, odd) = read(&mut reader, &Value::Object(object).to_string());
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert!(odd.is_empty());
    }
}

#[test]
fn python_reads_the_same_messages() {
    let script = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)["MESSAGE"]
    if isinstance(message, list) and all(isinstance(byte, int) for byte in message):
        message = bytes(message).decode("utf-8", "replace")
    print(json.dumps(message if isinstance(message, list) else [message]))
"#;
    let mut random = fastrand::Rng::with_seed(seed());
    let lines: Vec<String> = (0..300)
        .map(|_| json!({"__REALTIME_TIMESTAMP": "1", "MESSAGE": random_value(&mut random).0}).to_string())
        .collect();
    let Some(output) = run_python(script, &lines.join("\n")) else {
        println!("SKIPPED: python3 is not installed");
        return;
    };
    let expected: Vec<Vec<String>> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), lines.len());
    for (line, expected) in lines.iter().zip(expected) {
        let found = read_new(line).0;
        let messages: Vec<&str> = found.iter().filter_map(|value| value.strip_prefix("message=")).collect();
        assert_eq!(messages, expected, "{line}");
    }
}

/// What a program in Python prints; None if there is no Python.
fn run_python(script: &str, input: &str) -> Option<String> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new("python3");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
