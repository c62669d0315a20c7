//! The steps of chains, each compared with an obvious version that only uses text.

use std::ops::Range;

use fastrand::Rng;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::chains::{random_text, words};
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, Language};
use crate::tokenize::porter::Porter;
use crate::tokenize::stop::stop_words;
use crate::tokenize::{TokenSink, Tokenizer, spelling};

/// Everything that a sink receives: tokens with their places, and shifts.
#[derive(Default)]
struct Received {
    tokens: Vec<(u32, Vec<u8>, Range<usize>)>,
    next: u32,
}

impl TokenSink for Received {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.as_chunks::<2>().0 {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.token(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.tokens.push((self.next, token.to_vec(), source));
        self.next += 1;
    }

    fn shift(&mut self, positions: i32) {
        self.next = self.next.checked_add_signed(positions).unwrap();
    }
}

/// The tokens with positions and places, and the position after them.
fn received(chain: &str, text: &[u8]) -> Received {
    let mut received = Received::default();
    Tokenizer::new(&Analyzer::parse(chain).unwrap()).run(&mut text.to_vec(), 0..text.len(), &mut received);
    received
}

fn placed(chain: &str, text: &str) -> Vec<(u32, String)> {
    let tokens = received(chain, text.as_bytes()).tokens.into_iter();
    tokens.map(|(position, term, _)| (position, String::from_utf8(term).unwrap())).collect()
}

fn terms(chain: &str, text: &str) -> Vec<String> {
    placed(chain, text).into_iter().map(|(_, term)| term).collect()
}

fn lower(word: &str) -> String {
    word.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

/// Correct for the texts of these tests.
fn folded(word: &str) -> String {
    let voiced = |c| matches!(c, '\u{3099}' | '\u{309a}');
    let plain: String = word.nfkd().filter(|&c| !is_combining_mark(c) || voiced(c)).collect();
    [("ß", "ss"), ("æ", "ae"), ("Æ", "AE"), ("ø", "o"), ("Ø", "O"), ("ł", "l"), ("ı", "i"), ("\u{2019}", "'")]
        .into_iter()
        .fold(plain, |word, (from, to)| word.replace(from, to))
        .nfc()
        .collect()
}

fn stemmed(word: &str, algorithm: Algorithm) -> String {
    Stemmer::create(algorithm).stem(word).into_owned()
}

/// A word as the tokenizer and the steps before another step spell it.
fn spelled(before: &[&str], word: &str) -> String {
    let lowers = |step: &&str| matches!(*step, "standard" | "code" | "lowercase");
    (0..before.len()).fold(word.into(), |word: String, at| match before[at] {
        "fold" if before[..at].iter().any(lowers) => lower(&folded(&word)),
        "fold" => folded(&word),
        step if lowers(&step) => lower(&word),
        _ => word,
    })
}

/// The words that a step removes, as the steps before may spell them.
fn slow_list(before: &[&str], step: &str) -> Vec<String> {
    let words: Vec<String> = match step.strip_prefix("stop:") {
        None => Vec::new(),
        Some("german") => {
            let german = stop_words(Language::parse("german").unwrap());
            german.into_iter().map(String::from).collect()
        }
        Some(list) => list.split(',').filter(|word| !word.is_empty()).map(String::from).collect(),
    };
    words.iter().flat_map(|word| [word.clone(), spelled(before, word)]).collect()
}

/// The result of the last of the steps for a word; empty if it is left out.
fn slow_step(steps: &[&str], list: &[String], word: &str) -> String {
    let (step, before) = steps.split_last().unwrap();
    match step.split_once(':').unwrap_or((step, "")) {
        ("lowercase", _) => lower(word),
        ("fold", _) if spelled(before, "A") == "a" => lower(&folded(word)),
        ("fold", _) => folded(word),
        ("possessive", _) => {
            let endings = ["'s", "'S", "\u{2019}s", "\u{2019}S", "\u{ff07}s", "\u{ff07}S"];
            endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word).into()
        }
        ("stop", _) if list.iter().any(|stop| stop == word) => String::new(),
        ("stop", _) => word.into(),
        ("porter", _) => {
            let mut stem = word.as_bytes().to_vec();
            Porter::default().apply(&mut stem);
            String::from_utf8(stem).unwrap()
        }
        ("snowball", "german") => stemmed(word, Algorithm::German),
        ("snowball", _) => stemmed(word, Algorithm::French),
        ("length", lengths) => {
            let (min, max) = lengths.split_once('-').unwrap();
            let fits = min.parse().unwrap()..=max.parse().unwrap();
            if fits.contains(&word.chars().count()) { word.into() } else { String::new() }
        }
        _ => panic!("{step}"),
    }
}

/// The n-grams of a word in order.
fn slow_runs(word: &str, min: usize, max: usize, edge: bool) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    if chars.len() < min {
        return vec![word.into()];
    }
    let starts = 0..if edge { 1 } else { chars.len() };
    let run = |start: usize, len: usize| chars.get(start..start + len).map(|run| run.iter().collect());
    starts.flat_map(|start| (min..=max).map(move |len| (start, len))).filter_map(|(s, l)| run(s, l)).collect()
}

