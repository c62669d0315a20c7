//! Who asks.

use std::path::Path;
use std::sync::Arc;

use scanns::access::AccessUser;

/// Who asks: the identity of a connection or, behind a proxy, of a request. Requests have it as an extension.
///
/// A user who is not known never becomes [`Caller::Everything`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Somebody who may see everything that the indexes have: their owner, root, or who has the token.
    Everything {
        /// The name for the log.
        name: Arc<str>,
    },
    /// Somebody who sees what he could see in the file system.
    User {
        /// The name for the log.
        name: Arc<str>,
        /// His numbers, as the kernel or the name service says.
        user: Arc<AccessUser>,
    },
}

impl Caller {
    /// The name for the log.
    pub fn name(&self) -> &str {
        match self {
            Caller::Everything { name } | Caller::User { name, .. } => name,
        }
    }
}

/// How a caller was recognised, which says how a program can ask the same. Requests have it as an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// By the token of a TCP socket, or the cookie that a browser got for it.
    Token,
    /// By the kernel, which says who connects to a Unix socket, of this path if it has one.
    Socket(Option<Arc<Path>>),
    /// By a reverse proxy.
    Proxy,
}
