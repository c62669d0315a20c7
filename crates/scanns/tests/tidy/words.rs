//! Checks that the project does not use the words that `docs/WORDS.md` forbids.

/// The phrases on the black list: the first column of the table under the heading `Not these`.
pub fn black_list(document: &str) -> Vec<String> {
    let table = document.split("## Not these").nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(str::to_lowercase).collect()
}

/// Phrases of the black list in the comments of Rust code, each with its line.
pub fn in_comments(text: &str, list: &[String]) -> Vec<(usize, String)> {
    let comment = |line: &str| {
        let line = line.trim_start();
        if line.starts_with("//") {
            Some(line.to_owned())
        } else {
            line.split_once(" // ").map(|(_, end)| end.to_owned())
        }
    };
    find(text.lines().map(|line| comment(line).unwrap_or_default()), list)
}

/// Phrases of the black list in a document, each with its line; examples of code are left out.
pub fn in_document(text: &str, list: &[String]) -> Vec<(usize, String)> {
    let mut fenced = false;
    let prose = text.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced { String::new() } else { line.split('`').step_by(2).collect::<Vec<_>>().join(" ") }
    });
    find(prose.collect::<Vec<_>>().into_iter(), list)
}

fn find(lines: impl Iterator<Item = String>, list: &[String]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, line) in lines.enumerate() {
        let line = line.to_lowercase();
        for phrase in list {
            let is_word = line.match_indices(phrase.as_str()).any(|(start, _)| {
                let before = line[..start].chars().next_back();
                let after = line[start + phrase.len()..].chars().next();
                !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
            });
            if is_word {
                found.push((at + 1, format!("'{phrase}': docs/WORDS.md says what to write instead")));
            }
        }
    }
    found
}
