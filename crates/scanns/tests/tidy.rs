//! The rules that every source file of the workspace keeps, checked where they would otherwise be forgotten.
//!
//! A room imports only rooms to its left; files and functions stay short enough to be read at once; a module
//! says what lives in it; `unsafe` is argued; nothing is left to be done later. A line `// tidy: reason` above
//! an item, or at the head of a file for its length, excuses it. The canary below is text that breaks every
//! rule: if the checks let it pass, they check nothing.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

#[path = "tidy/layers.rs"]
mod layers;

use std::fmt;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const LINES_PER_FILE: usize = 500;
const LINES_PER_FUNCTION: usize = 70;

/// How far above an `unsafe` its reason may begin.
const LINES_TO_SAFETY: usize = 8;

/// A rule broken at a line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    file: PathBuf,
    line: usize,
    rule: &'static str,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}: {}", self.file.display(), self.line, self.rule, self.what)
    }
}

/// A source file under the checks.
struct Source<'a> {
    path: &'a Path,
    lines: Vec<&'a str>,
    findings: Vec<Finding>,
}

impl Source<'_> {
    /// Records a broken rule, unless the line or the comment above it gives a reason.
    fn report(&mut self, line: usize, rule: &'static str, what: impl Into<String>) {
        if !self.excused(line) {
            self.findings.push(Finding { file: self.path.into(), line, rule, what: what.into() });
        }
    }

    /// True if the comments and attributes right above `line`, or its own end, have a `// tidy: reason`.
    fn excused(&self, line: usize) -> bool {
        let own = self.lines.get(line - 1).is_some_and(|text| excuse(text));
        let above = self.lines[..line.saturating_sub(1).min(self.lines.len())].iter().rev();
        own || above.take_while(|text| is_aside(text)).any(|text| excuse(text))
    }

    /// True if the comments at the head of the file have a `// tidy: reason`.
    fn excused_as_a_whole(&self) -> bool {
        self.lines.iter().take_while(|text| is_aside(text) || text.trim().is_empty()).any(|text| excuse(text))
    }
}

/// True for comments and attributes.
fn is_aside(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || line.starts_with("#[") || line.starts_with("#![")
}

/// True if `line` has an exception with a reason; an empty one excuses nothing.
fn excuse(line: &str) -> bool {
    line.split_once("// tidy:").is_some_and(|(_, reason)| reason.trim().len() > 3)
}

/// All rules on one Rust file; `path` is relative to the workspace.
fn check_rust(path: &Path, text: &str) -> Vec<Finding> {
    let mut source = Source { path, lines: text.lines().collect(), findings: Vec::new() };
    check_length(&mut source);
    check_module_doc(&mut source);
    check_safety(&mut source);
    check_markers(&mut source);
    match syn::parse_file(text) {
        Ok(file) => check_functions(&mut source, &file),
        Err(error) => source.report(error.span().start().line, "syntax", error.to_string()),
    }
    for (line, what) in layers::violations(path, text) {
        source.report(line, "layers", what);
    }
    source.findings
}

fn check_length(source: &mut Source<'_>) {
    let lines = source.lines.len();
    if lines > LINES_PER_FILE && !source.excused_as_a_whole() {
        source.report(
            1,
            "file length",
            format!("{lines} lines, at most {LINES_PER_FILE}: split it by purpose"),
        );
    }
}

/// The unit tests of a room need no doc: they stand beside what they test.
fn check_module_doc(source: &mut Source<'_>) {
    let mut parts = source.path.iter().skip_while(|part| *part != "src");
    if parts.any(|part| part == "tests" || part == "tests.rs") {
        return;
    }
    let first = source.lines.iter().find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
    if !first.is_some_and(|line| line.starts_with("//! ")) {
        source.report(1, "module doc", "the file must begin with //! and say what lives here and why");
    }
}

fn check_safety(source: &mut Source<'_>) {
    for at in 0..source.lines.len() {
        let code = source.lines[at].split("//").next().unwrap_or_default();
        if !["unsafe {", "unsafe impl"].iter().any(|word| code.contains(word)) || code.contains('"') {
            continue;
        }
        let near = &source.lines[at.saturating_sub(LINES_TO_SAFETY)..=at];
        if !near.iter().any(|line| line.contains("// SAFETY: ")) {
            source.report(at + 1, "safety", "unsafe needs a // SAFETY: reason right above it");
        }
    }
}

/// Words that say that something is not finished, spelled so that this file does not contain them.
const MARKERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

fn check_markers(source: &mut Source<'_>) {
    for at in 0..source.lines.len() {
        let words = source.lines[at].split(|c: char| !c.is_alphanumeric());
        if let Some(marker) = words.into_iter().find(|word| MARKERS.contains(word)) {
            source.report(at + 1, "unfinished", format!("{marker}: finish it or leave it out"));
        }
    }
}

fn check_functions(source: &mut Source<'_>, file: &syn::File) {
    let mut lengths = FunctionLengths::default();
    lengths.visit_file(file);
    for (name, start, lines) in lengths.found {
        if lines > LINES_PER_FUNCTION {
            let what = format!("{name} has {lines} lines, at most {LINES_PER_FUNCTION}");
            source.report(start, "function length", what);
        }
    }
}

