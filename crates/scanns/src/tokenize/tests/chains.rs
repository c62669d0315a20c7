//! Chains with a filter between the words and the sink, compared with slow versions.

use std::ops::Range;

use fastrand::Rng;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::PlacedTokens;
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, LANGUAGES};
use crate::sys::Simd;
use crate::tokenize::Tokenizer;
use crate::tokenize::porter::Porter;

/// One chain of each kind.
const NAMES: [&str; 16] = [
    "standard",
    "english",
    "snowball:german",
    "snowball:turkish",
    "whitespace",
    "ancestors",
    "code",
    "keyword",
    "ngram:2-3",
    "edge-ngram:1-5",
    "standard | fold | stop:the,of | porter",
    "standard | fold | ngram:1-2",
    "whitespace | lowercase | fold | length:2-9",
    "code | stop:get, | fold | edge-ngram:1-3",
    "ancestors | lowercase | edge-ngram:1-5",
    "keyword | fold | possessive",
];

fn placed(name: &str, text: &str) -> Vec<(u32, String)> {
    let mut tokenizer = Tokenizer::new(&Analyzer::parse(name).unwrap());
    let terms = tokenizer.placed_terms(&mut text.as_bytes().to_vec());
    terms.into_iter().map(|(position, term)| (position, String::from_utf8(term).unwrap())).collect()
}

fn terms(name: &str, text: &str) -> Vec<String> {
    placed(name, text).into_iter().map(|(_, term)| term).collect()
}

pub(super) fn words(text: &str) -> Vec<String> {
    let lower = |word: &str| word.chars().filter_map(|c| c.to_lowercase().next()).collect::<String>();
    // Superscripts and fractions are numbers, but not parts of words.
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphabetic() || c.is_ascii_digit());
    text.unicode_words().filter(is_word).map(lower).collect()
}

