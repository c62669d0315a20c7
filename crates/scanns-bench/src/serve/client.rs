//! A client of one connection to a Unix socket, which keeps it, and the server that it asks.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// `scanns serve` in a process of its own. It ends with this value.
pub(super) struct Served {
    process: Child,
    /// The socket.
    pub socket: PathBuf,
}

impl Served {
    /// Starts the program for an index, with more options, and waits until it listens.
    pub(super) fn start(program: &Path, index: &Path, place: &Path, options: &[&str]) -> Result<Self> {
        let socket = place.join("bench.sock");
        let mut command = Command::new(program);
        command.arg("serve").arg("--socket").arg(&socket).args(["--log", "none"]).args(options).arg(index);
        let mut process = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut link = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out).read_line(&mut link)?;
        }
        ensure!(link.contains("http+unix"), "the server printed no link: {link:?}");
        Ok(Served { process, socket })
    }

    /// The processor time that the server has taken.
    pub(super) fn processor_time(&self) -> Result<Duration> {
        let mut total = 0_u64;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            total += text.split(' ').next().and_then(|time| time.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(total))
    }

    /// The most memory that the server has held, in KiB.
    pub(super) fn peak_memory(&self) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(id) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, Signal::TERM);
        }
        let _ = self.process.wait();
    }
}

/// An answer without its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// From the first byte of the request to the last one of the answer.
    pub time: Duration,
}

/// A connection that is kept.
pub(super) struct Client {
    stream: BufReader<UnixStream>,
    line: Vec<u8>,
    /// The text of the last answer.
    pub text: Vec<u8>,
}

impl Client {
    pub(super) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Client { stream: BufReader::with_capacity(64 << 10, stream), line: Vec::new(), text: Vec::new() })
    }

    /// Sends a request and reads its answer.
    pub(super) fn get(&mut self, target: &str) -> Result<HttpAnswer> {
        let begin = Instant::now();
        self.send(target)?;
        let (status, length) = self.head()?;
        match length {
            Some(length) => {
                self.text.resize(length, 0);
                self.stream.read_exact(&mut self.text)?;
            }
            None => self.chunks()?,
        }
        Ok(HttpAnswer { status, time: begin.elapsed() })
    }

    /// Sends a request and does not wait for the answer.
    pub(super) fn send(&mut self, target: &str) -> Result<()> {
        let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes())?;
        Ok(())
    }

    /// The status and the length of the text, if the head says it.
    fn head(&mut self) -> Result<(u16, Option<usize>)> {
        let (mut status, mut length) = (None, None);
        loop {
            self.line.clear();
            self.stream.read_until(b'\n', &mut self.line)?;
            let line = String::from_utf8_lossy(&self.line);
            let line = line.trim_end();
            if status.is_none() {
                let number = line.split(' ').nth(1).and_then(|number| number.parse().ok());
                status = Some(number.with_context(|| format!("no status: {line:?}"))?);
            } else if line.is_empty() {
                return Ok((status.unwrap_or_default(), length));
            } else if let Some(value) = line.strip_prefix("content-length: ") {
                length = Some(value.parse()?);
            }
        }
    }

    fn chunks(&mut self) -> Result<()> {
        self.text.clear();
        loop {
            self.line.clear();
            self.stream.read_until(b'\n', &mut self.line)?;
            let size = String::from_utf8_lossy(&self.line);
            let Ok(size) = usize::from_str_radix(size.trim(), 16) else { bail!("no chunk: {size:?}") };
            let before = self.text.len();
            self.text.resize(before + size, 0);
            self.stream.read_exact(self.text.get_mut(before..).unwrap_or_default())?;
            self.line.clear();
            self.stream.read_until(b'\n', &mut self.line)?;
            if size == 0 {
                return Ok(());
            }
        }
    }
}

/// A text as a part of a query of a URL.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
