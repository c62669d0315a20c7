//! Statistics of a corpus, by which a generated corpus is compared with a real one.

use std::path::Path;

use anyhow::Result;
use scanns::index::InvertOptions;
use scanns::schema::Delimiters;
use scanns::sources::PageSize;
use scanns_bench::stats::mib;
use scanns_bench::variants::IndexerVariant;
use scanns_bench::variants::invert::LadderIndex;

use crate::text;

/// Counts over a corpus, with files as documents and tokens that are delimited by white space and `/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Files.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Lines of all files.
    pub lines: u64,
    /// Tokens of all files.
    pub tokens: u64,
    /// Bytes of all tokens.
    pub token_bytes: u64,
    /// Distinct tokens.
    pub unique: u64,
    /// Distinct tokens that occur once.
    pub singletons: u64,
    /// Pairs of a distinct token and a file that contains it.
    pub postings: u64,
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn part(of: u64, whole: u64) -> f64 {
    of as f64 / whole.max(1) as f64
}

impl Statistics {
    /// Counts the first `most` MiB at `path`, which are read into memory.
    pub fn of(path: &Path, most: u64) -> Result<Self> {
        let mut texts = text::load(path, Some(most))?;
        let options = InvertOptions { budget: 32 << 30, pages: PageSize::Auto, ..InvertOptions::default() };
        let mut index = IndexerVariant::Ours.build(&options)?;
        let mut tokenizer = IndexerVariant::Ours.tokenizer().build(&Delimiters::paths());
        let mut found = Statistics { bytes: text::bytes(&texts), ..Statistics::default() };
        for text in &mut texts {
            found.files += 1;
            found.lines += text.iter().filter(|&&byte| byte == b'\n').count() as u64;
            let all = 0..text.len();
            let mut sink: &mut dyn LadderIndex = &mut *index;
            tokenizer.run(text, all, &mut sink);
            index.end_document();
        }
        index.finish()?;
        index.visit(&mut |list| {
            let count: u64 = list.postings.iter().map(|&(_, freq)| u64::from(freq)).sum();
            found.tokens += count;
            found.token_bytes += count * list.term.len() as u64;
            found.unique += 1;
            found.singletons += u64::from(count == 1);
            found.postings += u64::from(list.doc_freq);
        });
        Ok(found)
    }

    /// Tokens per MiB.
    pub fn tokens_per_mib(&self) -> f64 {
        part(self.tokens << 20, self.bytes)
    }

    /// Bytes of a token, on average.
    pub fn average_length(&self) -> f64 {
        part(self.token_bytes, self.tokens)
    }

    /// Share of the distinct tokens in all tokens.
    pub fn unique_share(&self) -> f64 {
        part(self.unique, self.tokens)
    }

    /// Share of the tokens that occur once in the distinct tokens.
    pub fn singleton_share(&self) -> f64 {
        part(self.singletons, self.unique)
    }

    /// Files that contain a distinct token, on average.
    pub fn postings_per_term(&self) -> f64 {
        part(self.postings, self.unique)
    }

    /// Bytes of a line, on average.
    pub fn line_bytes(&self) -> f64 {
        part(self.bytes, self.lines)
    }
}

impl std::fmt::Display for Statistics {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            out,
            "{:.1} MiB in {} files, {} lines of {:.0} bytes: {} tokens, {:.0} per MiB, of {:.2} bytes on \
             average; \
             {} distinct ({:.1} % of tokens), {:.1} % of these occur once; {} postings of files ({:.2} per \
             distinct token)",
            mib(self.bytes),
            self.files,
            self.lines,
            self.line_bytes(),
            self.tokens,
            self.tokens_per_mib(),
            self.average_length(),
            self.unique,
            100.0 * self.unique_share(),
            100.0 * self.singleton_share(),
            self.postings,
            self.postings_per_term()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_files_and_singletons_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "one two/two\nthree\n").unwrap();
        std::fs::write(dir.path().join("b"), "one  one\n").unwrap();
        let found = Statistics::of(dir.path(), 1).unwrap();
        let expected = Statistics {
            files: 2,
            bytes: 27,
            lines: 3,
            tokens: 6,
            token_bytes: 20,
            unique: 3,
            singletons: 1,
            postings: 4,
        };
        assert_eq!(found, expected);
    }
}
