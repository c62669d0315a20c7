//! Calls of the system that Rust's library does not have.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// `SO_PEERGROUPS` of most architectures.
#[cfg(not(any(target_arch = "sparc", target_arch = "sparc64")))]
const PEER_GROUPS: libc::c_int = 59;
#[cfg(any(target_arch = "sparc", target_arch = "sparc64"))]
compile_error!("the number of SO_PEERGROUPS of this architecture is not known");

/// The greatest number of supplementary groups of a process, `NGROUPS_MAX` of Linux.
const MOST_GROUPS: usize = 65_536;

/// The supplementary groups of the process at the other end of a Unix socket, as they were when it connected.
pub fn peer_groups(socket: impl AsFd) -> io::Result<Vec<u32>> {
    let mut groups = vec![0u32; 64];
    loop {
        let bytes = groups.len() * size_of::<u32>();
        let mut length = libc::socklen_t::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: the kernel writes at most `length` bytes to `groups`, which has as many, and the length of
        // what it wrote or needs to `length`; every pattern of bits is a number.
        let failed = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                PEER_GROUPS,
                groups.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if failed == 0 {
            groups.truncate(length as usize / size_of::<u32>());
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        let needed = length as usize / size_of::<u32>();
        if error.raw_os_error() != Some(libc::ERANGE) || needed <= groups.len() || needed > MOST_GROUPS {
            return Err(error);
        }
        groups.resize(needed, 0);
    }
}

/// Takes over the first socket that the service manager has opened for this process, descriptor 3.
///
/// # Safety
///
/// Nothing else in the process may own descriptor 3. The service manager says with `LISTEN_PID` that it has
/// opened it for this process.
pub unsafe fn take_first_socket() -> OwnedFd {
    // SAFETY: the caller says that nobody else owns it.
    unsafe { OwnedFd::from_raw_fd(3) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_groups_of_a_peer_in_this_process_are_those_of_the_process() {
        let (socket, _other) = UnixStream::pair().unwrap();
        let mut groups = peer_groups(&socket).unwrap();
        let mut own: Vec<u32> =
            rustix::process::getgroups().unwrap().into_iter().map(|group| group.as_raw()).collect();
        groups.sort_unstable();
        own.sort_unstable();
        assert_eq!(groups, own);
    }

    #[test]
    fn other_sockets_have_no_groups() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(peer_groups(&socket).is_err());
    }
}
