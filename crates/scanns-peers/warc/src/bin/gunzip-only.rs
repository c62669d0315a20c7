//! Decompresses gzip files and throws the bytes away: `gunzip-only THREADS FILE...`
//!
//! This is the least time that a program with the same library can take for the files: zlib-rs, with a thread
//! for each file and a buffer of 256 KiB, and no checks but those of gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use flate2::bufread::GzDecoder;

/// Bytes that are read and decompressed at once.
const BUFFER: usize = 256 << 10;

fn main() -> Result<()> {
    let mut words = std::env::args_os().skip(1);
    let threads = words.next().and_then(|word| word.to_str()?.parse::<usize>().ok());
    let threads = threads.context("usage: gunzip-only THREADS FILE...")?;
    let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    let next = AtomicUsize::new(0);
    let bytes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| decompress_all(&files, &next))).collect();
        workers.into_iter().try_fold(0, |sum, worker| {
            anyhow::Ok(sum + worker.join().map_err(|_| anyhow::anyhow!("a thread failed"))??)
        })
    })?;
    println!("{bytes}");
    Ok(())
}

/// Takes files until none are left, and returns the number of their bytes.
fn decompress_all(files: &[PathBuf], next: &AtomicUsize) -> Result<u64> {
    let mut bytes = 0;
    let mut buffer = vec![0; BUFFER];
    while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        bytes += decompress(path, &mut buffer).with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(bytes)
}

/// Decompresses all members of a file.
fn decompress(path: &Path, buffer: &mut [u8]) -> Result<u64> {
    let mut file = BufReader::with_capacity(BUFFER, File::open(path)?);
    let mut bytes = 0;
    while !file.fill_buf()?.is_empty() {
        let mut member = GzDecoder::new(&mut file);
        loop {
            match member.read(buffer)? {
                0 => break,
                read => bytes += u64::try_from(read)?,
            }
        }
    }
    Ok(bytes)
}
