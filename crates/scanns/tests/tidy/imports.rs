//! The imports between files: cycles, and the order of the sub-modules of a module.
//!
//! An import leads to the file that defines the item, through any number of re-exports. Re-exports themselves
//! are not imports, and tests may import what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Modules with a fixed order of sub-modules: a sub-module or file only imports what is to its left.
pub const SUB_ROOMS: [(&str, &[&str]); 3] = [
    (
        "segment",
        &[
            "layout",
            "stats",
            "progress",
            "renumbering",
            "order",
            "terms",
            "columns",
            "keys",
            "stored",
            "deletes",
            "updates",
            "doc_bits",
            "visible",
            "reader",
            "positions",
            "documents",
            "key_field",
            "lengths",
            "live",
            "shown",
            "shown_columns",
            "known_paths",
            "double_paths",
            "flush",
            "merge",
            "check",
        ],
    ),
    (
        "search",
        &[
            "leaf",
            "segment_leaf",
            "budget",
            "threads",
            "doc_set",
            "number_set",
            "top_k",
            "statistics",
            "filter_cache",
            "fields",
            "searcher",
            "similarity",
            "best_score",
            "joining",
            "terms",
            "plan",
            "exec",
            "parallel",
            "prepared",
            "joins",
            "run",
            "hits",
            "by_key",
            "own_score",
            "snippets",
            "explain",
            "aggregate",
            "near",
            "expand",
        ],
    ),
    (
        "index",
        &[
            "progress",
            "stored_options",
            "field_views",
            "path_json",
            "access_column",
            "coverage",
            "commit",
            "named_snapshot",
            "build",
            "snapshot",
            "live",
            "shards",
            "maintain",
            "preview",
            "update",
            "check",
            "plan",
            "memory",
            "tune",
            "handle",
        ],
    ),
];

/// The name of a module or an item, from the root of its crate.
type Name = Vec<String>;

/// An import, or a path in the code.
struct Import {
    /// Line in the file, from 1.
    line: usize,
    /// What is imported, by its full name.
    target: Name,
}

/// The imports of a file, and the names that it gives to items.
#[derive(Default)]
struct Module {
    file: PathBuf,
    imports: Vec<Import>,
    /// Names that `use` brings into the file, re-exports included.
    aliases: BTreeMap<String, Name>,
}

/// The files of one crate by the names of their modules.
pub struct Crate {
    modules: BTreeMap<Name, Module>,
}

/// A rule that a file breaks: the file, the line and what to do about it.
pub type Broken = (PathBuf, usize, String);

impl Crate {
    /// Reads the files of a crate: their paths relative to the workspace, and their texts. Files that do not
    /// parse are left out, since another check reports them.
    pub fn read(files: &[(PathBuf, String)]) -> Self {
        let named = files.iter().filter_map(|(path, text)| Some((module_name(path)?, path, text)));
        let named: Vec<_> = named.collect();
        let names: BTreeSet<Name> = named.iter().map(|(name, ..)| name.clone()).collect();
        let mut modules = BTreeMap::new();
        for (name, path, text) in named {
            let Ok(syntax) = syn::parse_file(text) else { continue };
            let mut reader = ImportReader { names: &names, own: name.clone(), module: Module::default() };
            reader.module.file = path.clone();
            reader.visit_file(&syntax);
            modules.insert(name, reader.module);
        }
        Crate { modules }
    }

    /// The module that defines `target`, found through re-exports.
    fn definer(&self, target: &[String], hops: usize) -> Option<&Name> {
        let known = (0..=target.len()).rev().find(|&len| self.modules.contains_key(&target[..len]))?;
        let (name, module) = self.modules.get_key_value(&target[..known])?;
        let Some(item) = target.get(known) else { return Some(name) };
        match module.aliases.get(item) {
            Some(origin) if hops > 0 => {
                let origin: Name = origin.iter().chain(&target[known + 1..]).cloned().collect();
                self.definer(&origin, hops - 1).or(Some(name))
            }
            _ => Some(name),
        }
    }

    /// Every import that leads to another file of the crate: source, line, and target.
    fn edges(&self) -> impl Iterator<Item = (&Name, usize, &Name)> {
        self.modules.iter().flat_map(move |(from, module)| {
            module.imports.iter().filter_map(move |import| {
                let to = self.definer(&import.target, 8)?;
                (to != from).then_some((from, import.line, to))
            })
        })
    }