/// Name, first line and number of lines of every function, from its signature to its closing brace.
#[derive(Default)]
struct FunctionLengths {
    found: Vec<(String, usize, usize)>,
}

impl FunctionLengths {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (start, end) = (signature.span().start().line, block.span().end().line);
        self.found.push((signature.ident.to_string(), start, end + 1 - start));
    }
}

impl<'ast> Visit<'ast> for FunctionLengths {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Rules on text that is not Rust.
fn check_text(path: &Path, text: &str) -> Vec<Finding> {
    let mut source = Source { path, lines: text.lines().collect(), findings: Vec::new() };
    check_markers(&mut source);
    source.findings
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Files below `dir` that have one of these extensions, in order.
fn files(dir: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with(".git") {
            files(&path, extensions, found);
        } else if path.is_file() && extensions.iter().any(|extension| name.ends_with(extension)) {
            found.push(path);
        }
    }
}

fn report(findings: &[Finding]) {
    let text: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert!(text.is_empty(), "{} rules broken:\n{}", text.len(), text.join("\n"));
}

#[test]
fn every_source_file_keeps_the_rules() {
    let root = workspace();
    let mut paths = Vec::new();
    files(&root.join("crates"), &[".rs"], &mut paths);
    assert!(paths.len() > 10, "the sources are not where this test looks for them");
    let check = |path: &PathBuf| {
        check_rust(path.strip_prefix(&root).unwrap(), &std::fs::read_to_string(path).unwrap())
    };
    report(&paths.iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn nothing_else_is_left_unfinished() {
    let root = workspace();
    let mut paths = Vec::new();
    files(&root, &[".md", ".toml", ".sh", ".yml", "Makefile", "run"], &mut paths);
    let check = |path: &PathBuf| {
        check_text(path.strip_prefix(&root).unwrap(), &std::fs::read_to_string(path).unwrap_or_default())
    };
    report(&paths.iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn the_rooms_of_the_layer_rule_are_those_of_the_library() {
    let lib = std::fs::read_to_string(workspace().join("crates/scanns/src/lib.rs")).unwrap();
    let rooms: Vec<_> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let ranks: Vec<_> = rooms.iter().map(|room| layers::rank(room)).collect();
    assert!(ranks.iter().all(Option::is_some), "a room of lib.rs has no place in the order: {rooms:?}");
    assert!(ranks.is_sorted(), "lib.rs lists the rooms in another order: {rooms:?}");
}

/// The rules that `text` breaks as the file `path`, each once.
fn broken(path: &str, text: &str) -> Vec<&'static str> {
    let mut rules: Vec<_> = check_rust(Path::new(path), text).iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn the_canary_breaks_every_rule() {
    let long = "    step();\n".repeat(LINES_PER_FUNCTION);
    let marker = MARKERS[0];
    let canary = format!(
        "use crate::search::Query;\n// {marker}: later\nfn long() {{\n{long}}}\nfn f(p: *const u8) {{\n    \
         unsafe {{ p.read() }};\n}}\n{}",
        "// filler\n".repeat(LINES_PER_FILE)
    );
    assert_eq!(
        broken("crates/scanns/src/codec/canary.rs", &canary),
        ["file length", "function length", "layers", "module doc", "safety", "unfinished"]
    );
}

#[test]
fn a_clean_file_breaks_none() {
    let clean = "//! A room.\nuse crate::error::Error;\n\nfn f(p: *const u8) {\n    // SAFETY: it is valid.\n    \
                 unsafe { p.read() };\n}\n";
    assert_eq!(broken("crates/scanns/src/codec/clean.rs", clean), [""; 0]);
}

#[test]
fn a_reason_excuses_and_an_empty_one_does_not() {
    let steps = "    step();\n".repeat(LINES_PER_FUNCTION);
    let file = |reason: &str| format!("//! A room.\n\n/// Long.\n{reason}\nfn long() {{\n{steps}}}\n");
    let path = "crates/scanns/src/codec/long.rs";
    assert_eq!(broken(path, &file("// tidy: one table, read top down")), [""; 0]);
    assert_eq!(broken(path, &file("// tidy:")), ["function length"]);
    let table =
        format!("//! A table.\n// tidy: one table, read top down\n{}", "// 1\n".repeat(LINES_PER_FILE));
    assert_eq!(broken(path, &table), [""; 0]);
}

#[test]
fn unit_tests_need_no_doc_and_other_files_do() {
    let text = "use super::*;\n";
    assert_eq!(broken("crates/scanns/src/codec/tests.rs", text), [""; 0]);
    assert_eq!(broken("crates/scanns/src/codec/tests/random.rs", text), [""; 0]);
    assert_eq!(broken("crates/scanns/src/codec/random.rs", text), ["module doc"]);
    assert_eq!(broken("crates/scanns/tests/random.rs", text), ["module doc"]);
}

#[test]
fn markers_are_whole_words() {
    let text = format!("mktemp /tmp/{0}{0}\nmethod{1}\n", MARKERS[2], MARKERS[0]);
    assert_eq!(check_text(Path::new("a.sh"), &text), []);
    assert_eq!(check_text(Path::new("a.sh"), &format!("# {}: x", MARKERS[1])).len(), 1);
}
