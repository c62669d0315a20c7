//! The cache in front of real child processes. Every answer of a child has another random number in it, so an
//! answer that comes twice was not made twice.

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::*;
use crate::content::extract::frame::{FrameHeader, FrameKind, HEADER_BYTES, put_bytes};
use crate::content::extract::{ExtractorCommand, Extractors};

const CHILD: &str = "content::extract::cache::tests::pool::a_child";

fn pool(cache: Option<ExtractCache>) -> Extractors {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "--ignored", CHILD].map(Into::into).to_vec();
    let pool = Extractors::new(ExtractorCommand { program, arguments }, ExtractLimits::default(), 2);
    match cache {
        Some(cache) => pool.with_cache(cache),
        None => pool,
    }
}

fn receive(socket: &mut UnixStream) -> Option<fs::File> {
    let mut head = [0; HEADER_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(&*socket, &mut [IoSliceMut::new(&mut head)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    let mut files: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            files.extend(rights);
        }
    }
    let header = FrameHeader::decode(head).ok().filter(|_| received.bytes == HEADER_BYTES)?;
    socket.read_exact(&mut vec![0; header.meta as usize]).ok()?;
    Some(files.pop()?.into())
}

#[test]
#[ignore = "other tests start it as a process"]
fn a_child() {
    let stdin = std::io::stdin();
    if rustix::net::sockopt::socket_domain(&stdin) != Ok(rustix::net::AddressFamily::UNIX) {
        return;
    }
    let mut socket = UnixStream::from(stdin.as_fd().try_clone_to_owned().unwrap());
    while let Some(file) = receive(&mut socket) {
        let mut content = vec![0; 100];
        let read = file.read_at(&mut content, 0).unwrap();
        let content = String::from_utf8_lossy(&content[..read]).into_owned();
        if content.contains("abort") {
            std::process::abort();
        }
        let (mut text, mut meta) = (String::new(), Vec::new());
        let kind = match &content {
            words if words.contains("unknown") => FrameKind::NotADocument,
            words if words.contains("damaged") => {
                meta = format!("damaged {}", fastrand::u64(..)).into_bytes();
                FrameKind::Failed
            }
            _ => {
                text = fastrand::u64(..).to_string();
                put_bytes(&mut meta, b"PDF");
                meta.push(0);
                FrameKind::Extracted
            }
        };
        let lengths = (u32::try_from(text.len()).unwrap(), u32::try_from(meta.len()).unwrap());
        let passing = content.contains("passing");
        let header = FrameHeader { kind, last: false, passing, text: lengths.0, meta: lengths.1 };
        socket.write_all(&[header.encode().as_slice(), text.as_bytes(), &meta].concat()).unwrap();
    }
}

#[test]
fn the_second_extraction_of_the_same_bytes_is_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let go = AtomicBool::new(false);
    let first = pool(Some(cache(directory.path(), LARGE)));
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"%PDF-1.7").unwrap();
    let once = first.extract(file.as_fd(), b"a.pdf", &go);
    assert!(is_same(&first.extract_bytes(b"%PDF-1.7", b"b.pdf", &go), &once));
    // Another build.
    let second = pool(Some(cache(directory.path(), LARGE)));
    assert!(is_same(&second.extract(file.as_fd(), b"a.pdf", &go), &once));
    let notes = second.cache_notes().unwrap();
    assert_eq!((notes.hits, notes.misses, notes.errors), (1, 0, 0));
    assert!(!is_same(&second.extract_bytes(b"%PDF-1.6", b"", &go), &once));
    let without = pool(None);
    assert!(!is_same(&without.extract_bytes(b"%PDF-1.7", b"b.pdf", &go), &once));
    assert_eq!(without.cache_notes(), None);
}

#[test]
fn refusals_are_kept_and_what_may_pass_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let go = AtomicBool::new(false);
    let pool = pool(Some(cache(directory.path(), LARGE)));
    for (words, kept) in [
        ("%PDF-1 unknown", true),
        ("%PDF-1 damaged", true),
        ("%PDF-1 damaged passing", false),
        ("%PDF-1 passing", false),
        ("%PDF-1 abort", false),
        ("CDF\x01", false),
    ] {
        let before = pool.cache_notes().unwrap().hits;
        let once = pool.extract_bytes(words.as_bytes(), b"a", &go);
        let twice = pool.extract_bytes(words.as_bytes(), b"a", &go);
        assert_eq!(pool.cache_notes().unwrap().hits - before, u64::from(kept), "{words}");
        assert!(!kept || is_same(&once, &twice));
    }
}

#[test]
fn a_file_that_has_just_changed_is_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let pool = pool(Some(ExtractCache::open(options(directory.path(), LARGE)).unwrap()));
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"%PDF-1.7").unwrap();
    for _ in 0..2 {
        pool.extract(file.as_fd(), b"a.pdf", &AtomicBool::new(false)).unwrap();
    }
    assert_eq!((pool.cache_notes().unwrap().hits, files(directory.path()).len()), (0, 0));
}
