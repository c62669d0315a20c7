//! One child process: how it starts, and how it ends for certain.
//!
//! A child leads its own process group, so an interrupt from the terminal does not reach it, and the programs
//! that it started end with it. The group is killed before the child is waited for: until then no other
//! process can get its number. A child that the kernel cannot end (a read from a network file system that
//! hangs) is left to a thread.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::failure::printable;
use super::{ExtractFailure, ExtractorCommand};

/// How much of a child's standard error is kept.
const MESSAGE_BYTES: usize = 300;
/// How long an end is waited for, after which a child counts as stuck.
const END: Duration = Duration::from_secs(1);
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A child that serves files. Dropping it ends it and its group.
pub(super) struct ExtractorProcess {
    child: Option<Child>,
    pub(super) socket: OwnedFd,
    pub(super) stderr: Option<ChildStderr>,
    message: Vec<u8>,
    /// How many files it answered.
    pub(super) served: u32,
}

impl ExtractorProcess {
    pub(super) fn start(command: &ExtractorCommand) -> io::Result<Self> {
        let (socket, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // A backtrace would push the message of a panic out of the bytes that are kept.
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::from(other))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let stderr = child.stderr.take();
        Ok(Self { child: Some(child), socket, stderr, message: Vec::new(), served: 0 })
    }

    /// The child lives and has sent nothing that was not asked for.
    pub(super) fn is_ready(&self) -> bool {
        poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&NOW)) == Ok(0)
    }

    /// Forgets what the child wrote to its standard error for an earlier file.
    pub(super) fn begin(&mut self) {
        self.drain_message();
        self.message.clear();
    }

    /// What to poll for [`Self::read_message`]; the socket once the standard error is closed.
    pub(super) fn message_source(&self) -> BorrowedFd<'_> {
        self.stderr.as_ref().map_or(self.socket.as_fd(), AsFd::as_fd)
    }

    /// Reads what is there of the standard error. Call it when there is something, or it waits.
    pub(super) fn read_message(&mut self) {
        let mut bytes = [0; 4096];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut bytes) {
            Ok(0) => self.stderr = None,
            Ok(read) => {
                self.message.extend_from_slice(bytes.get(..read).unwrap_or_default());
                self.message.drain(..self.message.len().saturating_sub(MESSAGE_BYTES));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.stderr = None,
        }
    }

    /// Why the socket of a child was closed. Ends it.
    pub(super) fn explain_end(&mut self, memory: u64) -> ExtractFailure {
        let ended = self.await_end();
        let status = self.end();
        self.drain_message();
        let message = printable(&self.message);
        match status {
            _ if message.contains("memory allocation of ") && message.contains(" bytes failed") => {
                ExtractFailure::TooMuchMemory { limit: memory }
            }
            Some(status) if ended => ExtractFailure::Died { status, message },
            _ => ExtractFailure::Protocol("it closed its socket and went on".to_owned()),
        }
    }

    /// Waits for the end without collecting the status, so that the process number stays taken.
    fn await_end(&self) -> bool {
        let Some(pid) = self.pid() else { return false };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let deadline = Instant::now() + END;
        loop {
            match waitid(WaitId::Pid(pid), options) {
                Ok(Some(_)) => return true,
                Err(error) if error != rustix::io::Errno::INTR => return false,
                _ if Instant::now() >= deadline => return false,
                _ => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Reads the rest of the standard error: at most what a pipe holds.
    fn drain_message(&mut self) {
        for _ in 0..32 {
            let Some(stderr) = &self.stderr else { return };
            match poll(&mut [PollFd::new(stderr, PollFlags::IN)], Some(&NOW)) {
                Ok(0) => return,
                _ => self.read_message(),
            }
        }
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.as_ref()?.id()).ok()?)
    }

    /// Kills the group and collects the child.
    fn end(&mut self) -> Option<ExitStatus> {
        let pid = self.pid()?;
        let mut child = self.child.take()?;
        // It fails where no process is left in the group, which is what is wanted.
        let _ = kill_process_group(pid, Signal::KILL);
        let deadline = Instant::now() + END;
        while Instant::now() < deadline {
            match child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_micros(200)),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
        thread::spawn(move || child.wait());
        None
    }
}

impl Drop for ExtractorProcess {
    fn drop(&mut self) {
        self.end();
    }
}
