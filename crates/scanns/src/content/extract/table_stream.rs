//! A table as a stream of JSON Lines: a child process of this program converts it, and a pipe brings the
//! lines.
//!
//! The parsers of tables are other people's, so they run apart. What the child wrote before it failed is read
//! first; then the reader returns an error with the reason, once.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Error, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::child::ConfinedChild;
use super::exchange::LOOK;

/// Bytes of lines that a table may always have.
const ALWAYS_ALLOWED: u64 = 4 << 30;

/// How many bytes of lines a larger table may have for each of its own. A line repeats the names of all
/// columns, and a column with one value takes no room in a table, so this is more than for compressed files.
const MOST_RATIO: u64 = 10_000;

/// Bytes of the pipe, which let the child go on while the engine works.
const PIPE: usize = 1 << 20;

/// How tables of Parquet and Arrow are converted: by a program that reads one at its standard input and
/// writes JSON Lines, such as `scanns extract --rows`.
#[derive(Clone, Debug)]
pub struct TableConverter {
    /// The program, such as `/proc/self/exe`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Seconds without any byte after which a child counts as stuck.
    pub seconds: u64,
}

/// Takes what a child says about values that it left out.
pub(crate) type TakeRemark = Box<dyn FnOnce(String) + Send>;

/// The rows of a table as JSON Lines. Dropping it ends the child.
pub(crate) struct TableStream {
    /// `None` after the end.
    child: Option<ConfinedChild>,
    pipe: ChildStdout,
    size: u64,
    given: u64,
    seconds: u64,
    cancel: Arc<AtomicBool>,
    take_remark: TakeRemark,
}

