//! Several indexes opened as one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::open::Snapshot;
use super::part::IndexPart;
use crate::error::{Error, Result};
use crate::schema::{Schema, joined_schema};

impl Snapshot {
    /// Opens the newest commits of several indexes as one. The answers are those of a single index that has
    /// the documents of all of them, in the order of the paths: hits, scores, ties, expansions of patterns
    /// and sums do not depend on how documents are divided.
    ///
    /// Fields are the same if their names are. Documents of an index that lacks a field are documents without
    /// a value.
    ///
    /// ```
    /// use scanns::query::Operator;
    /// use scanns::schema::{Document, FieldEntry, Schema};
    /// use scanns::search::Model;
    /// use scanns::{Index, Snapshot};
    ///
    /// # fn main() -> scanns::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// let mut schema = Schema::new();
    /// let text = schema.add(FieldEntry::text("text"))?;
    /// let paths = ["2025.scanns", "2026.scanns"].map(|name| place.path().join(name));
    /// for (path, key) in paths.iter().zip(["mail-1", "mail-2"]) {
    ///     let writer = Index::create(path, &schema)?.writer()?;
    ///     writer.add(&Document::new(key).text(text, "The index is ready."))?;
    ///     writer.commit()?;
    /// }
    ///
    /// let snapshot = Snapshot::open_all(&paths)?;
    /// let hits = snapshot.searcher().top_k(&snapshot.parse("ready", Operator::And)?, Model::Classic, 10)?;
    /// assert_eq!(snapshot.key(&hits[1])?, b"mail-2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Snapshot::open`] for each path; [`Error::Conflict`] if a path is given twice, or if
    /// two indexes have fields of the same name that differ; [`Error::InvalidValue`] without a path.
    pub fn open_all<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        Self::open_all_knowing(paths, &[])
    }

    pub(super) fn open_all_knowing<P: AsRef<Path>>(paths: &[P], known_parts: &[IndexPart]) -> Result<Self> {
        let mut known: Vec<(PathBuf, &Path)> = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            if let Some((_, first)) = known.iter().find(|(other, _)| *other == real) {
                return Err(Error::Conflict {
                    what: format!("the index {}", path.display()),
                    with: format!("{}, which is the same index", first.display()),
                    remedy: "name each index once".into(),
                });
            }
            known.push((real, path));
        }
        let open = |path: &P| Snapshot::open_knowing(path.as_ref(), known_parts);
        Snapshot::join(paths.iter().map(open).collect::<Result<_>>()?)
    }

    /// Joins several snapshots, each of one index or of several, to one. Its documents are those of all of
    /// them, in this order; see [`Snapshot::open_all`].
    ///
    /// # Errors
    /// [`Error::Conflict`] if two indexes have fields of the same name that differ; [`Error::InvalidValue`]
    /// without a snapshot.
    pub fn join(snapshots: Vec<Snapshot>) -> Result<Self> {
        let mut parts: Vec<IndexPart> = snapshots.into_iter().flat_map(|snapshot| snapshot.parts).collect();
        if parts.is_empty() {
            return Err(Error::invalid("number of indexes", 0, "at least one"));
        }
        let of_view = parts.iter().find(|part| part.view.is_some());
        let whole = parts.iter().find(|part| part.view.is_none());
        if let (Some(of_view), Some(whole)) = (of_view, whole) {
            return Err(Error::Conflict {
                what: format!("the view of {}", of_view.name),
                with: format!("the whole index {}", whole.name),
                remedy: "join views, or whole indexes".into(),
            });
        }
        let named: Vec<(String, &Schema)> =
            parts.iter().map(|part| (part.name.clone(), &part.schema)).collect();
        let (schema, numbers) = joined_schema(&named)?;
        for (part, numbers) in parts.iter_mut().zip(numbers) {
            part.numbers = (part.schema != schema).then(|| Arc::new(numbers));
        }
        Ok(Snapshot::of_parts(schema, parts))
    }

    /// The same documents with a schema that more indexes share, which has all fields of this one.
    ///
    /// # Errors
    /// [`Error::Conflict`] if a field is missing in the schema or differs.
    pub(crate) fn in_schema(self, schema: Schema) -> Result<Self> {
        let mut parts = self.parts;
        for part in &mut parts {
            let both = [("the common schema".to_owned(), &schema), (part.name.clone(), &part.schema)];
            let (all, mut numbers) = joined_schema(&both)?;
            let own = numbers.pop().filter(|_| all.fields().count() == schema.fields().count());
            let own = own.ok_or_else(|| Error::Conflict {
                what: "the common schema of several indexes".into(),
                with: format!("{}, which has more fields", part.name),
                remedy: "describe the indexes again".into(),
            })?;
            part.numbers = (part.schema != schema).then(|| Arc::new(own));
        }
        Ok(Snapshot::of_parts(schema, parts))
    }

    /// The names of the indexes, for messages.
    pub(crate) fn name(&self) -> String {
        let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        names.join(", ")
    }
}
