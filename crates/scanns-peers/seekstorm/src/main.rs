//! The adapter for SeekStorm, with the settings of its own benchmark: a shard for each core, n-grams of
//! frequent words for phrases, an index in mapped files, and code compiled for the processor of this machine.
//!
//! SeekStorm finds words by rules of its own, always keeps positions, and indexes at most 65,535 tokens of a
//! document. A query runs on one thread for each shard. There are no queries for prefixes and similar words,
//! for required words with optional ones, and none for all hits.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use scanns_peers::adapter::{Engine, Index as Answering, bytes_written, peak_bytes, serve};
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::form::{Form, Sign};
use scanns_peers::protocol::{BuildTask, Built, Goal, Kept, Merged, Scoring};
use scanns_peers::texts::{each_text, sync_below};
use seekstorm::commit::Commit;
use seekstorm::index::{
    AccessType, Close, Clustering, Document, DocumentCompression, FileType, FrequentwordType, IndexArc,
    IndexDocument, IndexMetaObject, LexicalSimilarity, NgramSet, StemmerType, StopwordType, TokenizerType,
    create_index, open_index,
};
use seekstorm::search::{QueryRewriting, QueryType, ResultType, Search, SearchMode};
use seekstorm::vector::Inference;
use tokio::runtime::Runtime;

/// The only field, whose text is not stored.
const SCHEMA: &str =
    r#"[{"field":"body","field_type":"Text","store":false,"index_lexical":true,"longest":true}]"#;

struct SeekStorm;

/// The settings of an index whose words are similar to those of `analyzer`.
fn settings(analyzer: AnalyzerName) -> Result<IndexMetaObject> {
    let (tokenizer, stemmer) = match analyzer {
        AnalyzerName::Whitespace => (TokenizerType::Whitespace, StemmerType::None),
        AnalyzerName::Standard => (TokenizerType::UnicodeAlphanumeric, StemmerType::None),
        AnalyzerName::English => (TokenizerType::UnicodeAlphanumeric, StemmerType::English),
        other => bail!("SeekStorm has no words like those of {other}: use whitespace, standard or english"),
    };
    Ok(IndexMetaObject {
        id: 0,
        name: "peer".into(),
        lexical_similarity: LexicalSimilarity::Bm25f,
        tokenizer,
        stemmer,
        stop_words: StopwordType::None,
        frequent_words: FrequentwordType::English,
        ngram_indexing: NgramSet::SingleTerm as u8
            | NgramSet::NgramFF as u8
            | NgramSet::NgramFR as u8
            | NgramSet::NgramRF as u8
            | NgramSet::NgramFFF as u8,
        document_compression: DocumentCompression::None,
        access_type: AccessType::Mmap,
        spelling_correction: None,
        query_completion: None,
        clustering: Clustering::None,
        inference: Inference::None,
        segment_number_bits: 11,
    })
}

fn open(runtime: &Runtime, directory: &Path) -> Result<IndexArc> {
    runtime.block_on(open_index(directory)).map_err(|error| anyhow!("cannot open the index: {error}"))
}

impl Engine for SeekStorm {
    type Index = Opened;

    fn build(&self, task: &BuildTask) -> Result<Built> {
        ensure!(
            task.segments == 0 && !task.kept.stored,
            "SeekStorm is compared without merges and stored text"
        );
        let runtime = Runtime::new()?;
        let written = bytes_written();
        let begin = Instant::now();
        let schema = serde_json::from_str(SCHEMA)?;
        let settings = settings(task.analyzer)?;
        let synonyms = Vec::new();
        let create = create_index(&task.out, settings, &schema, &synonyms, true, Some(task.threads));
        let index = runtime.block_on(create).map_err(|error| anyhow!("cannot create an index: {error}"))?;
        let bytes = each_text(task, |text| {
            let document: Document = [("body".to_string(), text.into())].into_iter().collect();
            runtime.block_on(index.index_document(document, FileType::None));
            Ok(())
        })?;
        runtime.block_on(index.commit());
        sync_below(&task.out)?;
        let seconds = begin.elapsed().as_secs_f64();
        let (bytes_written, peak_bytes) = (bytes_written() - written, peak_bytes());
        let documents = runtime.block_on(async { index.read().await.indexed_doc_count().await });
        runtime.block_on(index.close());
        Ok(Built {
            documents: documents as u64,
            // It does not tell the number of tokens.
            tokens: 0,
            bytes,
            seconds,
            rest_seconds: seconds,
            segments: task.threads as u64,
            bytes_written,
            peak_bytes,
            contents: None,
        })
    }

