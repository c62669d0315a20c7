use std::ops::Range;

use fastrand::Rng;

use super::{Snippet, SnippetOptions};
use crate::query::{Operator, Query, QueryText, WeightedField, parse};
use crate::schema::{Analyzer, Field};
use crate::search::tests::{Document, MapLeaf};
use crate::search::{Leaf, Searcher};
use crate::tokenize::Tokenizer;

/// Finds words as an index of one field would.
struct Words(Tokenizer);

impl QueryText for Words {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField::FIRST] }
    }

    fn field(&self, _name: &str) -> Result<Field, Vec<String>> {
        Field::new(1).ok_or_else(Vec::new)
    }

    fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        self.0.placed_terms(&mut text.as_bytes().to_vec())
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_lowercase()
    }
}

fn parsed(query: &str, analyzer: &Analyzer) -> Query {
    parse(query, Operator::Or, &mut Words(Tokenizer::new(analyzer))).unwrap()
}

/// Snippets of a text in an index of these documents of words, whose second field is empty.
fn snippets_in(
    documents: &[&str],
    analyzer: &Analyzer,
    query: &str,
    text: &[u8],
    options: SnippetOptions,
) -> Vec<Snippet> {
    let documents: Vec<Document> = documents.iter().map(|text| Document::of(text)).collect();
    let (leaf, other) = (MapLeaf::new(&documents, true), MapLeaf::new(&[Document::of("")], true));
    let fields: Vec<(Field, Vec<&dyn Leaf>)> =
        vec![(Field::default(), vec![&leaf]), (Field::new(1).unwrap(), vec![&other])];
    let query = parsed(query, analyzer);
    let searcher = Searcher::over(fields, Field::default());
    searcher.highlighter(&query, Some(analyzer), options).unwrap().snippets(text)
}

fn of_length(length: usize, fragments: usize) -> SnippetOptions {
    SnippetOptions { length, fragments, ..SnippetOptions::default() }
}

/// Returns the fragments with their marks in brackets.
fn show(query: &str, text: &str, length: usize, fragments: usize) -> String {
    let found =
        snippets_in(&["a b c"], &Analyzer::Standard, query, text.as_bytes(), of_length(length, fragments));
    let shown: Vec<String> =
        found.iter().map(|one| String::from_utf8(one.marked(b"[", b"]")).unwrap()).collect();
    shown.join(" | ")
}

#[test]
fn what_a_query_matches_by_is_marked() {
    let text = "The free Software, like free speech; software is not free beer. GRÜN ist frei.";
    for (query, expected) in [
        ("software", "The free [Software], like free speech; [software] is not free beer. GRÜN ist frei."),
        ("grün", "The free Software, like free speech; software is not free beer. [GRÜN] ist frei."),
        (
            "\"free software\"",
            "The [free] [Software], like free speech; software is not free beer. GRÜN ist frei.",
        ),
        (
            "\"free software\" beer",
            "The [free] [Software], like free speech; software is not free [beer]. GRÜN ist frei.",
        ),
        (
            "\"software free\"~1",
            "The free [Software], like [free] speech; software is not free beer. GRÜN ist frei.",
        ),
        ("\"software beer\"", text),
        ("s*", "The free [Software], like free [speech]; [software] is not free beer. GRÜN ist frei."),
        ("?o?", "The free Software, like free speech; software is [not] free beer. GRÜN ist frei."),
        ("re\"b.*\"", "The free Software, like free speech; software is not free [beer]. GRÜN ist frei."),
        (
            "[f TO g]",
            "The [free] Software, like [free] speech; software is not [free] beer. GRÜN ist [frei].",
        ),
        (
            "in(beer not)",
            "The free Software, like free speech; software is [not] free [beer]. GRÜN ist frei.",
        ),
        (
            "beer -software",
            "The free Software, like free speech; software is not free [beer]. GRÜN ist frei.",
        ),
        ("other:beer", text),
        ("*", text),
        ("", text),
    ] {
        assert_eq!(show(query, text, 200, 2), expected, "{query}");
    }
}

