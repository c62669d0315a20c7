use crate::error::Error;
use crate::search::{Operator, Query, parse};

/// Words split at hyphens, commas dropped, lower-cased.
fn analyze(word: &str) -> Vec<Vec<u8>> {
    word.to_lowercase()
        .split(['-', ','])
        .filter(|part| !part.is_empty())
        .map(|part| part.as_bytes().to_vec())
        .collect()
}

/// The query in a notation that shows its structure: `(must+ should must_not-)`.
fn show(query: &Query) -> String {
    match query {
        Query::Term(term) => String::from_utf8_lossy(term).into_owned(),
        Query::In(field, query) => format!("{}:{}", field.number(), show(query)),
        Query::Boost(query, boost) => format!("{}^{boost}", show(query)),
        Query::Bool(list) => {
            let part = |queries: &[Query], mark| {
                queries.iter().map(move |query| show(query) + mark).collect::<Vec<_>>()
            };
            let parts = [part(&list.must, "+"), part(&list.should, ""), part(&list.must_not, "-")].concat();
            format!("({})", parts.join(" "))
        }
    }
}

fn with_or(text: &str) -> String {
    show(&parse(text, Operator::Or, analyze).unwrap())
}

fn with_and(text: &str) -> String {
    show(&parse(text, Operator::And, analyze).unwrap())
}

fn refused(text: &str) -> (String, usize) {
    match parse(text, Operator::Or, analyze) {
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
    assert_eq!(with_or(r"a\ b"), "a b");
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
    let (message, at) = refused("x title:b");
    assert_eq!(at, 3);
    assert!(message.contains(r"title\:"), "{message}");
    refused("title:(a b)");
    assert_eq!(with_or(r"title\:b"), "title:b");
}

#[test]
fn faults_are_located() {
    assert_eq!(refused("ä (b").1, 3);
    assert_eq!(refused("a b) c").1, 4);
    assert_eq!(refused("a \"b c\"").1, 3);
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
    let pieces =
        ["a", "b", " ", " ", "(", ")", "+", "-", "AND", "OR", "NOT", "\\", "\"", ":", ",", "é", "//"];
    for _ in 0..20_000 {
        let text: String =
            (0..random.u64(..12)).map(|_| pieces[random.u64(..pieces.len() as u64) as usize]).collect();
        for operator in [Operator::And, Operator::Or] {
            if let Err(Error::Query { at, .. }) = parse(&text, operator, analyze) {
                assert!(at >= 1 && at <= text.chars().count() + 1, "{text}");
            }
        }
    }
}
