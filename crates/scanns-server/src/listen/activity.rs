//! What happens on a connection, and until when something must happen.
//!
//! A connection waits for its first byte, then for the rest of a head, then for its answers, then for the
//! next request; meanwhile the client may not take what it is sent. Each of these has its own limit. A slow
//! head of HTTP/1.1 counts from its first byte; on HTTP/2, where bytes between requests need not belong to
//! one, an idle connection has the idle limit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::expired::Expired;
use crate::options::ConnectionLimits;

/// What a client that is slow to take its answer must take within the limit.
const LEAST_SENT: usize = 16 << 10;

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Nothing was read.
    Silent,
    /// A head has begun.
    Head,
    /// Requests are answered, or were, and the next has not begun.
    Served,
}

/// A stretch of time in which the client does not take everything that could be sent.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: Instant,
    sent: usize,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// When the phase began; of `Served`, when the last answer ended.
    since: Instant,
    /// Requests without the end of their answer.
    running: usize,
    is_http2: bool,
    socket: Option<Stall>,
    /// When a piece of an answer was given to hyper, which has not asked for more of this answer since, by
    /// the number of the request.
    handed: BTreeMap<u64, Instant>,
    /// The number of requests that have begun.
    begun: u64,
}

/// Notes what happens on a connection.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
    limits: Arc<ConnectionLimits>,
}

impl Activity {
    /// A connection was accepted.
    pub fn new(limits: Arc<ConnectionLimits>) -> Self {
        let state = State {
            phase: Phase::Silent,
            since: Instant::now(),
            running: 0,
            is_http2: false,
            socket: None,
            handed: BTreeMap::new(),
            begun: 0,
        };
        Activity { state: Mutex::new(state), limits }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes were read.
    pub fn read(&self, bytes: usize) {
        let mut state = self.state();
        let begins = match state.phase {
            Phase::Silent => true,
            Phase::Head => false,
            Phase::Served => state.running == 0 && !state.is_http2,
        };
        if bytes > 0 && begins {
            state.phase = Phase::Head;
            state.since = Instant::now();
        }
    }

    /// The client does not take more at the moment.
    pub fn blocked(&self) {
        let mut state = self.state();
        state.socket.get_or_insert(Stall { since: Instant::now(), sent: 0 });
    }

    /// Bytes were sent: all that there were, or some.
    pub fn wrote(&self, bytes: usize, all: bool) {
        let mut state = self.state();
        if let Some(stall) = &mut state.socket {
            stall.sent += bytes;
            if all || stall.sent >= LEAST_SENT {
                state.socket = None;
            }
        }
    }

    /// The head of a request was read.
    pub fn begin_request(self: &Arc<Self>, is_http2: bool) -> Running {
        let mut state = self.state();
        state.running += 1;
        state.begun += 1;
        let number = state.begun;
        state.is_http2 = is_http2;
        state.phase = Phase::Served;
        drop(state);
        Running { activity: Arc::clone(self), number }
    }

    /// Until when something must happen, and what is wrong if it does not.
    pub fn deadline(&self) -> (Instant, Expired) {
        let state = self.state();
        let limits = &self.limits;
        let send = |since| (since + limits.send, Expired::Send);
        match (&state.socket, state.handed.values().min()) {
            // A piece that waits may be one that the client has not asked for, on a connection that moves.
            (Some(stall), None) => return send(stall.since),
            (Some(stall), Some(handed)) if !state.is_http2 || stall.since < *handed => {
                return send(stall.since);
            }
            (_, Some(handed)) => return send(*handed),
            (None, None) => {}
        }
        match state.phase {
            Phase::Silent => (state.since + limits.first_byte, Expired::Silent),
            Phase::Head => (state.since + limits.head, Expired::Head),
            Phase::Served if state.running == 0 => (state.since + limits.idle, Expired::Idle),
            // The answer is being made, which has limits of its own: look again later.
            Phase::Served => (Instant::now() + limits.idle, Expired::Idle),
        }
    }
}

/// A request whose answer has not ended.
#[derive(Debug)]
pub struct Running {
    activity: Arc<Activity>,
    number: u64,
}

impl Running {
    /// hyper asks for a part of the answer.
    pub fn asked(&self) {
        self.activity.state().handed.remove(&self.number);
    }

    /// hyper has got a part of the answer.
    pub fn handed(&self) {
        self.activity.state().handed.insert(self.number, Instant::now());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.running = state.running.saturating_sub(1);
        state.since = Instant::now();
        state.handed.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn activity() -> Arc<Activity> {
        Arc::new(Activity::new(Arc::new(ConnectionLimits::default())))
    }

    #[test]
    fn each_phase_has_its_limit() {
        let activity = activity();
        assert_eq!(activity.deadline().1, Expired::Silent);
        activity.read(0);
        assert_eq!(activity.deadline().1, Expired::Silent);
        activity.read(1);
        let (head, expired) = activity.deadline();
        assert_eq!(expired, Expired::Head);
        activity.read(100);
        assert_eq!(activity.deadline(), (head, Expired::Head), "bytes that trickle change nothing");
        let running = activity.begin_request(false);
        activity.read(5);
        assert!(activity.deadline().0 > Instant::now() + Duration::from_secs(50));
        running.handed();
        assert_eq!(activity.deadline().1, Expired::Send);
        running.asked();
        drop(running);
        assert_eq!(activity.deadline().1, Expired::Idle);
        activity.read(1);
        assert_eq!(activity.deadline().1, Expired::Head);
    }

    #[test]
    fn bytes_between_requests_of_http2_begin_no_head() {
        let activity = activity();
        activity.read(24);
        let (one, two) = (activity.begin_request(true), activity.begin_request(true));
        drop(one);
        let running = activity.deadline().0;
        assert!(activity.deadline().0 > running, "an answer has no limit here");
        drop(two);
        activity.read(17);
        let (idle, expired) = activity.deadline();
        assert_eq!((activity.deadline().0, expired), (idle, Expired::Idle));
    }

    #[test]
    fn an_answer_that_waits_has_its_limit_whatever_others_do() {
        let activity = activity();
        activity.read(24);
        let (waits, moves) = (activity.begin_request(true), activity.begin_request(true));
        waits.handed();
        let (deadline, expired) = activity.deadline();
        assert_eq!(expired, Expired::Send);
        moves.handed();
        moves.asked();
        activity.blocked();
        activity.wrote(1, true);
        drop(moves);
        assert_eq!(activity.deadline(), (deadline, Expired::Send));
        waits.asked();
        waits.handed();
        assert!(activity.deadline().0 > deadline, "it took a piece");
        drop(waits);
        assert_eq!(activity.deadline().1, Expired::Idle);
    }

    #[test]
    fn a_client_that_takes_little_does_not_get_more_time() {
        let activity = activity();
        activity.read(1);
        let _running = activity.begin_request(false);
        activity.blocked();
        let (deadline, expired) = activity.deadline();
        assert_eq!(expired, Expired::Send);
        activity.wrote(100, false);
        activity.blocked();
        assert_eq!(activity.deadline().0, deadline);
        activity.wrote(LEAST_SENT, false);
        assert!(activity.deadline().0 > deadline, "it took enough");
        activity.blocked();
        activity.wrote(1, true);
        assert!(activity.deadline().0 > deadline, "it took everything");
    }
}
