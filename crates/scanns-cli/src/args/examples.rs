//! Examples for the help of `index`, `info` and `tune`.

/// Examples for the help.
pub(super) const INDEX_EXAMPLES: &str = "\
Examples:
  scanns index -o docs.scanns /usr/share/doc
      indexes every file below a directory as a document of Unicode words
  scanns index -o src.scanns --include '*.c' --include '*.h' ~/linux
      indexes only matching files
  scanns index -o fs.scanns --records lines --analyzer paths dump.txt
      indexes every line as a document; white space and / delimit terms
  scanns index -o docs.scanns --analyzer 'standard | fold | snowball:german' ~/texte
      removes accents and stems words; the analyzers are listed below
  scanns index -o docs.scanns /usr/share/doc
      updates the index: reads new and changed files, and removes files that are gone
  scanns index -o archive.scanns --time-limit 55m /archive
      stops in time; the same command resumes where it stopped
  scanns index -o fs.scanns --content none --snapshot january /data
  scanns diff fs.scanns/snapshots/january fs.scanns
      keeps this state under a name, and compares it with the index later
  scanns index -o mail.scanns --store content ~/mail
      also stores the text; scanns search --content shows it
  scanns index -o logs.scanns --records jsonl logs/*.jsonl
      indexes every line as a document with fields; infers the fields from a sample, and prints them
  scanns index -o books.scanns --records jsonl --key isbn books.jsonl
      names documents by a field; a record replaces an earlier one with the same key
  scanns index --records csv --infer-schema sales.toml sales.csv
  scanns index -o sales.scanns --records csv --schema sales.toml sales.csv
      does the same in two steps, so that the fields can be edited in between
  find . -size -1M -print0 | scanns index -o small.scanns -0 --files-from -
      takes the list of files from another program
  scanns index -o fs.scanns --dump fs.dump
      indexes the entries of a file system that a dump lists; scanns help dumps explains the formats

Analyzers:
  standard          Unicode words in lower case
  english           standard without 's and stop words, stemmed: running finds run
  snowball:german   standard, stemmed for a language: arabic, danish, dutch, english, finnish, french,
                    german, hungarian, italian, norwegian, portuguese, romanian, russian, spanish,
                    swedish, tamil, turkish
  whitespace        the bytes between white space, unchanged
  paths             the bytes between white space and /, unchanged
  ancestors         every line is a path: /a and /a/b find /a/b/c
  code              identifiers and their parts: get, user and name find get_userName
  keyword           the whole text as one term
  ngram:2-3         runs of 2 to 3 characters of words: finds parts of words
  edge-ngram:1-8    the same at the beginning of words only

Chains, for your own analyzers: a tokenizer, then steps that change or remove words, as in
--analyzer 'standard | possessive | stop:english | stop:und,der | porter', english with two more stop words
  tokenizers        standard, whitespace, paths, code, ancestors and keyword as above, and
  delimiters:,;\\s   the bytes between these delimiters; \\x7c is a bar
  lowercase         Unicode lower case: ÉTÉ becomes été
  fold              removes diacritics and other letter forms: Größe becomes Grosse, ﬁn becomes fin
  possessive        removes an English 's at the end: dog's becomes dog
  stop:german       removes the stop words of a language, one of those of snowball
  stop:the,of       removes the listed words; a single word is written stop:the,
  porter            stems English words by Porter's algorithm: running becomes run
  snowball:german   stems words of a language: häuser becomes haus
  length:2-30       removes words with fewer or more characters
  ngram:2-3         makes runs of 2 to 3 characters, as the last step
  edge-ngram:1-8    makes such runs at the beginning only, as the last step: etc becomes e, et, etc

Sizes are bytes, or a number with a suffix: 64k, 1.5g, 512MiB, 4GiB.";

/// Examples for the help.
pub(super) const INFO_EXAMPLES: &str = "\
Examples:
  scanns info docs.scanns
  scanns info docs.scanns --segments --unique
  scanns info sales.scanns --fields
  scanns info docs.scanns --terms lic --limit 5";

/// Examples for the help.
pub(super) const TUNE_EXAMPLES: &str = "\
Examples:
  scanns tune /data
      measures for a minute and writes scanns-profile.toml
  scanns index --profile scanns-profile.toml -o data.scanns /data
      uses the profile
  scanns tune --records lines --analyzer paths --budget 5m --out dump.toml --scratch /fast dump.txt
      measures with the documents, the terms and the file system of the future index

scanns tune builds indexes of a sample of the data, each with other parameters. It leaves nothing behind but
the profile. Other work on the machine disturbs the measurements.";
