//! `scanns find`: GNU find's questions, answered from an index.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use anyhow::{Result, anyhow};
use clap::{Args, Command};
use scanns::files::{FindOptions, FindOutput, FindReport, FindSink, SortSpace, find_entries};
use scanns::{Error, Snapshot};

use crate::args::FindArgs;
use crate::as_user;
use crate::indexed_path::{FILES_ALONE, has_files_alone, note_not_in_index, note_without_entry};
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::{harmless, quoted};
use crate::report::{self, Outcome};
use crate::units;

/// Where the actions of an expression write.
enum FindTarget {
    Standard(BufWriter<io::StdoutLock<'static>>),
    /// A terminal, which must not obey control characters in names.
    Terminal(io::StdoutLock<'static>),
    StandardError(io::Stderr),
    File(BufWriter<File>),
}

struct FindTargets(Vec<FindTarget>);

impl FindTargets {
    fn open(outputs: &[FindOutput]) -> io::Result<Self> {
        let open = |output: &FindOutput| {
            Ok(match output {
                FindOutput::Standard if io::stdout().is_terminal() => {
                    FindTarget::Terminal(io::stdout().lock())
                }
                FindOutput::Standard => {
                    FindTarget::Standard(BufWriter::with_capacity(64 << 10, io::stdout().lock()))
                }
                FindOutput::StandardError => FindTarget::StandardError(io::stderr()),
                FindOutput::File(path) => {
                    FindTarget::File(BufWriter::new(File::create(OsStr::from_bytes(path))?))
                }
            })
        };
        outputs.iter().map(open).collect::<io::Result<_>>().map(FindTargets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|target| match target {
            FindTarget::Standard(out) => out.flush(),
            FindTarget::Terminal(out) => out.flush(),
            FindTarget::StandardError(out) => out.flush(),
            FindTarget::File(out) => out.flush(),
        })
    }
}

impl FindSink for &mut FindTargets {
    fn write(&mut self, output: usize, bytes: &[u8]) -> io::Result<()> {
        match self.0.get_mut(output) {
            Some(FindTarget::Standard(out)) => out.write_all(bytes),
            Some(FindTarget::Terminal(out)) => {
                let (line, end) = match bytes {
                    [line @ .., b'\n'] => (line, "\n"),
                    line => (line, ""),
                };
                write!(out, "{}{end}", harmless(&String::from_utf8_lossy(line)))
            }
            Some(FindTarget::StandardError(out)) => out.write_all(bytes),
            Some(FindTarget::File(out)) => out.write_all(bytes),
            None => Ok(()),
        }
    }
}

/// Runs the verb.
pub fn run(args: &FindArgs) -> Result<Outcome> {
    let snapshot = as_user::seen(Snapshot::open(&args.index)?, &args.as_user)?;
    let command: Vec<Vec<u8>> = args.command.iter().map(|word| word.clone().into_vec()).collect();
    let mut targets = FindTargets(Vec::new());
    let memory = usize::try_from(args.memory).unwrap_or(usize::MAX);
    let directory = args.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let options = FindOptions { limit: args.limit, sort: args.sort, space: SortSpace { memory, directory } };
    let report = find_entries(&snapshot, &command, options, |outputs| {
        targets = FindTargets::open(outputs)?;
        Ok(&mut targets)
    });
    // What was found before an error is printed, too.
    targets.flush()?;
    let found = report.map_err(|error| in_its_place(&args.index, error))?;
    let asked = AskedPlaces { paths: &found.places, depth: found.max_depth };
    let lacks = note_missing(&snapshot, &args.index, asked)?;
    if found.printed == 0 && has_files_alone(&snapshot) && asks_for_others(&args.command) {
        report::note(&format!("the index has {FILES_ALONE}"));
    }
    Ok(outcome(&snapshot, &found).lacking(lacks))
}

/// The error of an expression, in which an option of this command may be that belongs before the index.
fn in_its_place(index: &Path, error: Error) -> anyhow::Error {
    let Error::Expression { message } = &error else { return error.into() };
    let word = message.strip_prefix('\'').and_then(|rest| rest.split(['\'', '=']).next()).unwrap_or_default();
    let own = FindArgs::augment_args(Command::new("find"));
    let is_own = |name: &str| own.get_arguments().any(|argument| argument.get_long() == Some(name));
    if !word.strip_prefix("--").is_some_and(is_own) {
        return error.into();
    }
    let index = quoted(index.as_os_str().as_bytes());
    anyhow!(
        "{word} belongs before the index, since what follows it is an expression of GNU find: \
         scanns find {word} … {index} …"
    )
}

/// True if an expression asks for types of entries without regular files.
fn asks_for_others(command: &[OsString]) -> bool {
    let is_type = |word: &OsString| matches!(word.as_bytes(), b"-type" | b"-xtype");
    command.windows(2).any(|words| match words {
        [word, types] => is_type(word) && !types.as_bytes().contains(&b'f'),
        _ => false,
    })
}

fn outcome(snapshot: &Snapshot, found: &FindReport) -> Outcome {
    found.warnings.iter().for_each(|warning| report::note(warning));
    note_not_in_index(snapshot, &found.missing);
    note_without_entry(snapshot, &found.without_entry);
    for unknown in &found.unknown {
        let entries = units::counted(unknown.count, "entry");
        let word = String::from_utf8_lossy(&unknown.word).into_owned();
        let example = quoted(&unknown.example).into_owned();
        report::note(&format!("{word}: the index does not know this of {entries}; the first is {example}"));
    }
    if found.loops > 0 {
        report::note(&format!("{} that lead to themselves", units::counted(found.loops, "link")));
    }
    if found.unsorted {
        report::note("too many entries to sort; they are printed in the order of the index");
    }
    // A test of an unknown value is false, so entries may be left out.
    match (found.missing.is_empty() && found.unknown.is_empty(), found.loops) {
        (true, 0) => Outcome::Done,
        _ => Outcome::WithFailures,
    }
}
