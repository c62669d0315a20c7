use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::oracle::text_of;
use super::*;

const NOTEBOOK_4: &str = r##"{
 "cells": [
  {"attachments": {"i.png": {"image/png": "QUJD"}}, "cell_type": "markdown", "id": "a", "metadata": {},
   "source": ["# Sea *ice*\n", "\n", "Extent. ![i](attachment:i.png)"]},
  {"cell_type": "code", "execution_count": 1, "metadata": {"tags": ["x"]}, "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["one\n", "two\n"]},
    {"data": {"application/json": {"a": [1]}, "image/png": "iVBORw0KGgo=", "text/html": ["<b>no</b>"],
      "text/markdown": "**md**", "text/plain": ["<Figure>"]}, "metadata": {}, "output_type": "display_data"},
    {"ename": "ValueError", "evalue": "bad \u00e9", "output_type": "error",
      "traceback": ["\u001b[0;31m---\u001b[0m", "\u001b[0;31mValueError\u001b[0m: bad"]}],
   "source": "import numpy as np"},
  {"cell_type": "raw", "metadata": {}, "source": []}
 ],
 "metadata": {"authors": [{"name": "Ann"}, "Ben", {"email": "c"}],
  "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
  "language_info": {"codemirror_mode": {"name": "ipython"}, "name": "Python", "version": "3.11"},
  "widgets": {"state": [NaN, Infinity, -1e9]}},
 "nbformat": 4, "nbformat_minor": 5
}"##;

const NOTEBOOK_3: &str = r##"{"metadata": {"name": "old"}, "nbformat": 3, "nbformat_minor": 0,
 "worksheets": [{"cells": [
  {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Tides\n", "more"]},
  {"cell_type": "code", "collapsed": false, "input": ["2 + 2"], "language": "python",
   "metadata": {}, "outputs": [
   {"metadata": {}, "output_type": "pyout", "png": "iVBORw0", "prompt_number": 1, "text": ["4"]},
   {"ename": "KeyError", "evalue": "'k'", "output_type": "pyerr", "traceback": ["t"]}], "prompt_number": 1}],
  "metadata": {}}]}"##;

