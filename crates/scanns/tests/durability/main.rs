//! The durability of an index: power cuts, failing calls, a full disk, damaged files, long-lived readers.
//!
//! `model.rs` is an ordered map that predicts the content after each commit, and makes random changes; every
//! other file causes one kind of trouble during them. All tests are random, and each prints its seed. Each
//! test runs for some seconds; with `SCANNS_LONG=1` it tries all cases, for a thousand seeds where seeds
//! matter. `SCANNS_SEED` is the first seed, to repeat a failure.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod damage;
mod faults;
mod full;
mod model;
mod power;
mod readers;

/// True if all cases are to be tried.
fn long() -> bool {
    std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0")
}

/// The seeds of a test: a few, or many if all cases are to be tried.
fn seeds(few: u64, many: u64) -> std::ops::Range<u64> {
    let first = std::env::var("SCANNS_SEED").ok().map(|seed| seed.parse().unwrap()).unwrap_or(0x5eed_0400);
    first..first + if long() { many } else { few }
}
