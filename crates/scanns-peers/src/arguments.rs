//! The command line of the driver.

use std::path::PathBuf;

use clap::Parser;
use scanns_peers::analyzer::AnalyzerName;
use scanns_peers::peers::Peer;
use scanns_peers::protocol::{Kept, Scoring, Unit, Writers};

const EXAMPLES: &str = "\
Examples:
  make bench-peers ARGS=--quick
      a small generated dump, to check that everything works
  make bench-peers ARGS='--corpus ~/linux --records file'
      a source tree, one document per file
  make bench-peers ARGS='--corpus ~/linux --records file --analyzer code'
      the same with identifiers and their parts as terms
  make bench-peers ARGS='--corpus dump --records line --only tantivy --threads 8'
      the lines of a dump, without Lucene
  make bench-peers ARGS='--corpus ~/linux --records file --positions --stored --vectors'
      with positions, stored text and vectors; tantivy has no vectors
  make bench-peers ARGS='--corpus manuals --records file --analyzer english'
      manuals of Debian packages, downloaded once, with stems as terms
  make bench-peers ARGS='--corpus dump --scores 10000'
      compare the scores of random queries with Lucene's
  make bench-peers ARGS='--corpus dump --merge'
      merge eight segments of each engine into one, and search that one
  make bench-peers ARGS='--columns 10000000'
      columns: facets, groups, sorts, fields of hits and exports by number of hits
  make bench-peers ARGS='--files /srv'
      names and sizes of a file system, with plocate, fd, find, du, duc, ncdu, gdu and dua
  make bench-peers ARGS='--warc /usr/share/doc'
      web archives made of the HTML pages in a directory, with Lucene and jsoup";

