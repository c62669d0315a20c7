//! The words of `standard` are those of Lucene's StandardAnalyzer, for every character. `lucene.txt` was
//! printed by Lucene and says how; `newer_than_lucene.txt` has the only characters that differ.

use std::collections::BTreeMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::PlacedTokens;
use crate::schema::Analyzer;
use crate::tokenize::Tokenizer;
use crate::tokenize::class::WordClass;

const FIXTURE: &str = include_str!("lucene.txt");
const NEWER: &str = include_str!("newer_than_lucene.txt");

/// The lines of a section of the fixture.
fn section(name: &str) -> Vec<&'static str> {
    const NAMES: [&str; 7] = ["contexts", "behaviours", "runs", "lower", "strings", "classes", "checksums"];
    let lines = FIXTURE.lines().skip_while(|line| *line != name).skip(1);
    let found: Vec<&str> = lines.take_while(|line| !NAMES.contains(line)).collect();
    assert!(!found.is_empty(), "the fixture has no {name}");
    found
}

fn character(hex: &str) -> char {
    char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap()
}

fn text(hex: &str) -> String {
    hex.split(' ').map(character).collect()
}

/// Words with their places in characters.
struct Words {
    tokenizer: Tokenizer,
    found: PlacedTokens,
}

impl Words {
    fn new() -> Self {
        Words { tokenizer: Tokenizer::new(&Analyzer::Standard), found: PlacedTokens::default() }
    }

    /// The places of the words of `text`, and the words.
    fn of(&mut self, text: &str) -> Vec<(usize, usize, Vec<u8>)> {
        self.tokenizer.run(&mut text.as_bytes().to_vec(), 0..text.len(), &mut self.found);
        let place = |at: usize| text[..at].chars().count();
        let words = self.found.0.drain(..);
        words.map(|(word, bytes)| (place(bytes.start), place(bytes.end), word)).collect()
    }

    fn places_in_bytes(&mut self, text: &str) -> Vec<Range<usize>> {
        self.tokenizer.run(&mut text.as_bytes().to_vec(), 0..text.len(), &mut self.found);
        self.found.0.drain(..).map(|(_, bytes)| bytes).collect()
    }

    fn places(&mut self, text: &str) -> String {
        let places: Vec<String> =
            self.of(text).iter().map(|(start, end, _)| format!("{start}-{end}")).collect();
        places.join(" ")
    }
}

/// The value of every character, from runs that begin with `character value`.
fn by_character<T: Copy>(lines: &[&str], first: T, value: impl Fn(&str) -> T) -> Vec<(char, T)> {
    let runs: Vec<(char, T)> = lines
        .iter()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(start, rest)| (character(start), value(rest)))
        .collect();
    let mut next = runs.iter().peekable();
    let mut current = first;
    let all = ('\0'..=char::MAX).map(|c| {
        if let Some((_, value)) = next.next_if(|(start, _)| *start == c) {
            current = *value;
        }
        (c, current)
    });
    all.collect()
}

fn newer() -> Vec<char> {
    let ranges = NEWER.lines().skip(1).flat_map(|line| line.split(' '));
    ranges
        .flat_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            character(first)..=character(last)
        })
        .collect()
}

/// The contexts of a character, and where words are in them.
struct Contexts {
    contexts: Vec<String>,
    /// Places in characters, by behaviour and context.
    behaviours: Vec<Vec<Vec<Range<usize>>>>,
}

impl Contexts {
    fn read() -> Self {
        let place = |place: &str| {
            let (start, end) = place.split_once('-').unwrap();
            start.parse().unwrap()..end.parse().unwrap()
        };
        let places = |list: &str| list.split(' ').filter(|one| !one.is_empty()).map(place).collect();
        Contexts {
            contexts: section("contexts").into_iter().map(text).collect(),
            behaviours: section("behaviours")
                .into_iter()
                .map(|line| line.split(',').map(places).collect())
                .collect(),
        }
    }

    /// All contexts of `c`, one in a line.
    fn text(&self, c: char) -> String {
        let mut text = self.contexts.join("\n");
        text.push('\n');
        text.replace('#', c.encode_utf8(&mut [0; 4]))
    }

    /// The places in bytes of the words in [`Self::text`] of any character with a behaviour that is as long
    /// as `like`.
    fn places(&self, behaviour: usize, like: char) -> Vec<Range<usize>> {
        let text = self.text(like);
        let mut places = Vec::new();
        let mut start = 0;
        for (line, words) in text.split_inclusive('\n').zip(&self.behaviours[behaviour]) {
            let bytes: Vec<usize> = line.char_indices().map(|(at, _)| start + at).collect();
            places.extend(words.iter().map(|word| bytes[word.start]..bytes[word.end]));
            start += line.len();
        }
        places
    }
}

