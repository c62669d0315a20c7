//! Progress on a terminal, as a bar for builds and as a line for counts, and the signals that stop a build.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scanns::index::{Phase, Progress};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::program_messages::{self, for_programs};
use crate::units;

const REDRAWS_PER_SECOND: u8 = 10;

/// Runs `work`, and draws a bar of its `progress` if `wanted` and if standard error is a terminal.
pub fn during<T>(progress: &Progress, wanted: bool, work: impl FnOnce() -> T) -> T {
    if !for_programs() && (!wanted || !io::stderr().is_terminal()) {
        return work();
    }
    let (finished, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let draw = move || {
            if for_programs() {
                return program_messages::progress(progress, &waiting);
            }
            let pause = Duration::from_secs(1) / u32::from(REDRAWS_PER_SECOND);
            let mut bar = Bar::new();
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                bar.draw(progress);
            }
            bar.bar.finish_and_clear();
        };
        // Without another thread, there is no bar.
        let _ = std::thread::Builder::new().spawn_scoped(scope, draw);
        let result = work();
        drop(finished);
        result
    })
}

/// A flag that is set by the first Ctrl-C, SIGTERM or SIGHUP; the second one ends the program at once. A
/// SIGHUP that `nohup` ignores stays ignored.
///
/// If the flag is set, a build commits what it has indexed and stops; other work leaves the index as it was.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        // The order matters: the second signal must find the flag that the first has set.
        flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("cannot catch signals")?;
    }
    Ok(stop)
}

/// True if the program was started with this signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}

/// A line on the terminal with the number of things done and the rate; it appears after a second.
pub struct Ticker {
    thing: &'static str,
    began: Instant,
    bar: Option<ProgressBar>,
    /// The number of all things, if known.
    total: Option<u64>,
    /// The number that an earlier run has done.
    before: u64,
}

impl Ticker {
    /// A ticker for things with this name, in the singular.
    pub fn new(thing: &'static str) -> Self {
        Ticker { thing, began: Instant::now(), bar: None, total: None, before: 0 }
    }

    /// Adds a total, if known, and the number that an earlier run has done.
    pub fn of(self, total: Option<u64>, before: u64) -> Self {
        Ticker { total, before, ..self }
    }

    /// Seconds since the ticker was made.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Shows how many things are done.
    pub fn at(&mut self, done: u64) {
        if self.bar.is_none() && self.seconds() < 1.0 {
            return;
        }
        let message = self.message(done, self.seconds());
        let bar = self.bar.get_or_insert_with(|| {
            let bar =
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND));
            bar.set_style(style("{spinner} {wide_msg}"));
            bar
        });
        bar.set_message(message);
        bar.tick();
    }

    fn message(&self, done: u64, seconds: f64) -> String {
        let own = done.saturating_sub(self.before);
        let rate = per_second(own, seconds);
        let Some(total) = self.total.filter(|&total| total > 0) else {
            return format!("{}, {rate}", units::counted(done, self.thing));
        };
        let left = units::approximate(total.saturating_sub(done)) / units::approximate(own.max(1)) * seconds;
        let (percent, left) = (done.min(total).saturating_mul(100) / total, units::duration(left));
        format!("{percent}% of {}, {rate}, {left} left", units::counted(total, self.thing))
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Formats a rate.
pub fn per_second(done: u64, seconds: f64) -> String {
    format!("{:.0} per second", units::approximate(done) / seconds.max(1e-9))
}

/// A bar whose template depends on the phase: the total is unknown while files are being found, and the steps
/// of reordering are not bytes.
struct Bar {
    bar: ProgressBar,
    /// The current template.
    look: &'static str,
}

const UNKNOWN: &str = "{spinner} {prefix}, {wide_msg}";
const BYTES: &str = "{prefix} [{bar:12}] {percent}% {binary_bytes_per_sec}, {eta} left, {wide_msg}";
const STEPS: &str = "{prefix} [{bar:12}] {percent}%, {eta} left, {wide_msg}";

impl Bar {
    fn new() -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style(UNKNOWN));
        Bar { bar, look: UNKNOWN }
    }

    fn draw(&mut self, progress: &Progress) {
        let phase = progress.phase();
        let known = phase != Phase::Walking && progress.total_bytes() > 0;
        let look = match phase {
            _ if !known => UNKNOWN,
            Phase::Ordering | Phase::Scanning => STEPS,
            _ => BYTES,
        };
        if look != self.look {
            self.look = look;
            self.bar.set_style(style(look));
            self.bar.reset_eta();
        }
        if known {
            self.bar.set_length(progress.total_bytes());
            self.bar.set_position(progress.bytes());
        }
        self.bar.set_prefix(label(phase));
        self.bar.set_message(numbers(progress, phase));
        self.bar.tick();
    }
}

/// The style of `template`, or a plain bar if it does not parse.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn label(phase: Phase) -> &'static str {
    match phase {
        Phase::Walking => "finding files",
        Phase::Indexing => "indexing",
        Phase::Flushing => "writing",
        Phase::Committing => "committing",
        Phase::Merging => "merging",
        Phase::Ordering => "reordering",
        Phase::Scanning => "scanning",
    }
}

/// The numbers of files, documents and failures so far.
fn numbers(progress: &Progress, phase: Phase) -> String {
    let files = match phase {
        Phase::Walking => units::counted(progress.total_files(), "file"),
        Phase::Scanning => format!("{} found", units::counted(progress.bytes(), "entry")),
        Phase::Merging | Phase::Ordering => units::counted(progress.documents(), "document"),
        _ => format!(
            "{}/{}, {}",
            units::count(progress.files()),
            units::counted(progress.total_files(), "file"),
            units::counted(progress.documents(), "document")
        ),
    };
    match progress.failures() {
        0 => files,
        // Failures come first, since a narrow terminal cuts off the end.
        failures => format!("{} failed, {files}", units::count(failures)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_and_its_result_comes_back() {
        assert_eq!(during(&Progress::default(), true, || 7), 7);
    }

    #[test]
    fn a_ticker_says_how_long_it_takes_yet() {
        let ticker = Ticker::new("row");
        assert_eq!(ticker.message(5_000, 2.0), "5,000 rows, 2500 per second");
        let ticker = ticker.of(Some(40_000), 10_000);
        let message = ticker.message(20_000, 2.0);
        assert_eq!(message, "50% of 40,000 rows, 5000 per second, 4.00 s left");
        assert_eq!(ticker.message(40_000, 6.0), "100% of 40,000 rows, 5000 per second, 0.00 s left");
        assert!(ticker.message(10_000, 0.0).starts_with("25% of"));
    }

    #[test]
    fn the_message_follows_the_phase() {
        let progress = Progress::default();
        assert_eq!(numbers(&progress, Phase::Walking), "0 files");
        assert_eq!(numbers(&progress, Phase::Indexing), "0/0 files, 0 documents");
    }
}
