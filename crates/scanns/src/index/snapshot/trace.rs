//! Which parts of a query match a document and which do not, whether the query finds it or not.

use super::open::Snapshot;
use crate::error::Result;
use crate::query::{BoolQuery, Query};
use crate::schema::Field;
use crate::search::{Hit, Model, clause_text};

/// What a part of a query does in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseRole {
    /// It must match.
    Must,
    /// It must match, and does not change the score.
    Filter,
    /// It may match. If the list has nothing that must match, one of these must.
    Should,
    /// It must not match.
    MustNot,
}

/// A part of a query, and whether it matches a document.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedClause {
    /// The part.
    pub query: Query,
    /// Its text, as in `text:license` or `size:>=100`; of a list `( )`.
    pub text: String,
    /// What it does in its list.
    pub role: ClauseRole,
    /// Whether it matches the document, apart from its role: an excluding clause that matches is a reason
    /// not to find the document.
    pub matches: bool,
    /// The parts of a list.
    pub clauses: Vec<TracedClause>,
}

impl TracedClause {
    /// True if the part keeps the document from being found, as far as its list goes.
    pub fn prevents(&self) -> bool {
        match self.role {
            ClauseRole::Must | ClauseRole::Filter => !self.matches,
            ClauseRole::MustNot => self.matches,
            ClauseRole::Should => false,
        }
    }
}

impl Snapshot {
    /// Says of each part of a query whether it matches the document of a hit. Only the leaf and the document
    /// of the hit are used.
    ///
    /// ```
    /// use scanns::Index;
    /// use scanns::query::Operator;
    /// use scanns::schema::{Document, FieldEntry, Schema};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let path = place.path().join("mail.scanns");
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let index = Index::create(&path, &schema)?;
    /// let writer = index.writer()?;
    /// writer.add(&Document::new("a").text(text, "free software"))?;
    /// writer.commit()?;
    ///
    /// let snapshot = index.snapshot()?;
    /// let hit = snapshot.hit("a")?.unwrap();
    /// let query = snapshot.parse("free AND licensed", Operator::Or)?;
    /// let traced = snapshot.trace(&query, &hit)?;
    /// assert!(!traced.matches);
    /// let failing = traced.clauses.iter().find(|clause| clause.prevents()).unwrap();
    /// assert_eq!(failing.text, "text:licensed");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of a search for the query.
    pub fn trace(&self, query: &Query, hit: &Hit) -> Result<TracedClause> {
        self.traced(query, ClauseRole::Must, hit)
    }

    fn traced(&self, query: &Query, role: ClauseRole, hit: &Hit) -> Result<TracedClause> {
        let matches = self.searcher().prepare(query)?.explain(Model::Classic, hit)?.is_some();
        let of_role = |clauses: &[Query], role| -> Result<Vec<TracedClause>> {
            clauses.iter().map(|clause| self.traced(clause, role, hit)).collect()
        };
        let clauses = match query.unboosted() {
            Query::Bool(BoolQuery { must, filter, should, must_not, .. }) => {
                let mut clauses = of_role(must, ClauseRole::Must)?;
                clauses.extend(of_role(should, ClauseRole::Should)?);
                clauses.extend(of_role(filter, ClauseRole::Filter)?);
                clauses.extend(of_role(must_not, ClauseRole::MustNot)?);
                clauses
            }
            Query::Best(best) => of_role(&best.clauses, ClauseRole::Should)?,
            _ => Vec::new(),
        };
        let name = |field: Field| {
            let entry = self.schema().entry(field);
            entry.map_or_else(String::new, |entry| entry.name.clone())
        };
        let text = clause_text(query, &name);
        Ok(TracedClause { query: query.clone(), text, role, matches, clauses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::handle::Index;
    use crate::query::Operator;
    use crate::schema::{Document, FieldEntry, Schema};

    /// Whether a list matches follows from its parts.
    fn follows(clause: &TracedClause) -> bool {
        let of = |role| clause.clauses.iter().filter(move |one| one.role == role);
        let any_should = of(ClauseRole::Should).any(|one| one.matches);
        let required = of(ClauseRole::Must).chain(of(ClauseRole::Filter)).count() > 0;
        let at_least = match &clause.query {
            Query::Bool(list) => list.at_least,
            _ => 0,
        };
        let enough = match at_least {
            0 => required || any_should,
            least => of(ClauseRole::Should).filter(|one| one.matches).count() >= least,
        };
        let expected = enough && !clause.clauses.iter().any(TracedClause::prevents);
        (clause.clauses.is_empty() || clause.matches == expected) && clause.clauses.iter().all(follows)
    }

    #[test]
    fn whether_a_list_matches_follows_from_its_parts() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let place = tempfile::tempdir().unwrap();
        let mut schema = Schema::new();
        let text = schema.add(FieldEntry::text("text").positions()).unwrap();
        let index = Index::create(place.path().join("x.scanns"), &schema).unwrap();
        let writer = index.writer().unwrap();
        for number in 0..60 {
            let words: Vec<String> = (0..6).map(|_| format!("w{}", random.u32(..9))).collect();
            writer.add(&Document::new(format!("d{number}")).text(text, words.join(" "))).unwrap();
        }
        writer.commit().unwrap();
        let snapshot = index.snapshot().unwrap();
        let forms =
            ["w1 w2 -w3", "+w4 w5 w6*", "(w1 OR w2) AND NOT w7", "\"w1 w2\" w8~1", "(w1 w2 w3)@2 w4^2"];
        for _ in 0..200 {
            let query = snapshot.parse(random.choice(forms).unwrap(), Operator::Or).unwrap();
            let key = format!("d{}", random.u32(..60));
            let traced = snapshot.trace(&query, &snapshot.hit(&key).unwrap().unwrap()).unwrap();
            let hits = snapshot.searcher().top_k(&query, Model::Classic, 100).unwrap();
            let is_found = hits.iter().any(|hit| snapshot.key(hit).unwrap() == key.as_bytes());
            assert_eq!(traced.matches, is_found, "{query:?} {key}");
            assert!(follows(&traced), "{traced:?}");
        }
    }
}
