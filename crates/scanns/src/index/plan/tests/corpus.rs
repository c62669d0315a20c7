use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fastrand::Rng;

use crate::schema::Records;

fn words(random: &mut Rng, most: usize) -> String {
    let words: Vec<String> = (0..random.usize(1..=most)).map(|_| format!("w{}", random.u32(..60))).collect();
    words.join(" ")
}

/// A record of a kind, with a few flaws.
fn record(records: Records, random: &mut Rng, number: usize) -> String {
    let text = words(random, 12);
    let flawed = random.u32(..25) == 0;
    match records {
        Records::File | Records::Lines => text + "\n",
        Records::Jsonl if flawed => "{\"text\": \n".into(),
        Records::Jsonl => format!("{{\"text\": \"{text}\", \"number\": {number}}}\n"),
        Records::Csv if random.u32(..9) == 0 => format!("\"{text}\n\"\"{text}\"\"\",{number}\n"),
        Records::Csv if flawed => format!("\"{text}\" stray,{number}\n"),
        Records::Csv => format!("{text},{number}\n"),
        Records::Warc => {
            let body = format!("{text}\n").repeat(random.usize(1..9));
            let kind = if random.u32(..6) == 0 { "metadata" } else { "resource" };
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://example.org/{number}\r\n\
                 Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
                body.len()
            )
        }
        Records::Mbox => {
            format!("From ada Sat Jan  3 01:05:34 1996\nFrom: ada\nSubject: {number}\n\n{text}\n\n")
        }
        Records::Trec => format!("<DOC>\n<DOCNO>d{number}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>\n"),
        Records::Access => {
            let day = 1 + number % 28;
            format!("192.0.2.1 - ada [{day:02}/May/2024:10:00:00 +0200] \"GET /{number} HTTP/1.1\" 200 5\n")
        }
        Records::Syslog if random.u32(..5) == 0 => format!("   {text}\n"),
        _ => format!("Jan  3 01:05:34 host program[{number}]: {text}\n"),
    }
}

fn text(records: Records, random: &mut Rng, len: usize) -> String {
    let mut text = String::new();
    if records == Records::Csv {
        text.push_str("text,number\n");
    }
    if records == Records::Syslog {
        text.push_str("Jan  3 01:05:34 host program[0]: first\n");
    }
    let mut number = 0;
    while text.len() < len {
        number += 1;
        write!(text, "{}", record(records, random, number)).unwrap();
    }
    if random.bool() && records != Records::Warc {
        text.truncate(text.trim_end().len());
    }
    text
}

/// Writes files of records below `root`, some of them large, and some compressed.
pub(super) fn write_corpus(root: &Path, records: Records, random: &mut Rng) {
    for directory in 0..random.usize(1..5) {
        let place = root.join(format!("d{directory}"));
        fs::create_dir_all(&place).unwrap();
        for file in 0..random.usize(1..6) {
            let most = if records == Records::File { 3_000 } else { [3_000, 20_000][random.usize(..2)] };
            let len = random.usize(1..most);
            let mut bytes = text(records, random, len).into_bytes();
            let mut name = format!("f{file}.txt");
            if random.u32(..6) == 0 {
                bytes = zstd::stream::encode_all(&bytes[..], 1).unwrap();
                name.push_str(".zst");
            }
            fs::write(place.join(name), bytes).unwrap();
        }
    }
    // At least one that is large.
    let large = text(records, random, if records.have_fields() { 250_000 } else { 60_000 });
    fs::write(root.join("d0/large.txt"), large).unwrap();
}