/// The tokens of a text, with positions; knows only `ngram:2-3` and `edge-ngram:1-4`.
fn slow(chain: &str, text: &str) -> Vec<(u32, String)> {
    let mut steps: Vec<&str> = chain.split(" | ").collect();
    let found: Vec<String> = match steps[0] {
        "standard" => words(text),
        "whitespace" => text.split_ascii_whitespace().map(String::from).collect(),
        "paths" => text.split([' ', '\n', '/']).filter(|word| !word.is_empty()).map(String::from).collect(),
        "delimiters:,\\x7c" => {
            text.split([',', '|']).filter(|word| !word.is_empty()).map(String::from).collect()
        }
        "keyword" => (!text.is_empty()).then(|| text.to_owned()).into_iter().collect(),
        base => panic!("{base}"),
    };
    let runs = match steps[steps.len() - 1] {
        "ngram:2-3" => Some((2, 3, false)),
        "edge-ngram:1-4" => Some((1, 4, true)),
        _ => None,
    };
    steps.truncate(steps.len() - usize::from(runs.is_some()));
    let lists: Vec<_> = (0..steps.len()).map(|at| slow_list(&steps[..at], steps[at])).collect();
    let (mut position, mut tokens) = (0, Vec::new());
    for word in found {
        let word = (1..steps.len()).fold(word, |word, at| match word.as_str() {
            "" => word,
            word => slow_step(&steps[..=at], &lists[at], word),
        });
        let made = match runs {
            Some((min, max, edge)) if !word.is_empty() => slow_runs(&word, min, max, edge),
            _ => vec![word],
        };
        for token in made {
            if !token.is_empty() {
                tokens.push((position, token));
            }
            position += 1;
        }
    }
    tokens
}

/// Like [`random_text`], with marks, ligatures and other variants of letters.
fn strange_text(random: &mut Rng, len: usize) -> String {
    let pieces = [
        "\u{301}",
        "\u{308}",
        "e\u{301}",
        "ﬁ",
        "Ａ",
        "²",
        "Æ",
        "ø",
        "ł",
        "und",
        "Und",
        "für",
        "über",
        "Häuser",
        "été",
        "'S",
        "|",
        "\u{2019}s",
        "\u{ff07}s",
        " ",
        " ",
        " ",
        "한",
        "ǅ",
        "が",
        "𝐇ello",
        "ᴬ",
        "fur",
    ];
    let mut text = String::new();
    for _ in 0..random.usize(..len) {
        text.push_str(pieces[random.usize(..pieces.len())]);
        text.push_str(&random_text(random, 3));
    }
    text
}

