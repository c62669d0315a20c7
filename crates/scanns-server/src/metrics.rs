//! What the server counts, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::expired::Expired;
use crate::tls::FailureKind;

/// The upper bounds of the classes of times, in seconds.
const BOUNDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A value that something else than the transport counts, such as the length of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// The name without `scanns_`. If it ends with `_total`, the value only grows.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// The value.
    pub value: f64,
}

/// Answers to requests of one route and method with one status.
type AnswerKind = (String, &'static str, u16);

/// How long answers of a route took.
#[derive(Debug, Default)]
struct Times {
    /// Answers by class; the last class is above all bounds.
    classes: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

/// What the server counts.
#[derive(Debug, Default)]
pub struct Metrics {
    answers: Mutex<BTreeMap<AnswerKind, u64>>,
    times: Mutex<BTreeMap<String, Times>>,
    bytes: AtomicU64,
    running: AtomicU64,
    panics: AtomicU64,
    connections: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    refused_of_peer: AtomicU64,
    expired: [AtomicU64; Expired::ALL.len()],
    handshakes: AtomicU64,
    failed_handshakes: [AtomicU64; FailureKind::ALL.len()],
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Metrics {
    /// A connection was accepted.
    pub fn connected(&self) {
        add(&self.accepted);
        add(&self.connections);
    }

    /// A connection ended.
    pub fn disconnected(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// A connection was refused, because there were too many of its peer or in all.
    pub fn connection_refused(&self, of_peer: bool) {
        add(if of_peer { &self.refused_of_peer } else { &self.refused });
    }

    /// A connection was ended because something did not happen in time.
    pub fn connection_expired(&self, why: Expired) {
        let counters = Expired::ALL.iter().zip(&self.expired);
        if let Some((_, counter)) = counters.into_iter().find(|(of, _)| **of == why) {
            add(counter);
        }
    }

    /// A TLS handshake succeeded.
    pub fn handshake_done(&self) {
        add(&self.handshakes);
    }

    /// A TLS handshake failed.
    pub fn handshake_failed(&self, kind: FailureKind) {
        let counters = FailureKind::ALL.iter().zip(&self.failed_handshakes);
        if let Some((_, counter)) = counters.into_iter().find(|(of, _)| **of == kind) {
            add(counter);
        }
    }

    /// A request began.
    pub fn began(&self) {
        add(&self.running);
    }

    /// A request panicked.
    pub fn panicked(&self) {
        add(&self.panics);
    }

    /// A request ended. The route is a pattern, so that there are few.
    pub fn ended(&self, route: &str, method: &'static str, status: u16, bytes: u64, time: Duration) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        *lock(&self.answers).entry((route.to_owned(), method, status)).or_default() += 1;
        let seconds = time.as_secs_f64();
        let class = BOUNDS.partition_point(|bound| *bound < seconds);
        let mut times = lock(&self.times);
        let times = times.entry(route.to_owned()).or_default();
        if let Some(class) = times.classes.get_mut(class) {
            *class += 1;
        }
        times.seconds += seconds;
    }

    /// Everything in the text format, and values that others count.
    pub fn to_text(&self, gauges: &[Gauge]) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("requests_running", "Requests without the end of their answer.", get(&self.running)),
            ("connections", "Open connections.", get(&self.connections)),
            ("connections_accepted_total", "Connections that were accepted.", get(&self.accepted)),
            ("tls_handshakes_total", "TLS handshakes that succeeded.", get(&self.handshakes)),
            ("panics_total", "Requests that failed because of a bug.", get(&self.panics)),
            ("answer_bytes_total", "Bytes of answers, without their heads.", get(&self.bytes)),
        ] {
            head(&mut text, name, help, kind_of(name));
            line(&mut text, name, "", value);
        }
        let name = "connections_refused_total";
        head(&mut text, name, "Connections that were refused, because there were too many.", "counter");
        line(&mut text, name, "reason=\"all\"", get(&self.refused));
        line(&mut text, name, "reason=\"peer\"", get(&self.refused_of_peer));
        let name = "connections_expired_total";
        head(&mut text, name, "Connections that were ended, because something took too long.", "counter");
        for (why, counter) in Expired::ALL.iter().zip(&self.expired) {
            line(&mut text, name, &format!("waiting_for=\"{}\"", why.name()), get(counter));
        }
        let name = "tls_handshakes_failed_total";
        head(&mut text, name, "TLS handshakes that failed.", "counter");
        for (kind, counter) in FailureKind::ALL.iter().zip(&self.failed_handshakes) {
            line(&mut text, name, &format!("reason=\"{}\"", kind.name()), get(counter));
        }
        self.write_requests(&mut text);
        for gauge in gauges {
            head(&mut text, gauge.name, gauge.help, kind_of(gauge.name));
            line(&mut text, gauge.name, "", gauge.value);
        }
        text
    }

    fn write_requests(&self, text: &mut String) {
        let name = "requests_total";
        head(text, name, "Requests by route, method and status.", "counter");
        for ((route, method, status), count) in &*lock(&self.answers) {
            let labels = format!("{},method=\"{method}\",status=\"{status}\"", route_label(route));
            line(text, name, &labels, count);
        }
        let name = "request_seconds";
        head(text, name, "Time from the head of a request to the end of its answer.", "histogram");
        for (route, times) in &*lock(&self.times) {
            let (route, mut count) = (route_label(route), 0);
            let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (bound, class) in bounds.zip(times.classes) {
                count += class;
                line(text, "request_seconds_bucket", &format!("{route},le=\"{bound}\""), count);
            }
            line(text, "request_seconds_sum", &route, times.seconds);
            line(text, "request_seconds_count", &route, count);
        }
    }
}

fn route_label(route: &str) -> String {
    let quoted = route.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("route=\"{quoted}\"")
}

fn kind_of(name: &str) -> &'static str {
    if name.ends_with("_total") { "counter" } else { "gauge" }
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    // A string can always be written to.
    let _ = writeln!(text, "# HELP scanns_{name} {help}\n# TYPE scanns_{name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(text, "scanns_{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_counted_is_in_the_text() {
        let metrics = Metrics::default();
        metrics.connected();
        metrics.connection_expired(Expired::Head);
        metrics.connection_refused(true);
        for (millis, status) in [(1, 200), (3, 200), (20_000, 503)] {
            metrics.began();
            metrics.ended("/api/v1/{index}/search", "GET", status, 10, Duration::from_millis(millis));
        }
        metrics.began();
        let gauges = [Gauge { name: "queue", help: "Waiting requests.", value: 2.0 }];
        let text = metrics.to_text(&gauges);
        for expected in [
            "scanns_requests_running 1",
            "scanns_connections 1",
            "scanns_answer_bytes_total 30",
            "scanns_connections_refused_total{reason=\"peer\"} 1",
            "scanns_connections_expired_total{waiting_for=\"head\"} 1",
            "scanns_requests_total{route=\"/api/v1/{index}/search\",method=\"GET\",status=\"200\"} 2",
            "scanns_request_seconds_bucket{route=\"/api/v1/{index}/search\",le=\"0.001\"} 1",
            "scanns_request_seconds_bucket{route=\"/api/v1/{index}/search\",le=\"0.005\"} 2",
            "scanns_request_seconds_bucket{route=\"/api/v1/{index}/search\",le=\"+Inf\"} 3",
            "scanns_request_seconds_count{route=\"/api/v1/{index}/search\"} 3",
            "# TYPE scanns_queue gauge",
            "scanns_queue 2",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} is missing in\n{text}");
        }
    }
}