    /// Cycles of files, each once.
    pub fn cycles(&self) -> Vec<Broken> {
        let mut reach: BTreeMap<&Name, BTreeSet<&Name>> = BTreeMap::new();
        for (from, _, to) in self.edges() {
            reach.entry(from).or_default().insert(to);
        }
        let from = |start| {
            let mut seen = BTreeSet::new();
            let mut open = vec![start];
            while let Some(name) = open.pop() {
                for &next in reach.get(name).into_iter().flatten() {
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<&Name, BTreeSet<&Name>> =
            reach.keys().map(|&name| (name, from(name))).collect();
        let both = |a, b| reached.get(a).is_some_and(|to| to.contains(b));
        let mut told: BTreeSet<&Name> = BTreeSet::new();
        let mut broken = Vec::new();
        for &name in reached.keys() {
            if told.contains(name) || !both(name, name) {
                continue;
            }
            let circle: Vec<_> =
                reached.keys().filter(|&&other| both(name, other) && both(other, name)).collect();
            told.extend(circle.iter().copied());
            let files: Vec<_> = circle.iter().map(|name| name.join("::")).collect();
            let what = format!("these files import each other in a circle: {}", files.join(", "));
            broken.push((self.modules[name].file.clone(), 1, what));
        }
        broken
    }

    /// Imports that violate the order of sub-modules, and sub-modules without a place in it.
    pub fn upward(&self) -> Vec<Broken> {
        let mut broken = Vec::new();
        for (room, order) in SUB_ROOMS {
            let entry = |name: &Name| match &name[..] {
                [first, entry, ..] if first == room => Some(entry.clone()),
                _ => None,
            };
            let rank = |entry: &str| order.iter().position(|&known| known == entry);
            let entries: BTreeMap<_, _> =
                self.modules.iter().filter_map(|(name, module)| Some((entry(name)?, &module.file))).collect();
            for (name, file) in &entries {
                if rank(name).is_none() {
                    broken.push(((*file).clone(), 1, format!("{name} has no place in the order of {room}")));
                }
            }
            for (from, line, to) in self.edges() {
                let Some(own) = entry(from) else { continue };
                let file = self.modules[from].file.clone();
                if to.len() == 1 && to[0] == room {
                    broken.push((
                        file,
                        line,
                        format!("{room}/mod.rs is a map: move what {own} needs of it down"),
                    ));
                } else if let Some(other) = entry(to)
                    && rank(&other) > rank(&own)
                {
                    broken.push((
                        file,
                        line,
                        format!("{own} may not know {other}, which is above it in {room}"),
                    ));
                }
            }
        }
        broken
    }
}

/// The name of the module in a file of `crates/CRATE/src`; `None` for tests, which may import anything.
fn module_name(path: &Path) -> Option<Name> {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let [crates, _, src, inside @ ..] = &parts[..] else { return None };
    if crates != "crates" || src != "src" || inside.iter().any(|part| part == "tests" || part == "tests.rs") {
        return None;
    }
    let (file, folders) = inside.split_last()?;
    let stem = file.strip_suffix(".rs")?;
    let mut name = folders.to_vec();
    if !matches!((stem, folders.is_empty()), ("mod", _) | ("lib" | "main", true)) {
        name.push(stem.to_owned());
    }
    Some(name)
}

/// Collects the imports of one file.
struct ImportReader<'n> {
    names: &'n BTreeSet<Name>,
    /// The current module; modules inside the file count as the file.
    own: Name,
    module: Module,
}

impl ImportReader<'_> {
    /// The full name of a path in this module, if it is in the crate.
    fn full(&self, path: &[String]) -> Option<Name> {
        let mut base = self.own.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                let child: Name = base.iter().cloned().chain([first.to_owned()]).collect();
                if !self.names.contains(&child) {
                    return None;
                }
            }
        }
        Some(base.into_iter().chain(rest.iter().cloned()).collect())
    }

    fn import(&mut self, path: &[String], line: usize) {
        if let Some(target) = self.full(path) {
            self.module.imports.push(Import { line, target });
        }
    }

    /// The leaves of a `use`, each with the name that it gets.
    fn leaves(tree: &syn::UseTree, prefix: &mut Name, found: &mut Vec<(Name, String)>) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                Self::leaves(&path.tree, prefix, found);
                prefix.pop();
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                found.push((prefix.clone(), prefix.last().cloned().unwrap_or_default()));
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                found.push((prefix.iter().cloned().chain([name.clone()]).collect(), name));
            }
            syn::UseTree::Rename(rename) => {
                let path = prefix.iter().cloned().chain([rename.ident.to_string()]).collect();
                found.push((path, rename.rename.to_string()));
            }
            syn::UseTree::Glob(_) => found.push((prefix.clone(), String::new())),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| Self::leaves(tree, prefix, found));
            }
        }
    }

    /// Paths in the tokens of a macro's call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Name = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        path.clear();
                    }
                    path.push(ident.to_string());
                    if path.len() > 1 && matches!(path[0].as_str(), "crate" | "super" | "self") {
                        self.import(&path.clone(), ident.span().start().line);
                    }
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    path.clear();
                    colons = 0;
                }
                _ => {
                    path.clear();
                    colons = 0;
                }
            }
        }
    }
}

/// True for code that is only compiled for tests.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            _ => String::new(),
        };
        tokens == "test" || tokens.starts_with("all (test") || tokens.starts_with("all(test")
    })
}

impl<'ast> Visit<'ast> for ImportReader<'_> {
    /// `pub(in crate::room)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        Self::leaves(&item.tree, &mut Vec::new(), &mut found);
        let is_import = matches!(item.vis, syn::Visibility::Inherited);
        for (path, alias) in found {
            let Some(target) = self.full(&path) else { continue };
            if is_import {
                self.module.imports.push(Import { line: item.span().start().line, target: target.clone() });
            }
            self.module.aliases.insert(alias, target);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Name = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.len() > 1 {
            self.import(&parts, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}
