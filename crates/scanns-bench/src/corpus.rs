//! A metadata dump as file systems give it: a line per file, words of paths repeat, numbers do not.
//!
//! Distinct terms are about one in seven tokens, as in dumps of real systems: inode numbers, times and sizes are
//! nearly all different, names come from a skewed vocabulary with numbered and hashed suffixes.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;

/// What to write.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory for the files, 32 MiB each
    pub out: PathBuf,
    /// MiB in all
    #[arg(long, default_value_t = 1024)]
    pub mib: u64,
    /// The same seed gives the same bytes
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Also write queries by class to this file
    #[arg(long)]
    pub queries: Option<PathBuf>,
}

/// Numbers that look random, from a seed (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// Small numbers are much more frequent than large ones.
    fn skewed(&mut self, bound: u64) -> u64 {
        let limit = 1 + self.below(bound);
        let limit = 1 + self.below(limit);
        self.below(limit)
    }
}

const SYLLABLES: [&str; 16] = [
    "lib", "data", "src", "run", "con", "fig", "net", "core", "test", "doc", "img", "mod", "out", "tmp",
    "py", "bin",
];

fn word(number: u64) -> String {
    let mut word = String::new();
    let mut rest = number + 1;
    while rest > 0 {
        let syllable = usize::try_from(rest % 16).unwrap_or(0);
        word.push_str(SYLLABLES.get(syllable).copied().unwrap_or("x"));
        rest /= 16;
    }
    word
}

fn line(random: &mut Random, prefix: &str) -> String {
    let mut path = prefix.to_string();
    for _ in 0..2 + random.below(5) {
        path.push('/');
        path.push_str(&word(random.skewed(30_000)));
    }
    match random.below(20) {
        0..=4 => path.push_str(&format!("_{}", random.below(1_000_000))),
        5..=6 => path.push_str(&format!(".{:012x}", random.below(1 << 48))),
        _ => path.push_str(".txt"),
    }
    let time = 1_400_000_000 + random.below(260_000_000);
    let size = random.skewed(1 << 32);
    let (access, user, inode) = (time + random.below(1_000_000), random.skewed(3000), random.below(1 << 40));
    format!("{path} {size} {time} {access} {time} u{user:05} m{:04} 644 {inode} 1 f\n", user % 800)
}

/// Writes the dump.
pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.out)?;
    let mut random = Random(args.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut left, mut part) = (args.mib << 20, 0);
    let mut prefix = String::new();
    while left > 0 {
        let mut file = BufWriter::new(fs::File::create(args.out.join(format!("part-{part:05}.txt")))?);
        let mut room = left.min(32 << 20);
        while room > 0 {
            if prefix.is_empty() || random.below(2000) == 0 {
                prefix = format!("/global/scratch/m{:04}/run{}", random.below(800), random.below(10_000_000));
            }
            let line = line(&mut random, &prefix);
            file.write_all(line.as_bytes())?;
            let len = (line.len() as u64).min(room);
            room -= len;
            left -= len;
        }
        file.flush()?;
        part += 1;
    }
    println!("corpus: {} MiB in {part} files, seed {}", args.mib, args.seed);
    args.queries.as_ref().map_or(Ok(()), |path| write_queries(path, &mut random))
}

/// Frequent, less frequent and rare words, alone and together.
fn write_queries(path: &PathBuf, random: &mut Random) -> Result<()> {
    let mut out = String::new();
    for (class, terms, frequent) in [
        ("high", 1, true),
        ("med", 1, false),
        ("and2", 2, true),
        ("and3", 3, true),
        ("or2", 2, true),
        ("or3", 3, true),
    ] {
        for _ in 0..100 {
            let mut pick = || if frequent { random.below(20) } else { 200 + random.below(2000) };
            let words: Vec<String> = (0..terms).map(|_| word(pick())).collect();
            out.push_str(&format!("{class}\t{}\n", words.join(" ")));
        }
    }
    Ok(fs::write(path, out)?)
}
