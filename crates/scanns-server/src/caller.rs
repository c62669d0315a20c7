//! Who asks.

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
