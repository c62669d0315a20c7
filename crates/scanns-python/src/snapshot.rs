//! An open index for Python: queries, their hits, terms, exports and facts.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use scanns::aggregate::GroupBy;
use scanns::query::{Operator, WeightedField};
use scanns::schema::Field;
use scanns::search::{Model, MoreLikeThis, Rm3};
use scanns::{Error, Query, Snapshot};

use crate::answer::answers;
use crate::asked::{Asked, Found, SearchRequest, with_keys};
use crate::capsule::ArrowStream;
use crate::core::CoreRef;
use crate::errors::raise;
use crate::export::{ExportReader, ExportRequest, ExportSource};
use crate::fields::{KEY, all_kept, column, searched, weighted};
use crate::files::{self, UsageRow};
use crate::guard::{detached, searching};
use crate::hits::{KeptHit, NativeHits};
use crate::json;
use crate::request::{ModelSpec, Order, aggregations_of, model_of, order_of};
use crate::values::{bytes_of, optional, string};

/// A parsed query.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeQuery {
    query: Arc<Query>,
    fields: Vec<WeightedField>,
    /// The field of snippets and expansions.
    main: Field,
}

/// The groups of hits, with their values, counts and hits, and the numbers of groups and of documents without
/// a value.
type GroupRows<'py> = (Vec<(Option<Bound<'py, PyAny>>, u64, NativeHits)>, u64, u64);

/// A word, the number of documents that contain it, and similar terms.
type SuggestionRow<'py> = (Bound<'py, PyAny>, u64, Vec<Bound<'py, PyAny>>);

/// What a search for similar documents takes as an example and how.
#[derive(FromPyObject)]
pub struct LikeRequest {
    text: Option<Vec<u8>>,
    min_freq: u32,
    min_docs: u64,
    max_docs: Option<u64>,
    terms: usize,
}

/// An open index.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeSnapshot {
    core: CoreRef,
}

impl NativeSnapshot {
    /// A snapshot that is open already, of the index at a path.
    pub fn of(snapshot: Snapshot, path: PathBuf, threads: usize) -> Self {
        NativeSnapshot { core: CoreRef::new(snapshot, vec![path], threads) }
    }

    fn hits(&self, query: &NativeQuery, model: Model, found: Vec<KeptHit>) -> NativeHits {
        NativeHits {
            core: self.core.clone(),
            query: Arc::clone(&query.query),
            model,
            field: query.main,
            hits: found,
            near: Vec::new(),
            scored: true,
            partial: false,
        }
    }

    fn field(&self, name: Option<&str>) -> PyResult<Field> {
        let snapshot = &self.core.snapshot;
        let default = || snapshot.schema().default_field().unwrap_or_default();
        name.map_or_else(|| Ok(default()), |name| searched(snapshot.schema(), name))
            .map_err(|error| raise(&error))
    }

    fn made(&self, query: Query, fields: Vec<WeightedField>) -> NativeQuery {
        NativeQuery { query: Arc::new(query), main: self.core.main_field(&fields), fields }
    }
}

/// The operator of a name.
pub fn operator_of(name: &str) -> PyResult<Operator> {
    match name {
        "or" => Ok(Operator::Or),
        "and" => Ok(Operator::And),
        other => {
            let known = "or, and".into();
            Err(raise(&Error::UnknownName { what: "operator", name: other.into(), known }))
        }
    }
}

#[pymethods]
impl NativeSnapshot {
    /// Opens the newest commits of indexes.
    #[staticmethod]
    fn open(py: Python<'_>, paths: Vec<PathBuf>, threads: usize) -> PyResult<Self> {
        let snapshot = detached(py, || match &paths[..] {
            [path] => Snapshot::open(path),
            paths => Snapshot::open_all(paths),
        })?;
        Ok(NativeSnapshot { core: CoreRef::new(snapshot, paths, threads) })
    }

    /// The number of the commit.
    #[getter]
    fn generation(&self) -> u64 {
        self.core.snapshot.info().generation
    }

    /// False if the snapshot is of a writer, and shows what was not committed.
    #[getter]
    fn committed(&self) -> bool {
        self.core.snapshot.is_committed()
    }

    /// A number that differs between commits, and between sets of indexes.
    #[getter]
    fn fingerprint(&self) -> u64 {
        self.core.snapshot.fingerprint()
    }

    /// Facts about the index, as JSON.
    fn info(&self) -> String {
        json::info(&self.core).to_string()
    }

    /// The segments, as JSON.
    fn segments(&self) -> String {
        json::segments(&self.core.snapshot).to_string()
    }

    /// Statistics of columns, as JSON.
    fn columns(&self, py: Python<'_>) -> PyResult<String> {
        let snapshot = &self.core.snapshot;
        let columns = detached(py, || snapshot.columns())?;
        Ok(json::columns(snapshot, &columns).to_string())
    }

    /// What an index of file systems covers, as JSON.
    fn coverage(&self) -> PyResult<String> {
        json::coverage(&self.core.snapshot).map(|found| found.to_string()).map_err(|error| raise(&error))
    }

