//! A tree of small files like the sources of a large program: many directories, sizes with a long tail, lines
//! of code.
//!
//! The shape follows the sources of Linux 6.1. Half of the files have less than 4 KiB, and the mean size is
//! four times that (the logarithm of the size is about normal, mean 8.2, deviation 1.6). A directory has 15
//! files, and directories are 3 to 6 levels deep.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fastrand::Rng;

use super::words::{Zipf, log_normal, short_word, skewed, word};

/// Mean and deviation of the logarithm of sizes.
const SIZE: (f64, f64) = (8.225, 1.618);

/// Writes files of `bytes` in all below `out`. Returns the frequent words by falling frequency.
pub fn write(out: &Path, bytes: u64, seed: u64) -> Result<Vec<String>> {
    let mut random = Rng::with_seed(seed);
    let zipf = Zipf::new(2_000_000, 2.7, 1.05);
    let (mut left, mut number) = (bytes, 0);
    let mut directories: Vec<String> = Vec::new();
    while left > 0 {
        let path = next_directory(&mut random, &mut directories, out, number);
        fs::create_dir_all(&path)?;
        for _ in 0..1 + log_normal(&mut random, 2.2, 1.0) {
            if left == 0 {
                break;
            }
            let size = log_normal(&mut random, SIZE.0, SIZE.1) as u64;
            let text = code(&mut random, &zipf, usize::try_from(size.min(left))?);
            let ending = ["c", "h", "c", "h", "rst", "txt", "dts", ""][random.usize(0..8)];
            fs::write(path.join(format!("{}-{number}.{ending}", word(skewed(&mut random, 4000)))), &text)?;
            left -= text.len() as u64;
            number += 1;
        }
    }
    Ok((0..10_000).map(short_word).collect())
}

/// Continues the walk: up some directories and down into a new one.
fn next_directory(random: &mut Rng, directories: &mut Vec<String>, out: &Path, number: usize) -> PathBuf {
    let depth = 1 + random.usize(0..4) + random.usize(0..4);
    directories.truncate(random.usize(0..depth).max(random.usize(0..depth)));
    while directories.len() < depth {
        directories.push(format!("{}{number}", word(skewed(random, 2000))));
    }
    directories.iter().fold(out.to_path_buf(), |path, name| path.join(name))
}

/// Lines that resemble code, `size` bytes in all.
fn code(random: &mut Rng, zipf: &Zipf, size: usize) -> String {
    let mut text = String::with_capacity(size + 128);
    // A file repeats its own names.
    let mut own: Vec<String> = Vec::new();
    while text.len() < size {
        (0..random.usize(0..5)).for_each(|_| text.push_str("    "));
        for _ in 0..random.usize(1..9) {
            token(random, zipf, &mut own, &mut text);
            text.push(' ');
        }
        text.pop();
        text.push('\n');
    }
    text.truncate(size);
    text
}

/// One run of bytes without white space.
fn token(random: &mut Rng, zipf: &Zipf, own: &mut Vec<String>, text: &mut String) {
    match random.u32(0..100) {
        0..=13 => text.push_str(["=", "{", "}", "*", "+", "if", "return", "int"][random.usize(0..8)]),
        14..=33 => text.push_str(&short_word(zipf.draw(random))),
        34..=37 => {
            let bits = random.u32(4..22);
            text.push_str(&format!("0x{:04x},", random.u32(0..1 << bits)));
        }
        38..=73 if !own.is_empty() => {
            let back = 1 + skewed(random, own.len());
            text.push_str(&own[own.len() - back]);
        }
        _ => {
            let ends = [";", ",", ");", "(", "", "", "", ""];
            let mut name = identifier(zipf.draw(random)) + ends[skewed(random, ends.len())];
            if random.u32(0..5) == 0 {
                name.insert_str(0, &short_word(zipf.draw(random)));
            }
            text.push_str(&name);
            own.push(name);
        }
    }
}

/// A name that the program uses; the same rank has the same name.
fn identifier(rank: usize) -> String {
    let joint = ["_", "->", "_", ".", "_", "("][rank % 6];
    let (one, two) = (short_word(rank % 9973), short_word(rank / 3 % 30_011));
    match rank % 4 {
        0 => format!("{one}{joint}{two}_{}", short_word(rank / 7)),
        _ => format!("{one}{joint}{two}{}", rank / 100),
    }
}
