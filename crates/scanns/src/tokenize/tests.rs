mod chains;
mod lucene;
mod steps;

use std::ops::Range;

use super::arch::{LANE, WINDOW, changes, mask};
use super::byteset::ByteSet;
use super::class::WordClass;
use super::grammar::{WordOrGap, WordSplit};
use super::standard::Standard;
use super::{TokenSink, Tokenizer};
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, Delimiters};
use crate::sys::Simd;
use fastrand::Rng;
use unicode_segmentation::UnicodeSegmentation;

fn bytes(random: &mut Rng, len: usize, alphabet: &[u8]) -> Vec<u8> {
    (0..len).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
}

fn tokens(simd: Simd, analyzer: &Analyzer, text: &[u8]) -> Vec<Vec<u8>> {
    Tokenizer::with_simd(analyzer, simd).terms_of(&mut text.to_vec())
}

fn split(text: &[u8], delimiters: &Delimiters) -> Vec<Vec<u8>> {
    let words = text.split(|&byte| delimiters.contains(byte)).filter(|word| !word.is_empty());
    words.map(|word| word[..word.len().min(MAX_TOKEN)].to_vec()).collect()
}

fn unicode_words(text: &str) -> Vec<Vec<u8>> {
    let lower = |word: &str| word.chars().filter_map(|c| c.to_lowercase().next()).collect::<String>();
    // A mark after a space or comma is a segment with it, and not a word.
    let is_base = |c: char| c.is_alphanumeric() && !unicode_normalization::char::is_combining_mark(c);
    let words = text.unicode_words().filter(|word| word.chars().any(is_base));
    words.map(|word| lower(word).into_bytes()).collect()
}

/// The words of a text by the grammar alone: as a whole, without a fast path for ASCII.
fn uncut_words(text: &str) -> Vec<Vec<u8>> {
    let classes: Vec<WordClass> = text.chars().map(WordClass::of).collect();
    let mut rest = text.chars();
    let mut words = Vec::new();
    for piece in WordSplit::new(&classes) {
        let (WordOrGap::Word(count) | WordOrGap::Gap(count)) = piece;
        let lower: String = rest.by_ref().take(count).filter_map(|c| c.to_lowercase().next()).collect();
        if matches!(piece, WordOrGap::Word(_)) {
            words.push(lower.into_bytes());
        }
    }
    words
}

#[test]
fn every_instruction_set_equals_the_scalar_twin() {
    let seed = 0x5eed_0001;
    let mut random = Rng::with_seed(seed);
    for round in 0..400 {
        let members: Vec<u8> =
            (0..1 + random.usize(..120)).map(|_| u8::try_from(random.usize(..256)).unwrap()).collect();
        let set = ByteSet::new(|byte| members.contains(&byte));
        let all: Vec<u8> = (0..=255).collect();
        let len = random.usize(..WINDOW + 1);
        let text = bytes(&mut random, len, &all);
        let mut expected = vec![0; len + LANE];
        let count = changes(Simd::Scalar, &set, &text, &mut expected);
        for simd in Simd::available() {
            let mut out = vec![0; len + LANE];
            assert_eq!(changes(simd, &set, &text, &mut out), count, "seed {seed:x} round {round} {simd:?}");
            assert_eq!(out[..count], expected[..count], "seed {seed:x} round {round} {simd:?}");
            let part = &text[..len.min(random.usize(..LANE + 1))];
            assert_eq!(mask(simd, &set, part), mask(Simd::Scalar, &set, part), "seed {seed:x} round {round}");
        }
    }
}

