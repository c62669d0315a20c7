use crate::error::Error;
use crate::query::{Operator, Pattern, Query, QueryText, WeightedField, WildcardPart, parse};
use crate::schema::Field;
use std::ops::Bound;

/// The number of the default field, which has no name.
const DEFAULT: u16 = 2;

/// Splits words at hyphens and spaces, drops commas, and lower-cases. The fields are `title`, 0, and `body`,
/// 1.
struct Words;

impl QueryText for Words {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField { field: Field::new(DEFAULT).unwrap(), weight: 1.0 }] }
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        let names = ["title", "body"];
        let known = names.iter().position(|known| *known == name);
        known
            .and_then(|at| Field::new(u16::try_from(at).unwrap()))
            .ok_or_else(|| names.map(str::to_owned).to_vec())
    }

    fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        let text = text.to_lowercase();
        let parts = text.split(['-', ',', ' ']).filter(|part| !part.is_empty());
        (0..).zip(parts.map(|part| part.as_bytes().to_vec())).collect()
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_lowercase()
    }
}

/// The query in a notation that shows its structure: `(must+ should must_not-)`.
fn show(query: &Query) -> String {
    let text = match query {
        Query::Term(term) => text_of(&term.text),
        Query::Boost(query, boost) => format!("{}^{boost}", show(query)),
        Query::Bool(list) => {
            let part = |queries: &[Query], mark| {
                queries.iter().map(move |query| show(query) + mark).collect::<Vec<_>>()
            };
            let parts = [part(&list.must, "+"), part(&list.should, ""), part(&list.must_not, "-")].concat();
            let least = if list.at_least > 0 { format!("@{}", list.at_least) } else { String::new() };
            format!("({}){least}", parts.join(" "))
        }
        Query::Best(best) => {
            format!("({})", best.clauses.iter().map(show).collect::<Vec<_>>().join(" | "))
        }
        Query::Phrase(phrase) => {
            let terms: Vec<String> =
                phrase.terms.iter().map(|(at, term)| format!("{at}={}", text_of(term))).collect();
            format!("\"{}\"~{}", terms.join(" "), phrase.slop)
        }
        Query::Pattern { pattern, .. } => show_pattern(pattern),
        Query::All => "ALL".to_owned(),
        Query::Exists(_) => "ANY".to_owned(),
        Query::Values(range) => format!("{range:?}"),
        Query::ValuePattern { pattern, .. } => format!("values<{}>", show_pattern(pattern)),
        Query::Join(join) => format!("join<{}>", show(&join.query)),
        Query::Scored(scored) => format!("scored<{} {:?}>", show(&scored.query), scored.change),
    };
    match query.field() {
        Some(field) if field.number() != DEFAULT => format!("{}:{text}", field.number()),
        _ => text,
    }
}

fn text_of(term: &[u8]) -> String {
    String::from_utf8_lossy(term).into_owned()
}

fn show_pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Prefix(prefix) => format!("prefix<{}>", text_of(prefix)),
        Pattern::Wildcard(parts) => {
            let part = |part: &WildcardPart| match part {
                WildcardPart::Text(text) => text_of(text),
                WildcardPart::AnyChar => "?".to_owned(),
                WildcardPart::Anything => "*".to_owned(),
            };
            format!("wild<{}>", parts.iter().map(part).collect::<Vec<_>>().join("."))
        }
        Pattern::Regex(text) => format!("re<{text}>"),
        Pattern::Fuzzy { term, edits, prefix } => format!("fuzzy<{term} {edits} {prefix}>"),
        Pattern::Range(from, to) => {
            let show = |bound: &Bound<Vec<u8>>, included, excluded| match bound {
                Bound::Included(term) => format!("{included}{}", text_of(term)),
                Bound::Excluded(term) => format!("{excluded}{}", text_of(term)),
                Bound::Unbounded => "*".to_owned(),
            };
            format!("range<{} {}>", show(from, ">=", ">"), show(to, "<=", "<"))
        }
        Pattern::Set(terms) => {
            format!("set<{}>", terms.iter().map(|term| text_of(term)).collect::<Vec<_>>().join(" "))
        }
    }
}

