//! The two ends of a search over several processes: shards that answer messages, and searches that ask.
//!
//! `scanns/_shards.py` and `scanns/dask.py` carry the messages.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use scanns::Snapshot;
use scanns::aggregate::GroupBy;
use scanns::schema::Schema;
use scanns::search::{KeyOrder, SnippetOptions};
use scanns::shards::{
    Shard, ShardAnswer, ShardOrder, ShardQuery, ShardSearch, ShardSet, ShardShow, ShardSnippets,
};

use crate::answer::answers;
use crate::capsule::ArrowStream;
use crate::errors::{exception, raise};
use crate::export::{ExportReader, ExportRequest, ExportSource};
use crate::fields::{all_kept, column, kept, searched, weighted};
use crate::guard::{detached, searching};
use crate::request::{ModelSpec, Order, SortSpec, aggregations_of, model_of, order_of};
use crate::shard_hits::NativeShardHits;
use crate::snapshot::operator_of;
use crate::values::{bytes_of, optional};

/// The shards of an assembled index, or the index itself.
#[pyfunction]
pub fn shards_of(py: Python<'_>, path: PathBuf) -> PyResult<Vec<PathBuf>> {
    let found = detached(py, || scanns::index::shards_of(&path))?;
    Ok(found.unwrap_or_else(|| vec![path]))
}

/// An open shard.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeShard {
    shard: Arc<Shard>,
}

#[pymethods]
impl NativeShard {
    /// Opens the newest commit of an index, and gives it the schema of all shards, if there is one.
    #[staticmethod]
    #[pyo3(signature = (path, schema = None))]
    fn open(py: Python<'_>, path: PathBuf, schema: Option<&[u8]>) -> PyResult<Self> {
        let shard = detached(py, || {
            let shard = Shard::new(Snapshot::open(&path)?);
            match schema {
                Some(schema) => shard.with_schema(schema),
                None => Ok(shard),
            }
        })?;
        Ok(NativeShard { shard: Arc::new(shard) })
    }

    /// A number that differs between commits.
    #[getter]
    fn fingerprint(&self) -> u64 {
        self.shard.snapshot().fingerprint()
    }

    /// What a set of shards needs to know about this one.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &detached(py, || self.shard.describe())?))
    }

    /// The fields that are columns or stored, and of which some document may have a value; and those among
    /// them of which a document may have several values.
    fn kept_fields(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        detached(py, || {
            let snapshot = self.shard.snapshot();
            let columns = snapshot.columns()?;
            let schema = snapshot.schema();
            let (mut filled, mut several) = (Vec::new(), Vec::new());
            for name in all_kept(snapshot) {
                let field = kept(schema, &name)?;
                let is_empty = columns.iter().any(|info| info.field == field && info.documents == 0);
                if snapshot.may_have_several(field) {
                    several.push(name.clone());
                }
                if !is_empty || schema.entry(field).is_some_and(|entry| entry.stored) {
                    filled.push(name);
                }
            }
            Ok((filled, several))
        })
    }

    /// Answers a message to shard `number`, in at most `timeout` seconds.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        message: &[u8],
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let found = searching(py, timeout, |budget| self.shard.answer(number, message, Some(budget), None))?;
        Ok(PyBytes::new(py, &found.answer))
    }

    /// The values of the documents that match, in batches.
    fn export(&self, py: Python<'_>, asked: ShardExport) -> PyResult<ArrowStream> {
        let ShardExport { number, message, fields, binary, several, rows } = asked;
        let source = ExportSource::Shard { shard: Arc::clone(&self.shard), number, message, several };
        let request = ExportRequest { source, names: fields, binary, rows };
        let reader = detached(py, || ExportReader::start(request))?;
        Ok(ArrowStream::new(Box::new(reader)))
    }
}

/// An export of a shard, as the package describes it.
#[derive(FromPyObject)]
pub struct ShardExport {
    number: usize,
    /// The second message of a search with one question.
    message: Vec<u8>,
    fields: Vec<String>,
    /// The text fields that are exported as bytes.
    binary: Vec<String>,
    /// The fields of which a document of some shard may have several values.
    several: Vec<String>,
    /// The maximum number of rows of a batch.
    rows: usize,
}

