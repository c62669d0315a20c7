use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

use super::automaton::Machine;
use super::fuzzy::{FuzzyWord, nearest};
use super::literal::Literal;
use super::matcher::PatternMatcher;
use super::sorted::SortedTerms;
use super::walk::MachineWalk;
use crate::codec::StringBatch;
use crate::column::ColumnSet;
use crate::invert::{InvertOptions, Inverter};
use crate::query::{Pattern, WildcardPart};
use crate::schema::Field;
use crate::search::Leaf;
use crate::search::budget::Clock;
use crate::search::tests::{Document, MapLeaf, distance, fits};
use crate::segment::{FlushBuffers, Keys, Segment, SegmentContents, StoredCollector, flush};
use crate::source::Stamp;
use crate::store::RamDirectory;
use crate::tokenize::TokenSink;

/// Terms of a small alphabet, so that many are alike, and some that are not ASCII.
fn random_terms(random: &mut fastrand::Rng, count: usize) -> Vec<String> {
    let letters = ["a", "b", "c", "ä", "語", "1"];
    let mut terms: Vec<String> =
        (0..count).map(|_| (0..random.usize(1..8)).map(|_| letters[random.usize(..6)]).collect()).collect();
    terms.sort();
    terms.dedup();
    terms
}

fn leaf(terms: &[String]) -> MapLeaf {
    MapLeaf::new(&[Document::of(&terms.join(" "))], true)
}

fn sorted(leaf: &MapLeaf) -> SortedTerms<'_> {
    SortedTerms::Leaf(leaf)
}

fn walked(leaf: &dyn Leaf, machine: &Machine) -> Vec<String> {
    let mut found = Vec::new();
    let mut walk = MachineWalk::new(leaf.into(), Clock::default(), machine).unwrap();
    while walk.next().unwrap().is_some() {
        found.push(String::from_utf8(walk.term().to_vec()).unwrap());
    }
    found
}

#[test]
fn fuzzy_matches_agree_with_an_edit_distance_table() {
    let seed = 0x5eed_0921;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..60 {
        let terms = random_terms(&mut random, 300);
        let wanted = terms[random.usize(..terms.len())].clone();
        let (edits, prefix) = (random.u8(1..3), random.usize(..3).min(wanted.chars().count()));
        let machine = Machine::of_edits(&wanted, edits, prefix).unwrap();
        let front = |text: &str| text.chars().take(prefix).collect::<String>();
        let rest = |text: &str| text.chars().skip(prefix).collect::<String>();
        let expected: Vec<String> = terms
            .iter()
            .filter(|term| {
                front(term) == front(&wanted) && distance(&rest(term), &rest(&wanted)) <= usize::from(edits)
            })
            .cloned()
            .collect();
        assert_eq!(
            walked(&leaf(&terms), &machine),
            expected,
            "seed {seed:x} round {round} {wanted} {edits} {prefix}"
        );
    }
}

/// A segment with the terms in one document.
fn segment(terms: &[String]) -> Segment {
    let mut inverter = Inverter::new(&InvertOptions::default()).unwrap();
    terms.iter().for_each(|term| inverter.token(term.as_bytes(), 0..term.len()));
    inverter.end_document();
    let keys = Keys { paths: vec![b"1".to_vec()], stamps: vec![Stamp::default()], ..Keys::default() };
    let directory = RamDirectory::new();
    let contents = SegmentContents {
        fields: vec![(Field::default(), &mut inverter)],
        keys: &keys,
        stored: &mut StoredCollector::none(),
        columns: &mut ColumnSet::default(),
    };
    let (_, unsynced) = flush(&directory, 1, contents, &FlushBuffers { write: 4096, lists: 512 }).unwrap();
    unsynced.sync().unwrap();
    Segment::open(&directory, 1, 0).unwrap()
}

#[test]
fn blocks_of_a_segment_have_the_matches_of_a_map() {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..30 {
        let count = [20, 400, 6_000][random.usize(..3)];
        let mut terms = random_terms(&mut random, count);
        terms.extend((0..count / 4).map(|at| format!("configuration-{at}")));
        terms.sort();
        terms.dedup();
        let (segment, map) = (segment(&terms), leaf(&terms));
        for _ in 0..20 {
            let wanted = &terms[random.usize(..terms.len())];
            let machine = match random.u8(..4) {
                0 => Machine::of_regex(&format!(".*{wanted}.?")).unwrap(),
                1 => Machine::of_regex(&format!("{wanted}[a-c]*1?")).unwrap(),
                edits => Machine::of_edits(wanted, edits - 1, random.usize(..3)).unwrap(),
            };
            let context = format!("seed {seed:x} round {round} {wanted}");
            assert_eq!(walked(&segment, &machine), walked(&map, &machine), "{context}");
            let mut walk =
                MachineWalk::new((&segment as &dyn Leaf).into(), Clock::default(), &machine).unwrap();
            while walk.next().unwrap().is_some() {
                if random.bool() {
                    let known = Leaf::find(&segment, walk.term()).unwrap();
                    assert_eq!(Some(walk.found().unwrap()), known, "{context}");
                }
            }
        }
    }
}

