//! Sends one file to a child and receives the answer, with a deadline and a way to cancel.
//!
//! The engine waits in poll(2) on the socket and on the child's standard error, which must be read or a child
//! with many warnings would wait for room. Every length is checked against the limits before memory is
//! reserved for it.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};

use super::failure::printable;
use super::frame::{ExtractedMeta, FrameHeader, FrameKind, HEADER_BYTES, encode_request};
use super::process::ExtractorProcess;
use super::{ExtractFailure, ExtractLimits, Extracted};

/// How often a wait looks at `cancel`.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// The most that is read at once, so that memory grows with the bytes that arrive and not with a length.
const CHUNK: usize = 64 << 10;

/// One file on its way through a child.
pub(super) struct Exchange<'a> {
    process: &'a mut ExtractorProcess,
    limits: &'a ExtractLimits,
    cancel: &'a AtomicBool,
    deadline: Instant,
}

/// What a child answered, whether it ends now, and whether it may answer differently next time.
pub(super) struct ExchangeOutcome {
    pub(super) answer: Result<Extracted, ExtractFailure>,
    pub(super) last: bool,
    pub(super) passing: bool,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        process: &'a mut ExtractorProcess,
        limits: &'a ExtractLimits,
        cancel: &'a AtomicBool,
    ) -> Self {
        process.begin();
        // A limit of centuries is no limit.
        let seconds = Duration::from_secs(limits.seconds.min(1 << 32));
        Self { process, limits, cancel, deadline: Instant::now() + seconds }
    }

    /// Sends the file and waits for the answer. After an error that is no answer, end the child.
    pub(super) fn run(mut self, file: BorrowedFd<'_>, name: &[u8]) -> ExchangeOutcome {
        match self.send(file, name).and_then(|()| self.receive()) {
            Ok(outcome) => outcome,
            Err(failure) => ExchangeOutcome { answer: Err(failure), last: true, passing: true },
        }
    }

    fn send(&mut self, file: BorrowedFd<'_>, name: &[u8]) -> Result<(), ExtractFailure> {
        let request = encode_request(self.limits, name);
        let mut rest = request.as_slice();
        let files = [file];
        let mut with_file = true;
        while !rest.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if with_file {
                control.push(SendAncillaryMessage::ScmRights(&files));
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match sendmsg(&self.process.socket, &[IoSlice::new(rest)], &mut control, flags) {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    with_file = false;
                }
                Err(error) => self.wait_after(error, PollFlags::OUT)?,
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<ExchangeOutcome, ExtractFailure> {
        let head = self.read(HEADER_BYTES)?;
        let head = head.first_chunk().ok_or_else(|| ExtractFailure::Protocol("no header".to_owned()))?;
        let header = FrameHeader::decode(*head)?;
        if u64::from(header.text) > self.limits.text {
            let problem = format!("{} bytes of text, but the limit is {}", header.text, self.limits.text);
            return Err(ExtractFailure::Protocol(problem));
        }
        let text = header.text as usize;
        let mut body = self.read(text + header.meta as usize)?;
        let meta = body.split_off(text.min(body.len()));
        let FrameHeader { last, passing, .. } = header;
        Ok(ExchangeOutcome { answer: self.answer(header, body, &meta)?, last, passing })
    }

    /// The outer error breaks the protocol, the inner one is the child's.
    fn answer(
        &self,
        header: FrameHeader,
        text: Vec<u8>,
        meta: &[u8],
    ) -> Result<Result<Extracted, ExtractFailure>, ExtractFailure> {
        let bad = |what: &str| Err(ExtractFailure::Protocol(what.to_owned()));
        match header.kind {
            FrameKind::Request => bad("a request"),
            FrameKind::NotADocument | FrameKind::Failed if !text.is_empty() => bad("a refusal with text"),
            FrameKind::NotADocument if !meta.is_empty() => bad("a refusal with fields"),
            FrameKind::NotADocument => Ok(Err(ExtractFailure::NotADocument)),
            FrameKind::Failed => Ok(Err(ExtractFailure::Failed(printable(meta)))),
            FrameKind::Extracted if simdutf8::basic::from_utf8(&text).is_err() => {
                bad("text that is not UTF-8")
            }
            FrameKind::Extracted => {
                let ExtractedMeta { format, cut, fields } = ExtractedMeta::decode(meta, self.limits.fields)?;
                Ok(Ok(Extracted { format, text, fields, cut }))
            }
        }
    }

    /// Exactly `length` bytes. Bytes after an answer show when the child is next taken, and end it.
    fn read(&mut self, length: usize) -> Result<Vec<u8>, ExtractFailure> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let start = bytes.len();
            bytes.resize(start + CHUNK.min(length - start), 0);
            let room = bytes.get_mut(start..).unwrap_or_default();
            let received = recv(&self.process.socket, room, RecvFlags::DONTWAIT).map(|(read, _)| read);
            bytes.truncate(start + received.unwrap_or(0));
            match received {
                Ok(0) => return Err(self.process.explain_end(self.limits.memory)),
                Ok(_) => {}
                Err(error) => self.wait_after(error, PollFlags::IN)?,
            }
        }
        Ok(bytes)
    }

    /// Waits until the socket is ready, where `error` says that it was not.
    fn wait_after(&mut self, error: Errno, ready: PollFlags) -> Result<(), ExtractFailure> {
        match error {
            Errno::INTR => self.check(),
            Errno::AGAIN => self.wait(ready),
            Errno::PIPE | Errno::CONNRESET => Err(self.process.explain_end(self.limits.memory)),
            other => Err(lost(other)),
        }
    }

    fn wait(&mut self, ready: PollFlags) -> Result<(), ExtractFailure> {
        loop {
            self.check()?;
            let left = self.deadline.saturating_duration_since(Instant::now()).min(LOOK);
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            let process = &mut *self.process;
            let mut polled = [
                PollFd::new(&process.socket, ready),
                PollFd::from_borrowed_fd(process.message_source(), PollFlags::IN),
            ];
            match poll(&mut polled, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(lost(error)),
            }
            let [socket, message] = polled.map(|one| !one.revents().is_empty());
            if message {
                process.read_message();
            }
            if socket {
                return Ok(());
            }
        }
    }

    fn check(&self) -> Result<(), ExtractFailure> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(ExtractFailure::Cancelled);
        }
        if Instant::now() >= self.deadline {
            return Err(ExtractFailure::TimedOut { seconds: self.limits.seconds });
        }
        Ok(())
    }
}

fn lost(error: Errno) -> ExtractFailure {
    ExtractFailure::Protocol(format!("its socket fails: {error}"))
}
