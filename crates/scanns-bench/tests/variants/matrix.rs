//! From files to postings: every reader, tokenizer, indexer and number of threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use scanns::schema::{Delimiters, MAX_TOKEN};
use scanns::sources::{Direct, Input, ReadOptions, SourceOptions, collect};
use scanns_bench::variants::pipeline::{LadderOptions, index_files};
use scanns_bench::variants::{IndexerVariant, ReaderVariant, TokenizerVariant};

use super::{Lists, OPTIONS, lists, merged, oracle, texts};

/// Block size of the paper's readers in bytes: small, so that nearly every file has many blocks.
const SMALL: usize = 4 << 10;

/// Block size of our reader in bytes: the smallest that is allowed.
const LARGE: usize = 256 << 10;

/// `len` bytes of words from a small vocabulary, with a word across every multiple of `block`.
fn words_across(random: &mut Rng, len: usize, block: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(len + 20);
    while text.len() < len {
        if text.len() % block > block - 12 {
            text.extend_from_slice(b"overtheedge of");
        } else {
            text.extend(format!("w{}", random.usize(..300)).into_bytes());
        }
        text.push(b" \n/"[random.usize(..3)]);
    }
    text.truncate(len);
    text
}

/// Files of all lengths around `SMALL` and `LARGE` that may matter, with words and without a delimiter.
fn contents(random: &mut Rng) -> Vec<Vec<u8>> {
    let mut files = texts(random);
    for len in [1, SMALL - 1, SMALL, SMALL + 1, 2 * SMALL, 3 * SMALL - 1, 9 * SMALL + 7] {
        files.push(words_across(random, len, SMALL));
        files.push(vec![b'z'; len]);
        files.push(vec![b' '; len]);
    }
    for len in [LARGE - 1, LARGE, LARGE + 1, 2 * LARGE + 99] {
        files.push(words_across(random, len, LARGE));
    }
    // Tokens that are too long, of which about the longest kept length is in the previous block.
    for before in [MAX_TOKEN - 1, MAX_TOKEN, MAX_TOKEN + 1] {
        for block in [SMALL, LARGE] {
            let start = before.next_multiple_of(block) - before;
            let token = vec![b'q'; before + 3 * SMALL];
            files.push([vec![b' '; start], token, b" after".to_vec()].concat());
        }
    }
    files
}

/// Files in their own directory, on a disk where direct I/O works.
struct Tree {
    dir: tempfile::TempDir,
    contents: Vec<Vec<u8>>,
    inputs: Arc<Vec<Input>>,
}

impl Tree {
    fn new(contents: Vec<Vec<u8>>) -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for (number, text) in contents.iter().enumerate() {
            let folder = dir.path().join((number % 7).to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(number.to_string()), text).unwrap();
        }
        let source = SourceOptions { paths: vec![dir.path().into()], ..SourceOptions::default() };
        let inputs = collect(&source, &AtomicBool::new(false)).unwrap().inputs;
        assert_eq!(inputs.len(), contents.len());
        Tree { dir, contents, inputs: Arc::new(inputs) }
    }

    /// The number in the name of a file.
    fn number(&self, input: u32) -> usize {
        self.inputs[input as usize].path.file_name().unwrap().to_str().unwrap().parse().unwrap()
    }

    fn path(&self, number: usize) -> PathBuf {
        self.dir.path().join((number % 7).to_string()).join(number.to_string())
    }

    /// The results of a run, by the numbers of files. Every file must be one document.
    fn found(&self, options: &LadderOptions) -> Lists {
        let run = index_files(&self.inputs, options, &AtomicBool::new(false)).unwrap();
        assert!(run.failures.is_empty() && run.parts.len() == options.read.lanes);
        assert_eq!(run.bytes, self.contents.iter().map(|text| text.len() as u64).sum::<u64>());
        let mut seen: Vec<_> = run.parts.iter().flat_map(|part| &part.inputs).copied().collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..u32::try_from(self.inputs.len()).unwrap()), "{options:?}");
        let words = |text: &Vec<u8>| -> usize {
            text.split(|&byte| options.delimiters.contains(byte))
                .filter(|word| word.len() > MAX_TOKEN)
                .count()
        };
        let cut: u64 = run.parts.iter().map(|part| part.cut_terms).sum();
        assert_eq!(cut, self.contents.iter().map(words).sum::<usize>() as u64, "{options:?}");
        merged(run.parts.iter().map(|part| lists(&*part.index, |doc| self.number(part.inputs[doc]))))
    }
}

