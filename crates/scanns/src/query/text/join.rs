//! Joins in the text of a query: `parent->key:(green apples)`, and with a score `parent->key,max:(apples)`.

use super::clause::{ClauseKind, SignedClause};
use super::state::QueryParser;
use crate::error::Result;
use crate::query::join::JoinScore;
use crate::query::join_side::{KEY, NamedJoinSide};
use crate::query::named_column::NamedColumn;
use crate::query::tree::{JoinQuery, Query};

/// Between the two sides of a join.
pub(super) const ARROW: &str = "->";

impl QueryParser<'_> {
    /// The join with these names, such as `parent->key,max`; the query inside has been parsed.
    pub(super) fn join(&self, at: usize, names: &str, inside: Option<Query>) -> Result<SignedClause> {
        let (sides, score) = match names.split_once(',') {
            Some((sides, score)) => (sides, Some(score)),
            None => (names, None),
        };
        let Some((from, to)) = sides.split_once(ARROW) else {
            return self.fault(at, "write a join as in parent->key:(green apples)");
        };
        let score = match score.map(JoinScore::parse) {
            None => JoinScore::None,
            Some(Ok(score)) => score,
            Some(Err(_)) => {
                return self.fault(
                    at,
                    "the score of a join is none, max, sum, mean or min, as in parent->key,max:(apples)",
                );
            }
        };
        let (from, to) = (self.side(at, from)?, self.side(at, to)?);
        if let Some(message) = from.cannot_be(&to) {
            return self.fault(at, &message);
        }
        // Without a score it filters, as conditions on columns do.
        let filters = score == JoinScore::None && !self.counts;
        let query = inside
            .map(|query| Query::Join(JoinQuery { from: from.on, to: to.on, query: Box::new(query), score }));
        Ok(SignedClause::plain(query, if filters { ClauseKind::Condition } else { ClauseKind::Other }))
    }

    /// A name of a column, or of the keys.
    fn side(&self, at: usize, name: &str) -> Result<NamedJoinSide> {
        if name == KEY {
            return Ok(NamedJoinSide::keys());
        }
        let Some((field, kind)) = self.words.column(name) else {
            let message = format!(
                "there is no column '{name}' to join by: name a column of keywords or whole numbers, or {KEY}"
            );
            return self.fault(at, &message);
        };
        NamedJoinSide::column(NamedColumn { field, kind, name: name.to_owned() })
            .or_else(|message| self.fault(at, &message))
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::query::{JoinOn, JoinQuery, JoinScore, Operator, Query, QueryText, WeightedField};
    use crate::query::{parse, parse_json};
    use crate::schema::{Field, FieldKind};

    /// Fields: `text`, 0; the columns `parent`, 1, a keyword, `size`, 2, `heat`, 3, and `id`, 4, numbers.
    struct Blog;

    impl QueryText for Blog {
        fn default_fields(&self) -> &[WeightedField] {
            const { &[WeightedField::FIRST] }
        }

        fn field(&self, name: &str) -> Result<Field, Vec<String>> {
            if name == "text" { Ok(Field::default()) } else { Err(vec!["text".to_owned()]) }
        }

        fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
            let (number, kind) = match name {
                "parent" => (1, FieldKind::Keyword),
                "size" => (2, FieldKind::Unsigned),
                "heat" => (3, FieldKind::Float),
                "id" => (4, FieldKind::Unsigned),
                _ => return None,
            };
            Some((Field::new(number).unwrap(), kind))
        }

        fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
            let words = text.split(' ').filter(|word| *word != ",");
            (0..).zip(words.map(|word| word.as_bytes().to_vec())).collect()
        }

        fn spelling(&self, _field: Field, text: &str) -> String {
            text.to_owned()
        }
    }

    fn read(text: &str) -> Query {
        parse(text, Operator::Or, &mut Blog).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn json(text: &str) -> Query {
        parse_json(text, Operator::Or, &mut Blog).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_join_is_the_same_as_in_json() {
        let key = r#"{"join": {"from": "parent", "to": "key", "query": {"match": "apples"}}}"#;
        assert_eq!(read("parent->key:(apples)"), json(key));
        let scored = key.replace("}}}", r#"}, "score": "max"}}"#);
        assert_eq!(read("parent->key,max:(apples)"), json(&scored));
        assert_eq!(read("parent->key,none:(apples)"), json(key));
        let join = Query::Join(JoinQuery {
            from: JoinOn::Column(Field::new(2).unwrap()),
            to: JoinOn::Column(Field::new(4).unwrap()),
            query: Box::new(read("a -b")),
            score: JoinScore::Sum,
        });
        assert_eq!(read("size->id,sum:(a -b)"), join);
        assert_eq!(read("size->id,sum:(a -b)^2"), join.boosted(2.0));
        let inner = read("key->parent:(apples)");
        let Query::Join(outer) = read("parent->key:(key->parent:(apples))") else { panic!("no join") };
        assert_eq!(*outer.query, inner);
    }

    #[test]
    fn a_join_without_a_score_filters_and_one_with_a_score_is_a_clause() {
        let filter = json(
            r#"{"bool": {"should": [{"match": "fruit"}], "filter":
                [{"join": {"from": "parent", "to": "key", "query": {"match": "a"}}}]}}"#,
        );
        let Query::Bool(read_filter) = read("fruit parent->key:(a)") else { panic!("no list") };
        let Query::Bool(filter) = filter else { panic!("no list") };
        assert_eq!(read_filter.filter, filter.filter);
        let Query::Bool(scored) = read("fruit parent->key,max:(a)") else { panic!("no list") };
        assert_eq!((scored.should.len(), scored.filter.len()), (2, 0));
        // Fields around it end at its parenthesis.
        assert_eq!(read("parent->key:(a)"), read("text:(parent->key:(a))"));
        assert_eq!(read("parent->key:(,)"), read(","), "without terms it disappears");
    }

    #[test]
    fn other_arrows_are_words_and_faults_are_told() {
        for word in ["ptr->field", "a->b:c", "parent->key", "x->y::z"] {
            assert_eq!(read(word), Query::term(Field::default(), word), "{word}");
        }
        let faults = [
            ("par->key:(a)", "there is no column 'par' to join by"),
            ("parent->:(a)", "there is no column ''"),
            ("heat->key:(a)", "heat holds numbers: join by a column of keywords"),
            ("size->key:(a)", "values of size are whole numbers that are not negative and keys are keywords"),
            ("parent->key,best:(a)", "the score of a join is none, max"),
            ("parent->key:(a", "not closed"),
        ];
        for (text, message) in faults {
            let error = parse(text, Operator::Or, &mut Blog).unwrap_err();
            assert!(matches!(error, Error::Query { .. }) && error.to_string().contains(message), "{error}");
        }
    }
}