fn with_or(text: &str) -> String {
    show(&parse(text, Operator::Or, &mut Words).unwrap())
}

fn with_and(text: &str) -> String {
    show(&parse(text, Operator::And, &mut Words).unwrap())
}

fn refused(text: &str) -> (String, usize) {
    match parse(text, Operator::Or, &mut Words) {
        Err(Error::Query { message, at, query }) => {
            assert_eq!(query, text);
            (message, at)
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn operators_bind_in_the_documented_order() {
    assert_eq!(with_or("a"), "a");
    assert_eq!(with_or("a b c"), "(a b c)");
    assert_eq!(with_or("a OR b c"), "(a b c)");
    assert_eq!(with_or("a AND b"), "(a+ b+)");
    assert_eq!(with_or("a OR b AND c"), "(a (b+ c+))");
    assert_eq!(with_or("a AND b OR c AND d"), "((a+ b+) (c+ d+))");
    assert_eq!(with_or("a AND NOT b"), "(a+ b-)");
    assert_eq!(with_or("(a OR b) AND c"), "((a b)+ c+)");
    assert_eq!(with_and("a b c"), "(a+ b+ c+)");
    assert_eq!(with_and("a b OR c"), "((a+ b+) c)");
    assert_eq!(with_and("a NOT b"), "(a+ b-)");
    assert_eq!(with_and("a (b OR c)"), "(a+ (b c)+)");
}

#[test]
fn signs_require_and_exclude() {
    assert_eq!(with_or("+a b"), "(a+ b)");
    assert_eq!(with_or("+a -b c"), "(a+ c b-)");
    assert_eq!(with_or("a OR NOT b"), "(a b-)");
    assert_eq!(with_or("a OR (NOT b)"), "(a (b-))");
    assert_eq!(with_or("-a"), "(a-)");
    assert_eq!(with_or("NOT NOT a"), "((a-)-)");
    assert_eq!(with_or("+(a b) c"), "((a b)+ c)");
    assert_eq!(with_or("+a AND b"), "(a+ b+)");
    assert_eq!(with_or("+ a"), "(+ a)");
}

#[test]
fn escapes_take_the_meaning_from_any_character() {
    assert_eq!(with_or(r"\AND \(a\) \+b \a\:b c\\d"), r"(and (a) +b a:b c\d)");
    assert_eq!(with_or(r"a\ b"), "(a b)");
    assert_eq!(with_or("and or not"), "(and or not)");
}

#[test]
fn words_of_several_terms_join_the_list_or_form_one() {
    assert_eq!(with_or("a-b c"), "(a b c)");
    assert_eq!(with_and("a-b c"), "(a+ b+ c+)");
    assert_eq!(with_or("a-b AND c"), "((a b)+ c+)");
    assert_eq!(with_and("a-b OR c"), "((a+ b+) c)");
    assert_eq!(with_or("+a-b c"), "((a b)+ c)");
    assert_eq!(with_or("(a b) c"), "((a b) c)");
}

#[test]
fn clauses_without_terms_disappear() {
    for nothing in ["", "  ", ",", "()", "(())", "-,", "+, ,,", "NOT ,", ", AND ,"] {
        assert_eq!(with_or(nothing), "()", "{nothing}");
    }
    assert_eq!(with_or("a AND ,"), "a");
    assert_eq!(with_or("() a"), "a");
}

#[test]
fn colons_are_fields_only_after_a_name_and_before_text() {
    for plain in ["12:30", "http://x", "std::vec", "a:", ":b", "a.c:7", "(a:)"] {
        assert_eq!(with_or(plain), plain.trim_matches(['(', ')']), "{plain}");
    }
    let (message, at) = refused("x author:b");
    assert_eq!(at, 3);
    assert!(message.contains(r"author\:") && message.contains("title, body"), "{message}");
    refused("author:(a b)");
    assert_eq!(with_or(r"title\:b"), "title:b");
}

#[test]
fn fields_reach_over_what_follows_without_a_space() {
    assert_eq!(with_or("title:b c"), "(0:b c)");
    assert_eq!(with_or("body:(a b) title:\"c d\""), "((1:a 1:b) 0:\"0=c 1=d\"~0)");
    assert_eq!(with_or("body:(a title:b)"), "(1:a 0:b)");
    assert_eq!(with_or("-body:a +title:b"), "(0:b+ 1:a-)");
    assert_eq!(with_or("body:a^2 b"), "(1:a^2 b)");
    assert_eq!(with_or("body:*"), "1:ANY");
    assert_eq!(with_or("body:,"), "()");
    for (text, at) in [("x body:-a", 8), ("body:+a", 6), ("body:NOT a", 6), ("body:AND a", 6)] {
        assert_eq!(refused(text).1, at, "{text}");
    }
}

#[test]
fn phrases_keep_their_places() {
    assert_eq!(with_or("\"a b-c\""), "\"0=a 1=b 2=c\"~0");
    assert_eq!(with_or("\"a b\"~3 c"), "(\"0=a 1=b\"~3 c)");
    assert_eq!(with_or("\"a\" \"\""), "a");
    assert_eq!(with_or(r#""a \" b" c"#), "(\"0=a 1=\" 2=b\"~0 c)");
    assert_eq!(with_or("x\"a b\""), "(x \"0=a 1=b\"~0)");
    assert_eq!(refused("a \"b c").1, 3);
    assert_eq!(refused("\"b c\"~").1, 6);
}

#[test]
fn patterns_are_words_with_signs() {
    assert_eq!(with_or("Foo*"), "prefix<foo>");
    assert_eq!(with_or("f?o*r"), "wild<f.?.o.*.r>");
    assert_eq!(with_or("**a**"), "wild<*.a.*>");
    assert_eq!(with_or("a?? b"), "(wild<a.?.?> b)");
    assert_eq!(with_or(r"a\*b c\?"), "(a*b c?)");
    assert_eq!(with_or("*"), "ALL");
    assert_eq!(with_or("* -a"), "(ALL a-)");
    assert_eq!(with_or("*:*"), "ALL");
    assert_eq!(with_or("title:*:*"), "0:wild<*.:.*>");
    assert_eq!(with_or("Roam~"), "fuzzy<roam 2 0>");
    assert_eq!(with_or("roam~1 b"), "(fuzzy<roam 1 0> b)");
    assert_eq!(with_or("roam~0"), "roam");
    assert_eq!(refused("a roam~3").1, 7);
    for plain in ["~a", "a~b", "a^b", "^2", "a@b", "@2", "x~y~z"] {
        assert_eq!(with_or(plain), plain);
    }
    assert_eq!(with_or(r#"re"a\d+\"b" c"#), "(re<a\\d+\"b> c)");
    assert_eq!(with_or("[a TO C]"), "range<>=a <=c>");
    assert_eq!(with_or("{a TO c]"), "range<>a <=c>");
    assert_eq!(with_or("[* TO \"*\"}"), "range<* <*>");
    assert_eq!(with_or("[a b] {c"), "([a b] {c)");
    assert_eq!(with_or("[\"a]b\" TO \"c\"]"), "range<>=a]b <=c>");
    assert_eq!(with_or("[x [a TO b]"), "([x range<>=a <=b>)");
    assert_eq!(with_or(&"[ ".repeat(1000)).matches('[').count(), 1000);
    assert_eq!(with_or("title:[a TO b]^3"), "0:range<>=a <=b>^3");
    assert_eq!(with_or("in(a b-c) d"), "(set<a b c> d)");
    assert_eq!(with_or("in (a b)"), "(in (a b))");
    assert_eq!(with_or("in()"), "()");
    assert_eq!(refused("x in(a OR b)").1, 8);
    assert_eq!(refused("x in(a").1, 3);
}

#[test]
fn boosts_and_least_numbers_stand_behind_what_they_are_for() {
    assert_eq!(with_or("a^2 b"), "(a^2 b)");
    assert_eq!(with_or("a^2.5 (b c)^0.5"), "(a^2.5 (b c)^0.5)");
    assert_eq!(with_or("(a b c)@2"), "(a b c)@2");
    assert_eq!(with_or("(a b c)@2^3"), "(a b c)@2^3");
    assert_eq!(with_or("\"a b\"~2^3"), "\"0=a 1=b\"~2^3");
    assert_eq!(with_or("roam~1^3"), "fuzzy<roam 1 0>^3");
    assert_eq!(with_or("foo*^2"), "prefix<foo>^2");
    assert_eq!(with_and("a b^2 c"), "(a+ b^2+ c+)");
    assert_eq!(with_and("(a b c)@2 (d e)"), "((a b c)@2+ (d+ e+)+)");
    assert!(refused(&format!("a{}", "^1".repeat(50_000))).0.contains("once"));
    assert_eq!(refused("(a b)@3").1, 6);
    assert_eq!(refused("x a^0").1, 4);
    assert_eq!(refused("(a b)^2@1").1, 8);
    assert_eq!(refused("(a b)~1").1, 6);
    assert_eq!(with_or("a^5. b^.5 c^1e-3"), "(a^5 b^0.5 c^0.001)");
    assert_eq!(with_or("a^1e b^- c~x d^1x"), "(a^1e b^ c~x d^1x)");
    for (text, at) in [
        ("(a b)@99999999999999999999", 6),
        ("(a b)@-1", 6),
        ("(a b)@1.5", 6),
        ("\"a b\"~99999999999999999999", 6),
        ("cell~99999999999", 5),
        ("cell~1.5", 5),
        ("cell~-1", 5),
        ("flow^1e400", 5),
        ("x flow^-1", 7),
        ("cell^1e-19^2", 5),
        ("a*^-1", 3),
        ("in(a)^1e99", 6),
    ] {
        assert_eq!(refused(text).1, at, "{text}");
    }
    for text in ["?".repeat(1_001), format!("re\"{}\"", "a".repeat(1_001)), "a?".repeat(2_500)] {
        assert!(refused(&text).0.contains("1,000 characters"));
    }
    assert_eq!(with_or(&"?".repeat(1_000)).matches('?').count(), 1_000);
}

#[test]
fn faults_are_located() {
    assert_eq!(refused("ä (b").1, 3);
    assert_eq!(refused("a b) c").1, 4);
    assert_eq!(refused("a AND").1, 3);
    assert_eq!(refused("AND a").1, 1);
    assert_eq!(refused("a OR OR b").1, 3);
    assert_eq!(refused("a NOT").1, 3);
    assert_eq!(refused("(OR a)").1, 2);
    assert_eq!(refused("a \\").1, 3);
}

#[test]
fn excess_is_refused_without_exhausting_the_stack() {
    assert!(refused(&"(".repeat(100_000)).0.contains("deep"));
    assert!(refused(&"NOT ".repeat(100_000)).0.contains("deep"));
    assert!(refused(&("NOT ".repeat(100_000) + "a")).0.contains("deep"));
    assert!(refused(&"-(".repeat(100_000)).0.contains("deep"));
    let deep = "(".repeat(64) + "a" + &")".repeat(64);
    assert_eq!(with_or(&deep), "a");
    assert_eq!(with_or(&"a ".repeat(1_024)).matches('a').count(), 1_024);
    assert!(refused(&"a ".repeat(1_025)).0.contains("1,024"));
}

#[test]
fn any_text_parses_or_is_refused() {
    let mut random = fastrand::Rng::with_seed(11);
    let pieces = [
        "a", "b", " ", " ", "(", ")", "+", "-", "AND", "OR", "NOT", "\\", "\"", ":", ",", "é", "//", "*",
        "?", "~", "^", "@", "1", "2", "title:", "in(", "re\"", "[", "]", "{", "}", " TO ", "0.5",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random.usize(..12)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        for operator in [Operator::And, Operator::Or] {
            if let Err(Error::Query { at, .. }) = parse(&text, operator, &mut Words) {
                assert!(at >= 1 && at <= text.chars().count() + 1, "{text}");
            }
        }
    }
}