#[test]
fn fuzzy_words_mark_the_terms_that_they_became() {
    let find = |query| {
        let found =
            snippets_in(&["beer bear"], &Analyzer::Standard, query, b"beer bear beard", of_length(99, 1));
        String::from_utf8(found[0].marked(b"[", b"]")).unwrap()
    };
    assert_eq!(find("beer~1"), "[beer] [bear] beard", "beard is no term of the index");
}

#[test]
fn a_word_of_a_phrase_that_is_fuzzy_too_is_marked_for_both() {
    let find = |query: &str| {
        let text = b"software was free, flee from free software";
        let found = snippets_in(&["free flee software"], &Analyzer::Standard, query, text, of_length(99, 1));
        String::from_utf8(found[0].marked(b"[", b"]")).unwrap()
    };
    let expected = "software was [free], [flee] from [free] [software]";
    for query in [
        "free~1 \"free software\"",
        "\"free software\" free~1",
        "flee~1 free~1 fee~1 \"free software\" fret~1",
    ] {
        assert_eq!(find(query), expected, "{query}");
    }
    let expected = "software was [free], flee from [free] software";
    for query in ["free -free~1", "-free~1 free", "+free -flee~1"] {
        assert_eq!(find(query), expected, "{query}");
    }
}

#[test]
fn words_that_are_remembered_take_so_many_bytes_at_most() {
    // 600 words of 32 KiB, of which the last is the first again.
    let words: Vec<String> = (0..600).map(|n| format!("{:x<32000}{}", "y", n % 599)).collect();
    let text = words.join(" ");
    let options = SnippetOptions { scan: text.len(), ..of_length(16, 1) };
    let searched = Document::of("a");
    let leaf = MapLeaf::new(&[searched], true);
    let searcher = Searcher::new(vec![&leaf]);
    let whitespace = Analyzer::parse("whitespace").unwrap();
    let query = parsed("yx*", &whitespace);
    let mut highlighter = searcher.highlighter(&query, Some(&whitespace), options).unwrap();
    assert!(!highlighter.snippets(text.as_bytes())[0].marks.is_empty());
    assert!(highlighter.wanted.remembered() <= 16 << 20);
}