#[test]
fn byte_tokens_equal_a_plain_split_on_random_and_adversarial_text() {
    let seed = 0x5eed_0002;
    let mut random = Rng::with_seed(seed);
    let delimiters = Delimiters::paths();
    let analyzer = Analyzer::Bytes(delimiters);
    let mut texts: Vec<Vec<u8>> = vec![
        vec![],
        b" ".to_vec(),
        b"a".to_vec(),
        vec![b' '; 10_000],
        vec![b'x'; 10_000],
        vec![b'x'; MAX_TOKEN],
        vec![b'x'; MAX_TOKEN + 1],
        [vec![b'x'; WINDOW], b" ".to_vec(), vec![b'y'; WINDOW - 1], b" z".to_vec()].concat(),
        [vec![0u8; 70], b" ".to_vec(), vec![0xff; 130]].concat(),
    ];
    for _ in 0..300 {
        let len = random.usize(..3 * WINDOW);
        let alphabet: &[u8] =
            if random.usize(..2) == 0 { b"ab /" } else { b"abcdefghijklmnopqrstuvwxyz01\0\xff\xc3 \n" };
        texts.push(bytes(&mut random, len, alphabet));
    }
    for (i, text) in texts.iter().enumerate() {
        for simd in Simd::available() {
            assert_eq!(
                tokens(simd, &analyzer, text),
                split(text, &delimiters),
                "seed {seed:x} text {i} {simd:?}"
            );
        }
    }
}

#[test]
fn only_the_range_is_tokenized_and_not_its_surroundings() {
    let analyzer = Analyzer::Bytes(Delimiters::whitespace());
    let mut sink = super::tokenizer::CollectedTokens::default();
    let mut text = b"one two three".to_vec();
    Tokenizer::new(&analyzer).run(&mut text, 1..9, &mut sink);
    assert_eq!(
        sink.terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>(),
        [b"ne".to_vec(), b"two".to_vec(), b"t".to_vec()]
    );
}

#[test]
fn the_ascii_path_gives_the_unicode_words_of_every_short_string() {
    // One or two of each class that UAX #29 distinguishes in ASCII, and neighbours that it does not
    // distinguish.
    let alphabet = b"aZ09_:.,;' -";
    let mut strings = vec![vec![]];
    for _ in 0..5 {
        let longer: Vec<Vec<u8>> = strings
            .iter()
            .flat_map(|head: &Vec<u8>| alphabet.iter().map(move |&byte| [head.as_slice(), &[byte]].concat()))
            .collect();
        let mut tokenizer = Tokenizer::new(&Analyzer::Standard);
        for text in &longer {
            let text = std::str::from_utf8(text).unwrap();
            assert_eq!(tokenizer.terms(text), unicode_words(text), "{text:?}");
        }
        strings = longer;
    }
}

#[test]
fn every_ascii_byte_between_two_letters_or_digits_breaks_or_joins_as_unicode_says() {
    for byte in 0..128u8 {
        for (left, right) in [("a", "b"), ("1", "2"), ("a", "1"), ("_", "a"), ("", "b"), ("a", "")] {
            let text = format!("{left}{}{right}", byte as char);
            assert_eq!(
                tokens(Simd::Scalar, &Analyzer::Standard, text.as_bytes()),
                unicode_words(&text),
                "{text:?}"
            );
        }
    }
}

#[test]
fn long_ascii_text_gives_the_same_words_across_windows_and_instruction_sets() {
    let seed = 0x5eed_0003;
    let mut random = Rng::with_seed(seed);
    for round in 0..200 {
        let len = random.usize(..3 * WINDOW);
        let text = bytes(&mut random, len, b"abcXYZ019__::..,,;;''  --\n");
        let expected = unicode_words(std::str::from_utf8(&text).unwrap());
        for simd in Simd::available() {
            assert_eq!(
                tokens(simd, &Analyzer::Standard, &text),
                expected,
                "seed {seed:x} round {round} {simd:?}"
            );
        }
    }
}

