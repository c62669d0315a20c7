use fastrand::Rng;

use super::*;
use crate::schema::{Analyzer, LANGUAGES};

const EXAMPLES: [&str; 12] = [
    "standard | possessive | stop:english | stop:the,of,und | porter",
    "whitespace | lowercase | fold",
    "code | stop:get,set",
    "keyword | lowercase",
    "standard | fold | snowball:german",
    "standard | length:2-30",
    "paths | lowercase | edge-ngram:1-8",
    "ancestors | lowercase | edge-ngram:2-16",
    "delimiters:\\x20,;\\x7c | fold",
    "code | edge-ngram:2-4",
    "standard | stop:german,",
    "whitespace | stop:l'été,日本,a:b | ngram:3-3",
];

#[test]
fn chains_are_printed_as_they_are_read() {
    for text in EXAMPLES {
        let analyzer = Analyzer::parse(text).unwrap();
        assert_eq!(analyzer.name(), text);
        let Analyzer::Chain(chain) = &analyzer else { panic!("{text} is a chain") };
        assert_eq!(Chain::from_stored(text.as_bytes()).as_ref(), Some(chain));
        assert_eq!(analyzer.code(), (8, [0; 4]));
    }
    for (text, printed) in [
        ("  standard|fold  |stop: the , of,,", "standard | fold | stop:the,of"),
        ("delimiters:\\s/ | ngram:3", "paths | ngram:3-3"),
        ("standard | stop:of,", "standard | stop:of,"),
        (" delimiters: ,|fold", "delimiters:\\x20, | fold"),
        ("delimiters:, |  fold", "delimiters:, | fold"),
        ("standard | stop:english, | porter", "standard | stop:english, | porter"),
    ] {
        assert_eq!(Analyzer::parse(text).unwrap().name(), printed);
        // Only the text that would be written is accepted from a file.
        assert_eq!(Chain::from_stored(text.as_bytes()).is_some(), text == printed, "{text}");
    }
}

