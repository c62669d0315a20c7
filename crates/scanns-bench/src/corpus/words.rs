//! Words and numbers with the distributions that text, names and sizes have.

use fastrand::Rng;

const SYLLABLES: [&str; 16] = [
    "lib", "data", "src", "run", "con", "fig", "net", "core", "test", "doc", "img", "mod", "out", "tmp",
    "py", "bin",
];

/// The word for a number. Each number has its own word, and larger numbers have longer ones.
pub fn word(number: usize) -> String {
    let mut word = String::new();
    let mut rest = number + 1;
    while rest > 0 {
        word.push_str(SYLLABLES.get(rest % 16).copied().unwrap_or_default());
        rest /= 16;
    }
    word
}

/// Like [`word`], with two letters per syllable: about as long as a word of natural language with this rank.
pub fn short_word(number: usize) -> String {
    const CONSONANTS: &[u8] = b"tnshrdlcmwfgypbvkjxz";
    const VOWELS: &[u8] = b"eaoiu";
    let mut word = String::new();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        let letter = |letters: &[u8], at: usize| letters.get(at).copied().map_or('e', char::from);
        word.push(letter(CONSONANTS, rest % 20));
        word.push(letter(VOWELS, rest / 20 % 5));
        rest /= 100;
    }
    word
}

/// A number below `bound`. Small numbers are much more frequent than large ones.
pub fn skewed(random: &mut Rng, bound: usize) -> usize {
    let limit = 1 + random.usize(0..bound.max(1));
    let limit = 1 + random.usize(0..limit);
    random.usize(0..limit)
}

/// A number whose logarithm is normally distributed (Box and Muller), such as the size of a file.
pub fn log_normal(random: &mut Rng, mean: f64, deviation: f64) -> usize {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.f64()).cos();
    truncate((mean + deviation * normal).exp())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank or a size: saturates")]
fn truncate(value: f64) -> usize {
    value as usize
}

/// Ranks by the law of Zipf and Mandelbrot: the frequency of rank `r`, from 0, is in proportion to
/// `1 / (r + 1 + shift)^exponent`.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    shift: f64,
    power: f64,
    low: f64,
    high: f64,
}

impl Zipf {
    /// Creates the law over `words` ranks; the exponent must not be 1.
    pub fn new(words: u32, shift: f64, exponent: f64) -> Self {
        let power = 1.0 - exponent;
        Zipf {
            shift,
            power,
            low: (0.5 + shift).powf(power),
            high: (f64::from(words) + 0.5 + shift).powf(power),
        }
    }

    /// Draws a rank by the inverse of the integral of the law. The integral is within a few percent of the
    /// sum, even for rank 0.
    pub fn draw(&self, random: &mut Rng) -> usize {
        let at = self.low + (self.high - self.low) * random.f64();
        truncate((at.powf(1.0 / self.power) - self.shift - 0.5).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_number_has_a_word_of_its_own() {
        for make in [word, short_word] {
            assert_eq!((0..100_000).map(make).collect::<HashSet<_>>().len(), 100_000);
        }
    }

    #[test]
    fn ranks_are_as_frequent_as_the_law_says() {
        let (words, shift, exponent) = (10_000u32, 2.7, 1.1);
        let zipf = Zipf::new(words, shift, exponent);
        let mut random = Rng::with_seed(1);
        let mut counts = vec![0.0; 10_001];
        let draws = 2_000_000;
        (0..draws).for_each(|_| counts[zipf.draw(&mut random)] += 1.0);
        let weight = |rank: u32| (f64::from(rank) + 1.0 + shift).powf(-exponent);
        let sum: f64 = (0..words).map(weight).sum();
        for rank in [0u32, 1, 10, 100] {
            let share = counts[rank as usize] / f64::from(draws);
            let ratio = share / (weight(rank) / sum);
            assert!((0.9..1.1).contains(&ratio), "rank {rank}: {ratio}");
        }
        let rare: f64 = counts[1000..].iter().sum::<f64>() / f64::from(draws);
        let expected = (1000..words).map(weight).sum::<f64>() / sum;
        assert!((rare / expected - 1.0).abs() < 0.05, "{rare} {expected}");
    }

    #[test]
    fn sizes_have_the_median_and_spread_asked_for() {
        let mut random = Rng::with_seed(2);
        let mut sizes: Vec<usize> = (0..100_001).map(|_| log_normal(&mut random, 8.0, 1.5)).collect();
        sizes.sort_unstable();
        let log = |at: usize| f64::from(u32::try_from(sizes[at]).unwrap()).ln();
        assert!((log(50_000) - 8.0).abs() < 0.05, "{}", log(50_000));
        assert!((log(84_134) - 9.5).abs() < 0.05, "one deviation above: {}", log(84_134));
    }
}
