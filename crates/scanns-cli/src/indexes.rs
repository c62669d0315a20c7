//! The indexes at the front of a command: several are searched as one.

use std::path::Path;

use anyhow::{Result, bail};
use scanns::{Index, Snapshot};

use crate::args::AsUserArgs;
use crate::as_user;
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::quoted;

/// The indexes that a command names, and the words of its query.
pub struct Indexes<'a> {
    paths: Vec<&'a Path>,
    pub words: &'a [String],
}

impl<'a> Indexes<'a> {
    /// The first argument is an index. Arguments after it are, too, up to the first one that does not look
    /// like one: names that end in `.scanns`, and paths with a slash where there is an index.
    pub fn new(first: &'a Path, others: &'a [String]) -> Result<Self> {
        let mut paths = vec![first];
        for word in others {
            let path = Path::new(word);
            match (has_ending(path), Index::is_at(path)) {
                (true, true) => {}
                (false, true) if word.contains('/') => {}
                (true, false) => bail!(
                    "there is no index {0}: check the path, or quote the word as '\"{0}\"' to search for it",
                    quoted(word.as_bytes())
                ),
                _ => break,
            }
            paths.push(path);
        }
        let words = others.get(paths.len() - 1..).unwrap_or_default();
        if let Some(index) = words.iter().find(|word| has_ending(Path::new(word)) && Path::new(word).is_dir())
        {
            let index = quoted(index.as_bytes());
            bail!(
                "'{index}' is an index, not a word of a query: write indexes before the query, or quote the \
                 word as '\"{index}\"'"
            );
        }
        Ok(Indexes { paths, words })
    }

    /// Opens them as one, as the user sees it whom the options name.
    pub fn open(&self, as_user: &AsUserArgs) -> Result<Snapshot> {
        let snapshot = match &self.paths[..] {
            [only] => Snapshot::open(only)?,
            paths => Snapshot::open_all(paths)?,
        };
        as_user::seen(snapshot, as_user)
    }

    /// Says on standard error what the answer may lack. Returns true if there is anything.
    pub fn note_missing(&self, snapshot: &Snapshot) -> Result<bool> {
        if let [only] = &self.paths[..] {
            return note_missing(snapshot, only, AskedPlaces::ALL);
        }
        let mut lacks = false;
        for path in &self.paths {
            lacks |= note_missing(&Snapshot::open(path)?, path, AskedPlaces::ALL)?;
        }
        Ok(lacks)
    }
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "scanns")
}

#[cfg(test)]
mod tests {
    use scanns::schema::{FieldEntry, Schema};

    use super::*;

    #[test]
    fn indexes_come_before_the_query() {
        let place = tempfile::tempdir().unwrap();
        let mut schema = Schema::new();
        schema.add(FieldEntry::text("text")).unwrap();
        let name = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let (a, b, plain) = (name("a.scanns"), name("b.scanns"), name("plain"));
        for path in [&a, &b, &plain] {
            Index::create(path, &schema).unwrap();
        }
        let split = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let found = Indexes::new(Path::new(&a), &words).map_err(|error| error.to_string())?;
            Ok::<_, String>((found.paths.len(), found.words.join(" ")))
        };
        assert_eq!(split(&["red", "apple"]), Ok((1, "red apple".into())));
        assert_eq!(split(&[&b, "red"]), Ok((2, "red".into())));
        assert_eq!(split(&[&b, &plain, "red"]), Ok((3, "red".into())));
        assert_eq!(split(&["/"]), Ok((1, "/".into())));
        assert_eq!(split(&["path:/data"]), Ok((1, "path:/data".into())));
        assert!(split(&["red", &b]).unwrap_err().contains("before the query"));
        assert!(split(&["c.scanns", "red"]).unwrap_err().contains("no index c.scanns"));
        assert_eq!(split(&["\"c.scanns\""]), Ok((1, "\"c.scanns\"".into())));
    }
}