fn options(
    reader: ReaderVariant,
    tokenizer: TokenizerVariant,
    indexer: IndexerVariant,
    threads: usize,
) -> LadderOptions {
    let ours = reader == ReaderVariant::Ours;
    LadderOptions {
        reader,
        tokenizer,
        indexer,
        read: ReadOptions {
            read_threads: 2,
            lanes: threads,
            block_bytes: if ours { LARGE } else { SMALL },
            blocks_per_lane: 3,
            direct: if threads == 2 { Direct::Never } else { Direct::Always },
            ..ReadOptions::default()
        },
        delimiters: Delimiters::paths(),
        invert: OPTIONS,
    }
}

#[test]
fn every_reader_tokenizer_and_indexer_finds_the_same_postings_with_any_number_of_threads() {
    let seed = 0x1adde7;
    let tree = Tree::new(contents(&mut Rng::with_seed(seed)));
    let expected = oracle(&tree.contents, &Delimiters::paths());
    assert!(expected.len() > 30_000, "tables must grow several times");
    for reader in ReaderVariant::ALL {
        for tokenizer in TokenizerVariant::ALL {
            for indexer in IndexerVariant::ALL {
                for threads in 1..=3 {
                    let found = tree.found(&options(reader, tokenizer, indexer, threads));
                    // Printing millions of bytes would hide the name of the variant.
                    let variant = format!("{reader:?}, {tokenizer:?}, {indexer:?}, {threads} threads");
                    assert!(found == expected, "seed {seed:x}, {variant}");
                }
            }
        }
    }
}

#[test]
fn a_byte_that_is_wrong_beside_the_end_of_a_block_does_not_go_unnoticed() {
    let seed = 0x1addea;
    let text = words_across(&mut Rng::with_seed(seed), 3 * SMALL, SMALL);
    let tree = Tree::new(vec![text.clone(), b"other".to_vec()]);
    let expected = oracle(&tree.contents, &Delimiters::paths());
    for reader in ReaderVariant::ALL {
        let options = options(reader, TokenizerVariant::Table, IndexerVariant::Swiss, 2);
        assert!(tree.found(&options) == expected, "seed {seed:x}, {reader:?}");
        for (at, byte) in [(SMALL - 1, b' '), (SMALL, b' '), (2 * SMALL, b'#')] {
            let mut wrong = text.clone();
            assert_ne!(std::mem::replace(&mut wrong[at], byte), byte);
            fs::write(tree.path(0), wrong).unwrap();
            assert!(tree.found(&options) != expected, "seed {seed:x}, {reader:?}, byte {at}");
        }
        fs::write(tree.path(0), &text).unwrap();
    }
}

#[test]
fn every_reader_reports_inputs_that_cannot_be_indexed() {
    let tree = Tree::new(vec![b"one two".to_vec(), b"three".to_vec(), random_terms(200_000)]);
    for reader in ReaderVariant::ALL {
        let mut options = options(reader, TokenizerVariant::Ours, IndexerVariant::Ours, 2);
        let mut inputs = tree.inputs.to_vec();
        inputs.push(Input { path: Path::new("no such file").into(), bytes: 9, ..Input::default() });
        let run = index_files(&Arc::new(inputs.clone()), &options, &AtomicBool::new(false)).unwrap();
        assert_eq!(run.failures.len(), 1);
        assert_eq!(run.parts.iter().map(|part| part.inputs.len()).sum::<usize>(), 3, "{reader:?}");
        let cancelled = index_files(&Arc::new(inputs), &options, &AtomicBool::new(true));
        assert!(cancelled.is_err_and(|error| error.to_string().contains("cancelled")), "{reader:?}");
        options.invert.budget = 1 << 20;
        for indexer in [IndexerVariant::SwissPa, IndexerVariant::Ours] {
            options.indexer = indexer;
            let refused = index_files(&tree.inputs, &options, &AtomicBool::new(false));
            let error = refused.map(|run| run.bytes).unwrap_err().to_string();
            assert!(error.contains("memory"), "{error}");
        }
        options.read.block_bytes = 1000;
        assert!(index_files(&tree.inputs, &options, &AtomicBool::new(false)).is_err());
    }
}

/// Terms that are all different.
fn random_terms(count: usize) -> Vec<u8> {
    (0..count).flat_map(|number| format!("{:x} ", number * 7919).into_bytes()).collect()
}
