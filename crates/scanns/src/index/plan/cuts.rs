//! Where large files of records are cut, so that several shards share them.
//!
//! The places are those at which threads of one build divide such files, see `read/cuts.rs`. To number the
//! records behind a cut, everything before it has to be read once: lines by several threads, other records
//! from the start by one thread for each file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::read::{FindCuts, PieceStart};
use crate::source::Stamp;

/// The most bytes that are read at once.
const STEP: u64 = 1 << 20;

/// The number of bytes whose lines a thread counts at a time.
const COUNTED: u64 = 64 << 20;

/// How records end.
#[derive(Clone, Debug)]
pub(super) enum CutRule {
    /// With lines.
    Lines,
    /// As these cuts find it.
    Records(Arc<dyn FindCuts>),
}

/// A file that is to be cut.
pub(super) struct FileToCut {
    /// The number of the input.
    pub(super) input: u64,
    pub(super) path: PathBuf,
    /// Its size and time, just before it is cut.
    pub(super) stamp: Stamp,
    /// The ideal places, ascending, more than 0.
    pub(super) wanted: Vec<u64>,
}

/// A place between two records.
#[derive(Clone, Debug)]
pub(super) struct FoundCut {
    pub(super) at: u64,
    pub(super) start: PieceStart,
}

/// The first places at or behind the ideal ones, for every file; `None` if no record begins there.
///
/// # Errors
/// [`Error::Cancelled`] if `cancel` was set; an error if a file cannot be read.
pub(super) fn find_cuts(
    files: &[FileToCut],
    rule: &CutRule,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Vec<Option<FoundCut>>>> {
    let failed = |file: &FileToCut, error| Error::io("read", &file.path, error);
    match rule {
        CutRule::Lines => files
            .iter()
            .map(|file| {
                let mut places = line_starts(file).map_err(|error| failed(file, error))?;
                number_lines(file, &mut places, threads, cancel).map_err(|error| failed(file, error))?;
                if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(places) }
            })
            .collect(),
        CutRule::Records(cuts) => share_out(files.len(), threads, |number| {
            let Some(file) = files.get(number) else { return Ok(Vec::new()) };
            let found = record_starts(file, cuts.of_next_text(), cancel);
            found.map_err(|error| failed(file, error))?.ok_or(Error::Cancelled)
        }),
    }
}

/// Calls `work` with all numbers below `count`, in several threads; the results are in the order of the
/// numbers.
fn share_out<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    };
    let mut done = std::thread::scope(|scope| -> Result<Vec<_>> {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, run).ok();
        let helpers: Vec<_> = (1..threads.min(count)).map_while(spawn).collect();
        let mut done = run();
        for helper in helpers {
            let more = helper.join().map_err(|panic| Error::panicked("a thread that cuts files", &*panic));
            done.extend(more?);
        }
        Ok(done)
    })?;
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The starts of the lines at or behind the ideal places; the lines before them are not counted yet.
fn line_starts(file: &FileToCut) -> io::Result<Vec<Option<FoundCut>>> {
    let open = File::open(&file.path)?;
    let mut buffer = vec![0; usize::try_from(STEP.min(file.stamp.bytes)).unwrap_or(0)];
    let start_from = |&wanted: &u64| {
        let mut at = wanted.saturating_sub(1);
        while at < file.stamp.bytes {
            let got = open.read_at(&mut buffer, at)?;
            if got == 0 {
                break;
            }
            let feed = buffer.get(..got).and_then(|bytes| memchr::memchr(b'\n', bytes));
            if let Some(feed) = feed {
                return Ok(Some(at + feed as u64 + 1).filter(|&at| at < file.stamp.bytes));
            }
            at += got as u64;
        }
        Ok(None)
    };
    let places: io::Result<Vec<Option<u64>>> = file.wanted.iter().map(start_from).collect();
    let cut = |at| FoundCut { at, start: PieceStart { head: [].into(), records: 0, lines: 0, credit: 0 } };
    Ok(places?.into_iter().map(|place| place.map(cut)).collect())
}

