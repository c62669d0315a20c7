//! Changed lines and long nonsense, for all readers of logs.

use super::test_support::{mutate, rounds};
use super::{AccessReader, JournalReader, LogKind, SyslogReader};
use crate::record::made_record::MadeRecord;
use crate::record::test_ends::seed;
use std::time::{Duration, Instant};

const LINES: [&str; 9] = [
    "a.org:80 192.0.2.1 - ada l [01/May/2024:10:00:00 +0200] \"GET /a\\\"b HTTP/1.1\" 200 5 \"r\" \"M\" 7\n",
    "::1 - - [2024-05-01T10:00:00Z] \"\\x16\\x03\" 400 -\r\n",
    "<34>Oct 11 22:14:15 web1 su[12]: 'su root' failed\n",
    "May  1 2019 10:00:00: %ASA-6-1: x\n",
    "<165>1 2003-08-24T05:14:15.000003-07:00 h p 8 I [a@1 b=\"c\\]\"][d] \u{feff}x\n",
    "Wed 2024-05-01 10:00:00.5 CEST web1 kernel: [ 1.2] x\n",
    "1714557600.000001 web1 app[1]: x\n",
    "{\"__REALTIME_TIMESTAMP\":\"17\",\"_COMM\":\"a\",\"MESSAGE\":[104,[105,\"\\u00e4\"],null]}\n",
    "\u{1e}{\"__CURSOR\":\"s\",\"_PID\":1,\"MESSAGE\":\"x\\ny\"}\n",
];

const WORDS: [&[u8]; 16] = [
    b"] \"",
    b" [",
    b"\" ",
    b"\\x",
    b"\\",
    b"<0>",
    b"<191>1 ",
    b" - ",
    b"]: ",
    b"[1]",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
    b"99999999999999999999",
    b"\"MESSAGE\":",
    b"May 31 ",
];

/// All readers of logs.
struct AllReaders {
    access: AccessReader,
    syslog: SyslogReader,
    journal: JournalReader,
    made: MadeRecord,
}

impl AllReaders {
    fn new() -> Self {
        AllReaders {
            access: AccessReader::default(),
            syslog: SyslogReader::new(1_714_557_600),
            journal: JournalReader::default(),
            made: MadeRecord::default(),
        }
    }

    /// Reads a line in every way: a line that is not blank is a document with values.
    fn read(&mut self, line: &[u8]) {
        let found = [
            self.access.read(line, &mut self.made).map(|found| found && self.made.values().count() > 0),
            self.syslog.read(line, &mut self.made).map(|found| found && self.made.values().count() > 0),
            self.journal.read(line, &mut self.made),
        ];
        assert!(std::str::from_utf8(self.made.bytes()).is_ok());
        let is_blank = found[0] == Ok(false);
        assert!(found.iter().all(|found| *found == Ok(!is_blank)), "{found:?} for {}", line.escape_ascii());
        LogKind::detect(line);
    }
}

#[test]
fn changed_lines_are_read_without_a_loss_or_a_panic() {
    let mut random = fastrand::Rng::with_seed(seed());
    let mut readers = AllReaders::new();
    for round in 0..rounds(100_000) {
        let line = LINES[round % LINES.len()].as_bytes();
        readers.read(&mutate(line, &mut random, &WORDS));
    }
}

#[test]
fn text_of_access_logs_is_the_line_however_it_is_changed() {
    let mut random = fastrand::Rng::with_seed(seed());
    let (mut reader, mut made) = (AccessReader::default(), MadeRecord::default());
    for round in 0..rounds(20_000) {
        let line = mutate(LINES[round % LINES.len()].as_bytes(), &mut random, &WORDS);
        if reader.read(&line, &mut made) == Ok(true) {
            let (_, place) = made.values().last().unwrap();
            let lossy = String::from_utf8_lossy(&line);
            let text = lossy.trim_start_matches('\u{feff}').trim_start_matches('\0');
            let text = text.strip_suffix('\n').unwrap_or(text);
            let text = text.strip_suffix('\r').unwrap_or(text);
            assert_eq!(std::str::from_utf8(&made.bytes()[place]).unwrap(), text);
            let is_replaced = reader.deviations().contains(&"invalid UTF-8 is replaced");
            assert_eq!(is_replaced, std::str::from_utf8(&line).is_err(), "{}", line.escape_ascii());
        }
    }
}

#[test]
fn long_nonsense_takes_linear_time() {
    let mut random = fastrand::Rng::with_seed(seed());
    let marks = [
        "[",
        "]",
        " [",
        "] \"",
        "\"",
        "\\",
        "\\\"",
        "\" ",
        " ",
        ":",
        "a:",
        "-",
        "<",
        "<1>",
        "[a]",
        "[a b=\"",
        "\\x4",
        "1,",
        "[1,",
        "\"MESSAGE\":",
        "{",
        "May  1 10:00:00 ",
        "[01/May/2024:10:00:00 +0000] ",
        "x",
        "\u{1}",
        "é",
        "\0",
    ];
    let starts = [
        "",
        "h - - [01/May/2024:10:00:00 +0000] \"",
        "h - - ",
        "<0>1 - h a - - ",
        "May  1 10:00:00 ",
        "{\"MESSAGE\":[",
        "{\"MESSAGE\":\"",
        "{\"_PID\":   ",
    ];
    let mut readers = AllReaders::new();
    for round in 0..rounds(200) {
        let mut line = starts[round % starts.len()].to_owned();
        let mark: String = (0..random.usize(1..4)).map(|_| marks[random.usize(..marks.len())]).collect();
        line.push_str(&mark.repeat((1 << 17) / mark.len()));
        let start = Instant::now();
        readers.read(line.as_bytes());
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(2),
            "{took:?} for {:?} and {mark:?}",
            starts[round % starts.len()]
        );
    }
}
