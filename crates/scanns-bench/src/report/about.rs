//! What each experiment is, in words for the report.

const SCANNS: &str = "Orhean et al., “SCANNS: Towards Scalable and Concurrent Data Indexing and Searching”";

/// Title and text for an experiment; its name and nothing for one that is not known.
pub fn about(name: &str) -> (String, String) {
    let (title, text) = match name {
        "reader" => (
            "Reading",
            format!(
                "Files into blocks that are thrown away, after figure 7 of {SCANNS}. xs-rd-std reads blocks of a fixed size, \
                 each allocated afresh, through the page cache; xs-rd-nonuma takes blocks from a pool and reads past the page \
                 cache; xs-rd-numa keeps blocks and threads on one memory node; xs-rd-wave never cuts a token."
            ),
        ),
        "tokenizer" => (
            "Tokenizing",
            format!(
                "Text in memory, one thread, after figure 8 of {SCANNS}: the two searches of C's strtok, a table of delimiter \
                 flags without branches, and ours with vector instructions. All found the same tokens before anything was measured."
            ),
        ),
        "ladder" => (
            "Indexing in memory, one thread",
            format!(
                "Text in memory to a complete index of term frequencies, the step of {SCANNS} that their figure 9 is about, \
                 without reading. All indexes held the same before anything was measured."
            ),
        ),
        "index" => (
            "From files to an index",
            format!(
                "Reading, tokenizing and indexing together, after figure 9 of {SCANNS}: the paper's variants to an index in \
                 memory, ours to an index in memory and until it is committed on disk and can be searched."
            ),
        ),
        "latency" => (
            "Answers",
            format!(
                "Time per query by the number of searchers at once, after table II of {SCANNS}: all hits in no order, as there, \
                 and the ten best in order."
            ),
        ),
        "memory" => (
            "Random writes to memory",
            format!("After figure 11 of {SCANNS}: writes of a block each to random places, by block size, threads and pages."),
        ),
        "media" => (
            "Source and target media",
            "Every pair of directories to read from and to write to, after table 1 of Lin et al., “The Performance Envelope of \
             Inverted Indexing on Modern Hardware”."
                .into(),
        ),
        "buffers" => (
            "Buffer sizes",
            "Each role a buffer plays, with sizes from 1 KiB to 8 MiB, after the issue LUCENE-888 of Apache Lucene.".into(),
        ),
        "flush" => (
            "Flushing",
            "Each thread writing its segments while others go on, against all threads stopping until a segment is written. \
             The steady state leaves out the start and the end of a build."
                .into(),
        ),
        "scaling" => (
            "Beyond this machine",
            "A model fitted to what was measured here, and what it predicts for other machines.".into(),
        ),
        "peers" => (
            "Side by side with others",
            "The same corpora, terms and queries; documents, tokens and hits were equal before any time was believed.".into(),
        ),
        "reference" => (
            "The machine meanwhile",
            "Work that has nothing to do with scanns, measured again and again during the run: how even the machine was.".into(),
        ),
        _ => (name, String::new()),
    };
    (title.into(), text)
}
