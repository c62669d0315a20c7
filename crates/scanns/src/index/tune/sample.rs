//! Takes a representative sample of the inputs that is small enough to be indexed many times.
//!
//! Large and small files have the same share of the sample as of the inputs. Large files contribute stretches
//! at even distances, small files runs of neighbours at even distances. This way all parts of a tree and of a
//! file are sampled, files of a directory stay together, and the same inputs give the same sample. Stretches
//! are copied to separate files; whole files are read in place.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::source::Input;
use crate::sys::ReadFile;

/// Files of at least this size may be sampled in stretches.
const LARGE: u64 = 4 << 20;

/// The longest stretch of a file, a compromise between many blocks per stretch and many stretches.
pub(super) const STRETCH: u64 = 16 << 20;

/// The shortest stretch.
const SHORTEST: u64 = 1 << 20;

/// The number of runs of small files.
const RUNS: u64 = 64;

/// A range of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    /// The number of the input in the list.
    pub(super) input: usize,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// Chooses about `wanted` bytes of `inputs`, or all if there are no more. Takes enough stretches of large
/// files for each of `threads` index threads.
pub(super) fn choose(inputs: &[Input], wanted: u64, threads: usize) -> Vec<Pick> {
    let all: u64 = inputs.iter().map(|input| input.bytes).sum();
    let whole = |(input, of): (usize, &Input)| Pick { input, offset: 0, len: of.bytes };
    if all <= wanted {
        return inputs.iter().enumerate().map(whole).collect();
    }
    let (large, small): (Vec<Pick>, Vec<Pick>) =
        inputs.iter().enumerate().map(whole).filter(|pick| pick.len > 0).partition(|pick| pick.len >= LARGE);
    let large_bytes: u64 = large.iter().map(|pick| pick.len).sum();
    let share = part(wanted, large_bytes, all);
    let mut picks = stretches(&large, large_bytes, share, 2 * threads as u64);
    picks.extend(runs(&small, all - large_bytes, wanted - share));
    picks
}

/// `of * numerator / denominator` without overflow; 0 if the denominator is 0.
fn part(of: u64, numerator: u64, denominator: u64) -> u64 {
    let product = u128::from(of) * u128::from(numerator);
    u64::try_from(product.checked_div(u128::from(denominator)).unwrap_or(0)).unwrap_or(u64::MAX)
}

/// Stretches of large files, at even distances over all their bytes.
fn stretches(files: &[Pick], bytes: u64, wanted: u64, least: u64) -> Vec<Pick> {
    if files.is_empty() || wanted == 0 {
        return Vec::new();
    }
    let count = wanted.div_ceil(STRETCH).max(least).min(wanted.div_ceil(SHORTEST));
    let mut picks: Vec<Pick> = Vec::new();
    let (mut file, mut before) = (0, 0);
    for number in 0..count {
        let at = part(bytes, 2 * number + 1, 2 * count);
        while at - before >= files[file].len {
            before += files[file].len;
            file += 1;
        }
        let Pick { input, len: size, .. } = files[file];
        let len = (wanted / count).clamp(SHORTEST, STRETCH).min(size);
        // Centre the stretch on the place, but stay inside the file and after the stretch before.
        let middle = (at - before).saturating_sub(len / 2).min(size - len) & !4095;
        let taken = picks.last().filter(|last| last.input == input).map_or(0, |last| last.offset + last.len);
        let offset = middle.max(taken);
        let len = len.min(size - offset);
        if len > 0 {
            picks.push(Pick { input, offset, len });
        }
    }
    picks
}

/// Runs of small files, at even distances over all their bytes.
fn runs(files: &[Pick], bytes: u64, wanted: u64) -> Vec<Pick> {
    let mut picks = Vec::new();
    let (mut at, mut taken) = (0, 0);
    for file in files {
        // A run continues until its share is taken; the next one begins with the next stratum.
        let stratum = part(at, RUNS, bytes);
        if taken < part(wanted, stratum + 1, RUNS) && taken + file.len <= wanted + LARGE {
            picks.push(*file);
            taken += file.len;
        }
        at += file.len;
    }
    picks
}

/// The files of a sample, as paths to index.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) paths: Vec<PathBuf>,
    pub(super) bytes: u64,
    /// Bytes that are copies.
    pub(super) copied: u64,
    /// True if most of it was in the page cache when it was chosen.
    pub(super) cached: bool,
}

impl Sample {
    /// Prepares `picks`. Copies stretches to the existing directory `dir`, and leaves out files that cannot
    /// be read.
    ///
    /// # Errors
    /// [`Error::Io`] if a copy cannot be written.
    pub(super) fn prepare(inputs: &[Input], picks: &[Pick], dir: &Path) -> Result<Sample> {
        let mut sample = Sample { paths: Vec::new(), bytes: 0, copied: 0, cached: false };
        let mut cached = 0;
        for (number, pick) in picks.iter().enumerate() {
            let input = &inputs[pick.input];
            let Ok(file) = ReadFile::open(&input.path) else { continue };
            if file.seems_cached(pick.offset, pick.len) {
                cached += pick.len;
            }
            let (path, len) = if pick.len < input.bytes {
                let path = dir.join(format!("stretch-{number:05}"));
                let Some(len) = copy(&input.path, pick, &path)? else { continue };
                sample.copied += len;
                (path, len)
            } else {
                (input.path.clone(), pick.len)
            };
            sample.paths.push(path);
            sample.bytes += len;
        }
        sample.cached = cached > sample.bytes / 2;
        Ok(sample)
    }

    /// Asks the system to evict the sample from the page cache.
    pub(super) fn forget(&self) {
        for path in &self.paths {
            if let Ok(file) = ReadFile::open(path) {
                file.drop_cached(0, 0);
            }
        }
    }
}

