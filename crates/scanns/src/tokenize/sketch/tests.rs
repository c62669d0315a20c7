use super::*;

fn distance(one: u64, other: u64) -> u32 {
    (one ^ other).count_ones()
}

fn sketch_of(text: &[u8]) -> Option<u64> {
    let mut sketch = DocumentSketch::default();
    sketch.add_text(text);
    sketch.finish()
}

/// The words of a text, byte by byte.
fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    for &byte in text {
        if is_between(byte) || begins_word(byte) {
            words.push(Vec::new());
        }
        if !is_between(byte) {
            words.last_mut().unwrap().push(byte.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The sketch as its definition says, without blocks and windows.
fn oracle(text: &[u8]) -> Option<u64> {
    let hash = |word: Vec<u8>| {
        let groups = word.chunks(8).map(|few| few.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
        groups.fold(0, |hash: u64, group| fold(hash ^ group)).wrapping_add(word.len() as u64)
    };
    let hashes: Vec<u64> = words(text).into_iter().map(hash).collect();
    let pairs: Vec<u64> =
        hashes.windows(2).map(|two| mix(two[0].rotate_left(23).wrapping_mul(MULTIPLIER) ^ two[1])).collect();
    let least = |bin: usize| pairs.iter().copied().filter(|&pair| (pair >> 58) as usize == bin).min();
    let bit = |bin: usize| {
        let value = DONORS[bin].iter().find_map(|&donor| least(usize::from(donor))).unwrap();
        mix(value.wrapping_add((bin as u64).wrapping_mul(GOLDEN))) >> 63
    };
    (hashes.len() >= 8).then(|| (0..BINS).map(|bin| bit(bin) << bin).sum())
}

fn rng() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    fastrand::Rng::with_seed(seed)
}

/// A text of words, separators and odd bytes.
fn random_text(rng: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    let kind = rng.u8(..5);
    let byte = |rng: &mut fastrand::Rng| match kind {
        0 => rng.u8(..),
        1 => b"aZ09 .\n-"[rng.usize(..8)],
        2 => b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "[rng.usize(..46)],
        3 => [b'a', 0xE3, 0x81, 0x82, 0xE9, b' ', 0xC3, 0xA9][rng.usize(..8)],
        _ => b"etaoinshrdlu   "[rng.usize(..15)],
    };
    (0..len).map(|_| byte(rng)).collect()
}

/// Sketches that were computed by another program, from the documentation of this module.
const FOX: u64 = 0x08E7_1949_58C0_35E9;
const LINES: u64 = 0x1EF7_7C1E_F6E1_3169;
const JAPANESE: u64 = 0x7610_E1E1_D83A_4BD7;

/// Made words, of which some are frequent.
fn some_words(rng: &mut fastrand::Rng, count: usize) -> Vec<String> {
    (0..count).map(|_| format!("w{:x}", rng.u32(..4000) / rng.u32(1..40) * 31 + rng.u32(..20))).collect()
}

#[test]
fn sketches_never_change() {
    // If one of these fails, stored sketches cannot be compared with new ones.
    let fox = "The quick brown fox jumps over the lazy dog, and the dog does not mind.";
    assert_eq!(sketch_of(fox.as_bytes()), Some(FOX));
    let mut long = DocumentSketch::default();
    (0..1000)
        .for_each(|number| long.add_text(format!("line {number} of incomprehensibilities\n").as_bytes()));
    assert_eq!(long.finish(), Some(LINES));
    assert_eq!(sketch_of("索引は文書の用語を保持する".as_bytes()), Some(JAPANESE));
}

#[test]
fn texts_of_few_words_have_no_sketch() {
    assert_eq!(sketch_of(b""), None);
    assert_eq!(sketch_of(b" -- \n\0"), None);
    assert_eq!(sketch_of(b"one two three four five six seven"), None);
    assert!(sketch_of(b"one two three four five six seven 8").is_some());
    assert!(sketch_of(b"a a a a a a a a").is_some());
    assert!(sketch_of("一二三四五六七八".as_bytes()).is_some(), "Chinese characters are words");
    assert_eq!(sketch_of("naïveté, ".repeat(7).as_bytes()), None);
}

#[test]
fn case_and_punctuation_do_not_count_but_order_does() {
    let text = b"Permission is hereby granted, free of charge, to any person obtaining a copy";
    let other = b"PERMISSION is hereby-granted (free of charge) to any\nperson obtaining a copy.";
    assert_eq!(sketch_of(text), sketch_of(other));
    let reversed: Vec<Vec<u8>> = words(text).into_iter().rev().collect();
    let differs = distance(sketch_of(text).unwrap(), sketch_of(&reversed.join(&b' ')).unwrap());
    assert!(differs > 12, "{differs}");
}

#[test]
fn a_sketch_is_the_same_wherever_the_text_is_cut() {
    let mut rng = rng();
    for _ in 0..3000 {
        let len = rng.usize(..600);
        let text = random_text(&mut rng, len);
        let mut sketch = DocumentSketch::default();
        sketch.add_text(b"another document before this one, which is forgotten");
        sketch.clear();
        let mut rest = &text[..];
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rng.usize(1..=rest.len().min(200)));
            sketch.add_text(part);
            // Looking at the sketch does not change it.
            let _ = sketch.finish();
            rest = after;
        }
        assert_eq!(sketch.finish(), oracle(&text), "{:?}", String::from_utf8_lossy(&text));
        sketch.end_word();
        assert_eq!(sketch.finish(), oracle(&text));
        assert_eq!(sketch.words, words(&text).len() as u64);
    }
}

#[test]
fn values_are_kept_apart_if_words_are_ended() {
    let mut sketch = DocumentSketch::default();
    for value in ["one two three", "four", "five six", "", "seven eight"] {
        sketch.add_text(value.as_bytes());
        sketch.end_word();
    }
    assert_eq!(sketch.finish(), sketch_of(b"one two three four five six seven eight"));
}

#[test]
fn blocks_and_words_of_every_length_agree_with_the_definition() {
    let mut rng = rng();
    for len in 0..700 {
        let text = random_text(&mut rng, len);
        assert_eq!(sketch_of(&text), oracle(&text), "{:?}", String::from_utf8_lossy(&text));
    }
    for len in 1..200 {
        let word = "x".repeat(len);
        let text = format!("{word} a b {word}1 c d{word} e f g {word}");
        assert_eq!(sketch_of(text.as_bytes()), oracle(text.as_bytes()), "{len}");
    }
}

#[test]
fn mutated_texts_agree_with_the_definition() {
    let mut rng = rng();
    let mut text: Vec<u8> = "Ein Größe-Maß 12,5 für 日本語 and some_words of any LENGTH\n".repeat(3).into();
    for round in 0..100_000 {
        match rng.u8(..4) {
            0 if text.len() > 100 => drop(text.remove(rng.usize(..text.len()))),
            1 if text.len() < 300 => text.insert(rng.usize(..=text.len()), rng.u8(..)),
            _ => {
                let at = rng.usize(..text.len());
                text[at] = if rng.bool() { b' ' } else { rng.u8(..) };
            }
        }
        let sketch = sketch_of(&text);
        if round % 50 == 0 {
            assert_eq!(sketch, oracle(&text), "{:?}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn the_distance_grows_with_the_change() {
    let mut rng = rng();
    let rounds = 60;
    let mean = |percent: usize, rng: &mut fastrand::Rng| {
        let mut sum = 0;
        for _ in 0..rounds {
            let words = some_words(rng, 1500);
            let mut other = words.clone();
            for word in &mut other {
                if rng.usize(..100) < percent {
                    *word = format!("new{:x}", rng.u32(..));
                }
            }
            let [one, other] = [words, other].map(|words| sketch_of(words.join(" ").as_bytes()).unwrap());
            sum += distance(one, other);
        }
        f64::from(sum) / f64::from(rounds)
    };
    // Of n pairs, a share 2p - p² changes; the similarity is what is left, divided by what either text has.
    let [none, few, some, all] = [0, 2, 10, 100].map(|percent| mean(percent, &mut rng));
    println!("{none} {few} {some} {all}");
    assert!(none == 0.0 && (1.0..4.5).contains(&few) && (7.0..14.0).contains(&some), "{few} {some}");
    assert!((29.0..35.0).contains(&all), "{all}");
}

#[test]
fn short_texts_without_common_pairs_are_far_apart() {
    let mut rng = rng();
    let sketches: Vec<u64> = (0..400)
        .map(|_| {
            sketch_of((0..9).map(|_| format!("{:x} ", rng.u64(..))).collect::<String>().as_bytes()).unwrap()
        })
        .collect();
    // By chance, one of 10¹⁰ pairs is within 6 bits.
    for (at, one) in sketches.iter().enumerate() {
        assert!(sketches[..at].iter().all(|other| distance(*one, *other) > 6));
    }
}

#[test]
fn the_time_is_linear_in_the_text() {
    let time = |text: &[u8]| {
        let run = || {
            let begun = std::time::Instant::now();
            std::hint::black_box(sketch_of(text));
            begun.elapsed().as_secs_f64()
        };
        (0..5).map(|_| run()).fold(f64::MAX, f64::min)
    };
    for unit in ["a", "a ", "ab-c é ", "日本", " ", "pneumonoultramicroscopic "] {
        let (short, long) = (unit.repeat((1 << 16) / unit.len()), unit.repeat((1 << 20) / unit.len()));
        let (short, long) = (time(short.as_bytes()), time(long.as_bytes()));
        assert!(long < short * 16.0 * 8.0 + 0.05, "{unit}: {short} {long}");
    }
}