const CHAINS: [&str; 22] = [
    "standard | lowercase",
    "standard | fold",
    "standard | possessive",
    "standard | stop:german",
    "standard | stop:the,of,über,a",
    "standard | porter",
    "standard | snowball:german",
    "standard | length:2-5",
    "standard | fold | ngram:2-3",
    "standard | stop:the,of | edge-ngram:1-4",
    "standard | fold | possessive | stop:german | stop:the,of,und | snowball:french | porter | length:2-30",
    "whitespace | lowercase | fold",
    "whitespace | possessive | fold | lowercase",
    "whitespace | fold | fold",
    "paths | lowercase | edge-ngram:1-4",
    "paths | length:1-3 | ngram:2-3",
    "delimiters:,\\x7c | lowercase | stop:the,a",
    "keyword | lowercase",
    "keyword | fold | length:1-60",
    "keyword | stop:the,of",
    "whitespace | fold | stop:für,The | lowercase | stop:Und,",
    "standard | fold | stop:Über,Häuser | stop:german",
];

#[test]
fn chains_agree_with_a_slow_version_of_each_step() {
    let seed = 0x5eed_0a21;
    let mut random = Rng::with_seed(seed);
    for round in 0..150 {
        // The longest texts span several windows.
        let len = if round % 30 == 0 { 2000 } else { 60 };
        let text = strange_text(&mut random, len);
        for chain in CHAINS {
            // Other tests cover cut words.
            if chain.starts_with("keyword") && text.len() > MAX_TOKEN / 4 {
                continue;
            }
            assert_eq!(placed(chain, &text), slow(chain, &text), "seed {seed:x} round {round} {chain}");
        }
    }
}

#[test]
fn english_is_the_chain_of_its_steps_in_terms_positions_offsets_and_lengths() {
    let chain = "standard | possessive | stop:english | porter";
    let same = |text: &[u8], what: &str| {
        let (named, chained) = (received("english", text), received(chain, text));
        assert!(named.tokens == chained.tokens && named.next == chained.next, "{what}");
        named.tokens.len()
    };
    let seed = 0x5eed_0a22;
    let mut random = Rng::with_seed(seed);
    for round in 0..200 {
        let mut text = strange_text(&mut random, 200).into_bytes();
        for _ in 0..random.usize(..6) {
            let at = random.usize(..=text.len());
            text.insert(at, random.u8(..));
        }
        same(&text, &format!("seed {seed:x} round {round}"));
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for file in ["ARCHITECTURE.md", "LICENSE-APACHE", "docs/FORMAT.md", "docs/QUERIES.md"] {
        let text = std::fs::read(format!("{root}/{file}")).unwrap();
        assert!(same(&text, file) > 1000, "{file}");
    }
}

#[test]
fn words_that_are_left_out_leave_gaps_and_so_do_words_that_become_empty() {
    let found = placed(
        "standard | possessive | stop:english | stop:und,of | porter",
        "The dog und the cats of Ann's",
    );
    assert_eq!(found, [(1, "dog".into()), (4, "cat".into()), (6, "ann".into())]);
    let found = placed("whitespace | fold | length:1-3", "\u{301} a \u{301}\u{308} four bc");
    assert_eq!(found, [(1, "a".into()), (4, "bc".into())]);
    // Gaps at the end are reported too, because the text may continue.
    assert_eq!(received("standard | stop:english", b"roses of the").next, 3);
    assert_eq!(received("code | stop:of,the", b"roses of the").next, 3);
    assert_eq!(
        placed("standard | stop:english | edge-ngram:1-2", "the ab of c"),
        [(1, "a".into()), (2, "ab".into()), (4, "c".into())]
    );
}

#[test]
fn parts_of_identifiers_keep_their_positions_whatever_is_left_out() {
    for (chain, expected) in [
        ("code | stop:get,", vec![(0, "get_username"), (1, "user"), (2, "name"), (3, "x")]),
        ("code | stop:get_username,", vec![(0, "get"), (1, "user"), (2, "name"), (3, "x")]),
        ("code | stop:get,get_username", vec![(1, "user"), (2, "name"), (3, "x")]),
        ("code | length:1-4", vec![(0, "get"), (1, "user"), (2, "name"), (3, "x")]),
        ("code | stop:user,name,x", vec![(0, "get_username"), (0, "get")]),
    ] {
        let expected: Vec<(u32, String)> = expected.into_iter().map(|(at, term)| (at, term.into())).collect();
        assert_eq!(placed(chain, "get_userName x"), expected, "{chain}");
    }
    // A term does not occur twice at one position.
    assert_eq!(placed("code | edge-ngram:2-2", "getName"), [(0, "ge".into()), (1, "na".into())]);
    assert_eq!(
        terms("code | fold | porter", "größeÄndern running"),
        ["grosseandern", "gross", "andern", "run"]
    );
    assert_eq!(terms("ancestors | lowercase | edge-ngram:1-3", "/A/b\n"), ["/", "/a", "/", "/a", "/a/"]);
}

#[test]
fn no_term_occurs_twice_at_a_position_and_none_starts_before_the_one_before() {
    let seed = 0x5eed_0a23;
    let mut random = Rng::with_seed(seed);
    for round in 0..1000 {
        let text: String = (0..random.usize(..16))
            .map(|_| ["a", "b", "C", "D", "1", "_", "é", "ß", " "][random.usize(..9)])
            .collect();
        for chain in [
            "code | edge-ngram:1-2",
            "code | fold | edge-ngram:2-2",
            "code | length:1-2",
            "code | stop:a,b | porter",
        ] {
            let received = received(chain, text.as_bytes());
            for pair in received.tokens.windows(2) {
                let ((first, before, from), (second, term, source)) = (&pair[0], &pair[1]);
                assert!(
                    first < second || first == second && before != term,
                    "seed {seed:x} round {round} {chain} {text}"
                );
                assert!(from.start <= source.start, "seed {seed:x} round {round} {chain} {text}");
            }
        }
    }
}

#[test]
fn no_character_is_a_capital_after_lower_case_and_folding() {
    let low = |c: char| c.to_lowercase().next() == Some(c);
    for chain in ["standard | fold", "whitespace | lowercase | fold", "code | fold"] {
        let mut tokenizer = Tokenizer::new(&Analyzer::parse(chain).unwrap());
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            for term in tokenizer.terms(c.encode_utf8(&mut [0; 4])) {
                assert!(std::str::from_utf8(&term).unwrap().chars().all(low), "{chain} {c:?}");
            }
        }
    }
    assert_eq!(terms("standard | fold", "𝐇ello ℝ ﬁn"), terms("standard", "hello R fin"));
    assert_eq!(terms("whitespace | fold", "𝐇ello ÉTÉ"), ["Hello", "ETE"]);
}

