//! The values that a join compares, and how it scores.

use crate::error::{Error, Result};
use crate::schema::Field;

/// What a join compares: the key of a document, or its values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOn {
    /// The key of the document, as a keyword.
    Key,
    /// The values of a column of keywords or of whole numbers.
    Column(Field),
}

/// The score of a document that a join matches, from the scores of the documents that match the query inside.
///
/// A document inside counts once for each value that both have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinScore {
    /// 1, as for other filters.
    #[default]
    None,
    /// The highest score.
    Max,
    /// The sum of the scores.
    Sum,
    /// The mean of the scores.
    Mean,
    /// The lowest score.
    Min,
}

impl JoinScore {
    const ALL: [(JoinScore, &str); 5] = [
        (JoinScore::None, "none"),
        (JoinScore::Max, "max"),
        (JoinScore::Sum, "sum"),
        (JoinScore::Mean, "mean"),
        (JoinScore::Min, "min"),
    ];

    /// Parses `none`, `max`, `sum`, `mean` or `min`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        let found = JoinScore::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(score, _)| *score).ok_or_else(|| Error::UnknownName {
            what: "score of a join",
            name: name.to_owned(),
            known: "none, max, sum, mean and min".to_owned(),
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        JoinScore::ALL.iter().find(|(score, _)| *score == self).map_or("none", |(_, name)| name)
    }
}
