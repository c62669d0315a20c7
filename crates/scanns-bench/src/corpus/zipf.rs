//! Text of words that follow the law of Zipf and Mandelbrot, in sentences, lines and paragraphs.

use std::path::Path;

use anyhow::Result;
use fastrand::Rng;

use super::files::Files;
use super::words::{Zipf, log_normal, short_word};

/// Distinct words that may occur.
const WORDS: u32 = 1_000_000;

/// As in Mandelbrot's fit to natural languages.
const SHIFT: f64 = 2.7;
const EXPONENT: f64 = 1.1;

/// The number of two-letter words that are left out. Only five remain, and a word has four letters on
/// average.
const SHORT: usize = 95;

/// Lines are broken at this many bytes.
const WIDTH: usize = 100;

/// Writes files of `bytes` in all into `out`. Returns the frequent words by falling frequency.
pub fn write(out: &Path, bytes: u64, seed: u64) -> Result<Vec<String>> {
    let mut random = Rng::with_seed(seed);
    let zipf = Zipf::new(WORDS, SHIFT, EXPONENT);
    let mut files = Files::new(out, bytes);
    let mut paragraph = String::new();
    loop {
        paragraph.clear();
        for _ in 0..random.usize(1..9) {
            sentence(&mut random, &zipf, &mut paragraph);
        }
        wrap(&mut paragraph);
        paragraph.push_str("\n\n");
        if !files.write(paragraph.as_bytes())? {
            files.finish()?;
            return Ok((SHORT..SHORT + 10_000).map(short_word).collect());
        }
    }
}

/// Appends a sentence of about 18 words, with a comma here and there.
fn sentence(random: &mut Rng, zipf: &Zipf, out: &mut String) {
    let words = log_normal(random, 2.8, 0.5).clamp(2, 80);
    for at in 0..words {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut word = short_word(SHORT + zipf.draw(random));
        if at == 0 {
            word[..1].make_ascii_uppercase();
        }
        out.push_str(&word);
        if at + 1 == words {
            out.push('.');
        } else if random.u32(0..12) == 0 {
            out.push(',');
        }
    }
}

/// Turns spaces into line feeds so that no line is much longer than [`WIDTH`].
fn wrap(text: &mut String) {
    let (mut begin, mut breaks) = (0, Vec::new());
    for (at, _) in text.match_indices(' ') {
        if at - begin >= WIDTH {
            breaks.push(at);
            begin = at + 1;
        }
    }
    breaks.into_iter().for_each(|at| text.replace_range(at..=at, "\n"));
}