#[test]
fn words_are_left_out_as_the_steps_before_spell_them() {
    let text = "Für die Häuser fur über uber";
    for (chain, left) in [
        ("standard | stop:german", ["häuser", "fur", "uber"].as_slice()),
        ("standard | fold | stop:german", &["hauser"]),
        ("standard | stop:german | fold", &["hauser", "fur", "uber"]),
        ("whitespace | fold | stop:german", &["Fur", "Hauser"]),
        ("whitespace | fold | lowercase | stop:german", &["hauser"]),
        ("standard | stop:FÜR,Die", &["häuser", "fur", "über", "uber"]),
        ("standard | fold | stop:FÜR,", &["die", "hauser", "uber", "uber"]),
        ("whitespace | stop:FÜR,Die", &["Für", "die", "Häuser", "fur", "über", "uber"]),
    ] {
        assert_eq!(terms(chain, text), left, "{chain}");
    }
    // Lone accents become empty, which is not a stop word.
    assert_eq!(terms("standard | fold | stop:\u{301},", "a"), ["a"]);
    for (language, text) in
        [("romanian", "și şi ți ţi si ti"), ("hungarian", "előtt elõtt elott ők"), ("french", "été ete")]
    {
        let found = terms(&format!("standard | fold | stop:{language}"), text);
        assert!(found.is_empty(), "{language}: {found:?}");
    }
    assert_eq!(terms("standard | stop:romanian", "și şi casă"), ["casă"]);
    assert_eq!(terms("standard | stop:hungarian", "előtt elõtt elott"), ["elott"]);
}

