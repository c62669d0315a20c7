//! What an index survives: power cuts, calls that fail, a full disk, damaged files, readers that stay.
//!
//! `model.rs` is an ordered map that predicts what must be readable after each commit, and runs of random
//! changes; every other file makes one kind of trouble during them. All is random; each test prints its seed.
//! Every test runs for some seconds; with `SCANNS_LONG=1` it tries all that there is to try, for a thousand
//! seeds where seeds matter. `SCANNS_SEED` is the first seed, to run again what failed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod damage;
mod faults;
mod full;
mod model;
mod power;
mod readers;

/// True where all is to be tried that there is.
fn long() -> bool {
    std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0")
}

/// The seeds of a test: a few, or many where all is to be tried.
fn seeds(few: u64, many: u64) -> std::ops::Range<u64> {
    let first = std::env::var("SCANNS_SEED").ok().map(|seed| seed.parse().unwrap()).unwrap_or(0x5eed_0400);
    first..first + if long() { many } else { few }
}