#[test]
fn every_character_has_the_words_of_lucene_in_every_context_unless_it_is_newer() {
    let contexts = Contexts::read();
    let mut words = Words::new();
    let mut expected = BTreeMap::<(usize, usize), Vec<Range<usize>>>::new();
    let mut different = Vec::new();
    for (c, behaviour) in by_character(&section("runs"), 0, |number| number.parse::<usize>().unwrap()) {
        // Nothing is assigned between these planes: a sample of it does.
        if ('\u{40000}'..'\u{e0000}').contains(&c) && !(c as u32).is_multiple_of(61) {
            assert_eq!((behaviour, WordClass::of(c)), (0, WordClass::Other));
            continue;
        }
        let key = (behaviour, c.len_utf8());
        let expected = expected.entry(key).or_insert_with(|| contexts.places(behaviour, c));
        let found = words.places_in_bytes(&contexts.text(c));
        if found != *expected {
            // Lucene takes no notice of them.
            assert_eq!(behaviour, 0, "{:x}: {found:?} {expected:?}", c as u32);
            different.push(c);
        }
    }
    assert_eq!(different, newer());
}

#[test]
fn newer_characters_have_the_words_of_unicode() {
    let joins = |text: &str| text.split_word_bounds().count() == 1;
    let mut counts = BTreeMap::<String, usize>::new();
    for c in newer() {
        let class = WordClass::of(c);
        let (after_letter, after_kana) = (joins(&format!("a{c}")), joins(&format!("ア{c}")));
        let (after_space, in_number) = (joins(&format!(" {c}")), joins(&format!("1.{c}")));
        let expected = match class {
            WordClass::Letter => (true, false, false, false),
            WordClass::Number => (true, false, false, true),
            WordClass::Katakana => (false, true, false, false),
            WordClass::Mark | WordClass::SoutheastMark => (true, true, true, false),
            WordClass::Single | WordClass::Southeast => (false, false, false, false),
            _ => panic!("{:x} is {class:?}", c as u32),
        };
        assert_eq!((after_letter, after_kana, after_space, in_number), expected, "{:x} {class:?}", c as u32);
        *counts.entry(format!("{class:?}")).or_default() += 1;
    }
    // The figures of docs/ANALYZERS.md.
    assert_eq!(newer().len(), 19_808);
    assert_eq!(counts["Single"], 14_116);
}

#[test]
fn every_character_has_the_lower_case_of_lucene_unless_it_is_newer() {
    let steps = by_character(&section("lower"), 0, |step| step.parse::<i64>().unwrap());
    let mut words = Words::new();
    let mut differs = Vec::new();
    for (c, step) in steps {
        let expected = char::from_u32(u32::try_from(i64::from(c as u32) + step).unwrap()).unwrap();
        let [(0, 1, word)] = &words.of(&c.to_string())[..] else { continue };
        if *word != expected.to_string().into_bytes() {
            assert_eq!(c, expected, "{:x} has a lower case in Lucene", c as u32);
            differs.push(c);
        }
    }
    // Capitals of Unicode 17, which the Java that printed the fixture does not know, and not every Rust.
    let capitals = |c: &char| matches!(c, '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}' | '\u{16ea0}'..='\u{16eb8}');
    assert!(differs.iter().all(capitals), "{differs:x?}");
}

#[test]
fn random_strings_have_the_words_of_lucene() {
    let classes: Vec<char> = text(section("classes")[0]).chars().collect();
    let mut words = Words::new();
    for line in section("strings") {
        let (letters, expected) = line.split_once('\t').unwrap();
        let text: String = letters.bytes().map(|letter| classes[usize::from(letter - b'A')]).collect();
        assert_eq!(words.places(&text), expected, "{text:?}");
        let line = format!("x {text}\nx");
        let count = expected.split(' ').filter(|place| !place.is_empty()).count();
        assert_eq!(words.of(&line).len(), count + 2, "{line:?}");
    }
}

#[test]
fn all_strings_of_four_classes_have_the_words_of_lucene() {
    let classes: Vec<char> = text(section("classes")[0]).chars().collect();
    let mut expected = section("checksums").into_iter();
    let mut words = Words::new();
    for a in &classes {
        for b in &classes {
            let mut sum = 0_u32;
            for c in &classes {
                for d in &classes {
                    for (start, end, _) in words.of(&String::from_iter([a, b, c, d])) {
                        let place = u32::try_from(start * 5 + end).unwrap();
                        sum = sum.wrapping_mul(31).wrapping_add(place);
                    }
                    sum = sum.wrapping_mul(31).wrapping_add(1);
                }
            }
            assert_eq!(format!("{sum:x}"), expected.next().unwrap(), "strings that begin with {a:?} {b:?}");
        }
    }
    assert_eq!(expected.next(), None);
}