/// A question to all shards, as the package describes it.
#[derive(FromPyObject)]
pub struct ShardQuestion {
    /// The query, in JSON or in the language of the command.
    query: String,
    is_json: bool,
    operator: String,
    /// The fields that words search.
    searched: Option<String>,
    k: usize,
    skip: usize,
    model: ModelSpec,
    sort: Vec<SortSpec>,
    /// Aggregations in JSON.
    aggregations: String,
    /// The column of groups, their number, the number of hits of each, and true for a group without a value.
    group: Option<(String, usize, usize, bool)>,
    count: bool,
    /// The fields whose values come with each hit.
    fields: Vec<String>,
    content: bool,
    explain: bool,
    /// The field of snippets, or none for the first that is searched, their length and their number.
    snippets: Option<(Option<String>, usize, usize)>,
}

/// All shards, as those who ask them know them.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeShardSet {
    set: ShardSet,
}

impl NativeShardSet {
    fn question(&self, asked: &ShardQuestion) -> PyResult<ShardQuery> {
        let schema = self.set.schema();
        let (operator, fields) =
            (operator_of(&asked.operator)?, weighted(schema, asked.searched.as_deref())?);
        let query = match asked.is_json {
            true => self.set.parse_json(&fields, &asked.query, operator),
            false => self.set.parse(&fields, &asked.query, operator),
        };
        let order = order_of(schema, &asked.sort).map_err(|error| raise(&error))?;
        let kept = asked.fields.iter().map(|name| kept(schema, name)).collect::<scanns::Result<_>>();
        let snippets = asked.snippets.as_ref().map(|(name, length, count)| {
            let field = match name {
                Some(name) => searched(schema, name)?,
                None => {
                    let default = schema.default_field();
                    let default = default.filter(|main| fields.iter().any(|of| of.field == *main));
                    default.or(fields.first().map(|first| first.field)).unwrap_or_default()
                }
            };
            let options = SnippetOptions { length: *length, fragments: *count, ..SnippetOptions::default() };
            Ok(ShardSnippets { field, options })
        });
        let snippets = snippets.transpose().map_err(|error: scanns::Error| raise(&error))?;
        Ok(ShardQuery {
            model: model_of(&asked.model)?,
            groups: groups_of(schema, asked, &order)?,
            order: match order {
                Order::Score => ShardOrder::Score,
                Order::Key(true) => ShardOrder::Key(KeyOrder::Descending),
                Order::Key(false) => ShardOrder::Key(KeyOrder::Ascending),
                Order::Fields(keys) => ShardOrder::Fields(keys),
            },
            skip: asked.skip,
            count: asked.count,
            aggregations: aggregations_of(schema, &asked.aggregations)?,
            fields: kept.map_err(|error| raise(&error))?,
            show: ShardShow { content: asked.content, explain: asked.explain, snippets },
            ..ShardQuery::new(query.map_err(|error| raise(&error))?, asked.k)
        })
    }
}

fn groups_of(schema: &Schema, asked: &ShardQuestion, order: &Order) -> PyResult<Option<GroupBy>> {
    let Some((name, groups, hits, missing)) = &asked.group else { return Ok(None) };
    let keys = match order {
        Order::Score => Vec::new(),
        Order::Fields(keys) => keys.clone(),
        Order::Key(_) => {
            let what = "groups in the order of keys cannot be shown: sort by score or by columns";
            return Err(exception("UnsupportedError", what));
        }
    };
    let field = column(schema, name).map_err(|error| raise(&error))?;
    Ok(Some(GroupBy { field, keys, groups: *groups, hits: *hits, missing: *missing }))
}

#[pymethods]
impl NativeShardSet {
    /// Takes the descriptions of all shards, in the order of documents.
    #[new]
    fn new(descriptions: Vec<Vec<u8>>) -> PyResult<Self> {
        let set = ShardSet::new(&descriptions).map_err(|error| raise(&error))?;
        Ok(NativeShardSet { set })
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.set.documents()
    }

    fn __len__(&self) -> usize {
        self.set.shards()
    }

