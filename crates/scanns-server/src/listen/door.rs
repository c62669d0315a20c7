//! Opening the socket that a server listens on.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener as StdUnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use scanns::access::AccessUser;
use tokio::net::{TcpListener, UnixListener};

use super::place;
use super::socket::Socket;
use crate::error::ServeError;
use crate::identity::Peer;
use crate::options::ListenOn;
use crate::sys;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A listening socket.
#[derive(Debug)]
pub struct Door {
    listener: Listener,
    /// The Unix socket that is removed at the end, and its identity.
    own: Option<(PathBuf, (u64, u64))>,
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Door {
    /// Opens a socket. `everybody` may connect to a Unix socket, or only its user. Needs a runtime.
    ///
    /// # Errors
    ///
    /// The address or the path is in use, or the system refuses it.
    pub fn open(listen: &ListenOn, everybody: bool) -> Result<Self, ServeError> {
        match listen {
            ListenOn::Tcp(address) => {
                let failed = |source| ServeError::Listen { address: *address, source };
                Ok(Door { listener: Listener::Tcp(tcp(*address).map_err(failed)?), own: None })
            }
            ListenOn::Unix(path) => unix(path, everybody),
            ListenOn::Inherited => {
                let failed =
                    |source| ServeError::System { what: "use the socket of the service manager", source };
                Ok(Door { listener: Listener::Unix(inherited().map_err(failed)?), own: None })
            }
        }
    }

    /// The address of a TCP socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// The path of a Unix socket.
    pub fn path(&self) -> Option<PathBuf> {
        match &self.listener {
            Listener::Tcp(_) => None,
            Listener::Unix(listener) => {
                let address = listener.local_addr().ok()?;
                address.as_pathname().map(Path::to_owned)
            }
        }
    }

    /// The next connection, and who is at its other end.
    pub(super) async fn accept(&self) -> io::Result<(Socket, Peer)> {
        match &self.listener {
            Listener::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are written as a whole, so that waiting for more helps nobody.
                let _ = stream.set_nodelay(true);
                Ok((Socket::Tcp(stream), Peer::Tcp(address.ip().to_canonical())))
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let credentials = stream.peer_cred()?;
                let groups = sys::peer_groups(stream.as_fd())?;
                let user = AccessUser::new(credentials.uid(), credentials.gid(), &groups);
                Ok((Socket::Unix(stream), Peer::Unix(Arc::new(user))))
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some((path, identity)) = &self.own {
            place::remove(path, *identity);
        }
    }
}

fn tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
    };
    // A port whose connections are still being closed can be used again at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG.unsigned_abs())
}

fn unix(path: &Path, everybody: bool) -> Result<Door, ServeError> {
    place::make_free(path).map_err(ServeError::Place)?;
    // Who may connect is set when the socket is made: its path could lead to another file later.
    let mask = if everybody { 0o111 } else { 0o177 };
    let before = rustix::process::umask(Mode::from_raw_mode(mask));
    let bound = StdUnixListener::bind(path);
    rustix::process::umask(before);
    let failed = |source| ServeError::System { what: "open the socket", source };
    let listener = bound.map_err(|source| {
        let path = path.to_owned();
        ServeError::Place(place::SocketPlaceError::Io { action: "make the socket", path, source })
    })?;
    listener.set_nonblocking(true).map_err(failed)?;
    // The standard library lets few connections wait.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
    let own = place::identity_of(path).map(|identity| (path.to_owned(), identity));
    let listener = UnixListener::from_std(listener).map_err(failed)?;
    Ok(Door { listener: Listener::Unix(listener), own })
}

/// The first socket of the service manager, if it is for this process.
fn inherited() -> io::Result<UnixListener> {
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse::<u32>().ok());
    let is_for_us = number("LISTEN_PID") == Some(std::process::id());
    match number("LISTEN_FDS") {
        Some(1) if is_for_us => {}
        Some(2..) if is_for_us => return Err(io::Error::other("it has opened several, and one is used")),
        _ => return Err(io::Error::other("it has opened none for this process")),
    }
    // SAFETY: the service manager has opened it for this process, and nothing before has taken it.
    let socket = unsafe { sys::take_first_socket() };
    let is_unix = rustix::net::sockopt::socket_domain(&socket)? == rustix::net::AddressFamily::UNIX;
    if !is_unix || !rustix::net::sockopt::socket_acceptconn(&socket)? {
        return Err(io::Error::other("it is not a Unix socket that listens (ListenStream=/a/path)"));
    }
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let listener = StdUnixListener::from(socket);
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}