type Found = (String, Vec<(&'static str, String)>, bool, Result<(), ExtractError>);

fn read(bytes: &[u8], most: usize) -> Found {
    let mut out = Output::new(most, 20);
    let result = extract(&mut Cursor::new(bytes), &mut out);
    let (text, fields, is_cut) = out.into_parts();
    (text, fields, is_cut, result)
}

fn owned(fields: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

#[test]
fn a_notebook_gives_its_cells_in_order_with_their_outputs() {
    let (text, fields, is_cut, result) = read(NOTEBOOK_4.as_bytes(), 1 << 20);
    assert!(result.is_ok() && !is_cut, "{result:?}");
    let expected = "# Sea *ice*\n\nExtent. ![i](attachment:i.png)\nimport numpy as np\none\ntwo\n\
        **md**\n<Figure>\n\
        ValueError: bad \u{e9}\n---\nValueError: bad\n";
    assert_eq!(text, expected);
    let expected = [
        ("title", "Sea *ice*"),
        ("author", "Ann"),
        ("author", "Ben"),
        ("attr", "kernel=python3"),
        ("attr", "code=python"),
    ];
    assert_eq!(fields, owned(&expected));
}

#[test]
fn older_notebooks_have_worksheets() {
    let (text, fields, _, result) = read(NOTEBOOK_3.as_bytes(), 1 << 20);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(text, "Tides\nmore\n2 + 2\n4\nKeyError: 'k'\nt\n");
    assert_eq!(fields, owned(&[("title", "Tides"), ("attr", "code=python")]));
}

#[test]
fn a_title_in_the_metadata_comes_first_and_an_old_name_last() {
    let title = br##"{"metadata": {"title": "T"}, "cells": [{"cell_type": "markdown", "source": "# H"}]}"##;
    assert_eq!(read(title, 99).1, owned(&[("title", "T")]));
    assert_eq!(read(br#"{"metadata": {"name": "N"}, "worksheets": []}"#, 99).1, owned(&[("title", "N")]));
}

#[test]
fn text_over_the_limit_is_cut_and_the_fields_after_it_are_found() {
    let (whole, fields, ..) = read(NOTEBOOK_4.as_bytes(), 1 << 20);
    for most in 0..whole.len() + 2 {
        let (text, found, is_cut, result) = read(NOTEBOOK_4.as_bytes(), most);
        assert!(result.is_ok() && whole.starts_with(&text), "{most}");
        // With no room at all, no cell is read.
        assert!(is_cut == (text.len() < whole.len()) || whole.is_char_boundary(most), "{most}");
        let same = fields.len() - usize::from(most == 0);
        assert_eq!(found.len(), same, "{most}");
    }
}

#[test]
fn a_notebook_that_is_cut_off_gives_what_came_before() {
    let (whole, ..) = read(NOTEBOOK_4.as_bytes(), 1 << 20);
    let mut longest = 0;
    for end in 0..NOTEBOOK_4.len() {
        let (text, _, _, result) = read(&NOTEBOOK_4.as_bytes()[..end], 1 << 20);
        assert!(result.is_err(), "{end}");
        longest = longest.max(text.len());
    }
    assert_eq!(longest, whole.len());
}

#[test]
fn a_byte_order_mark_is_passed_over_and_other_values_are_errors() {
    let marked = format!("\u{feff}{NOTEBOOK_3}");
    assert_eq!(read(marked.as_bytes(), 99).0, read(NOTEBOOK_3.as_bytes(), 99).0);
    for text in ["", "[]", "1", "\"cells\"", "{\"cells\""] {
        assert!(read(text.as_bytes(), 99).3.is_err(), "{text}");
    }
}

#[test]
fn deep_values_are_errors_and_shallow_ones_of_the_wrong_kind_are_passed_over() {
    let deep = format!("{{\"cells\": [{{\"source\": {}", "[".repeat(1 << 20));
    assert!(read(deep.as_bytes(), 99).3.is_err_and(|error| error.to_string().contains("too deep")));
    let odd = br#"{"cells": [1, [], {"source": {"a": []}, "outputs": [2, {"text": 3, "data": [],
        "traceback": ["t", [
        "u"]]}]}], "metadata": {"title": [], "authors": "x", "kernelspec": 3, "language_info": []}}"#;
    let (text, fields, _, result) = read(odd, 99);
    assert!(result.is_ok());
    assert_eq!((text.as_str(), fields.len()), ("t\nu\n", 0));
}

#[test]
fn a_large_image_takes_no_memory_and_little_time() {
    let image =
        format!("{{\"cells\": [{{\"outputs\": [{{\"data\": {{\"image/png\": \"{}\"", "iVBO".repeat(4 << 20));
    let rest = "}}], \"source\": \"end\"}]}";
    let (text, ..) = read(format!("{image}{rest}").as_bytes(), 9);
    assert_eq!(text, "end\n");
}