#[test]
fn regular_expressions_match_whole_terms() {
    let terms: Vec<String> =
        ["a", "aa", "ab", "abc", "b", "bab", "x1", "x12", "x12y", "ä", "語語"].map(str::to_owned).into();
    let leaf = leaf(&terms);
    for (expression, expected) in [
        ("a", "a"),
        ("a+", "a aa"),
        ("ab?c?", "a ab abc"),
        (r"x\d+", "x1 x12"),
        (".*b.*", "ab abc b bab"),
        ("a|b", "a b"),
        (".", "a b ä"),
        ("[語]+", "語語"),
        ("", ""),
        ("q.*", ""),
        ("^a$", "a"),
        ("(?i)AB", "ab"),
    ] {
        let found = walked(&leaf, &Machine::of_regex(expression).unwrap());
        assert_eq!(found.join(" "), expected, "{expression}");
    }
    let costly = [r"(.{0,9}){0,9}\wabc", r"(\w{0,9}\w*){0,30}"];
    for bad in
        ["(", "a{2000000}", r"\b", "(?:a{1000}){1000}", "[a", r"\p{Nonsense}"].into_iter().chain(costly)
    {
        let error = Machine::of_regex(bad).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("regular expression"), "{bad}: {error}");
        for internal in ["NFA", "DFA", "determini", "bytes", "\n", "parse error"] {
            assert!(!error.contains(internal), "{bad}: {error}");
        }
    }
    for (bad, expected) in [
        ("(", "unclosed group"),
        (r"\b", r"without \b"),
        (r"(.{0,9}){0,9}\wabc", "repeat less"),
        ("a{2000000}", "repeat less"),
    ] {
        let error = Machine::of_regex(bad).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bad}: {error}");
    }
}

#[test]
fn wildcards_of_the_greatest_length_match() {
    let leaf = leaf(&["ä".repeat(1_000), "ä".repeat(999), "a".repeat(1_000)]);
    let machine = Machine::of_wildcard(&vec![WildcardPart::AnyChar; 1_000]).unwrap();
    assert_eq!(walked(&leaf, &machine), ["a".repeat(1_000), "ä".repeat(1_000)]);
    let machine = Machine::of_wildcard(&vec![WildcardPart::Text(b"a".to_vec()); 1_000]).unwrap();
    assert_eq!(walked(&leaf, &machine), ["a".repeat(1_000)]);
    let parts =
        [vec![WildcardPart::Anything, WildcardPart::Text(b"a".to_vec())], vec![WildcardPart::AnyChar; 30]];
    let error = Machine::of_wildcard(&parts.concat()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("invalid wildcard *a??") && error.contains("repeat less"), "{error}");
}

#[test]
fn wildcards_match_part_by_part() {
    let seed = 0x5eed_0922;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..200 {
        let terms = random_terms(&mut random, 100);
        let parts: Vec<WildcardPart> = (0..random.usize(..5))
            .map(|_| match random.u8(..3) {
                0 => WildcardPart::AnyChar,
                1 => WildcardPart::Anything,
                _ => WildcardPart::Text(random_terms(&mut random, 1)[0].as_bytes()[..1].to_vec()),
            })
            .filter(|part| !matches!(part, WildcardPart::Text(text) if !text.is_ascii()))
            .collect();
        let expected: Vec<String> = terms.iter().filter(|term| fits(&parts, term)).cloned().collect();
        let machine = Machine::of_wildcard(&parts).unwrap();
        assert_eq!(walked(&leaf(&terms), &machine), expected, "seed {seed:x} round {round} {parts:?}");
    }
}

#[test]
fn the_nearest_fifty_of_all_leaves_come_nearest_first() {
    let seed = 0x5eed_0923;
    let mut random = fastrand::Rng::with_seed(seed);
    let parts: Vec<Vec<String>> = (0..3).map(|_| random_terms(&mut random, 2_000)).collect();
    let leaves: Vec<MapLeaf> = parts.iter().map(|terms| leaf(terms)).collect();
    let leaves: Vec<&dyn Leaf> = leaves.iter().map(|leaf| leaf as &dyn Leaf).collect();
    for wanted in ["abc", "ab", "a", "aäc1b", "語語語語"] {
        let all: BTreeMap<&String, usize> =
            parts.iter().flatten().map(|term| (term, distance(wanted, term))).collect();
        let mut expected: Vec<(f32, &String)> = all
            .into_iter()
            .filter_map(|(term, edits)| {
                let shorter = wanted.chars().count().min(term.chars().count());
                let boost = if edits == 0 { 1.0 } else { 1.0 - edits as f32 / shorter as f32 };
                (edits <= 2).then_some((boost, term))
            })
            .collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        expected.truncate(50);
        let found =
            nearest(&leaves, Clock::default(), &FuzzyWord { term: wanted, edits: 2, prefix: 0 }).unwrap();
        let found: Vec<(f32, String)> =
            found.into_iter().map(|near| (near.boost, String::from_utf8(near.term).unwrap())).collect();
        let expected: Vec<(f32, String)> =
            expected.into_iter().map(|(boost, term)| (boost, term.clone())).collect();
        assert_eq!(found, expected, "seed {seed:x} {wanted}");
    }
    let refused = |term: &str, edits| {
        nearest(&leaves, Clock::default(), &FuzzyWord { term, edits, prefix: 0 }).is_err()
    };
    assert!(refused("abc", 3));
    assert!(refused(&"a".repeat(256), 1));
}

