//! Mail that Python makes and reads must be read as Python reads it.

use super::*;
use crate::record::corpus::test_support::values;
use crate::record::test_ends::{records, seed};
use std::process::Command;

/// Writes an mbox with random messages and prints a line for each: sender, subject, date, text, attachments.
const SCRIPT: &str = r##"
import email, email.policy, mailbox, random, re, sys
from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
random.seed(int(sys.argv[1]))
WORDS = ["mail", "Grüße", "naïve", "x=y", "From", "x>Fro", "日本語", "a?b", "c_d", "=?", "🦀", "."]
WORDS.append("l" * 90)
def words(most):
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, most)))
def text():
    lines = [random.choice(["", words(9), "From " + words(3)]) for _ in range(random.randint(1, 9))]
    return "\n".join(lines) + "\n"
def make():
    m = EmailMessage(policy=email.policy.default)
    m["From"] = random.choice(["a@b.org", "Jörg <j@x.org>", "A B <a@b.org>"])
    m["Subject"] = words(12).replace("=?", "?")
    zone = timezone(timedelta(minutes=random.randint(-720, 720)))
    m["Date"] = datetime.fromtimestamp(random.randint(-10**9, 4 * 10**9), zone)
    cte = random.choice(["base64", "quoted-printable", "8bit"])
    m.set_content(text(), cte=cte)
    if random.random() < .4:
        m.add_alternative("<p>" + text() + "</p>", subtype="html")
    for _ in range(random.choice([0, 0, 1, 2])):
        name = random.choice(["a.png", "ä ö.png"])
        m.add_attachment(b"data", maintype="image", subtype="png", filename=name)
    if random.random() < .2:
        m.add_attachment(make(), filename="inner")
    return m
def leaves(m):
    kind = m.get_content_type()
    if kind == "multipart/alternative":
        yield from leaves(m.get_payload(0))
    elif m.is_multipart():
        for part in m.get_payload():
            yield from leaves(part)
    else:
        yield m
box = mailbox.mbox(sys.argv[2])
for _ in range(60):
    data = make().as_bytes(policy=email.policy.default.clone(linesep=random.choice(["\n", "\r\n"])))
    box.add(data)
    m = email.message_from_bytes(data, policy=email.policy.default)
    date = m["date"].datetime.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = list(leaves(m))
    texts = [p.get_content() for p in parts if p.get_content_type() == "text/plain"]
    names = [p.get_filename() for p in parts if p.get_filename()]
    row = [m["from"], m["subject"], date, "\n".join(texts), "\n".join(names)]
    print("\t".join(" ".join(str(field).split()).encode().hex() for field in row))
box.close()
assert len(mailbox.mbox(sys.argv[2])) == 60
"##;

fn value(made: &[String], name: &str) -> String {
    let prefix = format!("{name}=");
    let values: Vec<&str> = made.iter().filter_map(|value| value.strip_prefix(&prefix)).collect();
    values.join("\n").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn from_hex(hex: &str) -> String {
    let mut bytes = Vec::new();
    transfer::push_hex_escapes(
        hex.as_bytes().chunks(2).flat_map(|pair| [b'%', pair[0], pair[1]]).collect::<Vec<_>>().as_slice(),
        b'%',
        &mut bytes,
    );
    String::from_utf8(bytes).unwrap()
}

#[test]
fn mail_made_by_python_is_read_as_python_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("box");
    let run = Command::new("python3").arg("-c").arg(SCRIPT).arg(seed().to_string()).arg(&path).output();
    let Ok(output) = run else {
        println!("SKIPPED: no python3");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&path).unwrap();
    let (mut ends, mut reader, mut made) = (MboxEnds::new(), MboxReader::default(), MadeRecord::default());
    let found = records(&bytes, &mut |bytes, is_end| ends.next_end(bytes, is_end));
    let expected = String::from_utf8(output.stdout).unwrap();
    assert_eq!(found.len(), expected.lines().count());
    for (record, line) in found.iter().zip(expected.lines()) {
        assert_eq!(reader.read(record, &mut made), Ok(true));
        let read = values(&MboxReader::NAMES, &made);
        let names = ["from", "subject", "date", "text", "attachment"];
        for (name, hex) in names.iter().zip(line.split('\t')) {
            assert_eq!(value(&read, name), from_hex(hex), "{name} of {}", String::from_utf8_lossy(record));
        }
    }
}
