//! How results are written: the machine, medians with their spread, variants side by side.

use std::fs;

/// Prints what the figures depend on.
pub fn machine() {
    let field = |path: &str, name: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).map(str::to_string);
        line.and_then(|line| line.split_once(':').map(|(_, value)| value.trim().to_string()))
            .unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    println!(
        "machine: {} cores {}, memory {}, Linux {}",
        cores,
        field("/proc/cpuinfo", "model name"),
        field("/proc/meminfo", "MemTotal"),
        kernel.trim()
    );
}

/// The median of some measurements, and how far they spread.
#[derive(Clone, Copy, Debug)]
pub struct Median {
    /// The middle value.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Median {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        Median { median: at(sorted.len() / 2), min: at(0), max: at(sorted.len().saturating_sub(1)) }
    }
}

impl std::fmt::Display for Median {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.1} ({:.1} to {:.1})", self.median, self.min, self.max)
    }
}

/// Bytes as MiB.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Prints the rate of one variant for `bytes` and `tokens`, and how many times faster ours is, if it was measured.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn ladder_line(name: &str, seconds: &[f64], (bytes, tokens): (u64, u64), ours: Option<f64>) {
    let rates: Vec<f64> = seconds.iter().map(|seconds| mib(bytes) / seconds).collect();
    let median = Median::of(seconds).median;
    let ratio = ours.map_or(String::new(), |ours| format!(", ours is {:.2} times as fast", median / ours));
    println!(
        "  {name:<36} {} MiB/s, {:.1} ns per token{ratio}",
        Median::of(&rates),
        median * 1e9 / tokens.max(1) as f64
    );
}
