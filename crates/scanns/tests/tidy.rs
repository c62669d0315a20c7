//! The rules that every source file of the workspace must follow.
//!
//! A module of the library imports only modules to its left, and its files form no cycle. Files, functions,
//! lines and lists of parameters are short. Every module has a doc. Every `unsafe` has a reason. The names of
//! types are unique. Documents name only existing files, and use the words of `docs/WORDS.md`. Nothing is
//! marked as unfinished.
//!
//! A line `// tidy: reason` above an item, or at the head of a file for its length, excuses it. The canaries
//! are texts that break every rule: if the checks let them pass, they check nothing.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/shape.rs"]
mod shape;
#[path = "tidy/words.rs"]
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const LINES_PER_FILE: usize = 500;
const LINES_PER_FUNCTION: usize = 70;

/// The maximum distance of a reason above its `unsafe`, in lines.
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
        Ok(file) => {
            check_functions(&mut source, &file);
            for (line, rule, what) in shape::parameters(&file) {
                source.report(line, rule, what);
            }
        }
        Err(error) => source.report(error.span().start().line, "syntax", error.to_string()),
    }
    for (line, rule, what) in shape::long_lines(text) {
        source.report(line, rule, what);
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

/// Unit tests of a module need no doc, because they are next to the tested code.
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
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&own).join("../..").canonicalize().unwrap()
}

/// Files below `dir` that have one of these extensions, in order.
fn files(dir: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_built = ["target", "node_modules"].contains(&name.as_str());
        if path.is_dir() && !is_built && !name.starts_with(".git") {
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

/// Every Rust file of the workspace: its path from the root, and its text.
fn sources() -> Vec<(PathBuf, String)> {
    let root = workspace();
    let mut paths = Vec::new();
    files(&root.join("crates"), &[".rs"], &mut paths);
    assert!(paths.len() > 10, "the sources are not where this test looks for them");
    let read = |path: &PathBuf| {
        (path.strip_prefix(&root).unwrap().to_path_buf(), std::fs::read_to_string(path).unwrap())
    };
    paths.iter().map(read).collect()
}

/// The sources by crate.
fn crates() -> BTreeMap<PathBuf, Vec<(PathBuf, String)>> {
    let mut crates: BTreeMap<PathBuf, Vec<_>> = BTreeMap::new();
    for (path, text) in sources() {
        crates.entry(path.iter().take(2).collect()).or_default().push((path, text));
    }
    crates
}

#[test]
fn every_source_file_keeps_the_rules() {
    report(&sources().iter().flat_map(|(path, text)| check_rust(path, text)).collect::<Vec<_>>());
}

#[test]
fn files_form_no_cycles_and_sub_rooms_import_downwards() {
    let mut findings = Vec::new();
    for files in crates().values() {
        let imports = imports::Crate::read(files);
        let mut add = |rule, broken: Vec<imports::Broken>| {
            findings.extend(broken.into_iter().map(|(file, line, what)| Finding { file, line, rule, what }));
        };
        add("cycle", imports.cycles());
        if files[0].0.starts_with("crates/scanns/") {
            add("sub-room", imports.upward());
        }
    }
    report(&findings);
}

#[test]
fn every_type_of_a_crate_has_a_name_of_its_own() {
    let mut findings = Vec::new();
    // Benchmarks are separate programs that share a package.
    let crates =
        crates().into_iter().filter(|(path, _)| path.ends_with("scanns") || path.ends_with("scanns-cli"));
    for (_, files) in crates {
        let mut defined: BTreeMap<String, Vec<names::Place>> = BTreeMap::new();
        for (path, text) in files {
            if !path.iter().any(|part| {
                part == "tests" || part == "tests.rs" || part == "loom_tests.rs" || part == "examples"
            }) {
                let excused = Source { path: &path, lines: text.lines().collect(), findings: Vec::new() };
                let types = syn::parse_file(&text).map(|file| names::types(&file)).unwrap_or_default();
                for (name, line) in types.into_iter().filter(|&(_, line)| !excused.excused(line)) {
                    defined.entry(name).or_default().push((path.clone(), line));
                }
            }
        }
        let broken = names::shared(&defined).into_iter();
        findings.extend(broken.map(|((file, line), what)| Finding { file, line, rule: "type name", what }));
    }
    report(&findings);
}

/// The documents: their paths from the root, and their texts. Dated records are excluded, because they never
/// change.
fn manuals() -> Vec<(PathBuf, String)> {
    let root = workspace();
    let mut paths = Vec::new();
    files(&root, &[".md"], &mut paths);
    let relative = paths.iter().map(|path| path.strip_prefix(&root).unwrap().to_path_buf());
    let kept = relative.filter(|path| !path.iter().any(|part| part == "records"));
    kept.map(|path| (path.clone(), std::fs::read_to_string(root.join(&path)).unwrap())).collect()
}

#[test]
fn documents_name_files_that_exist() {
    let root = workspace();
    let mut findings = Vec::new();
    for (file, text) in manuals() {
        // The changelog mentions files that no longer exist.
        if file.ends_with("CHANGELOG.md") {
            continue;
        }
        let missing = documents::missing_paths(&root, &file, &text).into_iter();
        findings.extend(missing.map(|(line, what)| Finding { file: file.clone(), line, rule: "path", what }));
    }
    report(&findings);
}

#[test]
fn comments_and_documents_use_the_words_of_the_project() {
    let list = words::black_list(&std::fs::read_to_string(workspace().join("docs/WORDS.md")).unwrap());
    assert!(list.len() > 5, "docs/WORDS.md has no list of words to avoid: {list:?}");
    let mut findings = Vec::new();
    let mut add = |file: &PathBuf, found: Vec<(usize, String)>| {
        let found = found.into_iter();
        findings.extend(found.map(|(line, what)| Finding { file: file.clone(), line, rule: "words", what }));
    };
    for (path, text) in sources() {
        add(&path, words::in_comments(&text, &list));
    }
    for (path, text) in manuals().iter().filter(|(path, _)| !path.ends_with("WORDS.md")) {
        add(path, words::in_document(text, &list));
    }
    report(&findings);
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
    let clean = "//! A room.\nuse crate::error::Error;\n\nfn f(p: *const u8) {\n    \
        // SAFETY: it is valid.\n    unsafe { p.read() };\n}\n";
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
