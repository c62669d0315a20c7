//! A child process of this program: how it ends for certain, and what it said.
//!
//! A child leads its own process group, so an interrupt from the terminal does not reach it, and the programs
//! that it started end with it. The group is killed before the child is waited for: until then no other
//! process can get its number. A child that the kernel cannot end (a read from a network file system that
//! hangs) is left to a thread.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::failure::printable;

/// How much of a child's standard error is kept.
const MESSAGE_BYTES: usize = 300;
/// How long an end is waited for, after which a child counts as stuck.
const END: Duration = Duration::from_secs(1);
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A child and its standard error. Dropping it ends it and its group.
#[derive(Debug)]
pub(super) struct ConfinedChild {
    child: Option<Child>,
    stderr: Option<ChildStderr>,
    message: Vec<u8>,
}

impl ConfinedChild {
    /// Starts `command`, whose standard input and output are set; the standard output comes back if it is a
    /// pipe.
    pub(super) fn start(command: &mut Command) -> io::Result<(Self, Option<ChildStdout>)> {
        // A backtrace would push the message of a panic out of the bytes that are kept.
        let mut child = command.env("RUST_BACKTRACE", "0").stderr(Stdio::piped()).process_group(0).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Ok((Self { child: Some(child), stderr, message: Vec::new() }, stdout))
    }

    /// What to poll for [`Self::read_message`]; `None` once the standard error is closed.
    pub(super) fn message_source(&self) -> Option<&ChildStderr> {
        self.stderr.as_ref()
    }

    /// The end of what the child wrote to its standard error, on one line.
    pub(super) fn message(&self) -> String {
        printable(&self.message)
    }

    /// Forgets what the child wrote to its standard error so far.
    pub(super) fn forget_message(&mut self) {
        self.drain_message();
        self.message.clear();
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

    /// Waits a second for the end of the child, ends it, and reads the rest of its message. `None` if it went
    /// on by itself.
    pub(super) fn finish(&mut self) -> Option<ExitStatus> {
        let ended = self.await_end();
        let status = self.end();
        self.drain_message();
        status.filter(|_| ended)
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
                _ => thread::sleep(Duration::from_micros(200)),
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

impl Drop for ConfinedChild {
    fn drop(&mut self) {
        self.end();
    }
}
