//! Checks that the paths in documents exist.

use std::path::Path;

/// Endings of the names that are checked.
const ENDINGS: [&str; 7] = [".rs", ".md", ".sh", ".toml", ".java", ".py", ".yml"];

/// Paths in backquotes or in links of a document that do not exist, each with its line. A path is resolved
/// from the root of the workspace, from the document's folder, and from the sources of each crate.
pub fn missing_paths(root: &Path, document: &Path, text: &str) -> Vec<(usize, String)> {
    let mut missing = Vec::new();
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for path in paths(line) {
            if !exists(root, document, &path) {
                missing.push((at + 1, format!("{path} does not exist")));
            }
        }
    }
    missing
}

/// The possible paths of the project in a line: between backquotes, or the target of a link.
fn paths(line: &str) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2);
    let linked = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let linked = linked.map(|target| target.split('#').next().unwrap_or_default());
    quoted.chain(linked).filter(|path| is_path(path)).map(str::to_owned).collect()
}

fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_file = ENDINGS.iter().any(|ending| text.len() > ending.len() && text.ends_with(ending));
    let is_folder = text.ends_with('/') && text.len() > 1 && text.chars().any(|c| c.is_ascii_lowercase());
    (is_file || is_folder) && text.chars().all(plain) && !text.starts_with(['/', '.', '-'])
}

fn exists(root: &Path, document: &Path, path: &str) -> bool {
    let folder = root.join(document);
    let folder = folder.parent().unwrap_or(root);
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let sources = crates.flat_map(|entry| [entry.path(), entry.path().join("src")]);
    let mut bases = [root.to_path_buf(), folder.to_path_buf()].into_iter().chain(sources);
    bases.any(|base| base.join(path).exists())
}
