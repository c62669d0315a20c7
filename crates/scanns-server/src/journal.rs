//! The log: one JSON object a line, of requests and of events of the server.
//!
//! A thread writes it, so that a slow disk does not hold up answers; lines that wait are written together. If
//! more lines come than it can write, some are left out, and a line says how many. A file that was moved away
//! is opened again under its name, as programs that rotate logs expect.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::ServeError;
use crate::options::LogTarget;

/// Lines that may wait to be written.
const WAITING: usize = 16_384;

/// The number of bytes of waiting lines that are written together.
const TOGETHER: usize = 64 << 10;

/// The time between two looks whether the file was moved away.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The log of a server.
#[derive(Debug)]
pub struct Journal {
    lines: Option<SyncSender<LogMessage>>,
    left_out: AtomicU64,
}

#[derive(Debug)]
enum LogMessage {
    /// An object of JSON and a line feed.
    Line(Vec<u8>),
    /// Everything before must be written; then this is told.
    Flush(SyncSender<()>),
}

impl Journal {
    /// Begins a log.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn begin(target: &LogTarget) -> Result<Self, ServeError> {
        let out = match target {
            LogTarget::Off => {
                return Ok(Journal { lines: None, left_out: AtomicU64::new(0) });
            }
            LogTarget::StandardError => LogFile::StandardError,
            LogTarget::File(path) => LogFile::open(path)?,
        };
        let (lines, waiting) = sync_channel(WAITING);
        let writer = std::thread::Builder::new().name("log".into()).spawn(move || write(out, &waiting));
        writer.map_err(|source| ServeError::System { what: "start a thread", source })?;
        Ok(Journal { lines: Some(lines), left_out: AtomicU64::new(0) })
    }

    /// True if there is a log.
    pub fn is_kept(&self) -> bool {
        self.lines.is_some()
    }

    /// Adds a line, or counts that it was left out.
    pub fn line(&self, line: &impl Serialize) {
        let Some(lines) = &self.lines else { return };
        if lines.try_send(message(line)).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            let what = format!("{left_out} lines were left out, because the log is written too slowly");
            if lines.try_send(message(&event("warning", &what))).is_err() {
                self.left_out.fetch_add(left_out, Ordering::Relaxed);
            }
        }
    }

    /// Adds an event of the server: `info`, `warning` or `error`.
    pub fn event(&self, level: &str, what: &str) {
        self.line(&event(level, what));
    }

    /// Waits until everything that was added is written, for a few seconds.
    pub fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (written, wait) = sync_channel(1);
        if lines.try_send(LogMessage::Flush(written)).is_ok() {
            let _ = wait.recv_timeout(Duration::from_secs(2));
        }
    }
}

fn message(line: &impl Serialize) -> LogMessage {
    let mut text = Vec::with_capacity(512);
    // Only maps with keys that are no texts cannot be written, and no line has one.
    if serde_json::to_writer(&mut text, line).is_err() {
        text.clear();
    }
    text.push(b'\n');
    LogMessage::Line(text)
}

fn event(level: &str, what: &str) -> Value {
    json!({ "time": now(), "level": level, "event": what })
}

/// The time as text.
pub fn now() -> String {
    jiff::Timestamp::now().to_string()
}

enum LogFile {
    StandardError,
    File { path: PathBuf, file: File, identity: (u64, u64), looked: Instant },
}

impl LogFile {
    fn open(path: &Path) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Log { path: path.to_owned(), source };
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let identity = (found.dev(), found.ino());
        Ok(LogFile::File { path: path.to_owned(), file, identity, looked: Instant::now() })
    }

    /// Opens the file again if it was moved away.
    fn follow(&mut self) {
        let LogFile::File { path, identity, looked, .. } = self else { return };
        if looked.elapsed() < LOOK_EVERY {
            return;
        }
        *looked = Instant::now();
        let found = std::fs::metadata(&*path).map(|found| (found.dev(), found.ino()));
        if found.ok() != Some(*identity)
            && let Ok(opened) = LogFile::open(path)
        {
            *self = opened;
        }
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            LogFile::StandardError => io::stderr().lock().write_all(lines),
            LogFile::File { file, .. } => file.write_all(lines),
        }
    }
}

/// Writes lines until no more can come. If the log cannot be written, standard error says so once, and the
/// server goes on.
fn write(mut out: LogFile, lines: &Receiver<LogMessage>) {
    let (mut is_told, mut text) = (false, Vec::new());
    while let Ok(first) = lines.recv() {
        out.follow();
        let mut flush = None;
        for message in std::iter::once(first).chain(lines.try_iter()) {
            match message {
                LogMessage::Line(line) => text.extend_from_slice(&line),
                LogMessage::Flush(wanted) => flush = Some(wanted),
            }
            if text.len() >= TOGETHER || flush.is_some() {
                break;
            }
        }
        match out.write(&text) {
            Ok(()) => is_told = false,
            Err(error) if !is_told => {
                is_told = true;
                let what = format!("the log cannot be written: {error}");
                let _ = writeln!(io::stderr(), "{}", event("error", &what));
            }
            Err(_) => {}
        }
        text.clear();
        if let Some(flush) = flush {
            let _ = flush.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn lines_go_to_the_file_of_the_name_even_if_it_was_moved() {
        let place = tempfile::tempdir().unwrap();
        let (path, moved) = (place.path().join("log"), place.path().join("log.1"));
        let journal = Journal::begin(&LogTarget::File(path.clone())).unwrap();
        journal.event("info", "one");
        while lines(&path).is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::rename(&path, &moved).unwrap();
        std::thread::sleep(LOOK_EVERY + Duration::from_millis(50));
        journal.event("info", "two");
        journal.line(&json!({ "a": "\n\u{1b}[31m" }));
        journal.flush();
        assert_eq!(lines(&moved)[0]["event"], "one");
        let rest = lines(&path);
        assert_eq!((rest[0]["event"].as_str(), rest.len()), (Some("two"), 2));
        assert!(rest[0]["time"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn lines_that_are_left_out_are_counted() {
        let (lines, waiting) = sync_channel(1);
        let journal = Journal { lines: Some(lines), left_out: AtomicU64::new(0) };
        for number in 0..4 {
            journal.line(&json!(number));
        }
        assert!(matches!(waiting.recv(), Ok(LogMessage::Line(line)) if line == b"0\n"));
        journal.line(&json!(4));
        assert!(matches!(waiting.recv(), Ok(LogMessage::Line(line)) if line == b"4\n"));
        assert_eq!(journal.left_out.load(Ordering::Relaxed), 3, "there was no place for the note, either");
        let missing = LogTarget::File("/no/such/directory/log".into());
        assert!(Journal::begin(&missing).unwrap_err().to_string().contains("/no/such/directory/log"));
    }
}