/// Text of words that recur, some long, some not ASCII, and their separators.
pub(super) fn random_text(random: &mut Rng, len: usize) -> String {
    let pieces = [
        "the",
        "of",
        "it",
        "Running",
        "flies",
        "nation",
        "al",
        "ization",
        "ing",
        "'s",
        "\u{2019}s",
        "y",
        "A",
        "Ed",
        "é",
        "straße",
        "ı",
        "İ",
        "日本",
        "x9",
        "_",
        ".",
        "/",
        "-",
        "getURL",
        "HTTP",
        "Über",
        "Ω",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(..len) {
        text.push_str(pieces[random.usize(..pieces.len())]);
        if random.u8(..3) == 0 {
            text.push_str([" ", "  ", "\n", ", "][random.usize(..4)]);
        }
    }
    text
}

#[test]
fn english_text_loses_possessives_and_stop_words_and_is_stemmed() {
    let found =
        placed("english", "The Dogs' owner's running relations weren't of the U.S. Nation\u{2019}s, it's");
    let expected =
        [(1, "dog"), (2, "owner"), (3, "run"), (4, "relat"), (5, "weren't"), (8, "u."), (9, "nation")];
    assert!(found.iter().map(|(position, term)| (*position, term.as_str())).eq(expected), "{found:?}");
    assert!(terms("english", "to be or not to be, THE").is_empty());
}

#[test]
fn english_chains_agree_with_one_word_at_a_time() {
    let stop = "a an and are as at be but by for if in into is it no not of on or such that the \
                their then there these they this to was will with";
    let stop: Vec<&str> = stop.split_whitespace().collect();
    assert_eq!(stop.len(), 33);
    let seed = 0x5eed_0510;
    let mut random = Rng::with_seed(seed);
    for round in 0..300 {
        let text = random_text(&mut random, 600);
        let mut expected = Vec::new();
        for (position, word) in (0..).zip(words(&text)) {
            let ending = ["'s", "\u{2019}s", "\u{ff07}s"].into_iter().find(|ending| word.ends_with(ending));
            let word = &word[..word.len() - ending.map_or(0, str::len)];
            if !stop.contains(&word) {
                let mut stem = word.as_bytes().to_vec();
                Porter::default().apply(&mut stem);
                expected.push((position, String::from_utf8(stem).unwrap()));
            }
        }
        assert_eq!(placed("english", &text), expected, "seed {seed:x} round {round}");
    }
}

#[test]
fn words_of_many_languages_are_stemmed() {
    for (language, word, stem) in [
        ("german", "Häuser", "haus"),
        ("english", "generously", "generous"),
        ("french", "continuellement", "continuel"),
        ("spanish", "torneados", "torn"),
        ("russian", "важнейшие", "важн"),
        ("swedish", "jaktkarlarne", "jaktkarl"),
        ("finnish", "edeltäjien", "edeltäj"),
    ] {
        assert_eq!(terms(&format!("snowball:{language}"), word), [stem], "{language}");
    }
    let seed = 0x5eed_0511;
    let mut random = Rng::with_seed(seed);
    let slow =
        [("german", Algorithm::German), ("english", Algorithm::English), ("turkish", Algorithm::Turkish)];
    for round in 0..60 {
        let text = random_text(&mut random, 600);
        for (name, algorithm) in &slow {
            let stemmer = Stemmer::create(*algorithm);
            let expected: Vec<String> =
                words(&text).iter().map(|word| stemmer.stem(word).into_owned()).collect();
            assert_eq!(
                terms(&format!("snowball:{name}"), &text),
                expected,
                "seed {seed:x} round {round} {name}"
            );
        }
    }
}

#[test]
fn no_stemmer_fails_on_any_word() {
    let seed = 0x5eed_0512;
    let mut random = Rng::with_seed(seed);
    let scripts: [(u32, u32); 7] =
        [(0x61, 26), (0xdf, 32), (0x100, 80), (0x390, 64), (0x410, 64), (0x620, 90), (0xb80, 90)];
    for language in LANGUAGES {
        let mut tokenizer = Tokenizer::new(&Analyzer::parse(&format!("snowball:{language}")).unwrap());
        for _ in 0..2000 {
            let letter = |random: &mut Rng| {
                let (first, count) = scripts[random.usize(..7)];
                char::from_u32(first + random.u32(..count)).unwrap()
            };
            let word: String = (0..random.usize(1..14)).map(|_| letter(&mut random)).collect();
            let terms = tokenizer.terms(&word);
            assert!(terms.iter().all(|term| !term.is_empty()), "seed {seed:x} {language} {word}");
        }
    }
}

#[test]
fn no_stemmer_fails_on_text_that_is_not_a_word() {
    let seed = 0x5eed_0517;
    let mut random = Rng::with_seed(seed);
    let endings = [
        "ungen",
        "ization",
        "ement",
        "ości",
        "uyi",
        "ённый",
        "остью",
        "iqué",
        "ssä",
        "lardan",
        "ların",
        "ция",
        "ைகள்",
        "ிருந்து",
        "وں",
        "ات",
        "ción",
        "ãe",
        "ái",
        "ţiune",
    ];
    let odd = [
        " ", "\n", "\u{a0}", "I", "U", "Y", "H", "~", "'", "\u{2019}", "\0", "\u{301}", "\u{bcd}", "\u{64b}",
        "\u{200d}", "\u{feff}", "😀", "7", "_", "y", "u", "i",
    ];
    for (language, tokenizer) in LANGUAGES
        .into_iter()
        .flat_map(|language| ["keyword", "whitespace"].map(|tokenizer| (language, tokenizer)))
    {
        let chain = format!("{tokenizer} | snowball:{language}");
        let mut tokenizer = Tokenizer::new(&Analyzer::parse(&chain).unwrap());
        for round in 0..2000 {
            let text: String = (0..random.usize(1..9))
                .map(|_| match random.u8(..4) {
                    0 => endings[random.usize(..endings.len())].into(),
                    1 => random.char(..).to_string(),
                    _ => odd[random.usize(..odd.len())].to_owned(),
                })
                .collect();
            let terms = tokenizer.terms(&text);
            assert!(terms.iter().all(|term| !term.is_empty()), "seed {seed:x} {round} {chain} {text:?}");
        }
        for part in endings.into_iter().chain(odd) {
            let terms = tokenizer.terms(&part.repeat(MAX_TOKEN / part.len()));
            assert!(terms.iter().all(|term| !term.is_empty()), "{chain} {part:?}");
        }
    }
}

#[test]
fn n_grams_are_all_runs_of_their_lengths_in_order() {
    assert_eq!(terms("ngram:2-3", "Abcd a"), ["ab", "abc", "bc", "bcd", "cd", "a"]);
    assert_eq!(terms("ngram:3", "ÄÖÜß xy"), ["äöü", "öüß", "xy"]);
    assert_eq!(terms("edge-ngram:1-3", "abcd ef"), ["a", "ab", "abc", "e", "ef"]);
    let seed = 0x5eed_0513;
    let mut random = Rng::with_seed(seed);
    for round in 0..200 {
        let text = random_text(&mut random, 200);
        for (name, min, max, edge) in
            [("ngram:1-2", 1, 2, false), ("ngram:3-5", 3, 5, false), ("edge-ngram:2-9", 2, 9, true)]
        {
            let mut expected = Vec::new();
            for word in words(&text) {
                let chars: Vec<char> = word.chars().collect();
                if chars.len() < min {
                    expected.push(word);
                    continue;
                }
                for start in 0..if edge { 1 } else { chars.len() } {
                    let ends = (start + min..=start + max).filter(|&end| end <= chars.len());
                    expected.extend(ends.map(|end| chars[start..end].iter().collect::<String>()));
                }
            }
            let found = placed(name, &text);
            assert!(found.iter().map(|(position, _)| *position).eq((0..).take(found.len())));
            assert_eq!(terms(name, &text), expected, "seed {seed:x} round {round} {name}");
        }
    }
}

#[test]
fn identifiers_are_found_as_a_whole_and_by_their_parts() {
    let found = placed("code", "HTTPServer.get_userName(utf8, __init__) -> SHA256Sum x");
    let expected = [
        (0, "httpserver"),
        (0, "http"),
        (1, "server"),
        (2, "get_username"),
        (2, "get"),
        (3, "user"),
        (4, "name"),
        (5, "utf8"),
        (6, "__init__"),
        (6, "init"),
        (7, "sha256sum"),
        (7, "sha256"),
        (8, "sum"),
        (9, "x"),
    ];
    assert!(found.iter().map(|(position, term)| (*position, term.as_str())).eq(expected), "{found:?}");
    assert_eq!(terms("code", "größeÄndern “naïve” _ __"), ["größeändern", "größe", "ändern", "naïve"]);
}

#[test]
fn parts_of_identifiers_are_the_whole_without_its_joints() {
    let seed = 0x5eed_0514;
    let mut random = Rng::with_seed(seed);
    for round in 0..4000 {
        let word: String =
            (0..random.usize(1..12)).map(|_| ["a", "b", "C", "D", "1", "_"][random.usize(..6)]).collect();
        let mut found = terms("code", &word);
        if word.bytes().all(|byte| byte == b'_') {
            assert!(found.is_empty());
            continue;
        }
        let whole = found.remove(0);
        assert_eq!(whole, word.to_lowercase());
        if !found.is_empty() {
            assert_eq!(found.concat(), whole.replace('_', ""), "seed {seed:x} round {round} {word}");
        }
        // A letter that is not ASCII takes the slow path.
        let other = |word: &str| word.replace('a', "é").replace('C', "Ç");
        let expected: Vec<String> =
            terms("code", &word).iter().map(|term| other(term).replace('c', "ç")).collect();
        assert_eq!(terms("code", &other(&word)), expected, "seed {seed:x} round {round} {word}");
    }
}

#[test]
fn paths_are_found_by_every_directory_above_them() {
    assert_eq!(terms("ancestors", "/a/b/c"), ["/a", "/a/b", "/a/b/c"]);
    assert_eq!(
        terms("ancestors", "src/my file.rs\n//x//y//\r\n/\n"),
        ["src", "src/my file.rs", "//x", "//x//y"]
    );
    let deep = "/d".repeat(1000);
    let found = terms("ancestors", &deep);
    assert_eq!((found.len(), found[127].len(), found[128].len()), (129, 256, 2000));
}

#[test]
fn a_keyword_is_the_whole_value() {
    assert_eq!(terms("keyword", "New York, NY\n"), ["New York, NY\n"]);
    assert!(terms("keyword", "").is_empty());
    let mut tokenizer = Tokenizer::new(&Analyzer::Keyword);
    assert_eq!(tokenizer.terms_of(&mut vec![b'x'; MAX_TOKEN + 5]), [vec![b'x'; MAX_TOKEN]]);
    assert_eq!(tokenizer.cut_tokens(), 1);
}

fn placed_tokens(name: &str, simd: Simd, text: &[u8], range: Range<usize>) -> Vec<(Vec<u8>, Range<usize>)> {
    let mut found = PlacedTokens::default();
    Tokenizer::with_simd(&Analyzer::parse(name).unwrap(), simd).run(&mut text.to_vec(), range, &mut found);
    found.0
}

#[test]
fn every_chain_accepts_any_bytes_and_reports_the_places_of_its_tokens() {
    let seed = 0x5eed_0515;
    let mut random = Rng::with_seed(seed);
    for round in 0..300 {
        let mut text = random_text(&mut random, 60).into_bytes();
        for _ in 0..random.usize(..6) {
            let at = random.usize(..=text.len());
            text.insert(at, random.u8(..));
        }
        let range = random.usize(..=text.len())..text.len();
        for name in NAMES {
            let found = placed_tokens(name, Simd::Scalar, &text, range.clone());
            let mut begun = range.start;
            for (term, source) in &found {
                assert!(!term.is_empty() && source.start < source.end, "seed {seed:x} round {round} {name}");
                assert!(source.end <= text.len(), "seed {seed:x} round {round} {name}");
                // Parts come after the whole identifier, n-grams in the order of their starts.
                assert!(begun <= source.start, "seed {seed:x} round {round} {name} {source:?}");
                begun = source.start;
            }
            let mut others =
                Simd::available().into_iter().map(|simd| placed_tokens(name, simd, &text, range.clone()));
            assert!(others.all(|other| other == found), "seed {seed:x} round {round} {name}");
        }
    }
}

#[test]
fn text_may_be_cut_where_a_chain_says_without_changing_its_tokens() {
    let seed = 0x5eed_0516;
    let mut random = Rng::with_seed(seed);
    for round in 0..300 {
        let text = random_text(&mut random, 40).into_bytes();
        for name in NAMES {
            let analyzer = Analyzer::parse(name).unwrap();
            let mut tokenizer = Tokenizer::new(&analyzer);
            let whole = tokenizer.terms_of(&mut text.clone());
            for at in (1..text.len()).filter(|&at| analyzer.may_cut(text[at - 1], text[at])) {
                let mut parts = tokenizer.terms_of(&mut text[..at].to_vec());
                parts.extend(tokenizer.terms_of(&mut text[at..].to_vec()));
                assert_eq!(parts, whole, "seed {seed:x} round {round} {name} at {at}");
            }
        }
    }
}