    fn merge(&self, _: &Path, _: Kept) -> Result<Merged> {
        bail!("SeekStorm is compared without merges")
    }

    fn open(&self, directory: &Path, scoring: Scoring) -> Result<Opened> {
        ensure!(scoring == Scoring::Bm25, "SeekStorm supports only BM25");
        let runtime = Runtime::new()?;
        let index = open(&runtime, directory)?;
        Ok(Opened { runtime, index })
    }
}

/// An open index.
struct Opened {
    runtime: Runtime,
    index: IndexArc,
}

/// A query in the language of SeekStorm.
#[derive(Debug, PartialEq)]
struct Asked {
    text: String,
    kind: QueryType,
}

/// The query for `form`, if there is one.
fn asked(form: &Form) -> Option<Asked> {
    if let Form::Phrase { slop: 0, terms } = form {
        // A word that was left out would make another phrase.
        let adjacent = terms.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
        let words: Vec<&str> = terms.iter().map(|(_, term)| term.as_str()).collect();
        return adjacent.then(|| Asked { text: words.join(" "), kind: QueryType::Phrase });
    }
    let terms = form.signed_terms()?;
    let has = |wanted: Sign| terms.iter().any(|(sign, _)| *sign == wanted);
    let kind = match (has(Sign::Must), has(Sign::Should)) {
        (true, true) | (false, false) => return None,
        (true, false) => QueryType::Intersection,
        (false, true) => QueryType::Union,
    };
    let word = |(sign, term): &(Sign, &str)| match sign {
        Sign::MustNot => format!("-{term}"),
        _ => (*term).to_string(),
    };
    Some(Asked { text: terms.iter().map(word).collect::<Vec<_>>().join(" "), kind })
}

impl Opened {
    /// Runs a query. Returns the scores of the `k` best hits, and the number of hits.
    fn search(&self, asked: &Asked, k: usize, result: ResultType) -> (Vec<f32>, usize) {
        let found = self.runtime.block_on(self.index.search(
            asked.text.clone(),
            None,
            asked.kind.clone(),
            SearchMode::Lexical,
            false,
            0,
            k,
            result,
            false,
            Vec::new(),
            Vec::new(),
            Vec::new(),
            Vec::new(),
            QueryRewriting::SearchOnly,
        ));
        (found.results.iter().map(|hit| hit.score).collect(), found.result_count_total)
    }
}

impl Answering for Opened {
    type Query = Asked;

    fn documents(&self) -> u64 {
        self.runtime.block_on(async { self.index.read().await.indexed_doc_count().await }) as u64
    }

    fn segments(&self) -> u64 {
        self.runtime.block_on(async { self.index.read().await.shard_count().await }) as u64
    }

    fn can(&self, form: &Form, goal: Goal) -> bool {
        goal != Goal::All && asked(form).is_some()
    }

    fn query(&self, form: &Form) -> Result<Asked> {
        asked(form).with_context(|| format!("SeekStorm has no query like {form}"))
    }

    fn best(&self, query: &Asked, k: usize) -> Result<Vec<f32>> {
        Ok(self.search(query, k, ResultType::Topk).0)
    }

    fn count(&self, query: &Asked) -> Result<usize> {
        // As in its own benchmark: it fails for a single word if no hits are asked for.
        Ok(self.search(query, 10, ResultType::Count).1)
    }

    fn all(&self, _: &Asked) -> Result<usize> {
        bail!("SeekStorm has no way to all hits")
    }

    fn positions(&self, _: &str) -> Result<(u64, u64)> {
        bail!("SeekStorm does not give positions")
    }
}

fn main() -> Result<()> {
    serve(&SeekStorm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_queries_if_there_are_such() {
        let of = |line: &str| line.parse().ok().and_then(|form: Form| asked(&form));
        let expected = |text: &str, kind| Some(Asked { text: text.into(), kind });
        assert_eq!(of("term a"), expected("a", QueryType::Union));
        assert_eq!(of("bool 0 2 + term a + term b"), expected("a b", QueryType::Intersection));
        assert_eq!(of("bool 0 3 | term a | term b - term c"), expected("a b -c", QueryType::Union));
        assert_eq!(of("phrase 0 2 0 a 1 b"), expected("a b", QueryType::Phrase));
        for line in ["phrase 0 2 0 a 2 b", "bool 0 2 + term a | term b", "prefix a", "bool 0 1 - term a"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