/// Builds and searches indexes of the same text with scanns, Lucene and tantivy in turns, and compares them.
/// All results are verified: documents, tokens and hits must be equal, and also scores where two engines
/// compute the same formula. Positions and stored text are read back and must be equal as well.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A file or tree, or a standard corpus of up to 250 MiB: manuals, source or languages, which are made of
    /// Debian packages once, or dump [default: dump, a generated metadata dump of 256 MiB; with --quick of
    /// 32 MiB, or a tree of 32 MiB with --merge]
    #[arg(long, value_name = "PATH")]
    pub(crate) corpus: Option<PathBuf>,
    /// What a document is; several kinds are measured one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "file,line")]
    pub(crate) records: Vec<Unit>,
    /// What finds terms in text. All engines must find the same terms; where engines read UAX #29 otherwise,
    /// up to 0.2 % of the tokens may differ, and a note tells how many do
    #[arg(long, value_enum, default_value_t = AnalyzerName::Delimited)]
    pub(crate) analyzer: AnalyzerName,
    /// Measure merges instead of builds: each engine builds --segments segments of the same files with one
    /// thread and without merges, then merges them into one segment and commits it; searches run on that
    /// segment
    #[arg(long, conflicts_with = "lucene_writers")]
    pub(crate) merge: bool,
    /// Number of segments to merge; each gets a share of the files, so there must be at least N files
    #[arg(long, value_name = "N", default_value_t = 8, requires = "merge",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(2..=1000))]
    pub(crate) segments: usize,
    /// Measure nothing: run N random queries of all kinds, and compare the documents and scores of the best
    /// 1,000 hits of each with Lucene's
    #[arg(long, value_name = "N", conflicts_with = "merge")]
    pub(crate) scores: Option<usize>,
    /// Measure columns instead: index N generated fetches of a web archive and merge the segments, with one
    /// thread; then run facets, groups, sorts, reads of fields and exports for queries with 1, 10, 100 …
    /// hits. --rounds is the number of turns of each engine [default: 10 million, with --quick 100,000]
    #[arg(long, value_name = "N", num_args = 0..=1, conflicts_with_all = ["merge", "scores", "corpus"])]
    pub(crate) columns: Option<Option<u32>>,
    /// Measure an application instead: two threads add N documents, with updates, deletions and a commit
    /// after every 20,000, and ask for pages of hits, sums and counts, on the index as it was written and
    /// merged into one segment. --rounds is the number of turns of each engine [default: 200,000, with
    /// --quick 45,000]
    #[arg(long, value_name = "N", num_args = 0..=1, conflicts_with_all = ["merge", "scores", "columns"])]
    pub(crate) application: Option<Option<u32>>,
    /// Compare names and sizes of the entries of DIR instead, with the tools that are installed: plocate, fd,
    /// find, du, duc, ncdu, gdu and dua. Each builds and answers as a process of its own, and answers are
    /// compared with those of GNU find and GNU du. DIR must not change meanwhile.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["merge", "scores", "corpus", "columns", "only"])]
    pub(crate) files: Option<PathBuf>,
    /// Compare builds from web archives instead: the files .warc.gz in DIR, or four archives that are made of
    /// the HTML files below DIR; with Lucene and jsoup, and with a program that only decompresses
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["merge", "scores", "corpus", "columns", "files", "only"])]
    pub(crate) warc: Option<PathBuf>,
    /// The command to measure with --files and --warc [default: scanns beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) scanns: Option<PathBuf>,
    /// What the indexes keep
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// Number of indexing threads [default: the available cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Rounds of builds and of searches [default: 3, with --files or --warc 5, with --quick 1]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// Compare only with this engine
    #[arg(long, value_enum)]
    pub(crate) only: Option<Peer>,
    /// Compare with this one too: SeekStorm, which finds words by rules of its own and has not all queries,
    /// so its tokens and hits may differ, which is told. The first use compiles it, which takes ten minutes
    /// or more
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PEER")]
    #[arg(conflicts_with_all = ["only", "merge", "scores", "columns", "files", "warc"])]
    pub(crate) also: Vec<Peer>,
    /// Measure an earlier commit in turns with the others, by the peer-scanns that was built from it; may be
    /// given several times. scanns-bench history then adds the figures of each commit
    #[arg(long, value_name = "COMMIT=PATH", value_parser = commit_and_adapter)]
    #[arg(conflicts_with_all = ["merge", "scores", "columns", "application", "files", "warc"])]
    pub(crate) earlier: Vec<(String, PathBuf)>,
    /// Do little of everything: shows that everything works, but its figures mean little
    #[arg(long)]
    pub(crate) quick: bool,
    /// Number of threads that search at the same time; several numbers are measured one after the other
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    pub(crate) searchers: Vec<usize>,
    /// How documents are scored; tantivy has BM25 only [default: bm25,classic, with --scores also
    /// lm-dirichlet]
    #[arg(long, value_enum, value_name = "MODEL", value_delimiter = ',')]
    pub(crate) models: Vec<Scoring>,
    /// Queries of each class [default: 100, or 30 with --quick]
    #[arg(long, value_name = "N")]
    pub(crate) queries: Option<usize>,
    /// Seed of the queries
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) seed: u64,
    /// Writers of Lucene: one per thread, one shared, or both, each in its own column of the table [default:
    /// the faster kind: local for files, shared for lines]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    pub(crate) lucene_writers: Vec<Writers>,
    /// Heap of Lucene's virtual machine in MiB [default: 8192, but at most half of the memory limit of this
    /// process]
    #[arg(long, value_name = "MIB")]
    pub(crate) heap: Option<u64>,
    /// Directory for adapters and indexes
    #[arg(long, value_name = "DIR", default_value = "target/peers")]
    pub(crate) work: PathBuf,
    /// Directory for results.json, results.csv, report.html and summary.md [default: results in the --work
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
}

/// Parses an option such as `1a2b3c4d=/tmp/1a2b3c4d/release/peer-scanns`.
fn commit_and_adapter(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((commit, path)) if !commit.is_empty() && !path.is_empty() => Ok((commit.into(), path.into())),
        _ => Err("write a commit, =, and the path of its peer-scanns".into()),
    }
}