#[test]
fn ranges_match_the_terms_that_they_find() {
    let seed = 0x5eed_0922;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..200 {
        let terms = random_terms(&mut random, 40);
        let leaf = leaf(&terms);
        let bound = |random: &mut fastrand::Rng| {
            let term = terms[random.usize(..terms.len())].as_bytes().to_vec();
            [Bound::Included(term.clone()), Bound::Excluded(term), Bound::Unbounded][random.usize(..3)]
                .clone()
        };
        let pattern = Pattern::Range(bound(&mut random), bound(&mut random));
        let matcher = PatternMatcher::new(&pattern).unwrap();
        let mut walk = matcher.matching(sorted(&leaf), Clock::default()).unwrap();
        let mut found = Vec::new();
        while walk.next().unwrap() {
            found.push(walk.term().to_vec());
        }
        let Pattern::Range(from, to) = &pattern else { panic!() };
        let expected: Vec<Vec<u8>> = terms.iter().map(|term| term.clone().into_bytes()).collect();
        let matched = expected.iter().filter(|term| matcher.matches(term)).cloned().collect::<Vec<_>>();
        let inside = |term: &&Vec<u8>| (from.clone(), to.clone()).contains(*term);
        let expected: Vec<Vec<u8>> = expected.iter().filter(inside).cloned().collect();
        assert_eq!(found, expected, "seed {seed:x} round {round} {pattern:?}");
        assert_eq!(matched, expected, "seed {seed:x} round {round} {pattern:?}");
    }
}

#[test]
fn literals_are_found_in_the_strings_that_contain_them() {
    let seed = 0x5eed_0923;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..500 {
        let word = |random: &mut fastrand::Rng, most: usize| -> Vec<u8> {
            (0..random.usize(..most)).map(|_| random.u8(b'a'..=b'c')).collect()
        };
        let strings: Vec<Vec<u8>> = (0..random.usize(..60)).map(|_| word(&mut random, 12)).collect();
        let mut batch = StringBatch::new();
        strings.iter().for_each(|string| batch.push(string));
        let parts: Vec<WildcardPart> = (0..random.usize(..4))
            .flat_map(|_| [WildcardPart::Anything, WildcardPart::Text(word(&mut random, 5))])
            .collect();
        let texts = parts.iter().filter_map(|part| match part {
            WildcardPart::Text(text) => Some(text.clone()),
            _ => None,
        });
        let longest = texts.max_by_key(|text| text.len()).filter(|text| !text.is_empty());
        let literal = Literal::of_wildcard(&parts);
        assert_eq!(literal.as_ref().map(|literal| literal.bytes().to_vec()), longest);
        let Some(literal) = literal else { continue };
        let mut found = vec![7];
        literal.find(&batch, &mut found);
        let wanted = literal.bytes();
        let has = |string: &Vec<u8>| string.windows(wanted.len()).any(|part| part == wanted);
        let expected: Vec<usize> = (0..strings.len()).filter(|&i| has(&strings[i])).collect();
        assert_eq!(found, expected, "seed {seed:x} round {round} {wanted:?} in {strings:?}");
    }
}

#[test]
fn every_match_of_an_expression_contains_its_literal() {
    for (expression, literal) in [
        (".*genome.*[0-9]7\\.h5", Some("genome")),
        ("(ab|cd)x", Some("x")),
        ("(abc)+d?", Some("abc")),
        ("(abc)*d?", None),
        ("a{0,3}", None),
        ("abc|abd", None),
        ("abc|xyz", None),
        ("(?i)abc", None),
        ("[a]bc", Some("abc")),
        ("", None),
        ("(", None),
    ] {
        let found = Literal::of_regex(expression);
        let found = found.as_ref().map(|literal| std::str::from_utf8(literal.bytes()).unwrap());
        assert_eq!(found, literal, "{expression}");
    }
}

#[test]
fn machines_that_wait_for_something_read_all_terms() {
    let of_regex = |text: &str| PatternMatcher::new(&Pattern::Regex(text.into())).unwrap().reads_all_terms();
    assert!(of_regex(".*conf"));
    assert!(of_regex(".* copy.*"));
    assert!(of_regex("(?s-u:.)*conf"));
    assert!(of_regex(".*"));
    assert!(!of_regex("conf.*"));
    assert!(!of_regex("[a-z]+conf"));
    let fuzzy = Pattern::Fuzzy { term: "conf".into(), edits: 2, prefix: 0 };
    assert!(!PatternMatcher::new(&fuzzy).unwrap().reads_all_terms());
}