/// Counts the lines before the cuts, which ascend.
fn number_lines(
    file: &FileToCut,
    cuts: &mut [Option<FoundCut>],
    threads: usize,
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut ranges = Vec::new();
    let mut from = 0;
    for (number, cut) in cuts.iter().enumerate() {
        let Some(FoundCut { at, .. }) = cut else { continue };
        while from < *at {
            let to = at.saturating_sub(from).min(COUNTED) + from;
            ranges.push((number, from, to));
            from = to;
        }
    }
    let open = File::open(&file.path)?;
    let count = |number: usize| {
        let &(_, from, to) = ranges.get(number).unwrap_or(&(0, 0, 0));
        count_lines(&open, from, to, cancel).map_err(|error| Error::io("read", &file.path, error))
    };
    let counts = share_out(ranges.len(), threads, count).map_err(io::Error::other)?;
    let (mut lines, mut counted) = (0, ranges.iter().zip(counts).peekable());
    for (number, cut) in cuts.iter_mut().enumerate() {
        while let Some((_, more)) = counted.next_if(|((of, ..), _)| *of <= number) {
            lines += more;
        }
        if let Some(FoundCut { start, .. }) = cut {
            (start.records, start.lines) = (lines, lines);
        }
    }
    Ok(())
}

fn count_lines(file: &File, from: u64, to: u64, cancel: &AtomicBool) -> io::Result<u64> {
    let mut buffer = vec![0; usize::try_from(STEP.min(to - from)).unwrap_or(0)];
    let (mut at, mut lines) = (from, 0);
    while at < to && !cancel.load(Ordering::Relaxed) {
        let len = usize::try_from(to - at).unwrap_or(usize::MAX).min(buffer.len());
        let into = buffer.get_mut(..len).unwrap_or_default();
        let got = file.read_at(into, at)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        lines += memchr::memchr_iter(b'\n', into.get(..got).unwrap_or_default()).count() as u64;
        at += got as u64;
    }
    Ok(lines)
}

/// The starts of the records at or behind the ideal places; `None` if `cancel` was set.
fn record_starts(
    file: &FileToCut,
    mut finder: Box<dyn FindCuts>,
    cancel: &AtomicBool,
) -> io::Result<Option<Vec<Option<FoundCut>>>> {
    let open = File::open(&file.path)?;
    let mut buffer = vec![0; usize::try_from((file.stamp.bytes / 64).clamp(512, STEP)).unwrap_or(0)];
    let (mut at, mut found) = (0, Vec::new());
    while let Some(&wanted) = file.wanted.get(found.len())
        && at < file.stamp.bytes
    {
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let got = open.read_at(&mut buffer, at)?;
        if got == 0 {
            break;
        }
        let cut = finder.take(buffer.get(..got).unwrap_or_default());
        let cut = cut.map(|cut| FoundCut { at: at + cut.at as u64, start: cut.start });
        if let Some(cut) = cut.filter(|cut| cut.at >= wanted && cut.at < file.stamp.bytes) {
            let passed = file.wanted.iter().skip(found.len()).take_while(|&&wanted| wanted <= cut.at).count();
            found.extend(std::iter::repeat_n(Some(cut), passed));
        }
        at += got as u64;
    }
    found.resize(file.wanted.len(), None);
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_wherever_a_file_is_cut() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lines");
        for _ in 0..50 {
            let len = random.usize(2..5000);
            let every = random.usize(2..300);
            let bytes: Vec<u8> =
                (0..len).map(|_| if random.usize(..every) == 0 { b'\n' } else { b'x' }).collect();
            std::fs::write(&path, &bytes).unwrap();
            let mut wanted: Vec<u64> = (0..random.usize(1..9)).map(|_| random.u64(1..len as u64)).collect();
            wanted.sort_unstable();
            let stamp = Stamp { bytes: len as u64, modified: 0 };
            let file = FileToCut { input: 0, path: path.clone(), stamp, wanted: wanted.clone() };
            let found = find_cuts(&[file], &CutRule::Lines, 3, &AtomicBool::new(false)).unwrap();
            for (wanted, cut) in wanted.into_iter().zip(&found[0]) {
                let from = usize::try_from(wanted).unwrap();
                let next = (from..len).find(|&at| bytes[at - 1] == b'\n');
                assert_eq!(cut.as_ref().map(|cut| cut.at), next.map(|at| at as u64), "seed {seed}");
                if let (Some(cut), Some(next)) = (cut, next) {
                    let lines = bytes[..next].iter().filter(|&&byte| byte == b'\n').count() as u64;
                    assert_eq!((cut.start.records, cut.start.lines), (lines, lines), "seed {seed}");
                }
            }
        }
    }
}
