//! Words without a field are looked up in several default fields, in text as in JSON.

use serde_json::Value;

use crate::query::{Operator, Query, QueryText, WeightedField, parse, parse_json};
use crate::schema::Field;

const TITLE: Field = Field::FIRST;
const BODY: Field = Field::new(1).unwrap();

/// Splits words at hyphens and spaces, and lower-cases them. The default fields are `title`, which has twice
/// the weight and leaves out `the`, and `body`.
struct TitleAndBody;

impl QueryText for TitleAndBody {
    fn default_fields(&self) -> &[WeightedField] {
        const { &[WeightedField { field: TITLE, weight: 2.0 }, WeightedField { field: BODY, weight: 1.0 }] }
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        match name {
            "title" => Ok(TITLE),
            "body" => Ok(BODY),
            _ => Err(vec!["title".to_owned(), "body".to_owned()]),
        }
    }

    fn terms(&mut self, field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        let words = (0..).zip(text.split(['-', ' ']));
        let kept = words.filter(|(_, word)| field == BODY || *word != "the");
        kept.map(|(at, word)| (at, word.to_lowercase().into_bytes())).collect()
    }

    fn spelling(&self, _: Field, text: &str) -> String {
        text.to_lowercase()
    }
}

/// The query as JSON, in which every field is named.
fn json(query: &Query) -> String {
    let name = |field| Some(if field == TITLE { "title" } else { "body" }.to_owned());
    query.to_json(None, &name).unwrap()
}

fn parsed(text: &str, operator: Operator) -> Value {
    value(&json(&parse(text, operator, &mut TitleAndBody).unwrap()))
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// The JSON of a clause that is looked up in both fields.
fn best(clause: &str) -> String {
    let title = format!(r#"{{"boost":2.0,"field":"title",{clause}}}"#);
    let body = format!(r#"{{"field":"body",{clause}}}"#);
    format!(r#"{{"best":{{"clauses":[{title},{body}],"tie":0.3}}}}"#)
}

#[test]
fn each_word_is_looked_up_in_every_default_field() {
    let a = best(r#""term":"a""#);
    assert_eq!(parsed("A", Operator::Or), value(&a));
    let b = best(r#""term":"b""#);
    assert_eq!(parsed("a b", Operator::Or), value(&format!(r#"{{"bool":{{"should":[{a},{b}]}}}}"#)));
    assert_eq!(parsed("a b", Operator::And), value(&format!(r#"{{"bool":{{"must":[{a},{b}]}}}}"#)));
    assert_eq!(
        parsed("a AND -b", Operator::Or),
        value(&format!(r#"{{"bool":{{"must":[{a}],"must_not":[{b}]}}}}"#))
    );
    assert_eq!(parsed("\"a b\"~1", Operator::Or), value(&best(r#""phrase":{"slop":1,"terms":["a","b"]}"#)));
    assert_eq!(parsed("a*", Operator::Or), value(&best(r#""prefix":"a""#)));
    assert_eq!(parsed("ax~1", Operator::Or), value(&best(r#""fuzzy":{"edits":1,"term":"ax"}"#)));
    assert_eq!(parsed("re\"a.\"", Operator::Or), value(&best(r#""regexp":"a.""#)));
    assert_eq!(parsed("[a TO b}", Operator::Or), value(&best(r#""range":{"gte":"a","lt":"b"}"#)));
    assert_eq!(parsed("in(a b)", Operator::Or), value(&best(r#""set":["a","b"]"#)));
    assert_eq!(parsed("*", Operator::Or), value(r#"{"match_all":{}}"#));
}

#[test]
fn a_named_field_is_the_only_one_and_a_word_without_terms_in_a_field_is_not_looked_up_there() {
    assert_eq!(parsed("title:a", Operator::Or), value(r#"{"field":"title","term":"a"}"#));
    assert_eq!(parsed("body:(a)", Operator::Or), value(r#"{"field":"body","term":"a"}"#));
    assert_eq!(parsed("the", Operator::Or), value(r#"{"field":"body","term":"the"}"#));
    let both = parsed("title:(a b) c", Operator::Or);
    let both = both["bool"]["should"].as_array().unwrap().clone();
    assert_eq!(both[1], value(&best(r#""term":"c""#)));
    assert_eq!(both[0]["field"], "title");
}

#[test]
fn words_in_several_fields_count_once_towards_the_limit() {
    assert!(parse(&"a ".repeat(1_024), Operator::Or, &mut TitleAndBody).is_ok());
    assert!(parse(&"a ".repeat(1_025), Operator::Or, &mut TitleAndBody).is_err());
    let words = |count: usize| format!(r#"{{"match": "{}"}}"#, "a ".repeat(count));
    assert!(parse_json(&words(1_024), Operator::Or, &mut TitleAndBody).is_ok());
    assert!(parse_json(&words(1_025), Operator::Or, &mut TitleAndBody).is_err());
}

#[test]
fn text_and_json_search_the_same_fields_and_json_is_read_back() {
    for (text, same) in [
        ("a b", r#"{"match": "a b"}"#),
        ("a", r#"{"term": "a"}"#),
        ("\"a b\"", r#"{"phrase": "a b"}"#),
        ("a*", r#"{"prefix": "a"}"#),
        ("a-b", r#"{"match": "a-b"}"#),
        ("in(a b)", r#"{"set": ["a", "b"]}"#),
        ("title:a^2", r#"{"field": "title", "term": "a", "boost": 2}"#),
        ("the", r#"{"match": "the"}"#),
        ("*", r#"{"match_all": {}}"#),
    ] {
        for operator in [Operator::Or, Operator::And] {
            let query = parse(text, operator, &mut TitleAndBody).unwrap();
            assert_eq!(parse_json(same, operator, &mut TitleAndBody).unwrap(), query, "{text}");
            assert_eq!(parse_json(&json(&query), operator, &mut TitleAndBody).unwrap(), query, "{text}");
        }
    }
    for bad in [
        r#"{"best": {"clauses": []}, "term": "a"}"#,
        r#"{"best": {"tie": 0.1}}"#,
        r#"{"best": {"clauses": [], "tie": 1.1}}"#,
        r#"{"best": [{"term": "a"}]}"#,
    ] {
        assert!(parse_json(bad, Operator::Or, &mut TitleAndBody).is_err(), "{bad}");
    }
}
