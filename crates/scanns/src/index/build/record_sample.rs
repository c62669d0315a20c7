//! Samples of records, from which fields and the dialect of CSV are inferred.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicBool;

use super::collection_fields::collection_fields;
use super::options::IndexOptions;
use crate::content::{ContentOptions, Extraction, RowsFormat};
use crate::error::{Error, Result};
use crate::read::{TextReading, records_of_file, text_of_start};
use crate::record::{
    COLLECTIONS, CsvDialect, CsvSniffer, FieldFigures, FileFormat, Inference, Inferred, RecordCounts,
    RecordFormat, Sources,
};
use crate::schema::{FieldKind, Records, Schema};
use crate::source::{Failure, Input, Inputs, SortedInputs, collect};

/// Total bytes of the sample from which a schema is inferred.
const SAMPLE: usize = 4 << 20;

/// Bytes of the first file to sample instead if the usual sample has no complete record.
const LARGE_SAMPLE: usize = 64 << 20;

/// Bytes of each file of the sample from which the dialect of CSV is inferred.
const DIALECT_SAMPLE: usize = 128 << 10;

/// Number of files in a sample.
const SAMPLE_FILES: u64 = 16;

/// The beginning of an input.
struct Beginning {
    text: Vec<u8>,
    /// True if the text is the whole input.
    is_whole: bool,
}

/// A few of the inputs, spread over the list.
#[derive(Debug)]
pub(crate) struct InputSample {
    /// At most 16, among them the first.
    inputs: Vec<Input>,
    /// The number of all inputs.
    count: u64,
}

impl InputSample {
    pub(crate) fn of(inputs: &[Input]) -> Self {
        let count = inputs.len() as u64;
        let step = usize::try_from(Self::step(count)).unwrap_or(usize::MAX);
        InputSample { inputs: inputs.iter().step_by(step).cloned().collect(), count }
    }

    /// A sample of sorted inputs.
    pub(crate) fn of_sorted(sorted: &SortedInputs) -> Result<Self> {
        let (step, mut number, mut inputs) = (Self::step(sorted.count), 0, Vec::new());
        let mut cursor = sorted.read()?;
        while let Some(file) = cursor.next_file()? {
            if number % step == 0 {
                inputs.push(file.input());
            }
            number += 1;
        }
        Ok(InputSample { inputs, count: sorted.count })
    }

    /// The distance between the inputs of a sample of `count`.
    fn step(count: u64) -> u64 {
        count.div_ceil(SAMPLE_FILES).max(1)
    }

    /// The first input alone.
    fn first(&self) -> Self {
        InputSample { inputs: self.inputs.first().cloned().into_iter().collect(), count: self.count.min(1) }
    }
}

/// The beginnings of the inputs of a sample, `most` bytes of each.
fn beginnings<'a>(
    sample: &'a InputSample,
    options: &'a IndexOptions,
    most: usize,
) -> impl Iterator<Item = (&'a Input, io::Result<Beginning>)> {
    let contents = options.contents.unwrap_or_default();
    let contents = ContentOptions { skip_binary: false, extract: Extraction::None, ..contents };
    let reading = TextReading { contents, collections: &COLLECTIONS };
    let tables = options.read.tables.in_index(options.records, options.stored.store.unwrap_or_default());
    sample.inputs.iter().map(move |input| {
        // One byte more tells whether the sample is the whole text.
        let text = match &options.read.stream {
            Some(stream) if input.is_stream() => stream.start(most + 1).and_then(|start| {
                tables.refuse(RowsFormat::of(&start), "standard input")?;
                Ok(text_of_start(&start, contents, most + 1))
            }),
            _ => File::open(&input.path)
                .and_then(|mut file| records_of_file(&mut file, reading, &tables, most as u64 + 1)),
        };
        let beginning = text.map(|mut text| {
            let is_whole = text.len() <= most;
            text.truncate(most);
            Beginning { text, is_whole }
        });
        (input, beginning)
    })
}

/// Infers a schema from a sample of the inputs. A build infers the same schema if there is no index yet and
/// no schema is given.
///
/// # Errors
/// Returns an error if the inputs cannot be collected, or if the sample has no value.
pub fn infer_fields(options: &IndexOptions, cancel: &AtomicBool) -> Result<Inferred> {
    if let Some((schema, sources)) = collection_fields(options, options.fields.key.as_deref())? {
        let figures = schema.fields().map(|_| FieldFigures::default()).collect();
        return Ok(Inferred {
            schema,
            sources,
            figures,
            left_out: Vec::new(),
            counts: RecordCounts::default(),
        });
    }
    let Inputs { inputs, failures, .. } = collect(&options.source, cancel)?;
    if let (true, Some(Failure { path, reason })) = (inputs.is_empty(), failures.first()) {
        return Err(Error::NoInput { what: format!("{}: {reason}", path.display()) });
    }
    let inputs = InputSample::of(&inputs);
    infer(&inputs, options, &sniff(&inputs, options, None))
}

