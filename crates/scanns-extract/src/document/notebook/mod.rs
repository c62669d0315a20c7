//! Jupyter notebooks (nbformat 1 to 4; <https://nbformat.readthedocs.io>).
//!
//! A notebook is one JSON object. Its cells are in `cells`, or, before nbformat 4, in `worksheets`. Text are
//! the sources of all cells, each followed by its outputs: streams, `text/plain`, `text/markdown` and errors.
//! Other outputs are passed over, and with them `text/html`, which repeats `text/plain` in practice. Writers
//! sort keys, so the outputs of a cell come before its source: both are kept until the cell ends, up to the
//! room in the [`Output`]. Images in Markdown are left out (`cleaning.rs`). Metadata often comes last, so a
//! notebook is read to its end even if there is no room for more text.

mod cleaning;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use self::cleaning::{first_heading, without_data, without_escapes};
use super::json_tokens::{JsonToken, JsonTokens};
use crate::error::ExtractError;
use crate::output::Output;

/// The name of the format in errors.
const NAME: &str = "Jupyter notebook";
/// The most bytes of a key, and of a value that becomes a field.
const MOST_SHORT: usize = 1_000;
/// The most programming languages that are remembered to list each once.
const MOST_LANGUAGES: usize = 16;

/// Takes the text and the fields of a notebook: `title`, `author`, and as `attr` the kernel and the
/// programming languages, such as `kernel=python3` and `code=python`.
///
/// # Errors
/// The file is not JSON, is not an object, or cannot be read.
pub fn extract(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    source.seek(SeekFrom::Start(0))?;
    let mut mark = Vec::new();
    source.take(3).read_to_end(&mut mark)?;
    if mark != b"\xef\xbb\xbf" {
        source.seek(SeekFrom::Start(0))?;
    }
    let tokens = JsonTokens::new(BufReader::with_capacity(64 << 10, source), NAME);
    let mut reader = NotebookReader { tokens, out, facts: NotebookFacts::default() };
    let result = reader.notebook();
    reader.fields();
    result
}

/// What becomes fields.
#[derive(Default)]
struct NotebookFacts {
    title: String,
    heading: String,
    /// What nbformat 3 calls the notebook.
    name: String,
    authors: Vec<String>,
    kernel: String,
    languages: Vec<String>,
}

/// What is known of a cell. The bytes are UTF-8 as far as those of the file are.
#[derive(Default)]
struct NotebookCell {
    kind: Vec<u8>,
    source: Vec<u8>,
    outputs: Vec<u8>,
    /// The most bytes that `source` and `outputs` may have each: a little more than there is room for, so
    /// that the output notes that text was cut.
    most: usize,
}

struct NotebookReader<'o, S> {
    tokens: JsonTokens<S>,
    out: &'o mut Output,
    facts: NotebookFacts,
}