impl TableStream {
    /// Starts to convert `file`, and reads until `cancel` is set. The child gets the descriptor: it should be
    /// opened for reading only and for this stream only, since the child moves its position.
    ///
    /// # Errors
    /// The child cannot be started.
    pub(crate) fn start(
        converter: &TableConverter,
        file: File,
        cancel: Arc<AtomicBool>,
        take_remark: TakeRemark,
    ) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let mut command = Command::new(&converter.program);
        command.args(&converter.arguments).stdin(Stdio::from(file)).stdout(Stdio::piped());
        let started = ConfinedChild::start(&mut command);
        let (child, pipe) = started
            .map_err(|error| Error::new(error.kind(), format!("cannot convert the table: {error}")))?;
        let pipe = pipe.ok_or_else(|| Error::other("the process that converts the table has no output"))?;
        // A smaller pipe is only slower.
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE);
        let seconds = converter.seconds.min(1 << 32);
        Ok(Self { child: Some(child), pipe, size, given: 0, seconds, cancel, take_remark })
    }

    /// Waits until the pipe can be read, and reads the child's messages meanwhile.
    fn wait(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(self.seconds);
        let Some(child) = &mut self.child else { return Ok(()) };
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Error::other("the build was stopped before the end of the table"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let what = format!("converting the table took {} s without a row", self.seconds);
                return Err(Error::new(ErrorKind::TimedOut, what));
            }
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.min(LOOK).subsec_nanos()) };
            let of_lines = PollFd::new(&self.pipe, PollFlags::IN);
            let polled = match child.message_source() {
                Some(stderr) => {
                    let mut both = [of_lines, PollFd::new(stderr, PollFlags::IN)];
                    poll(&mut both, Some(&timeout)).map(|_| both.map(|one| !one.revents().is_empty()))
                }
                None => {
                    let mut one = [of_lines];
                    poll(&mut one, Some(&timeout)).map(|_| {
                        let [lines] = one;
                        [!lines.revents().is_empty(), false]
                    })
                }
            };
            match polled {
                Ok([lines, message]) => {
                    if message {
                        child.read_message();
                    }
                    if lines {
                        return Ok(());
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Collects the child after its last line.
    fn end(&mut self) -> io::Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let status = child.finish();
        let message = child.message();
        let invalid = |what: String| Err(Error::new(ErrorKind::InvalidData, what));
        match status {
            Some(status) if status.success() => {
                if !message.is_empty() {
                    let take = std::mem::replace(&mut self.take_remark, Box::new(|_| {}));
                    take(message);
                }
                Ok(())
            }
            _ if message.contains("memory allocation of ") => {
                invalid(format!("the table needs too much memory: {message}"))
            }
            Some(status) if status.code() == Some(1) && !message.is_empty() => invalid(message),
            Some(status) if message.is_empty() => invalid(format!("converting the table failed ({status})")),
            Some(status) => invalid(format!("converting the table failed ({status}): {message}")),
            None => invalid("the process that converts the table closed its output and went on".to_owned()),
        }
    }

    fn check_size(&self) -> io::Result<()> {
        if self.given > ALWAYS_ALLOWED && self.given / MOST_RATIO > self.size {
            let what = format!(
                "its rows expand to more than {MOST_RATIO} times its size; make JSON Lines of it yourself if \
                 you trust it"
            );
            return Err(Error::new(ErrorKind::InvalidData, what));
        }
        Ok(())
    }
}

impl Read for TableStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.child.is_none() {
            return Ok(0);
        }
        let got = self.wait().and_then(|()| match self.pipe.read(buffer)? {
            0 => self.end().map(|()| 0),
            got => {
                self.given += got as u64;
                self.check_size().map(|()| got)
            }
        });
        if got.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
            // After an error there is nothing more.
            self.child = None;
        }
        got
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A stream of what a script of the shell writes.
    fn stream_of(script: &str, cancel: bool, take_remark: TakeRemark) -> TableStream {
        let arguments = vec!["-c".into(), script.into()];
        let converter = TableConverter { program: "/bin/sh".into(), arguments, seconds: 1 };
        let file = tempfile::tempfile().unwrap();
        TableStream::start(&converter, file, Arc::new(AtomicBool::new(cancel)), take_remark).unwrap()
    }

    /// What a script writes, and the error behind it.
    fn read(script: &str) -> (String, Option<String>) {
        let mut stream = stream_of(script, false, Box::new(|remark| panic!("{remark}")));
        let mut lines = Vec::new();
        let error = stream.read_to_end(&mut lines).err();
        assert_eq!(stream.read(&mut [0; 10]).unwrap(), 0, "the error comes once");
        (String::from_utf8(lines).unwrap(), error.map(|error| error.to_string()))
    }

    #[test]
    fn an_error_comes_after_the_lines_and_has_the_reason() {
        let (lines, error) = read("echo '{}'; echo 'damaged Arrow after 1 rows: x' >&2; exit 1");
        assert_eq!((lines.as_str(), error.as_deref()), ("{}\n", Some("damaged Arrow after 1 rows: x")));
        let (lines, error) = read("echo '{}'; echo 'the parser panicked' >&2; kill -ABRT $$");
        let error = error.unwrap();
        assert_eq!(lines, "{}\n");
        assert!(error.contains("signal: 6") && error.ends_with(": the parser panicked"), "{error}");
        let (_, error) = read("echo 'memory allocation of 99 bytes failed' >&2; exit 134");
        assert!(error.unwrap().starts_with("the table needs too much memory: "));
        assert_eq!(read("echo '{}'"), ("{}\n".to_owned(), None));
    }

    #[test]
    fn many_messages_do_not_stop_the_lines_and_their_end_is_a_remark() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 'a warning of some length, again and again' >&2; \
                      i=$((i+1)); done; echo '{}'";
        let (sender, remarks) = mpsc::channel();
        let mut stream = stream_of(script, false, Box::new(move |remark| sender.send(remark).unwrap()));
        let mut lines = String::new();
        stream.read_to_string(&mut lines).unwrap();
        assert_eq!(lines, "{}\n");
        assert!(remarks.recv().unwrap().ends_with("again and again"));
    }

    #[test]
    fn a_child_that_hangs_ends_with_an_error_with_the_reader_or_with_the_build() {
        let start = Instant::now();
        assert!(read("sleep 600").1.unwrap().contains("1 s without a row"));
        drop(stream_of("sleep 600", false, Box::new(|_| {})));
        let stopped = stream_of("sleep 600", true, Box::new(|_| {})).read(&mut [0; 10]);
        assert!(stopped.unwrap_err().to_string().contains("the build was stopped"));
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_program_that_is_missing_is_an_error_at_once() {
        let program = PathBuf::from("/nonexistent/program");
        let converter = TableConverter { program, arguments: Vec::new(), seconds: 1 };
        let file = tempfile::tempfile().unwrap();
        let error = TableStream::start(&converter, file, Arc::default(), Box::new(|_| {})).err();
        assert!(error.unwrap().to_string().starts_with("cannot convert the table: "));
    }
}
