//! Lists the paths: files first, then what is in each directory.

use std::io::{self, Write};
use std::path::Path;

use super::line::{mark, write_lines, write_total};
use super::options::{ListHidden, ListMark, ListOptions, ListedPath};
use super::place::{ListEntry, ListPlaces, sort};
use crate::error::{Error, Result};
use crate::files::entries::EntryReader;
use crate::files::find::UnknownColumn;
use crate::files::known::{IndexFacts, joined};
use crate::files::order::parent;
use crate::files::tops::tops;
use crate::index::snapshot::Snapshot;
use crate::source::{Entry, EntryBatch, EntryKind};

/// The result of [`list_entries`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListReport {
    /// Paths that are not in the index, as they were written.
    pub missing: Vec<Vec<u8>>,
    /// Columns that the index does not know of entries.
    pub unknown: Vec<UnknownColumn>,
    /// Directories that could not be read when they were scanned, as they are shown, and why.
    pub unread: Vec<(Vec<u8>, String)>,
}

/// Lists entries as GNU ls does. Without paths, the uppermost entries of the index are listed.
///
/// With [`ListOptions::recursive`], memory holds the entries below a path, otherwise those of a directory.
///
/// # Errors
/// [`Error::Unsupported`] if the documents are not files with metadata, or if paths are needed because the
/// index has many uppermost entries; and the errors of reading and writing.
pub fn list_entries(
    snapshot: &Snapshot,
    paths: &[ListedPath],
    options: &ListOptions,
    out: &mut dyn Write,
) -> Result<ListReport> {
    let facts = IndexFacts::new(EntryReader::new(snapshot)?);
    let mut list = EntryList { facts, options, out, report: ListReport::default(), has_begun: false };
    if !paths.is_empty() {
        list.paths(paths)?;
        return Ok(list.report);
    }
    let Some(tops) = tops(&list.facts.reader)? else {
        return Err(Error::Unsupported {
            what: "a list of the uppermost entries of this index, which has many".into(),
            remedy: "name a directory".into(),
        });
    };
    let paths: Vec<_> = tops.into_iter().map(|path| ListedPath { written: path.clone(), path }).collect();
    list.paths(&paths)?;
    Ok(list.report)
}

/// A list that is being written.
struct EntryList<'l, 's> {
    facts: IndexFacts<'s>,
    options: &'l ListOptions,
    out: &'l mut dyn Write,
    report: ListReport,
    /// True if a directory was listed.
    has_begun: bool,
}

impl EntryList<'_, '_> {
    fn paths(&mut self, paths: &[ListedPath]) -> Result<()> {
        let mut found = Vec::new();
        for path in paths {
            match self.facts.entry_through_links(&path.path).map(|batch| self.followed(path, batch)) {
                Some(batch) => found.push((path.written.as_slice(), batch)),
                None => self.report.missing.push(path.written.clone()),
            }
        }
        let named = found.iter().filter_map(|(name, batch)| {
            Some(ListEntry { name, entry: batch.iter().next()?, is_known: true })
        });
        let mut entries: Vec<ListEntry<'_>> = named.collect();
        sort(&mut entries, self.options);
        let is_opened = |entry: &ListEntry<'_>| {
            entry.entry.kind == Some(EntryKind::Directory) && !self.options.directories
        };
        let (directories, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_opened);
        self.lines(&files, &directories)?;
        if !files.is_empty() && !directories.is_empty() {
            self.write(b"\n")?;
        }
        let is_headed = self.options.recursive || paths.len() > 1;
        for directory in directories {
            let path = directory.entry.path;
            let places = ListPlaces::read(&self.facts, path, self.options.recursive)?;
            self.directory(directory, &places, is_headed)?;
        }
        Ok(())
    }

    /// The directory that a link leads to, where ls lists that instead of the link.
    fn followed(&self, path: &ListedPath, batch: EntryBatch) -> EntryBatch {
        let stays = self.options.long || self.options.directories || self.options.mark == ListMark::Type;
        let is_asked = path.written.len() > 1 && path.written.ends_with(b"/");
        let is_link = batch.iter().any(|entry| entry.kind == Some(EntryKind::Link));
        if !is_link || stays && !is_asked {
            return batch;
        }
        let target = batch.iter().next().and_then(|entry| self.facts.resolve(entry.path));
        let is_directory =
            |batch: &EntryBatch| batch.iter().any(|entry| entry.kind == Some(EntryKind::Directory));
        target.filter(is_directory).unwrap_or(batch)
    }

    /// Lists a directory, and with `-R` the directories in it.
    fn directory(&mut self, directory: ListEntry<'_>, places: &ListPlaces, is_headed: bool) -> Result<()> {
        if is_headed {
            let name = self.options.quote.map(|quote| quote(directory.name).into_bytes());
            let gap: &[u8] = if self.has_begun { b"\n" } else { b"" };
            let head = [gap, name.as_deref().unwrap_or(directory.name), b":\n"].concat();
            self.write(&head)?;
        }
        self.has_begun = true;
        if let Some(reason) = self.facts.unread().reason(directory.entry.path) {
            self.report.unread.push((directory.name.to_vec(), reason.to_owned()));
        }
        let mut entries = places.entries(directory.entry.path, self.options.hidden);
        let above = parent(directory.entry.path);
        let is_shown = self.options.hidden == ListHidden::All;
        let above_batch = is_shown.then(|| self.facts.entry_at(above)).flatten();
        if is_shown {
            let unknown = Entry { path: above, kind: Some(EntryKind::Directory), ..Entry::default() };
            let above = above_batch.as_ref().and_then(|batch| batch.iter().next());
            entries.push(ListEntry { name: b".", ..directory });
            let is_known = above.is_some();
            entries.push(ListEntry { name: b"..", entry: above.unwrap_or(unknown), is_known });
        }
        sort(&mut entries, self.options);
        if self.options.long || self.options.blocks {
            write_total(&entries, self.options, self.out).map_err(written)?;
        }
        self.lines(&entries, &[])?;
        if !self.options.recursive {
            return Ok(());
        }
        let is_below =
            |entry: &&ListEntry<'_>| entry.entry.kind == Some(EntryKind::Directory) && !is_dots(entry.name);
        for entry in entries.iter().filter(is_below) {
            let name = joined(directory.name, entry.name);
            self.directory(ListEntry { name: &name, ..*entry }, places, true)?;
        }
        Ok(())
    }

    fn lines(&mut self, entries: &[ListEntry<'_>], beside: &[ListEntry<'_>]) -> Result<()> {
        let facts = &self.facts;
        let linked = |entry: &Entry<'_>| {
            let target = facts.resolve(entry.path)?;
            target.iter().next().and_then(|entry| mark(&entry, ListMark::Type))
        };
        write_lines(entries, beside, self.options, &linked, &mut self.report.unknown, self.out)
            .map_err(written)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(written)
    }
}

fn is_dots(name: &[u8]) -> bool {
    matches!(name, b"." | b"..")
}

fn written(source: io::Error) -> Error {
    Error::io("write to", Path::new("the output"), source)
}
