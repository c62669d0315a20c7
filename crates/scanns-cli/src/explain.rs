//! Prints explanations of scores: as indented lines, one for each part, or as a tree of JSON.

use std::io::Write;

use scanns::search::Explanation;
use serde_json::{Value, json};

use crate::output::Output;
use crate::quoting::harmless;
use crate::report::short_float;

/// Prints an explanation below its hit; each line begins with the value of a part.
pub fn print(out: &mut Output, explanation: &Explanation) -> std::io::Result<()> {
    for line in explanation.to_string().lines() {
        writeln!(out, "      {}", harmless(line))?;
    }
    Ok(())
}

/// An object with `value`, `description` and, if there are any, `details`, which are such objects again.
pub fn json(explanation: &Explanation) -> Value {
    let Explanation { value, description, details } = explanation;
    let mut object = json!({ "value": short_float(*value), "description": description });
    if let (false, Some(object)) = (details.is_empty(), object.as_object_mut()) {
        object.insert("details".into(), details.iter().map(json).collect());
    }
    object
}
