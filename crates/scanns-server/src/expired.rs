//! Why the server ends a connection that it would rather serve.

/// What did not happen in time on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// It sent nothing.
    Silent,
    /// It did not finish the head of a request.
    Head,
    /// It waited too long between requests.
    Idle,
    /// It did not take its answer.
    Send,
}

impl Expired {
    /// All, in the order of their numbers.
    pub const ALL: [Expired; 4] = [Expired::Silent, Expired::Head, Expired::Idle, Expired::Send];

    /// The name, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Expired::Silent => "silent",
            Expired::Head => "head",
            Expired::Idle => "idle",
            Expired::Send => "send",
        }
    }
}