#[test]
fn the_fragment_with_the_most_and_rarest_terms_is_chosen() {
    let text = "common here, and more, and more and more of it. Here is rare then, only then it is. \
                common and rare at last, at the end.";
    let documents = ["common rare", "common", "common", "common"];
    let find = |query: &str, fragments| {
        let found =
            snippets_in(&documents, &Analyzer::Standard, query, text.as_bytes(), of_length(24, fragments));
        found.iter().map(|one| String::from_utf8(one.marked(b"[", b"]")).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(find("common rare", 1), ["[common] and [rare] at last,"]);
    assert_eq!(find("common rare", 2), ["is [rare] then, only then", "[common] and [rare] at last,"]);
    assert_eq!(find("common", 1), ["[common] here, and more,"], "the first of equal ones");
    assert_eq!(find("nothing", 2), ["common here, and more,"], "the beginning where nothing is found");
    assert_eq!(find("common", 0), [""; 0]);
}

#[test]
fn any_bytes_and_long_lines_are_cut_within_bounds_and_not_within_characters() {
    let seed = 0x5eed_0b01;
    let mut random = Rng::with_seed(seed);
    let pieces: [&[u8]; 9] = [
        b"find ",
        b"x",
        b" ",
        b"\n",
        "語".as_bytes(),
        "ä".as_bytes(),
        b"\xff",
        b"\x80\x80\x80\x80\x80",
        b"\0",
    ];
    for round in 0..3_000 {
        let valid = random.bool();
        let most = if valid { 6 } else { pieces.len() };
        let text: Vec<u8> =
            (0..random.usize(..400)).flat_map(|_| pieces[random.usize(..most)].to_vec()).collect();
        let options = SnippetOptions {
            length: random.usize(..200),
            fragments: random.usize(..5),
            scan: if random.bool() { random.usize(..600) } else { 1 << 20 },
        };
        let analyzer =
            Analyzer::parse(["standard", "whitespace", "code", "ngram:1-2", "keyword"][round % 5]).unwrap();
        let found = snippets_in(&["find"], &analyzer, "find x 語 \"x x\"~3", &text, options);
        let what = format!("seed {seed:x} round {round} {options:?}");
        assert!(found.len() <= options.fragments, "{what}");
        for one in &found {
            assert!(!one.text.is_empty() && one.text.len() <= options.length.max(16), "{what}");
            assert_eq!(one.text, text[one.start..one.start + one.text.len()], "{what}");
            let rest = &text[one.start + one.text.len()..];
            assert_eq!(one.goes_on, rest.iter().any(|byte| !byte.is_ascii_whitespace()), "{what}");
            assert!(!valid || std::str::from_utf8(&one.text).is_ok(), "{what}: {:?}", one.text);
            let ends = [0].into_iter().chain(one.marks.iter().map(|mark| mark.end));
            assert!(
                one.marks
                    .iter()
                    .zip(ends)
                    .all(|(mark, before)| before <= mark.start && mark.start < mark.end)
            );
            assert!(one.marks.iter().all(|mark| mark.end <= one.text.len()), "{what}");
        }
        assert!(found.windows(2).all(|pair| pair[0].start + pair[0].text.len() <= pair[1].start), "{what}");
    }
}

#[test]
fn no_stretch_shows_more_than_the_first_fragment() {
    let seed = 0x5eed_0b02;
    let mut random = Rng::with_seed(seed);
    for round in 0..500 {
        let words: Vec<&str> = (0..random.usize(1..200))
            .map(|_| ["a", "b", "c", "d", "filler", "more", "text"][random.usize(..7)])
            .collect();
        let text = words.join(" ");
        // All equally rare, so that only their number counts.
        let found = snippets_in(
            &["a", "b", "c", "d"],
            &Analyzer::Standard,
            "a b c d",
            text.as_bytes(),
            of_length(30, 1),
        );
        let different = |text: &str| {
            let mut found: Vec<&str> = text.split(' ').filter(|word| word.len() == 1).collect();
            found.sort_unstable();
            found.dedup();
            found.len()
        };
        let most = (0..text.len()).filter(|&at| at == 0 || text.as_bytes()[at - 1] == b' ').map(|at| {
            let end = text.len().min(at + 30);
            let end = if end < text.len() && text.as_bytes()[end] != b' ' {
                text[..end].rfind(' ').unwrap_or(0)
            } else {
                end
            };
            if end > at { different(&text[at..end]) } else { 0 }
        });
        let shown = std::str::from_utf8(&found[0].text).unwrap();
        assert_eq!(different(shown), most.max().unwrap(), "seed {seed:x} round {round}: {shown} of {text}");
        let marked: usize = found[0].marks.iter().map(|mark| mark.len()).sum();
        assert_eq!(marked, shown.split(' ').filter(|word| word.len() == 1).count(), "{shown}");
    }
}

#[test]
fn overlapping_terms_are_marked_once_and_values_are_apart() {
    let code = Analyzer::Code;
    let found = snippets_in(&["x"], &code, "get_userName user", b"call get_userName(now)", of_length(99, 1));
    assert!(matches!(found[0].marks[..], [Range { start: 5, end: 17 }]), "{found:?}");
    let leaf = MapLeaf::new(&[Document::of("a b")], true);
    let searcher = Searcher::new(vec![&leaf]);
    let query = parsed("\"a b\"", &Analyzer::Standard);
    let mut both =
        searcher.highlighter(&query, Some(&Analyzer::Standard), SnippetOptions::default()).unwrap();
    assert_eq!(both.snippets(b"a b")[0].marks, [0..1, 2..3]);
    assert_eq!(
        both.snippets_of(b"a b", &[0..1, 2..3])[0].marks,
        Vec::<Range<usize>>::new(),
        "no phrase across values"
    );
    let query = Query::term(Field::default(), b"ann bob");
    let mut whole = searcher.highlighter(&query, None, SnippetOptions::default()).unwrap();
    let found = whole.snippets_of(b"eve\nann bob", &[0..3, 4..11]);
    assert!(matches!(found[0].marks[..], [Range { start: 4, end: 11 }]), "{found:?}");
}
