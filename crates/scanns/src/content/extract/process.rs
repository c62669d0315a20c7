//! One child process that serves files, and the socket to it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::child::ConfinedChild;
use super::{ExtractFailure, ExtractorCommand};

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A child that serves files. Dropping it ends it and its group.
pub(super) struct ExtractorProcess {
    child: ConfinedChild,
    pub(super) socket: OwnedFd,
    /// How many files it answered.
    pub(super) served: u32,
}

impl ExtractorProcess {
    pub(super) fn start(command: &ExtractorCommand) -> io::Result<Self> {
        let (socket, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let mut program = Command::new(&command.program);
        program.args(&command.arguments).stdin(Stdio::from(other)).stdout(Stdio::null());
        let (child, _) = ConfinedChild::start(&mut program)?;
        Ok(Self { child, socket, served: 0 })
    }

    /// The child lives and has sent nothing that was not asked for.
    pub(super) fn is_ready(&self) -> bool {
        poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&NOW)) == Ok(0)
    }

    /// Forgets what the child wrote to its standard error for an earlier file.
    pub(super) fn begin(&mut self) {
        self.child.forget_message();
    }

    /// What to poll for [`Self::read_message`]; the socket once the standard error is closed.
    pub(super) fn message_source(&self) -> BorrowedFd<'_> {
        self.child.message_source().map_or(self.socket.as_fd(), AsFd::as_fd)
    }

    /// Reads what is there of the standard error. Call it when there is something, or it waits.
    pub(super) fn read_message(&mut self) {
        self.child.read_message();
    }

    /// Why the socket of a child was closed. Ends it.
    pub(super) fn explain_end(&mut self, memory: u64) -> ExtractFailure {
        let status = self.child.finish();
        let message = self.child.message();
        match status {
            _ if message.contains("memory allocation of ") && message.contains(" bytes failed") => {
                ExtractFailure::TooMuchMemory { limit: memory }
            }
            Some(status) => ExtractFailure::Died { status, message },
            None => ExtractFailure::Protocol("it closed its socket and went on".to_owned()),
        }
    }
}