#[test]
fn steps_leave_invalid_utf8_alone() {
    let found = received("whitespace | lowercase | fold", b"\xffGR\xc3\x96SSE\xe2\x82 \xc3 \xf0\x9f\x98A");
    let found: Vec<Vec<u8>> = found.tokens.into_iter().map(|(_, term, _)| term).collect();
    assert_eq!(found, [b"\xffgrosse\xe2\x82".to_vec(), b"\xc3".to_vec(), b"\xf0\x9f\x98a".to_vec()]);
    let text = b"r\xffunning flies";
    let same = |chain| received(chain, text).tokens.remove(0).1;
    assert_eq!(same("whitespace | snowball:english"), b"r\xffunning");
    assert_eq!(same("whitespace | porter"), b"r\xffunning");
    // A byte that starts no character belongs to the character before.
    assert_eq!(received("whitespace | length:2-2", b"\x80 \x80\x80a a\x80\x80 \xff\xff").tokens.len(), 2);
}

#[test]
fn words_that_are_too_long_are_cut_before_and_after_a_step() {
    let eights = "Ⅷ".repeat(12_000);
    let found = received("whitespace | fold", eights.as_bytes()).tokens;
    assert_eq!(found, [(0, "VIII".repeat(MAX_TOKEN / 4).into_bytes(), 0..MAX_TOKEN)]);
    let mut tokenizer = Tokenizer::new(&Analyzer::parse("whitespace | fold | lowercase").unwrap());
    assert_eq!(tokenizer.terms(&eights), ["viii".repeat(MAX_TOKEN / 4).into_bytes()]);
    assert_eq!(tokenizer.cut_tokens(), 1);
    let long = "Ⱥ".repeat(20_000);
    for chain in ["standard | lowercase", "keyword | lowercase", "standard | snowball:german"] {
        let found = received(chain, long.as_bytes()).tokens;
        assert!(found.len() == 1 && found[0].1.len() <= MAX_TOKEN, "{chain}");
    }
    // Stemmers leave words alone that are too long for any language.
    let (most, more) = ("u".repeat(251) + "ungen", "u".repeat(252) + "ungen");
    assert!(terms("standard | snowball:german", &most)[0].len() < most.len());
    assert_eq!(terms("standard | snowball:german", &more), [more]);
    assert!(received("keyword | length:1-100", long.as_bytes()).tokens.is_empty());
}

#[test]
fn n_grams_of_rewritten_words_are_placed_where_the_word_is() {
    let places = |chain, text: &str| {
        let tokens = received(chain, text.as_bytes()).tokens;
        tokens.into_iter().map(|(_, _, source)| source).collect::<Vec<_>>()
    };
    assert_eq!(places("paths | lowercase | edge-ngram:1-2", "/Ab"), [1..2, 1..3]);
    // Which byte of ß an s comes from is unknown.
    assert_eq!(places("standard | fold | ngram:3", "aßb"), [0..4, 0..4]);
}

#[test]
fn parts_of_terms_are_spelled_by_the_steps_that_work_on_characters() {
    for (analyzer, text, expected) in [
        ("whitespace", "Größe", "Größe"),
        ("standard", "Größe", "größe"),
        ("english", "The RUNNING", "the running"),
        ("whitespace | fold", "Größe", "Grosse"),
        ("whitespace | fold | lowercase", "Größe", "grosse"),
        ("standard | fold | stop:german | snowball:german", "Für", "fur"),
        ("code | stop:get,", "GET", "get"),
        ("keyword | lowercase", "New Y", "new y"),
        ("paths | edge-ngram:1-8", "Ab", "Ab"),
        ("standard | fold", "\u{301}", "\u{301}"),
        ("standard | fold", "𝐇ello", "hello"),
        ("whitespace | fold", "𝐇ello", "Hello"),
    ] {
        assert_eq!(spelling(&Analyzer::parse(analyzer).unwrap(), text), expected, "{analyzer}");
    }
}
