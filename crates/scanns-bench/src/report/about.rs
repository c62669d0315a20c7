//! What each experiment is, in words for the report.

/// Name, title and text of the experiments.
const ABOUT: &[(&str, &str, &str)] = &[
    (
        "reader",
        "Reading",
        "Files into blocks that are thrown away, after figure 7 of SCANNS [1]. xs-rd-std reads blocks of a \
         fixed size, each \
         allocated afresh, through the page cache; xs-rd-nonuma takes blocks from a pool and reads past \
         the page cache; \
         xs-rd-numa keeps blocks and threads on one memory node; xs-rd-wave never cuts a token.",
    ),
    (
        "tokenizer",
        "Tokenizing",
        "Text in memory, one thread, after figure 8 of SCANNS [1]: the two searches of C's strtok, a table \
         of delimiter flags \
         without branches, and ours with vector instructions. All found the same tokens before anything \
         was measured.",
    ),
    (
        "ladder",
        "Indexing in memory, one thread",
        "Text in memory to a complete index of term frequencies, without reading: the step that makes most \
         of figure 9 of SCANNS [1]. All indexes held the same before anything was measured.",
    ),
    (
        "index",
        "From files to an index",
        "Reading, tokenizing and indexing together, after figure 9 of SCANNS [1]: the paper's variants to \
         an index in memory, \
         ours to an index in memory and until it is committed on disk and can be searched.",
    ),
    (
        "latency",
        "Answers",
        "Time per query by the number of searchers at once, after table II of SCANNS [1]: all hits in no \
         order, as there, and the ten best in order.",
    ),
    (
        "memory",
        "Random writes to memory",
        "After figure 11 of SCANNS [1]: writes of a block each to random places of memory that is backed \
         already, by block size, threads and pages. Each thread has a share of its own.",
    ),
    (
        "media",
        "Source and target media",
        "Every pair of directories to read from and to write to, after table 1 of Lin et al. [2]. What is \
         built are documents and \
         frequencies; theirs had positions, stored documents and vectors too, so the figures do not \
         compare with theirs.",
    ),
    (
        "buffers",
        "Buffer sizes",
        "Each role that a buffer plays, with sizes from 1 KiB to 8 MiB, after LUCENE-888 [3]. Blocks are \
         read in whole pages of \
         4 KiB. Files of an index are mapped, which leaves their reading without a buffer to choose a size \
         of.",
    ),
    (
        "flush",
        "Flushing",
        "Each thread writing its segments while others go on, against all threads stopping until a segment \
         is written. The steady state leaves out the start and the end of a build.",
    ),
    (
        "scaling",
        "Beyond this machine",
        "A model fitted to what was measured here, and what it predicts for other machines.",
    ),
    (
        "peers",
        "Side by side with others",
        "The same corpora, terms and queries; documents, tokens and hits were equal before any time was \
         believed.",
    ),
    (
        "reference",
        "The machine meanwhile",
        "Work that has nothing to do with scanns, measured again and again during the run: how even the \
         machine was.",
    ),
];

/// What the numbers in brackets refer to.
pub const SOURCES: &[&str] = &[
    "Orhean et al., “SCANNS: Towards Scalable and Concurrent Data Indexing and Searching”",
    "Lin, Paniak, Boerke, “The Performance Envelope of Inverted Indexing on Modern Hardware”",
    "Apache Lucene, issue LUCENE-888, on the sizes of buffers",
];

/// Title and text for an experiment; its name and nothing for one that is not known.
pub fn about(name: &str) -> (&str, &str) {
    ABOUT.iter().find(|about| about.0 == name).map_or((name, ""), |&(_, title, text)| (title, text))
}