/// Finds out from a sample of the inputs how rows of CSV are written. `sources` are the names of known
/// fields.
pub(super) fn sniff(inputs: &InputSample, options: &IndexOptions, sources: Option<&Sources>) -> CsvDialect {
    if options.records != Records::Csv {
        return CsvDialect::default();
    }
    let mut sniffer = CsvSniffer::new(&options.fields.csv);
    if let Some(sources) = sources {
        sniffer.expect(sources);
    }
    for (_, beginning) in beginnings(inputs, options, DIALECT_SAMPLE) {
        if let Ok(beginning) = beginning {
            sniffer.sample(&beginning.text, beginning.is_whole);
        }
    }
    sniffer.dialect()
}

/// Infers a schema, and sets the analyzer and postings of its text fields to those of the options.
pub(super) fn infer(inputs: &InputSample, options: &IndexOptions, csv: &CsvDialect) -> Result<Inferred> {
    let format = match options.records {
        Records::Csv => FileFormat::Csv(csv.clone()),
        _ => FileFormat::Json,
    };
    let files = usize::try_from(inputs.count.clamp(1, SAMPLE_FILES)).unwrap_or(1);
    let mut inferred = sample(inputs, &format, options, SAMPLE / files);
    if inferred.is_err() {
        inferred = sample(&inputs.first(), &format, options, LARGE_SAMPLE);
    }
    let mut inferred = inferred.map_err(|error| match why_empty(inputs, &format, options) {
        Some(what) => Error::NoInput { what },
        None => error,
    })?;
    let mut schema = Schema::new();
    for (_, entry) in inferred.schema.fields() {
        let mut entry = entry.clone();
        if let FieldKind::Text { analyzer, postings } = &mut entry.kind {
            *analyzer = options.analyzer.clone().unwrap_or_else(|| analyzer.clone());
            *postings = options.postings.unwrap_or(*postings);
        }
        schema.add(entry)?;
    }
    inferred.schema = schema;
    Ok(inferred)
}

/// Says why the first input of a sample has no values.
fn why_empty(inputs: &InputSample, format: &FileFormat, options: &IndexOptions) -> Option<String> {
    let (input, beginning) = beginnings(inputs, options, SAMPLE).next()?;
    let why = match beginning {
        Err(error) => format!("it cannot be read: {error}"),
        Ok(Beginning { text, .. }) if text.is_empty() && input.bytes == 0 => "it is empty".into(),
        Ok(Beginning { text, .. }) if text.is_empty() => "it has no text".into(),
        Ok(Beginning { text, is_whole }) => {
            let mut inference = Inference::new(RecordFormat::Json);
            let read = inference.sample(format, &text, is_whole);
            match (read, inference.counts().malformed_examples().first()) {
                (Err(error), _) => format!("the first row has no names of columns: {error}"),
                (Ok(()), Some(first)) => {
                    format!("no record can be read, the first one is malformed: {}", first.error)
                }
                // With values, something else is wrong.
                (Ok(()), None) if inference.counts().documents() > 0 => match inference.finish() {
                    Ok(_) => return None,
                    Err(_) => "no record has a value".into(),
                },
                (Ok(()), None) if matches!(format, FileFormat::Csv(_)) => {
                    "there are no rows below the header".into()
                }
                (Ok(()), None) => "all lines are blank".into(),
            }
        }
    };
    let others = match inputs.count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more files without values)"),
    };
    Some(format!("{}: {why}{others}", input.path.display()))
}

/// Infers from the first `most` bytes of files spread over the list of inputs. The build reports files that
/// cannot be read or have no header.
fn sample(
    inputs: &InputSample,
    format: &FileFormat,
    options: &IndexOptions,
    most: usize,
) -> Result<Inferred> {
    let mut inference = Inference::new(RecordFormat::Json);
    options.fields.key.iter().for_each(|key| inference.set_key(key));
    for (_, beginning) in beginnings(inputs, options, most) {
        if let Ok(Beginning { text, is_whole }) = beginning {
            let _ = inference.sample(format, &text, is_whole);
        }
    }
    inference.finish()
}