impl<S: BufRead> NotebookReader<'_, S> {
    fn notebook(&mut self) -> Result<(), ExtractError> {
        let first = self.tokens.next()?;
        if first != JsonToken::Object {
            return Err(ExtractError::damaged(NAME, "it is not an object"));
        }
        self.object(first, |this, key, token| match key {
            b"cells" => this.array(token, Self::cell),
            b"worksheets" => this.array(token, Self::worksheet),
            b"metadata" => this.object(token, Self::metadata),
            _ => this.tokens.skip(token),
        })
    }

    fn worksheet(&mut self, first: JsonToken) -> Result<(), ExtractError> {
        self.object(first, |this, key, token| match key {
            b"cells" => this.array(token, Self::cell),
            _ => this.tokens.skip(token),
        })
    }

    /// Calls `each` with every key of an object and the first token of its value, which it must take whole.
    /// Other values are passed over, as is the value of a key that is too long.
    fn object(
        &mut self,
        first: JsonToken,
        mut each: impl FnMut(&mut Self, &[u8], JsonToken) -> Result<(), ExtractError>,
    ) -> Result<(), ExtractError> {
        if first != JsonToken::Object {
            return self.tokens.skip(first);
        }
        let mut key = Vec::new();
        while self.tokens.next()? == JsonToken::Key {
            key.clear();
            let fits = self.tokens.string(&mut key, MOST_SHORT)?;
            let token = self.tokens.next()?;
            each(self, if fits { &key } else { b"" }, token)?;
        }
        Ok(())
    }

    /// Calls `each` with the first token of every value of an array.
    fn array(
        &mut self,
        first: JsonToken,
        mut each: impl FnMut(&mut Self, JsonToken) -> Result<(), ExtractError>,
    ) -> Result<(), ExtractError> {
        if first != JsonToken::Array {
            return self.tokens.skip(first);
        }
        loop {
            match self.tokens.next()? {
                JsonToken::Close => return Ok(()),
                token => each(self, token)?,
            }
        }
    }

    fn cell(&mut self, first: JsonToken) -> Result<(), ExtractError> {
        if self.out.is_full() {
            return self.tokens.skip(first);
        }
        let mut cell = NotebookCell { most: self.out.room().saturating_add(4), ..NotebookCell::default() };
        let result = self.object(first, |this, key, token| match key {
            b"cell_type" => this.text(token, &mut cell.kind, MOST_SHORT),
            b"source" | b"input" => {
                cell.source.clear();
                this.text(token, &mut cell.source, cell.most)
            }
            b"outputs" => this.array(token, |this, token| this.output(token, &mut cell)),
            b"language" => this.language(token),
            _ => this.tokens.skip(token),
        });
        self.write(&cell);
        result
    }

    /// Collects the text of one output of a cell.
    fn output(&mut self, first: JsonToken, cell: &mut NotebookCell) -> Result<(), ExtractError> {
        self.object(first, |this, key, token| match key {
            b"text" | b"evalue" => this.paragraph(token, cell),
            b"ename" => {
                this.text(token, &mut cell.outputs, cell.most)?;
                append(&mut cell.outputs, b": ", cell.most);
                Ok(())
            }
            b"traceback" => this.array(token, |this, token| this.paragraph(token, cell)),
            b"data" => this.object(token, |this, media_type, token| match media_type {
                b"text/plain" | b"text/markdown" => this.paragraph(token, cell),
                _ => this.tokens.skip(token),
            }),
            _ => this.tokens.skip(token),
        })
    }

    /// Collects a text that ends its line.
    fn paragraph(&mut self, token: JsonToken, cell: &mut NotebookCell) -> Result<(), ExtractError> {
        let before = cell.outputs.len();
        let result = self.text(token, &mut cell.outputs, cell.most);
        if cell.outputs.len() > before && !cell.outputs.ends_with(b"\n") {
            append(&mut cell.outputs, b"\n", cell.most);
        }
        result
    }

    /// Appends a text, which is a string or an array of its parts.
    fn text(&mut self, first: JsonToken, text: &mut Vec<u8>, most: usize) -> Result<(), ExtractError> {
        match first {
            JsonToken::String => self.tokens.string(text, most).and(Ok(())),
            JsonToken::Array => self.array(first, |this, token| match token {
                JsonToken::String => this.tokens.string(text, most).and(Ok(())),
                _ => this.tokens.skip(token),
            }),
            _ => self.tokens.skip(first),
        }
    }

    /// Writes what was found of a cell.
    fn write(&mut self, cell: &NotebookCell) {
        let source = String::from_utf8_lossy(&cell.source);
        if self.facts.heading.is_empty() {
            let heading = match cell.kind.as_slice() {
                b"markdown" => first_heading(&source),
                b"heading" => source.lines().next(),
                _ => None,
            };
            self.facts.heading = heading.map(shortened).unwrap_or_default();
        }
        if !source.is_empty() {
            self.out.line(without_data(&source).trim_end_matches('\n'));
        }
        self.out.text(&without_escapes(&String::from_utf8_lossy(&cell.outputs)));
    }

    fn metadata(&mut self, key: &[u8], token: JsonToken) -> Result<(), ExtractError> {
        match key {
            b"title" => self.facts.title = self.short(token)?,
            b"name" => self.facts.name = self.short(token)?,
            b"author" => self.author(token)?,
            b"authors" => self.array(token, Self::author)?,
            b"kernelspec" | b"kernel_info" => self.object(token, |this, key, token| match key {
                b"name" => {
                    this.facts.kernel = this.short(token)?;
                    Ok(())
                }
                b"language" => this.language(token),
                _ => this.tokens.skip(token),
            })?,
            b"language_info" => self.object(token, |this, key, token| match key {
                b"name" => this.language(token),
                _ => this.tokens.skip(token),
            })?,
            _ => self.tokens.skip(token)?,
        }
        Ok(())
    }

    /// An author: a name, or an object with one.
    fn author(&mut self, first: JsonToken) -> Result<(), ExtractError> {
        let mut name = String::new();
        match first {
            JsonToken::Object => self.object(first, |this, key, token| match key {
                b"name" => {
                    name = this.short(token)?;
                    Ok(())
                }
                _ => this.tokens.skip(token),
            })?,
            _ => name = self.short(first)?,
        }
        // Fields beyond the limit of the output would be dropped.
        if self.facts.authors.len() < MOST_SHORT {
            self.facts.authors.push(name);
        }
        Ok(())
    }

    /// A programming language.
    fn language(&mut self, token: JsonToken) -> Result<(), ExtractError> {
        let name = self.short(token)?.to_ascii_lowercase();
        let languages = &mut self.facts.languages;
        if !name.is_empty() && languages.len() < MOST_LANGUAGES && !languages.contains(&name) {
            languages.push(name);
        }
        Ok(())
    }

    /// The beginning of a string; nothing of other values.
    fn short(&mut self, token: JsonToken) -> Result<String, ExtractError> {
        let mut value = Vec::new();
        match token {
            JsonToken::String => {
                self.tokens.string(&mut value, MOST_SHORT)?;
            }
            _ => self.tokens.skip(token)?,
        }
        Ok(String::from_utf8_lossy(&value).trim().to_owned())
    }

    fn fields(&mut self) {
        let NotebookFacts { title, heading, name, authors, kernel, languages } = &self.facts;
        let title = [title, heading, name].into_iter().find(|title| !title.is_empty());
        self.out.field("title", title.map(String::as_str).unwrap_or_default());
        for author in authors {
            self.out.field("author", author);
        }
        if !kernel.is_empty() {
            self.out.field("attr", &format!("kernel={kernel}"));
        }
        for language in languages {
            self.out.field("attr", &format!("code={language}"));
        }
    }
}

fn append(text: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let room = most.saturating_sub(text.len());
    text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
}

/// The beginning of a line that becomes a field.
fn shortened(line: &str) -> String {
    line.chars().take(MOST_SHORT).collect()
}