/// A random notebook in the order of keys that the library of Jupyter writes.
fn random_notebook(random: &mut fastrand::Rng) -> Value {
    let letters = ["a", "\u{e9}", "\n", "\"", "\\", "# ", "\u{1f600}", "\u{1b}[1m", " ", "```\n", ";base64,"];
    let text = |random: &mut fastrand::Rng| {
        let part = |random: &mut fastrand::Rng| {
            (0..random.usize(..6)).map(|_| letters[random.usize(..letters.len())]).collect::<String>()
        };
        match random.u8(..8) {
            0 => Value::from(random.i32(..)),
            1..4 => (0..random.usize(..4)).map(|_| Value::from(part(random))).collect(),
            _ => Value::from(part(random)),
        }
    };
    let object = |random: &mut fastrand::Rng, keys: &[&str]| -> Value {
        let some: Vec<_> = keys.iter().filter(|_| random.u8(..4) > 0).collect();
        some.into_iter().map(|key| ((*key).to_owned(), text(random))).collect()
    };
    let mut cells = Vec::new();
    for _ in 0..random.usize(..5) {
        let mut cell = object(random, &["cell_type", "execution_count", "source"]);
        let mut outputs = Vec::new();
        for _ in 0..random.usize(..4) {
            let mut output = object(random, &["ename", "evalue", "text", "traceback"]);
            output["data"] = object(random, &["image/png", "text/html", "text/markdown", "text/plain"]);
            outputs.push(output);
        }
        cell["outputs"] = outputs.into();
        cells.push(cell);
    }
    let mut notebook = object(random, &["nbformat"]);
    notebook["cells"] = cells.into();
    sorted(notebook)
}

/// The value with the keys of all objects in order, whether or not the library keeps another order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(key, value)| (key, sorted(value)));
            members.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        Value::Array(values) => values.into_iter().map(sorted).collect(),
        other => other,
    }
}

#[test]
fn random_notebooks_give_what_the_oracle_gives() {
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let notebook = random_notebook(&mut random);
        let written = if random.bool() { notebook.to_string() } else { format!("{notebook:#}") };
        let (text, _, _, result) = read(written.as_bytes(), 1 << 20);
        assert!(result.is_ok(), "seed {seed}: {result:?}");
        assert_eq!(text, text_of(&notebook), "seed {seed}");
    }
}

#[test]
fn changed_notebooks_give_no_panic_and_what_json_allows_is_read() {
    let rounds = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let samples = [NOTEBOOK_4.replace("NaN, Infinity, ", ""), NOTEBOOK_3.to_owned()];
    let mut sound = 0;
    for round in 0..rounds {
        let mut bytes = samples[round % 2].clone().into_bytes();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at] = br#"{}[]",:\u0"#[random.usize(..10)],
                2 => drop(bytes.drain(at..(at + random.usize(1..9)).min(bytes.len()))),
                _ => bytes.insert(at, random.u8(b' '..127)),
            }
        }
        let (text, _, _, result) = read(&bytes, 1 << 20);
        if let Ok(notebook) = serde_json::from_slice::<Value>(&bytes) {
            // Keys may be repeated or in another order now: the tree does not have the text of both.
            sound += 1;
            assert!(
                result.is_ok() || !notebook.is_object(),
                "{result:?}: {}",
                String::from_utf8_lossy(&bytes)
            );
            let expected = text_of(&notebook);
            assert!(text == expected || text.len() >= expected.len(), "{}", String::from_utf8_lossy(&bytes));
        }
    }
    assert!(sound > rounds / 20, "{sound} of {rounds}");
}

/// The least of three times of reading a notebook of one cell.
fn time_of(source: &str, outputs: &str) -> Duration {
    let notebook = format!(
        "{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": \"{source}\", \"outputs\": [{outputs}]}}]}}"
    );
    let time = |_| {
        let begin = Instant::now();
        assert!(read(notebook.as_bytes(), 1 << 26).3.is_ok());
        begin.elapsed()
    };
    (0..3).map(time).min().unwrap()
}

#[test]
fn time_is_linear_in_the_length_of_hostile_texts() {
    let part = ["data:;base64,", "\\u001b]", "\\u001b[1", "```\\n", "# \\n", "\\ud800", "=\\n", "- * # `` "];
    for part in part {
        let outputs = |count| format!("{{\"text\": [{}\"\"]}}", format!("\"{part}\",").repeat(count));
        let time = |count: usize| time_of(&part.repeat(count), &outputs(count));
        let (short, long) = (time(4_000), time(64_000));
        assert!(long < short * 16 * 8 + Duration::from_millis(50), "{part}: {short:?} {long:?}");
    }
}