#[test]
fn marks_without_a_letter_are_not_words() {
    for (text, expected) in [
        ("hello \u{963} x", &["hello", "x"][..]),
        ("\u{963} x,\u{345}y", &["x", "y"]),
        ("a\u{963} 1\u{345}\u{301} \u{300}\u{963}", &["a\u{963}", "1\u{345}\u{301}"]),
        ("x\n\u{963}\nम\u{963}", &["x", "म\u{963}"]),
    ] {
        let mut tokenizer = Tokenizer::new(&Analyzer::Standard);
        let found = tokenizer.terms(text);
        let found: Vec<String> = found.into_iter().map(|term| String::from_utf8(term).unwrap()).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn mixed_scripts_give_the_unicode_words_of_the_whole_text() {
    let seed = 0x5eed_0004;
    let mut random = Rng::with_seed(seed);
    // Without Hebrew, Thai and emoji, for which the rules differ from those of UAX #29.
    let pieces = [
        "a", "B", "7", "_", ".", "'", ":", ",", " ", "\n", "\r\n", "é", "ß", "İ", "Σ", "ς", "日本", "ア",
        "ـ", "\"", "\u{301}", "\u{200d}", "\u{ad}", "·", "’", "\u{2028}", "한", "\u{a0}",
    ];
    for round in 0..4000 {
        let text: String = (0..random.usize(..24)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let got = tokens(Simd::detect(), &Analyzer::Standard, text.as_bytes());
        assert_eq!(got, unicode_words(&text), "seed {seed:x} round {round} {text:?}");
    }
}

#[test]
fn text_may_be_cut_where_the_analyzer_says_without_changing_its_words() {
    let seed = 0x5eed_0005;
    let mut random = Rng::with_seed(seed);
    let pieces = [
        "{", "-", ";", "$", "a", "B.", "7", ".", "'", " ", "\n", "\r", "é", "\u{301}", "\u{200d}", "ア",
        "\t", "日", "本", "龜", "\u{4dc0}", "_", "\u{b}", "א", "\"", "🇫", "ー", "☺", "\u{fe0f}", "#",
        "\u{20e3}", "ก", "\u{e31}", "あ",
    ];
    for round in 0..4000 {
        let text: String = (0..random.usize(..16)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let bytes = text.as_bytes();
        let whole = uncut_words(&text);
        assert_eq!(tokens(Simd::detect(), &Analyzer::Standard, bytes), whole, "seed {seed:x} round {round}");
        for at in 1..bytes.len() {
            if text.is_char_boundary(at) && Analyzer::Standard.may_cut(bytes[at - 1], bytes[at]) {
                let mut parts = uncut_words(&text[..at]);
                parts.extend(uncut_words(&text[at..]));
                assert_eq!(parts, whole, "seed {seed:x} round {round} {text:?} at {at}");
            }
        }
    }
}

#[test]
fn invalid_utf8_never_fails_and_is_replaced_in_words() {
    let words = tokens(Simd::detect(), &Analyzer::Standard, b"good \xff\xfe bad\xc3 ok\xe2\x82word fine");
    let expected: Vec<Vec<u8>> =
        ["good", "bad", "ok", "word", "fine"].iter().map(|w| w.as_bytes().to_vec()).collect();
    assert_eq!(words, expected);
}

/// Keeps tokens and their places in the text.
#[derive(Default)]
struct PlacedTokens(Vec<(Vec<u8>, Range<usize>)>);

impl TokenSink for PlacedTokens {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.as_chunks::<2>().0 {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.0.push((token.to_vec(), source));
    }
}

/// Text of runs of ASCII, of words of many scripts, and of characters that only the exact rules know.
fn text_of_many_scripts(random: &mut Rng) -> Vec<u8> {
    const PIECES: [&[&str]; 3] = [
        &[
            "a", "B", "x9", "7", "_", "__", ".", "'", ":", ",", ";", " ", "\n", "\r\n", "#", "\"", "word ",
            "The ",
        ],
        &[
            "é", "Ö", "ß", "Жар", "дом", "ΣΑΣ", "ñ", "’", "·", "日", "本語", "あ", "カタ", "한국", "\u{301}",
            "ـ", "٣",
        ],
        &[
            "İ", "א", "ם\"א", "☺", "🇫🇷", "👍🏽", "ก", "\u{e31}", "\u{200d}", "Ⓜ", "\u{20e3}", "K", "ẞ", "𐐀",
            "\u{2028}",
        ],
    ];
    let mut text = Vec::new();
    for _ in 0..random.usize(..40) {
        let pieces = PIECES[random.usize(..PIECES.len())];
        for _ in 0..random.usize(..30) {
            text.extend_from_slice(pieces[random.usize(..pieces.len())].as_bytes());
        }
        match random.usize(..20) {
            0 => text.push(random.u8(..)),
            1 => text.extend(std::iter::repeat_n(b'q', random.usize(..3 * WINDOW))),
            2 => text.extend("ж".repeat(random.usize(..2 * WINDOW)).into_bytes()),
            _ => {}
        }
    }
    text
}

#[test]
fn the_fast_paths_give_the_words_of_the_exact_rules_and_their_places() {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    let mut random = Rng::with_seed(seed);
    for round in 0..300 {
        let text = text_of_many_scripts(&mut random);
        let mut exact = PlacedTokens::default();
        Standard::new(Simd::Scalar).unicode(&text, 0..text.len(), &mut exact);
        for simd in Simd::available() {
            let mut found = PlacedTokens::default();
            Standard::new(simd).run(&mut text.clone(), 0..text.len(), &mut found);
            assert_eq!(found.0, exact.0, "seed {seed:x} round {round} {simd:?} {:?}", text.escape_ascii());
        }
    }
}

#[test]
fn rewritten_tokens_keep_their_places_in_the_text() {
    let seed = 0x5eed_0006;
    let mut random = Rng::with_seed(seed);
    let pieces: [&[u8]; 16] = [
        b"a",
        b"Bc",
        b" ",
        b"\n",
        b"\xff",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xc3",
        "é".as_bytes(),
        "İ".as_bytes(),
        "Ⱥ".as_bytes(),
        "日".as_bytes(),
        "\u{345}".as_bytes(),
        "\u{fffd}".as_bytes(),
        b"7",
        b"'",
    ];
    let lower = |word: &str| word.chars().filter_map(|c| c.to_lowercase().next()).collect::<String>();
    for name in ["standard", "paths"] {
        let analyzer = Analyzer::parse(name).unwrap();
        for round in 0..4000 {
            let text: Vec<u8> =
                (0..random.usize(..24)).flat_map(|_| pieces[random.usize(..16)]).copied().collect();
            let start = random.usize(..=text.len());
            let mut found = PlacedTokens::default();
            Tokenizer::new(&analyzer).run(&mut text.clone(), start..text.len(), &mut found);
            let mut end = start;
            for (term, source) in found.0 {
                assert!(end <= source.start && source.end <= text.len(), "{seed:x} {round} {source:?}");
                end = source.end;
                let word = &text[source];
                let expected = match analyzer {
                    Analyzer::Standard => lower(&String::from_utf8_lossy(word)).into_bytes(),
                    _ => word.to_vec(),
                };
                assert_eq!(term, expected, "seed {seed:x} round {round} {text:?}");
            }
        }
    }
}

#[test]
fn a_word_longer_than_the_limit_is_cut_and_counted() {
    for analyzer in [Analyzer::Standard, Analyzer::Bytes(Delimiters::whitespace())] {
        let mut sink = PlacedTokens::default();
        let mut tokenizer = Tokenizer::new(&analyzer);
        let mut text = [vec![b'w'; 3 * MAX_TOKEN], b" end".to_vec()].concat();
        let all = 0..text.len();
        tokenizer.run(&mut text, all.clone(), &mut sink);
        let end = all.end - 3..all.end;
        assert_eq!(sink.0, [(vec![b'w'; MAX_TOKEN], 0..MAX_TOKEN), (b"end".to_vec(), end)]);
        assert_eq!(tokenizer.cut_tokens(), 1);
    }
}
