//! Scores by columns in the text of a query: `^near(mtime,now,30d)`, `^+log(cites)`, `^=value(rank)`.

use super::state::QueryParser;
use super::token::ScoreText;
use crate::error::Result;
use crate::query::score_arguments::{
    EXAMPLES, closeness, distance, has_numbers, missing, origin, plain_curve,
};
use crate::query::tree::{Query, ScoredQuery};
use crate::query::value_score::{Closeness, ScoreCurve, ValueScore};

impl QueryParser<'_> {
    /// The query with scores that the column of a suffix changes.
    pub(super) fn scored(&self, at: usize, query: Query, score: &ScoreText) -> Result<Query> {
        let ScoreText { change, curve, arguments } = score;
        let mut of_missing = 0.0;
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if let Some(text) = arguments.last().and_then(|last| last.strip_prefix("missing=")) {
            of_missing = missing(text)
                .or_else(|message| self.fault(at, &format!("missing=: {message}, as in missing=0.5")))?;
            arguments.pop();
        }
        let Some((&name, rest)) = arguments.split_first().filter(|(name, _)| !name.is_empty()) else {
            return self.fault(at, &format!("the column is missing: write {EXAMPLES}"));
        };
        let Some((field, kind)) = self.words.column(name).filter(|(_, kind)| has_numbers(kind)) else {
            let message = format!("there is no column '{name}' of numbers or dates: give the name of one");
            return self.fault(at, &message);
        };
        let usage = |text: &str| self.fault(at, &format!("write {text}"));
        let curve = match (plain_curve(curve), curve.as_str(), rest) {
            (Some(curve), _, []) => curve,
            (None, "saturate", [half]) => match distance(&kind, half) {
                Ok(half) => ScoreCurve::Saturation { half },
                Err(message) => return self.fault(at, &format!("the value of half the score: {message}")),
            },
            (None, "near", [first, scale, rest @ ..]) if rest.len() < 2 => {
                let parsed = origin(&kind, first).map_err(|message| format!("the origin: {message}"));
                let parsed = parsed.and_then(|origin| {
                    let scale = distance(&kind, scale).map_err(|message| format!("the scale: {message}"))?;
                    let closeness = rest.first().map_or(Ok(Closeness::default()), |name| closeness(name))?;
                    Ok(ScoreCurve::Near { origin, scale, closeness })
                });
                match parsed {
                    Ok(curve) => curve,
                    Err(message) => return self.fault(at, &message),
                }
            }
            (None, "near", _) => return usage("near(column,origin,scale), as in near(mtime,now,30d)"),
            (None, ..) => return usage("saturate(column,half), as in saturate(cites,10)"),
            (Some(_), name, _) => return usage(&format!("{name}(column)")),
        };
        let (query, by) = (Box::new(query), ValueScore { field, curve, missing: of_missing });
        Ok(Query::Scored(ScoredQuery { query, by, change: *change }))
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::query::{Operator, QueryText, WeightedField, parse};
    use crate::query::{ScoreChange, value_score::*};
    use crate::schema::{Field, FieldKind, Value};

    use super::{Query, ScoredQuery};

    /// Fields: `text`, 0; the columns `cites`, 1, `mtime`, 2, `heat`, 3, and `ext`, 4, a keyword.
    struct Papers;

    impl QueryText for Papers {
        fn default_fields(&self) -> &[WeightedField] {
            const { &[WeightedField::FIRST] }
        }

        fn field(&self, name: &str) -> Result<Field, Vec<String>> {
            if name == "text" { Ok(Field::default()) } else { Err(vec!["text".to_owned()]) }
        }

        fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
            let (number, kind) = match name {
                "cites" => (1, FieldKind::Unsigned),
                "mtime" => (2, FieldKind::Date),
                "heat" => (3, FieldKind::Float),
                "ext" => (4, FieldKind::Keyword),
                _ => return None,
            };
            Some((Field::new(number).unwrap(), kind))
        }

        fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
            (0..).zip(text.split(' ').map(|word| word.as_bytes().to_vec())).collect()
        }

        fn spelling(&self, _field: Field, text: &str) -> String {
            text.to_owned()
        }
    }

    fn read(text: &str) -> Query {
        parse(text, Operator::Or, &mut Papers).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn word(text: &str) -> Query {
        Query::term(Field::default(), text)
    }

    fn scored(query: Query, field: u16, curve: ScoreCurve, change: ScoreChange) -> Query {
        let by = ValueScore { field: Field::new(field).unwrap(), curve, missing: 0.0 };
        Query::Scored(ScoredQuery { query: Box::new(query), by, change })
    }

    #[test]
    fn a_score_changes_the_clause_before_it() {
        use ScoreChange::{Add, Multiply, Replace};
        assert_eq!(read("a^log(cites)"), scored(word("a"), 1, ScoreCurve::Log, Multiply));
        assert_eq!(read("a^+root( heat )"), scored(word("a"), 3, ScoreCurve::Root, Add));
        assert_eq!(read("a^=value(cites)"), scored(word("a"), 1, ScoreCurve::Value, Replace));
        let half = |half| ScoreCurve::Saturation { half };
        assert_eq!(read("a^saturate(cites,1k)"), scored(word("a"), 1, half(1024.0), Multiply));
        let both = Query::any_of(vec![word("a"), word("b")]);
        assert_eq!(read("(a b)^log(cites)"), scored(both, 1, ScoreCurve::Log, Multiply));
        let twice = scored(word("a").boosted(2.0), 1, ScoreCurve::Log, Multiply);
        assert_eq!(read("a^2^log(cites)^+value(heat)"), scored(twice, 3, ScoreCurve::Value, Add));
        let list = Query::any_of(vec![word("x"), scored(word("a"), 1, ScoreCurve::Log, Multiply), word("y")]);
        assert_eq!(read("x a^log(cites) y"), list);
        let all = scored(Query::All, 1, ScoreCurve::Value, Replace);
        assert_eq!(read("*^=value(cites)"), all);
    }

    #[test]
    fn near_has_an_origin_a_scale_and_a_closeness() {
        let near = |origin, scale, closeness| ScoreCurve::Near { origin, scale, closeness };
        let day = 86_400e9;
        for (text, field, curve) in [
            (
                "a^near(mtime,1970-01-02,30d)",
                2,
                near(Value::Date(86_400_000_000_000), 30.0 * day, Closeness::Reciprocal),
            ),
            ("a^near(mtime, 1970, 2mo, gauss)", 2, near(Value::Date(0), 60.0 * day, Closeness::Gauss)),
            ("a^near(heat,-1.5,0.25,linear)", 3, near(Value::Float(-1.5), 0.25, Closeness::Linear)),
            ("a^near(cites,5k,1MiB)", 1, near(Value::Unsigned(5120), 1048576.0, Closeness::Reciprocal)),
        ] {
            assert_eq!(read(text), scored(word("a"), field, curve, ScoreChange::Multiply), "{text}");
        }
        let Query::Scored(ScoredQuery { by, .. }) = read("a^near(mtime,now,1w,missing=0.5)") else {
            panic!()
        };
        assert_eq!(by.missing, 0.5);
        assert!(matches!(
            by.curve,
            ScoreCurve::Near { origin: Value::Date(1_700_000_000_000_000_000..), .. }
        ));
    }

    #[test]
    fn faults_say_what_to_write() {
        for (text, at, part) in [
            ("a^log(none)", 2, "no column 'none'"),
            ("a^log(ext)", 2, "numbers or dates"),
            ("a^log()", 2, "column is missing"),
            ("a^log(cites,3)", 2, "write log(column)"),
            ("b a^saturate(cites)", 4, "saturate(cites,10)"),
            ("a^saturate(cites,0)", 2, "greater than 0"),
            ("a^near(mtime)", 2, "near(mtime,now,30d)"),
            ("a^near(mtime,noon,30d)", 2, "the origin: "),
            ("a^near(mtime,now,30)", 2, "the scale: write a length of time"),
            ("a^near(mtime,now,30d,far)", 2, "gauss"),
            ("a^near(mtime,now,30d,gauss,5)", 2, "near(mtime,now,30d)"),
            ("a^log(cites,missing=-1)", 2, "missing=0.5"),
            ("a^near(mtime,now", 2, "not closed"),
        ] {
            match parse(text, Operator::Or, &mut Papers) {
                Err(Error::Query { message, at: found, .. }) => {
                    assert!(message.contains(part) && found == at, "{text}: {found} {message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn other_text_after_the_sign_is_text() {
        assert_eq!(read(r"a\^log(cites)"), Query::any_of(vec![word("a^log"), word("cites")]));
        assert_eq!(read("a^other(b)"), Query::any_of(vec![word("a^other"), word("b")]));
        assert_eq!(read("a^log b"), Query::any_of(vec![word("a^log"), word("b")]));
    }
}
