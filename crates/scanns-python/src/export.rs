//! The values of all documents that match, as a stream of record batches.
//!
//! A thread reads ahead by a few batches, and ends when nobody wants more. Taking batches needs no
//! interpreter.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use scanns::columns::{BatchField, BatchOptions, BatchVisit};
use scanns::schema::Schema;
use scanns::shards::Shard;
use scanns::{Error, Query};
use scanns_arrow::{ColumnLayout, record_batch, schema_of};

use crate::core::CoreRef;
use crate::fields::{KEY, kept, layout_in, layout_of};
use crate::guard::{Opener, next_of};

/// Batches that may wait to be taken.
const AHEAD: usize = 2;

/// Where documents come from.
pub enum ExportSource {
    /// The documents of an index that match a query.
    Index { core: CoreRef, query: Arc<Query> },
    /// The documents of a shard that match the query of a message to shard `number`. `several` are the fields
    /// of which a document of some shard may have several values.
    Shard { shard: Arc<Shard>, number: usize, message: Vec<u8>, several: Vec<String> },
}

impl ExportSource {
    fn schema(&self) -> &Schema {
        match self {
            ExportSource::Index { core, .. } => core.snapshot.schema(),
            ExportSource::Shard { shard, .. } => shard.snapshot().schema(),
        }
    }

    fn layout(&self, name: &str) -> scanns::Result<ColumnLayout> {
        match self {
            ExportSource::Index { core, .. } => layout_of(&core.snapshot, name),
            ExportSource::Shard { several, .. } => {
                layout_in(self.schema(), name, |_| several.iter().any(|known| known == name))
            }
        }
    }

    fn for_each_batch(
        &self,
        fields: &[BatchField],
        options: &BatchOptions,
        visit: &mut BatchVisit<'_>,
    ) -> scanns::Result<()> {
        match self {
            ExportSource::Index { core, query } => {
                core.snapshot.for_each_batch(query, fields, options, visit)
            }
            ExportSource::Shard { shard, number, message, .. } => {
                shard.for_each_batch(*number, message, fields, options, visit)
            }
        }
    }
}

/// What to export.
pub struct ExportRequest {
    pub source: ExportSource,
    pub names: Vec<String>,
    /// The names of text columns to export as bytes.
    pub binary: Vec<String>,
    /// The maximum number of rows of a batch.
    pub rows: usize,
}

type Sent = Result<RecordBatch, ArrowError>;

/// The batches of an export, as they are read.
pub struct ExportReader {
    schema: SchemaRef,
    batches: Receiver<Sent>,
    opener: Opener,
}

impl ExportReader {
    /// Starts an export.
    ///
    /// # Errors
    /// A field is unknown, or the system refuses a thread.
    pub fn start(request: ExportRequest) -> scanns::Result<Self> {
        let layouts = request.names.iter().map(|name| request.source.layout(name));
        let mut layouts = layouts.collect::<scanns::Result<Vec<_>>>()?;
        for layout in &mut layouts {
            layout.binary = request.binary.contains(&layout.name);
        }
        let field = |name: &String| match name.as_str() {
            KEY => Ok(BatchField::Key),
            name => kept(request.source.schema(), name).map(BatchField::Values),
        };
        let fields = request.names.iter().map(field).collect::<scanns::Result<Vec<_>>>()?;
        let schema = schema_of(&layouts);
        let (sender, batches) = sync_channel(AHEAD);
        let reader = ExportReader { schema: Arc::clone(&schema), batches, opener: Opener::current() };
        let work = move || {
            let sent = send(&request, &fields, &layouts, &schema, &sender);
            if let Err(error) = sent {
                // Nobody is told if nobody listens.
                let _ = sender.send(Err(ArrowError::ExternalError(Box::new(error))));
            }
        };
        std::thread::Builder::new().name("scanns export".into()).spawn(work).map_err(|source| {
            Error::System { action: "start a thread", source, remedy: "raise the limit on processes" }
        })?;
        Ok(reader)
    }
}

/// Reads and sends batches until nobody takes them.
fn send(
    request: &ExportRequest,
    fields: &[BatchField],
    layouts: &[ColumnLayout],
    schema: &SchemaRef,
    sender: &SyncSender<Sent>,
) -> scanns::Result<()> {
    // The size of a batch counts in rows alone for small values.
    let options = BatchOptions { rows: request.rows, bytes: 32 << 20, ..BatchOptions::default() };
    request.source.for_each_batch(fields, &options, &mut |batch| {
        let converted = record_batch(schema, layouts, batch.columns).map_err(|error| match error {
            scanns_arrow::ConversionError::NotUnicode(place) => {
                let name = layouts.get(place).map_or("", |layout| layout.name.as_str());
                let hint = format!(
                    "field '{name}' has a text that is not valid UTF-8: name it in binary= to get bytes"
                );
                ArrowError::InvalidArgumentError(hint)
            }
            error => ArrowError::ExternalError(Box::new(error)),
        });
        let is_last = converted.is_err();
        let went = sender.send(converted).is_ok();
        Ok(if went && !is_last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })
}

impl Iterator for ExportReader {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        if !self.opener.is_current() {
            let forked = "an export cannot go on in a forked process: export again there";
            return Some(Err(ArrowError::InvalidArgumentError(forked.into())));
        }
        match next_of(&self.batches) {
            Ok(batch) => batch,
            Err(interrupted) => Some(Err(ArrowError::ComputeError(interrupted.into()))),
        }
    }
}

impl RecordBatchReader for ExportReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
