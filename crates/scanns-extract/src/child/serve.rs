//! The loop of the child: a request, its file, a parser, an answer.
//!
//! The child ends cleanly when the engine closes the socket. It also ends after an answer, and says so in it,
//! when a parser panicked or the memory that it holds has grown: the engine then starts another.

use std::any::Any;
use std::fs::File;
use std::io::{self, IoSliceMut, Read, Seek};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::answer::Answer;
use super::watch;
use scanns::extraction::ExtractLimits;
use scanns::extraction::frame::{FrameHeader, FrameKind, HEADER_BYTES, decode_request};

/// Resident bytes after a file above which the child ends.
const RESIDENT: u64 = 256 << 20;

/// One file to extract.
pub struct ExtractRequest<'a> {
    /// The file, at its start. It was opened outside of the confinement: it can be read but not opened by its
    /// path.
    pub file: &'a File,
    /// Its name; the end of it may tell the format.
    pub name: &'a [u8],
    /// What the file may cost. The [`Answer`] keeps the limits of text and fields; a parser may want to stop
    /// earlier.
    pub limits: ExtractLimits,
}

/// Serves requests from the standard input, a Unix socket, until the engine closes it. The standard input of
/// programs that `handler` starts is `/dev/null` unless it gives them another.
pub fn serve(handler: impl FnMut(ExtractRequest<'_>, &mut Answer)) -> io::Result<()> {
    let socket = take_standard_input()?;
    watch::start(&socket)?;
    serve_on(socket, handler)
}

fn serve_on(
    mut socket: UnixStream,
    mut handler: impl FnMut(ExtractRequest<'_>, &mut Answer),
) -> io::Result<()> {
    let resident = ResidentMemory::new();
    let mut memory = None;
    while let Some((file, meta)) = receive(&mut socket)? {
        let (limits, name) = decode_request(&meta).map_err(io::Error::other)?;
        if memory.replace(limits.memory) != Some(limits.memory) {
            limit_memory(limits.memory)?;
        }
        // A pipe has no position.
        let _ = (&file).rewind();
        let mut answer = Answer::new(&limits);
        let request = ExtractRequest { file: &file, name, limits };
        let panic = catch_unwind(AssertUnwindSafe(|| handler(request, &mut answer))).err();
        if let Some(panic) = &panic {
            answer = Answer::new(&limits);
            answer.fail(format_args!("the parser panicked: {}", panic_message(panic.as_ref())));
            answer.passing();
        }
        drop(file);
        let last = panic.is_some() || resident.bytes() > RESIDENT;
        answer.send(&mut socket, last)?;
        if last {
            break;
        }
    }
    Ok(())
}

/// Moves the socket away from descriptor 0, which programs inherit.
fn take_standard_input() -> io::Result<UnixStream> {
    let stdin = io::stdin();
    let family = rustix::net::sockopt::socket_domain(&stdin);
    if family != Ok(rustix::net::AddressFamily::UNIX) {
        let problem = "the standard input is not a Unix socket; scanns starts this command itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let socket: OwnedFd = stdin.as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(socket.into())
}

/// The next request's file and `meta` part; `None` when the engine has closed the socket.
fn receive(socket: &mut UnixStream) -> io::Result<Option<(File, Vec<u8>)>> {
    let mut head = [0; HEADER_BYTES];
    let mut files = Vec::new();
    let mut read = 0;
    while read < HEADER_BYTES {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut room = [IoSliceMut::new(head.get_mut(read..).unwrap_or_default())];
        let received = match recvmsg(&*socket, &mut room, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            received => received?.bytes,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        match (received, read) {
            (0, 0) => return Ok(None),
            (0, _) => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => read += received,
        }
    }
    let header = FrameHeader::decode(head).map_err(io::Error::other)?;
    let (FrameKind::Request, 0, 1, Some(file)) = (header.kind, header.text, files.len(), files.pop()) else {
        return Err(io::Error::other("not a request with one file"));
    };
    let mut meta = vec![0; header.meta as usize];
    socket.read_exact(&mut meta)?;
    Ok(Some((file.into(), meta)))
}

/// Limits the address space, which programs inherit. The wall clock of the engine bounds the processor time.
pub(crate) fn limit_memory(bytes: u64) -> io::Result<()> {
    let least = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
    let now = getrlimit(Resource::As);
    setrlimit(Resource::As, Rlimit { current: least(now.maximum), maximum: least(now.maximum) })?;
    Ok(())
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Reads how much memory this process holds, about 1 µs a time.
struct ResidentMemory {
    statm: Option<File>,
    page: u64,
}

impl ResidentMemory {
    fn new() -> Self {
        Self { statm: File::open("/proc/self/statm").ok(), page: rustix::param::page_size() as u64 }
    }

    /// 0 where the system does not tell.
    fn bytes(&self) -> u64 {
        let mut line = [0; 128];
        let read = self.statm.as_ref().and_then(|statm| statm.read_at(&mut line, 0).ok());
        let line = line.get(..read.unwrap_or(0)).unwrap_or_default();
        let pages = str::from_utf8(line).ok().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        pages.unwrap_or(0_u64).saturating_mul(self.page)
    }
}
