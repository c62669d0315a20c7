//! The layer rule: a module of the library only imports modules to its left.
//!
//! The rule is checked on tokens, not on text, so that macros count and comments and strings do not. A path
//! that leaves its module with `super` is resolved like one that begins with `crate`.

use std::path::Path;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The modules in the order of the data flow.
pub const ROOMS: [&str; 18] = [
    "error", "sys", "codec", "store", "schema", "query", "column", "source", "content", "read", "record",
    "tokenize", "invert", "segment", "search", "index", "files", "fuzzing",
];

/// The place of a module in the order.
pub fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|&known| known == room)
}

/// Lines of a file of the library with forbidden imports, and a description of each.
pub fn violations(path: &Path, text: &str) -> Vec<(usize, String)> {
    let Some((room, depth)) = place(path) else { return Vec::new() };
    let Ok(tokens) = text.parse::<TokenStream>() else { return Vec::new() };
    let mut imports = Vec::new();
    collect(tokens, depth, &mut imports);
    imports.into_iter().filter_map(|(line, to)| Some((line, refusal(&room, &to)?))).collect()
}

/// The top module and the depth of a file of the library; `None` for `lib.rs`, which may import everything.
fn place(path: &Path) -> Option<(String, usize)> {
    let inside = path.strip_prefix("crates/scanns/src").ok()?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let (file, folders) = parts.split_last()?;
    let stem = file.strip_suffix(".rs")?;
    match (folders.first(), stem) {
        (None, "lib") => None,
        (None, stem) => Some((stem.into(), 1)),
        (Some(room), "mod") => Some((room.clone(), folders.len())),
        (Some(room), _) => Some((room.clone(), folders.len() + 1)),
    }
}

/// Why `from` may not import `to`; `None` if it may.
fn refusal(from: &str, to: &str) -> Option<String> {
    match (rank(from), rank(to)) {
        (None, _) => Some(format!("{from} is no room of the layer rule")),
        (_, None) => Some(format!("crate::{to} is no room: import from the room in which it lives")),
        (Some(own), Some(other)) if other > own => {
            Some(format!("{from} may not know {to}, which is to its right"))
        }
        _ => None,
    }
}

/// Adds every first name after the root of the crate, with its line, to `imports`; `depth` is the number of
/// `super` that lead to the root.
fn collect(tokens: TokenStream, depth: usize, imports: &mut Vec<(usize, String)>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let TokenTree::Group(group) = token {
            let inline = at >= 2 && is_word(&tokens[at - 2], "mod") && group.delimiter() == Delimiter::Brace;
            collect(group.stream(), depth + usize::from(inline), imports);
        }
        let fresh = at < 2 || !is_path_separator(&tokens[at - 2..at]);
        if fresh && let Some(after) = root(&tokens, at, depth) {
            names(&tokens[after..], imports);
        }
        at += 1;
    }
}

/// The position after the root of the crate, if the path at `at` begins there.
fn root(tokens: &[TokenTree], at: usize, depth: usize) -> Option<usize> {
    let after = |at: usize| tokens.get(at..at + 2).filter(|pair| is_path_separator(pair)).map(|_| at + 2);
    if is_word(&tokens[at], "crate") {
        return after(at + 1);
    }
    let mut next = at;
    for _ in 0..depth {
        next = tokens.get(next).filter(|token| is_word(token, "super")).and_then(|_| after(next + 1))?;
    }
    (next > at).then_some(next)
}

/// The name that begins `tokens`, or every name that begins a branch of the group there.
fn names(tokens: &[TokenTree], imports: &mut Vec<(usize, String)>) {
    match tokens.first() {
        Some(TokenTree::Ident(name)) => imports.push((name.span().start().line, name.to_string())),
        Some(TokenTree::Punct(star)) => imports.push((star.span().start().line, star.to_string())),
        Some(TokenTree::Group(group)) => {
            let inner: Vec<_> = group.stream().into_iter().collect();
            for branch in inner.split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ',')) {
                names(branch, imports);
            }
        }
        _ => {}
    }
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name == word)
}

fn is_path_separator(pair: &[TokenTree]) -> bool {
    let colon = |token: &TokenTree| match token {
        TokenTree::Punct(punct) if punct.as_char() == ':' => Some(punct.spacing()),
        _ => None,
    };
    matches!(pair, [first, second] if colon(first) == Some(Spacing::Joint) && colon(second).is_some())
}

#[test]
fn paths_to_the_right_are_found_however_they_are_written() {
    let path = Path::new("crates/scanns/src/codec/varint.rs");
    for (text, lines) in [
        ("use crate::search::Query;", 1),
        ("use crate::{error::Error, search::{self, Query}, index};", 2),
        ("fn f() { crate::index::build() }", 1),
        ("fn f() { println!(\"{}\", crate::index::NAME) }", 1),
        ("pub(crate) fn f(s: &crate::segment::Reader) {}", 1),
        ("use super::super::read::Block;", 1),
        ("mod tests { use super::super::super::read::Block; }", 1),
        ("use crate::*;", 1),
        ("use crate::Snapshot;", 1),
        ("#[cfg(test)] mod tests { use crate::index::build; }", 1),
        ("use super::bitpack::pack;", 0),
        ("mod tests { use super::super::bitpack::pack; use super::*; }", 0),
        ("use crate::error::Error; use crate::sys::Region; use crate::codec::varint;", 0),
        ("// use crate::search::Query;\nconst A: &str = \"crate::search\";", 0),
        ("pub(crate) struct A; pub(in crate::codec) struct B;", 0),
        ("use other::crate_like::search::Query;", 0),
    ] {
        assert_eq!(violations(path, text).len(), lines, "{text}: {:?}", violations(path, text));
    }
}

#[test]
fn the_place_of_a_file_is_its_room_and_depth() {
    for (path, room) in [
        ("crates/scanns/src/lib.rs", None),
        ("crates/scanns-cli/src/search.rs", None),
        ("crates/scanns/tests/tidy.rs", None),
        ("crates/scanns/src/error.rs", Some(("error", 1))),
        ("crates/scanns/src/codec/mod.rs", Some(("codec", 1))),
        ("crates/scanns/src/codec/varint.rs", Some(("codec", 2))),
        ("crates/scanns/src/codec/arch/mod.rs", Some(("codec", 2))),
        ("crates/scanns/src/codec/arch/avx2.rs", Some(("codec", 3))),
    ] {
        let found = place(Path::new(path));
        assert_eq!(found, room.map(|(name, depth)| (name.to_string(), depth)), "{path}");
    }
    assert_eq!(
        violations(Path::new("crates/scanns/src/mystery/mod.rs"), "use crate::error::Error;").len(),
        1
    );
}