#[test]
fn random_chains_read_back_and_random_text_is_read_or_refused() {
    let seed = 0x5eed_0a01;
    let mut random = Rng::with_seed(seed);
    let bases = ["standard", "whitespace", "paths", "keyword", "code", "ancestors", "delimiters:;\\x7c"];
    let steps = ["lowercase", "fold", "possessive", "porter", "stop:a,", "stop:é,z", "length:1-32768"];
    let pieces =
        ["standard", "|", " ", "stop", ":", ",", "fold", "ngram", "2-3", "-", "\\", "é", "\0", "length"];
    for round in 0..2000 {
        let mut text: String = bases[random.usize(..bases.len())].into();
        for _ in 0..random.usize(1..=16) {
            let language = LANGUAGES[random.usize(..LANGUAGES.len())];
            let step = match random.usize(..steps.len() + 2) {
                0 => format!("snowball:{language}"),
                1 => format!("stop:{language}"),
                other => steps[other - 2].into(),
            };
            text.push_str(&format!(" | {step}"));
        }
        assert_eq!(Analyzer::parse(&text).unwrap().name(), text, "seed {seed:x} round {round}");
        let noise: String = (0..random.usize(..12)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        if let Ok(analyzer) = Analyzer::parse(&noise) {
            assert_eq!(
                Analyzer::parse(&analyzer.name()).unwrap(),
                analyzer,
                "seed {seed:x} round {round} {noise}"
            );
        }
        // Damaged text is rejected, or is another valid chain.
        let mut bytes = text.clone().into_bytes();
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u8(..8);
        if let Some(chain) = Chain::from_stored(&bytes) {
            assert_eq!(chain.to_string().as_bytes(), bytes, "seed {seed:x} round {round}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_a_remedy() {
    let many = format!("standard{}", " | fold".repeat(17));
    let long = format!("standard | stop:{}", "word,".repeat(20_000));
    for (text, hints) in [
        ("standard | klingon", ["step 1", "edge-ngram:MIN-MAX"]),
        ("standard | fold | | porter", ["step 2", "step is empty"]),
        ("standard | fold |", ["step 2", "lowercase"]),
        ("standard |", ["step 1", "lowercase"]),
        ("| fold", ["begins with ''", "whitespace"]),
        ("fold | lowercase", ["which is a step", "whitespace"]),
        ("english | fold", ["which is a chain", "stop:english | porter"]),
        ("ngram:2-3 | fold", ["which is a step", "standard | ngram:2-3"]),
        ("klingon | fold", ["not a tokenizer", "delimiters:BYTES"]),
        ("delimiters: | fold", ["delimiters", "at least one"]),
        ("delimiters: |fold", ["at least one", "\\x20"]),
        ("delimiters:|", ["at least one", "\\x7c"]),
        ("delimiters:|, | fold", ["at least one", "\\x7c"]),
        ("delimiters:,|", ["step is empty", "\\x7c"]),
        ("delimiters:,|; | fold", ["step 1", "\\x7c"]),
        ("delimiters:, |fold", ["would be lost", "\\x20"]),
        ("delimiters:,  | fold", ["would be lost", "\\x20"]),
        ("delimiters:,\t| fold", ["would be lost", "\\t"]),
        ("delimiters:,\t | fold", ["would be lost", "\\t"]),
        ("delimiters:,\u{3000}| fold", ["would be lost", "\\x20"]),
        ("standard | whitespace", ["step 1", "must be the first"]),
        ("standard | lowercase:x", ["step 1", "no parameter"]),
        ("standard | stop", ["step 1", "stop:the,of"]),
        ("standard | stop:", ["stop:german", "words of your own, as in stop:the,of"]),
        ("standard | stop: , ,", ["step 1", "is empty"]),
        ("standard | stop:klingon", ["swedish", "as in klingon,"]),
        ("standard | stop:a\u{7},b", ["step 1", "control character"]),
        ("standard | snowball", ["step 1", "snowball:german"]),
        ("standard | snowball:klingon", ["step 1", "swedish"]),
        ("standard | length:3", ["step 1", "length:2-30"]),
        ("standard | length:0-3", ["step 1", "from 1 to 32768"]),
        ("standard | length:9-3", ["step 1", "length:2-30"]),
        ("standard | length:1-32769", ["step 1", "32768"]),
        ("standard | ngram", ["step 1", "ngram:2-3"]),
        ("standard | ngram:1-9", ["step 1", "edge-ngram"]),
        ("standard | ngram:2-3 | edge-ngram:2-3", ["step 2", "the last"]),
        ("standard | edge-ngram:2-3 | porter", ["step 2", "the last"]),
        ("code | ngram:2-3", ["step 1", "edge-ngram"]),
        ("ancestors | lowercase | ngram:2-3", ["step 2", "edge-ngram"]),
        (&many, ["step 17", "at most 16"]),
        (&long, ["65536", "remove"]),
    ] {
        let error = Analyzer::parse(text).unwrap_err().to_string();
        assert!(hints.iter().all(|hint| error.contains(hint)), "{text}: {error}");
        assert_eq!(Chain::from_stored(text.as_bytes()), None);
    }
    let error = Analyzer::parse("klingon | fold").unwrap_err().to_string();
    assert!(!error.contains("without steps") && !error.contains("or a chain"), "{error}");
    for text in ["standard", "standard | fold\n", "standard |  fold", "", "\u{fffd}"] {
        assert_eq!(Chain::from_stored(text.as_bytes()), None, "{text}");
    }
    assert_eq!(Chain::from_stored(b"standard | stop:\xff,b"), None);
    let most = format!("standard | stop:{}", vec!["word"; 13_104].join(","));
    assert_eq!(most.len(), 65_535);
    assert_eq!(Analyzer::parse(&most).unwrap().name(), most);
}

#[test]
fn a_chain_cuts_text_where_its_tokenizer_does() {
    for (chain, alone) in
        [("standard | fold", "standard"), ("paths | fold", "paths"), ("keyword | fold", "keyword")]
    {
        let (chain, alone) = (Analyzer::parse(chain).unwrap(), Analyzer::parse(alone).unwrap());
        for (last, next) in (0..=255).flat_map(|last| (0..=255).map(move |next| (last, next))) {
            assert_eq!(chain.may_cut(last, next), alone.may_cut(last, next));
        }
    }
}

#[test]
fn identifiers_break_at_every_ascii_byte_that_is_not_part_of_one() {
    for byte in 0..=255u8 {
        let part = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        assert_eq!(CODE_BREAKS.contains(byte), !part, "byte {byte}");
    }
}
