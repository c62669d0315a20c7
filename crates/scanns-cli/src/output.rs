//! Standard output: buffered, with a look, and through a pager if it is long and goes to a terminal. A file
//! can take its place.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use signal_hook::consts::SIGINT;

use crate::args::DisplayArgs;
use crate::quoting::quoted;
use crate::terminal::{self, Look};
use crate::whole_file;

/// Standard output.
pub struct Output {
    sink: Sink,
    terminal: bool,
    look: Look,
}

/// Where the bytes go.
enum Sink {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// Less than a page so far, which may become long enough for a pager.
    Page(ShortText),
    Pager(Pager),
    /// A file in place of standard output.
    File(BufWriter<File>),
}

struct ShortText {
    out: StdoutLock<'static>,
    bytes: Vec<u8>,
    /// The number of lines that still fit on the page.
    lines_left: usize,
}

/// A running pager. The text after a user has left it is dropped.
struct Pager {
    input: Option<BufWriter<ChildStdin>>,
    child: Child,
}

/// True if standard output was closed before the program began.
///
/// The runtime of Rust opens `/dev/null` in its place before `main`, so everything would seem to be written.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Functions in this section run before the runtime of Rust begins.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    let has = |path: &str| std::fs::symlink_metadata(path).is_ok();
    WAS_CLOSED.store(has("/proc/self/fd") && !has("/proc/self/fd/1"), Ordering::Relaxed);
}

/// Returns an error if standard output is closed.
pub fn ensure_open() -> io::Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("cannot write to standard output: it is closed"));
    }
    Ok(())
}

/// An error of standard output that says so. The kind tells whether a reader has ended.
fn fault(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
}

/// Writes a whole file or, for `-`, standard output. A file is replaced as a whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.as_os_str() == "-" {
        let mut out = Output::stdout();
        out.write_all(bytes)?;
        return out.flush();
    }
    whole_file::replace(path, bytes)
}

impl Output {
    /// Standard output, without colours, links and pages.
    pub fn stdout() -> Self {
        let out = io::stdout().lock();
        let terminal = out.is_terminal();
        Output { sink: stdout(out), terminal, look: Look::default() }
    }

    /// A file in place of standard output.
    pub fn file(file: File) -> Self {
        let sink = Sink::File(BufWriter::with_capacity(64 << 10, file));
        Output { sink, terminal: false, look: Look::default() }
    }

    /// Standard output as requested.
    pub fn with(args: &DisplayArgs) -> Self {
        let plain = Output::stdout();
        Output { look: Look::of(args, plain.terminal), ..plain }.paged(!args.no_pager)
    }

    /// Standard output that goes through a pager if it is a terminal, and the text longer than a page.
    #[must_use]
    pub fn paged(self, wanted: bool) -> Self {
        match self.sink {
            Sink::Stdout(out) if wanted && self.terminal && pager().is_some() => {
                let (out, _) = out.into_parts();
                let page = ShortText { out, bytes: Vec::new(), lines_left: terminal::height() - 1 };
                Output { sink: Sink::Page(page), ..self }
            }
            sink => Output { sink, ..self },
        }
    }

    /// True if standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// How to show text.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// Writes a key, a term or a path, quoted if necessary.
    pub fn quoted(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(quoted(bytes).as_bytes())
    }

    /// Writes a key unchanged and ends it with a NUL byte, as `xargs -0` reads it.
    pub fn with_nul(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        self.write_all(b"\0")
    }

    /// Writes `value` as one line.
    pub fn json(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self, "{value}")
    }

    /// Writes what is buffered, and waits until the user has left the pager.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        if let Sink::Pager(pager) = &mut self.sink {
            pager.wait();
        }
        Ok(())
    }
}

/// The command of the pager; `None` if none is wanted.
fn pager() -> Option<OsString> {
    let pager = std::env::var_os("PAGER").unwrap_or_else(|| "less".into());
    Some(pager).filter(|pager| !pager.is_empty() && pager != "cat")
}

impl ShortText {
    /// Starts a pager for the page and what follows; `None` if there is none.
    fn pager(&mut self) -> Option<Pager> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(pager()?).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        // Ctrl-C is for the pager. If this process ended, the shell and the pager would share the terminal.
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false))).ok()?;
        let mut child = command.spawn().ok()?;
        let mut input = BufWriter::new(child.stdin.take()?);
        // A pager that ends at once fails with the next write.
        let _ = input.write_all(&std::mem::take(&mut self.bytes));
        Some(Pager { input: Some(input), child })
    }
}

impl Drop for ShortText {
    /// Writes what an error has left behind.
    fn drop(&mut self) {
        let _ = self.out.write_all(&self.bytes);
    }
}

impl Pager {
    fn wait(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        self.wait();
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Sink::File(out) = &mut self.sink {
            return out.write(bytes);
        }
        ensure_open()?;
        match &mut self.sink {
            Sink::File(out) => out.write(bytes),
            Sink::Stdout(out) => out.write(bytes).map_err(fault),
            Sink::Pager(pager) => match &mut pager.input {
                Some(input) => input.write(bytes),
                None => Ok(bytes.len()),
            },
            Sink::Page(page) => {
                page.bytes.extend_from_slice(bytes);
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                match page.lines_left.checked_sub(lines) {
                    Some(left) => page.lines_left = left,
                    None => match page.pager() {
                        Some(pager) => self.sink = Sink::Pager(pager),
                        None => self.flush()?,
                    },
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush().map_err(fault),
            Sink::File(out) => out.flush(),
            Sink::Pager(pager) => pager.input.as_mut().map_or(Ok(()), BufWriter::flush),
            Sink::Page(page) => {
                let bytes = std::mem::take(&mut page.bytes);
                page.out.write_all(&bytes)?;
                page.out.flush()?;
                // A text that is written in parts is not paged.
                self.sink = stdout(io::stdout().lock());
                Ok(())
            }
        }
    }
}

fn stdout(out: StdoutLock<'static>) -> Sink {
    Sink::Stdout(BufWriter::with_capacity(64 << 10, out))
}