    /// The names of fields and of their types, in their order.
    fn fields(&self) -> Vec<(String, &'static str)> {
        let fields = self.set.schema().fields();
        fields.map(|(_, entry)| (entry.name.clone(), entry.kind.name())).collect()
    }

    /// The message that gives shards the schema of all shards.
    fn schema_message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let message = self.set.schema_message().map_err(|error| raise(&error))?;
        Ok(PyBytes::new(py, &message))
    }

    /// Begins a search with several questions.
    fn search(&self, questions: Vec<ShardQuestion>, allow_missing: bool) -> PyResult<NativeShardSearch> {
        let queries = questions.iter().map(|one| self.question(one)).collect::<PyResult<Vec<_>>>()?;
        let fields = questions.into_iter().map(|one| one.fields).collect();
        let mut search = self.set.search(queries).map_err(|error| raise(&error))?;
        if allow_missing {
            search = search.allow_missing();
        }
        let state = Mutex::new(Some(search));
        Ok(NativeShardSearch { schema: self.set.schema().clone(), fields, state })
    }
}

/// A search over several shards.
#[pyclass(frozen, module = "scanns._native")]
pub struct NativeShardSearch {
    schema: Schema,
    /// The requested fields of each question.
    fields: Vec<Vec<String>>,
    /// `None` once it is finished.
    state: Mutex<Option<ShardSearch>>,
}

impl NativeShardSearch {
    fn state(&self) -> MutexGuard<'_, Option<ShardSearch>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finished() -> PyErr {
    exception("UnsupportedError", "this search is finished: begin another one")
}

#[pymethods]
impl NativeShardSearch {
    /// The next message to all shards; `None` if everything is known.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let message = match &*self.state() {
            Some(search) => search.next().map_err(|error| raise(&error))?,
            None => return Err(finished()),
        };
        Ok(message.map(|message| PyBytes::new(py, &message)))
    }

    /// Takes the answers of all shards to the last message, in their order; a string says why there is none.
    fn take(&self, py: Python<'_>, answers: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let one = |answer: Bound<'_, PyAny>| match answer.cast::<PyBytes>() {
            Ok(bytes) => Ok(Ok(bytes.as_bytes().to_vec())),
            Err(_) => Ok(Err(String::from_utf8_lossy(&bytes_of(&answer)?).into_owned())),
        };
        let answers = answers.into_iter().map(one).collect::<PyResult<Vec<_>>>()?;
        // The lock is taken without the interpreter, so that no thread waits for both.
        let taken = detached(py, || {
            self.state().as_mut().map(|search| search.take(answers)).transpose().map(|taken| taken.is_some())
        })?;
        if taken { Ok(()) } else { Err(finished()) }
    }

    /// The answers to all questions. `several` are the fields of which a document may have several values.
    fn finish<'py>(&self, py: Python<'py>, several: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        let search = self.state().take().ok_or_else(finished)?;
        let found = detached(py, || search.finish())?;
        let all = PyList::empty(py);
        for (answer, fields) in found.into_iter().zip(&self.fields) {
            let hits = |hits| {
                let (schema, several) = (self.schema.clone(), several.clone());
                NativeShardHits { schema, fields: fields.clone(), several, hits }
            };
            all.append(answer_dict(py, answer, &hits)?)?;
        }
        Ok(all)
    }
}

fn answer_dict<'py>(
    py: Python<'py>,
    answer: ShardAnswer,
    hits: &dyn Fn(Vec<scanns::shards::ShardHit>) -> NativeShardHits,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("count", answer.count)?;
    dict.set_item("aggregated", answers(py, &answer.aggregated)?)?;
    dict.set_item("partial", answer.is_cut)?;
    let missing = answer.missing.into_iter().map(|one| (one.shard, one.name, one.reason));
    dict.set_item("missing", missing.collect::<Vec<_>>())?;
    dict.set_item("hits", Bound::new(py, hits(answer.hits))?)?;
    let Some(groups) = answer.groups else { return Ok(dict) };
    let list = PyList::empty(py);
    for group in groups.groups {
        list.append((optional(py, group.value.as_ref())?, group.count, Bound::new(py, hits(group.hits))?))?;
    }
    dict.set_item("groups", (list, groups.total, groups.missing))?;
    Ok(dict)
}
