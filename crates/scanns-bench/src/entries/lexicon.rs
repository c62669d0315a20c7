//! Words and extensions that names are made of, numbers as text, and numbers that look random but follow from
//! others.

use fastrand::Rng;

use crate::corpus::words::{Zipf, word};

/// Words that names are made of.
const WORDS: usize = 20_000;

/// Extensions by falling frequency.
const EXTENSIONS: [&str; 48] = [
    ".txt",
    ".h5",
    ".dat",
    ".csv",
    ".png",
    ".nc",
    ".log",
    ".json",
    ".npy",
    ".py",
    ".out",
    ".gz",
    ".jpg",
    ".pdf",
    ".yaml",
    ".sh",
    ".pt",
    ".tif",
    ".xml",
    ".tar.gz",
    ".parquet",
    ".vtu",
    ".md",
    ".ipynb",
    ".npz",
    ".err",
    ".fits",
    ".mat",
    ".R",
    ".docx",
    ".zip",
    ".bin",
    ".xlsx",
    ".fastq.gz",
    ".bam",
    ".html",
    ".cfg",
    ".root",
    ".bak",
    ".pkl",
    ".mp4",
    ".nii.gz",
    ".pdb",
    ".tmp",
    ".H5",
    ".PNG",
    ".svg",
    ".old",
];

/// What names are made of.
#[derive(Debug)]
pub struct Lexicon {
    words: Vec<String>,
    /// As many draws of an extension as have to stand for its frequency.
    extensions: Vec<&'static str>,
}

impl Lexicon {
    /// Makes the words.
    pub fn new() -> Self {
        let (law, mut random) = (Zipf::new(48, 0.5, 1.2), Rng::with_seed(48));
        let draw = |_| EXTENSIONS.get(law.draw(&mut random)).copied().unwrap_or(".txt");
        Lexicon { words: (0..WORDS).map(word).collect(), extensions: (0..4096).map(draw).collect() }
    }

    /// Appends the word of the file or directory with a number. A directory does not have a word twice, and
    /// the first words are in most directories.
    pub fn push(&self, out: &mut Vec<u8>, number: u32, seed: u64) {
        // Each number has 40 words to choose from.
        let rank = number as usize * 40 + (seed % 40) as usize;
        out.extend(self.words.get(rank % WORDS).map_or("", String::as_str).bytes());
        if rank >= WORDS {
            push_number(out, u64::from(number), 0);
        }
    }

    /// An extension by its frequency.
    pub fn extension(&self, seed: u64) -> &'static str {
        self.extensions.get((seed % 4096) as usize).copied().unwrap_or(".txt")
    }
}

/// Appends a decimal number with at least `width` digits.
pub fn push_number(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut used) = (number, 0);
    for digit in digits.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit = b"0123456789"[(rest % 10) as usize];
        rest /= 10;
        used += 1;
    }
    let used = used.max(width).clamp(1, digits.len());
    out.extend(digits.split_at(digits.len() - used).1);
}

/// Appends the last digits of a number in hexadecimal.
pub fn push_hex(out: &mut Vec<u8>, number: u64, digits: u32) {
    let digit = |at: u32| b"0123456789abcdef"[((number >> (4 * at)) & 15) as usize];
    out.extend((0..digits).rev().map(digit));
}

/// A number that follows from two others and looks random (the finalizer of SplitMix64).
pub fn mix(one: u64, other: u64) -> u64 {
    let mut mixed = one.wrapping_add(other.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
