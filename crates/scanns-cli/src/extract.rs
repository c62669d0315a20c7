//! `scanns extract`: what a build finds in files, and the processes that find it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use scanns::extraction::{ExtractFailure, Extracted, Extractors};
use scanns::sources::{ContentOptions, text_of_file};
use serde_json::{Map, Value, json};

use crate::args::ExtractArgs;
use crate::index::contents::extractors;
use crate::output::Output;
use crate::report::{self, Outcome};

/// Runs the verb.
pub fn run(args: &ExtractArgs) -> Result<Outcome> {
    if args.serve {
        scanns_extract::serve().context("scanns extract --serve is only for scanns itself")?;
        return Ok(Outcome::Done);
    }
    #[cfg(feature = "arrow")]
    if let Some(memory) = args.rows {
        let is_whole = scanns_extract::rows::convert_rows(memory)?;
        return Ok(if is_whole { Outcome::Done } else { Outcome::WithFailures });
    }
    let extractors = extractors(args.limits, 1);
    let mut out = Output::stdout();
    let mut outcome = Outcome::Done;
    for path in &args.files {
        match found_in(path, &extractors) {
            Ok(found) if args.json => print_json(&mut out, path, &found)?,
            Ok(found) => print(&mut out, path, &found)?,
            Err(error) => {
                report::note(&format!("{}: {error:#}", report::path_text(path)));
                outcome = Outcome::WithFailures;
            }
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// The text and the fields of a file. Text and web pages have no fields here.
fn found_in(path: &Path, extractors: &Extractors) -> Result<Extracted> {
    let mut file = File::open(path)?;
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    match extractors.extract(file.as_fd(), name, &AtomicBool::new(false)) {
        Err(ExtractFailure::NotADocument) => {
            let contents = ContentOptions::default();
            let text = text_of_file(&mut file, contents, 0, 64 << 20)?;
            Ok(Extracted { format: "text".into(), text, fields: Vec::new(), cut: false })
        }
        found => Ok(found?),
    }
}

fn print(out: &mut Output, path: &Path, found: &Extracted) -> Result<()> {
    writeln!(out, "{}: {}", report::path_text(path), found.format)?;
    for (name, value) in &found.fields {
        writeln!(out, "{name}: {value}")?;
    }
    writeln!(out)?;
    out.write_all(&found.text)?;
    if !found.text.ends_with(b"\n") {
        writeln!(out)?;
    }
    if found.cut {
        report::note(&format!("{}: its text is too long and was cut", report::path_text(path)));
    }
    Ok(())
}

fn print_json(out: &mut Output, path: &Path, found: &Extracted) -> Result<()> {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in &found.fields {
        let values = fields.entry(name).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(json!(value));
        }
    }
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", path.as_os_str().as_encoded_bytes());
    object.insert("format".into(), json!(found.format));
    object.insert("fields".into(), fields.into());
    object.insert("cut".into(), json!(found.cut));
    report::put_bytes(&mut object, "text", &found.text);
    writeln!(out, "{}", Value::Object(object))?;
    Ok(())
}
