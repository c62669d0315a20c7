//! A slow extraction from a tree of the whole notebook, to compare with.

use serde_json::Value;

use super::cleaning::{without_data, without_escapes};

/// The text of a notebook.
pub(super) fn text_of(notebook: &Value) -> String {
    let mut text = String::new();
    let sheets =
        notebook["worksheets"].as_array().into_iter().flatten().flat_map(|sheet| cells(&sheet["cells"]));
    for cell in cells(&notebook["cells"]).chain(sheets) {
        let source = joined(cell.get("source").or(cell.get("input")).unwrap_or(&Value::Null), "");
        if !source.is_empty() {
            text += without_data(&source).trim_end_matches('\n');
            text.push('\n');
        }
        let mut outputs = String::new();
        for output in cells(&cell["outputs"]) {
            output_text(output, &mut outputs);
        }
        text += &without_escapes(&outputs);
    }
    text
}

fn output_text(output: &Value, text: &mut String) {
    // The order of the library of Jupyter, which sorts keys.
    for media_type in ["text/markdown", "text/plain"] {
        line(&joined(&output["data"][media_type], ""), text);
    }
    if !output["ename"].is_null() {
        *text += &joined(&output["ename"], "");
        *text += ": ";
    }
    line(&joined(&output["evalue"], ""), text);
    line(&joined(&output["text"], ""), text);
    for part in cells(&output["traceback"]) {
        line(&joined(part, ""), text);
    }
}

fn line(part: &str, text: &mut String) {
    *text += part;
    if !part.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn cells(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn joined(value: &Value, between: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between),
        _ => String::new(),
    }
}
