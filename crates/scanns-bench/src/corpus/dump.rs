//! A metadata dump as file systems produce it: one line per file, with words of paths that repeat and numbers
//! that do not.
//!
//! A walk over one invented tree is repeated under new prefixes of project, user and run. Every line has its
//! own inode number, times and size, and a third of the names have a numbered or hashed suffix, as in dumps
//! of real systems. `mod.rs` lists the figures that the dump is compared by.

use std::path::Path;

use anyhow::Result;
use fastrand::Rng;

use super::files::Files;
use super::words::{log_normal, skewed, word};

/// Lines of the tree that is repeated.
const TREE: usize = 150_000;

/// Writes files of `bytes` in all into `out`. Returns words by falling frequency.
pub fn write(out: &Path, bytes: u64, seed: u64) -> Result<Vec<String>> {
    let mut random = Rng::with_seed(seed);
    let (paths, words) = tree(&mut random);
    let mut files = Files::new(out, bytes);
    let mut line = String::new();
    loop {
        let (project, user) = (random.u32(0..800), random.u32(0..3000));
        let prefix = format!("/global/scratch/m{project:04}/u{user:05}/run{:07}", random.u32(0..10_000_000));
        for path in &paths {
            line.clear();
            line.push_str(&prefix);
            line.push_str(path);
            fields(&mut random, user, project, &mut line);
            if !files.write(line.as_bytes())? {
                files.finish()?;
                return Ok(words);
            }
        }
    }
}

/// Appends what follows a path: a suffix of the name, size, times, owner, group, mode, inode, links and kind.
fn fields(random: &mut Rng, user: u32, project: u32, line: &mut String) {
    match random.u32(0..20) {
        0..=4 => line.push_str(&format!("_{}", random.u32(0..1_000_000))),
        5..=6 => line.push_str(&format!(".{:012x}", random.u64(0..1 << 48))),
        _ => {}
    }
    let time = 1_400_000_000 + random.u32(0..260_000_000);
    let (access, inode) = (time + random.u32(0..1_000_000), random.u64(0..1 << 40));
    let size = log_normal(random, 9.8, 2.3);
    let (mode, links) = (["644", "644", "644", "755", "600"][random.usize(0..5)], 1 + skewed(random, 4));
    line.push_str(&format!(
        " {size} {time} {access} {time} u{user:05} m{project:04} {mode} {inode} {links} f\n"
    ));
}

/// Paths of a tree in the order of a walk, and the words in them by falling frequency.
fn tree(random: &mut Rng) -> (Vec<String>, Vec<String>) {
    let mut paths = Vec::with_capacity(TREE);
    let mut counts = vec![0u32; WORDS];
    let mut directories: Vec<String> = Vec::new();
    while paths.len() < TREE {
        let depth = 3 + random.usize(0..6) + random.usize(0..7);
        let shared = random.usize(0..depth).max(random.usize(0..depth));
        directories.truncate(shared);
        while directories.len() < depth {
            let number = skewed(random, WORDS);
            directories.push(word(number));
            counts[number] += 1;
        }
        let directory = directories.iter().fold(String::new(), |path, name| path + "/" + name);
        for _ in 0..1 + skewed(random, 100) {
            let name = name(random);
            paths.push(format!("{directory}/{name}"));
        }
    }
    paths.truncate(TREE);
    let mut ranks: Vec<usize> = (0..WORDS).collect();
    ranks.sort_by_key(|&number| std::cmp::Reverse(counts[number]));
    (paths, ranks.into_iter().map(word).collect())
}

/// Distinct words of directories.
const WORDS: usize = 3000;

/// The name of a file: one that many directories have, or a rare one.
fn name(random: &mut Rng) -> String {
    const ENDINGS: [&str; 8] = [".txt", ".html", ".py", ".cpython-311.pyc", ".h", ".json", ".so.1", ""];
    let ending = ENDINGS[skewed(random, ENDINGS.len())];
    match random.u32(0..5) {
        0 => format!("__{}__{ending}", word(skewed(random, 400))),
        _ => format!("{}-{}{ending}", word(skewed(random, 40_000)), word(random.usize(0..4000))),
    }
}