/// Copies a stretch, excluding lines that its ends cut, if it has lines. Returns `None` if it cannot be read.
fn copy(from: &Path, pick: &Pick, to: &Path) -> Result<Option<u64>> {
    let mut bytes = Vec::new();
    let read = File::open(from).and_then(|mut file| {
        file.seek(SeekFrom::Start(pick.offset))?;
        file.take(pick.len).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return Ok(None);
    }
    let start = if pick.offset == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1) };
    let end = memchr::memrchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1).max(start);
    let write = || {
        let mut out = BufWriter::new(File::create(to)?);
        out.write_all(&bytes[start..end])?;
        // Only data on disk can be evicted from the page cache.
        out.into_inner()?.sync_data()
    };
    write().map_err(|source| Error::io("write the sample", to, source))?;
    Ok(Some((end - start) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(sizes: impl IntoIterator<Item = u64>) -> Vec<Input> {
        let input = |(number, bytes)| Input {
            path: format!("/d{}/f{number}", number / 40).into(),
            bytes,
            ..Input::default()
        };
        sizes.into_iter().enumerate().map(input).collect()
    }

    fn bytes(picks: &[Pick]) -> u64 {
        picks.iter().map(|pick| pick.len).sum()
    }

    #[test]
    fn small_inputs_are_taken_whole() {
        let inputs = inputs([5 << 20, 0, 100, 1 << 20]);
        let picks = choose(&inputs, 64 << 20, 2);
        assert_eq!(picks.len(), 4);
        assert!(picks.iter().all(|pick| pick.offset == 0 && pick.len == inputs[pick.input].bytes));
    }

    #[test]
    fn samples_are_bounded_disjoint_spread_and_the_same_each_time() {
        let mut random = fastrand::Rng::with_seed(11);
        for round in 0..200 {
            let large: Vec<u64> = (0..random.usize(0..40)).map(|_| random.u64(LARGE..900 << 20)).collect();
            let count = random.usize(1..5000);
            let small: Vec<u64> = (0..count).map(|_| random.u64(0..60 << 10).pow(2) >> 12).collect();
            let inputs = inputs(large.iter().chain(&small).copied());
            let wanted = random.u64(1 << 20..600 << 20);
            let picks = choose(&inputs, wanted, 3);
            assert_eq!(picks, choose(&inputs, wanted, 3), "round {round}");
            let all: u64 = inputs.iter().map(|input| input.bytes).sum();
            // Whole small files and stretches of at least a MiB make it inexact.
            let most = wanted + 2 * LARGE + (1 << 20);
            let taken = bytes(&picks);
            assert!(taken <= most.min(all), "round {round}: {taken} of {wanted}");
            assert!(taken + 2 * LARGE + wanted / 4 >= wanted.min(all), "round {round}: {taken} of {wanted}");
            for pair in picks.windows(2) {
                let apart = pair[0].input != pair[1].input || pair[0].offset + pair[0].len <= pair[1].offset;
                assert!(apart && pair[0].input <= pair[1].input, "round {round}: {pair:?}");
            }
            assert!(picks.iter().all(|pick| pick.offset + pick.len <= inputs[pick.input].bytes));
        }
    }

    #[test]
    fn every_index_thread_gets_a_stretch() {
        for threads in [1, 2, 8] {
            let picks = choose(&inputs([3 << 30]), 32 << 20, threads);
            assert_eq!((picks.len(), bytes(&picks)), (2 * threads, 32 << 20));
        }
    }

    #[test]
    fn a_sample_has_the_same_sizes_as_the_inputs() {
        let mut random = fastrand::Rng::with_seed(5);
        let small = (0..40_000).map(|_| random.u64(1..40 << 10));
        let inputs = inputs([40 << 20; 10].into_iter().chain(small));
        let all: u64 = inputs.iter().map(|input| input.bytes).sum();
        let picks = choose(&inputs, all / 10, 2);
        let large: u64 = picks.iter().filter(|pick| pick.input < 10).map(|pick| pick.len).sum();
        let share = large as f64 / bytes(&picks) as f64 / ((400 << 20) as f64 / all as f64);
        assert!((0.9..1.1).contains(&share), "{share}");
        let small: Vec<u64> = picks.iter().filter(|pick| pick.input >= 10).map(|pick| pick.len).collect();
        let mean = small.iter().sum::<u64>() as f64 / small.len() as f64;
        assert!((0.95..1.05).contains(&(mean / (20 << 10) as f64)), "{mean}");
        let quarters = picks.iter().filter(|pick| pick.input >= 10).fold([0; 4], |mut counts, pick| {
            counts[(pick.input - 10) / 10_000] += 1;
            counts
        });
        assert!(quarters.iter().all(|&count| count * 5 > small.len()), "{quarters:?}");
    }

    #[test]
    fn a_stretch_holds_whole_lines_and_missing_files_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let text: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let given = [
            Input { path: path.clone(), bytes: text.len() as u64, ..Input::default() },
            Input { path: dir.path().join("gone"), bytes: 10, ..Input::default() },
        ];
        let picks = [
            Pick { input: 0, offset: 0, len: 5003 },
            Pick { input: 0, offset: 8192, len: 5001 },
            Pick { input: 1, offset: 0, len: 10 },
        ];
        let sample = Sample::prepare(&given, &picks, dir.path()).unwrap();
        assert_eq!(sample.paths.len(), 2);
        assert!(sample.copied == sample.bytes && sample.bytes > 9900 && sample.bytes <= 10_004);
        for copy in &sample.paths {
            let copied = std::fs::read_to_string(copy).unwrap();
            assert!(text.contains(&copied) && copied.starts_with("line ") && copied.ends_with('\n'));
        }
        sample.forget();
    }
}
