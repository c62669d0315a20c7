//! Which terms the analyzers make of the words of a query, and which step changed them.

use scanns::Snapshot;
use scanns::analysis::Tokenizer;
use scanns::query::WeightedField;
use scanns::schema::Analyzer;

/// A word that is not searched as it stands.
pub(super) struct ChangedWord {
    pub(super) word: String,
    /// The names of steps that changed something, each with the terms after it.
    pub(super) steps: Vec<(String, Vec<String>)>,
}

/// The words of a query whose terms differ from them, by the analyzers of the fields that words search.
pub(super) fn changed_words(snapshot: &Snapshot, fields: &[WeightedField], query: &str) -> Vec<ChangedWord> {
    let mut analyzers: Vec<&Analyzer> =
        fields.iter().filter_map(|field| snapshot.schema().analyzer(field.field)).collect();
    analyzers.dedup();
    let mut changed = Vec::new();
    for word in words(query) {
        for analyzer in &analyzers {
            let mut steps = Vec::new();
            let mut before = vec![word.to_owned()];
            for step in prefixes(analyzer) {
                let after = terms(&step.analyzer, word);
                if after != before {
                    steps.push((step.name, after.clone()));
                }
                before = after;
            }
            if !steps.is_empty() {
                changed.push(ChangedWord { word: word.to_owned(), steps });
            }
        }
    }
    changed
}

/// The words of a query without its operators and the conditions on columns.
fn words(query: &str) -> impl Iterator<Item = &str> {
    let is_operator = |char: char| "+-()\"'[]{}".contains(char);
    query
        .split_whitespace()
        .filter(|word| !matches!(*word, "AND" | "OR" | "NOT" | "TO") && !word.contains([':', '*', '?', '\\']))
        .map(move |word| word.split(['~', '^', '@']).next().unwrap_or(word).trim_matches(is_operator))
        .filter(|word| word.chars().any(char::is_alphanumeric))
}

/// The beginning of an analyzer up to one of its steps.
struct AnalyzerPrefix {
    /// The name of the last step.
    name: String,
    analyzer: Analyzer,
}

fn prefixes(analyzer: &Analyzer) -> Vec<AnalyzerPrefix> {
    let name = analyzer.name();
    let whole = || AnalyzerPrefix { name: name.clone(), analyzer: analyzer.clone() };
    match analyzer {
        Analyzer::Chain(_) => {
            let steps: Vec<&str> = name.split(" | ").collect();
            let prefix = |count: usize| {
                let analyzer = Analyzer::parse(&steps.get(..count)?.join(" | ")).ok()?;
                Some(AnalyzerPrefix { name: (*steps.get(count - 1)?).to_owned(), analyzer })
            };
            (1..=steps.len()).filter_map(prefix).collect()
        }
        Analyzer::English | Analyzer::Snowball(_) | Analyzer::Grams(_) => {
            vec![AnalyzerPrefix { name: "standard".into(), analyzer: Analyzer::Standard }, whole()]
        }
        _ => vec![whole()],
    }
}

fn terms(analyzer: &Analyzer, word: &str) -> Vec<String> {
    let terms = Tokenizer::new(analyzer).terms(word);
    terms.iter().map(|term| String::from_utf8_lossy(term).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(analyzer: &str, word: &str) -> String {
        let analyzer = Analyzer::parse(analyzer).unwrap();
        let of = |prefix: AnalyzerPrefix| format!("{} {:?}", prefix.name, terms(&prefix.analyzer, word));
        prefixes(&analyzer).into_iter().map(of).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn steps_of_analyzers_show_what_they_make_of_a_word() {
        assert_eq!(steps("standard", "Running"), "standard [\"running\"]");
        assert_eq!(steps("english", "Running"), "standard [\"running\"], english [\"run\"]");
        assert_eq!(steps("english", "the"), "standard [\"the\"], english []");
        assert_eq!(
            steps("whitespace | lowercase | stop:of,", "Of"),
            "whitespace [\"Of\"], lowercase [\"of\"], stop:of, []"
        );
    }

    #[test]
    fn operators_and_conditions_are_no_words() {
        let found: Vec<&str> =
            words("+Running -(draft OR \"free software\"~2) size:>5 licen* word^2 - AND").collect();
        assert_eq!(found, ["Running", "draft", "free", "software", "word"]);
    }
}
