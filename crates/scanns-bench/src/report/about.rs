//! Describes each experiment for the report.

/// The name, title and text of each experiment.
const ABOUT: &[(&str, &str, &str)] = &[
    (
        "reader",
        "Reading",
        "Reads files into blocks that are thrown away, after figure 7 of SCANNS [1]. xs-rd-std reads \
         through the page cache into blocks of a fixed size, each of them newly allocated. xs-rd-nonuma \
         takes blocks from a pool and reads past the page cache. xs-rd-numa keeps blocks and threads on \
         one memory node. xs-rd-wave never cuts a token.",
    ),
    (
        "tokenizer",
        "Tokenizing",
        "Tokenizes text in memory on one thread, after figure 8 of SCANNS [1], with the two searches of \
         C's strtok, with a table of delimiter flags and no branches, and with our vector instructions. \
         All variants found the same tokens before anything was measured.",
    ),
    (
        "ladder",
        "Indexing in memory, one thread",
        "Indexes text in memory, without reading, to a complete index of term frequencies: the step that \
         takes most of the time in figure 9 of SCANNS [1]. All indexes had the same contents before \
         anything was measured.",
    ),
    (
        "index",
        "From files to an index",
        "Reads, tokenizes and indexes files, after figure 9 of SCANNS [1]. The paper's variants build an \
         index in memory. Ours builds an index in memory, and an index that is committed on disk and can \
         be searched.",
    ),
    (
        "latency",
        "Answers",
        "The time per query by the number of concurrent searchers, after table II of SCANNS [1]: all hits \
         in no order, as in the table, and the ten best hits in order.",
    ),
    (
        "memory",
        "Random writes to memory",
        "Writes blocks to random places of memory that is already backed, by block size, threads and \
         pages, after figure 11 of SCANNS [1]. Each thread has its own share of the memory.",
    ),
    (
        "media",
        "Source and target media",
        "Builds an index for every pair of a directory to read from and a directory to write to, after \
         table 1 of Lin et al. [2]. The index has documents and frequencies. Theirs also had positions, \
         stored documents and vectors, so the figures cannot be compared with theirs.",
    ),
    (
        "buffers",
        "Buffer sizes",
        "Measures each role of a buffer with sizes from 1 KiB to 8 MiB, after LUCENE-888 [3]. Blocks are \
         read in whole pages of 4 KiB. The files of an index are mapped, so reading them has no buffer \
         whose size could be chosen.",
    ),
    (
        "flush",
        "Flushing",
        "Compares threads that write their segments while others continue with threads that all stop \
         until a segment is written. The steady state leaves out the start and the end of a build.",
    ),
    (
        "scaling",
        "Beyond this machine",
        "The predictions for other machines of a model that is fitted to the measurements on this one.",
    ),
    (
        "peers",
        "Side by side with others",
        "All programs had the same corpora, terms and queries. Their documents, tokens and hits were equal \
         before any time was accepted.",
    ),
    (
        "reference",
        "The machine meanwhile",
        "Work that has nothing to do with scanns, measured repeatedly during the run. It shows how steady \
         the machine was.",
    ),
];

/// The sources that the numbers in brackets refer to.
pub const SOURCES: &[&str] = &[
    "Orhean et al., “SCANNS: Towards Scalable and Concurrent Data Indexing and Searching”",
    "Lin, Paniak, Boerke, “The Performance Envelope of Inverted Indexing on Modern Hardware”",
    "Apache Lucene, issue LUCENE-888, on the sizes of buffers",
];

/// The title and text of an experiment; the name and no text for an unknown one.
pub fn about(name: &str) -> (&str, &str) {
    ABOUT.iter().find(|about| about.0 == name).map_or((name, ""), |&(_, title, text)| (title, text))
}
