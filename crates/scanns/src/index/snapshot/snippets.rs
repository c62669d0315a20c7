//! Snippets of the documents of hits, from their stored text.

use std::ops::Range;

use super::open::Snapshot;
use crate::error::Result;
use crate::query::Query;
use crate::schema::Field;
use crate::search::{Highlighter, Hit, Snippet, SnippetOptions};

impl Snapshot {
    /// Prepares a query for [`Snapshot::snippets`] in a field.
    ///
    /// # Errors
    /// The errors of searching for the query.
    pub fn highlighter<'q>(
        &self,
        field: Field,
        query: &'q Query,
        options: SnippetOptions,
    ) -> Result<Highlighter<'q>> {
        self.searcher_in(field).highlighter(query, self.schema().analyzer(field), options)
    }

    /// Returns the best fragments of the stored text of the document of a hit in `field`, which must be the
    /// field of the highlighter; `None` if the index stores no text for the field. Several values of a field
    /// are shown as lines. If the index of the document lacks the field, its default field is shown.
    ///
    /// # Errors
    /// The errors of [`Snapshot::document`] and [`Snapshot::values`].
    pub fn snippets(
        &self,
        hit: &Hit,
        field: Field,
        highlighter: &mut Highlighter,
    ) -> Result<Option<Vec<Snippet>>> {
        if !self.stores(hit) {
            return Ok(self
                .document_start(hit, highlighter.needs())?
                .map(|text| highlighter.snippets(&text)));
        }
        let Some(values) = self.texts(hit, self.field_of(hit, field))? else { return Ok(None) };
        let mut text: Vec<u8> = Vec::new();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for value in values {
            if !ranges.is_empty() {
                text.push(b'\n');
            }
            ranges.push(text.len()..text.len() + value.len());
            text.extend_from_slice(&value);
        }
        Ok(Some(highlighter.snippets_of(&text, &ranges)))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::*;
    use crate::index::live::{IndexWriter, WriterOptions};
    use crate::query::Operator;
    use crate::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Schema};
    use crate::search::Model;
    use crate::store::RamDirectory;

    #[test]
    fn each_field_shows_its_own_values() {
        let mut schema = Schema::new();
        let words = FieldKind::Text { analyzer: Analyzer::English, postings: Postings::Positions };
        let text = schema.add(FieldEntry::new("text", words.clone()).stored()).unwrap();
        let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword).stored()).unwrap();
        let hidden = schema.add(FieldEntry::new("hidden", words)).unwrap();
        let directory = Arc::new(RamDirectory::new());
        let writer =
            IndexWriter::open_in(directory.clone(), Some(&schema), WriterOptions::default()).unwrap();
        let said = Document::new("one").text(text, "The roses bloom").text(owner, "ann rose");
        writer.update(&said.text(text, "Blooming roses").text(owner, "bob").text(hidden, "roses")).unwrap();
        writer.commit().unwrap();
        let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
        let shown = |field: Field, query: &str| {
            let query = snapshot.parse_in(&[field.into()], query, Operator::Or).unwrap();
            let mut found = Vec::new();
            let searcher = snapshot.searcher_in(field);
            let mut highlighter = snapshot.highlighter(field, &query, SnippetOptions::default()).unwrap();
            searcher
                .for_each(&query, Model::Classic, |hit| {
                    let snippets = snapshot.snippets(&hit, field, &mut highlighter).unwrap();
                    let marked = |one: Snippet| String::from_utf8(one.marked(b"[", b"]")).unwrap();
                    found.push(snippets.map(|all| all.into_iter().map(marked).collect::<Vec<_>>()));
                    ControlFlow::Continue(())
                })
                .unwrap();
            found
        };
        let some = |text: &str| vec![Some(vec![text.to_owned()])];
        assert_eq!(shown(text, "rose"), some("The [roses] bloom\nBlooming [roses]"));
        assert_eq!(shown(text, "\"roses blooming\""), some("The [roses] [bloom]\nBlooming roses"));
        assert_eq!(shown(text, "roses owner:bob"), some("The [roses] bloom\nBlooming [roses]"));
        assert_eq!(shown(owner, "text:roses ann\\ rose"), some("[ann rose]\nbob"));
        assert_eq!(shown(hidden, "roses"), [None], "a field that is not stored has no snippets");
    }
}
