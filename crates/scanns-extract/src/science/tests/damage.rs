//! Damage: files cut off at every byte, files with changed bytes, and sizes that lie.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use super::{SAMPLES, found, found_as};
use crate::science::ScienceFormat;

/// Panics of this crate, which must not be, and of the crates it uses, which are caught.
static OWN: Mutex<Vec<String>> = Mutex::new(Vec::new());
static OTHERS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics from here on, and prints only those of tests.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let old = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |location| location.file());
            if file.contains("tests") {
                old(info);
            } else if file.contains(".cargo") || file.starts_with("/rustc") {
                OTHERS.fetch_add(1, Ordering::Relaxed);
            } else {
                OWN.lock().unwrap().push(info.to_string());
            }
        }));
    });
}

fn assert_no_own_panics() {
    let own = OWN.lock().unwrap();
    println!("{} panics of other crates were caught", OTHERS.load(Ordering::Relaxed));
    assert!(own.is_empty(), "{own:?}");
}

#[test]
fn a_file_cut_off_at_any_byte_gives_a_result() {
    count_panics();
    let end = Instant::now() + Duration::from_secs(30);
    let mut cuts = 0;
    for sample in &SAMPLES {
        // Larger samples have long runs of data or padding.
        let step = if sample.data.len() > 4096 { 7 } else { 1 };
        let format = ScienceFormat::of(sample.data).unwrap();
        for len in (0..sample.data.len()).step_by(step) {
            let _ = found_as(format, &sample.data[..len]);
            cuts += 1;
            assert!(Instant::now() < end, "{} took too long at {len}", sample.name);
        }
    }
    println!("{cuts} cuts");
    assert_no_own_panics();
}

#[test]
fn changed_bytes_make_no_panic() {
    count_panics();
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_240_131);
    let rounds: usize =
        std::env::var("SCANNS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(10_000);
    println!("seed {seed}, {rounds} rounds");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..rounds {
        let sample = &SAMPLES[round % SAMPLES.len()];
        let mut data = sample.data.to_vec();
        change(&mut data, &mut random);
        let start = Instant::now();
        let _ = found(&data);
        assert!(start.elapsed() < Duration::from_secs(10), "{} took too long in round {round}", sample.name);
    }
    assert_no_own_panics();
}

/// Changes up to four places, most of them near the start, to values that often mean something.
fn change(data: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..=4) {
        let most = if random.bool() { data.len().min(512) } else { data.len() };
        let at = random.usize(0..most);
        match random.u8(0..8) {
            0 => data[at] = 0,
            1 => data[at] = 0xff,
            2 => data[at] ^= 1 << random.u8(0..8),
            3 => data[at] = random.u8(..),
            4 => data[at] = data[at].wrapping_add(1),
            5 => {
                let end = (at + 4).min(data.len());
                let fill = if random.bool() { 0xff } else { 0x7f };
                data[at..end].fill(fill);
            }
            6 => {
                let from = random.usize(0..data.len());
                let len = random.usize(0..16).min(data.len() - from).min(data.len() - at);
                data.copy_within(from..from + len, at);
            }
            _ => data.truncate(at.max(1)),
        }
    }
}

#[test]
fn a_size_that_lies_gives_a_result() {
    for sample in &SAMPLES {
        let format = ScienceFormat::of(sample.data).unwrap();
        for size in [0, 1, 100, sample.data.len() as u64 * 2, u64::MAX] {
            let mut out = crate::output::Output::new(1 << 20, 1000);
            let _ = format.extract(&mut std::io::Cursor::new(sample.data), size, &mut out);
        }
    }
}

#[test]
fn a_directory_of_a_tiff_that_points_to_itself_is_told() {
    let data = [b'I', b'I', 42, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 0];
    assert!(found(&data).unwrap().done.is_err());
}
