//! Arguments of `scanns eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::positive;
use super::{FeedbackArgs, ModelArgs};

pub const EVAL_EXAMPLES: &str = "\
Examples:
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450
      evaluates the ranking for the titles of the topics
  scanns eval news.scanns --topics topics.tsv --qrels qrels.txt --model lm-dirichlet --mu 1000 -q
      reads topics as lines of an identifier, a tab and a text; also prints the measures of each topic
  scanns eval news.scanns --topics topics.401-450 --run-out bm25.run
      only writes the ranking, in the format of trec_eval
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450 --rm3
      expands each topic with words of its ten best documents; the index needs --vectors
  scanns eval --run other.run --qrels qrels.401-450 -m map -m P.5,10 -m ndcg_cut.10
      evaluates the ranking of another engine with these measures
  scanns index -o fiqa.scanns --records jsonl --key _id fiqa/corpus.jsonl
  scanns eval fiqa.scanns --topics fiqa/queries.jsonl --qrels fiqa/qrels/test.tsv -m ndcg_cut.10
      evaluates a collection of BEIR, whose judgements name documents by the field _id

The text of a topic is a bag of words: every term is optional, and its weight is the number of its
occurrences. Documents with equal scores are sorted by name, and their scores are made to differ in the
last digits, so that every tool keeps this order. The measures are those of trec_eval -c and have the same
names: means are over all topics with judgements, and a document without a judgement is not relevant. In
run files, documents with equal scores are sorted by descending name, whatever their ranks are.

Measures: map, Rprec, recip_rank, ndcg, num_q, num_ret, num_rel and num_rel_ret; and with ranks P, recall,
success, map_cut and ndcg_cut, as in P.5,10. Without ranks these are cut at 5, 10, 15, 20, 30, 100, 200, 500
and 1000; success at 1, 5 and 10.

Topics, judgements and runs may be compressed.";

/// Arguments of `scanns eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The index
    #[arg(value_name = "NAME.scanns", required_unless_present = "run", requires = "topics")]
    pub index: Option<PathBuf>,
    /// Topics: a TREC file of top elements, lines of an identifier, a tab and a text, or lines of JSON with
    /// _id and text
    #[arg(long, value_name = "FILE", requires = "index")]
    pub topics: Option<PathBuf>,
    /// Relevance judgements in the format of TREC: topic, a number, document, relevance; or of BEIR: topic,
    /// document, relevance, with a header
    #[arg(long, value_name = "FILE", required_unless_present = "run_out")]
    pub qrels: Option<PathBuf>,
    /// Evaluate a TREC run file instead of an index: topic, Q0, document, rank, score, name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["index", "topics", "run_out"], requires = "qrels")]
    pub run: Option<PathBuf>,
    /// Write the ranking as a TREC run file; an existing file is replaced; - for standard output
    #[arg(long, value_name = "FILE")]
    pub run_out: Option<PathBuf>,
    /// The name of the run in its file
    #[arg(long, value_name = "NAME", requires = "run_out", default_value = "scanns")]
    pub run_tag: String,
    /// Parts of a TREC topic to use as its text
    #[arg(long, value_enum, value_name = "PART", default_value = "title", value_delimiter = ',')]
    pub parts: Vec<PartArg>,
    /// The fields that words search, with weights: title or title^3,body. A word counts by the field where it
    /// scores best [default: all fields of text]
    #[arg(long, value_name = "NAME,NAME")]
    pub field: Option<String>,
    /// Maximum number of documents per topic
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    pub hits: usize,
    /// How judgements and runs name documents
    #[arg(long, value_enum, value_name = "WHAT", default_value = "key")]
    pub docno: DocnoArg,
    /// Print this measure, by its name in trec_eval; several -m print several
    #[arg(short = 'm', long = "measure", value_name = "NAME", requires = "qrels")]
    pub measures: Vec<String>,
    /// Also print the measures of each topic
    #[arg(short = 'q', long)]
    pub each: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub feedback: FeedbackArgs,
}

/// Parts of a TREC topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartArg {
    /// A few words
    Title,
    /// A sentence
    Desc,
    /// A description of what is relevant and what is not
    Narr,
}

/// How judgements and runs name a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocnoArg {
    /// By its key, as scanns search prints it
    Key,
    /// By the name of its file, without directories and without an extension that begins with a letter
    Stem,
}
