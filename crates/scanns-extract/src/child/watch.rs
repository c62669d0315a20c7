//! Ends the child, and the programs that it started, when the engine has gone: even when it was killed, and
//! while a parser hangs.
//!
//! A thread waits until the other end of the socket closes. The kernel's signal at a parent's death would not
//! do: it comes when the thread that started the child ends, which is one of many in the engine, and it
//! spares the programs that the child started.

use std::io;
use std::os::unix::net::UnixStream;
use std::process;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};

/// The thread only waits; it needs little.
const STACK: usize = 64 << 10;

/// Starts the thread. Call it before the memory is limited.
pub(super) fn start(socket: &UnixStream) -> io::Result<()> {
    let socket = socket.try_clone()?;
    thread::Builder::new().name("watch".to_owned()).stack_size(STACK).spawn(move || {
        await_close(&socket);
        end();
    })?;
    Ok(())
}

fn await_close(socket: &UnixStream) {
    loop {
        let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
        match poll(&mut polled, None) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

/// Only the leader of a group may kill it: without one, it is the group of whatever started this program.
fn end() {
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    process::exit(0);
}
