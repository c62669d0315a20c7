//! The fields of collections.

use super::format::CollectionFormat;
use crate::error::Result;
use crate::record::names::Sources;
use crate::schema::{Analyzer, FieldEntry, FieldKind, Postings, Schema};

/// How the texts of a collection are indexed.
#[derive(Clone, Debug)]
pub struct TextFieldOptions {
    /// The analyzer of the texts.
    pub analyzer: Analyzer,
    /// The details of their postings.
    pub postings: Postings,
    /// Whether texts are stored.
    pub stored: bool,
}

/// What a field is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldUse {
    /// The key of documents.
    Key,
    /// A text that is found as a whole, and a column.
    Keyword,
    /// Like a keyword, and also searched by its words in a field `NAME.words`.
    Words,
    /// Text that words without a field search.
    Text,
    /// Text that is searched where the field is named.
    Other,
    /// A number, a column.
    Number,
    /// A date, a column.
    Date,
}

use FieldUse::{Date, Key, Keyword, Number, Other, Text, Words};

/// The fields of access logs.
const ACCESS: [(&str, FieldUse); 12] = [
    ("vhost", Keyword),
    ("host", Keyword),
    ("user", Keyword),
    ("date", Date),
    ("method", Keyword),
    ("path", Words),
    ("protocol", Keyword),
    ("status", Number),
    ("bytes", Number),
    ("referer", Words),
    ("agent", Other),
    ("text", Text),
];

/// The fields of syslog.
const SYSLOG: [(&str, FieldUse); 9] = [
    ("date", Date),
    ("host", Keyword),
    ("app", Keyword),
    ("pid", Keyword),
    ("facility", Keyword),
    ("severity", Keyword),
    ("msgid", Keyword),
    ("data", Text),
    ("message", Text),
];

/// The fields of journals.
const JOURNAL: [(&str, FieldUse); 10] = [
    ("cursor", Key),
    ("date", Date),
    ("host", Keyword),
    ("app", Keyword),
    ("unit", Keyword),
    ("pid", Keyword),
    ("uid", Keyword),
    ("severity", Keyword),
    ("boot", Keyword),
    ("message", Text),
];

impl CollectionFormat {
    /// The fields of a new index.
    ///
    /// # Errors
    /// None in practice: the names are known.
    pub fn fields(self, options: &TextFieldOptions) -> Result<(Schema, Sources)> {
        let mut schema = Schema::new();
        let (mut sources, mut words, mut key) = (Vec::new(), Vec::new(), None);
        for &(name, field) in self.table() {
            let added = schema.add(entry(name, field, options))?;
            sources.push((added, name));
            if field == Words {
                words.push(name);
            }
            if field == Key {
                key = Some(added);
            }
        }
        for name in words {
            sources.push((schema.add(entry(&format!("{name}.words"), Other, &plain(options)))?, name));
        }
        let mut all = Sources::of(&schema);
        sources.into_iter().for_each(|(field, name)| all.set(field, name));
        key.into_iter().for_each(|key| all.set_key(key));
        Ok((schema, all))
    }

    /// The names of the fields and their uses.
    fn table(self) -> &'static [(&'static str, FieldUse)] {
        match self {
            CollectionFormat::Warc => &[
                ("id", Key),
                ("url", Words),
                ("host", Keyword),
                ("date", Date),
                ("type", Keyword),
                ("status", Number),
                ("mime", Keyword),
                ("charset", Keyword),
                ("language", Keyword),
                ("digest", Keyword),
                ("ip", Keyword),
                ("length", Number),
                ("title", Text),
                ("description", Other),
                ("keywords", Other),
                ("text", Text),
            ],
            CollectionFormat::Trec => &[
                ("docno", Key),
                ("date", Keyword),
                ("url", Words),
                ("status", Number),
                ("mime", Keyword),
                ("headline", Text),
                ("text", Text),
            ],
            CollectionFormat::Smart => &[
                ("docno", Key),
                ("author", Words),
                ("category", Keyword),
                ("bib", Other),
                ("note", Other),
                ("references", Other),
                ("keywords", Text),
                ("title", Text),
                ("text", Text),
            ],
            CollectionFormat::Mbox => &[
                ("message_id", Keyword),
                ("from", Words),
                ("to", Words),
                ("cc", Words),
                ("date", Date),
                ("list_id", Keyword),
                ("attachment", Words),
                ("subject", Text),
                ("text", Text),
            ],
            CollectionFormat::MediaWiki => &[
                ("id", Keyword),
                ("ns", Number),
                ("date", Date),
                ("redirect", Keyword),
                ("title", Text),
                ("text", Text),
            ],
            CollectionFormat::Access => &ACCESS,
            CollectionFormat::Syslog => &SYSLOG,
            CollectionFormat::Journal => &JOURNAL,
        }
    }
}

/// The options of a field that repeats the values of another one.
fn plain(options: &TextFieldOptions) -> TextFieldOptions {
    TextFieldOptions { analyzer: Analyzer::Standard, postings: options.postings, stored: false }
}

fn entry(name: &str, field: FieldUse, options: &TextFieldOptions) -> FieldEntry {
    let kind = match field {
        Key | Keyword | Words => FieldKind::Keyword,
        Number => FieldKind::Unsigned,
        Date => FieldKind::Date,
        Text | Other => FieldKind::Text { analyzer: options.analyzer.clone(), postings: options.postings },
    };
    let entry = FieldEntry::new(name, kind);
    match field {
        Text => FieldEntry { by_default: true, stored: options.stored, ..entry },
        Other => FieldEntry { stored: options.stored, ..entry },
        _ => entry.column(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::collection::CollectionReader;
    use crate::schema::Records;

    #[test]
    fn every_field_takes_a_name_that_the_reader_knows_and_every_name_has_a_field() {
        let options =
            TextFieldOptions { analyzer: Analyzer::Standard, postings: Postings::Positions, stored: true };
        for format in [
            CollectionFormat::Warc,
            CollectionFormat::Trec,
            CollectionFormat::Smart,
            CollectionFormat::Mbox,
            CollectionFormat::MediaWiki,
            CollectionFormat::Access,
            CollectionFormat::Syslog,
            CollectionFormat::Journal,
        ] {
            let (schema, sources) = format.fields(&options).unwrap();
            let mut taken: Vec<&str> =
                schema.fields().map(|(field, _)| sources.source(field).unwrap()).collect();
            taken.sort_unstable();
            taken.dedup();
            let mut known = CollectionReader::new(format, 0).names().to_vec();
            known.sort_unstable();
            assert_eq!(taken, known, "{format:?}");
            let is_log = matches!(format.records(), Records::Access | Records::Journal);
            assert!(schema.default_fields().len() >= 2 - usize::from(is_log), "{format:?}");
        }
    }
}