    /// What answers may lack, in sentences.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        detached(py, || files::missing(&self.core))
    }

    /// Refuses a model or parameters that do not exist.
    #[staticmethod]
    fn check_model(model: ModelSpec) -> PyResult<()> {
        model_of(&model).map(drop)
    }

    /// The number of distinct terms.
    fn unique_terms(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || self.core.snapshot.unique_terms())
    }

    /// The fields that an export has unless others are named.
    fn kept_fields(&self) -> Vec<String> {
        all_kept(&self.core.snapshot)
    }

    /// The value of a note of the commit.
    fn note<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        self.core.snapshot.notes().get(name.as_bytes()).map(|value| PyBytes::new(py, value))
    }

    /// Parses a query in the language of the command.
    fn parse(&self, text: &str, operator: &str, fields: Option<&str>) -> PyResult<NativeQuery> {
        let (operator, fields) = (operator_of(operator)?, weighted(self.core.snapshot.schema(), fields)?);
        let query = self.core.snapshot.parse_in(&fields, text, operator).map_err(|error| raise(&error))?;
        Ok(self.made(query, fields))
    }

    /// Reads a query in JSON.
    fn parse_json(&self, text: &str, operator: &str, fields: Option<&str>) -> PyResult<NativeQuery> {
        let (operator, fields) = (operator_of(operator)?, weighted(self.core.snapshot.schema(), fields)?);
        let query = self.core.snapshot.parse_json_in(&fields, text, operator);
        Ok(self.made(query.map_err(|error| raise(&error))?, fields))
    }

    /// A query as JSON.
    fn query_json(&self, query: &NativeQuery) -> PyResult<String> {
        let json = self.core.snapshot.query_json_in(&query.fields, &query.query);
        json.map_err(|error| raise(&error))
    }

    /// The best hits, and the answers to aggregations.
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &NativeQuery,
        request: SearchRequest,
    ) -> PyResult<(NativeHits, Bound<'py, PyList>)> {
        let core = &*self.core;
        let model = model_of(&request.model)?;
        let asked = aggregations_of(core.snapshot.schema(), &request.aggregations)?;
        let (field, request) = (query.main, &request);
        let asked = Asked { core, query: &query.query, field, request, model, asked };
        let found = searching(py, request.timeout, |budget| {
            let Found { scored, hits, near, aggregated } = asked.run(budget)?;
            Ok((with_keys(core, hits)?, scored, near, aggregated))
        })?;
        let (hits, scored, near, aggregated) = found.answer;
        let hits = NativeHits { near, scored, partial: found.partial, ..self.hits(query, model, hits) };
        Ok((hits, answers(py, &aggregated)?))
    }

    /// The number of documents that match, and whether the time ran out.
    fn count(&self, py: Python<'_>, query: &NativeQuery, timeout: Option<f64>) -> PyResult<(u64, bool)> {
        let found = searching(py, timeout, |budget| self.core.searcher(None, budget).count(&query.query))?;
        Ok((found.answer, found.partial))
    }

    /// The best hits of each value of a column.
    fn groups<'py>(
        &self,
        py: Python<'py>,
        query: &NativeQuery,
        request: SearchRequest,
        by: (String, usize, bool),
    ) -> PyResult<GroupRows<'py>> {
        let (name, per_group, missing) = by;
        let model = model_of(&request.model)?;
        let core = &*self.core;
        let found = searching(py, request.timeout, |budget| {
            let keys = match order_of(core.snapshot.schema(), &request.sort)? {
                Order::Score => Vec::new(),
                Order::Fields(keys) => keys,
                Order::Key(_) => {
                    return Err(Error::Unsupported {
                        what: "groups in the order of keys".into(),
                        remedy: "sort by score or by columns".into(),
                    });
                }
            };
            let field = column(core.snapshot.schema(), &name)?;
            let by = GroupBy { field, keys, groups: request.k, hits: per_group, missing };
            let found = core.searcher(Some(query.main), budget).top_groups(&query.query, model, &by)?;
            let group = |group: scanns::aggregate::Group| {
                Ok((group.value, group.count, with_keys(core, group.hits)?))
            };
            let groups = found.groups.into_iter().map(group).collect::<scanns::Result<Vec<_>>>()?;
            Ok((groups, found.total, found.missing))
        })?;
        let (groups, total, missing) = found.answer;
        let rows = groups.into_iter().map(|(value, count, hits)| {
            let hits = NativeHits { partial: found.partial, ..self.hits(query, model, hits) };
            Ok((optional(py, value.as_ref())?, count, hits))
        });
        Ok((rows.collect::<PyResult<_>>()?, total, missing))
    }

    /// The document with a key, as a hit of a query and a model, which explain it and find its snippets.
    fn hit(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        query: &NativeQuery,
        model: ModelSpec,
    ) -> PyResult<Option<NativeHits>> {
        let (key, model) = (bytes_of(key)?, model_of(&model)?);
        let hit = detached(py, || self.core.snapshot.hit(&key))?;
        Ok(hit.map(|hit| self.hits(query, model, vec![KeptHit { hit, key, sorted: Vec::new() }])))
    }

    /// A query for documents like the one of a hit, or like a text.
    fn like(
        &self,
        py: Python<'_>,
        example: Option<&NativeHits>,
        request: LikeRequest,
        field: Option<&str>,
    ) -> PyResult<NativeQuery> {
        let field = self.field(field)?;
        let options = MoreLikeThis {
            min_term_freq: request.min_freq,
            min_doc_freq: request.min_docs,
            max_doc_freq: request.max_docs,
            max_terms: request.terms,
            ..MoreLikeThis::default()
        };
        let hit = example.and_then(|example| example.hits.first()).map(|kept| kept.hit);
        let text = request.text.unwrap_or_default();
        let snapshot = &self.core.snapshot;
        let query = detached(py, || match hit {
            Some(hit) => snapshot.like(&hit, field, &options),
            None => snapshot.like_text(field, &text, &options),
        })?;
        Ok(self.made(query, vec![field.into()]))
    }

    /// A query with words of its best documents, by RM3: documents, terms and the weight of the query.
    fn expand(
        &self,
        py: Python<'_>,
        query: &NativeQuery,
        model: ModelSpec,
        rm3: (usize, usize, f32),
    ) -> PyResult<NativeQuery> {
        let (documents, terms, original_weight) = rm3;
        let (model, rm3) = (model_of(&model)?, Rm3 { documents, terms, original_weight, ..Rm3::default() });
        let expand = || self.core.snapshot.expand(&query.query, query.main, model, &rm3);
        let expanded = detached(py, expand)?;
        Ok(self.made(expanded, query.fields.clone()))
    }

    /// The most frequent terms with a prefix, or all of them, with their documents and occurrences.
    fn terms<'py>(
        &self,
        py: Python<'py>,
        prefix: &Bound<'py, PyAny>,
        limit: Option<usize>,
        field: Option<&str>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, u64, u64)>> {
        let (prefix, field) = (bytes_of(prefix)?, self.field(field)?);
        let found = searching(py, None, |budget| {
            let searcher = self.core.searcher(Some(field), budget);
            if let Some(limit) = limit {
                return searcher.frequent_terms(&prefix, limit, |_| {});
            }
            let (mut terms, mut all) = (searcher.terms(&prefix)?, Vec::new());
            while let Some(term) = terms.advance()? {
                all.push(term.clone());
            }
            Ok(all)
        })?;
        let row =
            |term: &scanns::search::TermCount| Ok((string(py, &term.term)?, term.doc_freq, term.total_freq));
        found.answer.iter().map(row).collect()
    }

    /// Words of a query that at most `few` documents contain, and up to `most` terms that may be meant.
    fn suggest<'py>(
        &self,
        py: Python<'py>,
        query: &NativeQuery,
        few: u64,
        most: usize,
    ) -> PyResult<Vec<SuggestionRow<'py>>> {
        let suggest = |budget: &scanns::search::Budget| {
            self.core.searcher(Some(query.main), budget).suggest(&query.query, few, most)
        };
        let row = |one: &scanns::search::Suggestion| {
            let near = one.near.iter().map(|near| string(py, &near.term)).collect::<PyResult<_>>()?;
            Ok((string(py, &one.word)?, one.doc_freq, near))
        };
        searching(py, None, suggest)?.answer.iter().map(row).collect()
    }

    /// The values of all documents that match, in batches of at most `rows`.
    fn export(
        &self,
        py: Python<'_>,
        query: &NativeQuery,
        names: Vec<String>,
        binary: Vec<String>,
        rows: usize,
    ) -> PyResult<ArrowStream> {
        let source = ExportSource::Index { core: self.core.clone(), query: Arc::clone(&query.query) };
        let request = ExportRequest { source, names, binary, rows };
        let reader = detached(py, || ExportReader::start(request))?;
        Ok(ArrowStream::new(Box::new(reader)))
    }

    /// What an expression of find prints, and notes.
    fn find<'py>(
        &self,
        py: Python<'py>,
        command: Vec<Bound<'py, PyAny>>,
        limit: Option<u64>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let command = command.iter().map(bytes_of).collect::<PyResult<Vec<_>>>()?;
        files::find(py, &self.core.snapshot, &command, limit)
    }

    /// The space below paths, and a report as JSON.
    fn du<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<Bound<'py, PyAny>>,
        options: &str,
    ) -> PyResult<(Vec<UsageRow<'py>>, String)> {
        let paths = paths.iter().map(bytes_of).collect::<PyResult<Vec<_>>>()?;
        files::usage(py, &self.core.snapshot, &paths, options)
    }

    /// The name of the field of keys in exports.
    #[classattr]
    #[pyo3(name = "KEY")]
    fn key_name() -> &'static str {
        KEY
    }
}
